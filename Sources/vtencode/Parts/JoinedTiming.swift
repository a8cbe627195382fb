// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import CoreMedia
import Foundation
import VideoBitstream

/// Picture timing messages over joins: a segment's first access unit is taken out of the decoder's buffer so many ticks
/// after the last buffering period of the segment before, which that one alone knows.
struct JoinedTiming {
  private let hrd: H264HypotheticalDecoder
  /// Seconds.
  private let tick: Double
  private let lengthSize: Int
  /// Decode time of the last access unit with a buffering period.
  private var period: CMTime?

  /// Nil where the stream does not say what its buffer is.
  init?(_ format: CMFormatDescription) {
    var (pointer, size, header) = (UnsafePointer<UInt8>?.none, 0, Int32(0))
    guard CMFormatDescriptionGetMediaSubType(format) == kCMVideoCodecType_H264,
      CMVideoFormatDescriptionGetH264ParameterSetAtIndex(
        format, parameterSetIndex: 0, parameterSetPointerOut: &pointer, parameterSetSizeOut: &size,
        parameterSetCountOut: nil, nalUnitHeaderLengthOut: &header) == noErr,
      let pointer,
      let sps = try? H264SequenceParameterSet(nalUnit: UnsafeBufferPointer(start: pointer, count: size)),
      let hrd = sps.vui?.nalHRD, let ticks = sps.vui?.timing?.ticks, ticks.timeScale > 0,
      ticks.unitsInTick > 0
    else { return nil }
    self.hrd = hrd
    tick = Double(ticks.unitsInTick) / Double(ticks.timeScale)
    lengthSize = Int(header)
  }

  /// - Parameters:
  ///   - decoded: the sample's decode time in the whole movie.
  ///   - isFirst: of a segment that is not the first one.
  /// - Returns: The sample's bytes where they have to change.
  mutating func note(_ sample: CMSampleBuffer, decoded: CMTime, isFirst: Bool) throws -> Data? {
    defer { if SampleFacts(sample).isKeyFrame { period = decoded } }
    guard isFirst, let period else { return nil }
    guard let delay = Int(checking: ((decoded - period).seconds / tick).rounded()) else {
      throw Failure("the plan's segments lie further apart than a stream can say; make the plan again")
    }
    guard let bytes = Self.bytes(sample) else { throw Failure("a sample of a segment cannot be read") }
    var place = bytes.startIndex
    while place + lengthSize <= bytes.endIndex {
      let length = bytes[place..<(place + lengthSize)].reduce(0) { $0 << 8 | Int($1) }
      let unit = (place + lengthSize)..<(place + lengthSize + length)
      guard length > 0, unit.upperBound <= bytes.endIndex else { break }
      if let new = H264PictureTiming.replacing(removalDelay: delay, in: bytes[unit], hrd: hrd) {
        var changed = bytes
        changed.replaceSubrange(unit, with: new)
        return changed
      }
      place = unit.upperBound
    }
    throw Failure(
      "a segment does not say when its first picture leaves the buffer; encode it again with --overwrite")
  }

  private static func bytes(_ sample: CMSampleBuffer) -> Data? {
    guard let block = CMSampleBufferGetDataBuffer(sample) else { return nil }
    var data = Data(count: CMBlockBufferGetDataLength(block))
    let status = data.withUnsafeMutableBytes { memory -> OSStatus in
      guard let base = memory.baseAddress else { return kCMBlockBufferBadLengthParameterErr }
      return CMBlockBufferCopyDataBytes(block, atOffset: 0, dataLength: memory.count, destination: base)
    }
    return status == noErr ? data : nil
  }
}
