// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Foundation

/// The attributes of a pixel buffer, complete enough to create it.
public struct CVPixelBufferCreationAttributes: Equatable, Sendable {
  public var pixelFormatType: CVPixelFormatType
  public var size: CVImageSize
  public var compatibility: CVPixelFormatDescription.Compatibility
  /// The alignment of rows in bytes, a power of two; nil for the default.
  public var bytesPerRowAlignment: Int?
  /// The alignment of planes in bytes, a power of two; nil for the default.
  public var planeAlignment: Int?
  /// The number of pixels around the picture.
  public var extendedPixels: CVPixelBufferPadding?
  /// Where the pixels are stored. As there are no surfaces that processes share, buffers are in
  /// memory with any value.
  public var backing = Backing.ioSurface

  /// Where the pixels of a buffer are stored.
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

  /// Takes the first pixel format of a client's requirements; nil if they have no size or no pixel
  /// format.
  public init?(_ attributes: CVPixelBufferAttributes) {
    guard let format = attributes.pixelFormatType, let size = attributes.size else { return nil }
    self.init(
      pixelFormatType: format, size: size, compatibility: attributes.compatibility,
      bytesPerRowAlignment: attributes.bytesPerRowAlignment, planeAlignment: attributes.planeAlignment,
      extendedPixels: attributes.extendedPixels)
    backing = attributes.backing
  }

  /// The dictionary that Core Video's functions take.
  package var dictionary: CFDictionary { CVPixelBufferAttributes(self).dictionary }
}
