// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import FuzzDriver

/// Creates, appends and references block buffers, and compares ranges with arrays of bytes.
@Sendable func fuzzBlockBuffers(_ input: inout FuzzInput) {
  var buffers: [CMBlockBuffer] = []
  func pick(_ input: inout FuzzInput) -> CMBlockBuffer? {
    buffers.isEmpty ? nil : buffers[Int(input.byte()) % buffers.count]
  }
  func contents(_ buffer: CMBlockBuffer) -> [UInt8]? {
    let count = CMBlockBufferGetDataLength(buffer)
    require(count >= 0, "a length of \(count)")
    guard count < 1 << 20 else { return nil }
    var bytes = [UInt8](repeating: 0, count: count)
    let status = bytes.withUnsafeMutableBytes { target -> OSStatus in
      guard let base = target.baseAddress else { return -1 }
      return CMBlockBufferCopyDataBytes(buffer, atOffset: 0, dataLength: count, destination: base)
    }
    return status == noErr ? bytes : nil
  }
  var steps = 0
  while !input.isEmpty && steps < 60 {
    steps += 1
    let operation = input.byte() % 10
    let offset = input.number()
    let length = input.number()
    var made: CMBlockBuffer?
    switch operation {
    case 0:
      CMBlockBufferCreateEmpty(
        allocator: nil, capacity: UInt32(truncatingIfNeeded: min(offset, 1000)), flags: 0,
        blockBufferOut: &made)
    case 1:
      // Memory that the buffer allocates at once or when it is needed.
      let blockLength = input.number()
      guard blockLength < 1 << 20 else { continue }
      CMBlockBufferCreateWithMemoryBlock(
        allocator: nil, memoryBlock: nil, blockLength: blockLength, blockAllocator: nil,
        customBlockSource: nil, offsetToData: offset, dataLength: length,
        flags: input.byte() & 1 == 0 ? 0 : kCMBlockBufferAssureMemoryNowFlag, blockBufferOut: &made)
    case 2:
      guard let source = pick(&input) else { continue }
      CMBlockBufferCreateWithBufferReference(
        allocator: nil, referenceBuffer: source, offsetToData: offset, dataLength: length, flags: 0,
        blockBufferOut: &made)
    case 3:
      guard let source = pick(&input), CMBlockBufferGetDataLength(source) < 1 << 20 else { continue }
      let expected = contents(source)
      let status = CMBlockBufferCreateContiguous(
        allocator: nil, sourceBuffer: source, blockAllocator: nil, customBlockSource: nil,
        offsetToData: offset, dataLength: length,
        flags: input.byte() & 1 == 0 ? 0 : kCMBlockBufferAlwaysCopyDataFlag, blockBufferOut: &made)
      if status == noErr, let made, let expected, let copy = contents(made) {
        let count = length == 0 ? expected.count - offset : length
        require(copy == Array(expected[offset..<offset + count]), "another range")
      }
    case 4:
      guard let buffer = pick(&input), let other = pick(&input), buffer !== other else { continue }
      guard CMBlockBufferGetDataLength(buffer) < 1 << 16 else { continue }
      CMBlockBufferAppendBufferReference(
        buffer, targetBBuf: other, offsetToData: offset, dataLength: length, flags: 0)
    case 5:
      guard let buffer = pick(&input) else { continue }
      let blockLength = input.number()
      guard blockLength < 1 << 20 else { continue }
      CMBlockBufferAppendMemoryBlock(
        buffer, memoryBlock: nil, length: blockLength, blockAllocator: nil, customBlockSource: nil,
        offsetToData: offset, dataLength: length, flags: 0)
    case 6:
      guard let buffer = pick(&input), CMBlockBufferGetDataLength(buffer) < 1 << 20 else { continue }
      let fill = CChar(bitPattern: input.byte())
      let status = CMBlockBufferFillDataBytes(
        with: fill, blockBuffer: buffer, offsetIntoDestination: offset, dataLength: length)
      if status == noErr, let bytes = contents(buffer) {
        // Here a length of 0 means no bytes; only for references it means all bytes from the offset
        // on.
        require(bytes[offset..<offset + length].allSatisfy { $0 == UInt8(bitPattern: fill) }, "not filled")
      }
    case 7:
      guard let buffer = pick(&input) else { continue }
      let source = [UInt8](repeating: 7, count: 512)
      guard length <= 512 else { continue }
      source.withUnsafeBytes {
        if let base = $0.baseAddress {
          CMBlockBufferReplaceDataBytes(
            with: base, blockBuffer: buffer, offsetIntoDestination: offset, dataLength: length)
        }
      }
    case 8:
      guard let buffer = pick(&input) else { continue }
      var here = 0
      var total = 0
      var pointer: UnsafeMutablePointer<CChar>?
      if CMBlockBufferGetDataPointer(
        buffer, atOffset: offset, lengthAtOffsetOut: &here, totalLengthOut: &total, dataPointerOut: &pointer)
        == noErr, let pointer
      {
        require(here >= 0 && here <= total - offset, "\(here) bytes at \(offset) of \(total)")
        if here > 0 { pointer[here - 1] = pointer[0] }
      }
      _ = CMBlockBufferIsRangeContiguous(buffer, atOffset: offset, length: length)
    default:
      guard let buffer = pick(&input), length < 4096 else { continue }
      withUnsafeTemporaryAllocation(byteCount: max(1, length), alignment: 16) { scratch in
        guard let base = scratch.baseAddress else { return }
        var pointer: UnsafeMutablePointer<CChar>?
        if CMBlockBufferAccessDataBytes(
          buffer, atOffset: offset, length: length, temporaryBlock: base, returnedPointerOut: &pointer)
          == noErr, let pointer, length > 0
        {
          _ = pointer[length - 1]
        }
        if offset % 5 == 0 { CMBlockBufferAssureBlockMemory(buffer) }
      }
    }
    if let made, buffers.count < 20 { buffers.append(made) }
  }
}
