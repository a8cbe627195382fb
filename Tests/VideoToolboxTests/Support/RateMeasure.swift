// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import VideoToolbox

/// Measures the sizes that came out.
struct RateMeasure {
  /// Decode time and bytes of each sample.
  let entries: [(time: Double, bytes: Int)]
  let frameDuration: Double

  init(_ samples: [CMSampleBuffer], frameDuration: Double) {
    entries = samples.map { sample in
      let time = sample.decodeTimeStamp.isValid ? sample.decodeTimeStamp : sample.presentationTimeStamp
      return (time.seconds, CMSampleBufferGetTotalSampleSize(sample))
    }
    self.frameDuration = frameDuration
  }

  var totalBytes: Int { entries.reduce(0) { $0 + $1.bytes } }
  var seconds: Double { Double(entries.count) * frameDuration }
  var bitRate: Double { Double(totalBytes) * 8 / seconds }

  /// Bytes of every full window of this length, sliding by frames. A window takes in the frames
  /// whose decode times lie in it, its end not included.
  func windows(of length: Double) -> [Int] {
    guard let first = entries.first, let last = entries.last else { return [] }
    var result: [Int] = []
    var end = 0
    var sum = 0
    for start in entries.indices {
      let begin = entries[start].time
      while end < entries.count, entries[end].time < begin + length - 1e-6 {
        sum += entries[end].bytes
        end += 1
      }
      // The last window that is full.
      if begin + length <= last.time + frameDuration + 1e-6 || begin == first.time { result.append(sum) }
      sum -= entries[start].bytes
    }
    return result
  }
}
