// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia

// Properties that control the encoder's speed, threads, delay and passes.

extension CompressionProperty {
  static let effortRows: [CompressionProperty] = [
    CompressionProperty(
      key: kVTCompressionPropertyKey_RealTime as String, type: .boolean, change: .nextKeyFrame,
      documentation: "True says that frames come at their own pace and must not be late.",
      feature: .speedPreference,
      apply: { value, draft in
        draft.configuration.speed.isRealTime = value.boolean
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_PrioritizeEncodingSpeedOverQuality as String, type: .boolean,
      change: .nextKeyFrame,
      documentation: "True asks for speed, false for quality; in between if not set.",
      feature: .speedPreference,
      apply: { value, draft in
        draft.configuration.speed.prefersSpeedOverQuality = value.boolean
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_MaximizePowerEfficiency as String, type: .boolean, change: .nextKeyFrame,
      documentation: "True asks for less work at some cost in quality.",
      feature: .speedPreference, defaultValue: .boolean(false),
      apply: { value, draft in
        draft.configuration.speed.savesPower = value.boolean ?? false
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_MaxFrameDelayCount as String,
      type: .integer(kVTUnlimitedFrameDelayCount...Int(Int32.max)), change: .nextKeyFrame,
      documentation: "Frames that the encoder may hold; -1 is no limit.",
      feature: .frameDelayLimit, defaultValue: .number(Double(kVTUnlimitedFrameDelayCount)),
      apply: { value, draft in
        draft.configuration.maxFrameDelay = value.integer.flatMap { $0 < 0 ? nil : $0 }
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_SuggestedLookAheadFrameCount as String, type: .integer(0...250),
      change: .nextKeyFrame,
      documentation: "Frames that the encoder should look ahead. Its own choice if not set.",
      feature: .lookAhead,
      apply: { value, draft in
        draft.configuration.lookAheadFrames = value.integer
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_SourceFrameCount as String, type: .integer(0...Int(Int32.max)),
      change: .nextKeyFrame,
      documentation: "Frames that will come; 0 is unknown. Rate control takes its time with a long stream.",
      feature: .expectedDuration, defaultValue: .number(0),
      apply: { value, draft in
        draft.sourceFrameCount = value.integer ?? 0
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_ExpectedDuration as String, type: .number(0...1e9),
      change: .nextKeyFrame,
      documentation:
        "Seconds that the stream will last; 0 is unknown. Rate control takes its time with a long one.",
      feature: .expectedDuration, defaultValue: .number(0),
      apply: { value, draft in
        draft.configuration.expectedDuration = value.number.flatMap { $0 > 0 ? $0 : nil }
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_CalculateMeanSquaredError as String, type: .boolean,
      change: .nextKeyFrame,
      documentation: "True attaches the mean squared error of each frame to its sample buffer.",
      feature: .meanSquaredError, defaultValue: .boolean(false),
      apply: { value, draft in
        draft.configuration.measuresError = value.boolean ?? false
        return true
      }),
    CompressionProperty(
      key: kOVTCompressionPropertyKey_ThreadCount as String, type: .integer(0...128), change: .nextKeyFrame,
      documentation: "Threads that the encoder may use; 0 lets it choose from the number of processors.",
      feature: .threadCount, defaultValue: .number(0),
      apply: { value, draft in
        draft.configuration.threads = value.integer ?? 0
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_MultiPassStorage as String, type: .multiPassStorage,
      change: .beforeFrames,
      documentation: "Turns multi-pass encoding on and keeps what the encoder learns.",
      feature: .multiPass, isSerialized: false,
      apply: { value, draft in
        guard case .storage(let storage) = value else { return false }
        draft.multiPassStorage = storage
        return true
      }),
  ]
}
