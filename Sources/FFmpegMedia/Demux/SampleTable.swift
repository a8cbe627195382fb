// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import VideoBitstream

/// The index of a movie, which holds its complete sample table. (That of other formats grows
/// while the file is read.)
struct SampleTable {
  let count: Int
  /// The sum of the samples' sizes.
  private(set) var bytes: Int64 = 0
  /// The smallest difference of two decode times that follow one another; nil if there is none.
  private(set) var shortest: Int64?
  /// The decode times of the first and the last sample; nil in an empty table.
  private(set) var first: Int64?
  private(set) var last: Int64?
  /// Whether each decode time is later than the one before.
  private(set) var rises = true

  /// Reads the index of a stream; nil if it is not complete.
  init?(_ pointer: UnsafeMutablePointer<AVStream>) {
    let entries = avformat_index_get_entries_count(pointer)
    guard pointer.pointee.nb_frames > 0, entries > 0, Int64(entries) >= pointer.pointee.nb_frames else {
      return nil
    }
    count = Int(entries)
    for number in 0..<entries {
      guard let entry = avformat_index_get_entry(pointer, number) else { continue }
      bytes = bytes.addingClamped(Int64(entry.pointee.size))
      let time = entry.pointee.timestamp
      if let last {
        if time > last {
          shortest = min(shortest ?? Int64.max, time.subtractingClamped(last))
        } else {
          rises = false
        }
      }
      first = first ?? time
      last = time
    }
  }

  /// The time from the last sample's decode time to the end of a movie's track; nil if it is not
  /// positive.
  static func lastSample(
    _ stream: AVStream, length: Int64, from first: Int64, to last: Int64
  ) -> Int64? {
    let rate = stream.avg_frame_rate
    var end = first.addingClamped(length)
    // libavformat computes the average rate from the table, so that the sum of all durations
    // follows from it. `length` is not exact: edit lists round it to the movie's time scale.
    if stream.time_base.num == 1, rate.num > 0, rate.den > 0 {
      let units = Int64(stream.time_base.den).multipliedClamped(by: stream.nb_frames)
      let (sum, overflow) = units.multipliedReportingOverflow(by: Int64(rate.den))
      if !overflow, sum % Int64(rate.num) == 0 { end = first.addingClamped(sum / Int64(rate.num)) }
    }
    return end > last ? end.subtractingClamped(last) : nil
  }
}
