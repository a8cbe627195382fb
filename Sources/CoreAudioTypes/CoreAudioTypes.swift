// SPDX-License-Identifier: Apache-2.0
// The types for stream descriptions, buffers and channel layouts are declared in the module
// CoreMedia, which uses them. This module declares the rest.
@_exported import CoreMedia
