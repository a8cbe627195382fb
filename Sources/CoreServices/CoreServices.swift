// SPDX-License-Identifier: Apache-2.0
// Of Core Services the names of uniform types, from before UniformTypeIdentifiers.
@_exported import CoreFoundation
