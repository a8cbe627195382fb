// SPDX-License-Identifier: Apache-2.0
import Foundation
import VideoToolbox

/// Records the result of each frame for the report. The session's threads and the encoding stage
/// call it.
final class FrameLog: @unchecked Sendable {
  // Sendable: `lock` guards the mutable state.
  struct Entry: Sendable {
    /// The time in seconds since the first frame.
    var time: Double
    var bits = 0
    var averageQP: Double?
    /// The mean squared error of the luma samples; nil if the encoder does not compute it.
    var meanSquaredError: Double?
    var layer = 0
    var isKeyFrame = false
    var isDropped = false
    /// The time from the call that encodes the frame to its output, in seconds.
    var delay = 0.0
    /// The target bit rate in bits a second.
    var rate: Int
  }

  struct Contents: Sendable {
    var title = ""
    /// The largest sample, to which mean squared errors relate.
    var peak = 255.0
    var entries: [Entry] = []
  }

  private let lock = Lock()
  private var title = ""
  private var peak = 255.0
  private var entries: [Entry] = []
  private var tokens: [(frame: Int, token: Int64)] = []

  var contents: Contents {
    lock.withLock { Contents(title: title, peak: peak, entries: entries.sorted { $0.time < $1.time }) }
  }

  /// Begins a report.
  /// - Parameters:
  ///   - text: its title.
  ///   - bitDepth: the bits of a coded sample, 8 or 10.
  func begin(_ text: String, bitDepth: Int) {
    lock.withLock {
      title = text
      peak = Double((1 << bitDepth) - 1)
    }
  }

  /// Adds the result of a frame.
  /// - Parameters:
  ///   - sample: the coded frame; nil if it was dropped.
  ///   - time: its time in seconds since the first frame.
  ///   - started: when it was passed to the session, by `SessionTime`.
  ///   - rate: the target bit rate in bits a second.
  func add(_ sample: CMSampleBuffer?, time: Double, started: Double, rate: Int) {
    var entry = Entry(time: time, rate: rate)
    entry.delay = SessionTime.now - started
    var token: Int64?
    if let sample {
      entry.bits = CMSampleBufferGetTotalSampleSize(sample) * 8
      let attributes = SampleAttributes(sample)
      entry.isKeyFrame = attributes.isKeyFrame
      entry.meanSquaredError = attributes.meanSquaredError
      let attachments =
        CMSampleBufferGetSampleAttachmentsArray(sample, createIfNecessary: false) as? [[CFString: Any]]
      let first = attachments?.first ?? [:]
      entry.averageQP = (first[kOVTSampleAttachmentKey_AverageQP] as? NSNumber)?.doubleValue
      entry.layer = (first[kOVTSampleAttachmentKey_TemporalLayer] as? NSNumber)?.intValue ?? 0
      token = (first[kVTSampleAttachmentKey_RequireLTRAcknowledgementToken] as? NSNumber)?.int64Value
    } else {
      entry.isDropped = true
    }
    lock.withLock {
      if let token { tokens.append((entries.count, token)) }
      entries.append(entry)
    }
  }

  /// Removes and returns the tokens of long-term references that a receiver with a delay of three
  /// frames would have acknowledged by now.
  func dueTokens() -> [Int64] {
    lock.withLock {
      let due = tokens.filter { $0.frame + 3 <= entries.count }
      tokens.removeAll { $0.frame + 3 <= entries.count }
      return due.map(\.token)
    }
  }
}
