// SPDX-License-Identifier: Apache-2.0
// The product `AudioToolbox`: the module of that name where the platform lacks it, and nothing elsewhere (see Package.swift).
