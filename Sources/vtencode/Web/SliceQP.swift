// SPDX-License-Identifier: Apache-2.0
import RealTimeTransport
import VideoBitstream

/// Reads the initial QP of a frame's slices from their headers (SliceQPY, H.264, 7.4.3; SliceQpY,
/// HEVC, 7.4.7.1).
struct SliceQP {
  /// The parameter sets by their identifiers, whose number the syntax limits.
  private struct ParameterSets<Sequence, Picture> {
    var sequences: [Int: Sequence] = [:]
    var pictures: [Int: Picture] = [:]
  }

  private var h264 = ParameterSets<H264SequenceParameterSet, H264PictureParameterSet>()
  private var hevc = ParameterSets<HEVCSequenceParameterSet, HEVCPictureParameterSet>()

  /// Takes a frame.
  /// - Parameters:
  ///   - units: the NAL units, which may come from an untrusted source.
  ///   - codec: the codec.
  /// - Returns: the mean QP of the slices; nil if no slice header can be read.
  mutating func averageQP(_ units: [[UInt8]], _ codec: VideoCodec = .h264) -> Double? {
    var all: [Int] = []
    for unit in units {
      let type = codec.nal.unitType(unit.first ?? 0)
      let qp = codec == .h264 ? h264QP(unit, .init(rawValue: type)) : hevcQP(unit, .init(rawValue: type))
      if let qp { all.append(qp) }
    }
    return all.isEmpty ? nil : Double(all.reduce(0, +)) / Double(all.count)
  }

  private mutating func h264QP(_ unit: [UInt8], _ type: H264NALUnitType) -> Int? {
    switch type {
    case .sequenceParameterSet:
      if let set = try? H264SequenceParameterSet(nalUnit: unit) { h264.sequences[set.id] = set }
    case .pictureParameterSet:
      if let set = try? H264PictureParameterSet(nalUnit: unit) { h264.pictures[set.id] = set }
    case .slice, .idrSlice:
      return try? H264SliceHeader(nalUnit: unit, sequences: h264.sequences, pictures: h264.pictures).qp
    default: break
    }
    return nil
  }

  private mutating func hevcQP(_ unit: [UInt8], _ type: HEVCNALUnitType) -> Int? {
    switch type {
    case .sequenceParameterSet:
      if let set = try? HEVCSequenceParameterSet(nalUnit: unit) { hevc.sequences[set.id] = set }
    case .pictureParameterSet:
      if let set = try? HEVCPictureParameterSet(nalUnit: unit) { hevc.pictures[set.id] = set }
    case _ where type.isSlice:
      let slice = try? HEVCSliceHeader(nalUnit: unit, sequences: hevc.sequences, pictures: hevc.pictures)
      // A dependent segment has the header of the one before it.
      return slice.flatMap { $0.isDependent ? nil : $0.qp }
    default: break
    }
    return nil
  }
}
