// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia

// Properties that control the stream's profile, entropy coding, GOP structure and slices.

extension CompressionProperty {
  static let streamRows: [CompressionProperty] = [
    CompressionProperty(
      key: kVTCompressionPropertyKey_ProfileLevel as String, type: .text, change: .nextKeyFrame,
      documentation: "The profile and level of the stream. The encoder decides if not set.",
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
      documentation: "The entropy coding, CAVLC or CABAC. Default: CABAC if the profile has it.",
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
      documentation:
        "The largest number of frames from one key frame to the next. Default: 0, the encoder decides.",
      defaultValue: .number(0),
      apply: { value, draft in
        draft.configuration.maxKeyFrameInterval = value.integer ?? 0
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_MaxKeyFrameIntervalDuration as String, type: .number(0...1e9),
      change: .nextKeyFrame,
      documentation: "The largest number of seconds from one key frame to the next. Default: 0, no limit.",
      defaultValue: .number(0),
      apply: { value, draft in
        draft.configuration.maxKeyFrameIntervalDuration = value.number ?? 0
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_AllowTemporalCompression as String, type: .boolean,
      change: .nextKeyFrame,
      documentation: "False makes each frame a key frame. Default: true.", defaultValue: .boolean(true),
      apply: { value, draft in
        draft.configuration.allowsTemporalCompression = value.boolean ?? true
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_AllowFrameReordering as String, type: .boolean, change: .beforeFrames,
      documentation: """
        False makes the decode order the presentation order, so that there are no B pictures that \
        need reordering. Default: true.
        """,
      feature: .frameReordering, defaultValue: .boolean(true),
      apply: { value, draft in
        draft.configuration.allowsReordering = value.boolean ?? true
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_AllowOpenGOP as String, type: .boolean, change: .nextKeyFrame,
      documentation: """
        True permits frames that follow a key frame in decode order to refer to frames before it. \
        Default: true for HEVC, false for H.264.
        """,
      feature: .openGOP, defaultForEncoder: { .boolean($0.codec == .hevc) },
      apply: { value, draft in
        draft.configuration.allowsOpenGOP = value.boolean ?? false
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_ReferenceBufferCount as String, type: .integer(1...16),
      change: .nextKeyFrame,
      documentation: "The largest number of reference frames, 1 to 16. The encoder decides if not set.",
      feature: .referenceCount,
      apply: { value, draft in
        draft.configuration.referenceFrameCount = value.integer ?? 0
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_MaxH264SliceBytes as String, type: .integer(0...Int(Int32.max)),
      change: .nextKeyFrame,
      documentation: "The largest size of a slice NAL unit in bytes, at least 100. Default: 0, no limit.",
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
      documentation: "The base layer's fraction of the frames: 1 (no layers), 0.5 or 0.25. Default: 1.",
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
        """
        The base layer's fraction of the bit rate, 0 to 1, if there are layers; 0.6 to 0.8 is \
        recommended. Default: 0.6.
        """,
      feature: .temporalLayers, defaultValue: .number(0.6),
      apply: { value, draft in
        draft.lowLatency.baseLayerBitRateFraction = value.number ?? 0.6
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_EnableLTR as String, type: .boolean, change: .nextFrame,
      documentation: """
        True makes the encoder mark long-term reference frames, which the receiver acknowledges. \
        Default: false.
        """,
      feature: .longTermReferences, defaultValue: .boolean(false),
      apply: { value, draft in
        draft.lowLatency.enablesLongTermReferences = value.boolean ?? false
        return true
      }),
  ]
}
