// SPDX-License-Identifier: Apache-2.0

/// The sample rates between which audio is converted.
///
/// Files may claim any rate, even in each frame. A second of audio at 1 Hz is a single sample, so
/// that a small file could last a day; and the resampling filter is longer the larger the ratio of
/// the two rates is.
enum SampleRates {
  /// Rates in hertz, from slow measurements to the bytes of DSD at 512 times 48 kHz.
  static let convertible = 1000...3_072_000
  /// The largest ratio of the source's rate to the result's.
  static let largestReduction = 512

  static func canConvert(from source: Int, to target: Int) -> Bool {
    source == target
      || convertible.contains(source) && target > 0 && source / target <= largestReduction
  }
}
