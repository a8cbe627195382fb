// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import EncoderAdapter
import H264Encoder

/// The descriptions of this package's H.264 encoder, `H264Encoder`.
public enum H264Codec {
  /// The unique name of the encoder of the low-latency mode.
  public static let lowLatencyEncoderID = "org.openvideotoolbox.videoencoder.h264.lowlatency"
  /// The unique name of the encoder for all other uses, without the features of the low-latency
  /// mode.
  public static let encoderID = "org.openvideotoolbox.videoencoder.h264"

  /// The encoder of the low-latency mode: temporal layers, long-term references that the receiver
  /// acknowledges, and a highest QP above which frames are dropped.
  public static var lowLatencyEncoder: EncoderDescription {
    var description = describe(lowLatencyEncoderID, name: "OpenVideoToolbox, low latency")
    description.isLowLatency = true
    description.features.formUnion([
      .temporalLayers, .longTermReferences, .referenceInvalidation, .intraRefresh, .layerPrefix,
      .frameDropping, .stillQualityLimit,
    ])
    return description
  }

  /// The encoder for all other uses, which never drops a frame. Streams that may be delayed are
  /// encoded with a look-ahead.
  public static var encoder: EncoderDescription {
    var description = describe(encoderID, name: "OpenVideoToolbox")
    // The rating applies with a look-ahead (docs/benchmark.md).
    description.qualityRating = 95
    description.features.formUnion([
      .frameReordering, .openGOP, .multiPass, .partialPasses, .passesOnDemand, .constantRate, .variableRate,
      .lookAhead, .lookAheadByDefault,
      .expectedDuration, .bufferTiming, .joinedBuffers,
      .severalPictureSets,
    ])
    description.makeEncoder = { (configuration) throws(CodecError) in
      SynchronousEncoder(try H264Adapter(configuration, looksAhead: configuration.looksAhead))
    }
    return description
  }

  /// The common part of the descriptions of both encoders.
  private static func describe(_ id: String, name: String) -> EncoderDescription {
    var description = EncoderDescription(
      id: id, codec: .h264, codecName: "H.264", encoderName: name, displayName: "H.264 (\(name))",
      inputFormats: [.nv12VideoRange, .nv12FullRange, .i420VideoRange, .i420FullRange],
      makeEncoder: { (configuration) throws(CodecError) in
        SynchronousEncoder(try H264Adapter(configuration, looksAhead: false))
      })
    description.features = [
      .quality, .dataRateLimits, .entropyMode, .frameDelayLimit, .spatialAdaptiveQP, .qpLimits, .baseFrameQP,
      .referenceCount, .sliceBytes, .meanSquaredError, .speedPreference, .effort, .threadCount,
      .queueDelayLimit, .threadIndependence, .hdrMetadata,
    ]
    description.profiles = [
      .h264Baseline, .h264ConstrainedBaseline, .h264Main, .h264High, .h264ConstrainedHigh,
      .h264High444Predictive,
    ]
    description.inputFormatsByProfile[.h264High444Predictive] = [.nv24VideoRange, .nv24FullRange]
    let sides = 1...H264EncoderConfiguration.largestSide
    description.sizes = PictureSizes(widths: sides, heights: sides)
    description.sizes.largestArea = H264EncoderConfiguration.largestArea
    description.sizes.blockSize = 16
    description.performanceRating = 80
    description.qualityRating = 60
    return description
  }
}
