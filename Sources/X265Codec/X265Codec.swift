// SPDX-License-Identifier: Apache-2.0
import CodecInterface

/// The HEVC encoders of libx265, for the profiles Main and Main 10.
public enum X265Codec {
  /// The identifier of the encoder with look-ahead and reordering.
  public static let encoderID = "org.openvideotoolbox.videoencoder.hevc.x265"
  /// The identifier of the encoder without look-ahead and reordering, which returns each frame at
  /// once.
  public static let lowLatencyEncoderID = encoderID + ".lowlatency"

  /// The descriptions of both encoders; empty if the package was built without the trait X265.
  public static var encoders: [EncoderDescription] {
    #if X265
      let formats: [PictureFormat] = [
        .nv12VideoRange, .nv12FullRange, .i420VideoRange, .i420FullRange, .p010VideoRange, .p010FullRange,
      ]
      var general = EncoderDescription(
        id: encoderID, codec: .hevc, codecName: "HEVC", encoderName: "x265", displayName: "HEVC (x265)",
        inputFormats: formats,
        makeEncoder: { (configuration) throws(CodecError) in
          SynchronousEncoder(try X265Encoder(configuration))
        })
      // The features of both.
      let common: Set<EncoderFeature> = [
        .quality, .dataRateLimits, .spatialAdaptiveQP, .qpLimits, .baseFrameQP, .referenceCount,
        .meanSquaredError, .hdrMetadata, .speedPreference, .threadCount, .effort,
      ]
      general.features = common.union([
        .constantRate, .variableRate, .frameReordering, .openGOP, .frameDelayLimit, .lookAhead, .multiPass,
        .expectedDuration,
      ])
      let sizes = PictureSizes(widths: X265Parameters.sides, heights: X265Parameters.sides)
      general.sizes = sizes
      general.performanceRating = 30
      general.qualityRating = 95

      var lowLatency = EncoderDescription(
        id: lowLatencyEncoderID, codec: .hevc, codecName: "HEVC", encoderName: "x265, low latency",
        displayName: "HEVC low latency (x265)", inputFormats: formats,
        makeEncoder: { (configuration) throws(CodecError) in
          SynchronousEncoder(try X265Encoder(configuration, holdsNothing: true))
        })
      lowLatency.isLowLatency = true
      lowLatency.features = common
      lowLatency.sizes = sizes
      lowLatency.performanceRating = 30
      lowLatency.qualityRating = 70
      return [general, lowLatency]
    #else
      return []
    #endif
  }
}
