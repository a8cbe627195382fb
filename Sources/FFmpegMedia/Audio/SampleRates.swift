// SPDX-License-Identifier: Apache-2.0

/// Which sample rates sound is converted between.
///
/// Files say any rate, some in each frame. A second of sound at 1 Hz is one number, and a day of it a small file; and the
/// filter between two rates is as long as the one is a multiple of the other.
enum SampleRates {
  /// From slow measurements to the bytes of DSD at 512 times 48 kHz.
  static let convertible = 1000...3_072_000
  /// How many times slower the result may be.
  static let largestReduction = 512

  static func canConvert(from source: Int, to target: Int) -> Bool {
    source == target
      || convertible.contains(source) && target > 0 && source / target <= largestReduction
  }
}
