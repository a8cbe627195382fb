// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia

// Properties that control the stream's profile, entropy coding, GOP structure and slices.

extension CompressionProperty {
  static let streamRows: [CompressionProperty] = [
    CompressionProperty(
      key: kVTCompressionPropertyKey_ProfileLevel as String, type: .text, change: .nextKeyFrame,
      documentation: "Profile and level of the stream.",
      typeForEncoder: { .enumeration(ProfileLevel.names(for: $0)) },
      apply: { value, draft in
        guard let parsed = value.text.flatMap(ProfileLevel.init) else { return false }
        draft.configuration.profile = parsed.profile
        draft.configuration.level = parsed.level
        draft.hasProfile = true
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_H264EntropyMode as String,
      type: .enumeration([kVTH264EntropyMode_CAVLC as String, kVTH264EntropyMode_CABAC as String]),
      change: .nextKeyFrame,
      documentation: "How symbols are coded. CABAC where the profile has it, if not set.",
      feature: .entropyMode, codec: .h264,
      apply: { value, draft in
        draft.configuration.entropyMode = value.text == kVTH264EntropyMode_CAVLC as String ? .cavlc : .cabac
        return true
      }),
  ]

  static let structureRows: [CompressionProperty] = [
    CompressionProperty(
      key: kVTCompressionPropertyKey_MaxKeyFrameInterval as String, type: .integer(0...Int(Int32.max)),
      change: .nextKeyFrame,
      documentation: "Most frames from one key frame to the next. 0 leaves it to the encoder.",
      defaultValue: .number(0),
      apply: { value, draft in
        draft.configuration.maxKeyFrameInterval = value.integer ?? 0
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_MaxKeyFrameIntervalDuration as String, type: .number(0...1e9),
      change: .nextKeyFrame,
      documentation: "Most seconds from one key frame to the next. 0 is no limit.", defaultValue: .number(0),
      apply: { value, draft in
        draft.configuration.maxKeyFrameIntervalDuration = value.number ?? 0
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_AllowTemporalCompression as String, type: .boolean,
      change: .nextKeyFrame,
      documentation: "False makes each frame a key frame.", defaultValue: .boolean(true),
      apply: { value, draft in
        draft.configuration.allowsTemporalCompression = value.boolean ?? true
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_AllowFrameReordering as String, type: .boolean, change: .beforeFrames,
      documentation: "False keeps the frames in the order of presentation.",
      feature: .frameReordering, defaultValue: .boolean(true),
      apply: { value, draft in
        draft.configuration.allowsReordering = value.boolean ?? true
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_AllowOpenGOP as String, type: .boolean, change: .nextKeyFrame,
      documentation: "True lets frames refer across a key frame that they follow in decode order.",
      feature: .openGOP, defaultForEncoder: { .boolean($0.codec == .hevc) },
      apply: { value, draft in
        draft.configuration.allowsOpenGOP = value.boolean ?? false
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_ReferenceBufferCount as String, type: .integer(1...16),
      change: .nextKeyFrame,
      documentation: "Most frames that prediction may draw on. The encoder's own choice if not set.",
      feature: .referenceCount,
      apply: { value, draft in
        draft.configuration.referenceFrameCount = value.integer ?? 0
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_MaxH264SliceBytes as String, type: .integer(0...Int(Int32.max)),
      change: .nextKeyFrame,
      documentation: "Most bytes of one slice NAL unit, 100 and more. 0 is no limit.",
      feature: .sliceBytes, codec: .h264, defaultValue: .number(0),
      apply: { value, draft in
        guard let bytes = value.integer, bytes == 0 || bytes >= 100 else { return false }
        draft.configuration.maxSliceBytes = bytes
        return true
      }),
  ]

  /// Temporal layers and long-term references, which only the low-latency mode has.
  static let layerRows: [CompressionProperty] = [
    CompressionProperty(
      key: kVTCompressionPropertyKey_BaseLayerFrameRateFraction as String, type: .number(0.25...1),
      change: .nextFrame,
      documentation: "Share of the frames in the base layer: 1 (no layers), 0.5 or 0.25.",
      feature: .temporalLayers, defaultValue: .number(1),
      apply: { value, draft in
        guard let fraction = value.number, [0.25, 0.5, 1].contains(fraction) else { return false }
        draft.lowLatency.baseLayerFrameRateFraction = fraction
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_BaseLayerBitRateFraction as String, type: .number(0...1),
      change: .nextFrame,
      documentation:
        "Share of the bit rate for the base layer, if there are layers. 0.6 to 0.8 is recommended.",
      feature: .temporalLayers, defaultValue: .number(0.6),
      apply: { value, draft in
        draft.lowLatency.baseLayerBitRateFraction = value.number ?? 0.6
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_EnableLTR as String, type: .boolean, change: .nextFrame,
      documentation: "True makes the encoder mark long-term references for the receiver to acknowledge.",
      feature: .longTermReferences, defaultValue: .boolean(false),
      apply: { value, draft in
        draft.lowLatency.enablesLongTermReferences = value.boolean ?? false
        return true
      }),
  ]
}
