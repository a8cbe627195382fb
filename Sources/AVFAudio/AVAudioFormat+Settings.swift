// SPDX-License-Identifier: Apache-2.0
import AudioToolbox
import Foundation

extension AVAudioFormat {
  /// Creates a format of settings.
  /// - Parameter settings: `AVFormatIDKey` and the keys for that format.
  /// - Returns: Nil if the format, the sample rate or the number of channels is missing or invalid,
  ///   or if there are more than two channels without `AVChannelLayoutKey`.
  public convenience init?(settings: [String: Any]) {
    func number(_ key: String) -> Double? { (settings[key] as? NSNumber)?.doubleValue }
    let layout = (settings[AVChannelLayoutKey] as? Data).flatMap { AVAudioChannelLayout(data: $0) }
    guard let id = number(AVFormatIDKey), (0...Double(UInt32.max)).contains(id),
      let rate = number(AVSampleRateKey), rate > 0, rate <= 1e9,
      let count = number(AVNumberOfChannelsKey) ?? layout.map({ Double($0.channelCount) }),
      (1...1024).contains(count), layout.map({ Double($0.channelCount) == count }) ?? (count <= 2),
      settings[AVChannelLayoutKey] == nil || layout != nil
    else { return nil }
    let (format, channels) = (AudioFormatID(id), AVAudioChannelCount(count))
    guard format == kAudioFormatLinearPCM else {
      var basic = AudioStreamBasicDescription()
      basic.mSampleRate = rate
      basic.mFormatID = format
      basic.mChannelsPerFrame = channels
      if format == kAudioFormatMPEG4AAC { basic.mFramesPerPacket = 1024 }
      self.init(basic, layout)
      return
    }
    let isFloat = number(AVLinearPCMIsFloatKey).map { $0 != 0 } ?? false
    let bits = number(AVLinearPCMBitDepthKey) ?? (isFloat ? 32 : 16)
    guard (isFloat ? [32, 64] : [8, 16, 24, 32]).contains(bits) else { return nil }
    let isBigEndian = number(AVLinearPCMIsBigEndianKey).map { $0 != 0 } ?? false
    self.init(
      Self.basic(
        bits: UInt32(bits), isFloat: isFloat, isBigEndian: isBigEndian, rate, channels,
        number(AVLinearPCMIsNonInterleaved).map { $0 == 0 } ?? true), layout)
  }

  /// The format as settings for files, recorders and writers.
  public var settings: [String: Any] {
    var settings: [String: Any] = [
      AVFormatIDKey: NSNumber(value: basic.mFormatID), AVSampleRateKey: NSNumber(value: basic.mSampleRate),
      AVNumberOfChannelsKey: NSNumber(value: basic.mChannelsPerFrame),
    ]
    if let channelLayout {
      settings[AVChannelLayoutKey] = channelLayout.managed.withUnsafePointer {
        Data(bytes: $0, count: channelLayout.managed.sizeInBytes)
      }
    }
    if isPCM {
      settings[AVLinearPCMBitDepthKey] = NSNumber(value: basic.mBitsPerChannel)
      settings[AVLinearPCMIsFloatKey] = NSNumber(value: basic.mFormatFlags & kAudioFormatFlagIsFloat != 0)
      settings[AVLinearPCMIsBigEndianKey] = NSNumber(
        value: basic.mFormatFlags & kAudioFormatFlagIsBigEndian != 0)
      settings[AVLinearPCMIsNonInterleaved] = NSNumber(value: !isInterleaved)
    }
    return settings
  }
}

extension AVAudioChannelLayout {
  /// Creates a layout of the bytes of an `AudioChannelLayout`.
  /// - Returns: Nil if there are fewer bytes than the layout states, or its tag does not imply a
  ///   number of channels.
  convenience init?(data: Data) {
    let header = 12
    guard data.count >= header else { return nil }
    let words = data.withUnsafeBytes { bytes in
      (0..<3).map { bytes.loadUnaligned(fromByteOffset: 4 * $0, as: UInt32.self) }
    }
    let stride = MemoryLayout<AudioChannelDescription>.stride
    switch words[0] {
    case kAudioChannelLayoutTag_UseChannelBitmap:
      self.init(ManagedAudioChannelLayout(channelBitmap: AudioChannelBitmap(rawValue: words[1])))
    case kAudioChannelLayoutTag_UseChannelDescriptions:
      let count = Int(words[2])
      guard count > 0, count <= (data.count - header) / stride else { return nil }
      let descriptions = data.withUnsafeBytes { bytes in
        (0..<count).map {
          bytes.loadUnaligned(fromByteOffset: header + $0 * stride, as: AudioChannelDescription.self)
        }
      }
      self.init(ManagedAudioChannelLayout(channelDescriptions: descriptions))
    default: self.init(layoutTag: words[0])
    }
  }
}
