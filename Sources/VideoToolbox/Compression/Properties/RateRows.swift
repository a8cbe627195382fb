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
      documentation:
        "The expected frame rate in frames a second, a hint; the time stamps decide. Default: 0, not known.",
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
      documentation: "The average bit rate in bits a second. Default: 0, the stream is encoded by Quality.",
      excludes: [constant, variable, vbvRate], defaultValue: .number(0),
      apply: { value, draft in
        draft.averageBitRate = value.integer ?? 0
        return true
      }),
    CompressionProperty(
      key: limits, type: .numbers, change: .nextFrame,
      documentation:
        """
        Hard limits of the data rate: up to two pairs of a number of bytes and a duration in \
        seconds. No window of that duration, in decode time, has more bytes. Default: none.
        """,
      feature: .dataRateLimits, excludes: [constant, variable, vbvRate, vbvDuration, vbvDelay],
      defaultValue: .numbers([]),
      apply: { value, draft in
        guard let numbers = value.numbers, numbers.count % 2 == 0, numbers.count <= 4 else { return false }
        var result: [DataRateLimit] = []
        for index in stride(from: 0, to: numbers.count, by: 2) {
          let (bytes, seconds) = (numbers[index], numbers[index + 1])
          guard bytes >= 1, bytes < 1e12, seconds >= 0.001, seconds < 1e6 else { return false }
          result.append(DataRateLimit(bytes: Int(clamping: bytes), seconds: seconds))
        }
        draft.configuration.rate.limits = result
        return true
      }),
    CompressionProperty(
      key: constant, type: positiveBits, change: .nextFrame,
      documentation: "The constant bit rate in bits a second; filler data follows frames that are too small.",
      feature: .constantRate, excludes: [average, variable, limits, vbvRate],
      apply: { value, draft in
        draft.constantBitRate = value.integer
        return true
      }),
    CompressionProperty(
      key: variable, type: positiveBits, change: .nextFrame,
      documentation:
        "The average bit rate in bits a second of a variable rate that is limited by the buffer model.",
      feature: .variableRate, excludes: [average, constant, limits],
      apply: { value, draft in
        draft.variableBitRate = value.integer
        return true
      }),
    CompressionProperty(
      key: vbvRate, type: positiveBits, change: .nextFrame,
      documentation:
        "The highest bit rate in bits a second at which the buffer model fills. Default: twice VariableBitRate.",
      feature: .variableRate, excludes: [average, constant, limits],
      apply: { value, draft in
        draft.configuration.rate.maximumBitRate = value.integer
        return true
      }),
    CompressionProperty(
      key: vbvDuration, type: .number(0.01...60), change: .nextFrame,
      documentation:
        """
        The size of the buffer model in seconds, 0.01 to 60. Default: 2.5 for a variable rate, \
        0.5 for a constant one.
        """,
      feature: .variableRate, excludes: [limits],
      apply: { value, draft in
        draft.configuration.rate.bufferDuration = value.number
        return true
      }),
    CompressionProperty(
      key: vbvDelay, type: .number(0...100), change: .nextKeyFrame,
      documentation:
        "The fullness of the buffer model when the first frame is decoded, in percent. Default: 90.",
      feature: .variableRate, excludes: [limits], defaultValue: .number(90),
      apply: { value, draft in
        draft.configuration.rate.initialBufferFullness = value.number.map { $0 / 100 }
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_MoreFramesBeforeStart as String, type: .boolean, change: .beforeFrames,
      documentation:
        """
        True if frames of another session are joined before the first frame, so that the buffer \
        model and the data rate limits continue from there. Default: false.
        """,
      feature: .joinedBuffers, defaultValue: .boolean(false),
      apply: { value, draft in
        draft.configuration.rate.hasFramesBefore = value.boolean ?? false
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_MoreFramesAfterEnd as String, type: .boolean, change: .beforeFrames,
      documentation:
        """
        True if frames of another session are joined after the last frame, so that the buffer \
        model ends with the fullness at which a session begins. Default: false.
        """,
      feature: .joinedBuffers, defaultValue: .boolean(false),
      apply: { value, draft in
        draft.configuration.rate.hasFramesAfter = value.boolean ?? false
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_Quality as String, type: .number(0...1), change: .nextFrame,
      documentation: "The target quality if no bit rate is set, from 0 (smallest) to 1 (best). Default: 0.5.",
      feature: .quality, defaultValue: .number(0.5),
      apply: { value, draft in
        draft.quality = value.number ?? 0.5
        return true
      }),
  ]

  static let quantizerRows: [CompressionProperty] = [
    CompressionProperty(
      key: kVTCompressionPropertyKey_MinAllowedFrameQP as String, type: .integer(0...51), change: .nextFrame,
      documentation: "The lowest QP of a frame, 0 to 51. No limit if not set.", feature: .qpLimits,
      apply: { value, draft in
        draft.configuration.rate.minQP = value.integer
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_MaxAllowedFrameQP as String, type: .integer(1...51), change: .nextFrame,
      documentation:
        """
        The highest QP of a frame, 1 to 51. In the low-latency mode frames are dropped if the \
        bit rate does not suffice for it. Otherwise the bit rate is exceeded; this package's own \
        encoder still keeps to DataRateLimits, and to a buffer that the stream describes or \
        shares with other streams. No limit if not set.
        """, feature: .qpLimits,
      // In the low-latency mode the rate is what the network can carry, so an encoder that cannot
      // drop frames does not get this limit.
      isOffered: { !$0.isLowLatency || $0.features.contains(.frameDropping) },
      apply: { value, draft in
        draft.configuration.rate.maxQP = value.integer
        // The highest QP must not be lower than the lowest.
        if let minimum = draft.configuration.rate.minQP, let maximum = value.integer, maximum < minimum {
          return false
        }
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_SpatialAdaptiveQPLevel as String,
      type: .choice([kVTQPModulationLevel_Default, kVTQPModulationLevel_Disable]), change: .nextKeyFrame,
      documentation:
        "Whether the QP of a block may depend on its activity. By default the encoder decides.",
      feature: .spatialAdaptiveQP, defaultValue: .number(Double(kVTQPModulationLevel_Default)),
      apply: { value, draft in
        draft.configuration.spatialAdaptiveQP =
          value.integer == kVTQPModulationLevel_Disable ? .off : .standard
        return true
      }),
  ]
}
