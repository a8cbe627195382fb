// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// A pixel buffer with a single owner, who may write to it.
public struct CVMutablePixelBuffer: ~Copyable, CVPixelBufferRepresentable, @unchecked Sendable {
  // Sendable: nothing else has a reference to the buffer; the initialisers take ownership of it.
  public typealias Buffer = CVPixelBuffer

  private let buffer: CVPixelBuffer

  /// Creates a buffer. The values of its pixels are undefined.
  /// - Throws: `CVError`.
  public init(_ attributes: CVPixelBufferCreationAttributes) throws {
    var made: CVPixelBuffer?
    try CVError.check(
      CVPixelBufferCreate(
        kCFAllocatorDefault, attributes.size.width, attributes.size.height,
        attributes.pixelFormatType.rawValue, attributes.dictionary, &made))
    guard let made else { throw CVError.internalError }
    buffer = made
  }

  /// Takes ownership of a buffer, which must not be used otherwise from here on.
  public init(unsafeBuffer: sending CVPixelBuffer) { buffer = unsafeBuffer }

  public func withUnsafeBuffer<R>(_ body: (CVPixelBuffer) throws -> sending R) rethrows -> sending R {
    try body(buffer)
  }

  /// Calls a closure with the bytes of each plane, while the buffer is locked for writing. The
  /// bytes are empty if the picture is on a surface that cannot be mapped.
  public mutating func accessUnsafeMutableRawPlaneBytes<R>(
    _ block: ([(properties: CVPixelBufferPlaneProperties, bytes: UnsafeMutableRawBufferPointer)]) throws ->
      sending R
  ) rethrows -> sending R {
    let isLocked = CVPixelBufferLockBaseAddress(buffer, []) == kCVReturnSuccess
    defer { if isLocked { CVPixelBufferUnlockBaseAddress(buffer, []) } }
    return try block(
      (0..<buffer.planeOrWholeCount).map { (buffer.properties($0), buffer.bytes($0, isLocked)) })
  }

  /// Fills the extended pixels with copies of the picture's edge.
  /// - Returns: False if that fails.
  @discardableResult
  public mutating func fillExtendedPixels() -> Bool {
    CVPixelBufferFillExtendedPixels(buffer) == kCVReturnSuccess
  }

  consuming func take() -> CVPixelBuffer { buffer }
}

/// A pixel buffer that is not written to any more.
public final class CVReadOnlyPixelBuffer: CVPixelBufferRepresentable, Sendable {
  public typealias Buffer = CVPixelBuffer

  private let buffer: CVPixelBuffer

  /// Makes a buffer read-only.
  public init(_ mutableBuffer: consuming CVMutablePixelBuffer) { buffer = mutableBuffer.take() }

  /// Takes ownership of a buffer, which must not be changed from here on.
  public init(unsafeBuffer: sending CVPixelBuffer) { buffer = unsafeBuffer }

  public func withUnsafeBuffer<R>(_ body: (CVPixelBuffer) throws -> sending R) rethrows -> sending R {
    try body(buffer)
  }
}
