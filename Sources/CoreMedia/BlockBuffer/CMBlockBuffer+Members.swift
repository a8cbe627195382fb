// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

extension CMBlockBuffer {
  /// Allocates memory of the given size in bytes; returns nil if there is not enough.
  public typealias CustomBlockAllocator = (Int) -> UnsafeMutableRawPointer?
  /// Frees memory at the given address and of the given size in bytes.
  public typealias CustomBlockDeallocator = (UnsafeMutableRawPointer, Int) -> Void

  // MARK: - Create

  /// Creates an empty block buffer. `capacity` is the expected number of blocks and references.
  public convenience init(capacity: Int = 0, flags: Flags = []) throws {
    guard capacity >= 0 else { throw Error.badLengthParameter }
    self.init(subBlockCapacity: capacity)
  }

  /// Creates a block buffer over existing memory without copying it; `allocator` frees the memory
  /// after use.
  public convenience init(
    buffer: UnsafeMutableRawBufferPointer, allocator: CFAllocator? = kCFAllocatorDefault, flags: Flags = []
  ) throws {
    self.init(subBlockCapacity: 1)
    try append(buffer: buffer, allocator: allocator, flags: flags)
  }

  /// Creates a block buffer over a part of existing memory; `allocator` frees all of the memory
  /// after use.
  public convenience init(
    buffer: Swift.Slice<UnsafeMutableRawBufferPointer>, allocator: CFAllocator? = kCFAllocatorDefault,
    flags: Flags = []
  ) throws {
    self.init(subBlockCapacity: 1)
    try append(buffer: buffer, allocator: allocator, flags: flags)
  }

  /// Creates a block buffer whose memory is allocated when it is needed.
  ///
  /// - Parameters:
  ///   - length: The size of the memory in bytes.
  ///   - allocator: Allocates and frees the memory.
  ///   - range: The bytes of the memory that are used; nil for all.
  ///   - flags: `assureMemoryNow` to allocate the memory at once.
  public convenience init(
    length: Int, allocator: CFAllocator? = kCFAllocatorDefault, range: Range<Int>? = nil, flags: Flags = []
  ) throws {
    self.init(subBlockCapacity: 1)
    try append(length: length, allocator: allocator, range: range, flags: flags)
  }

  /// Creates a block buffer over existing memory without copying it; `deallocator` is called with
  /// the memory after use.
  public convenience init(
    buffer: UnsafeMutableRawBufferPointer, deallocator: @escaping CustomBlockDeallocator, flags: Flags = []
  ) throws {
    self.init(subBlockCapacity: 1)
    try append(buffer: buffer, deallocator: deallocator, flags: flags)
  }

  /// Creates a block buffer over a part of existing memory; `deallocator` is called with all of the
  /// memory after use.
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

  /// Creates a block buffer that shares the memory of another block buffer, or of a slice of one.
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

  /// Appends existing memory without copying it; `allocator` frees the memory after use.
  public func append(
    buffer: UnsafeMutableRawBufferPointer, allocator: CFAllocator? = kCFAllocatorDefault, flags: Flags = []
  ) throws {
    try append(buffer[...], source: .allocator(allocator), flags: flags)
  }

  /// Appends a part of existing memory without copying it; `allocator` frees all of the memory
  /// after use.
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

  /// Appends existing memory without copying it; `deallocator` is called with the memory after use.
  public func append(
    buffer: UnsafeMutableRawBufferPointer, deallocator: @escaping CustomBlockDeallocator, flags: Flags = []
  ) throws {
    try append(buffer[...], source: .closures(allocate: nil, deallocate: deallocator), flags: flags)
  }

  /// Appends a part of existing memory without copying it; `deallocator` is called with all of the
  /// memory after use.
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
    // An empty slice is treated separately, since a length of zero means all bytes from the offset
    // on.
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

  /// Allocates the memory of all blocks whose memory has not been allocated yet.
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
  /// The block buffer itself.
  public var owner: CMBlockBuffer { self }
  /// Always zero.
  public var startIndex: Int { 0 }
  /// The number of bytes.
  public var endIndex: Int { length }
}

extension CMBlockBuffer {
  /// A range of a block buffer. Its offsets are offsets in the block buffer.
  public struct Slice: CMBlockBufferProtocol, Sendable {
    /// The block buffer.
    public let owner: CMBlockBuffer
    /// The offset of the first byte.
    public let startIndex: Int
    /// The offset after the last byte.
    public let endIndex: Int
  }
}
