// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// The properties of audio in a format description.
struct AudioFormat: Equatable {
  let basic: AudioStreamBasicDescription
  /// An `AudioChannelLayout` with all its descriptions.
  let layout: Data?
  let magicCookie: Data?
  /// The same properties, at addresses that stay valid.
  let memory: AudioFormatMemory

  init(basic: AudioStreamBasicDescription, layout: Data? = nil, magicCookie: Data? = nil) {
    self.basic = basic
    self.layout = layout
    self.magicCookie = magicCookie
    memory = AudioFormatMemory(basic, layout, magicCookie)
  }

  static func == (a: AudioFormat, b: AudioFormat) -> Bool {
    a.basic == b.basic && a.layout == b.layout && a.magicCookie == b.magicCookie
  }
}

/// The memory that the C-style functions return pointers to. It is not changed after creation.
final class AudioFormatMemory: @unchecked Sendable {
  // Sendable: memory that is written in `init` and freed in `deinit`.
  let basic: UnsafeMutablePointer<AudioStreamBasicDescription>
  let layout: UnsafeMutableRawBufferPointer
  let magicCookie: UnsafeMutableRawBufferPointer
  /// The formats that the audio can be decoded to: one, that of the description.
  let format: UnsafeMutablePointer<AudioFormatListItem>

  init(_ basic: AudioStreamBasicDescription, _ layout: Data?, _ magicCookie: Data?) {
    self.basic = .allocate(capacity: 1)
    self.basic.initialize(to: basic)
    // The memory has the size of a whole AudioChannelLayout even if there are no descriptions.
    self.layout = Self.copy(layout, atLeast: MemoryLayout<AudioChannelLayout>.size)
    self.magicCookie = Self.copy(magicCookie)
    format = .allocate(capacity: 1)
    format.initialize(to: AudioFormatListItem(mASBD: basic, mChannelLayoutTag: Self.tag(basic, layout)))
  }

  /// The tag of the layout; without a layout, that of mono or stereo, or of a number of channels.
  private static func tag(_ basic: AudioStreamBasicDescription, _ layout: Data?) -> AudioChannelLayoutTag {
    if let layout = layout.flatMap({ ManagedAudioChannelLayout($0) }) { return layout.tag }
    switch basic.mChannelsPerFrame {
    case 1: return kAudioChannelLayoutTag_Mono
    case 2: return kAudioChannelLayoutTag_Stereo
    default: return kAudioChannelLayoutTag_Unknown | (basic.mChannelsPerFrame & 0xFFFF)
    }
  }

  deinit {
    basic.deallocate()
    format.deallocate()
    layout.deallocate()
    magicCookie.deallocate()
  }

  /// Copies the bytes, and appends zeros up to a size.
  private static func copy(_ data: Data?, atLeast size: Int = 0) -> UnsafeMutableRawBufferPointer {
    guard let data, !data.isEmpty else { return UnsafeMutableRawBufferPointer(start: nil, count: 0) }
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: max(data.count, size), alignment: 16)
    memory.initializeMemory(as: UInt8.self, repeating: 0)
    data.copyBytes(to: memory)
    return UnsafeMutableRawBufferPointer(start: memory.baseAddress, count: data.count)
  }
}

extension CMFormatDescription {
  /// Whether the media is uncompressed audio with several channels that are not interleaved.
  var hasChannelsOneAfterTheOther: Bool {
    guard let basic = audio?.basic else { return false }
    return basic.isNonInterleavedPCM && basic.mChannelsPerFrame > 1
  }

  /// The size of a frame of interleaved uncompressed audio in bytes; nil for other media.
  var uncompressedBytesPerFrame: Int? {
    guard let basic = audio?.basic, basic.mFormatID == kAudioFormatLinearPCM, basic.mBytesPerFrame > 0,
      basic.mFormatFlags & kAudioFormatFlagIsNonInterleaved == 0
    else { return nil }
    return Int(basic.mBytesPerFrame)
  }
}
