// SPDX-License-Identifier: Apache-2.0
// The only source file of the product `os`, because a target must have one. On Linux, the product
// contains what `import os` imports. On Apple's platforms, which have a module of that name, it is
// empty (see Package.swift).
