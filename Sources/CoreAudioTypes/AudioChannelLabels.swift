// SPDX-License-Identifier: Apache-2.0
import CoreMedia

// The labels state the position or purpose of a channel.

public let kAudioChannelLabel_Unknown: AudioChannelLabel = 0xFFFF_FFFF
public let kAudioChannelLabel_Unused: AudioChannelLabel = 0
public let kAudioChannelLabel_Left: AudioChannelLabel = 1
public let kAudioChannelLabel_Right: AudioChannelLabel = 2
public let kAudioChannelLabel_Center: AudioChannelLabel = 3
public let kAudioChannelLabel_LFEScreen: AudioChannelLabel = 4
public let kAudioChannelLabel_LeftSurround: AudioChannelLabel = 5
public let kAudioChannelLabel_RightSurround: AudioChannelLabel = 6
public let kAudioChannelLabel_LeftCenter: AudioChannelLabel = 7
public let kAudioChannelLabel_RightCenter: AudioChannelLabel = 8
public let kAudioChannelLabel_CenterSurround: AudioChannelLabel = 9
public let kAudioChannelLabel_LeftSurroundDirect: AudioChannelLabel = 10
public let kAudioChannelLabel_RightSurroundDirect: AudioChannelLabel = 11
public let kAudioChannelLabel_TopCenterSurround: AudioChannelLabel = 12
public let kAudioChannelLabel_VerticalHeightLeft: AudioChannelLabel = 13
public let kAudioChannelLabel_VerticalHeightCenter: AudioChannelLabel = 14
public let kAudioChannelLabel_VerticalHeightRight: AudioChannelLabel = 15
public let kAudioChannelLabel_TopBackLeft: AudioChannelLabel = 16
public let kAudioChannelLabel_TopBackCenter: AudioChannelLabel = 17
public let kAudioChannelLabel_TopBackRight: AudioChannelLabel = 18
public let kAudioChannelLabel_RearSurroundLeft: AudioChannelLabel = 33
public let kAudioChannelLabel_RearSurroundRight: AudioChannelLabel = 34
public let kAudioChannelLabel_LeftWide: AudioChannelLabel = 35
public let kAudioChannelLabel_RightWide: AudioChannelLabel = 36
public let kAudioChannelLabel_LFE2: AudioChannelLabel = 37
public let kAudioChannelLabel_LeftTotal: AudioChannelLabel = 38
public let kAudioChannelLabel_RightTotal: AudioChannelLabel = 39
public let kAudioChannelLabel_HearingImpaired: AudioChannelLabel = 40
public let kAudioChannelLabel_Narration: AudioChannelLabel = 41
public let kAudioChannelLabel_Mono: AudioChannelLabel = 42
public let kAudioChannelLabel_DialogCentricMix: AudioChannelLabel = 43
public let kAudioChannelLabel_CenterSurroundDirect: AudioChannelLabel = 44
public let kAudioChannelLabel_UseCoordinates: AudioChannelLabel = 100
public let kAudioChannelLabel_HeadphonesLeft: AudioChannelLabel = 301
public let kAudioChannelLabel_HeadphonesRight: AudioChannelLabel = 302
public let kAudioChannelLabel_Discrete: AudioChannelLabel = 400

extension AudioChannelBitmap {
  public static let bit_LeftCenter = AudioChannelBitmap(rawValue: 1 << 6)
  public static let bit_RightCenter = AudioChannelBitmap(rawValue: 1 << 7)
  public static let bit_CenterSurround = AudioChannelBitmap(rawValue: 1 << 8)
  public static let bit_LeftSurroundDirect = AudioChannelBitmap(rawValue: 1 << 9)
  public static let bit_RightSurroundDirect = AudioChannelBitmap(rawValue: 1 << 10)
  public static let bit_TopCenterSurround = AudioChannelBitmap(rawValue: 1 << 11)
  public static let bit_VerticalHeightLeft = AudioChannelBitmap(rawValue: 1 << 12)
  public static let bit_VerticalHeightCenter = AudioChannelBitmap(rawValue: 1 << 13)
  public static let bit_VerticalHeightRight = AudioChannelBitmap(rawValue: 1 << 14)
  public static let bit_TopBackLeft = AudioChannelBitmap(rawValue: 1 << 15)
  public static let bit_TopBackCenter = AudioChannelBitmap(rawValue: 1 << 16)
  public static let bit_TopBackRight = AudioChannelBitmap(rawValue: 1 << 17)
}
