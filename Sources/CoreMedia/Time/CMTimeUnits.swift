// SPDX-License-Identifier: Apache-2.0

extension CMTime {
  /// In units of a time scale; the nearest number where there is none, as a file or a program may claim any time.
  package func units(_ scale: CMTimeScale, _ method: CMTimeRoundingMethod) -> Int64 {
    let scaled = CMTimeConvertScale(self, timescale: scale, method: method)
    if scaled.isNumeric { return scaled.value }
    guard isNumeric || isPositiveInfinity || isNegativeInfinity else { return 0 }
    return self > .zero ? .max : .min
  }
}
