// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

extension CMFormatDescription {
  /// The media type, a four-character code.
  public struct MediaType: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: FourCharCode
    public init(rawValue: FourCharCode) { self.rawValue = rawValue }

    /// Creates a media type from up to four characters of one byte each, with spaces appended.
    public init(string: String) { rawValue = fourCharCode(string) }
    public var description: String { fourCharacters(rawValue) }

    public static let video = MediaType(rawValue: kCMMediaType_Video)
    public static let audio = MediaType(rawValue: kCMMediaType_Audio)
    public static let muxed = MediaType(rawValue: kCMMediaType_Muxed)
    public static let text = MediaType(rawValue: kCMMediaType_Text)
    public static let closedCaption = MediaType(rawValue: kCMMediaType_ClosedCaption)
    public static let subtitle = MediaType(rawValue: kCMMediaType_Subtitle)
    public static let timeCode = MediaType(rawValue: kCMMediaType_TimeCode)
    public static let metadata = MediaType(rawValue: kCMMediaType_Metadata)
  }

  /// The codec or other format of the media, a four-character code.
  public struct MediaSubType: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: FourCharCode
    public init(rawValue: FourCharCode) { self.rawValue = rawValue }

    /// Creates a subtype from up to four characters of one byte each, with spaces appended.
    public init(string: String) { rawValue = fourCharCode(string) }
    public var description: String { fourCharacters(rawValue) }

    // Audio

    public static let linearPCM = MediaSubType(rawValue: 0x6C70636D)  // 'lpcm'
    public static let ac3 = MediaSubType(rawValue: 0x61632D33)  // 'ac-3'
    public static let iec60958AC3 = MediaSubType(rawValue: 0x63616333)  // 'cac3'
    public static let appleIMA4 = MediaSubType(rawValue: 0x696D6134)  // 'ima4'
    public static let mpeg4AAC = MediaSubType(rawValue: 0x61616320)  // 'aac '
    public static let mpeg4CELP = MediaSubType(rawValue: 0x63656C70)  // 'celp'
    public static let mpeg4HVXC = MediaSubType(rawValue: 0x68767863)  // 'hvxc'
    public static let mpeg4TwinVQ = MediaSubType(rawValue: 0x74777671)  // 'twvq'
    public static let mace3 = MediaSubType(rawValue: 0x4D414333)  // 'MAC3'
    public static let mace6 = MediaSubType(rawValue: 0x4D414336)  // 'MAC6'
    public static let uLaw = MediaSubType(rawValue: 0x756C6177)  // 'ulaw'
    public static let aLaw = MediaSubType(rawValue: 0x616C6177)  // 'alaw'
    public static let qDesign = MediaSubType(rawValue: 0x51444D43)  // 'QDMC'
    public static let qDesign2 = MediaSubType(rawValue: 0x51444D32)  // 'QDM2'
    public static let qualcomm = MediaSubType(rawValue: 0x51636C70)  // 'Qclp'
    public static let mpegLayer1 = MediaSubType(rawValue: 0x2E6D7031)  // '.mp1'
    public static let mpegLayer2 = MediaSubType(rawValue: 0x2E6D7032)  // '.mp2'
    public static let mpegLayer3 = MediaSubType(rawValue: 0x2E6D7033)  // '.mp3'
    public static let timeCode = MediaSubType(rawValue: 0x74696D65)  // 'time'
    public static let midiStream = MediaSubType(rawValue: 0x6D696469)  // 'midi'
    public static let parameterValueStream = MediaSubType(rawValue: 0x61707673)  // 'apvs'
    public static let appleLossless = MediaSubType(rawValue: 0x616C6163)  // 'alac'
    public static let mpeg4AAC_HE = MediaSubType(rawValue: 0x61616368)  // 'aach'
    public static let mpeg4AAC_LD = MediaSubType(rawValue: 0x6161636C)  // 'aacl'
    public static let mpeg4AAC_ELD = MediaSubType(rawValue: 0x61616365)  // 'aace'
    public static let mpeg4AAC_ELD_SBR = MediaSubType(rawValue: 0x61616366)  // 'aacf'
    public static let mpeg4AAC_ELD_V2 = MediaSubType(rawValue: 0x61616367)  // 'aacg'
    public static let mpeg4AAC_HE_V2 = MediaSubType(rawValue: 0x61616370)  // 'aacp'
    public static let mpeg4AAC_Spatial = MediaSubType(rawValue: 0x61616373)  // 'aacs'
    public static let mpegD_USAC = MediaSubType(rawValue: 0x75736163)  // 'usac'
    public static let amr = MediaSubType(rawValue: 0x73616D72)  // 'samr'
    public static let amr_WB = MediaSubType(rawValue: 0x73617762)  // 'sawb'
    public static let audible = MediaSubType(rawValue: 0x41554442)  // 'AUDB'
    public static let iLBC = MediaSubType(rawValue: 0x696C6263)  // 'ilbc'
    public static let dviIntelIMA = MediaSubType(rawValue: 0x6d730011)
    public static let microsoftGSM = MediaSubType(rawValue: 0x6d730031)
    public static let aes3 = MediaSubType(rawValue: 0x61657333)  // 'aes3'
    public static let enhancedAC3 = MediaSubType(rawValue: 0x65632D33)  // 'ec-3'
    public static let flac = MediaSubType(rawValue: 0x666C6163)  // 'flac'
    public static let opus = MediaSubType(rawValue: 0x6F707573)  // 'opus'
    public static let aacLCProtected = MediaSubType(rawValue: 0x70616163)  // 'paac'
    public static let aacAudibleProtected = MediaSubType(rawValue: 0x61616163)  // 'aaac'

    // Uncompressed video

    public static let pixelFormat_32ARGB = MediaSubType(rawValue: kCMPixelFormat_32ARGB)
    public static let pixelFormat_32BGRA = MediaSubType(rawValue: kCMPixelFormat_32BGRA)
    public static let pixelFormat_24RGB = MediaSubType(rawValue: kCMPixelFormat_24RGB)
    public static let pixelFormat_16BE555 = MediaSubType(rawValue: kCMPixelFormat_16BE555)
    public static let pixelFormat_16BE565 = MediaSubType(rawValue: kCMPixelFormat_16BE565)
    public static let pixelFormat_16LE555 = MediaSubType(rawValue: kCMPixelFormat_16LE555)
    public static let pixelFormat_16LE565 = MediaSubType(rawValue: kCMPixelFormat_16LE565)
    public static let pixelFormat_16LE5551 = MediaSubType(rawValue: kCMPixelFormat_16LE5551)
    public static let pixelFormat_422YpCbCr8 = MediaSubType(rawValue: kCMPixelFormat_422YpCbCr8)
    public static let pixelFormat_422YpCbCr8_yuvs = MediaSubType(rawValue: kCMPixelFormat_422YpCbCr8_yuvs)
    public static let pixelFormat_444YpCbCr8 = MediaSubType(rawValue: kCMPixelFormat_444YpCbCr8)
    public static let pixelFormat_4444YpCbCrA8 = MediaSubType(rawValue: kCMPixelFormat_4444YpCbCrA8)
    public static let pixelFormat_422YpCbCr16 = MediaSubType(rawValue: kCMPixelFormat_422YpCbCr16)
    public static let pixelFormat_422YpCbCr10 = MediaSubType(rawValue: kCMPixelFormat_422YpCbCr10)
    public static let pixelFormat_444YpCbCr10 = MediaSubType(rawValue: kCMPixelFormat_444YpCbCr10)
    public static let pixelFormat_8IndexedGray_WhiteIsZero = MediaSubType(
      rawValue: kCMPixelFormat_8IndexedGray_WhiteIsZero)

    // Compressed video

    public static let animation = MediaSubType(rawValue: kCMVideoCodecType_Animation)
    public static let cinepak = MediaSubType(rawValue: kCMVideoCodecType_Cinepak)
    public static let jpeg = MediaSubType(rawValue: kCMVideoCodecType_JPEG)
    public static let jpeg_OpenDML = MediaSubType(rawValue: kCMVideoCodecType_JPEG_OpenDML)
    public static let sorensonVideo = MediaSubType(rawValue: kCMVideoCodecType_SorensonVideo)
    public static let sorensonVideo3 = MediaSubType(rawValue: kCMVideoCodecType_SorensonVideo3)
    public static let h263 = MediaSubType(rawValue: kCMVideoCodecType_H263)
    public static let h264 = MediaSubType(rawValue: kCMVideoCodecType_H264)
    public static let hevc = MediaSubType(rawValue: kCMVideoCodecType_HEVC)
    public static let hevcWithAlpha = MediaSubType(rawValue: kCMVideoCodecType_HEVCWithAlpha)
    public static let mpeg4Video = MediaSubType(rawValue: kCMVideoCodecType_MPEG4Video)
    public static let mpeg2Video = MediaSubType(rawValue: kCMVideoCodecType_MPEG2Video)
    public static let mpeg1Video = MediaSubType(rawValue: kCMVideoCodecType_MPEG1Video)
    public static let vp9 = MediaSubType(rawValue: kCMVideoCodecType_VP9)
    public static let dvcNTSC = MediaSubType(rawValue: kCMVideoCodecType_DVCNTSC)
    public static let dvcPAL = MediaSubType(rawValue: kCMVideoCodecType_DVCPAL)
    public static let dvcProPAL = MediaSubType(rawValue: kCMVideoCodecType_DVCProPAL)
    public static let dvcPro50NTSC = MediaSubType(rawValue: kCMVideoCodecType_DVCPro50NTSC)
    public static let dvcPro50PAL = MediaSubType(rawValue: kCMVideoCodecType_DVCPro50PAL)
    public static let dvcPROHD720p60 = MediaSubType(rawValue: kCMVideoCodecType_DVCPROHD720p60)
    public static let dvcPROHD720p50 = MediaSubType(rawValue: kCMVideoCodecType_DVCPROHD720p50)
    public static let dvcPROHD1080i60 = MediaSubType(rawValue: kCMVideoCodecType_DVCPROHD1080i60)
    public static let dvcPROHD1080i50 = MediaSubType(rawValue: kCMVideoCodecType_DVCPROHD1080i50)
    public static let dvcPROHD1080p30 = MediaSubType(rawValue: kCMVideoCodecType_DVCPROHD1080p30)
    public static let dvcPROHD1080p25 = MediaSubType(rawValue: kCMVideoCodecType_DVCPROHD1080p25)
    public static let proRes4444XQ = MediaSubType(rawValue: kCMVideoCodecType_AppleProRes4444XQ)
    public static let proRes4444 = MediaSubType(rawValue: kCMVideoCodecType_AppleProRes4444)
    public static let proRes422HQ = MediaSubType(rawValue: kCMVideoCodecType_AppleProRes422HQ)
    public static let proRes422 = MediaSubType(rawValue: kCMVideoCodecType_AppleProRes422)
    public static let proRes422LT = MediaSubType(rawValue: kCMVideoCodecType_AppleProRes422LT)
    public static let proRes422Proxy = MediaSubType(rawValue: kCMVideoCodecType_AppleProRes422Proxy)
    public static let proResRAW = MediaSubType(rawValue: kCMVideoCodecType_AppleProResRAW)
    public static let proResRAWHQ = MediaSubType(rawValue: kCMVideoCodecType_AppleProResRAWHQ)

    // Multiplexed media, captions, text, time code and metadata

    public static let mpeg1System = MediaSubType(rawValue: 0x6D703173)  // 'mp1s'
    public static let mpeg2Transport = MediaSubType(rawValue: 0x6D703274)  // 'mp2t'
    public static let mpeg2Program = MediaSubType(rawValue: 0x6D703270)  // 'mp2p'
    public static let dv = MediaSubType(rawValue: 0x64762020)  // 'dv  '
    public static let cea608 = MediaSubType(rawValue: 0x63363038)  // 'c608'
    public static let cea708 = MediaSubType(rawValue: 0x63373038)  // 'c708'
    public static let atsc = MediaSubType(rawValue: 0x61746363)  // 'atcc'
    public static let qt = MediaSubType(rawValue: 0x74657874)  // 'text'
    public static let mobile3GPP = MediaSubType(rawValue: 0x74783367)  // 'tx3g'
    public static let webVTT = MediaSubType(rawValue: 0x77767474)  // 'wvtt'
    public static let timeCode32 = MediaSubType(rawValue: 0x746D6364)  // 'tmcd'
    public static let timeCode64 = MediaSubType(rawValue: 0x74633634)  // 'tc64'
    public static let counter32 = MediaSubType(rawValue: 0x636E3332)  // 'cn32'
    public static let counter64 = MediaSubType(rawValue: 0x636E3634)  // 'cn64'
    public static let icy = MediaSubType(rawValue: 0x69637920)  // 'icy '
    public static let id3 = MediaSubType(rawValue: 0x69643320)  // 'id3 '
    public static let boxed = MediaSubType(rawValue: 0x6D656278)  // 'mebx'
    public static let emsg = MediaSubType(rawValue: 0x656D7367)  // 'emsg'
  }
}

/// Returns the four-character code for up to four characters of one byte each, with spaces
/// appended.
func fourCharCode(_ string: String) -> FourCharCode {
  let characters = string.unicodeScalars.prefix(4).map { FourCharCode($0.value & 0xFF) }
  return (characters + [32, 32, 32, 32]).prefix(4).reduce(0) { $0 << 8 | $1 }
}
