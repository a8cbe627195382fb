// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

// Conversions between the audio of a sample buffer and an `AudioBufferList`.

/// The most channels, whose number has 16 bits in the tag of a channel layout.
private let maxChannels = 65_535

/// Gets the audio of a sample buffer as a list of buffers that refer to the memory of a block
/// buffer.
///
/// - Parameters:
///   - sbuf: The sample buffer.
///   - bufferListSizeNeededOut: Receives the size of the list in bytes.
///   - bufferListOut: The list, of `bufferListSize` bytes; nil to get its size only.
///   - bufferListSize: The size of the memory of the list in bytes.
///   - blockBufferAllocator: Not used.
///   - blockBufferMemoryAllocator: Allocates memory if the data is not contiguous.
///   - flags: `kCMSampleBufferFlag_AudioBufferList_Assure16ByteAlignment` or 0.
///   - blockBufferOut: Receives the block buffer. The list is valid as long as it is.
/// - Returns: `kCMSampleBufferError_InvalidMediaTypeForOperation` for other media,
///   `kCMSampleBufferError_ArrayTooSmall` if the list is too small,
///   `kCMSampleBufferError_BufferNotReady` without data, `kCMSampleBufferError_InvalidMediaFormat`
///   for more channels than a channel layout can have.
@discardableResult
public func CMSampleBufferGetAudioBufferListWithRetainedBlockBuffer(
  _ sbuf: CMSampleBuffer, bufferListSizeNeededOut: UnsafeMutablePointer<Int>?,
  bufferListOut: UnsafeMutablePointer<AudioBufferList>?, bufferListSize: Int,
  blockBufferAllocator: CFAllocator?, blockBufferMemoryAllocator: CFAllocator?, flags: UInt32,
  blockBufferOut: UnsafeMutablePointer<CMBlockBuffer?>?
) -> OSStatus {
  blockBufferOut?.pointee = nil
  if sbuf.isInvalidated { return kCMSampleBufferError_Invalidated }
  guard let basic = sbuf.format?.audio?.basic else {
    return kCMSampleBufferError_InvalidMediaTypeForOperation
  }
  let channels = Int(basic.mChannelsPerFrame)
  let bufferCount = basic.isNonInterleavedPCM ? max(1, channels) : 1
  // The number of channels comes from a file; a list for 2^32 channels would need too much memory.
  guard bufferCount <= maxChannels else { return kCMSampleBufferError_InvalidMediaFormat }
  let needed = AudioBufferList.sizeInBytes(maximumBuffers: bufferCount)
  bufferListSizeNeededOut?.pointee = needed
  guard let bufferListOut else { return noErr }
  guard bufferListSize >= needed else { return kCMSampleBufferError_ArrayTooSmall }
  guard let blockBufferOut else { return kCMSampleBufferError_RequiredParameterMissing }
  guard CMSampleBufferDataIsReady(sbuf), let data = sbuf.blockBuffer else {
    return kCMSampleBufferError_BufferNotReady
  }
  let length = CMBlockBufferGetDataLength(data)
  let aligned = flags & kCMSampleBufferFlag_AudioBufferList_Assure16ByteAlignment != 0
  var block: CMBlockBuffer?
  var bytes: UnsafeMutablePointer<CChar>?
  if length > 0 {
    // The data must be contiguous and have the requested alignment; otherwise it is copied.
    func isRight(_ pointer: UnsafeMutablePointer<CChar>?) -> Bool {
      !aligned || UInt(bitPattern: pointer) % 16 == 0 && (length / bufferCount) % 16 == 0
        || bufferCount == 1
          && UInt(bitPattern: pointer) % 16 == 0
    }
    var status = CMBlockBufferCreateContiguous(
      allocator: blockBufferAllocator, sourceBuffer: data, blockAllocator: blockBufferMemoryAllocator,
      customBlockSource: nil, offsetToData: 0, dataLength: length, flags: 0, blockBufferOut: &block)
    guard status == noErr, let contiguous = block else { return status }
    status = CMBlockBufferGetDataPointer(
      contiguous, atOffset: 0, lengthAtOffsetOut: nil, totalLengthOut: nil, dataPointerOut: &bytes)
    guard status == noErr else { return status }
    if !isRight(bytes) {
      return alignedCopy(
        contiguous, into: UnsafeMutableAudioBufferListPointer(bufferListOut), bufferCount, channels,
        length / bufferCount, blockBufferOut)
    }
  } else {
    block = data
  }
  let list = UnsafeMutableAudioBufferListPointer(bufferListOut)
  list.count = bufferCount
  let size = length / bufferCount
  guard let byteSize = UInt32(exactly: size) else { return kCMSampleBufferError_InvalidSampleData }
  for index in 0..<bufferCount {
    list[index] = AudioBuffer(
      mNumberChannels: bufferCount > 1 ? 1 : basic.mChannelsPerFrame, mDataByteSize: byteSize,
      mData: bytes.map { UnsafeMutableRawPointer($0) + index * size })
  }
  blockBufferOut.pointee = block
  return noErr
}

/// Copies each buffer to an address that is a multiple of 16 bytes.
private func alignedCopy(
  _ data: CMBlockBuffer, into list: UnsafeMutableAudioBufferListPointer, _ count: Int, _ channels: Int,
  _ size: Int, _ out: UnsafeMutablePointer<CMBlockBuffer?>
) -> OSStatus {
  guard let byteSize = UInt32(exactly: size) else { return kCMSampleBufferError_InvalidSampleData }
  let pitch = (size + 15) / 16 * 16
  var block: CMBlockBuffer?
  // `malloc` aligns to 16 bytes.
  var status = CMBlockBufferCreateWithMemoryBlock(
    allocator: nil, memoryBlock: nil, blockLength: pitch * count, blockAllocator: nil, customBlockSource: nil,
    offsetToData: 0, dataLength: pitch * count, flags: kCMBlockBufferAssureMemoryNowFlag,
    blockBufferOut: &block)
  guard status == noErr, let block else { return status }
  var bytes: UnsafeMutablePointer<CChar>?
  status = CMBlockBufferGetDataPointer(
    block, atOffset: 0, lengthAtOffsetOut: nil, totalLengthOut: nil, dataPointerOut: &bytes)
  guard status == noErr, let bytes else { return status }
  list.count = count
  for index in 0..<count {
    status = CMBlockBufferCopyDataBytes(
      data, atOffset: index * size, dataLength: size, destination: bytes + index * pitch)
    guard status == noErr else { return status }
    list[index] = AudioBuffer(
      mNumberChannels: count > 1 ? 1 : UInt32(channels), mDataByteSize: byteSize,
      mData: UnsafeMutableRawPointer(bytes + index * pitch))
  }
  out.pointee = block
  return noErr
}

/// Copies the audio in a list of buffers, and sets it as the data of a sample buffer, which becomes
/// ready.
///
/// - Returns: `kCMSampleBufferError_InvalidMediaTypeForOperation` for other media,
///   `kCMSampleBufferError_RequiredParameterMissing` if the list does not match the format and the
///   number of samples of the sample buffer, `kCMSampleBufferError_AlreadyHasDataBuffer` if it has
///   data.
@discardableResult
public func CMSampleBufferSetDataBufferFromAudioBufferList(
  _ sbuf: CMSampleBuffer, blockBufferAllocator: CFAllocator?, blockBufferMemoryAllocator: CFAllocator?,
  flags: UInt32, bufferList: UnsafePointer<AudioBufferList>
) -> OSStatus {
  if sbuf.isInvalidated { return kCMSampleBufferError_Invalidated }
  guard let basic = sbuf.format?.audio?.basic else {
    return kCMSampleBufferError_InvalidMediaTypeForOperation
  }
  if sbuf.blockBuffer != nil { return kCMSampleBufferError_AlreadyHasDataBuffer }
  let list = UnsafeMutableAudioBufferListPointer(UnsafeMutablePointer(mutating: bufferList))
  let wanted = basic.isNonInterleavedPCM ? max(1, Int(basic.mChannelsPerFrame)) : 1
  guard list.count == wanted else { return kCMSampleBufferError_RequiredParameterMissing }
  // The expected size follows from the format, or from the sizes of packets for compressed audio.
  let expected =
    basic.mFormatID == kAudioFormatLinearPCM
    ? sbuf.sampleCount.multipliedClamped(by: Int(basic.mBytesPerFrame))
    : sbuf.sizes.offset(of: sbuf.sampleCount)
  var total = 0
  for buffer in list {
    let size = Int(buffer.mDataByteSize)
    guard size == 0 || buffer.mData != nil, expected == nil || expected == 0 || size == expected else {
      return kCMSampleBufferError_RequiredParameterMissing
    }
    total += size
  }
  var block: CMBlockBuffer?
  var status = CMBlockBufferCreateWithMemoryBlock(
    allocator: blockBufferAllocator, memoryBlock: nil, blockLength: total,
    blockAllocator: blockBufferMemoryAllocator, customBlockSource: nil, offsetToData: 0, dataLength: total,
    flags: kCMBlockBufferAssureMemoryNowFlag, blockBufferOut: &block)
  guard status == noErr, let block else { return status }
  var offset = 0
  for buffer in list {
    guard let data = buffer.mData, buffer.mDataByteSize > 0 else { continue }
    status = CMBlockBufferReplaceDataBytes(
      with: data, blockBuffer: block, offsetIntoDestination: offset, dataLength: Int(buffer.mDataByteSize))
    guard status == noErr else { return status }
    offset += Int(buffer.mDataByteSize)
  }
  status = sbuf.setBlockBuffer(block)
  return status == noErr ? sbuf.setReadiness(.ready) : status
}

extension AudioStreamBasicDescription {
  /// Whether each channel is in a separate buffer.
  var isNonInterleavedPCM: Bool {
    mFormatID == kAudioFormatLinearPCM && mFormatFlags & kAudioFormatFlagIsNonInterleaved != 0
  }
}

extension CMSampleBuffer {
  /// Calls a closure with the audio as a list of buffers, which is valid during the call only, and
  /// with the block buffer to whose memory they refer.
  public func withAudioBufferList<Result>(
    blockBufferMemoryAllocator: CFAllocator? = nil, flags: Flags = [],
    body: (UnsafeMutableAudioBufferListPointer, CMBlockBuffer) throws -> Result
  ) throws -> Result {
    var size = 0
    try check(
      CMSampleBufferGetAudioBufferListWithRetainedBlockBuffer(
        self, bufferListSizeNeededOut: &size, bufferListOut: nil, bufferListSize: 0,
        blockBufferAllocator: nil, blockBufferMemoryAllocator: blockBufferMemoryAllocator,
        flags: flags.rawValue, blockBufferOut: nil))
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: size, alignment: MemoryLayout<AudioBufferList>.alignment)
    defer { memory.deallocate() }
    memset(memory, 0, size)
    let list = memory.bindMemory(to: AudioBufferList.self, capacity: 1)
    var block: CMBlockBuffer?
    try check(
      CMSampleBufferGetAudioBufferListWithRetainedBlockBuffer(
        self, bufferListSizeNeededOut: nil, bufferListOut: list, bufferListSize: size,
        blockBufferAllocator: nil, blockBufferMemoryAllocator: blockBufferMemoryAllocator,
        flags: flags.rawValue, blockBufferOut: &block))
    guard let block else { throw Error.bufferNotReady }
    return try withExtendedLifetime(block) {
      try body(UnsafeMutableAudioBufferListPointer(list), block)
    }
  }

  /// Copies the audio in a list of buffers; see `CMSampleBufferSetDataBufferFromAudioBufferList`.
  public func setDataBuffer(
    fromAudioBufferList bufferList: UnsafePointer<AudioBufferList>,
    blockBufferMemoryAllocator: CFAllocator? = nil, flags: Flags = []
  ) throws {
    try check(
      CMSampleBufferSetDataBufferFromAudioBufferList(
        self, blockBufferAllocator: nil, blockBufferMemoryAllocator: blockBufferMemoryAllocator,
        flags: flags.rawValue, bufferList: bufferList))
  }
}
