// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia

/// Settings for a purpose, as dictionaries of properties that a client applies with
/// `VTSessionSetProperties`.
enum CompressionPreset {
  /// The presets that make sense for an encoder, by name.
  static func dictionary(for encoder: EncoderDescription) -> NSDictionary {
    let presets: [(CFString, [(CFString, Any)])]
    if encoder.isLowLatency {
      presets = [
        (
          kVTCompressionPreset_VideoConferencing,
          [
            (kVTCompressionPropertyKey_RealTime, true),
            (kVTCompressionPropertyKey_PrioritizeEncodingSpeedOverQuality, true),
            (kVTCompressionPropertyKey_MaxKeyFrameInterval, 0),
            (kVTCompressionPropertyKey_MaxKeyFrameIntervalDuration, 0),
            (kVTCompressionPropertyKey_SpatialAdaptiveQPLevel, kVTQPModulationLevel_Default),
          ]
        )
      ]
    } else {
      presets = [
        (
          kVTCompressionPreset_Balanced,
          [
            (kVTCompressionPropertyKey_RealTime, false),
            (kVTCompressionPropertyKey_AllowFrameReordering, true),
            (kVTCompressionPropertyKey_AllowTemporalCompression, true),
            (kVTCompressionPropertyKey_SpatialAdaptiveQPLevel, kVTQPModulationLevel_Default),
          ]
        ),
        (
          kVTCompressionPreset_HighQuality,
          [
            (kVTCompressionPropertyKey_RealTime, false),
            (kVTCompressionPropertyKey_PrioritizeEncodingSpeedOverQuality, false),
            (kVTCompressionPropertyKey_AllowFrameReordering, true),
            (kVTCompressionPropertyKey_AllowTemporalCompression, true),
            (kVTCompressionPropertyKey_SpatialAdaptiveQPLevel, kVTQPModulationLevel_Default),
            (kVTCompressionPropertyKey_SuggestedLookAheadFrameCount, 50),
          ]
        ),
        (
          kVTCompressionPreset_HighSpeed,
          [
            (kVTCompressionPropertyKey_RealTime, false),
            (kVTCompressionPropertyKey_PrioritizeEncodingSpeedOverQuality, true),
            (kVTCompressionPropertyKey_AllowFrameReordering, true),
            (kVTCompressionPropertyKey_AllowTemporalCompression, true),
            (kVTCompressionPropertyKey_SpatialAdaptiveQPLevel, kVTQPModulationLevel_Default),
          ]
        ),
      ]
    }
    let table = CompressionPropertyTable(encoder: encoder)
    let result = NSMutableDictionary()
    for (name, settings) in presets {
      // Properties that the encoder does not have are left out, so that applying a preset never
      // fails.
      let known = settings.filter { table[$0.0 as String] != nil }
      result[name] = NSDictionary(
        dictionary: Dictionary(uniqueKeysWithValues: known.map { ($0.0 as String, $0.1) }))
    }
    return result
  }
}
