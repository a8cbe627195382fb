// SPDX-License-Identifier: Apache-2.0
import CodecInterface

/// The H.264 encoder of libx264, with reordering, look-ahead and several passes.
public enum X264Codec {
  /// The identifier of the encoder.
  public static let encoderID = "org.openvideotoolbox.videoencoder.h264.x264"

  /// The description of the encoder; nil if the package was built without the trait X264.
  public static var encoder: EncoderDescription? {
    #if X264
      var description = EncoderDescription(
        id: encoderID, codec: .h264, codecName: "H.264", encoderName: "x264", displayName: "H.264 (x264)",
        inputFormats: [.nv12VideoRange, .nv12FullRange, .i420VideoRange, .i420FullRange],
        makeEncoder: { (configuration) throws(CodecError) in
          SynchronousEncoder(try X264Encoder(configuration))
        })
      description.features = [
        .quality, .dataRateLimits, .constantRate, .variableRate, .frameReordering, .openGOP, .entropyMode,
        .frameDelayLimit, .lookAhead, .spatialAdaptiveQP, .qpLimits, .baseFrameQP, .referenceCount,
        .sliceBytes,
        .meanSquaredError, .hdrMetadata, .multiPass, .speedPreference, .threadCount, .expectedDuration,
        .effort,
      ]
      // Odd sizes are allowed: pictures are padded to the even sizes that 4:2:0 needs.
      description.sizes = PictureSizes(widths: StreamShape.sides, heights: StreamShape.sides)
      description.performanceRating = 60
      description.qualityRating = 90
      return description
    #else
      return nil
    #endif
  }
}
