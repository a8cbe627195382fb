// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Foundation

/// Swift types that stand for a buffer.
public protocol CVBufferRepresentable<Buffer>: ~Copyable {
  associatedtype Buffer: CVBuffer

  /// Gives the buffer to functions that take one.
  func withUnsafeBuffer<R>(_ body: (Buffer) throws -> sending R) rethrows -> sending R
}

/// Swift types that stand for a picture.
public protocol CVImageBufferRepresentable: CVBufferRepresentable, ~Copyable where Buffer == CVBuffer {}

/// Where a picture's coordinates begin.
public enum CVImageBufferOriginPosition: Hashable, Sendable {
  case topLeft
  case bottomLeft
}

extension CVImageBufferRepresentable where Self: ~Copyable {
  /// The colour space that the attachments say, nil if they say none.
  public var colorSpace: CGColorSpace? {
    withUnsafeBuffer { CVImageBufferGetColorSpace($0)?.takeUnretainedValue() }
  }
  /// In square pixels.
  public var displaySize: CGSize { withUnsafeBuffer { CVImageBufferGetDisplaySize($0) } }
  /// In pixels.
  public var encodedSize: CGSize { withUnsafeBuffer { CVImageBufferGetEncodedSize($0) } }
  /// The part to be shown, in pixels; the origin is at the lower left.
  public var cleanRect: CGRect { withUnsafeBuffer { CVImageBufferGetCleanRect($0) } }
  public var originPosition: CVImageBufferOriginPosition {
    withUnsafeBuffer { CVImageBufferIsFlipped($0) ? .topLeft : .bottomLeft }
  }
}

/// Swift types that stand for a pixel buffer.
public protocol CVPixelBufferRepresentable: CVImageBufferRepresentable, ~Copyable {}

extension CVPixelBufferRepresentable where Self: ~Copyable {
  public var pixelFormatType: CVPixelFormatType {
    withUnsafeBuffer { CVPixelFormatType(rawValue: CVPixelBufferGetPixelFormatType($0)) }
  }

  public var size: CVImageSize {
    withUnsafeBuffer { CVImageSize(width: CVPixelBufferGetWidth($0), height: CVPixelBufferGetHeight($0)) }
  }

  /// Whether the buffer was made with planes.
  public var isPlanar: Bool { withUnsafeBuffer { CVPixelBufferIsPlanar($0) } }

  /// At least 1: a buffer without planes counts as one.
  public var planeCount: Int { withUnsafeBuffer { $0.planeOrWholeCount } }

  /// At least one entry: of a buffer without planes, the whole.
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

  /// What the buffer was made with.
  public var creationAttributes: CVPixelBufferCreationAttributes {
    let (format, size) = (pixelFormatType, size)
    var attributes = CVPixelBufferAttributes(
      dictionary: withUnsafeBuffer { CVPixelBufferCopyCreationAttributes($0) })
    attributes.pixelFormatType = format
    attributes.size = size
    return CVPixelBufferCreationAttributes(attributes)
      ?? CVPixelBufferCreationAttributes(pixelFormatType: format, size: size)
  }

  /// Whether the buffer has what is asked for.
  public func isCompatibleWith(_ attributes: CVPixelBufferAttributes) -> Bool {
    withUnsafeBuffer { CVPixelBufferIsCompatibleWithAttributes($0, attributes.dictionary) }
  }

  /// Whether the buffer has what is asked for.
  public func isCompatibleWith(_ attributes: CVPixelBufferCreationAttributes) -> Bool {
    isCompatibleWith(CVPixelBufferAttributes(attributes))
  }

  /// Gives out the bytes of each plane, locked for reading. Bytes of a picture on a surface that cannot be mapped are
  /// empty.
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
    // From the picture's first pixel on there are fewer bytes than rows times their length where extended pixels are to its left,
    // or where a row of memory has several of samples.
    let rows = CVPixelBufferGetBytesPerRowOfPlane(self, plane) * CVPixelBufferGetHeightOfPlane(self, plane)
    return UnsafeMutableRawBufferPointer(start: start, count: min(rows, storage.planes[plane].byteCount))
  }
}
