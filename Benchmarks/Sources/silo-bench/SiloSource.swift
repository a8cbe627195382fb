// SPDX-License-Identifier: Apache-2.0
import BenchmarkSupport
import Foundation
import VideoToolbox

/// Frames whose sizes and contents are determined by their numbers.
final class SiloSource {
  private let format: CMVideoFormatDescription
  private let meanSize: Int
  private let pool: [UInt8]
  private(set) var written = 0

  init(meanSize: Int) throws {
    self.meanSize = max(16, meanSize)
    var made: CMVideoFormatDescription?
    CMVideoFormatDescriptionCreate(
      allocator: nil, codecType: kCMVideoCodecType_H264, width: 1280, height: 720, extensions: nil,
      formatDescriptionOut: &made)
    guard let made else { throw BenchmarkError(description: "There is no format description.") }
    format = made
    var state: UInt32 = 1
    pool = (0..<self.meanSize * 16).map { _ in
      state = state &* 1_664_525 &+ 1_013_904_223
      return UInt8(state >> 24)
    }
  }

  func time(_ index: Int) -> CMTime { CMTime(value: Int64(index), timescale: 60) }

  func check(_ status: OSStatus) throws {
    if status != noErr { throw BenchmarkError(description: "The silo answered \(status).") }
  }

  func silo(at url: URL, frames: Int) throws -> VTFrameSilo {
    var silo: VTFrameSilo?
    try check(
      VTFrameSiloCreate(
        allocator: nil, fileURL: url as CFURL, timeRange: CMTimeRange(start: .zero, duration: time(frames)),
        options: nil, frameSiloOut: &silo))
    guard let silo else { throw BenchmarkError(description: "There is no silo.") }
    return silo
  }

  func withBytes<R>(_ index: Int, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    let mean = index % 60 == 0 ? meanSize * 10 : meanSize * 50 / 59
    let size = mean / 2 + (index &* 7919) % mean
    let start = (index &* 104_729) % (pool.count - size)
    return try pool.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[start..<start + size])) }
  }

  func add(_ index: Int, to silo: VTFrameSilo) throws {
    var block: CMBlockBuffer?
    let status = withBytes(index) { bytes -> OSStatus in
      guard let base = bytes.baseAddress else { return -1 }
      let made = CMBlockBufferCreateWithMemoryBlock(
        allocator: nil, memoryBlock: nil, blockLength: bytes.count, blockAllocator: nil,
        customBlockSource: nil,
        offsetToData: 0, dataLength: bytes.count, flags: kCMBlockBufferAssureMemoryNowFlag,
        blockBufferOut: &block)
      guard made == noErr, let block else { return made }
      return CMBlockBufferReplaceDataBytes(
        with: base, blockBuffer: block, offsetIntoDestination: 0, dataLength: bytes.count)
    }
    try check(status)
    guard let block else { return }
    var timing = CMSampleTimingInfo(
      duration: time(1), presentationTimeStamp: time(index + 2), decodeTimeStamp: time(index))
    var (size, sample) = (CMBlockBufferGetDataLength(block), CMSampleBuffer?.none)
    try check(
      CMSampleBufferCreateReady(
        allocator: nil, dataBuffer: block, formatDescription: format, sampleCount: 1,
        sampleTimingEntryCount: 1,
        sampleTimingArray: &timing, sampleSizeEntryCount: 1, sampleSizeArray: &size, sampleBufferOut: &sample)
    )
    guard let sample else { return }
    sample.sampleAttachments[0][.notSync] = index % 60 != 0
    try check(VTFrameSiloAddSampleBuffer(silo, sampleBuffer: sample))
    written += size
  }
}
