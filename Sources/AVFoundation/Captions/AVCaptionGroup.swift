// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The captions that are shown during a time range. There may be none.
open class AVCaptionGroup: NSObject, @unchecked Sendable {
  // Sendable: immutable.
  public let captions: [AVCaption]
  public let timeRange: CMTimeRange

  public init(captions: [AVCaption], timeRange: CMTimeRange) {
    self.captions = captions.compactMap { $0.copy() as? AVCaption }
    self.timeRange = timeRange
    super.init()
  }

  /// Creates a group without captions.
  public convenience init(timeRange: CMTimeRange) { self.init(captions: [], timeRange: timeRange) }
}

/// Divides captions that may overlap into groups, during each of which the same captions are shown.
open class AVCaptionGrouper: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  private let lock = Lock()
  /// The captions that have not ended, ordered by start.
  private var captions: [AVCaption] = []
  /// The end of the groups that have been returned.
  private var reached: CMTime?

  public override init() { super.init() }

  /// Adds a caption. It is ignored if its start is not numeric or its duration is not positive.
  open func add(_ input: AVCaption) {
    let range = input.timeRange
    guard range.start.isNumeric, range.duration > .zero, let copy = input.copy() as? AVCaption else { return }
    lock.withLock {
      let index = captions.firstIndex { $0.timeRange.start > range.start } ?? captions.count
      captions.insert(copy, at: index)
    }
  }

  /// Returns the groups from the end of the previous call, or from the start of the first caption,
  /// up to a time. There are groups without captions for the time between captions. A caption that
  /// lasts longer also appears in the groups of the next call. A caption that is added later but
  /// begins before the end of this call is shown from that end on.
  /// - Parameter upToTime: The time; positive infinity for the end of the last caption.
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
