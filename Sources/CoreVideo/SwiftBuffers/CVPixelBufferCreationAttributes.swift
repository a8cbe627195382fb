// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Foundation

/// What a pixel buffer is to be like, with all that is needed to make it.
public struct CVPixelBufferCreationAttributes: Equatable, Sendable {
  public var pixelFormatType: CVPixelFormatType
  public var size: CVImageSize
  public var compatibility: CVPixelFormatDescription.Compatibility
  /// Bytes, a power of two; nil: the usual alignment.
  public var bytesPerRowAlignment: Int?
  /// Bytes, a power of two; nil: the usual alignment.
  public var planeAlignment: Int?
  /// Pixels around the picture.
  public var extendedPixels: CVPixelBufferPadding?
  /// There are no surfaces that processes share: whatever is asked for, the buffer is memory.
  public var backing = Backing.ioSurface

  /// Where the pixels are to be.
  public enum Backing: Equatable, Sendable {
    case memory
    case ioSurface
    case ioSurfaceWithProperties([String: any Sendable])

    public static func == (a: Backing, b: Backing) -> Bool {
      switch (a, b) {
      case (.memory, .memory), (.ioSurface, .ioSurface): true
      case (.ioSurfaceWithProperties(let a), .ioSurfaceWithProperties(let b)):
        NSDictionary(dictionary: a) == NSDictionary(dictionary: b)
      default: false
      }
    }

    /// The value of `kCVPixelBufferIOSurfacePropertiesKey`.
    var properties: [String: any Sendable]? {
      switch self {
      case .memory: nil
      case .ioSurface: [:]
      case .ioSurfaceWithProperties(let properties): properties
      }
    }
  }

  public init(
    pixelFormatType: CVPixelFormatType, size: CVImageSize,
    compatibility: CVPixelFormatDescription.Compatibility = [], bytesPerRowAlignment: Int? = nil,
    planeAlignment: Int? = nil, extendedPixels: CVPixelBufferPadding? = nil
  ) {
    self.pixelFormatType = pixelFormatType
    self.size = size
    self.compatibility = compatibility
    self.bytesPerRowAlignment = bytesPerRowAlignment
    self.planeAlignment = planeAlignment
    self.extendedPixels = extendedPixels
  }

  /// Nil unless the attributes have a size and a pixel format, of several the first.
  public init?(_ attributes: CVPixelBufferAttributes) {
    guard let format = attributes.pixelFormatType, let size = attributes.size else { return nil }
    self.init(
      pixelFormatType: format, size: size, compatibility: attributes.compatibility,
      bytesPerRowAlignment: attributes.bytesPerRowAlignment, planeAlignment: attributes.planeAlignment,
      extendedPixels: attributes.extendedPixels)
    backing = attributes.backing
  }

  /// As Core Video's functions take them.
  package var dictionary: CFDictionary { CVPixelBufferAttributes(self).dictionary }
}
