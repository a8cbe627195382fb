// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation

@testable import VideoToolbox

/// Sample buffers as an encoder gives them, of bytes that their number tells, and what a silo holds
/// of them.
enum SiloFrames {
  static func format(width: Int32 = 64) throws -> CMVideoFormatDescription {
    var format: CMVideoFormatDescription?
    let extensions: [CFString: Any] = [
      kCMFormatDescriptionExtension_ColorPrimaries: kCMFormatDescriptionColorPrimaries_ITU_R_709_2,
      kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms: ["test": Data([1, 2, 3])]
        as NSDictionary,
    ]
    try check(
      CMVideoFormatDescriptionCreate(
        allocator: nil, codecType: kCMVideoCodecType_H264, width: width, height: 48,
        extensions: extensions as CFDictionary, formatDescriptionOut: &format), "format")
    guard let format else { throw SiloError(-1) }
    return format
  }

  static func bytes(_ index: Int, generation: Int, count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: index &* 31 &+ generation &* 101 &+ $0 &* 7) }
  }

  /// A frame that is decoded at `index` / 30 s and shown two frames later.
  static func frame(
    _ index: Int, generation: Int = 0, count: Int = 100, format: CMVideoFormatDescription? = nil
  ) throws -> CMSampleBuffer {
    let content = bytes(index, generation: generation, count: count)
    var block: CMBlockBuffer?
    try check(
      CMBlockBufferCreateWithMemoryBlock(
        allocator: nil, memoryBlock: nil, blockLength: count, blockAllocator: nil, customBlockSource: nil,
        offsetToData: 0, dataLength: count, flags: kCMBlockBufferAssureMemoryNowFlag, blockBufferOut: &block),
      "block")
    guard let block else { throw SiloError(-1) }
    try check(
      CMBlockBufferReplaceDataBytes(
        with: content, blockBuffer: block, offsetIntoDestination: 0, dataLength: count), "bytes")
    var timing = CMSampleTimingInfo(
      duration: CMTime(value: 1, timescale: 30),
      presentationTimeStamp: CMTime(value: Int64(index + 2), timescale: 30),
      decodeTimeStamp: CMTime(value: Int64(index), timescale: 30))
    var (size, buffer) = (count, CMSampleBuffer?.none)
    try check(
      CMSampleBufferCreateReady(
        allocator: nil, dataBuffer: block, formatDescription: format ?? Self.format(), sampleCount: 1,
        sampleTimingEntryCount: 1, sampleTimingArray: &timing, sampleSizeEntryCount: 1,
        sampleSizeArray: &size,
        sampleBufferOut: &buffer), "sample buffer")
    guard let buffer else { throw SiloError(-1) }
    buffer.sampleAttachments[0][.notSync] = index % 10 != 0
    return buffer
  }

  static func content(_ buffer: CMSampleBuffer) throws -> [UInt8] {
    guard let block = CMSampleBufferGetDataBuffer(buffer) else { return [] }
    var bytes = [UInt8](repeating: 0, count: CMBlockBufferGetDataLength(block))
    try check(
      CMBlockBufferCopyDataBytes(block, atOffset: 0, dataLength: bytes.count, destination: &bytes), "copy")
    return bytes
  }

  static func silo(
    _ url: URL? = nil, range: CMTimeRange = .invalid, options: [CFString: Any]? = nil
  ) -> (status: OSStatus, silo: VTFrameSilo?) {
    var silo: VTFrameSilo?
    let status = VTFrameSiloCreate(
      allocator: nil, fileURL: url.map { $0 as CFURL }, timeRange: range, options: options as CFDictionary?,
      frameSiloOut: &silo)
    return (status, silo)
  }

  static func all(_ silo: VTFrameSilo, in range: CMTimeRange = .invalid) -> (OSStatus, [CMSampleBuffer]) {
    var buffers: [CMSampleBuffer] = []
    let status = VTFrameSiloCallBlockForEachSampleBuffer(silo, in: range) {
      buffers.append($0)
      return noErr
    }
    return (status, buffers)
  }

  /// Which frame each is, by its decode time.
  static func indices(_ buffers: [CMSampleBuffer]) -> [Int] {
    buffers.map { Int(($0.decodeTimeStamp.seconds * 30).rounded()) }
  }

  static func range(_ frames: Range<Int>) -> CMTimeRange {
    CMTimeRange(
      start: CMTime(value: Int64(frames.lowerBound), timescale: 30),
      duration: CMTime(value: Int64(frames.count), timescale: 30))
  }
}
