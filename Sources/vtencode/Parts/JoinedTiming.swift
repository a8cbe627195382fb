// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import CoreMedia
import Foundation
import VideoBitstream

/// Corrects the picture timing SEI messages at joins (H.264, D.1.3). `cpb_removal_delay` counts
/// clock ticks since the last buffering period, and for a segment's first access unit that period
/// is in the previous segment.
struct JoinedTiming {
  private let hrd: H264HypotheticalDecoder
  /// The duration of a clock tick in seconds.
  private let tick: Double
  private let lengthSize: Int
  /// The decode time of the last access unit with a buffering period.
  private var period: CMTime?

  /// Nil if the stream has no NAL HRD parameters.
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

  /// Records a sample, and changes its message if necessary.
  /// - Parameters:
  ///   - sample: the sample.
  ///   - decoded: its decode time in the whole movie.
  ///   - isFirst: whether it is the first of a segment other than the first one.
  /// - Returns: the changed bytes; nil if the sample stays as it is.
  /// - Throws: a `Failure` if the message is missing, or if its delay cannot be represented.
  mutating func correct(_ sample: CMSampleBuffer, decoded: CMTime, isFirst: Bool) throws -> Data? {
    defer { if SampleAttributes(sample).isKeyFrame { period = decoded } }
    guard isFirst, let period else { return nil }
    guard let delay = Int(checking: ((decoded - period).seconds / tick).rounded()) else {
      throw Failure(
        "the plan's segments are further apart than picture timing messages can express; make "
          + "the plan again")
    }
    guard let bytes = Self.bytes(sample) else { throw Failure("a sample of a segment cannot be read") }
    var position = bytes.startIndex
    while position + lengthSize <= bytes.endIndex {
      let length = bytes[position..<(position + lengthSize)].reduce(0) { $0 << 8 | Int($1) }
      let unit = (position + lengthSize)..<(position + lengthSize + length)
      guard length > 0, unit.upperBound <= bytes.endIndex else { break }
      if let new = H264PictureTiming.replacing(removalDelay: delay, in: bytes[unit], hrd: hrd) {
        var changed = bytes
        changed.replaceSubrange(unit, with: new)
        return changed
      }
      position = unit.upperBound
    }
    throw Failure(
      "a segment does not have the buffer timing of its first picture (picture timing message); encode it "
        + "again with --overwrite")
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
