// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia

// Properties of this package, not Apple's.

extension CompressionProperty {
  static let ownRows: [CompressionProperty] = [
    CompressionProperty(
      key: kOVTCompressionPropertyKey_Effort as String, type: .integer(0...9), change: .nextKeyFrame,
      documentation: "The encoder's effort, from 0 (fastest) to 9 (best). The encoder decides if not set.",
      feature: .effort,
      apply: { value, draft in
        draft.configuration.speed.effort = value.integer
        return true
      }),
    CompressionProperty(
      key: kOVTCompressionPropertyKey_MaximumQueueDelay as String, type: .number(0.02...10),
      change: .nextFrame,
      documentation: """
        The longest time in seconds that a frame may take to be sent over a link of the average \
        bit rate, from its capture to its last bit. Default: 0.3 in the low-latency mode, no limit \
        otherwise.
        """,
      // The other sessions look ahead, and are bound by it only where it is set.
      feature: .queueDelayLimit, defaultForEncoder: { $0.isLowLatency ? .number(0.3) : nil },
      apply: { value, draft in
        draft.configuration.rate.maximumQueueDelay = value.number
        return true
      }),
    CompressionProperty(
      key: kOVTCompressionPropertyKey_MaximumStillPSNR as String, type: .number(30...100),
      change: .nextFrame,
      documentation: """
        The luma PSNR in dB up to which a static picture is refined, with an average bit \
        rate. Default: 46.
        """,
      feature: .stillQualityLimit, defaultValue: .number(46),
      apply: { value, draft in
        draft.configuration.rate.maximumStillPSNR = value.number
        return true
      }),
    CompressionProperty(
      key: kOVTCompressionPropertyKey_AllowsPartialPasses as String, type: .boolean, change: .beforeFrames,
      documentation: """
        True permits that the passes after the second cover only parts of the movie, as ranges of \
        decode times. Default: false.
        """,
      feature: .partialPasses, defaultValue: .boolean(false),
      apply: { value, draft in
        draft.allowsPartialPasses = value.boolean ?? false
        return true
      }),
    CompressionProperty(
      key: kOVTCompressionPropertyKey_MakesPassesOnDemand as String, type: .boolean, change: .beforeFrames,
      documentation:
        "True ends multi-pass encoding with the first pass that another pass would not improve. Default: false.",
      feature: .passesOnDemand, defaultValue: .boolean(false),
      apply: { value, draft in
        draft.makesPassesOnDemand = value.boolean ?? false
        return true
      }),
    CompressionProperty(
      key: kOVTCompressionPropertyKey_WritesBufferTiming as String, type: .boolean, change: .nextKeyFrame,
      documentation:
        """
        True writes HRD parameters into the stream, and SEI messages with the time at which each \
        frame is removed from the decoder's buffer. Default: false.
        """,
      feature: .bufferTiming, defaultValue: .boolean(false),
      apply: { value, draft in
        draft.configuration.rate.writesBufferTiming = value.boolean ?? false
        return true
      }),
    CompressionProperty(
      key: kOVTCompressionPropertyKey_AllowsSeveralPictureParameterSets as String, type: .boolean,
      change: .beforeFrames,
      documentation: "True permits more than one picture parameter set in a stream. Default: false.",
      feature: .severalPictureSets, defaultValue: .boolean(false),
      apply: { value, draft in
        draft.configuration.allowsSeveralPictureSets = value.boolean ?? false
        return true
      }),
    CompressionProperty(
      key: kOVTCompressionPropertyKey_IntraRefreshFrameCount as String, type: .integer(0...1000),
      change: .nextKeyFrame,
      documentation:
        "The number of frames in which an intra refresh passes over the picture. Default: 0, no intra refresh.",
      feature: .intraRefresh, defaultValue: .number(0),
      apply: { value, draft in
        draft.lowLatency.intraRefreshPeriod = value.integer ?? 0
        return true
      }),
    CompressionProperty(
      key: kOVTCompressionPropertyKey_WritesTemporalLayerPrefix as String, type: .boolean,
      change: .nextKeyFrame,
      documentation:
        "True writes a prefix NAL unit with the temporal layer before each slice. Default: false.",
      feature: .layerPrefix, defaultValue: .boolean(false),
      apply: { value, draft in
        draft.lowLatency.writesLayerPrefix = value.boolean ?? false
        return true
      }),
  ]
}
