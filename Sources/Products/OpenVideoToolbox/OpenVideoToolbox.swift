// SPDX-License-Identifier: Apache-2.0
// The product `OpenVideoToolbox`: all modules of Apple's names where the platform lacks them, and nothing elsewhere (see
// Package.swift). What it brings can be imported by those names, and most of it together, as `import OpenVideoToolbox`, on
// Linux and on Apple's systems. OSLog is not among that: its `Logger` is not the only type of that name.

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
