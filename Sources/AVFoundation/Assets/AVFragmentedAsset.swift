// SPDX-License-Identifier: Apache-2.0
import Foundation

/// An asset whose file may go on in fragments while it is open.
public protocol AVFragmentMinding {
  /// Whether an `AVFragmentedAssetMinder` looks after the asset.
  var isAssociatedWithFragmentMinder: Bool { get }
}

/// A movie in a file that may still be written, in fragments. What is known of it changes while an `AVFragmentedAssetMinder`
/// looks after it; see the notifications `AVAssetDurationDidChange`, `AVAssetContainsFragmentsDidChange`,
/// `AVAssetWasDefragmented`, and of its tracks `AVAssetTrackTimeRangeDidChange` and `AVAssetTrackSegmentsDidChange`.
open class AVFragmentedAsset: AVURLAsset, AVFragmentMinding, @unchecked Sendable {
  // Sendable: `mindingLock` guards what changes.
  private let mindingLock = Lock()
  private var minders = 0

  /// Makes an asset; see `AVURLAsset.init(url:options:)`.
  public override init(url URL: URL, options: [String: Any]? = nil) { super.init(url: URL, options: options) }

  open var isAssociatedWithFragmentMinder: Bool { mindingLock.withLock { minders > 0 } }

  fileprivate func changeMinders(by count: Int) { mindingLock.withLock { minders += count } }

  override func makeTrack(_ facts: TrackFacts) -> AVAssetTrack {
    AVFragmentedAssetTrack(asset: self, facts: facts)
  }

  override open func track(withTrackID trackID: CMPersistentTrackID) -> AVFragmentedAssetTrack? {
    tracks.lazy.compactMap { $0 as? AVFragmentedAssetTrack }.first { $0.trackID == trackID }
  }

  /// Looks at the file again, and tells what has changed.
  fileprivate func mind() {
    let wasFragmented = containsFragments
    guard let (old, new) = file.refresh() else { return }
    let center = NotificationCenter.default
    if old.duration != new.duration { center.post(name: .AVAssetDurationDidChange, object: self) }
    if wasFragmented != containsFragments {
      center.post(name: .AVAssetContainsFragmentsDidChange, object: self)
      if wasFragmented { center.post(name: .AVAssetWasDefragmented, object: self) }
    }
    for track in tracks {
      track.forgetSamples()
      func range(_ facts: AssetFacts) -> CMTimeRange? {
        facts.tracks.first { $0.stream.trackID == track.trackID }?.timeRange
      }
      guard range(old) != range(new) else { continue }
      center.post(name: .AVAssetTrackTimeRangeDidChange, object: track)
      center.post(name: .AVAssetTrackSegmentsDidChange, object: track)
    }
  }
}

/// A track of an asset whose file may still be written.
open class AVFragmentedAssetTrack: AVAssetTrack, @unchecked Sendable {
  // Sendable: the base class's lock guards what changes.
  private let number: CMPersistentTrackID

  override init(asset: AVAsset, facts: TrackFacts) {
    number = facts.stream.trackID
    super.init(asset: asset, facts: facts)
  }

  /// As the file is now; a track that is there no more is what it was.
  override var facts: TrackFacts {
    file.factsIfReadable?.tracks.first { $0.stream.trackID == number } ?? super.facts
  }
}

/// Looks at the files of assets again and again, for fragments that have been written meanwhile.
open class AVFragmentedAssetMinder: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  private let lock = Lock()
  private var minded: [any AVAsset & AVFragmentMinding] = []
  private var interval: TimeInterval
  private let timer: any DispatchSourceTimer

  /// The shortest and the longest interval, in seconds.
  private static let intervals = 0.001...86_400

  /// - Parameters:
  ///   - asset: What to look after first; see `addFragmentedAsset(_:)`.
  ///   - mindingInterval: Seconds between two looks; from a millisecond to a day.
  public init(asset: any AVAsset & AVFragmentMinding, mindingInterval: TimeInterval) {
    interval = Self.usable(mindingInterval)
    timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "AVFoundation.minder"))
    super.init()
    timer.setEventHandler { [weak self] in self?.look() }
    addFragmentedAsset(asset)
    schedule()
    timer.resume()
  }

  deinit {
    timer.cancel()
    for asset in minded { (asset as? AVFragmentedAsset)?.changeMinders(by: -1) }
  }

  private static func usable(_ interval: TimeInterval) -> TimeInterval {
    interval.isNaN ? intervals.lowerBound : min(max(interval, intervals.lowerBound), intervals.upperBound)
  }

  private func schedule() {
    let interval = lock.withLock { self.interval }
    timer.schedule(deadline: .now() + interval, repeating: interval)
  }

  /// Seconds between two looks.
  open var mindingInterval: TimeInterval {
    get { lock.withLock { interval } }
    set {
      lock.withLock { interval = Self.usable(newValue) }
      schedule()
    }
  }

  /// What is looked after.
  open var assets: [any AVAsset & AVFragmentMinding] { lock.withLock { minded } }

  /// Looks after an asset, which is held: an `AVFragmentedAsset`; of others nothing changes.
  open func addFragmentedAsset(_ asset: any AVAsset & AVFragmentMinding) {
    let isNew = lock.withLock {
      guard !minded.contains(where: { $0 === asset }) else { return false }
      minded.append(asset)
      return true
    }
    if isNew { (asset as? AVFragmentedAsset)?.changeMinders(by: 1) }
  }

  /// Looks after an asset no more.
  open func removeFragmentedAsset(_ asset: any AVAsset & AVFragmentMinding) {
    let wasThere = lock.withLock {
      let count = minded.count
      minded.removeAll { $0 === asset }
      return minded.count < count
    }
    if wasThere { (asset as? AVFragmentedAsset)?.changeMinders(by: -1) }
  }

  private func look() {
    for asset in assets { (asset as? AVFragmentedAsset)?.mind() }
  }
}
