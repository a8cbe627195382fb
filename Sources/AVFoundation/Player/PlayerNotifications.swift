// SPDX-License-Identifier: Apache-2.0
import Foundation

extension NSNotification.Name {
  /// An item has been played to its end; the object is the item. Posted once for each arrival.
  public static let AVPlayerItemDidPlayToEndTime = NSNotification.Name(
    "AVPlayerItemDidPlayToEndTimeNotification")
  /// An item cannot be played to its end, or has been played as far as its file goes, which breaks off; the user info holds
  /// the error.
  public static let AVPlayerItemFailedToPlayToEndTime = NSNotification.Name(
    "AVPlayerItemFailedToPlayToEndTimeNotification")
  /// Media has not come in time. Never posted: time goes on here, and what comes too late is left out.
  public static let AVPlayerItemPlaybackStalled = NSNotification.Name(
    "AVPlayerItemPlaybackStalledNotification")
  /// An item's time has jumped, by a seek or a step.
  public static let AVPlayerItemTimeJumped = NSNotification.Name("AVPlayerItemTimeJumpedNotification")
}

/// In the user info of `AVPlayerItemFailedToPlayToEndTime`: the error.
public let AVPlayerItemFailedToPlayToEndTimeErrorKey: String = "AVPlayerItemFailedToPlayToEndTimeErrorKey"

extension AVPlayerItem {
  public static let playbackStalledNotification = NSNotification.Name.AVPlayerItemPlaybackStalled
  public static let didPlayToEndTimeNotification = NSNotification.Name.AVPlayerItemDidPlayToEndTime
  public static let failedToPlayToEndTimeNotification = NSNotification.Name.AVPlayerItemFailedToPlayToEndTime
  public static let timeJumpedNotification = NSNotification.Name.AVPlayerItemTimeJumped
}

extension AVPlayer {
  /// The rate has been set, by the program or because the item has ended; the user info says why.
  public static let rateDidChangeNotification = NSNotification.Name("AVPlayerRateDidChangeNotification")
  /// In the user info of `rateDidChangeNotification`: a `RateDidChangeReason`.
  public static let rateDidChangeReasonKey: String = "AVPlayerRateDidChangeReasonKey"

  /// Why the rate has changed.
  public struct RateDidChangeReason: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The program has set it.
    public static let setRateCalled = RateDidChangeReason(
      rawValue: "AVPlayerRateDidChangeReasonSetRateCalled")
    /// The item has failed.
    public static let setRateFailed = RateDidChangeReason(
      rawValue: "AVPlayerRateDidChangeReasonSetRateFailed")
  }
}
