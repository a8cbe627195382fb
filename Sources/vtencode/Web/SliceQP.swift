// SPDX-License-Identifier: Apache-2.0
import VideoBitstream

/// Reads the initial QP of a frame's slices from their headers (SliceQPY, H.264, 7.4.3).
struct SliceQP {
  /// The parameter sets by their identifiers, whose number the syntax limits.
  private var sequences: [Int: H264SequenceParameterSet] = [:]
  private var pictures: [Int: H264PictureParameterSet] = [:]

  /// Takes a frame.
  /// - Parameter units: the NAL units, which may come from an untrusted source.
  /// - Returns: the mean QP of the slices; nil if no slice header can be read.
  mutating func averageQP(_ units: [[UInt8]]) -> Double? {
    var all: [Int] = []
    for unit in units {
      switch H264NALUnitType(rawValue: (unit.first ?? 0) & 31) {
      case .sequenceParameterSet:
        if let set = try? H264SequenceParameterSet(nalUnit: unit) { sequences[set.id] = set }
      case .pictureParameterSet:
        if let set = try? H264PictureParameterSet(nalUnit: unit) { pictures[set.id] = set }
      case .slice, .idrSlice:
        if let slice = try? H264SliceHeader(nalUnit: unit, sequences: sequences, pictures: pictures) {
          all.append(slice.qp)
        }
      default: break
      }
    }
    return all.isEmpty ? nil : Double(all.reduce(0, +)) / Double(all.count)
  }
}
