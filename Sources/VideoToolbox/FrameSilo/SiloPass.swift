// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation

/// The progress of a frame silo's current pass.
struct SiloPass {
  /// The ranges of decode times that this pass adds frames to. In the first pass this is the range
  /// that the silo was created with; empty if that is unknown.
  var ranges: [DecodeTimeRange]
  /// The number of the pass, from 1.
  var number = 1
  /// The decode time of the frame that was added last; invalid before the first.
  var lastDecodeTime = CMTime.invalid
  /// The decode time at which that frame ends (its decode time plus its duration); invalid before
  /// the first.
  var lastEnd = CMTime.invalid
  /// The number of frames in the silo when this record was saved.
  var frameCount = 0

  init(ranges: [DecodeTimeRange], number: Int = 1) {
    self.ranges = ranges
    self.number = number
  }

  /// Records that a frame is added.
  /// - Parameter frame: The frame.
  /// - Throws: `kVTFrameSiloInvalidTimeStampErr` if the frame does not follow the last one in
  ///   decode order or, in a pass after the first, lies outside the ranges.
  mutating func append(_ frame: SiloFrame) throws(SiloError) {
    if let last = DecodeTimeKey(lastDecodeTime), frame.key <= last {
      throw SiloError(kVTFrameSiloInvalidTimeStampErr)
    }
    if number > 1, !ranges.contains(where: { $0.contains(frame.key) }) {
      throw SiloError(kVTFrameSiloInvalidTimeStampErr)
    }
    lastDecodeTime = frame.decodeTime
    lastEnd = frame.end
  }

  /// The record as a binary property list; nil if it is too large.
  var packed: Data? {
    SiloRecord.pack([
      "number": number, "frames": frameCount, "times": SiloRecord.pack([lastDecodeTime, lastEnd]),
      "ranges": SiloRecord.pack(ranges.flatMap { [$0.range.start, $0.range.duration] }),
    ])
  }

  /// Reads a record that `packed` has made; nil if the bytes are not such a record.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard let list = SiloRecord.unpack(bytes), let number = list["number"] as? Int, number > 0, number < .max,
      let frameCount = list["frames"] as? Int,
      let times = SiloRecord.times(list["times"]), times.count == 2,
      let bounds = SiloRecord.times(list["ranges"]), bounds.count.isMultiple(of: 2),
      let ranges = DecodeTimeRange.ascending(
        stride(from: 0, to: bounds.count, by: 2).map {
          CMTimeRange(start: bounds[$0], duration: bounds[$0 + 1])
        })
    else { return nil }
    self.ranges = ranges
    self.number = number
    self.frameCount = frameCount
    (lastDecodeTime, lastEnd) = (times[0], times[1])
  }
}
