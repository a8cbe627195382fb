// SPDX-License-Identifier: Apache-2.0
/// How much the last pictures referred to others than the first reference. Where that is little, one reference takes less time, and no
/// bits to say which.
struct ReferenceUse {
  /// So many pictures after the last one that had the choice, one has it again: no multiple of the quality cascade's four, where the picture
  /// before would always be a better one, or never.
  static let interval: UInt64 = 7
  /// What is left of an earlier picture's share a picture later.
  private static let fading = 0.8

  /// The largest share of the last pictures, as it fades.
  private var share = 1.0
  /// Index of the last picture that had the choice.
  private var last: UInt64 = 0

  /// Whether the picture should have several references.
  /// - Parameter least: the least share, 0...1, that is worth it.
  func isWorthIt(index: UInt64, least: Double) -> Bool {
    share >= least || index >= last + Self.interval
  }

  /// Takes what a picture that had the choice made of it.
  /// - Parameters:
  ///   - farther: its macroblocks that refer to others than the first.
  ///   - inter: all that are inter and not skipped.
  mutating func take(index: UInt64, farther: Int, inter: Int) {
    last = index
    share *= Self.fading
    if inter > 0 { share = max(share, Double(farther) / Double(inter)) }
  }
}
