// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Items of metadata that belong together.
open class AVMetadataGroup: NSObject, @unchecked Sendable {
  // Sendable: subclasses guard what changes.
  open var items: [AVMetadataItem] { [] }
  /// What kind of group it is; nil: nothing is said of it.
  open var classifyingLabel: String? { nil }
  /// A name of its own in the movie; nil: it has none.
  open var uniqueID: String? { nil }
}

/// Items that hold for a range of a movie's time, such as the title of a chapter.
open class AVTimedMetadataGroup: AVMetadataGroup, NSCopying, NSMutableCopying, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  fileprivate let lock = Lock()
  fileprivate var stored: (items: [AVMetadataItem], range: CMTimeRange)

  /// - Parameters:
  ///   - items: What holds.
  ///   - timeRange: When. An invalid or indefinite duration: until the next group.
  public init(items: [AVMetadataItem], timeRange: CMTimeRange) {
    stored = (items, timeRange)
    super.init()
  }

  /// The items of a sample of timed metadata in boxes ('mebx'), as `AVAssetReaderTrackOutput` gives it, each with the sample's
  /// times.
  /// - Returns: nil for another sample buffer, for one whose data is not ready, and for damaged boxes.
  public init?(sampleBuffer: CMSampleBuffer) {
    guard let read = TimedMetadataCoding.group(of: sampleBuffer) else { return nil }
    stored = read
    super.init()
  }

  open override var items: [AVMetadataItem] { lock.withLock { stored.items } }
  open var timeRange: CMTimeRange { lock.withLock { stored.range } }

  /// A description of samples that hold such items: their identifiers, data types and languages. nil if the group has no items,
  /// or one without an identifier or a data type that is known.
  open func copyFormatDescription() -> CMMetadataFormatDescription? {
    TimedMetadataCoding.description(of: items)
  }

  /// A group that does not change with this one.
  open func copy(with zone: NSZone? = nil) -> Any {
    let (items, range) = lock.withLock { stored }
    return AVTimedMetadataGroup(items: items, timeRange: range)
  }

  /// A group that can be changed on its own.
  open func mutableCopy(with zone: NSZone? = nil) -> Any {
    let (items, range) = lock.withLock { stored }
    return AVMutableTimedMetadataGroup(items: items, timeRange: range)
  }
}

/// A group that a program makes step by step.
open class AVMutableTimedMetadataGroup: AVTimedMetadataGroup, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  open override var items: [AVMetadataItem] {
    get { lock.withLock { stored.items } }
    set { lock.withLock { stored.items = newValue } }
  }
  open override var timeRange: CMTimeRange {
    get { lock.withLock { stored.range } }
    set { lock.withLock { stored.range = newValue } }
  }
}

/// Items that hold for a range of dates.
open class AVDateRangeMetadataGroup: AVMetadataGroup, NSCopying, NSMutableCopying, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  fileprivate let lock = Lock()
  fileprivate var stored: (items: [AVMetadataItem], start: Date, end: Date?)

  /// - Parameters:
  ///   - items: What holds.
  ///   - startDate: From when.
  ///   - endDate: Until when; nil: nobody knows.
  public init(items: [AVMetadataItem], start startDate: Date, end endDate: Date?) {
    stored = (items, startDate, endDate)
    super.init()
  }

  open override var items: [AVMetadataItem] { lock.withLock { stored.items } }
  open var startDate: Date { lock.withLock { stored.start } }
  open var endDate: Date? { lock.withLock { stored.end } }

  /// A group that does not change with this one.
  open func copy(with zone: NSZone? = nil) -> Any {
    let (items, start, end) = lock.withLock { stored }
    return AVDateRangeMetadataGroup(items: items, start: start, end: end)
  }

  /// A group that can be changed on its own.
  open func mutableCopy(with zone: NSZone? = nil) -> Any {
    let (items, start, end) = lock.withLock { stored }
    return AVMutableDateRangeMetadataGroup(items: items, start: start, end: end)
  }
}

/// A group that a program makes step by step.
open class AVMutableDateRangeMetadataGroup: AVDateRangeMetadataGroup, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  open override var items: [AVMetadataItem] {
    get { lock.withLock { stored.items } }
    set { lock.withLock { stored.items = newValue } }
  }
  open override var startDate: Date {
    get { lock.withLock { stored.start } }
    set { lock.withLock { stored.start = newValue } }
  }
  open override var endDate: Date? {
    get { lock.withLock { stored.end } }
    set { lock.withLock { stored.end = newValue } }
  }
}
