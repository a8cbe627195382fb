// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Statistics of the pictures that a window has shown.
public struct OVTDisplayStatistics: Sendable {
  /// The number of pictures that were shown.
  public var shown = 0
  /// The number of pictures that were dropped because a later one was due.
  public var dropped = 0
  /// For each picture that was shown while time advanced, the time in seconds from its due time
  /// until it was handed to the screen; negative if it was early. In the order of presentation. At
  /// least the last 65,536 and fewer than 131,073 pictures are kept.
  public var errors: [Double] = []
  /// The refresh rate of the screen in hertz; 0 if it is unknown.
  public var refreshRate = 0.0
  /// SDL's name of the renderer: `opengl`, `software`, ...
  public var renderer = ""
  /// SDL's name of the video driver: `x11`, `wayland`, `dummy`, ...
  public var driver = ""

  /// A percentile of values, by the nearest-rank method.
  ///
  /// - Parameters:
  ///   - fraction: From 0 to 1; for example 0.95 for the 95th percentile.
  ///   - values: The values, in any order.
  /// - Returns: The percentile; nil without values.
  public static func percentile(_ fraction: Double, of values: [Double]) -> Double? {
    guard !values.isEmpty, fraction.isFinite else { return nil }
    let rank = Int((Double(values.count) * min(max(fraction, 0), 1)).rounded(.up))
    return values.sorted()[max(0, rank - 1)]
  }
}
