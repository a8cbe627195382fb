// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreMedia
import Foundation

extension CodecParameters {
  /// Those of sound that a format description describes.
  /// - Throws: `MediaFileError.unsupportedFormat` for what is no sound, has impossible numbers, or is of a codec that
  ///   is not known.
  static func sound(_ description: CMFormatDescription) throws -> CodecParameters {
    var track = try MuxerTrack(description, timeScale: 1)
    guard track.kind == .audio else { throw MediaFileError(.unsupportedFormat, "this is no sound") }
    if track.codecID == AV_CODEC_ID_AAC, track.extradata.isEmpty {
      track.extradata = Self.audioSpecificConfig(rate: track.sampleRate, channels: track.channels)
    }
    guard let parameters = CodecParameters(AVMEDIA_TYPE_AUDIO) else {
      throw MediaFileError(.outOfMemory, "out of memory")
    }
    try track.fill(parameters.pointer)
    guard parameters.pointer.pointee.ch_layout.nb_channels > 0 else {
      throw MediaFileError(.unsupportedFormat, "the sound has no channels")
    }
    return parameters
  }

  /// What AAC-LC of a rate and a number of channels is described by (ISO/IEC 14496-3, 1.6.2.1); empty where the
  /// standard has no number for them.
  private static func audioSpecificConfig(rate: Int32, channels: Int32) -> Data {
    let rates: [Int32] = [
      96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8000, 7350,
    ]
    // Eight channels have the number 7.
    guard let index = rates.firstIndex(of: rate), (1...6).contains(channels) || channels == 8 else {
      return Data()
    }
    let layout = min(Int(channels), 7)
    return Data([UInt8(2 << 3 | index >> 1), UInt8((index & 1) << 7 | layout << 3)])
  }
}
