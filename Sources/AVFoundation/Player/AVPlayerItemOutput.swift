// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Takes what an item plays out of it. Use `AVPlayerItemVideoOutput`.
open class AVPlayerItemOutput: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  private let lock = Lock()
  private weak var owner: AVPlayerItem?

  override init() { super.init() }

  var item: AVPlayerItem? { lock.withLock { owner } }

  func attach(to item: AVPlayerItem) -> Bool {
    lock.withLock {
      guard owner == nil else { return false }
      owner = item
      return true
    }
  }

  func detach() { lock.withLock { owner = nil } }

  /// The item's time at a moment of the host's clock, in seconds.
  @discardableResult
  open func itemTime(forHostTime hostTimeInSeconds: CFTimeInterval) -> CMTime {
    guard hostTimeInSeconds.isFinite else { return .invalid }
    return itemTime(at: CMTime(nearest: hostTimeInSeconds, preferredTimescale: 1_000_000_000))
  }

  /// The item's time at a moment of `mach_absolute_time()`.
  @discardableResult
  open func itemTime(forMachAbsoluteTime machAbsoluteTime: Int64) -> CMTime {
    itemTime(at: CMTime(value: machAbsoluteTime, timescale: 1_000_000_000))
  }

  private func itemTime(at hostTime: CMTime) -> CMTime {
    guard let timebase = item?.playback.timebase else { return .invalid }
    guard CMTimebaseGetRate(timebase) != 0 else { return CMTimebaseGetTime(timebase) }
    return CMSyncConvertTime(hostTime, from: CMClockGetHostTimeClock(), to: timebase)
  }
}

/// Hears of an output's pictures.
public protocol AVPlayerItemOutputPullDelegate: AnyObject {
  /// Pictures are there, or will be soon, after `requestNotificationOfMediaDataChange(withAdvanceInterval:)`.
  func outputMediaDataWillChange(_ sender: AVPlayerItemOutput)
  /// What was there is gone: the item was told to go elsewhere.
  func outputSequenceWasFlushed(_ output: AVPlayerItemOutput)
}

extension AVPlayerItemOutputPullDelegate {
  public func outputMediaDataWillChange(_ sender: AVPlayerItemOutput) {}
  public func outputSequenceWasFlushed(_ output: AVPlayerItemOutput) {}
}
