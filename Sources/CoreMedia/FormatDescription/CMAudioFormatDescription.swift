// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// Creates an audio format description.
///
/// - Parameters:
///   - allocator: Not used.
///   - asbd: The sample rate, the format and the sizes.
///   - layoutSize: The size of the channel layout with all its descriptions in bytes; 0 if there is
///     none.
///   - layout: The channel layout.
///   - magicCookieSize: The size of the magic cookie in bytes; 0 if there is none.
///   - magicCookie: The magic cookie: further data that a decoder needs.
///   - extensions: Property list values by key.
///   - formatDescriptionOut: Receives the description.
/// - Returns: `kCMFormatDescriptionError_InvalidParameter` if a size is negative, or a pointer is
///   missing.
@discardableResult
public func CMAudioFormatDescriptionCreate(
  allocator: CFAllocator?, asbd: UnsafePointer<AudioStreamBasicDescription>, layoutSize: Int,
  layout: UnsafePointer<AudioChannelLayout>?, magicCookieSize: Int, magicCookie: UnsafeRawPointer?,
  extensions: CFDictionary?, formatDescriptionOut: UnsafeMutablePointer<CMAudioFormatDescription?>
) -> OSStatus {
  formatDescriptionOut.pointee = nil
  guard layoutSize >= 0, magicCookieSize >= 0, layoutSize == 0 || layout != nil,
    magicCookieSize == 0 || magicCookie != nil
  else { return kCMFormatDescriptionError_InvalidParameter }
  formatDescriptionOut.pointee = CMFormatDescription(
    mediaType: kCMMediaType_Audio, mediaSubType: asbd.pointee.mFormatID, extensions: extensions,
    audio: AudioFormat(
      basic: asbd.pointee,
      layout: layout.flatMap { layoutSize > 0 ? Data(bytes: $0, count: layoutSize) : nil },
      magicCookie: magicCookie.flatMap { magicCookieSize > 0 ? Data(bytes: $0, count: magicCookieSize) : nil }
    ))
  return noErr
}

/// Returns the sample rate, the format and the sizes; nil for other media. The pointer is valid as
/// long as the description.
@discardableResult
public func CMAudioFormatDescriptionGetStreamBasicDescription(
  _ desc: CMAudioFormatDescription
) -> UnsafePointer<AudioStreamBasicDescription>? {
  desc.audio.map { UnsafePointer($0.memory.basic) }
}

/// Returns the magic cookie, further data that a decoder needs; nil if there is none. The pointer
/// is valid as long as the description.
@discardableResult
public func CMAudioFormatDescriptionGetMagicCookie(
  _ desc: CMAudioFormatDescription, sizeOut: UnsafeMutablePointer<Int>?
) -> UnsafeRawPointer? {
  sizeOut?.pointee = desc.audio?.memory.magicCookie.count ?? 0
  return UnsafeRawPointer(desc.audio?.memory.magicCookie.baseAddress)
}

/// Returns the channel layout; nil if there is none, or if it declares more descriptions than it
/// contains. The pointer is valid as long as the description.
@discardableResult
public func CMAudioFormatDescriptionGetChannelLayout(
  _ desc: CMAudioFormatDescription, sizeOut: UnsafeMutablePointer<Int>?
) -> UnsafePointer<AudioChannelLayout>? {
  guard let memory = desc.audio?.memory, let base = memory.layout.baseAddress, desc.audioChannelLayout != nil
  else {
    sizeOut?.pointee = 0
    return nil
  }
  sizeOut?.pointee = memory.layout.count
  return UnsafePointer(base.assumingMemoryBound(to: AudioChannelLayout.self))
}

/// Returns the formats that the audio can be decoded to, the richest first; nil for other media.
/// There is one, that of the description. The pointer is valid as long as the description.
@discardableResult
public func CMAudioFormatDescriptionGetFormatList(
  _ desc: CMAudioFormatDescription, sizeOut: UnsafeMutablePointer<Int>?
) -> UnsafePointer<AudioFormatListItem>? {
  sizeOut?.pointee = desc.audio == nil ? 0 : MemoryLayout<AudioFormatListItem>.size
  return desc.audio.map { UnsafePointer($0.memory.format) }
}

/// Returns the richest format that the audio can be decoded to; nil for other media. The pointer is
/// valid as long as the description.
@discardableResult
public func CMAudioFormatDescriptionGetRichestDecodableFormat(
  _ desc: CMAudioFormatDescription
) -> UnsafePointer<AudioFormatListItem>? { desc.audio.map { UnsafePointer($0.memory.format) } }

/// Returns the format that most decoders support; nil for other media. The pointer is valid as long
/// as the description.
@discardableResult
public func CMAudioFormatDescriptionGetMostCompatibleFormat(
  _ desc: CMAudioFormatDescription
) -> UnsafePointer<AudioFormatListItem>? { desc.audio.map { UnsafePointer($0.memory.format) } }

extension CMFormatDescription {
  /// The sample rate, the format and the sizes of audio; nil for other media.
  public var audioStreamBasicDescription: AudioStreamBasicDescription? { audio?.basic }
  /// The magic cookie: further data that a decoder of this audio needs; nil if there is none.
  public var magicCookie: Data? { audio?.magicCookie }

  /// Creates an audio format description.
  /// - Throws: `CMFormatDescription.Error`.
  public convenience init(
    audioStreamBasicDescription: AudioStreamBasicDescription, layout: ManagedAudioChannelLayout? = nil,
    magicCookie: Data? = nil, extensions: Extensions? = nil
  ) throws {
    self.init(
      mediaType: kCMMediaType_Audio, mediaSubType: audioStreamBasicDescription.mFormatID,
      extensions: extensions?.dictionary,
      audio: AudioFormat(
        basic: audioStreamBasicDescription,
        layout: layout.map { layout in
          layout.withUnsafePointer { Data(bytes: $0, count: layout.sizeInBytes) }
        }, magicCookie: magicCookie))
  }
}
