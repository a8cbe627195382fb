// SPDX-License-Identifier: Apache-2.0
import VideoBitstream

/// The QP of frames as their slices' headers say it: what their quantiser begins with.
struct SliceQP {
  /// As many as the syntax has.
  private var sequences: [Int: H264SequenceParameterSet] = [:]
  private var pictures: [Int: H264PictureParameterSet] = [:]

  /// - Parameter units: a frame's NAL units, of anybody.
  /// - Returns: The slices' mean; nil if there is none that can be read.
  mutating func take(_ units: [[UInt8]]) -> Double? {
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
