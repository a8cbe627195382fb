// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation

nonisolated(unsafe) private var released = 0

func blockBuffers() throws {
  // Memory that the block buffer owns.
  let payload: [UInt8] = Array(0..<100)
  var buffer: CMBlockBuffer?
  var status = CMBlockBufferCreateWithMemoryBlock(
    allocator: kCFAllocatorDefault, memoryBlock: nil, blockLength: payload.count,
    blockAllocator: kCFAllocatorDefault, customBlockSource: nil, offsetToData: 0, dataLength: payload.count,
    flags: kCMBlockBufferAssureMemoryNowFlag, blockBufferOut: &buffer)
  checkEqual(status, kCMBlockBufferNoErr)
  status = CMBlockBufferReplaceDataBytes(
    with: payload, blockBuffer: buffer!, offsetIntoDestination: 0, dataLength: payload.count)
  checkEqual(status, noErr)
  payload.withUnsafeBytes { pointer in
    _ = CMBlockBufferReplaceDataBytes(
      with: pointer.baseAddress!, blockBuffer: buffer!, offsetIntoDestination: 0, dataLength: pointer.count)
  }
  let data = Data(payload)
  data.withUnsafeBytes {
    checkEqual(
      CMBlockBufferReplaceDataBytes(
        with: $0.baseAddress!, blockBuffer: buffer!, offsetIntoDestination: 0, dataLength: data.count), noErr)
  }
  var lengthAtOffset = 0
  var totalLength = 0
  var dataPointer: UnsafeMutablePointer<Int8>?
  status = CMBlockBufferGetDataPointer(
    buffer!, atOffset: 10, lengthAtOffsetOut: &lengthAtOffset, totalLengthOut: &totalLength,
    dataPointerOut: &dataPointer)
  check(status == noErr && lengthAtOffset == 90 && totalLength == 100 && dataPointer![0] == 10)
  check(Data(bytes: dataPointer!, count: 5) == Data([10, 11, 12, 13, 14]))
  checkEqual(
    CMBlockBufferGetDataPointer(
      buffer!, atOffset: 101, lengthAtOffsetOut: nil, totalLengthOut: nil, dataPointerOut: nil),
    kCMBlockBufferBadOffsetParameterErr)

  // Memory not there yet.
  var lazy: CMBlockBuffer?
  CMBlockBufferCreateWithMemoryBlock(
    allocator: nil, memoryBlock: nil, blockLength: 50, blockAllocator: nil, customBlockSource: nil,
    offsetToData: 0,
    dataLength: 50, flags: 0, blockBufferOut: &lazy)
  checkEqual(
    CMBlockBufferGetDataPointer(
      lazy!, atOffset: 0, lengthAtOffsetOut: nil, totalLengthOut: nil, dataPointerOut: &dataPointer),
    kCMBlockBufferUnallocatedBlockErr)
  checkEqual(CMBlockBufferAssureBlockMemory(lazy!), noErr)
  checkEqual(
    CMBlockBufferFillDataBytes(with: 9, blockBuffer: lazy!, offsetIntoDestination: 0, dataLength: 50), noErr)

  // Appended in segments, as depacketizers do.
  var whole: CMBlockBuffer?
  CMBlockBufferCreateEmpty(allocator: nil, capacity: 0, flags: 0, blockBufferOut: &whole)
  check(CMBlockBufferIsEmpty(whole!))
  checkEqual(
    CMBlockBufferAppendBufferReference(
      whole!, targetBBuf: buffer!, offsetToData: 20, dataLength: 30, flags: 0), noErr)
  checkEqual(
    CMBlockBufferAppendBufferReference(whole!, targetBBuf: lazy!, offsetToData: 0, dataLength: 0, flags: 0),
    noErr)
  checkEqual(CMBlockBufferGetDataLength(whole!), 80)
  check(!CMBlockBufferIsRangeContiguous(whole!, atOffset: 0, length: 0))
  check(CMBlockBufferIsRangeContiguous(whole!, atOffset: 30, length: 50))
  var copy = [UInt8](repeating: 0, count: 4)
  checkEqual(CMBlockBufferCopyDataBytes(whole!, atOffset: 28, dataLength: 4, destination: &copy), noErr)
  check(copy == [48, 49, 9, 9])
  checkEqual(
    CMBlockBufferCopyDataBytes(whole!, atOffset: 78, dataLength: 4, destination: &copy),
    kCMBlockBufferBadLengthParameterErr)
  // Piece by piece.
  var offset = 0
  var pieces = 0
  while offset < CMBlockBufferGetDataLength(whole!) {
    var length = 0
    checkEqual(
      CMBlockBufferGetDataPointer(
        whole!, atOffset: offset, lengthAtOffsetOut: &length, totalLengthOut: nil,
        dataPointerOut: &dataPointer), noErr)
    offset += length
    pieces += 1
  }
  checkEqual(pieces, 2)
  var contiguous: CMBlockBuffer?
  checkEqual(
    CMBlockBufferCreateContiguous(
      allocator: nil, sourceBuffer: whole!, blockAllocator: nil, customBlockSource: nil, offsetToData: 0,
      dataLength: 0, flags: 0, blockBufferOut: &contiguous), noErr)
  check(CMBlockBufferIsRangeContiguous(contiguous!, atOffset: 0, length: 80))
  var temporary = [CChar](repeating: 0, count: 4)
  var accessed: UnsafeMutablePointer<CChar>?
  checkEqual(
    CMBlockBufferAccessDataBytes(
      whole!, atOffset: 28, length: 4, temporaryBlock: &temporary, returnedPointerOut: &accessed), noErr)
  check(accessed![0] == 48 && accessed![3] == 9)

  // A custom source that frees.
  var source = CMBlockBufferCustomBlockSource()
  source.version = kCMBlockBufferCustomBlockSourceVersion
  source.FreeBlock = { _, block, _ in
    block.deallocate()
    released += 1
  }
  do {
    let memory = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 16)
    var custom: CMBlockBuffer?
    checkEqual(
      CMBlockBufferCreateWithMemoryBlock(
        allocator: nil, memoryBlock: memory, blockLength: 64, blockAllocator: kCFAllocatorNull,
        customBlockSource: &source, offsetToData: 0, dataLength: 64, flags: 0, blockBufferOut: &custom), noErr
    )
    custom = nil
  }
  checkEqual(released, 1)

  // Swift members.
  let swift = try CMBlockBuffer(length: 16, flags: .assureMemoryNow)
  try swift.fillDataBytes(with: 0xAB)
  try payload.withUnsafeBytes {
    try swift[4..<8].replaceDataBytes(with: UnsafeRawBufferPointer(rebasing: $0[..<4]))
  }
  check(try swift.dataBytes()[3..<6] == Data([0xAB, 0, 1]))
  check(try swift[4...7].dataBytes() == Data([0, 1, 2, 3]))
  checkEqual(swift.dataLength, 16)
  try swift.withUnsafeMutableBytes { $0[0] = 1 }
  check(try swift.withContiguousStorage { $0[0] } == 1)
  let joined = try CMBlockBuffer()
  try joined.append(bufferReference: swift[0..<2])
  try joined.append(bufferReference: swift[8...])
  checkEqual(joined.dataLength, 10)
  check(!joined.isContiguous)
  check(try joined.makeContiguous().isContiguous)
  checkThrows(kCMBlockBufferBadLengthParameterErr) {
    try payload.withUnsafeBytes { try swift[0..<2].replaceDataBytes(with: $0) }
  }
  do {
    _ = try CMBlockBuffer().withUnsafeMutableBytes { $0.count }
    check(false)
  } catch let error as NSError {
    check(error.domain == NSOSStatusErrorDomain && error.code == Int(kCMBlockBufferEmptyBBufErr))
    check(error == CMBlockBuffer.Error.emptyBlockBuffer)
  }
  var mutable = Data(count: 8)
  mutable.withUnsafeMutableBytes { pointer in
    let noCopy = try? CMBlockBuffer(buffer: pointer, allocator: kCFAllocatorNull)
    checkEqual(noCopy?.dataLength ?? 0, 8)
  }
  // Data that lives as long as the block buffer.
  let nsData = NSMutableData(data: Data(payload))
  let retained = try CMBlockBuffer(
    buffer: UnsafeMutableRawBufferPointer(start: nsData.mutableBytes, count: nsData.length),
    deallocator: { _, _ in _ = nsData })
  checkEqual(retained.dataLength, 100)
}
