// SPDX-License-Identifier: Apache-2.0
// The product `OpenVideoToolbox`: all modules of Apple's names where the platform lacks them, and nothing elsewhere (see
// Package.swift). What it brings can be imported by those names or together, as `import OpenVideoToolbox`, on Linux and
// on Apple's systems.

#if canImport(AVFoundation)
  @_exported import AVFoundation
#endif
#if canImport(UniformTypeIdentifiers)
  @_exported import UniformTypeIdentifiers
#endif
#if canImport(VideoToolbox)
  @_exported import VideoToolbox
#endif
