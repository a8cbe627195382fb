// SPDX-License-Identifier: Apache-2.0
import Foundation

/// How pictures came to the screen.
public struct OVTDisplayStatistics: Sendable {
  /// Pictures that were shown.
  public var shown = 0
  /// Pictures that were over before they could be shown.
  public var dropped = 0
  /// Seconds from the moment at which a picture was due until it had been handed to the screen, in the order of
  /// showing, while time went on; below zero: it was early. The last 65,536 of them.
  public var errors: [Double] = []
  /// Refreshes of the screen in a second; 0 if it does not say.
  public var refreshRate = 0.0
  /// What draws: `opengl`, `software`, ...
  public var renderer = ""
  /// What shows: `x11`, `wayland`, `dummy`, ...
  public var driver = ""

  /// A value that a share of numbers does not exceed, by rank; nil without numbers.
  ///
  /// Of the parameters:
  ///
  /// - `share`: From 0 to 1; 0.95 is the 95th percentile.
  public static func percentile(_ share: Double, of values: [Double]) -> Double? {
    guard !values.isEmpty, share.isFinite else { return nil }
    let rank = Int((Double(values.count) * min(max(share, 0), 1)).rounded(.up))
    return values.sorted()[max(0, rank - 1)]
  }
}
