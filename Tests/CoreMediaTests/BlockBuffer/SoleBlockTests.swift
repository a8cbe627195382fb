// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import CoreMedia

/// Buffers over memory that was given to them, which keep it without a block of its own until it is
/// shared.
@Suite struct SoleBlockTests {
  private final class Frees: @unchecked Sendable {
    // Sendable: of one test's thread.
    var lengths: [Int] = []
  }

  private func given(_ bytes: [UInt8], unused: Int = 0, _ frees: Frees) throws -> CMBlockBuffer {
    let length = unused + bytes.count + unused
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: length, alignment: 16)
    memory.initializeMemory(as: UInt8.self, repeating: 0xEE)
    memory[unused..<unused + bytes.count].copyBytes(from: bytes)
    return try CMBlockBuffer(
      buffer: memory[unused..<unused + bytes.count],
      deallocator: { pointer, length in
        frees.lengths.append(length)
        pointer.deallocate()
      })
  }

  private func bytes(_ buffer: CMBlockBuffer) throws -> [UInt8] { [UInt8](try buffer.dataBytes()) }

  @Test func memoryGoesBackOnceWhenItsLastOwnerGoes() throws {
    let frees = Frees()
    var buffer: CMBlockBuffer? = try given([1, 2, 3, 4], unused: 8, frees)
    #expect(try bytes(#require(buffer)) == [1, 2, 3, 4])
    buffer = nil
    #expect(frees.lengths == [20])
    // Shared, the reference alone keeps it.
    buffer = try given([5, 6, 7], unused: 1, frees)
    var reference: CMBlockBuffer? = try CMBlockBuffer(bufferReference: #require(buffer)[1..<3])
    buffer = nil
    #expect(frees.lengths == [20])
    #expect(try bytes(#require(reference)) == [6, 7])
    reference = nil
    #expect(frees.lengths == [20, 5])
  }

  @Test func aPointerStaysWhereItIsWhenTheMemoryIsShared() throws {
    let frees = Frees()
    let buffer = try given([1, 2, 3], unused: 4, frees)
    func address(_ buffer: CMBlockBuffer) throws -> UnsafeMutableRawPointer? {
      try buffer.withUnsafeMutableBytes { $0.baseAddress }
    }
    let before = try address(buffer)
    let reference = try CMBlockBuffer(bufferReference: buffer)
    #expect(try address(buffer) == before && address(reference) == before)
    try buffer.append(length: 2, flags: .assureMemoryNow)
    #expect(try address(buffer) == before)
    try reference.fillDataBytes(with: 9)
    #expect(try bytes(buffer[0..<3].makeContiguous()) == [9, 9, 9] && frees.lengths.isEmpty)
  }

  /// Whatever is called, a buffer over given memory answers as one whose block is shared from the
  /// start.
  @Test func answersAreThoseOfASharedBlock() throws {
    var random = SplitMix(seed: 5)
    for _ in 0..<3_000 {
      let content = (0..<Int.random(in: 1...12, using: &random)).map { UInt8($0) }
      let frees = Frees()
      let sole = try given(content, unused: Int.random(in: 0...3, using: &random), frees)
      let shared = try given(content, frees)
      let keeper = try CMBlockBuffer(bufferReference: shared)
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let offset = Int.random(in: -1...14, using: &random)
        let length = Int.random(in: -1...14, using: &random)
        switch Int.random(in: 0..<7, using: &random) {
        case 0:
          var (a, b) = ((0, 0), (0, 0))
          #expect(
            CMBlockBufferGetDataPointer(
              sole, atOffset: offset, lengthAtOffsetOut: &a.0, totalLengthOut: &a.1, dataPointerOut: nil)
              == CMBlockBufferGetDataPointer(
                shared, atOffset: offset, lengthAtOffsetOut: &b.0, totalLengthOut: &b.1, dataPointerOut: nil))
          #expect(a == b)
        case 1:
          #expect(
            CMBlockBufferIsRangeContiguous(sole, atOffset: offset, length: length)
              == CMBlockBufferIsRangeContiguous(shared, atOffset: offset, length: length))
        case 2:
          #expect(
            CMBlockBufferFillDataBytes(
              with: 7, blockBuffer: sole, offsetIntoDestination: offset, dataLength: length)
              == CMBlockBufferFillDataBytes(
                with: 7, blockBuffer: shared, offsetIntoDestination: offset, dataLength: length))
        case 3:
          var (a, b) = ([UInt8](repeating: 0, count: 64), [UInt8](repeating: 0, count: 64))
          #expect(
            CMBlockBufferCopyDataBytes(sole, atOffset: offset, dataLength: length, destination: &a)
              == CMBlockBufferCopyDataBytes(shared, atOffset: offset, dataLength: length, destination: &b))
          #expect(a == b)
        case 4:
          #expect(CMBlockBufferAssureBlockMemory(sole) == CMBlockBufferAssureBlockMemory(shared))
        case 5:
          let more = try given([1, 2], Frees())
          #expect(
            CMBlockBufferAppendBufferReference(
              sole, targetBBuf: more, offsetToData: 0, dataLength: 0, flags: 0)
              == CMBlockBufferAppendBufferReference(
                shared, targetBBuf: more, offsetToData: 0, dataLength: 0, flags: 0))
        default:
          var (a, b): (CMBlockBuffer?, CMBlockBuffer?)
          #expect(
            CMBlockBufferCreateWithBufferReference(
              allocator: nil, referenceBuffer: sole, offsetToData: offset, dataLength: length, flags: 0,
              blockBufferOut: &a)
              == CMBlockBufferCreateWithBufferReference(
                allocator: nil, referenceBuffer: shared, offsetToData: offset, dataLength: length, flags: 0,
                blockBufferOut: &b))
          #expect(try a.map(bytes) == b.map(bytes))
        }
        #expect(try bytes(sole) == bytes(shared))
        #expect(CMBlockBufferGetDataLength(sole) == CMBlockBufferGetDataLength(shared))
        #expect(!CMBlockBufferIsEmpty(sole))
      }
      withExtendedLifetime(keeper) {}
    }
  }

  /// Memory that one thread shares while another reads.
  @Test func aSoleBlockIsSafeFromAnyThread() async throws {
    for _ in 0..<200 {
      let frees = Frees()
      let buffer = try given(Array(0..<100), frees)
      await withTaskGroup(of: Bool.self) { group in
        for n in 0..<4 {
          group.addTask {
            if n % 2 == 0 {
              return (try? CMBlockBuffer(bufferReference: buffer[10..<20]).dataBytes().first) == 10
            }
            return (try? [UInt8](buffer.dataBytes())) == Array(0..<100)
          }
        }
        for await isRight in group { #expect(isRight) }
      }
      #expect(frees.lengths.isEmpty)
    }
  }
}

@Suite struct AttachmentValuesTests {
  private func sample() throws -> CMSampleBuffer {
    let sample = try CMSampleBuffer(
      dataBuffer: nil, formatDescription: nil, numSamples: 1,
      sampleTimings: [
        CMSampleTimingInfo(duration: .invalid, presentationTimeStamp: .zero, decodeTimeStamp: .invalid)
      ],
      sampleSizes: [])
    var values = SampleAttachmentValues()
    values.append(kCMSampleAttachmentKey_NotSync, .flag(true))
    values.append(kCMSampleAttachmentKey_DependsOnOthers, .flag(false))
    values.append("token", .integer(.max))
    values.append("qp", .real(30.5))
    values.append("more", .object(["a": 1] as NSDictionary))
    sample.setAttachments(values)
    return sample
  }

  @Test func theDictionaryIsMadeOnceAndStays() throws {
    let sample = try sample()
    let array = try #require(CMSampleBufferGetSampleAttachmentsArray(sample, createIfNecessary: false))
    let dictionary = try #require(array.object(at: 0) as? NSMutableDictionary)
    #expect(dictionary.count == 5)
    #expect(dictionary[kCMSampleAttachmentKey_NotSync] as? Bool == true)
    #expect(dictionary[kCMSampleAttachmentKey_DependsOnOthers] as? Bool == false)
    #expect(CFGetTypeID(dictionary[kCMSampleAttachmentKey_NotSync] as? NSNumber) == CFBooleanGetTypeID())
    #expect(dictionary["token"] as? Int64 == .max && dictionary["qp"] as? Double == 30.5)
    #expect((dictionary["more"] as? NSDictionary)?["a"] as? Int == 1)
    dictionary["mine"] = 3
    #expect(sample.sampleAttachments[0][.init(rawValue: "mine")] as? Int == 3)
    #expect(CMSampleBufferGetSampleAttachmentsArray(sample, createIfNecessary: true) === array)
  }

  @Test func aCopyHasItsOwnWheneverItIsMade() throws {
    let original = try sample()
    let early = try CMSampleBuffer(copying: original)
    original.sampleAttachments[0][.notSync] = nil
    let late = try CMSampleBuffer(copying: original)
    #expect(early.sampleAttachments[0][.notSync] as? Bool == true)
    #expect(late.sampleAttachments[0][.notSync] == nil)
    early.sampleAttachments[0][.dependsOnOthers] = nil
    #expect(original.sampleAttachments[0][.dependsOnOthers] as? Bool == false)
    #expect(late.sampleAttachments[0][.dependsOnOthers] as? Bool == false)
  }
}
