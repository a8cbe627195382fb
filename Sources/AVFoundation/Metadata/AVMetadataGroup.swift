// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A group of metadata items.
open class AVMetadataGroup: NSObject, @unchecked Sendable {
  // Sendable: subclasses guard what changes.
  open var items: [AVMetadataItem] { [] }
  /// A label that classifies the group; nil for none.
  open var classifyingLabel: String? { nil }
  /// A name of the group that is unique in the movie; nil for none.
  open var uniqueID: String? { nil }
}

/// Metadata items that apply to a time range of a movie, such as the title of a chapter.
open class AVTimedMetadataGroup: AVMetadataGroup, NSCopying, NSMutableCopying, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  fileprivate let lock = Lock()
  fileprivate var stored: (items: [AVMetadataItem], range: CMTimeRange)

  /// Creates a group.
  /// - Parameters:
  ///   - items: The items.
  ///   - timeRange: The range to which they apply. An invalid or indefinite duration extends it to
  ///     the next group.
  public init(items: [AVMetadataItem], timeRange: CMTimeRange) {
    stored = (items, timeRange)
    super.init()
  }

  /// Creates a group from a sample of boxed timed metadata ('mebx'), as `AVAssetReaderTrackOutput`
  /// delivers it. Each item gets the sample's times.
  /// - Parameter sampleBuffer: A sample buffer with one sample.
  /// - Returns: Nil for other sample buffers, for those whose data is not ready, and for malformed
  ///   boxes.
  public init?(sampleBuffer: CMSampleBuffer) {
    guard let read = TimedMetadataCoding.group(of: sampleBuffer) else { return nil }
    stored = read
    super.init()
  }

  open override var items: [AVMetadataItem] { lock.withLock { stored.items } }
  open var timeRange: CMTimeRange { lock.withLock { stored.range } }

  /// Returns a format description for samples with these items: their identifiers, data types and
  /// languages. Nil if the group is empty, or an item has no identifier or no known data type.
  open func copyFormatDescription() -> CMMetadataFormatDescription? {
    TimedMetadataCoding.description(of: items)
  }

  /// Returns an `AVTimedMetadataGroup` that later changes of this group do not affect.
  open func copy(with zone: NSZone? = nil) -> Any {
    let (items, range) = lock.withLock { stored }
    return AVTimedMetadataGroup(items: items, timeRange: range)
  }

  /// Returns an `AVMutableTimedMetadataGroup` that can be changed independently.
  open func mutableCopy(with zone: NSZone? = nil) -> Any {
    let (items, range) = lock.withLock { stored }
    return AVMutableTimedMetadataGroup(items: items, timeRange: range)
  }
}

/// A group that can be modified.
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

/// Metadata items that apply to a range of dates.
open class AVDateRangeMetadataGroup: AVMetadataGroup, NSCopying, NSMutableCopying, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  fileprivate let lock = Lock()
  fileprivate var stored: (items: [AVMetadataItem], start: Date, end: Date?)

  /// Creates a group.
  /// - Parameters:
  ///   - items: The items.
  ///   - startDate: The date from which they apply.
  ///   - endDate: The date until which they apply; nil if it is unknown.
  public init(items: [AVMetadataItem], start startDate: Date, end endDate: Date?) {
    stored = (items, startDate, endDate)
    super.init()
  }

  open override var items: [AVMetadataItem] { lock.withLock { stored.items } }
  open var startDate: Date { lock.withLock { stored.start } }
  open var endDate: Date? { lock.withLock { stored.end } }

  /// Returns an `AVDateRangeMetadataGroup` that later changes of this group do not affect.
  open func copy(with zone: NSZone? = nil) -> Any {
    let (items, start, end) = lock.withLock { stored }
    return AVDateRangeMetadataGroup(items: items, start: start, end: end)
  }

  /// Returns an `AVMutableDateRangeMetadataGroup` that can be changed independently.
  open func mutableCopy(with zone: NSZone? = nil) -> Any {
    let (items, start, end) = lock.withLock { stored }
    return AVMutableDateRangeMetadataGroup(items: items, start: start, end: end)
  }
}

/// A group that can be modified.
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
