// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation

/// Where the encoded samples go. One call writes them all; what is written appears under its final name only
/// when that call returns.
protocol SampleSink: Sendable {
  /// - Returns: what was written besides the video, for the summary.
  func write(_ samples: BoundedQueue<CMSampleBuffer>) async throws -> SinkReport
}

struct SinkReport: Sendable {
  var fileBytes = 0
  var sound = SoundReport()
  var text = TextReport()
  /// Where it was written, if that is not where it was meant to be.
  var path: String?
}
