// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

extension CMBlockBuffer {
  /// Allocates memory of a size in bytes; returns nil if there is not enough.
  public typealias CustomBlockAllocator = (Int) -> UnsafeMutableRawPointer?
  /// Frees memory of an address and a size in bytes.
  public typealias CustomBlockDeallocator = (UnsafeMutableRawPointer, Int) -> Void

  // MARK: - Create

  /// Creates an empty block buffer; `capacity` is how many blocks and references it will probably
  /// hold.
  public convenience init(capacity: Int = 0, flags: Flags = []) throws {
    guard capacity >= 0 else { throw Error.badLengthParameter }
    self.init(subBlockCapacity: capacity)
  }

  /// Creates a block buffer over existing memory, without a copy; `allocator` frees it in the end.
  public convenience init(
    buffer: UnsafeMutableRawBufferPointer, allocator: CFAllocator? = kCFAllocatorDefault, flags: Flags = []
  ) throws {
    self.init(subBlockCapacity: 1)
    try append(buffer: buffer, allocator: allocator, flags: flags)
  }

  /// Creates a block buffer over a part of existing memory; `allocator` frees all of the memory in
  /// the end.
  public convenience init(
    buffer: Swift.Slice<UnsafeMutableRawBufferPointer>, allocator: CFAllocator? = kCFAllocatorDefault,
    flags: Flags = []
  ) throws {
    self.init(subBlockCapacity: 1)
    try append(buffer: buffer, allocator: allocator, flags: flags)
  }

  /// Creates a block buffer whose memory, `length` bytes, is allocated when it is needed.
  ///
  /// Of the parameters:
  ///
  /// - `range`: The bytes of the memory to use; nil for all.
  public convenience init(
    length: Int, allocator: CFAllocator? = kCFAllocatorDefault, range: Range<Int>? = nil, flags: Flags = []
  ) throws {
    self.init(subBlockCapacity: 1)
    try append(length: length, allocator: allocator, range: range, flags: flags)
  }

  /// Creates a block buffer over existing memory, without a copy; `deallocator` is called with it
  /// in the end.
  public convenience init(
    buffer: UnsafeMutableRawBufferPointer, deallocator: @escaping CustomBlockDeallocator, flags: Flags = []
  ) throws {
    self.init(subBlockCapacity: 1)
    try append(buffer: buffer, deallocator: deallocator, flags: flags)
  }

  /// Creates a block buffer over a part of existing memory; `deallocator` is called with all of the
  /// memory in the end.
  public convenience init(
    buffer: Swift.Slice<UnsafeMutableRawBufferPointer>, deallocator: @escaping CustomBlockDeallocator,
    flags: Flags = []
  ) throws {
    self.init(subBlockCapacity: 1)
    try append(buffer: buffer, deallocator: deallocator, flags: flags)
  }

  /// Creates a block buffer whose memory is allocated by `allocator` when it is needed, and freed
  /// by `deallocator`.
  public convenience init(
    length: Int, allocator: @escaping CustomBlockAllocator, deallocator: @escaping CustomBlockDeallocator,
    range: Range<Int>? = nil, flags: Flags = []
  ) throws {
    self.init(subBlockCapacity: 1)
    try append(length: length, allocator: allocator, deallocator: deallocator, range: range, flags: flags)
  }

  /// Creates a block buffer that shares the bytes of another one, or of a slice.
  public convenience init<T: CMBlockBufferProtocol>(bufferReference: T, flags: Flags = []) throws {
    self.init(subBlockCapacity: 1)
    try append(bufferReference: bufferReference, flags: flags)
  }

  // MARK: - Append

  /// Appends memory that is allocated when it is needed.
  public func append(
    length: Int, allocator: CFAllocator? = kCFAllocatorDefault, range: Range<Int>? = nil, flags: Flags = []
  ) throws {
    try append(nil, length: length, source: .allocator(allocator), range: range, flags: flags)
  }

  /// Appends existing memory without a copy; `allocator` frees it in the end.
  public func append(
    buffer: UnsafeMutableRawBufferPointer, allocator: CFAllocator? = kCFAllocatorDefault, flags: Flags = []
  ) throws {
    try append(buffer[...], source: .allocator(allocator), flags: flags)
  }

  /// Appends a part of existing memory without a copy; `allocator` frees all of the memory in the
  /// end.
  public func append(
    buffer: Swift.Slice<UnsafeMutableRawBufferPointer>, allocator: CFAllocator? = kCFAllocatorDefault,
    flags: Flags = []
  ) throws {
    try append(buffer, source: .allocator(allocator), flags: flags)
  }

  /// Appends memory that is allocated by `allocator` when it is needed, and freed by `deallocator`.
  public func append(
    length: Int, allocator: @escaping CustomBlockAllocator, deallocator: @escaping CustomBlockDeallocator,
    range: Range<Int>? = nil, flags: Flags = []
  ) throws {
    try append(
      nil, length: length, source: .closures(allocate: allocator, deallocate: deallocator), range: range,
      flags: flags)
  }

  /// Appends existing memory without a copy; `deallocator` is called with it in the end.
  public func append(
    buffer: UnsafeMutableRawBufferPointer, deallocator: @escaping CustomBlockDeallocator, flags: Flags = []
  ) throws {
    try append(buffer[...], source: .closures(allocate: nil, deallocate: deallocator), flags: flags)
  }

  /// Appends a part of existing memory without a copy; `deallocator` is called with all of the
  /// memory in the end.
  public func append(
    buffer: Swift.Slice<UnsafeMutableRawBufferPointer>, deallocator: @escaping CustomBlockDeallocator,
    flags: Flags = []
  ) throws {
    try append(buffer, source: .closures(allocate: nil, deallocate: deallocator), flags: flags)
  }

  /// Appends a reference to another block buffer or a slice of one.
  public func append<T: CMBlockBufferProtocol>(bufferReference: T, flags: Flags = []) throws {
    let length = bufferReference.endIndex - bufferReference.startIndex
    if length == 0, !flags.contains(.permitEmptyReference) { throw Error.emptyBlockBuffer }
    // A length of zero would mean all bytes from the offset on, so an empty slice is treated
    // separately.
    let target = length == 0 ? CMBlockBuffer(subBlockCapacity: 0) : bufferReference.owner
    try check(
      append(
        reference: target, offset: length == 0 ? 0 : bufferReference.startIndex, dataLength: length,
        flags: flags.rawValue))
  }

  private func append(
    _ buffer: Swift.Slice<UnsafeMutableRawBufferPointer>, source: MemoryBlock.Source, flags: Flags
  ) throws {
    guard let memory = buffer.base.baseAddress else { throw Error.badLengthParameter }
    try append(
      memory, length: buffer.base.count, source: source, range: buffer.startIndex..<buffer.endIndex,
      flags: flags)
  }

  private func append(
    _ memory: UnsafeMutableRawPointer?, length: Int, source: MemoryBlock.Source, range: Range<Int>?,
    flags: Flags
  ) throws {
    let range = range ?? 0..<max(length, 0)
    guard length > 0, range.upperBound <= length else { throw Error.badLengthParameter }
    guard range.lowerBound >= 0 else { throw Error.badOffsetParameter }
    try check(
      append(
        memory: memory, blockLength: length, source: source, offset: range.lowerBound,
        dataLength: range.count,
        flags: flags.rawValue))
  }

  /// Allocates the memory of all blocks that have none yet.
  public func assureBlockMemory() throws {
    try check(assureMemory())
  }

  // MARK: - Access

  /// Calls `body` with the contiguous bytes from `offset` on.
  public func withUnsafeMutableBytes<R>(
    atOffset offset: Int = 0, _ body: (UnsafeMutableRawBufferPointer) throws -> R
  ) throws -> R {
    var count = 0
    var total = 0
    var pointer: UnsafeMutableRawPointer?
    try check(dataPointer(at: offset, lengthAtOffset: &count, totalLength: &total, pointer: &pointer))
    return try withExtendedLifetime(self) {
      try body(UnsafeMutableRawBufferPointer(start: pointer, count: count))
    }
  }

  /// Whether there are neither memory blocks nor references.
  public var isEmpty: Bool { hasNoContents }

  /// The type identifier of block buffers.
  public class var typeID: CFTypeID { cfTypeID }
}

extension CMBlockBuffer: CMBlockBufferProtocol {
  /// Itself.
  public var owner: CMBlockBuffer { self }
  /// Zero.
  public var startIndex: Int { 0 }
  /// The number of bytes.
  public var endIndex: Int { length }
}

extension CMBlockBuffer {
  /// A range of a block buffer. Its offsets are those of the block buffer.
  public struct Slice: CMBlockBufferProtocol, Sendable {
    /// The block buffer.
    public let owner: CMBlockBuffer
    /// The offset of the first byte.
    public let startIndex: Int
    /// The offset after the last byte.
    public let endIndex: Int
  }
}
