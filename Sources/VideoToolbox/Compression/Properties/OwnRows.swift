// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia

// Properties of this package, not Apple's.

extension CompressionProperty {
  static let ownRows: [CompressionProperty] = [
    CompressionProperty(
      key: kOVTCompressionPropertyKey_Effort as String, type: .integer(0...9), change: .nextKeyFrame,
      documentation: "How hard the encoder works, from 0 (fastest) to 9 (best).", feature: .effort,
      apply: { value, draft in
        draft.configuration.speed.effort = value.integer
        return true
      }),
    CompressionProperty(
      key: kOVTCompressionPropertyKey_MaximumQueueDelay as String, type: .number(0.02...10),
      change: .nextFrame,
      documentation: "Seconds that a frame may wait at most before a line of the average bit rate.",
      // The other sessions look ahead, and are bound by it only where it is set.
      feature: .queueDelayLimit, defaultForEncoder: { $0.isLowLatency ? .number(0.3) : nil },
      apply: { value, draft in
        draft.configuration.rate.maximumQueueDelay = value.number
        return true
      }),
    CompressionProperty(
      key: kOVTCompressionPropertyKey_AllowsPartialPasses as String, type: .boolean, change: .beforeFrames,
      documentation: "True lets passes after the second be over parts of the movie, by their decode times.",
      feature: .partialPasses, defaultValue: .boolean(false),
      apply: { value, draft in
        draft.allowsPartialPasses = value.boolean ?? false
        return true
      }),
    CompressionProperty(
      key: kOVTCompressionPropertyKey_MakesPassesOnDemand as String, type: .boolean, change: .beforeFrames,
      documentation: "True ends an encoding in passes with the first that no other would better.",
      feature: .passesOnDemand, defaultValue: .boolean(false),
      apply: { value, draft in
        draft.makesPassesOnDemand = value.boolean ?? false
        return true
      }),
    CompressionProperty(
      key: kOVTCompressionPropertyKey_WritesBufferTiming as String, type: .boolean, change: .nextKeyFrame,
      documentation:
        "True has the stream say what its decoder's buffer is, and each frame when it is taken out.",
      feature: .bufferTiming, defaultValue: .boolean(false),
      apply: { value, draft in
        draft.configuration.rate.writesBufferTiming = value.boolean ?? false
        return true
      }),
    CompressionProperty(
      key: kOVTCompressionPropertyKey_AllowsSeveralPictureParameterSets as String, type: .boolean,
      change: .beforeFrames,
      documentation: "True lets a stream have more than one picture parameter set.",
      feature: .severalPictureSets, defaultValue: .boolean(false),
      apply: { value, draft in
        draft.configuration.allowsSeveralPictureSets = value.boolean ?? false
        return true
      }),
    CompressionProperty(
      key: kOVTCompressionPropertyKey_IntraRefreshFrameCount as String, type: .integer(0...1000),
      change: .nextKeyFrame,
      documentation: "Frames in which intra macroblocks pass over the picture; 0 is none.",
      feature: .intraRefresh, defaultValue: .number(0),
      apply: { value, draft in
        draft.lowLatency.intraRefreshPeriod = value.integer ?? 0
        return true
      }),
    CompressionProperty(
      key: kOVTCompressionPropertyKey_WritesTemporalLayerPrefix as String, type: .boolean,
      change: .nextKeyFrame,
      documentation: "True tells each frame's temporal layer in a NAL unit before each slice.",
      feature: .layerPrefix, defaultValue: .boolean(false),
      apply: { value, draft in
        draft.lowLatency.writesLayerPrefix = value.boolean ?? false
        return true
      }),
  ]
}
