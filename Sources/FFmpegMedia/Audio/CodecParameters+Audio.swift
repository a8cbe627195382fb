// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreMedia
import Foundation

extension CodecParameters {
  /// Makes the codec parameters of a format description.
  /// - Parameter description: The format of the audio.
  /// - Throws: `MediaFileError` of the kind `unsupportedFormat` if the format is not of audio, has
  ///   impossible values, or is of an unknown codec.
  static func audio(_ description: CMFormatDescription) throws -> CodecParameters {
    var track = try MuxerTrack(description, timeScale: 1)
    guard track.kind == .audio else {
      throw MediaFileError(.unsupportedFormat, "the format description is not of audio")
    }
    if track.codecID == AV_CODEC_ID_AAC, track.extradata.isEmpty {
      track.extradata = Self.audioSpecificConfig(rate: track.sampleRate, channels: track.channels)
    }
    guard let parameters = CodecParameters(AVMEDIA_TYPE_AUDIO) else {
      throw MediaFileError(.outOfMemory, "out of memory")
    }
    try track.fill(parameters.pointer)
    guard parameters.pointer.pointee.ch_layout.nb_channels > 0 else {
      throw MediaFileError(.unsupportedFormat, "the audio has no channels")
    }
    return parameters
  }

  /// The AudioSpecificConfig of AAC-LC (ISO/IEC 14496-3, 1.6.2.1); empty if the standard has no
  /// index for the rate or the channels.
  private static func audioSpecificConfig(rate: Int32, channels: Int32) -> Data {
    let rates: [Int32] = [
      96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8000, 7350,
    ]
    // Channel configuration 7 has eight channels.
    guard let index = rates.firstIndex(of: rate), (1...6).contains(channels) || channels == 8 else {
      return Data()
    }
    let layout = min(Int(channels), 7)
    return Data([UInt8(2 << 3 | index >> 1), UInt8((index & 1) << 7 | layout << 3)])
  }
}
