// SPDX-License-Identifier: Apache-2.0
// The product `OpenVideoToolbox`. On Linux, it contains all modules that have the names of Apple's
// modules. On Apple's platforms, it contains none of them (see Package.swift). On both, `import
// OpenVideoToolbox` imports most of them at once. `OSLog` has to be imported by its name, since its
// `Logger` would be ambiguous with other types of that name.

#if canImport(AVFoundation)
  @_exported import AVFoundation
#endif
#if canImport(CoreGraphics)
  @_exported import CoreGraphics
#endif
#if canImport(ImageIO)
  @_exported import ImageIO
#endif
#if canImport(UniformTypeIdentifiers)
  @_exported import UniformTypeIdentifiers
#endif
#if canImport(VideoToolbox)
  @_exported import VideoToolbox
#endif
