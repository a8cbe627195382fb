// SPDX-License-Identifier: Apache-2.0
/// A tag for a common arrangement of channels, or one of the first two tags below.
public typealias AudioChannelLayoutTag = UInt32
/// The role of a channel, such as left or centre.
public typealias AudioChannelLabel = UInt32

/// The channels are described individually.
public let kAudioChannelLayoutTag_UseChannelDescriptions: AudioChannelLayoutTag = 0
/// The channels are given by the bitmap.
public let kAudioChannelLayoutTag_UseChannelBitmap: AudioChannelLayoutTag = 1 << 16
public let kAudioChannelLayoutTag_Mono: AudioChannelLayoutTag = 100 << 16 | 1
public let kAudioChannelLayoutTag_Stereo: AudioChannelLayoutTag = 101 << 16 | 2

/// Flags that state how the coordinates of a channel are given.
public struct AudioChannelFlags: OptionSet, Sendable, Hashable {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// The channels of a layout with `kAudioChannelLayoutTag_UseChannelBitmap`.
public struct AudioChannelBitmap: OptionSet, Sendable, Hashable {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  public static let bit_Left = AudioChannelBitmap(rawValue: 1 << 0)
  public static let bit_Right = AudioChannelBitmap(rawValue: 1 << 1)
  public static let bit_Center = AudioChannelBitmap(rawValue: 1 << 2)
  public static let bit_LFEScreen = AudioChannelBitmap(rawValue: 1 << 3)
  public static let bit_LeftSurround = AudioChannelBitmap(rawValue: 1 << 4)
  public static let bit_RightSurround = AudioChannelBitmap(rawValue: 1 << 5)
}

/// The description of one channel.
public struct AudioChannelDescription: Sendable {
  public var mChannelLabel: AudioChannelLabel
  public var mChannelFlags: AudioChannelFlags
  public var mCoordinates: (Float32, Float32, Float32)

  public init() {
    self.init(mChannelLabel: 0, mChannelFlags: [], mCoordinates: (0, 0, 0))
  }

  public init(
    mChannelLabel: AudioChannelLabel, mChannelFlags: AudioChannelFlags,
    mCoordinates: (Float32, Float32, Float32)
  ) {
    self.mChannelLabel = mChannelLabel
    self.mChannelFlags = mChannelFlags
    self.mCoordinates = mCoordinates
  }
}

/// The arrangement of channels. Further descriptions follow the structure in memory.
public struct AudioChannelLayout: Sendable {
  public var mChannelLayoutTag: AudioChannelLayoutTag
  public var mChannelBitmap: AudioChannelBitmap
  public var mNumberChannelDescriptions: UInt32
  public var mChannelDescriptions: AudioChannelDescription

  public init() {
    self.init(
      mChannelLayoutTag: 0, mChannelBitmap: [], mNumberChannelDescriptions: 0,
      mChannelDescriptions: AudioChannelDescription())
  }

  public init(
    mChannelLayoutTag: AudioChannelLayoutTag, mChannelBitmap: AudioChannelBitmap,
    mNumberChannelDescriptions: UInt32, mChannelDescriptions: AudioChannelDescription
  ) {
    self.mChannelLayoutTag = mChannelLayoutTag
    self.mChannelBitmap = mChannelBitmap
    self.mNumberChannelDescriptions = mNumberChannelDescriptions
    self.mChannelDescriptions = mChannelDescriptions
  }
}
