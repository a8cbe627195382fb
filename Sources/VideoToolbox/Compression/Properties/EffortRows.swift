// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia

// Properties that control the encoder's speed, threads, delay and passes.

extension CompressionProperty {
  static let effortRows: [CompressionProperty] = [
    CompressionProperty(
      key: kVTCompressionPropertyKey_RealTime as String, type: .boolean, change: .nextKeyFrame,
      documentation: """
        True if frames arrive in real time, so that the encoder has to keep up with them. Not in \
        real time if not set.
        """,
      feature: .speedPreference,
      apply: { value, draft in
        draft.configuration.speed.isRealTime = value.boolean
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_PrioritizeEncodingSpeedOverQuality as String, type: .boolean,
      change: .nextKeyFrame,
      documentation: "True prefers encoding speed, false prefers quality. A compromise if not set.",
      feature: .speedPreference,
      apply: { value, draft in
        draft.configuration.speed.prefersSpeedOverQuality = value.boolean
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_MaximizePowerEfficiency as String, type: .boolean, change: .nextKeyFrame,
      documentation: "True reduces the computation at some cost in quality. Default: false.",
      feature: .speedPreference, defaultValue: .boolean(false),
      apply: { value, draft in
        draft.configuration.speed.savesPower = value.boolean ?? false
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_MaxFrameDelayCount as String,
      type: .integer(kVTUnlimitedFrameDelayCount...Int(Int32.max)), change: .nextKeyFrame,
      documentation:
        "The largest number of frames that the encoder may hold before it outputs one. Default: -1, no limit.",
      feature: .frameDelayLimit, defaultValue: .number(Double(kVTUnlimitedFrameDelayCount)),
      apply: { value, draft in
        draft.configuration.maxFrameDelay = value.integer.flatMap { $0 < 0 ? nil : $0 }
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_SuggestedLookAheadFrameCount as String, type: .integer(0...250),
      change: .nextKeyFrame,
      documentation:
        "The number of frames that the encoder should look ahead, 0 to 250. The encoder decides if not set.",
      feature: .lookAhead,
      apply: { value, draft in
        draft.configuration.lookAheadFrames = value.integer
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_SourceFrameCount as String, type: .integer(0...Int(Int32.max)),
      change: .nextKeyFrame,
      documentation: "The number of frames in the stream, a hint for rate control. Default: 0, not known.",
      feature: .expectedDuration, defaultValue: .number(0),
      apply: { value, draft in
        draft.sourceFrameCount = value.integer ?? 0
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_ExpectedDuration as String, type: .number(0...1e9),
      change: .nextKeyFrame,
      documentation:
        "The duration of the stream in seconds, a hint for rate control. Default: 0, not known.",
      feature: .expectedDuration, defaultValue: .number(0),
      apply: { value, draft in
        draft.configuration.expectedDuration = value.number.flatMap { $0 > 0 ? $0 : nil }
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_CalculateMeanSquaredError as String, type: .boolean,
      change: .nextKeyFrame,
      documentation:
        "True attaches the mean squared error of each frame to its sample buffer. Default: false.",
      feature: .meanSquaredError, defaultValue: .boolean(false),
      apply: { value, draft in
        draft.configuration.measuresError = value.boolean ?? false
        return true
      }),
    CompressionProperty(
      key: kOVTCompressionPropertyKey_ThreadCount as String, type: .integer(0...128), change: .nextKeyFrame,
      documentation:
        "The number of threads that the encoder may use, 0 to 128. Default: 0, by the number of processors.",
      feature: .threadCount, defaultValue: .number(0),
      apply: { value, draft in
        draft.configuration.threads = value.integer ?? 0
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_MultiPassStorage as String, type: .multiPassStorage,
      change: .beforeFrames,
      documentation: "The storage for the encoder's statistics. Setting it turns multi-pass encoding on.",
      feature: .multiPass, isSerialized: false,
      apply: { value, draft in
        guard case .storage(let storage) = value else { return false }
        draft.multiPassStorage = storage
        return true
      }),
  ]
}
