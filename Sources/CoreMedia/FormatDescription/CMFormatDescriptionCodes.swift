// SPDX-License-Identifier: Apache-2.0
import CoreVideo

/// The media type of a format, a four-character code.
public typealias CMMediaType = FourCharCode
public let kCMMediaType_Video: CMMediaType = 0x76696465  // 'vide'
public let kCMMediaType_Audio: CMMediaType = 0x736F756E  // 'soun'
public let kCMMediaType_Muxed: CMMediaType = 0x6D757878  // 'muxx'
public let kCMMediaType_Text: CMMediaType = 0x74657874  // 'text'
public let kCMMediaType_ClosedCaption: CMMediaType = 0x636C6370  // 'clcp'
public let kCMMediaType_Subtitle: CMMediaType = 0x7362746C  // 'sbtl'
public let kCMMediaType_TimeCode: CMMediaType = 0x746D6364  // 'tmcd'
public let kCMMediaType_Metadata: CMMediaType = 0x6D657461  // 'meta'
public let kCMMediaType_TaggedBufferGroup: CMMediaType = 0x74626772  // 'tbgr'

/// The pixel format of uncompressed video.
public typealias CMPixelFormatType = FourCharCode
public let kCMPixelFormat_32ARGB: CMPixelFormatType = kCVPixelFormatType_32ARGB
public let kCMPixelFormat_32BGRA: CMPixelFormatType = kCVPixelFormatType_32BGRA
public let kCMPixelFormat_24RGB: CMPixelFormatType = kCVPixelFormatType_24RGB
public let kCMPixelFormat_16BE555: CMPixelFormatType = kCVPixelFormatType_16BE555
public let kCMPixelFormat_16BE565: CMPixelFormatType = kCVPixelFormatType_16BE565
public let kCMPixelFormat_16LE555: CMPixelFormatType = kCVPixelFormatType_16LE555
public let kCMPixelFormat_16LE565: CMPixelFormatType = kCVPixelFormatType_16LE565
public let kCMPixelFormat_16LE5551: CMPixelFormatType = kCVPixelFormatType_16LE5551
public let kCMPixelFormat_422YpCbCr8: CMPixelFormatType = kCVPixelFormatType_422YpCbCr8
public let kCMPixelFormat_422YpCbCr8_yuvs: CMPixelFormatType = kCVPixelFormatType_422YpCbCr8_yuvs
public let kCMPixelFormat_444YpCbCr8: CMPixelFormatType = kCVPixelFormatType_444YpCbCr8
public let kCMPixelFormat_4444YpCbCrA8: CMPixelFormatType = kCVPixelFormatType_4444YpCbCrA8
public let kCMPixelFormat_422YpCbCr16: CMPixelFormatType = kCVPixelFormatType_422YpCbCr16
public let kCMPixelFormat_422YpCbCr10: CMPixelFormatType = kCVPixelFormatType_422YpCbCr10
public let kCMPixelFormat_444YpCbCr10: CMPixelFormatType = kCVPixelFormatType_444YpCbCr10
public let kCMPixelFormat_8IndexedGray_WhiteIsZero: CMPixelFormatType =
  kCVPixelFormatType_8IndexedGray_WhiteIsZero

/// The codec of compressed video, or the pixel format of uncompressed video, a four-character code.
public typealias CMVideoCodecType = FourCharCode
public let kCMVideoCodecType_422YpCbCr8: CMVideoCodecType = kCMPixelFormat_422YpCbCr8
public let kCMVideoCodecType_Animation: CMVideoCodecType = 0x726C6520  // 'rle '
public let kCMVideoCodecType_Cinepak: CMVideoCodecType = 0x63766964  // 'cvid'
public let kCMVideoCodecType_JPEG: CMVideoCodecType = 0x6A706567  // 'jpeg'
public let kCMVideoCodecType_JPEG_OpenDML: CMVideoCodecType = 0x646D6231  // 'dmb1'
public let kCMVideoCodecType_SorensonVideo: CMVideoCodecType = 0x53565131  // 'SVQ1'
public let kCMVideoCodecType_SorensonVideo3: CMVideoCodecType = 0x53565133  // 'SVQ3'
public let kCMVideoCodecType_H263: CMVideoCodecType = 0x68323633  // 'h263'
public let kCMVideoCodecType_H264: CMVideoCodecType = 0x61766331  // 'avc1'
public let kCMVideoCodecType_HEVC: CMVideoCodecType = 0x68766331  // 'hvc1'
/// HEVC with Dolby Vision metadata in the samples. No encoder of this package produces it.
public let kCMVideoCodecType_DolbyVisionHEVC: CMVideoCodecType = 0x64766831  // 'dvh1'
public let kCMVideoCodecType_HEVCWithAlpha: CMVideoCodecType = 0x6D757861  // 'muxa'
public let kCMVideoCodecType_MPEG4Video: CMVideoCodecType = 0x6D703476  // 'mp4v'
public let kCMVideoCodecType_MPEG2Video: CMVideoCodecType = 0x6D703276  // 'mp2v'
public let kCMVideoCodecType_MPEG1Video: CMVideoCodecType = 0x6D703176  // 'mp1v'
public let kCMVideoCodecType_VP9: CMVideoCodecType = 0x76703039  // 'vp09'
public let kCMVideoCodecType_AV1: CMVideoCodecType = 0x61763031  // 'av01'
public let kCMVideoCodecType_DVCNTSC: CMVideoCodecType = 0x64766320  // 'dvc '
public let kCMVideoCodecType_DVCPAL: CMVideoCodecType = 0x64766370  // 'dvcp'
public let kCMVideoCodecType_DVCProPAL: CMVideoCodecType = 0x64767070  // 'dvpp'
public let kCMVideoCodecType_DVCPro50NTSC: CMVideoCodecType = 0x6476356E  // 'dv5n'
public let kCMVideoCodecType_DVCPro50PAL: CMVideoCodecType = 0x64763570  // 'dv5p'
public let kCMVideoCodecType_DVCPROHD720p60: CMVideoCodecType = 0x64766870  // 'dvhp'
public let kCMVideoCodecType_DVCPROHD720p50: CMVideoCodecType = 0x64766871  // 'dvhq'
public let kCMVideoCodecType_DVCPROHD1080i60: CMVideoCodecType = 0x64766836  // 'dvh6'
public let kCMVideoCodecType_DVCPROHD1080i50: CMVideoCodecType = 0x64766835  // 'dvh5'
public let kCMVideoCodecType_DVCPROHD1080p30: CMVideoCodecType = 0x64766833  // 'dvh3'
public let kCMVideoCodecType_DVCPROHD1080p25: CMVideoCodecType = 0x64766832  // 'dvh2'
public let kCMVideoCodecType_AppleProRes4444XQ: CMVideoCodecType = 0x61703478  // 'ap4x'
public let kCMVideoCodecType_AppleProRes4444: CMVideoCodecType = 0x61703468  // 'ap4h'
public let kCMVideoCodecType_AppleProRes422HQ: CMVideoCodecType = 0x61706368  // 'apch'
public let kCMVideoCodecType_AppleProRes422: CMVideoCodecType = 0x6170636E  // 'apcn'
public let kCMVideoCodecType_AppleProRes422LT: CMVideoCodecType = 0x61706373  // 'apcs'
public let kCMVideoCodecType_AppleProRes422Proxy: CMVideoCodecType = 0x6170636F  // 'apco'
public let kCMVideoCodecType_AppleProResRAW: CMVideoCodecType = 0x6170726E  // 'aprn'
public let kCMVideoCodecType_AppleProResRAWHQ: CMVideoCodecType = 0x61707268  // 'aprh'

/// The format of subtitles, a four-character code.
public typealias CMSubtitleFormatType = FourCharCode
public let kCMSubtitleFormatType_3GText: CMSubtitleFormatType = 0x74783367  // 'tx3g'
public let kCMSubtitleFormatType_WebVTT: CMSubtitleFormatType = 0x77767474  // 'wvtt'
