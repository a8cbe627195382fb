// SPDX-License-Identifier: Apache-2.0
import Foundation

extension NSNotification.Name {
  /// Posted each time an item has been played to its end. The object is the item.
  public static let AVPlayerItemDidPlayToEndTime = NSNotification.Name(
    "AVPlayerItemDidPlayToEndTimeNotification")
  /// Posted when an item cannot be played to its end, because it has failed or because its file
  /// cannot be read any further. The user info contains the error.
  public static let AVPlayerItemFailedToPlayToEndTime = NSNotification.Name(
    "AVPlayerItemFailedToPlayToEndTimeNotification")
  /// Apple posts this notification when media has not arrived in time. It is never posted here,
  /// because time continues and late pictures and audio are skipped.
  public static let AVPlayerItemPlaybackStalled = NSNotification.Name(
    "AVPlayerItemPlaybackStalledNotification")
  /// Posted when an item's time has jumped because of a seek or a step.
  public static let AVPlayerItemTimeJumped = NSNotification.Name("AVPlayerItemTimeJumpedNotification")
}

/// The key of the error in the user info of `AVPlayerItemFailedToPlayToEndTime`.
public let AVPlayerItemFailedToPlayToEndTimeErrorKey: String = "AVPlayerItemFailedToPlayToEndTimeErrorKey"

extension AVPlayerItem {
  public static let playbackStalledNotification = NSNotification.Name.AVPlayerItemPlaybackStalled
  public static let didPlayToEndTimeNotification = NSNotification.Name.AVPlayerItemDidPlayToEndTime
  public static let failedToPlayToEndTimeNotification = NSNotification.Name.AVPlayerItemFailedToPlayToEndTime
  public static let timeJumpedNotification = NSNotification.Name.AVPlayerItemTimeJumped
}

extension AVPlayer {
  /// Posted when the rate has been changed by the program, at the end of the item, or because the
  /// item has failed. The user info contains the reason, except at the end of an item.
  public static let rateDidChangeNotification = NSNotification.Name("AVPlayerRateDidChangeNotification")
  /// The key in the user info of `rateDidChangeNotification`. The value is the raw value of a
  /// `RateDidChangeReason`.
  public static let rateDidChangeReasonKey: String = "AVPlayerRateDidChangeReasonKey"

  /// The reasons for a change of the rate.
  public struct RateDidChangeReason: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The program has set the rate.
    public static let setRateCalled = RateDidChangeReason(
      rawValue: "AVPlayerRateDidChangeReasonSetRateCalled")
    /// The item has failed.
    public static let setRateFailed = RateDidChangeReason(
      rawValue: "AVPlayerRateDidChangeReasonSetRateFailed")
  }
}
