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
open class AVTimedMetadataGroup: AVMetadataGroup, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  fileprivate let lock = Lock()
  fileprivate var stored: (items: [AVMetadataItem], range: CMTimeRange)

  public init(items: [AVMetadataItem], timeRange: CMTimeRange) {
    stored = (items, timeRange)
    super.init()
  }

  open override var items: [AVMetadataItem] { lock.withLock { stored.items } }
  open var timeRange: CMTimeRange { lock.withLock { stored.range } }
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
