// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The captions that are shown over a range of time; none of them may be.
open class AVCaptionGroup: NSObject, @unchecked Sendable {
  // Sendable: immutable.
  public let captions: [AVCaption]
  public let timeRange: CMTimeRange

  public init(captions: [AVCaption], timeRange: CMTimeRange) {
    self.captions = captions.compactMap { $0.copy() as? AVCaption }
    self.timeRange = timeRange
    super.init()
  }

  /// Nothing is shown.
  public convenience init(timeRange: CMTimeRange) { self.init(captions: [], timeRange: timeRange) }
}

/// Makes groups of captions that may be shown at the same time: each lasts as long as the same captions are shown.
open class AVCaptionGrouper: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  private let lock = Lock()
  /// Those that have not ended, in the order in which they begin.
  private var captions: [AVCaption] = []
  /// Up to where groups were made.
  private var reached: CMTime?

  public override init() { super.init() }

  /// Adds a caption. One without a numeric start, or without a duration, is in no group.
  open func add(_ input: AVCaption) {
    let range = input.timeRange
    guard range.start.isNumeric, range.duration > .zero, let copy = input.copy() as? AVCaption else { return }
    lock.withLock {
      let place = captions.firstIndex { $0.timeRange.start > range.start } ?? captions.count
      captions.insert(copy, at: place)
    }
  }

  /// The groups from where the last call ended, or the first caption begins, up to a time. Between captions there is a group
  /// without any. A caption that goes on is in the next call's groups too; what is added later and begins before the time is
  /// there only from the time on.
  /// - Parameter upToTime: Positive infinity: up to the end of the last caption.
  open func flushAddedCaptions(upTo upToTime: CMTime) -> [AVCaptionGroup] {
    guard upToTime.isNumeric || upToTime == .positiveInfinity else { return [] }
    return lock.withLock {
      guard let first = captions.first else { return [] }
      var start = reached ?? first.timeRange.start
      var groups: [AVCaptionGroup] = []
      while start < upToTime {
        let shown = captions.filter { $0.timeRange.start <= start && $0.timeRange.end > start }
        let bounds =
          shown.map(\.timeRange.end)
          + captions.map(\.timeRange.start).filter { $0 > start }
        guard let next = bounds.min() else { break }
        let end = min(next, upToTime)
        groups.append(AVCaptionGroup(captions: shown, timeRange: CMTimeRange(start: start, end: end)))
        start = end
      }
      captions.removeAll { $0.timeRange.end <= start }
      reached = start
      return groups
    }
  }
}
