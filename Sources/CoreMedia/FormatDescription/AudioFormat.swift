import CoreFoundation

/// What a description of sound says.
struct AudioFormat: Equatable {
  var basic: AudioStreamBasicDescription
  /// An `AudioChannelLayout` with all its descriptions.
  var layout: Data?
  var magicCookie: Data?

  static func == (a: AudioFormat, b: AudioFormat) -> Bool {
    a.basic == b.basic && a.layout == b.layout && a.magicCookie == b.magicCookie
  }
}

extension CMFormatDescription {
  /// The size of a frame of interleaved uncompressed sound; nil for other media.
  var uncompressedBytesPerFrame: Int? {
    guard let basic = audio?.basic, basic.mFormatID == kAudioFormatLinearPCM, basic.mBytesPerFrame > 0,
      basic.mFormatFlags & kAudioFormatFlagIsNonInterleaved == 0
    else { return nil }
    return Int(basic.mBytesPerFrame)
  }
}
