// SPDX-License-Identifier: Apache-2.0
import Foundation
import VideoToolbox

/// What became of each frame, for the report. Written from the session's threads and the encoding stage.
final class FrameLog: @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  struct Entry: Sendable {
    /// Seconds from the first frame.
    var time: Double
    var bits = 0
    var averageQP: Double?
    /// Of the luma; nil where the encoder does not say.
    var meanSquaredError: Double?
    var layer = 0
    var isKeyFrame = false
    var isDropped = false
    /// Seconds from EncodeFrame to the output.
    var delay = 0.0
    /// Bits a second that were asked for.
    var rate: Int
  }

  struct Contents: Sendable {
    var title = ""
    var entries: [Entry] = []
  }

  private let lock = Lock()
  private var title = ""
  private var entries: [Entry] = []
  private var tokens: [(frame: Int, token: Int64)] = []

  var contents: Contents {
    lock.withLock { Contents(title: title, entries: entries.sorted { $0.time < $1.time }) }
  }

  func begin(_ text: String) { lock.withLock { title = text } }

  /// - Parameter started: when the frame was given to the session.
  func add(_ sample: CMSampleBuffer?, time: Double, started: Double, rate: Int) {
    var entry = Entry(time: time, rate: rate)
    entry.delay = SessionTime.now - started
    var token: Int64?
    if let sample {
      entry.bits = CMSampleBufferGetTotalSampleSize(sample) * 8
      let facts = SampleFacts(sample)
      entry.isKeyFrame = facts.isKeyFrame
      entry.meanSquaredError = facts.meanSquaredError
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

  /// Tokens that a receiver three frames away would have acknowledged by now.
  func dueTokens() -> [Int64] {
    lock.withLock {
      let due = tokens.filter { $0.frame + 3 <= entries.count }
      tokens.removeAll { $0.frame + 3 <= entries.count }
      return due.map(\.token)
    }
  }
}
