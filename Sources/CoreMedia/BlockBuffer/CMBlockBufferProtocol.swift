// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// A block buffer, or a slice of one.
public protocol CMBlockBufferProtocol {
  /// The block buffer that holds the bytes.
  var owner: CMBlockBuffer { get }
  /// The offset of the first byte within the owner.
  var startIndex: Int { get }
  /// The offset after the last byte within the owner.
  var endIndex: Int { get }
}

// MARK: - Slices

extension CMBlockBufferProtocol {
  private func slice(_ lower: Int, _ upper: Int) -> CMBlockBuffer.Slice {
    precondition(
      startIndex <= lower && lower <= upper && upper <= endIndex, "Range out of the block buffer's bounds")
    return CMBlockBuffer.Slice(owner: owner, startIndex: lower, endIndex: upper)
  }

  /// The bytes of a range, shared; it must lie within the bounds.
  public subscript(bounds: ClosedRange<Int>) -> CMBlockBuffer.Slice {
    precondition(bounds.upperBound < Int.max, "Range out of the block buffer's bounds")
    return slice(bounds.lowerBound, bounds.upperBound + 1)
  }

  /// The bytes of a range, shared; it must lie within the bounds.
  public subscript(bounds: Range<Int>) -> CMBlockBuffer.Slice { slice(bounds.lowerBound, bounds.upperBound) }

  /// The bytes before an offset, shared; it must lie within the bounds.
  public subscript(bounds: PartialRangeUpTo<Int>) -> CMBlockBuffer.Slice {
    slice(startIndex, bounds.upperBound)
  }

  /// The bytes up to and with an offset, shared; it must lie within the bounds.
  public subscript(bounds: PartialRangeThrough<Int>) -> CMBlockBuffer.Slice {
    precondition(bounds.upperBound < Int.max, "Range out of the block buffer's bounds")
    return slice(startIndex, bounds.upperBound + 1)
  }

  /// The bytes from an offset on, shared; it must lie within the bounds.
  public subscript(bounds: PartialRangeFrom<Int>) -> CMBlockBuffer.Slice {
    slice(bounds.lowerBound, endIndex)
  }

  /// All bytes, shared.
  public subscript(bounds: (UnboundedRange_) -> Void) -> CMBlockBuffer.Slice { slice(startIndex, endIndex) }
}

// MARK: - Contiguity

extension CMBlockBufferProtocol {
  /// The number of bytes.
  public var dataLength: Int { endIndex - startIndex }

  /// Whether the bytes lie in one piece of memory.
  public var isContiguous: Bool {
    dataLength > 0 && owner.isContiguous(at: startIndex, length: dataLength)
  }

  /// A block buffer with these bytes in one piece of memory: the same memory if that is so already.
  public func makeContiguous(
    allocator: CFAllocator? = kCFAllocatorDefault, flags: CMBlockBuffer.Flags = []
  ) throws -> CMBlockBuffer {
    try contiguous(source: .allocator(allocator), flags: flags)
  }

  /// A block buffer with these bytes in one piece of memory, which comes from `allocator` if it has to be copied.
  public func makeContiguous(
    allocator: @escaping CMBlockBuffer.CustomBlockAllocator,
    deallocator: @escaping CMBlockBuffer.CustomBlockDeallocator, flags: CMBlockBuffer.Flags = []
  ) throws -> CMBlockBuffer {
    try contiguous(source: .closures(allocate: allocator, deallocate: deallocator), flags: flags)
  }

  private func contiguous(source: MemoryBlock.Source, flags: CMBlockBuffer.Flags) throws -> CMBlockBuffer {
    guard dataLength > 0 else { throw CMBlockBuffer.Error.emptyBlockBuffer }
    return try owner.contiguous(
      offset: startIndex, length: dataLength, source: source, flags: flags.rawValue
    ).get()
  }
}

// MARK: - Bytes

extension CMBlockBufferProtocol {
  /// Calls `body` with the bytes in one piece, which are copied if they lie in several.
  public func withContiguousStorage<R>(_ body: (UnsafeRawBufferPointer) throws -> R) throws -> R {
    guard dataLength > 0 else { return try body(UnsafeRawBufferPointer(start: nil, count: 0)) }
    let length = dataLength
    let buffer = isContiguous ? owner : try makeContiguous()
    let offset = buffer === owner ? startIndex : 0
    return try buffer.withUnsafeMutableBytes(atOffset: offset) {
      try body(UnsafeRawBufferPointer(rebasing: $0[..<length]))
    }
  }

  /// A copy of the bytes.
  public func dataBytes() throws -> Data {
    let length = dataLength
    guard length > 0 else { return Data() }
    if isContiguous {
      return try owner.withUnsafeMutableBytes(atOffset: startIndex) {
        Data(bytes: $0.baseAddress!, count: length)
      }
    }
    guard let memory = malloc(length) else { throw CMBlockBuffer.Error.blockAllocationFailed }
    do {
      try copyDataBytes(to: UnsafeMutableRawBufferPointer(start: memory, count: length))
    } catch {
      free(memory)
      throw error
    }
    return Data(bytesNoCopy: memory, count: length, deallocator: .free)
  }

  /// Copies the bytes to memory, which must have room for them all.
  public func copyDataBytes(to destination: UnsafeMutableRawBufferPointer) throws {
    guard dataLength > 0 else { return }
    guard destination.count >= dataLength, let base = destination.baseAddress else {
      throw CMBlockBuffer.Error.insufficientSpace
    }
    try check(
      CMBlockBufferCopyDataBytes(owner, atOffset: startIndex, dataLength: dataLength, destination: base))
  }

  /// Replaces the first bytes with those given, which must not be more than there are.
  public func replaceDataBytes(with sourceBytes: UnsafeRawBufferPointer) throws {
    guard let base = sourceBytes.baseAddress, sourceBytes.count > 0 else { return }
    guard sourceBytes.count <= dataLength else { throw CMBlockBuffer.Error.badLengthParameter }
    try check(
      CMBlockBufferReplaceDataBytes(
        with: base, blockBuffer: owner, offsetIntoDestination: startIndex, dataLength: sourceBytes.count))
  }

  /// Sets all bytes to one value.
  public func fillDataBytes(with fillByte: UInt8) throws {
    guard dataLength > 0 else { return }
    try check(
      CMBlockBufferFillDataBytes(
        with: CChar(bitPattern: fillByte), blockBuffer: owner, offsetIntoDestination: startIndex,
        dataLength: dataLength))
  }
}
