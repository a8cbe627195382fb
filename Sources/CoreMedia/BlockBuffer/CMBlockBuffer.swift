// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// Bytes in one or more pieces of memory, which are accessed by offset as if they were contiguous.
///
/// A block buffer consists of memory blocks and of references to ranges of other block buffers. A
/// reference shares the memory blocks of its target, so that changes through one are visible
/// through the other.
public final class CMBlockBuffer: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards all variables.
  /// A part of a memory block, and its offset in the block buffer.
  struct Segment {
    let block: MemoryBlock
    /// The offset of the first byte in the memory block.
    let blockOffset: Int
    let length: Int
    /// The offset of the first byte in the block buffer.
    let start: Int

    var end: Int { start + length }
  }

  /// A memory block that only this block buffer uses. It is stored without a separate object.
  private struct UnsharedBlock {
    let memory: UnsafeMutableRawPointer
    let blockLength: Int
    let source: MemoryBlock.Source
    let offset: Int
    let length: Int
  }

  private let lock = Lock()
  /// The only block, as long as nothing else has been appended and no other block buffer refers to
  /// it; `segments` is then empty. Otherwise nil.
  private var unsharedBlock: UnsharedBlock?
  private var segments: [Segment] = []
  /// Blocks that are owned by this block buffer although none of their bytes are used.
  private var emptyBlocks: [MemoryBlock] = []
  /// Whether a block or a reference has been added, even one without bytes.
  private var hasContents = false
  private var attachmentTable = AttachmentTable()

  init(subBlockCapacity: Int) {
    super.init()
    if subBlockCapacity > 1 { segments.reserveCapacity(min(subBlockCapacity, 4096)) }
  }

  deinit {
    if let unsharedBlock {
      unsharedBlock.source.free(unsharedBlock.memory, length: unsharedBlock.blockLength)
    }
  }

  // MARK: - Contents

  /// The number of bytes.
  var length: Int { lock.withLock { total } }

  /// The number of bytes of allocated memory, at most `length`. Memory that has not been allocated
  /// yet is not counted, and a block with several references is counted once.
  var memoryLength: Int {
    let (total, sole, segments) = lock.withLock { (self.total, unsharedBlock?.length, self.segments) }
    if let sole { return sole }
    var blocks: Set<ObjectIdentifier> = []
    var sum = 0
    for segment in segments where blocks.insert(ObjectIdentifier(segment.block)).inserted {
      if segment.block.pointer != nil { sum = sum.addingClamped(segment.block.length) }
    }
    return min(total, sum)
  }

  /// The number of bytes. The caller holds the lock.
  private var total: Int { unsharedBlock?.length ?? segments.last?.end ?? 0 }

  /// Converts `unsharedBlock` to an object in `segments`, so that other block buffers can refer to
  /// it. The caller holds the lock.
  private func shareBlock() {
    guard let sole = unsharedBlock else { return }
    unsharedBlock = nil
    let block = MemoryBlock(memory: sole.memory, length: sole.blockLength, source: sole.source)
    segments.append(Segment(block: block, blockOffset: sole.offset, length: sole.length, start: 0))
  }

  var hasNoContents: Bool { lock.withLock { !hasContents } }

  /// Appends `dataLength` bytes at `offset` of a memory block that no other block buffer uses; its
  /// memory may be allocated later. On failure the caller still owns the memory.
  func append(
    memory: UnsafeMutableRawPointer?, blockLength: Int, source: MemoryBlock.Source, offset: Int,
    dataLength: Int,
    flags: CMBlockBufferFlags
  ) -> OSStatus {
    if let memory, dataLength > 0, offset >= 0, offset <= blockLength, dataLength <= blockLength - offset {
      let isTaken = lock.withLock {
        guard !hasContents else { return false }
        unsharedBlock = UnsharedBlock(
          memory: memory, blockLength: blockLength, source: source, offset: offset, length: dataLength)
        hasContents = true
        return true
      }
      if isTaken { return noErr }
    }
    let block = MemoryBlock(memory: memory, length: blockLength, source: source)
    return append(block: block, offset: offset, dataLength: dataLength, flags: flags)
  }

  /// Appends `dataLength` bytes at `offset` of a memory block.
  func append(block: MemoryBlock, offset: Int, dataLength: Int, flags: CMBlockBufferFlags) -> OSStatus {
    guard block.length > 0 else { return kCMBlockBufferBadLengthParameterErr }
    guard offset >= 0, offset <= block.length else { return kCMBlockBufferBadOffsetParameterErr }
    guard dataLength >= 0, dataLength <= block.length - offset else {
      return kCMBlockBufferBadLengthParameterErr
    }
    if flags & kCMBlockBufferAssureMemoryNowFlag != 0 {
      let status = block.assureMemory()
      guard status == noErr else { return status }
    }
    return lock.withLock {
      shareBlock()
      let total = self.total
      guard dataLength <= Int.max - total else { return kCMBlockBufferBadLengthParameterErr }
      hasContents = true
      if dataLength == 0 {
        emptyBlocks.append(block)
      } else {
        segments.append(Segment(block: block, blockOffset: offset, length: dataLength, start: total))
      }
      return noErr
    }
  }

  /// Appends a reference to a range of another block buffer; a length of zero means all bytes from
  /// `offset` on.
  func append(
    reference target: CMBlockBuffer, offset: Int, dataLength: Int, flags: CMBlockBufferFlags
  ) -> OSStatus {
    let (source, targetIsEmpty) = target.lock.withLock {
      target.shareBlock()
      return (target.segments, !target.hasContents)
    }
    let total = source.last?.end ?? 0
    let permitsEmpty = flags & kCMBlockBufferPermitEmptyReferenceFlag != 0
    guard offset >= 0, offset <= total else { return kCMBlockBufferBadOffsetParameterErr }
    guard dataLength >= 0, dataLength <= total - offset else { return kCMBlockBufferBadLengthParameterErr }
    let range = offset..<(dataLength == 0 ? total : offset + dataLength)
    if range.isEmpty && !permitsEmpty {
      return targetIsEmpty ? kCMBlockBufferEmptyBBufErr : kCMBlockBufferBadOffsetParameterErr
    }
    if flags & kCMBlockBufferAssureMemoryNowFlag != 0 {
      let status = target.assureMemory(in: range)
      guard status == noErr else { return status }
    }
    return lock.withLock {
      shareBlock()
      var start = self.total
      guard range.count <= Int.max - start else { return kCMBlockBufferBadLengthParameterErr }
      hasContents = true
      var index = Self.index(of: range.lowerBound, in: source)
      while index < source.count, source[index].start < range.upperBound {
        let segment = source[index]
        let lower = max(segment.start, range.lowerBound)
        let upper = min(segment.end, range.upperBound)
        if lower < upper {
          segments.append(
            Segment(
              block: segment.block, blockOffset: segment.blockOffset + (lower - segment.start),
              length: upper - lower, start: start))
          start += upper - lower
        }
        index += 1
      }
      return noErr
    }
  }

  /// Allocates the memory of all blocks in a range, or in the whole block buffer.
  func assureMemory(in range: Range<Int>? = nil) -> OSStatus {
    let (blocks, empty, isEmpty) = lock.withLock { (segments, emptyBlocks, !hasContents) }
    if isEmpty { return kCMBlockBufferEmptyBBufErr }
    for segment in blocks {
      if let range, segment.end <= range.lowerBound || segment.start >= range.upperBound { continue }
      let status = segment.block.assureMemory()
      guard status == noErr else { return status }
    }
    if range == nil {
      for block in empty {
        let status = block.assureMemory()
        guard status == noErr else { return status }
      }
    }
    return noErr
  }

  // MARK: - Access

  /// Returns the index of the segment with the byte at `offset`; the number of segments if there is
  /// none.
  private static func index(of offset: Int, in segments: [Segment]) -> Int {
    var low = 0
    var high = segments.count
    while low < high {
      let middle = (low + high) / 2
      if segments[middle].end <= offset { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Checks a range of this block buffer; a length of nil means all bytes from `offset` on.
  private func checkRange(offset: Int, length: Int?) -> OSStatus {
    if !hasContents { return kCMBlockBufferEmptyBBufErr }
    let total = self.total
    if offset < 0 || offset > total { return kCMBlockBufferBadOffsetParameterErr }
    guard let length else {
      return offset == total ? kCMBlockBufferBadOffsetParameterErr : noErr
    }
    if length < 0 || length > total - offset { return kCMBlockBufferBadLengthParameterErr }
    return noErr
  }

  /// Gets the memory at `offset` and the number of contiguous bytes there.
  func dataPointer(
    at offset: Int, lengthAtOffset: inout Int, totalLength: inout Int, pointer: inout UnsafeMutableRawPointer?
  ) -> OSStatus {
    let (status, block, blockOffset) = lock.withLock { () -> (OSStatus, MemoryBlock?, Int) in
      let status = checkRange(offset: offset, length: nil)
      guard status == noErr else { return (status, nil, 0) }
      if let unsharedBlock {
        lengthAtOffset = unsharedBlock.length - offset
        totalLength = unsharedBlock.length
        pointer = unsharedBlock.memory + unsharedBlock.offset + offset
        return (noErr, nil, 0)
      }
      let segment = segments[Self.index(of: offset, in: segments)]
      lengthAtOffset = segment.end - offset
      totalLength = segments[segments.count - 1].end
      return (noErr, segment.block, segment.blockOffset + (offset - segment.start))
    }
    guard status == noErr, let block else { return status }
    guard let memory = block.pointer else { return kCMBlockBufferUnallocatedBlockErr }
    pointer = memory + blockOffset
    return noErr
  }

  /// Calls `body` with each contiguous piece of memory in a range, in order.
  ///
  /// - Parameters:
  ///   - offset: The offset of the range.
  ///   - length: The number of bytes.
  ///   - allocating: Whether memory that has not been allocated yet is allocated; otherwise it is
  ///     an error.
  ///   - body: Called with the address and the size of each piece.
  func forEachPiece(
    at offset: Int, length: Int, allocating: Bool, _ body: (UnsafeMutableRawPointer, Int) -> Void
  ) -> OSStatus {
    var sole: UnsafeMutableRawPointer?
    let (status, pieces) = lock.withLock { () -> (OSStatus, ArraySlice<Segment>) in
      let status = checkRange(offset: offset, length: length)
      guard status == noErr else { return (status, []) }
      if let unsharedBlock {
        sole = unsharedBlock.memory + unsharedBlock.offset + offset
        return (noErr, [])
      }
      let first = Self.index(of: offset, in: segments)
      let last = Self.index(of: offset + max(length, 1) - 1, in: segments)
      return (noErr, length == 0 ? [] : segments[first...last])
    }
    guard status == noErr else { return status }
    if let sole {
      // The memory is valid as long as the block buffer, even if it becomes shared in the meantime.
      if length > 0 { body(sole, length) }
      return noErr
    }
    // No memory is accessed unless the whole range is available.
    for piece in pieces where piece.block.pointer == nil {
      guard allocating else { return kCMBlockBufferUnallocatedBlockErr }
      let status = piece.block.assureMemory()
      guard status == noErr else { return status }
    }
    for piece in pieces {
      guard let memory = piece.block.pointer else { return kCMBlockBufferUnallocatedBlockErr }
      let lower = max(piece.start, offset)
      let upper = min(piece.end, offset + length)
      body(memory + piece.blockOffset + (lower - piece.start), upper - lower)
    }
    return noErr
  }

  /// Returns whether a range is contiguous in memory; a length of zero means all bytes from
  /// `offset` on.
  func isContiguous(at offset: Int, length: Int) -> Bool {
    lock.withLock {
      guard checkRange(offset: offset, length: length) == noErr else { return false }
      if let unsharedBlock { return offset < unsharedBlock.length }
      let index = Self.index(of: offset, in: segments)
      guard index < segments.count else { return false }
      let length = length == 0 ? segments[segments.count - 1].end - offset : length
      return length <= segments[index].end - offset
    }
  }

  public override var description: String {
    let (count, total) = lock.withLock { () -> (Int, Int) in
      (unsharedBlock == nil ? segments.count : 1, self.total)
    }
    return "CMBlockBuffer \(total) bytes in \(count) piece\(count == 1 ? "" : "s")"
  }
}

extension CMBlockBuffer: AttachmentBearing {
  func withAttachmentTable<R>(_ body: (inout AttachmentTable) -> R) -> R {
    lock.withLock { body(&attachmentTable) }
  }
}

extension CMBlockBuffer: CFRuntimeObject {
  package static let cfTypeID: CFTypeID = CFRuntimeRegister("CMBlockBuffer")
  package var cfDescription: String { description }
}
