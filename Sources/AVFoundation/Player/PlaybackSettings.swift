// SPDX-License-Identifier: Apache-2.0
import Foundation

/// How tracks are decoded for playing.
enum PlaybackSettings {
  /// As the decoder gives them where that is 4:2:0 with 8 bits, which windows take without a conversion.
  static func pictures(of track: AVAssetTrack) -> [String: Any] {
    let formats = [
      kCVPixelFormatType_420YpCbCr8Planar, kCVPixelFormatType_420YpCbCr8PlanarFullRange,
      kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, kCVPixelFormatType_420YpCbCr8BiPlanarFullRange,
    ]
    var settings: [String: Any] = [
      kCVPixelBufferPixelFormatTypeKey as String: formats.map { NSNumber(value: $0) },
      OVTVideoCropsToCleanApertureKey: true,
    ]
    if track.facts.stream.codec.isHDR {
      // A screen of this kind shows no more than this.
      settings[AVVideoColorPropertiesKey] = [
        AVVideoColorPrimariesKey: AVVideoColorPrimaries_ITU_R_709_2,
        AVVideoTransferFunctionKey: AVVideoTransferFunction_ITU_R_709_2,
        AVVideoYCbCrMatrixKey: AVVideoYCbCrMatrix_ITU_R_709_2,
      ]
    }
    return settings
  }

  /// Floats, in two channels at most.
  static func sound(of track: AVAssetTrack) -> [String: Any] {
    let basic = track.facts.stream.audioLayout
    return [
      AVFormatIDKey: NSNumber(value: kAudioFormatLinearPCM), AVLinearPCMIsFloatKey: NSNumber(value: true),
      AVLinearPCMBitDepthKey: NSNumber(value: 32), AVLinearPCMIsNonInterleaved: NSNumber(value: false),
      AVNumberOfChannelsKey: NSNumber(value: min(max(basic.mChannelsPerFrame, 1), 2)),
    ]
  }
}
