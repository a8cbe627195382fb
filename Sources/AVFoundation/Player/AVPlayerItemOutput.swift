// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Gives a program the media of an item that is played. This is the base class of
/// `AVPlayerItemVideoOutput`.
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

  /// The item's time at a time of the host clock in seconds.
  @discardableResult
  open func itemTime(forHostTime hostTimeInSeconds: CFTimeInterval) -> CMTime {
    guard hostTimeInSeconds.isFinite else { return .invalid }
    return itemTime(at: CMTime(nearest: hostTimeInSeconds, preferredTimescale: 1_000_000_000))
  }

  /// The item's time at a value of `mach_absolute_time()`, which is in nanoseconds.
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

/// Receives events of an output.
public protocol AVPlayerItemOutputPullDelegate: AnyObject {
  /// Called once after `requestNotificationOfMediaDataChange(withAdvanceInterval:)`, when the next
  /// picture has been decoded.
  func outputMediaDataWillChange(_ sender: AVPlayerItemOutput)
  /// Called after a seek, when the output has removed its pictures.
  func outputSequenceWasFlushed(_ output: AVPlayerItemOutput)
}

extension AVPlayerItemOutputPullDelegate {
  public func outputMediaDataWillChange(_ sender: AVPlayerItemOutput) {}
  public func outputSequenceWasFlushed(_ output: AVPlayerItemOutput) {}
}
