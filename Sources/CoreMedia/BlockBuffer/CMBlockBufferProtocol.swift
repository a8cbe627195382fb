// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// A block buffer, or a slice of one.
public protocol CMBlockBufferProtocol {
  /// The block buffer with the bytes.
  var owner: CMBlockBuffer { get }
  /// The offset of the first byte in the owner.
  var startIndex: Int { get }
  /// The offset after the last byte in the owner.
  var endIndex: Int { get }
}

// MARK: - Slices

extension CMBlockBufferProtocol {
  private func slice(_ lower: Int, _ upper: Int) -> CMBlockBuffer.Slice {
    precondition(
      startIndex <= lower && lower <= upper && upper <= endIndex, "Range out of the block buffer's bounds")
    return CMBlockBuffer.Slice(owner: owner, startIndex: lower, endIndex: upper)
  }

  /// The bytes of a range, which must be within the bounds. The memory is shared.
  public subscript(bounds: ClosedRange<Int>) -> CMBlockBuffer.Slice {
    precondition(bounds.upperBound < Int.max, "Range out of the block buffer's bounds")
    return slice(bounds.lowerBound, bounds.upperBound + 1)
  }

  /// The bytes of a range, which must be within the bounds. The memory is shared.
  public subscript(bounds: Range<Int>) -> CMBlockBuffer.Slice { slice(bounds.lowerBound, bounds.upperBound) }

  /// The bytes before an offset, which must be within the bounds. The memory is shared.
  public subscript(bounds: PartialRangeUpTo<Int>) -> CMBlockBuffer.Slice {
    slice(startIndex, bounds.upperBound)
  }

  /// The bytes up to and including an offset, which must be within the bounds. The memory is
  /// shared.
  public subscript(bounds: PartialRangeThrough<Int>) -> CMBlockBuffer.Slice {
    precondition(bounds.upperBound < Int.max, "Range out of the block buffer's bounds")
    return slice(startIndex, bounds.upperBound + 1)
  }

  /// The bytes from an offset on, which must be within the bounds. The memory is shared.
  public subscript(bounds: PartialRangeFrom<Int>) -> CMBlockBuffer.Slice {
    slice(bounds.lowerBound, endIndex)
  }

  /// All bytes. The memory is shared.
  public subscript(bounds: (UnboundedRange_) -> Void) -> CMBlockBuffer.Slice { slice(startIndex, endIndex) }
}

// MARK: - Contiguity

extension CMBlockBufferProtocol {
  /// The number of bytes.
  public var dataLength: Int { endIndex - startIndex }

  /// Whether the bytes are contiguous in memory.
  public var isContiguous: Bool {
    dataLength > 0 && owner.isContiguous(at: startIndex, length: dataLength)
  }

  /// Returns a block buffer with these bytes contiguous in memory: the same memory if they are
  /// already, otherwise a copy.
  public func makeContiguous(
    allocator: CFAllocator? = kCFAllocatorDefault, flags: CMBlockBuffer.Flags = []
  ) throws -> CMBlockBuffer {
    try contiguous(source: .allocator(allocator), flags: flags)
  }

  /// Returns a block buffer with these bytes contiguous in memory: the same memory if they are
  /// already, otherwise a copy in memory from `allocator`.
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
  /// Calls `body` with the contiguous bytes, which are copied if necessary.
  public func withContiguousStorage<R>(_ body: (UnsafeRawBufferPointer) throws -> R) throws -> R {
    guard dataLength > 0 else { return try body(UnsafeRawBufferPointer(start: nil, count: 0)) }
    let length = dataLength
    let buffer = isContiguous ? owner : try makeContiguous()
    let offset = buffer === owner ? startIndex : 0
    return try buffer.withUnsafeMutableBytes(atOffset: offset) {
      try body(UnsafeRawBufferPointer(rebasing: $0[..<length]))
    }
  }

  /// Returns a copy of the bytes.
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

  /// Copies the bytes to memory, which must have space for all of them.
  /// - Throws: `CMBlockBuffer.Error.insufficientSpace` if it has not.
  public func copyDataBytes(to destination: UnsafeMutableRawBufferPointer) throws {
    guard dataLength > 0 else { return }
    guard destination.count >= dataLength, let base = destination.baseAddress else {
      throw CMBlockBuffer.Error.insufficientSpace
    }
    try check(
      CMBlockBufferCopyDataBytes(owner, atOffset: startIndex, dataLength: dataLength, destination: base))
  }

  /// Replaces the first bytes with the given ones.
  /// - Throws: `CMBlockBuffer.Error.badLengthParameter` if there are more of them than bytes in the
  ///   block buffer.
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
