// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import CoreMedia
import ElementaryStream
import Foundation
import VideoBitstream

/// Corrects the messages on the decoder's buffer at joins: H.264's picture timing message (D.1.3),
/// and the buffering period and picture timing messages of HEVC (D.3.2, D.3.3). They count clock
/// ticks since access units that for a segment's first access unit are in the previous segment.
struct JoinedTiming {
  /// The lengths of the messages' fields.
  private enum Fields {
    case h264(H264HypotheticalDecoder)
    case hevc(HEVCHypotheticalDecoder.Common)
  }

  private let fields: Fields
  /// The duration of a clock tick in seconds.
  private let tick: Double
  private let lengthSize: Int
  /// The decode time of the last access unit with a buffering period.
  private var period: CMTime?
  /// The decode time of the last access unit that is neither a leading picture nor a sub-layer
  /// non-reference picture; HEVC alone counts from it.
  private var anchor: CMTime?

  /// Nil if the stream has no NAL HRD parameters.
  init?(_ format: CMFormatDescription) {
    let sets = format.parameterSets
    switch CMFormatDescriptionGetMediaSubType(format) {
    case kCMVideoCodecType_H264:
      let unit = sets.first {
        $0.first.flatMap { H264NALUnitHeader(byte: $0) }?.type == .sequenceParameterSet
      }
      guard let sps = unit.flatMap({ try? H264SequenceParameterSet(nalUnit: $0) }),
        let hrd = sps.vui?.nalHRD, let ticks = sps.vui?.timing?.ticks, ticks.timeScale > 0,
        ticks.unitsInTick > 0
      else { return nil }
      fields = .h264(hrd)
      tick = Double(ticks.unitsInTick) / Double(ticks.timeScale)
    case kCMVideoCodecType_HEVC:
      let unit = sets.first { HEVCNALUnitHeader(of: $0)?.type == .sequenceParameterSet }
      guard let sps = unit.flatMap({ try? HEVCSequenceParameterSet(nalUnit: $0) }),
        let timing = sps.vui?.timing, let hrd = timing.hrd?.common, hrd.hasNAL,
        timing.ticks.timeScale > 0, timing.ticks.unitsInTick > 0
      else { return nil }
      fields = .hevc(hrd)
      tick = Double(timing.ticks.unitsInTick) / Double(timing.ticks.timeScale)
    default: return nil
    }
    lengthSize = format.nalUnitHeaderLength ?? 4
  }

  /// Records a sample, and changes its messages if necessary.
  /// - Parameters:
  ///   - sample: the sample.
  ///   - decodeTime: its decode time in the whole movie.
  ///   - isFirst: whether it is the first of a segment other than the first one.
  /// - Returns: the changed bytes; nil if the sample stays as it is.
  /// - Throws: a `Failure` if a message is missing, or if a delay cannot be represented.
  mutating func correct(_ sample: CMSampleBuffer, decodeTime: CMTime, isFirst: Bool) throws -> Data? {
    var units: [[UInt8]] = []
    switch fields {
    case .h264:
      defer { if SampleAttributes(sample).isKeyFrame { period = decodeTime } }
      guard isFirst, let period else { return nil }
      units = try Self.units(sample)
      return try changed(&units, removalDelay: ticks(from: period, to: decodeTime), delta: 0)
    case .hevc:
      units = try Self.units(sample)
      defer { record(units, at: decodeTime) }
      guard isFirst, let period, let anchor else { return nil }
      return try changed(
        &units, removalDelay: ticks(from: period, to: decodeTime), delta: ticks(from: anchor, to: decodeTime))
    }
  }

  /// Clock ticks between two decode times.
  private func ticks(from start: CMTime, to end: CMTime) throws -> Int {
    guard let ticks = Int(checking: ((end - start).seconds / tick).rounded()) else {
      throw Failure(
        "the plan's segments are further apart than picture timing messages can express; make "
          + "the plan again")
    }
    return ticks
  }

  /// Changes the delays in NAL units.
  /// - Returns: all of them with their lengths.
  /// - Throws: a `Failure` if a message is missing.
  private func changed(_ units: inout [[UInt8]], removalDelay: Int, delta: Int) throws -> Data {
    var isChanged = false
    switch fields {
    case .h264(let hrd):
      for (n, unit) in units.enumerated() where !isChanged {
        guard let new = H264PictureTiming.replacingRemovalDelay(removalDelay, in: unit, hrd: hrd) else {
          continue
        }
        units[n] = new
        isChanged = true
      }
    case .hevc(let hrd):
      isChanged = HEVCJoinedTiming.set(
        removalDelay: removalDelay, removalDelayDelta: delta, in: &units, hrd: hrd)
    }
    guard isChanged else {
      throw Failure(
        "a segment does not have the buffer timing of its first picture (SEI messages); encode it "
          + "again with --overwrite")
    }
    var data = Data()
    for unit in units {
      for n in (0..<lengthSize).reversed() { data.append(UInt8(truncatingIfNeeded: unit.count >> (8 * n))) }
      data += unit
    }
    return data
  }

  /// Records what later delays count from.
  private mutating func record(_ units: [[UInt8]], at time: CMTime) {
    for unit in units {
      guard let type = HEVCNALUnitHeader(of: unit)?.type else { continue }
      if type == .prefixSEI {
        let messages = SupplementalInformation.messages(nalUnit: unit, headerLength: 2)
        if messages.contains(where: { $0.type == HEVCBufferingPeriod.payloadType }) { period = time }
      } else if type.isSlice {
        let isBase = HEVCNALUnitHeader(of: unit)?.temporalID == 0
        if isBase, !type.isLeading, !type.isSubLayerNonReference { anchor = time }
        return
      }
    }
  }

  /// The NAL units of a sample.
  private static func units(_ sample: CMSampleBuffer) throws -> [[UInt8]] {
    guard let units = try? sample.nalUnits() else { throw Failure("a sample of a segment cannot be read") }
    return units.map { [UInt8]($0.data) }
  }
}
