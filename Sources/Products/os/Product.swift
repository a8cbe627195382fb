// SPDX-License-Identifier: Apache-2.0
// The product `os`: `import os` where the platform lacks it, and nothing elsewhere (see Package.swift).
