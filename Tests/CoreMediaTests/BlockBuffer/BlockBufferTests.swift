// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Testing

private func bytes(_ buffer: some CMBlockBufferProtocol) throws -> [UInt8] { [UInt8](try buffer.dataBytes()) }

private func make(_ bytes: [UInt8]) throws -> CMBlockBuffer {
  let buffer = try CMBlockBuffer(length: bytes.count, flags: .assureMemoryNow)
  try bytes.withUnsafeBytes { try buffer.replaceDataBytes(with: $0) }
  return buffer
}

private func code(_ body: () throws -> Void) -> Int {
  do {
    try body()
    return 0
  } catch {
    let error = error as NSError
    return error.domain == NSOSStatusErrorDomain ? error.code : 1
  }
}

@Suite struct BlockBufferTests {
  @Test func memoryIsAllocatedWhenNeeded() throws {
    var buffer: CMBlockBuffer?
    #expect(
      CMBlockBufferCreateWithMemoryBlock(
        allocator: kCFAllocatorDefault, memoryBlock: nil, blockLength: 100,
        blockAllocator: kCFAllocatorDefault, customBlockSource: nil, offsetToData: 10, dataLength: 50,
        flags: 0, blockBufferOut: &buffer) == kCMBlockBufferNoErr)
    let block = try #require(buffer)
    #expect(CMBlockBufferGetDataLength(block) == 50)
    #expect(!CMBlockBufferIsEmpty(block))
    var pointer: UnsafeMutablePointer<CChar>?
    #expect(
      CMBlockBufferGetDataPointer(
        block, atOffset: 0, lengthAtOffsetOut: nil, totalLengthOut: nil, dataPointerOut: &pointer)
        == kCMBlockBufferUnallocatedBlockErr)
    var scratch = [UInt8](repeating: 0, count: 50)
    #expect(
      CMBlockBufferCopyDataBytes(block, atOffset: 0, dataLength: 50, destination: &scratch)
        == kCMBlockBufferUnallocatedBlockErr)
    #expect(CMBlockBufferAssureBlockMemory(block) == 0)
    #expect(
      CMBlockBufferGetDataPointer(
        block, atOffset: 0, lengthAtOffsetOut: nil, totalLengthOut: nil, dataPointerOut: &pointer) == 0)
    #expect(pointer != nil)
  }

  /// The function that allocates may look at the buffer.
  @Test func anAllocatorMayAskTheBuffer() throws {
    weak var made: CMBlockBuffer?
    var statuses: [OSStatus] = []
    let buffer = try CMBlockBuffer(
      length: 4,
      allocator: { size in
        if let made {
          statuses.append(
            CMBlockBufferGetDataPointer(
              made, atOffset: 0, lengthAtOffsetOut: nil, totalLengthOut: nil, dataPointerOut: nil))
        }
        return malloc(size)
      }, deallocator: { pointer, _ in free(pointer) })
    made = buffer
    try buffer.assureBlockMemory()
    try buffer.assureBlockMemory()
    #expect(statuses == [kCMBlockBufferUnallocatedBlockErr])
    try buffer.fillDataBytes(with: 1)
    #expect(try bytes(buffer) == [1, 1, 1, 1])
  }

  @Test func replacingBytesAllocatesMemory() throws {
    let block = try CMBlockBuffer(length: 4)
    #expect(
      CMBlockBufferReplaceDataBytes(
        with: [1, 2, 3, 4] as [UInt8], blockBuffer: block, offsetIntoDestination: 0, dataLength: 4) == 0)
    #expect(try bytes(block) == [1, 2, 3, 4])
  }

  @Test func badParametersAreErrors() throws {
    var buffer: CMBlockBuffer?
    func create(_ length: Int, _ offset: Int, _ data: Int) -> OSStatus {
      CMBlockBufferCreateWithMemoryBlock(
        allocator: nil, memoryBlock: nil, blockLength: length, blockAllocator: nil, customBlockSource: nil,
        offsetToData: offset, dataLength: data, flags: 0, blockBufferOut: &buffer)
    }
    #expect(create(0, 0, 0) == kCMBlockBufferBadLengthParameterErr)
    #expect(create(-1, 0, 0) == kCMBlockBufferBadLengthParameterErr)
    #expect(create(10, 11, 0) == kCMBlockBufferBadOffsetParameterErr)
    #expect(create(10, -1, 5) == kCMBlockBufferBadOffsetParameterErr)
    #expect(create(10, 5, 6) == kCMBlockBufferBadLengthParameterErr)
    #expect(create(10, 5, .max) == kCMBlockBufferBadLengthParameterErr)
    #expect(create(10, 5, -1) == kCMBlockBufferBadLengthParameterErr)
    #expect(buffer == nil)

    let empty = try CMBlockBuffer(capacity: 0)
    #expect(empty.isEmpty)
    #expect(CMBlockBufferAssureBlockMemory(empty) == kCMBlockBufferEmptyBBufErr)
    #expect(
      CMBlockBufferGetDataPointer(
        empty, atOffset: 0, lengthAtOffsetOut: nil, totalLengthOut: nil, dataPointerOut: nil)
        == kCMBlockBufferEmptyBBufErr)
    #expect(
      CMBlockBufferAppendBufferReference(
        try make([1]), targetBBuf: empty, offsetToData: 0, dataLength: 0, flags: 0)
        == kCMBlockBufferEmptyBBufErr)
    #expect(
      CMBlockBufferCreateWithBufferReference(
        allocator: nil, referenceBuffer: empty, offsetToData: 0, dataLength: 0,
        flags: kCMBlockBufferPermitEmptyReferenceFlag, blockBufferOut: &buffer) == 0)
    #expect(buffer?.isEmpty == false && buffer?.dataLength == 0)

    let three = try make([1, 2, 3])
    for (offset, length) in [(4, 1), (-1, 1), (2, 2), (0, 4), (0, -1), (.max, 1), (1, .max)] {
      var out: [UInt8] = [9, 9, 9, 9]
      #expect(CMBlockBufferCopyDataBytes(three, atOffset: offset, dataLength: length, destination: &out) < 0)
      #expect(
        CMBlockBufferFillDataBytes(
          with: 0, blockBuffer: three, offsetIntoDestination: offset, dataLength: length) < 0)
      #expect(out == [9, 9, 9, 9])
    }
    #expect(try bytes(three) == [1, 2, 3])
    #expect(code { _ = try CMBlockBuffer(length: -1) } == Int(kCMBlockBufferBadLengthParameterErr))
    #expect(
      code { _ = try CMBlockBuffer(length: 5, range: 2..<7) } == Int(kCMBlockBufferBadLengthParameterErr))
    #expect(
      code { _ = try CMBlockBuffer(buffer: .init(start: nil, count: 0)) }
        == Int(kCMBlockBufferBadLengthParameterErr))
    #expect(
      code { try three.copyDataBytes(to: .init(start: nil, count: 0)) }
        == Int(kCMBlockBufferInsufficientSpaceErr))
    #expect(
      code { _ = try CMBlockBuffer(length: 8, allocator: kCFAllocatorNull, flags: .assureMemoryNow) }
        == Int(kCMBlockBufferBlockAllocationFailedErr))
  }

  @Test func referencesShareMemory() throws {
    let original = try make(Array(0..<100))
    let part = try CMBlockBuffer(bufferReference: original[10..<20])
    let nested = try CMBlockBuffer(bufferReference: part[2...5])
    #expect(try bytes(nested) == [12, 13, 14, 15])
    try nested.fillDataBytes(with: 7)
    #expect(try bytes(original[10..<18]) == [10, 11, 7, 7, 7, 7, 16, 17])
    #expect(try bytes(part[6...]) == [16, 17, 18, 19])
    #expect(try bytes(original[..<3]) == [0, 1, 2] && bytes(original[...3]) == [0, 1, 2, 3])
    #expect(original[...].dataLength == 100)
    // Appended to itself, it is contained twice.
    try part.append(bufferReference: part)
    #expect(part.dataLength == 20 && !part.isContiguous)
  }

  @Test func outsideMemoryIsUsedAsItIsAndGivenBackOnce() throws {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 16, alignment: 16)
    memory.copyBytes(from: 0..<16)
    let freed = Guarded(0)
    var owner: CMBlockBuffer? = try CMBlockBuffer(
      buffer: memory[4..<12],
      deallocator: { pointer, length in
        #expect(length == 16)
        freed.withLock { $0 += 1 }
        pointer.deallocate()
      })
    try owner!.withUnsafeMutableBytes {
      #expect($0.baseAddress == memory.baseAddress! + 4 && $0.count == 8)
    }
    var reference: CMBlockBuffer? = try CMBlockBuffer(bufferReference: owner![2..<3])
    owner = nil
    #expect(freed.withLock { $0 } == 0)
    #expect(try bytes(reference!) == [6])
    reference = nil
    #expect(freed.withLock { $0 } == 1)

    var stack: [UInt8] = [1, 2, 3]
    try stack.withUnsafeMutableBytes {
      let wrapped = try CMBlockBuffer(buffer: $0, allocator: kCFAllocatorNull)
      #expect(try bytes(wrapped) == [1, 2, 3])
    }
  }

  @Test func customBlockSourcesAllocateAndFree() throws {
    final class Log: Sendable { let counts = Guarded((allocated: 0, freed: 0)) }
    let log = Log()
    var source = CMBlockBufferCustomBlockSource(
      version: kCMBlockBufferCustomBlockSourceVersion,
      AllocateBlock: { refCon, size in
        Unmanaged<Log>.fromOpaque(refCon!).takeUnretainedValue().counts.withLock { $0.allocated += size }
        return malloc(size)
      },
      FreeBlock: { refCon, pointer, size in
        Unmanaged<Log>.fromOpaque(refCon!).takeUnretainedValue().counts.withLock { $0.freed += size }
        free(pointer)
      }, refCon: Unmanaged.passUnretained(log).toOpaque())
    var buffer: CMBlockBuffer?
    #expect(
      CMBlockBufferCreateWithMemoryBlock(
        allocator: nil, memoryBlock: nil, blockLength: 32, blockAllocator: nil, customBlockSource: &source,
        offsetToData: 0, dataLength: 32, flags: kCMBlockBufferAssureMemoryNowFlag, blockBufferOut: &buffer)
        == 0)
    #expect(log.counts.withLock { $0 == (32, 0) })
    buffer = nil
    #expect(log.counts.withLock { $0 == (32, 32) })
    source.version = 1
    #expect(
      CMBlockBufferCreateWithMemoryBlock(
        allocator: nil, memoryBlock: nil, blockLength: 32, blockAllocator: nil, customBlockSource: &source,
        offsetToData: 0, dataLength: 32, flags: 0, blockBufferOut: &buffer)
        == kCMBlockBufferBadCustomBlockSourceErr)
    source = CMBlockBufferCustomBlockSource()
    #expect(
      CMBlockBufferCreateWithMemoryBlock(
        allocator: nil, memoryBlock: nil, blockLength: 32, blockAllocator: nil, customBlockSource: &source,
        offsetToData: 0, dataLength: 32, flags: 0, blockBufferOut: &buffer)
        == kCMBlockBufferBadCustomBlockSourceErr)
  }

  @Test func contiguousCopiesAreMadeWhereNeeded() throws {
    let whole = try make(Array(0..<10))
    try whole.append(bufferReference: try make(Array(10..<20)))
    #expect(!whole.isContiguous && whole[0..<10].isContiguous && !whole[5..<15].isContiguous)
    #expect(CMBlockBufferIsRangeContiguous(whole, atOffset: 10, length: 0))
    #expect(!CMBlockBufferIsRangeContiguous(whole, atOffset: 9, length: 0))
    #expect(!CMBlockBufferIsRangeContiguous(whole, atOffset: 20, length: 0))

    // One piece already: the same memory, unless a copy is asked for.
    let same = try whole[2..<8].makeContiguous()
    let copy = try whole[2..<8].makeContiguous(flags: .alwaysCopyData)
    try whole.fillDataBytes(with: 0xAA)
    #expect(try bytes(same) == Array(repeating: 0xAA, count: 6))
    #expect(try bytes(copy) == Array(2..<8))

    var joined: CMBlockBuffer?
    #expect(
      CMBlockBufferCreateContiguous(
        allocator: nil, sourceBuffer: whole, blockAllocator: nil, customBlockSource: nil, offsetToData: 5,
        dataLength: 0, flags: 0, blockBufferOut: &joined) == 0)
    #expect(joined?.dataLength == 15 && joined?.isContiguous == true)
    #expect(try whole[5..<15].withContiguousStorage { $0.count } == 10)

    var scratch = [UInt8](repeating: 0, count: 10)
    var pointer: UnsafeMutablePointer<CChar>?
    #expect(
      scratch.withUnsafeMutableBytes { temporary in
        CMBlockBufferAccessDataBytes(
          whole, atOffset: 5, length: 10, temporaryBlock: temporary.baseAddress!,
          returnedPointerOut: &pointer) == 0
          && UnsafeMutableRawPointer(pointer) == temporary.baseAddress
      })
    #expect(scratch == Array(repeating: 0xAA, count: 10))
  }

  /// Random buffers against a plain array of bytes.
  @Test func matchesAPlainArray() throws {
    var generator = SplitMix(seed: 1)
    for _ in 0..<200 {
      let buffer = try CMBlockBuffer()
      var model: [UInt8] = []
      for _ in 0..<Int.random(in: 1...8, using: &generator) {
        let piece = (0..<Int.random(in: 1...40, using: &generator)).map { _ in
          UInt8.random(in: 0...255, using: &generator)
        }
        let lower = Int.random(in: 0..<piece.count, using: &generator)
        let upper = Int.random(in: lower + 1...piece.count, using: &generator)
        try buffer.append(bufferReference: try make(piece)[lower..<upper])
        model += piece[lower..<upper]
      }
      for _ in 0..<20 {
        let lower = Int.random(in: 0..<model.count, using: &generator)
        let upper = Int.random(in: lower + 1...model.count, using: &generator)
        switch Int.random(in: 0..<4, using: &generator) {
        case 0:
          let new = (lower..<upper).map { _ in UInt8.random(in: 0...255, using: &generator) }
          try new.withUnsafeBytes { try buffer[lower..<upper].replaceDataBytes(with: $0) }
          model.replaceSubrange(lower..<upper, with: new)
        case 1:
          try buffer[lower..<upper].fillDataBytes(with: 5)
          model.replaceSubrange(lower..<upper, with: repeatElement(5, count: upper - lower))
        case 2:
          #expect(try bytes(buffer[lower..<upper].makeContiguous()) == Array(model[lower..<upper]))
        default:
          #expect(try bytes(buffer[lower..<upper]) == Array(model[lower..<upper]))
        }
      }
      // At every offset, the contiguous range matches the model.
      var offset = 0
      while offset < model.count {
        var length = 0
        var total = 0
        var pointer: UnsafeMutablePointer<CChar>?
        #expect(
          CMBlockBufferGetDataPointer(
            buffer, atOffset: offset, lengthAtOffsetOut: &length, totalLengthOut: &total,
            dataPointerOut: &pointer) == 0)
        #expect(total == model.count && length > 0)
        #expect(
          Array(UnsafeRawBufferPointer(start: pointer, count: length))
            == Array(model[offset..<offset + length]))
        offset += length
      }
    }
  }

  @Test func attachmentsPropagateByTheirMode() throws {
    let buffer = try make([1])
    CMSetAttachment(
      buffer, key: "a" as CFString, value: 1 as CFNumber, attachmentMode: kCMAttachmentMode_ShouldPropagate)
    buffer.attachments["b"] = .shouldNotPropagate("two")
    let other = try make([2])
    buffer.propagateAttachments(to: other)
    #expect(other.attachments["a"]?.value as? Int == 1)
    #expect(other.attachments["a"]?.mode == .shouldPropagate)
    #expect(other.attachments["b"] == nil)
    #expect(buffer.attachments.nonPropagated["b"] as? String == "two")
    #expect(
      CFGetTypeID(buffer) == CMBlockBufferGetTypeID() && CMBlockBuffer.typeID == CMBlockBufferGetTypeID())
  }
}

/// A generator of the same numbers in each run.
struct SplitMix: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
