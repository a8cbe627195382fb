// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Foundation

/// A Swift type that represents a `CVBuffer`.
public protocol CVBufferRepresentable<Buffer>: ~Copyable {
  associatedtype Buffer: CVBuffer

  /// Calls a closure with the buffer, for functions that need one.
  func withUnsafeBuffer<R>(_ body: (Buffer) throws -> sending R) rethrows -> sending R
}

/// A Swift type that represents an image buffer.
public protocol CVImageBufferRepresentable: CVBufferRepresentable, ~Copyable where Buffer == CVBuffer {}

/// The position of a picture's origin.
public enum CVImageBufferOriginPosition: Hashable, Sendable {
  case topLeft
  case bottomLeft
}

extension CVImageBufferRepresentable where Self: ~Copyable {
  /// The colour space that the attachments describe; nil if they do not.
  public var colorSpace: CGColorSpace? {
    withUnsafeBuffer { CVImageBufferGetColorSpace($0)?.takeUnretainedValue() }
  }
  /// The size at which to show the picture, in square pixels.
  public var displaySize: CGSize { withUnsafeBuffer { CVImageBufferGetDisplaySize($0) } }
  /// The size of the coded picture, in pixels.
  public var encodedSize: CGSize { withUnsafeBuffer { CVImageBufferGetEncodedSize($0) } }
  /// The part to be shown, in pixels; the origin is at the lower left.
  public var cleanRect: CGRect { withUnsafeBuffer { CVImageBufferGetCleanRect($0) } }
  public var originPosition: CVImageBufferOriginPosition {
    withUnsafeBuffer { CVImageBufferIsFlipped($0) ? .topLeft : .bottomLeft }
  }
}

/// A Swift type that represents a pixel buffer.
public protocol CVPixelBufferRepresentable: CVImageBufferRepresentable, ~Copyable {}

extension CVPixelBufferRepresentable where Self: ~Copyable {
  public var pixelFormatType: CVPixelFormatType {
    withUnsafeBuffer { CVPixelFormatType(rawValue: CVPixelBufferGetPixelFormatType($0)) }
  }

  public var size: CVImageSize {
    withUnsafeBuffer { CVImageSize(width: CVPixelBufferGetWidth($0), height: CVPixelBufferGetHeight($0)) }
  }

  /// Whether the buffer is planar.
  public var isPlanar: Bool { withUnsafeBuffer { CVPixelBufferIsPlanar($0) } }

  /// The number of planes; 1 for a buffer that is not planar.
  public var planeCount: Int { withUnsafeBuffer { $0.planeOrWholeCount } }

  /// The properties of each plane; one entry, of the entire picture, for a buffer that is not
  /// planar.
  public var planeProperties: [CVPixelBufferPlaneProperties] {
    withUnsafeBuffer { buffer in (0..<buffer.planeOrWholeCount).map(buffer.properties) }
  }

  public var extendedPixels: CVPixelBufferPadding {
    withUnsafeBuffer {
      let border = $0.extendedPixels
      return CVPixelBufferPadding(
        left: border.left, right: border.right, top: border.top, bottom: border.bottom)
    }
  }

  /// The attributes that the buffer was created with.
  public var creationAttributes: CVPixelBufferCreationAttributes {
    let (format, size) = (pixelFormatType, size)
    var attributes = CVPixelBufferAttributes(
      dictionary: withUnsafeBuffer { CVPixelBufferCopyCreationAttributes($0) })
    attributes.pixelFormatType = format
    attributes.size = size
    return CVPixelBufferCreationAttributes(attributes)
      ?? CVPixelBufferCreationAttributes(pixelFormatType: format, size: size)
  }

  /// Whether the buffer meets a client's requirements.
  public func isCompatibleWith(_ attributes: CVPixelBufferAttributes) -> Bool {
    withUnsafeBuffer { CVPixelBufferIsCompatibleWithAttributes($0, attributes.dictionary) }
  }

  /// Whether the buffer meets a client's requirements.
  public func isCompatibleWith(_ attributes: CVPixelBufferCreationAttributes) -> Bool {
    isCompatibleWith(CVPixelBufferAttributes(attributes))
  }

  /// Calls a closure with the bytes of each plane, while the buffer is locked for reading. The
  /// bytes are empty if the picture is on a surface that cannot be mapped.
  public func accessUnsafeRawPlaneBytes<R>(
    _ block: ([(properties: CVPixelBufferPlaneProperties, bytes: UnsafeRawBufferPointer)]) throws -> sending R
  ) rethrows -> sending R {
    try withUnsafeBuffer { buffer in
      let isLocked = CVPixelBufferLockBaseAddress(buffer, .readOnly) == kCVReturnSuccess
      defer { if isLocked { CVPixelBufferUnlockBaseAddress(buffer, .readOnly) } }
      return try block(
        (0..<buffer.planeOrWholeCount).map {
          (buffer.properties($0), UnsafeRawBufferPointer(buffer.bytes($0, isLocked)))
        })
    }
  }
}

extension CVBuffer {
  var planeOrWholeCount: Int { max(1, CVPixelBufferGetPlaneCount(self)) }

  func properties(_ plane: Int) -> CVPixelBufferPlaneProperties {
    CVPixelBufferPlaneProperties(
      size: CVImageSize(
        width: CVPixelBufferGetWidthOfPlane(self, plane), height: CVPixelBufferGetHeightOfPlane(self, plane)),
      bytesPerRow: CVPixelBufferGetBytesPerRowOfPlane(self, plane))
  }

  func bytes(_ plane: Int, _ isLocked: Bool) -> UnsafeMutableRawBufferPointer {
    guard isLocked, let start = CVPixelBufferGetBaseAddressOfPlane(self, plane) else {
      return UnsafeMutableRawBufferPointer(start: nil, count: 0)
    }
    // The product of rows and row length may exceed the bytes from the picture's first pixel to the
    // plane's end: where there are extended pixels to its left, or where a row of blocks holds
    // several rows of samples.
    let rows = CVPixelBufferGetBytesPerRowOfPlane(self, plane) * CVPixelBufferGetHeightOfPlane(self, plane)
    return UnsafeMutableRawBufferPointer(start: start, count: min(rows, storage.planes[plane].byteCount))
  }
}
