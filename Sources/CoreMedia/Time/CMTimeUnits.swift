// SPDX-License-Identifier: Apache-2.0

extension CMTime {
  /// Converts the time to units of a time scale. Values that `Int64` cannot hold are clamped,
  /// because files and programs may contain any time.
  package func units(_ scale: CMTimeScale, _ method: CMTimeRoundingMethod) -> Int64 {
    let scaled = CMTimeConvertScale(self, timescale: scale, method: method)
    if scaled.isNumeric { return scaled.value }
    guard isNumeric || isPositiveInfinity || isNegativeInfinity else { return 0 }
    return self > .zero ? .max : .min
  }
}
