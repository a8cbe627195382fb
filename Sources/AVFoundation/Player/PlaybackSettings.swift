// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The output settings with which tracks are decoded for playback.
enum PlaybackSettings {
  /// 8-bit 4:2:0 formats, which windows show without a conversion.
  static func pictures(of track: AVAssetTrack) -> [String: Any] {
    let formats = [
      kCVPixelFormatType_420YpCbCr8Planar, kCVPixelFormatType_420YpCbCr8PlanarFullRange,
      kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, kCVPixelFormatType_420YpCbCr8BiPlanarFullRange,
    ]
    var settings: [String: Any] = [
      kCVPixelBufferPixelFormatTypeKey as String: formats.map { NSNumber(value: $0) },
      OVTVideoCropsToCleanApertureKey: true,
    ]
    if track.properties.stream.codec.isHDR {
      // A high dynamic range is tone-mapped, since windows show ITU-R BT.709.
      settings[AVVideoColorPropertiesKey] = [
        AVVideoColorPrimariesKey: AVVideoColorPrimaries_ITU_R_709_2,
        AVVideoTransferFunctionKey: AVVideoTransferFunction_ITU_R_709_2,
        AVVideoYCbCrMatrixKey: AVVideoYCbCrMatrix_ITU_R_709_2,
      ]
    }
    return settings
  }

  /// Interleaved floating-point samples in at most two channels.
  static func audio(of track: AVAssetTrack) -> [String: Any] {
    let basic = track.properties.stream.audioLayout
    return [
      AVFormatIDKey: NSNumber(value: kAudioFormatLinearPCM), AVLinearPCMIsFloatKey: NSNumber(value: true),
      AVLinearPCMBitDepthKey: NSNumber(value: 32), AVLinearPCMIsNonInterleaved: NSNumber(value: false),
      AVNumberOfChannelsKey: NSNumber(value: min(max(basic.mChannelsPerFrame, 1), 2)),
    ]
  }
}
