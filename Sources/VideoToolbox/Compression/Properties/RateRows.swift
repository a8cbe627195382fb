// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia

// Properties of rate control: bit rates, limits, the buffer model, and QP ranges.

extension CompressionProperty {
  private static let bits = PropertyType.integer(0...Int(Int32.max))
  private static let positiveBits = PropertyType.integer(1...Int(Int32.max))

  private static let average = kVTCompressionPropertyKey_AverageBitRate as String
  private static let constant = kVTCompressionPropertyKey_ConstantBitRate as String
  private static let variable = kVTCompressionPropertyKey_VariableBitRate as String
  private static let limits = kVTCompressionPropertyKey_DataRateLimits as String
  private static let vbvRate = kVTCompressionPropertyKey_VBVMaxBitRate as String
  private static let vbvDuration = kVTCompressionPropertyKey_VBVBufferDuration as String
  private static let vbvDelay = kVTCompressionPropertyKey_VBVInitialDelayPercentage as String

  static let rateRows: [CompressionProperty] = [
    CompressionProperty(
      key: kVTCompressionPropertyKey_ExpectedFrameRate as String, type: .number(0...1000), change: .nextFrame,
      documentation: "Frames a second that are expected. 0 is unknown. Time stamps rule where they differ.",
      defaultValue: .number(0),
      apply: { value, draft in
        guard let rate = value.number, rate > 0 else { return true }
        // Less than a frame in a quarter of an hour is an error of the client.
        guard rate >= 0.001 else { return false }
        draft.configuration.frameRate = rate
        return true
      }),
    CompressionProperty(
      key: average, type: bits, change: .nextFrame,
      documentation: "Bits a second in the long run. 0 leaves the size to the quality.",
      excludes: [constant, variable, vbvRate], defaultValue: .number(0),
      apply: { value, draft in
        draft.averageBitRate = value.integer ?? 0
        return true
      }),
    CompressionProperty(
      key: limits, type: .numbers, change: .nextFrame,
      documentation:
        "Bytes, seconds, and so on: hard limits for every window of so many seconds of decode time.",
      feature: .dataRateLimits, excludes: [constant, variable, vbvRate, vbvDuration, vbvDelay],
      defaultValue: .numbers([]),
      apply: { value, draft in
        guard let numbers = value.numbers, numbers.count % 2 == 0, numbers.count <= 4 else { return false }
        var result: [RateLimit] = []
        for index in stride(from: 0, to: numbers.count, by: 2) {
          let (bytes, seconds) = (numbers[index], numbers[index + 1])
          guard bytes >= 1, bytes < 1e12, seconds >= 0.001, seconds < 1e6 else { return false }
          result.append(RateLimit(bytes: Int(clamping: bytes), seconds: seconds))
        }
        draft.configuration.rate.limits = result
        return true
      }),
    CompressionProperty(
      key: constant, type: positiveBits, change: .nextFrame,
      documentation: "Bits a second, always: frames are filled up with filler data to hold the rate.",
      feature: .constantRate, excludes: [average, variable, limits, vbvRate],
      apply: { value, draft in
        draft.constantBitRate = value.integer
        return true
      }),
    CompressionProperty(
      key: variable, type: positiveBits, change: .nextFrame,
      documentation: "Bits a second in the long run, with the freedom that the buffer model leaves.",
      feature: .variableRate, excludes: [average, constant, limits],
      apply: { value, draft in
        draft.variableBitRate = value.integer
        return true
      }),
    CompressionProperty(
      key: vbvRate, type: positiveBits, change: .nextFrame,
      documentation:
        "Bits a second at which the buffer model fills, at most. Twice the variable rate if not set.",
      feature: .variableRate, excludes: [average, constant, limits],
      apply: { value, draft in
        draft.configuration.rate.maximumBitRate = value.integer
        return true
      }),
    CompressionProperty(
      key: vbvDuration, type: .number(0.01...60), change: .nextFrame,
      documentation:
        "Seconds that the buffer model holds. 2.5 for a variable, 0.5 for a constant rate if not set.",
      feature: .variableRate, excludes: [limits],
      apply: { value, draft in
        draft.configuration.rate.bufferDuration = value.number
        return true
      }),
    CompressionProperty(
      key: vbvDelay, type: .number(0...100), change: .nextKeyFrame,
      documentation: "How full the buffer model is when the first frame is decoded, in percent.",
      feature: .variableRate, excludes: [limits], defaultValue: .number(90),
      apply: { value, draft in
        draft.configuration.rate.initialBufferFullness = value.number.map { $0 / 100 }
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_MoreFramesBeforeStart as String, type: .boolean, change: .beforeFrames,
      documentation:
        "True where frames of another session are joined before: a buffer or a limit goes on from there.",
      feature: .joinedBuffers, defaultValue: .boolean(false),
      apply: { value, draft in
        draft.configuration.rate.hasFramesBefore = value.boolean ?? false
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_MoreFramesAfterEnd as String, type: .boolean, change: .beforeFrames,
      documentation:
        "True where frames of another session are joined behind: the buffer is left as full as one begins.",
      feature: .joinedBuffers, defaultValue: .boolean(false),
      apply: { value, draft in
        draft.configuration.rate.hasFramesAfter = value.boolean ?? false
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_Quality as String, type: .number(0...1), change: .nextFrame,
      documentation: "Quality to aim at when no bit rate is set: 0 is smallest, 1 is best.",
      feature: .quality, defaultValue: .number(0.5),
      apply: { value, draft in
        draft.quality = value.number ?? 0.5
        return true
      }),
  ]

  static let quantizerRows: [CompressionProperty] = [
    CompressionProperty(
      key: kVTCompressionPropertyKey_MinAllowedFrameQP as String, type: .integer(0...51), change: .nextFrame,
      documentation: "Lowest quantiser that a frame may get.", feature: .qpLimits,
      apply: { value, draft in
        draft.configuration.rate.minQP = value.integer
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_MaxAllowedFrameQP as String, type: .integer(1...51), change: .nextFrame,
      documentation:
        "Highest quantiser that a frame may get. In the low-latency mode frames are dropped where the rate has too little "
        + "for it; elsewhere the rate gives way, and with this package's own encoder not DataRateLimits, nor a buffer that "
        + "decoders are told of or other streams share.", feature: .qpLimits,
      // In the low-latency mode the rate is what the network can carry, so an encoder that cannot
      // drop frames does not get this limit.
      isOffered: { !$0.isLowLatency || $0.features.contains(.frameDropping) },
      apply: { value, draft in
        draft.configuration.rate.maxQP = value.integer
        // The highest QP must not be lower than the lowest.
        if let least = draft.configuration.rate.minQP, let most = value.integer, most < least { return false }
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_SpatialAdaptiveQPLevel as String,
      type: .choice([kVTQPModulationLevel_Default, kVTQPModulationLevel_Disable]), change: .nextKeyFrame,
      documentation: "Whether the quantiser follows the local activity of the picture.",
      feature: .spatialAdaptiveQP, defaultValue: .number(Double(kVTQPModulationLevel_Default)),
      apply: { value, draft in
        draft.configuration.spatialAdaptiveQP =
          value.integer == kVTQPModulationLevel_Disable ? .off : .standard
        return true
      }),
  ]
}
