// SPDX-License-Identifier: Apache-2.0
import Foundation

/// An asset whose file may be extended by fragments while it is open.
public protocol AVFragmentMinding {
  /// Whether an `AVFragmentedAssetMinder` monitors the asset.
  var isAssociatedWithFragmentMinder: Bool { get }
}

/// A movie in a file that may still be written in fragments. Its properties change while an
/// `AVFragmentedAssetMinder` monitors it. The asset then posts `AVAssetDurationDidChange`,
/// `AVAssetContainsFragmentsDidChange` and `AVAssetWasDefragmented`, and its tracks post
/// `AVAssetTrackTimeRangeDidChange` and `AVAssetTrackSegmentsDidChange`.
open class AVFragmentedAsset: AVURLAsset, AVFragmentMinding, @unchecked Sendable {
  // Sendable: `mindingLock` guards what changes.
  private let mindingLock = Lock()
  private var minders = 0

  /// Creates an asset; see `AVURLAsset.init(url:options:)`.
  public override init(url URL: URL, options: [String: Any]? = nil) { super.init(url: URL, options: options) }

  open var isAssociatedWithFragmentMinder: Bool { mindingLock.withLock { minders > 0 } }

  fileprivate func changeMinders(by count: Int) { mindingLock.withLock { minders += count } }

  override func makeTrack(_ properties: TrackDescription) -> AVAssetTrack {
    AVFragmentedAssetTrack(asset: self, properties: properties)
  }

  override open func track(withTrackID trackID: CMPersistentTrackID) -> AVFragmentedAssetTrack? {
    tracks.lazy.compactMap { $0 as? AVFragmentedAssetTrack }.first { $0.trackID == trackID }
  }

  /// Reads the file again, and posts notifications of what has changed.
  fileprivate func checkForChanges() {
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
      func range(_ properties: AssetDescription) -> CMTimeRange? {
        properties.tracks.first { $0.stream.trackID == track.trackID }?.timeRange
      }
      guard range(old) != range(new) else { continue }
      center.post(name: .AVAssetTrackTimeRangeDidChange, object: track)
      center.post(name: .AVAssetTrackSegmentsDidChange, object: track)
    }
  }
}

/// A track of a fragmented asset.
open class AVFragmentedAssetTrack: AVAssetTrack, @unchecked Sendable {
  // Sendable: the base class's lock guards what changes.
  private let number: CMPersistentTrackID

  override init(asset: AVAsset, properties: TrackDescription) {
    number = properties.stream.trackID
    super.init(asset: asset, properties: properties)
  }

  /// The description of the track in the current state of the file. If the track is no longer
  /// there, it is the original one.
  override var properties: TrackDescription {
    file.propertiesIfReadable?.tracks.first { $0.stream.trackID == number } ?? super.properties
  }
}

/// Monitors the files of assets at regular intervals for new fragments.
open class AVFragmentedAssetMinder: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  private let lock = Lock()
  private var mindedAssets: [any AVAsset & AVFragmentMinding] = []
  private var interval: TimeInterval
  private let timer: any DispatchSourceTimer

  /// The shortest and the longest interval, in seconds.
  private static let intervals = 0.001...86_400

  /// Creates a minder with one asset.
  /// - Parameters:
  ///   - asset: The asset; see `addFragmentedAsset(_:)`.
  ///   - mindingInterval: The interval in seconds; it is limited to the range from a millisecond to
  ///     a day.
  public init(asset: any AVAsset & AVFragmentMinding, mindingInterval: TimeInterval) {
    interval = Self.usable(mindingInterval)
    timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "AVFoundation.minder"))
    super.init()
    timer.setEventHandler { [weak self] in self?.checkForFragments() }
    addFragmentedAsset(asset)
    schedule()
    timer.resume()
  }

  deinit {
    timer.cancel()
    for asset in mindedAssets { (asset as? AVFragmentedAsset)?.changeMinders(by: -1) }
  }

  private static func usable(_ interval: TimeInterval) -> TimeInterval {
    interval.isNaN ? intervals.lowerBound : min(max(interval, intervals.lowerBound), intervals.upperBound)
  }

  private func schedule() {
    let interval = lock.withLock { self.interval }
    timer.schedule(deadline: .now() + interval, repeating: interval)
  }

  /// The interval between two examinations of the files, in seconds; it is limited to the range
  /// from a millisecond to a day.
  open var mindingInterval: TimeInterval {
    get { lock.withLock { interval } }
    set {
      lock.withLock { interval = Self.usable(newValue) }
      schedule()
    }
  }

  /// The monitored assets.
  open var assets: [any AVAsset & AVFragmentMinding] { lock.withLock { mindedAssets } }

  /// Adds an asset, which is retained. Only an `AVFragmentedAsset` is monitored.
  open func addFragmentedAsset(_ asset: any AVAsset & AVFragmentMinding) {
    let isNew = lock.withLock {
      guard !mindedAssets.contains(where: { $0 === asset }) else { return false }
      mindedAssets.append(asset)
      return true
    }
    if isNew { (asset as? AVFragmentedAsset)?.changeMinders(by: 1) }
  }

  /// Removes an asset.
  open func removeFragmentedAsset(_ asset: any AVAsset & AVFragmentMinding) {
    let wasThere = lock.withLock {
      let count = mindedAssets.count
      mindedAssets.removeAll { $0 === asset }
      return mindedAssets.count < count
    }
    if wasThere { (asset as? AVFragmentedAsset)?.changeMinders(by: -1) }
  }

  private func checkForFragments() {
    for asset in assets { (asset as? AVFragmentedAsset)?.checkForChanges() }
  }
}
