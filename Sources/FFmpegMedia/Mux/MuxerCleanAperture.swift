// SPDX-License-Identifier: Apache-2.0

extension MuxerTrack {
  /// The display size of the clean aperture in 16.16 fixed point, for the track header (ISO/IEC
  /// 14496-12, 8.3.2); nil if the track has none, or if the size does not fit there.
  var cleanSize: (width: Int, height: Int)? {
    guard let cleanAperture else { return nil }
    let hasAspect = sampleAspectRatio.num > 0 && sampleAspectRatio.den > 0
    let aspect = hasAspect ? Double(sampleAspectRatio.num) / Double(sampleAspectRatio.den) : 1
    func size(_ length: Double) -> Int? {
      let value = length * 65536
      return value >= 1 && value < Double(UInt32.max) ? Int(value.rounded()) : nil
    }
    guard let width = size(cleanAperture.width.value * aspect), let height = size(cleanAperture.height.value)
    else { return nil }
    return (width, height)
  }
}
