// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import EncoderAdapter
import HEVCEncoder

/// The descriptions of this package's HEVC encoder, `HEVCEncoder`.
public enum HEVCCodec {
  /// The unique name of the encoder of the low-latency mode.
  public static let lowLatencyEncoderID = "org.openvideotoolbox.videoencoder.hevc.lowlatency"
  /// The unique name of the encoder for all other uses, which never drops a frame.
  public static let encoderID = "org.openvideotoolbox.videoencoder.hevc"

  /// The encoder of the low-latency mode: temporal layers, long-term references that the receiver
  /// acknowledges, and a highest QP above which frames are dropped.
  public static var lowLatencyEncoder: EncoderDescription {
    var description = describe(lowLatencyEncoderID, name: "OpenVideoToolbox, low latency")
    description.isLowLatency = true
    description.features.formUnion([
      .temporalLayers, .longTermReferences, .referenceInvalidation, .intraRefresh, .frameDropping,
      .stillQualityLimit,
    ])
    return description
  }

  /// The encoder for all other uses, which never drops a frame. Streams that may be delayed are
  /// encoded with a look-ahead.
  public static var encoder: EncoderDescription {
    var description = describe(encoderID, name: "OpenVideoToolbox")
    description.features.formUnion([
      .frameReordering, .openGOP, .multiPass, .partialPasses, .passesOnDemand, .variableRate,
      .lookAhead, .lookAheadByDefault, .expectedDuration,
      .constantRate, .bufferTiming, .joinedBuffers,
    ])
    description.makeEncoder = { (configuration) throws(CodecError) in
      SynchronousEncoder(try HEVCAdapter(configuration, looksAhead: configuration.looksAhead))
    }
    return description
  }

  /// The common part of the descriptions of both encoders.
  private static func describe(_ id: String, name: String) -> EncoderDescription {
    var description = EncoderDescription(
      id: id, codec: .hevc, codecName: "HEVC", encoderName: name, displayName: "HEVC (\(name))",
      inputFormats: [
        .nv12VideoRange, .nv12FullRange, .i420VideoRange, .i420FullRange, .p010VideoRange, .p010FullRange,
      ],
      makeEncoder: { (configuration) throws(CodecError) in
        SynchronousEncoder(try HEVCAdapter(configuration, looksAhead: false))
      })
    description.features = [
      .quality, .dataRateLimits, .qpLimits, .spatialAdaptiveQP, .baseFrameQP,
      .referenceCount, .meanSquaredError, .hdrMetadata, .speedPreference, .effort, .threadCount,
      .queueDelayLimit, .frameDelayLimit, .threadIndependence,
    ]
    description.profiles = [.hevcMain, .hevcMain10]
    let sides = 1...HEVCEncoderConfiguration.largestSide
    description.sizes = PictureSizes(widths: sides, heights: sides)
    description.sizes.largestArea = HEVCEncoderConfiguration.largestArea
    description.sizes.blockSize = 8
    description.performanceRating = 50
    description.qualityRating = 70
    return description
  }
}
