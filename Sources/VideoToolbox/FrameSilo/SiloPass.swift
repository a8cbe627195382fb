// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation

/// How far a silo's pass is.
struct SiloPass {
  /// The ranges that this pass fills; of the first pass, the silo's own, and none where that is unknown.
  var ranges: [DecodeTimeRange]
  /// 1 for the first.
  var number = 1
  /// Of the frame that was added last; invalid before the first.
  var lastDecodeTime = CMTime.invalid
  /// When that frame ends.
  var lastEnd = CMTime.invalid
  /// Of the whole silo, when this was saved.
  var frameCount = 0

  init(ranges: [DecodeTimeRange], number: Int = 1) {
    self.ranges = ranges
    self.number = number
  }

  /// - Throws: `kVTFrameSiloInvalidTimeStampErr` for a frame that does not belong here: not after the last one, or, in a
  ///   pass after the first, outside of the ranges.
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

  var packed: Data? {
    SiloRecord.pack([
      "number": number, "frames": frameCount, "times": SiloRecord.pack([lastDecodeTime, lastEnd]),
      "ranges": SiloRecord.pack(ranges.flatMap { [$0.range.start, $0.range.duration] }),
    ])
  }

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
