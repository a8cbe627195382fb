// SPDX-License-Identifier: Apache-2.0
// The only source file of the product `AVFoundation`, because a target must have one. On Linux, the
// product contains the module of that name. On Apple's platforms, which have their own module, it
// is empty (see Package.swift).
