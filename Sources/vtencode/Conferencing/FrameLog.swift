// SPDX-License-Identifier: Apache-2.0
import Foundation
import VideoToolbox

/// Records the result of each frame for the report. The session's threads and the encoding stage
/// call it.
final class FrameLog: @unchecked Sendable {
  // Sendable: `state` guards the mutable state.
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

  /// Guards the mutable state, and signals that a frame has its result.
  private let state = NSCondition()
  private var title = ""
  private var peak = 255.0
  private var entries: [Entry] = []
  private var tokens: [(frame: Int, token: Int64)] = []
  /// The number of frames that have a result, those that failed included.
  private var finishedCount = 0

  /// The frames after which a receiver is taken to acknowledge a long-term reference.
  private static let acknowledgementDelay = 3

  var contents: Contents {
    state.withLock { Contents(title: title, peak: peak, entries: entries.sorted { $0.time < $1.time }) }
  }

  /// Begins a report.
  /// - Parameters:
  ///   - text: its title.
  ///   - bitDepth: the bits of a coded sample, 8 or 10.
  func begin(_ text: String, bitDepth: Int) {
    state.withLock {
      title = text
      peak = Double((1 << bitDepth) - 1)
    }
  }

  /// Adds the result of a frame.
  /// - Parameters:
  ///   - result: the coded frame, nil if it was dropped, or why it was not coded.
  ///   - frame: the number of the frame, from 0, in the order in which the session got them.
  ///   - time: its time in seconds since the first frame.
  ///   - started: when it was passed to the session, by `SessionTime`.
  ///   - rate: the target bit rate in bits a second.
  func add(
    _ result: Result<CMSampleBuffer?, Failure>, frame: Int, time: Double, started: Double, rate: Int
  ) {
    guard case .success(let sample) = result else {
      finish(nil, token: nil, frame: frame)
      return
    }
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
    finish(entry, token: token, frame: frame)
  }

  /// Records that a frame has its result.
  private func finish(_ entry: Entry?, token: Int64?, frame: Int) {
    state.withLock {
      if let token { tokens.append((frame, token)) }
      if let entry { entries.append(entry) }
      finishedCount += 1
      state.broadcast()
    }
  }

  /// Removes and returns the tokens of long-term references that a receiver has acknowledged before
  /// a frame is encoded: those of all frames that are at least three frames older.
  ///
  /// It waits for the results of these frames, so that the stream does not depend on how fast the
  /// session is.
  /// - Parameter frame: the number of the frame, from 0. All frames before it have been passed to
  ///   the session.
  func takeAcknowledgedTokens(before frame: Int) -> [Int64] {
    state.withLock {
      while finishedCount <= frame - Self.acknowledgementDelay { state.wait() }
      let due = tokens.filter { $0.frame + Self.acknowledgementDelay <= frame }
      tokens.removeAll { $0.frame + Self.acknowledgementDelay <= frame }
      return due.map(\.token)
    }
  }
}
