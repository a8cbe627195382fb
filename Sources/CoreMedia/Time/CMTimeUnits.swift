// SPDX-License-Identifier: Apache-2.0

extension CMTime {
  /// Converts the time to units of a timescale. Values that do not fit into `Int64` are clamped,
  /// since files and programs may contain any time.
  package func units(_ scale: CMTimeScale, _ method: CMTimeRoundingMethod) -> Int64 {
    let scaled = CMTimeConvertScale(self, timescale: scale, method: method)
    if scaled.isNumeric { return scaled.value }
    guard isNumeric || isPositiveInfinity || isNegativeInfinity else { return 0 }
    return self > .zero ? .max : .min
  }
}
