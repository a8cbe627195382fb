// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// The samples that wait to be sent to a server: in the order of their decode times, bounded in
/// duration, and after a gap beginning with a key frame. Its clock are the samples' decode times.
struct LiveQueue {
  struct Entry {
    var buffer: CMSampleBuffer
    var track: Int
    var time: CMTime
    var isPicture: Bool
    var isKey: Bool
  }

  private let isVideo: [Bool]
  private let longest: CMTime
  private let congested: CMTime
  private var interleaver: SampleInterleaver<Entry>
  private var ready = SampleQueue<Entry>()
  private var last: [CMTime?]
  /// Whether pictures are left out up to the next key frame, and whether for want of a connection.
  private var gap: Gap?
  private var dropped = 0
  private var lost = 0
  private var largest = CMTime.zero
  private var scale = 1.0
  private var changed = CMTime.negativeInfinity

  private enum Gap { case full, away }

  /// The factor by which the rate falls while the queue is long, and rises when it is short.
  private static let decrease = 0.7
  private static let increase = 1.15
  private static let minScale = 0.1
  /// The time between two decreases, and before an increase.
  private static let decreasePause = CMTime(value: 2, timescale: 1)
  private static let increasePause = CMTime(value: 8, timescale: 1)

  /// - Parameters:
  ///   - isVideo: by track, whether its samples are pictures.
  ///   - longest: the duration of samples that may wait.
  ///   - congested: the duration of waiting samples above which the rate should fall.
  init(isVideo: [Bool], longest: CMTime, congested: CMTime) {
    (self.isVideo, self.longest, self.congested) = (isVideo, longest, congested)
    // A track that gives nothing for this long does not hold up the others.
    interleaver = SampleInterleaver(tracks: isVideo.count, timeout: CMTime(value: 3, timescale: 1))
    last = Array(repeating: nil, count: isVideo.count)
  }

  private var span: CMTime {
    guard let first = ready.first, let end = ready.last else { return .zero }
    return end.time - first.time
  }

  var isFull: Bool { span > longest }

  func report(to counts: inout OVTLiveOutput.Statistics) {
    (counts.droppedPictureCount, counts.lostPictureCount) = (dropped, lost)
    (counts.queuedDuration, counts.largestQueuedDuration) = (span, largest)
    counts.bitRateScale = scale
  }

  /// Whether a decode time is later than that of the track's last sample.
  func follows(_ time: CMTime, in track: Int) -> Bool { last[track].map { time > $0 } ?? true }

  /// Adds a sample.
  /// - Parameters:
  ///   - isAway: whether there is no connection, so that the sample is left out.
  ///   - isConnected: whether samples are being sent, so that a long queue tells of a slow network.
  ///   - mayDrop: whether samples are left out if too many wait.
  /// - Returns: the event to report to the program.
  mutating func push(
    _ buffer: CMSampleBuffer, at time: CMTime, to track: Int, isAway: Bool, isConnected: Bool, mayDrop: Bool
  ) -> [OVTLiveOutput.Event] {
    last[track] = time
    let attributes =
      CMSampleBufferGetSampleAttachmentsArray(buffer, createIfNecessary: false) as? [[CFString: Any]]
    let isKey = !((attributes?.first?[kCMSampleAttachmentKey_NotSync] as? Bool) ?? false)
    let entry = Entry(buffer: buffer, track: track, time: time, isPicture: isVideo[track], isKey: isKey)
    interleaver.push(entry, at: time, to: track)
    takeReady(isAway: isAway)
    guard mayDrop, !isAway else { return [] }
    return relieve(now: time, mayChangeRate: isConnected)
  }

  mutating func end(_ track: Int, isAway: Bool) {
    interleaver.end(track)
    takeReady(isAway: isAway)
  }

  mutating func endAll(isAway: Bool) { takeReady(isAway: isAway, isLast: true) }

  private mutating func takeReady(isAway: Bool, isLast: Bool = false) {
    while let entry = interleaver.pop(isLast: isLast) {
      if isAway { gap = .away }
      if !isAway, gap != nil, entry.isPicture ? entry.isKey : !isVideo.contains(true) { gap = nil }
      if let gap {
        if entry.isPicture { if gap == .away { lost += 1 } else { dropped += 1 } }
      } else {
        ready.append(entry)
      }
    }
    largest = max(largest, span)
  }

  /// Lowers the rate while samples wait for long, and leaves out all of them when too many wait.
  private mutating func relieve(now: CMTime, mayChangeRate: Bool) -> [OVTLiveOutput.Event] {
    var events: [OVTLiveOutput.Event] = []
    let span = span
    if span > longest {
      let pictures = clear()
      dropped += pictures
      gap = .full
      events += [.dropped(pictures: pictures), .keyFrameNeeded]
    }
    guard mayChangeRate else { return events }
    if span > congested, now - changed > Self.decreasePause, scale > Self.minScale {
      scale = max(Self.minScale, scale * Self.decrease)
      changed = now
      events.append(.bitRateScale(scale))
    } else if scale < 1, span.seconds < congested.seconds / 4, now - changed > Self.increasePause {
      scale = min(1, scale * Self.increase)
      changed = now
      events.append(.bitRateScale(scale))
    }
    return events
  }

  /// Removes the samples that are ready.
  /// - Returns: the number of pictures among them.
  private mutating func clear() -> Int {
    var pictures = 0
    while let entry = ready.popFirst() { if entry.isPicture { pictures += 1 } }
    return pictures
  }

  /// Leaves out the samples that wait, since the connection was lost.
  mutating func lose() {
    lost += clear()
    gap = .away
    // The next connection may be a better one.
    scale = 1
  }

  mutating func pop() -> Entry? { ready.popFirst() }
}
