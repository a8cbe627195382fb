// SPDX-License-Identifier: Apache-2.0
import CoreVideo
import Foundation

/// An immutable block buffer, as a collection of bytes.
public struct CMReadOnlyDataBlockBuffer: RandomAccessCollection, @unchecked Sendable {
  // Sendable: the initialisers take ownership of the buffer, and appending makes a copy if the
  // buffer is shared.
  private var buffer: CMBlockBuffer

  /// Creates an empty buffer.
  public init(subBlockCapacity: Int = 0) {
    buffer = CMBlockBuffer(subBlockCapacity: Swift.min(Swift.max(1, subBlockCapacity), 1024))
  }

  /// Creates a buffer with a copy of `data`. If there is not enough memory, the buffer is empty.
  public init(_ data: Data) {
    self.init()
    guard !data.isEmpty, let copy = try? CMBlockBuffer(length: data.count, flags: .assureMemoryNow),
      (try? data.withUnsafeBytes { try copy.replaceDataBytes(with: $0) }) != nil
    else { return }
    buffer = copy
  }

  /// Creates an immutable buffer from a mutable one.
  public init(_ source: consuming CMMutableDataBlockBuffer) { buffer = source.take() }

  /// Takes ownership of a block buffer, which must not be changed from here on.
  public init(unsafeBlockBuffer: sending CMBlockBuffer) {
    try? unsafeBlockBuffer.assureBlockMemory()
    buffer = unsafeBlockBuffer
  }

  public func withUnsafeBlockBuffer<R>(_ body: (CMBlockBuffer) throws -> sending R) rethrows -> sending R {
    try body(buffer)
  }

  public var startIndex: Int { 0 }
  public var endIndex: Int { buffer.dataLength }

  public subscript(position: Int) -> UInt8 {
    precondition(indices.contains(position), "Index out of the block buffer's bounds")
    var byte: UInt8 = 0
    CMBlockBufferCopyDataBytes(buffer, atOffset: position, dataLength: 1, destination: &byte)
    return byte
  }

  /// Whether the bytes are contiguous in memory.
  public var isContiguous: Bool { buffer.isContiguous }

  /// Calls a closure with the bytes.
  /// - Returns: Nil, without a call, if the bytes are not contiguous in memory.
  public func withContiguousStorageIfAvailable<R>(
    _ body: (UnsafeRawBufferPointer) throws -> sending R
  ) rethrows -> sending R? {
    guard let bytes = buffer.contiguousBytes else { return nil }
    return try body(UnsafeRawBufferPointer(bytes))
  }

  /// Appends a reference to the bytes of another buffer. The result refers to memory rather than to
  /// other buffers, with or without `optimizeDepth`: its depth is always one.
  public mutating func append(referenceOf other: CMReadOnlyDataBlockBuffer, optimizeDepth: Bool = false) {
    guard !other.isEmpty else { return }
    // A shared buffer is not changed.
    if !isKnownUniquelyReferenced(&buffer) {
      let copy = CMBlockBuffer(subBlockCapacity: 2)
      Self.append(buffer, to: copy)
      buffer = copy
    }
    Self.append(other.buffer, to: buffer)
  }

  private static func append(_ part: CMBlockBuffer, to buffer: CMBlockBuffer) {
    guard part.dataLength > 0 else { return }
    _ = buffer.append(reference: part, offset: 0, dataLength: part.dataLength, flags: 0)
  }

  public static func + (
    a: CMReadOnlyDataBlockBuffer, b: CMReadOnlyDataBlockBuffer
  ) -> CMReadOnlyDataBlockBuffer {
    var sum = a
    sum.append(referenceOf: b)
    return sum
  }

  public static func += (a: inout CMReadOnlyDataBlockBuffer, b: CMReadOnlyDataBlockBuffer) {
    a.append(referenceOf: b)
  }
}

/// A block buffer with a single owner, which may modify it.
public struct CMMutableDataBlockBuffer: ~Copyable, @unchecked Sendable {
  // Sendable: nothing else has a reference to the buffer; the initialisers take ownership of it.
  private let buffer: CMBlockBuffer

  /// Creates a buffer of `count` bytes, whose values are undefined.
  public init(count: Int) throws { buffer = try CMBlockBuffer(length: count, flags: .assureMemoryNow) }

  /// Takes ownership of a block buffer, which must not be used otherwise from here on.
  public init(unsafeBlockBuffer: sending CMBlockBuffer) { buffer = unsafeBlockBuffer }

  public func withUnsafeBlockBuffer<R>(_ body: (CMBlockBuffer) throws -> sending R) rethrows -> sending R {
    try body(buffer)
  }

  public var count: Int { buffer.dataLength }
  public var isEmpty: Bool { count == 0 }
  public var startIndex: Int { 0 }
  public var endIndex: Int { count }
  public var indices: Range<Int> { 0..<count }
  /// Whether the bytes are contiguous in memory.
  public var isContiguous: Bool { buffer.isContiguous }

  public subscript(position: Int) -> UInt8 {
    get {
      precondition(indices.contains(position), "Index out of the block buffer's bounds")
      var byte: UInt8 = 0
      CMBlockBufferCopyDataBytes(buffer, atOffset: position, dataLength: 1, destination: &byte)
      return byte
    }
    set { replaceSubrange(position..<position + 1, repeating: newValue) }
  }

  /// Copies all bytes. The destination must have room for them.
  public func copyBytes(to destination: UnsafeMutableRawBufferPointer) {
    copyBytes(to: destination, from: indices)
  }

  /// Copies the bytes of a range. The destination must have room for them.
  public func copyBytes(to destination: UnsafeMutableRawBufferPointer, from range: Range<Int>) {
    precondition(
      range.lowerBound >= 0 && range.upperBound <= count && range.count <= destination.count,
      "Range out of bounds")
    guard !range.isEmpty, let address = destination.baseAddress else { return }
    CMBlockBufferCopyDataBytes(
      buffer, atOffset: range.lowerBound, dataLength: range.count, destination: address)
  }

  public mutating func replaceAll(repeating byte: UInt8) { replaceSubrange(indices, repeating: byte) }

  /// Replaces all bytes with the same number of bytes.
  public mutating func replaceAll(with bytes: some DataProtocol) { replaceSubrange(indices, with: bytes) }

  public mutating func replaceSubrange(_ range: Range<Int>, repeating byte: UInt8) {
    precondition(range.lowerBound >= 0 && range.upperBound <= count, "Range out of bounds")
    guard !range.isEmpty else { return }
    CMBlockBufferFillDataBytes(
      with: CChar(bitPattern: byte), blockBuffer: buffer, offsetIntoDestination: range.lowerBound,
      dataLength: range.count)
  }

  /// Replaces the bytes of a range with the same number of bytes.
  public mutating func replaceSubrange(_ range: Range<Int>, with bytes: some DataProtocol) {
    precondition(
      range.lowerBound >= 0 && range.upperBound <= count && bytes.count == range.count, "Range out of bounds")
    guard !range.isEmpty else { return }
    Array(bytes).withUnsafeBytes {
      guard let address = $0.baseAddress else { return }
      CMBlockBufferReplaceDataBytes(
        with: address, blockBuffer: buffer, offsetIntoDestination: range.lowerBound, dataLength: $0.count)
    }
  }

  /// Calls a closure with the bytes.
  /// - Returns: Nil, without a call, if the bytes are not contiguous in memory.
  public mutating func withContiguousMutableStorageIfAvailable<R>(
    _ body: (UnsafeMutableRawBufferPointer) throws -> sending R
  ) rethrows -> sending R? {
    guard let bytes = buffer.contiguousBytes else { return nil }
    return try body(bytes)
  }

  consuming func take() -> CMBlockBuffer { buffer }
}

extension CMBlockBuffer {
  /// All bytes; nil if they are not contiguous in memory.
  fileprivate var contiguousBytes: UnsafeMutableRawBufferPointer? {
    if dataLength == 0 { return UnsafeMutableRawBufferPointer(start: nil, count: 0) }
    var length = 0
    var address: UnsafeMutablePointer<CChar>?
    guard
      CMBlockBufferGetDataPointer(
        self, atOffset: 0, lengthAtOffsetOut: &length, totalLengthOut: nil, dataPointerOut: &address)
        == noErr,
      length == dataLength, let address
    else { return nil }
    return UnsafeMutableRawBufferPointer(start: address, count: length)
  }
}
