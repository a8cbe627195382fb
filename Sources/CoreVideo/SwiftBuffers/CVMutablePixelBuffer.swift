// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// A pixel buffer that its only owner may write to.
public struct CVMutablePixelBuffer: ~Copyable, CVPixelBufferRepresentable, @unchecked Sendable {
  // Sendable: nobody else has the buffer; the initializers take it over.
  public typealias Buffer = CVPixelBuffer

  private let buffer: CVPixelBuffer

  /// Makes a buffer. Its pixels have no particular values.
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

  /// Takes a buffer over, which nobody else may use any more.
  public init(unsafeBuffer: sending CVPixelBuffer) { buffer = unsafeBuffer }

  public func withUnsafeBuffer<R>(_ body: (CVPixelBuffer) throws -> sending R) rethrows -> sending R {
    try body(buffer)
  }

  /// Gives out the bytes of each plane, locked for writing. Bytes of a picture on a surface that cannot be mapped are
  /// empty.
  public mutating func accessUnsafeMutableRawPlaneBytes<R>(
    _ block: ([(properties: CVPixelBufferPlaneProperties, bytes: UnsafeMutableRawBufferPointer)]) throws ->
      sending R
  ) rethrows -> sending R {
    let isLocked = CVPixelBufferLockBaseAddress(buffer, []) == kCVReturnSuccess
    defer { if isLocked { CVPixelBufferUnlockBaseAddress(buffer, []) } }
    return try block(
      (0..<buffer.planeOrWholeCount).map { (buffer.properties($0), buffer.bytes($0, isLocked)) })
  }

  /// Copies the picture's border into the pixels around it.
  /// - Returns: False if that cannot be done.
  @discardableResult
  public mutating func fillExtendedPixels() -> Bool {
    CVPixelBufferFillExtendedPixels(buffer) == kCVReturnSuccess
  }

  consuming func take() -> CVPixelBuffer { buffer }
}

/// A pixel buffer that nobody writes to any more.
public final class CVReadOnlyPixelBuffer: CVPixelBufferRepresentable, Sendable {
  public typealias Buffer = CVPixelBuffer

  private let buffer: CVPixelBuffer

  /// Ends the writing.
  public init(_ mutableBuffer: consuming CVMutablePixelBuffer) { buffer = mutableBuffer.take() }

  /// Takes a buffer over, which nobody may change any more.
  public init(unsafeBuffer: sending CVPixelBuffer) { buffer = unsafeBuffer }

  public func withUnsafeBuffer<R>(_ body: (CVPixelBuffer) throws -> sending R) rethrows -> sending R {
    try body(buffer)
  }
}
