// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// Copies frames of uncompressed audio from a sample buffer into existing buffers.
///
/// - Parameters:
///   - sbuf: The sample buffer.
///   - frameOffset: The first frame.
///   - numFrames: The number of frames.
///   - bufferList: One buffer for interleaved audio, otherwise one for each channel. Each must have
///     space for the frames.
/// - Returns: `kCMSampleBufferError_InvalidMediaTypeForOperation` for other media,
///   `kCMSampleBufferError_SampleIndexOutOfRange` for frames that do not exist,
///   `kCMSampleBufferError_ArrayTooSmall` if there is not enough space.
@discardableResult
public func CMSampleBufferCopyPCMDataIntoAudioBufferList(
  _ sbuf: CMSampleBuffer, at frameOffset: Int32, frameCount numFrames: Int32,
  into bufferList: UnsafeMutablePointer<AudioBufferList>
) -> OSStatus {
  if sbuf.isInvalidated { return kCMSampleBufferError_Invalidated }
  guard let basic = sbuf.format?.audio?.basic, basic.mFormatID == kAudioFormatLinearPCM,
    basic.mBytesPerFrame > 0
  else { return kCMSampleBufferError_InvalidMediaTypeForOperation }
  guard CMSampleBufferDataIsReady(sbuf), let data = sbuf.blockBuffer else {
    return kCMSampleBufferError_BufferNotReady
  }
  guard frameOffset >= 0, numFrames >= 0, Int(frameOffset) + Int(numFrames) <= sbuf.sampleCount else {
    return kCMSampleBufferError_SampleIndexOutOfRange
  }
  let isInterleaved = basic.mFormatFlags & kAudioFormatFlagIsNonInterleaved == 0
  let list = UnsafeMutableAudioBufferListPointer(bufferList)
  let frameSize = Int(basic.mBytesPerFrame)
  let size = Int(numFrames) * frameSize
  guard list.count == (isInterleaved ? 1 : Int(basic.mChannelsPerFrame)),
    list.allSatisfy({ Int($0.mDataByteSize) >= size && ($0.mData != nil || size == 0) })
  else { return kCMSampleBufferError_ArrayTooSmall }
  for index in list.indices {
    // The data contains all frames of each channel, one channel after the other. The number of
    // samples is not checked against the data, so the products are clamped.
    let offset = index.multipliedClamped(by: sbuf.sampleCount).addingClamped(Int(frameOffset))
      .multipliedClamped(by: frameSize)
    if size > 0, let memory = list[index].mData {
      let status = CMBlockBufferCopyDataBytes(data, atOffset: offset, dataLength: size, destination: memory)
      if status != noErr { return status }
    }
  }
  return noErr
}

extension CMSampleBuffer {
  /// Copies frames of uncompressed audio into existing buffers; see
  /// `CMSampleBufferCopyPCMDataIntoAudioBufferList`.
  public func copyPCMData(fromRange range: Range<Int>, into bufferList: UnsafeMutablePointer<AudioBufferList>)
    throws
  {
    // The count of a range can exceed Int only if the range begins before 0.
    guard let offset = Int32(exactly: range.lowerBound), offset >= 0, let count = Int32(exactly: range.count)
    else { throw Error.sampleIndexOutOfRange }
    try check(
      CMSampleBufferCopyPCMDataIntoAudioBufferList(self, at: offset, frameCount: count, into: bufferList))
  }

  /// Returns the offset of each packet of compressed audio in the data; empty if all packets have
  /// the size that the format states.
  /// - Throws: `CMSampleBuffer.Error` if the media is not audio, or the sizes are not known or too
  ///   large.
  public func audioStreamPacketDescriptions() throws -> [AudioStreamPacketDescription] {
    guard let basic = format?.audio?.basic else { throw Error.invalidMediaTypeForOperation }
    if basic.mBytesPerPacket > 0, basic.mFramesPerPacket > 0 { return [] }
    if case .unknown = sizes { throw Error.bufferHasNoSampleSizes }
    guard canBeListed else { throw Error.invalidEntryCount }
    var offset: Int64 = 0
    return try (0..<sampleCount).map { index in
      let size = sizes.size(at: index)
      guard let bytes = UInt32(exactly: size) else { throw Error.invalidSampleData }
      defer { offset = offset.addingClamped(Int64(size)) }
      return AudioStreamPacketDescription(
        mStartOffset: offset, mVariableFramesInPacket: 0, mDataByteSize: bytes)
    }
  }
}
