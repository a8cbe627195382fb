// SPDX-License-Identifier: Apache-2.0
// The kind of media of samples.

#ifndef OVT_COREMEDIA_CMFORMATDESCRIPTION_H
#define OVT_COREMEDIA_CMFORMATDESCRIPTION_H

#include <CoreAudioTypes/CoreAudioTypes.h>
#include <CoreGraphics/CGGeometry.h>
#include <CoreMedia/CMBase.h>
#include <CoreMedia/CMTime.h>
#include <CoreVideo/CoreVideo.h>

OVT_HEADER_BEGIN

typedef const struct opaqueCMFormatDescription *CMFormatDescriptionRef;
typedef CMFormatDescriptionRef CMVideoFormatDescriptionRef;
typedef CMFormatDescriptionRef CMAudioFormatDescriptionRef;
typedef CMFormatDescriptionRef CMMuxedFormatDescriptionRef;
typedef CMFormatDescriptionRef CMTextFormatDescriptionRef;
typedef CMFormatDescriptionRef CMTimeCodeFormatDescriptionRef;
typedef CMFormatDescriptionRef CMMetadataFormatDescriptionRef;

typedef FourCharCode CMMediaType;
typedef FourCharCode CMPixelFormatType;
typedef FourCharCode CMVideoCodecType;
typedef FourCharCode CMMuxedStreamType;
typedef FourCharCode CMClosedCaptionFormatType;
typedef FourCharCode CMTextFormatType;
typedef FourCharCode CMSubtitleFormatType;
typedef FourCharCode CMTimeCodeFormatType;
typedef FourCharCode CMMetadataFormatType;
typedef FourCharCode CMAudioCodecType;
typedef uint32_t CMTextDisplayFlags;
typedef int8_t CMTextJustificationValue;
typedef uint32_t CMAudioFormatDescriptionMask;

/// The size of a picture in samples.
typedef struct {
  int32_t width;
  int32_t height;
} CMVideoDimensions;

#define kCMTextDisplayFlag_allSubtitlesForced 0x80000000U

enum {
  kCMAudioFormatDescriptionMask_StreamBasicDescription = 1,
  kCMAudioFormatDescriptionMask_MagicCookie = 2,
  kCMAudioFormatDescriptionMask_ChannelLayout = 4,
  kCMAudioFormatDescriptionMask_Extensions = 8,
  kCMAudioFormatDescriptionMask_All = 15,
  kCMMediaType_Video = 0x76696465,  // 'vide'
  kCMMediaType_Audio = 0x736F756E,  // 'soun'
  kCMMediaType_Muxed = 0x6D757878,  // 'muxx'
  kCMMediaType_Text = 0x74657874,  // 'text'
  kCMMediaType_ClosedCaption = 0x636C6370,  // 'clcp'
  kCMMediaType_Subtitle = 0x7362746C,  // 'sbtl'
  kCMMediaType_TimeCode = 0x746D6364,  // 'tmcd'
  kCMMediaType_Metadata = 0x6D657461,  // 'meta'
  kCMMediaType_TaggedBufferGroup = 0x74626772,  // 'tbgr'
  kCMPixelFormat_32ARGB = kCVPixelFormatType_32ARGB,
  kCMPixelFormat_32BGRA = kCVPixelFormatType_32BGRA,
  kCMPixelFormat_24RGB = kCVPixelFormatType_24RGB,
  kCMPixelFormat_16BE555 = kCVPixelFormatType_16BE555,
  kCMPixelFormat_16BE565 = kCVPixelFormatType_16BE565,
  kCMPixelFormat_16LE555 = kCVPixelFormatType_16LE555,
  kCMPixelFormat_16LE565 = kCVPixelFormatType_16LE565,
  kCMPixelFormat_16LE5551 = kCVPixelFormatType_16LE5551,
  kCMPixelFormat_422YpCbCr8 = kCVPixelFormatType_422YpCbCr8,
  kCMPixelFormat_422YpCbCr8_yuvs = kCVPixelFormatType_422YpCbCr8_yuvs,
  kCMPixelFormat_444YpCbCr8 = kCVPixelFormatType_444YpCbCr8,
  kCMPixelFormat_4444YpCbCrA8 = kCVPixelFormatType_4444YpCbCrA8,
  kCMPixelFormat_422YpCbCr16 = kCVPixelFormatType_422YpCbCr16,
  kCMPixelFormat_422YpCbCr10 = kCVPixelFormatType_422YpCbCr10,
  kCMPixelFormat_444YpCbCr10 = kCVPixelFormatType_444YpCbCr10,
  kCMPixelFormat_8IndexedGray_WhiteIsZero = kCVPixelFormatType_8IndexedGray_WhiteIsZero,
  kCMVideoCodecType_422YpCbCr8 = kCMPixelFormat_422YpCbCr8,
  kCMVideoCodecType_Animation = 0x726C6520,  // 'rle '
  kCMVideoCodecType_Cinepak = 0x63766964,  // 'cvid'
  kCMVideoCodecType_JPEG = 0x6A706567,  // 'jpeg'
  kCMVideoCodecType_JPEG_OpenDML = 0x646D6231,  // 'dmb1'
  kCMVideoCodecType_SorensonVideo = 0x53565131,  // 'SVQ1'
  kCMVideoCodecType_SorensonVideo3 = 0x53565133,  // 'SVQ3'
  kCMVideoCodecType_H263 = 0x68323633,  // 'h263'
  kCMVideoCodecType_H264 = 0x61766331,  // 'avc1'
  kCMVideoCodecType_HEVC = 0x68766331,  // 'hvc1'
  /// HEVC with Dolby Vision's metadata in the samples. Nothing here writes it.
  kCMVideoCodecType_DolbyVisionHEVC = 0x64766831,  // 'dvh1'
  kCMVideoCodecType_HEVCWithAlpha = 0x6D757861,  // 'muxa'
  kCMVideoCodecType_MPEG4Video = 0x6D703476,  // 'mp4v'
  kCMVideoCodecType_MPEG2Video = 0x6D703276,  // 'mp2v'
  kCMVideoCodecType_MPEG1Video = 0x6D703176,  // 'mp1v'
  kCMVideoCodecType_VP9 = 0x76703039,  // 'vp09'
  kCMVideoCodecType_AV1 = 0x61763031,  // 'av01'
  kCMVideoCodecType_DVCNTSC = 0x64766320,  // 'dvc '
  kCMVideoCodecType_DVCPAL = 0x64766370,  // 'dvcp'
  kCMVideoCodecType_DVCProPAL = 0x64767070,  // 'dvpp'
  kCMVideoCodecType_DVCPro50NTSC = 0x6476356E,  // 'dv5n'
  kCMVideoCodecType_DVCPro50PAL = 0x64763570,  // 'dv5p'
  kCMVideoCodecType_DVCPROHD720p60 = 0x64766870,  // 'dvhp'
  kCMVideoCodecType_DVCPROHD720p50 = 0x64766871,  // 'dvhq'
  kCMVideoCodecType_DVCPROHD1080i60 = 0x64766836,  // 'dvh6'
  kCMVideoCodecType_DVCPROHD1080i50 = 0x64766835,  // 'dvh5'
  kCMVideoCodecType_DVCPROHD1080p30 = 0x64766833,  // 'dvh3'
  kCMVideoCodecType_DVCPROHD1080p25 = 0x64766832,  // 'dvh2'
  kCMVideoCodecType_AppleProRes4444XQ = 0x61703478,  // 'ap4x'
  kCMVideoCodecType_AppleProRes4444 = 0x61703468,  // 'ap4h'
  kCMVideoCodecType_AppleProRes422HQ = 0x61706368,  // 'apch'
  kCMVideoCodecType_AppleProRes422 = 0x6170636E,  // 'apcn'
  kCMVideoCodecType_AppleProRes422LT = 0x61706373,  // 'apcs'
  kCMVideoCodecType_AppleProRes422Proxy = 0x6170636F,  // 'apco'
  kCMVideoCodecType_AppleProResRAW = 0x6170726E,  // 'aprn'
  kCMVideoCodecType_AppleProResRAWHQ = 0x61707268,  // 'aprh'
  kCMSubtitleFormatType_3GText = 0x74783367,  // 'tx3g'
  kCMSubtitleFormatType_WebVTT = 0x77767474,  // 'wvtt'
  /// A parameter is wrong or missing.
  kCMFormatDescriptionError_InvalidParameter = -12710,
  /// Memory ran out.
  kCMFormatDescriptionError_AllocationFailed = -12711,
  /// The format description does not say that.
  kCMFormatDescriptionError_ValueNotAvailable = -12718,
  kCMMetadataFormatType_ICY = 0x69637920,  // 'icy '
  kCMMetadataFormatType_ID3 = 0x69643320,  // 'id3 '
  /// Boxes in samples, each named by a local identifier that the description's key table explains.
  kCMMetadataFormatType_Boxed = 0x6D656278,  // 'mebx'
  kCMMetadataFormatType_EMSG = 0x656D7367,  // 'emsg'
  kCMTextFormatType_QTText = 0x74657874,  // 'text'
  kCMTextFormatType_3GText = 0x74783367,  // 'tx3g'
  kCMTextDisplayFlag_scrollIn = 32,
  kCMTextDisplayFlag_scrollOut = 64,
  kCMTextDisplayFlag_scrollDirectionMask = 384,
  kCMTextDisplayFlag_scrollDirection_bottomToTop = 0,
  kCMTextDisplayFlag_scrollDirection_rightToLeft = 128,
  kCMTextDisplayFlag_scrollDirection_topToBottom = 256,
  kCMTextDisplayFlag_scrollDirection_leftToRight = 384,
  kCMTextDisplayFlag_continuousKaraoke = 2048,
  kCMTextDisplayFlag_writeTextVertically = 131072,
  kCMTextDisplayFlag_fillTextRegion = 262144,
  kCMTextDisplayFlag_obeySubtitleFormatting = 536870912,
  kCMTextDisplayFlag_forcedSubtitlesPresent = 1073741824,
  kCMTextJustification_left_top = 0,
  kCMTextJustification_centered = 1,
  kCMTextJustification_bottom_right = -1,
  /// Samples of 32 bits that count frames.
  kCMTimeCodeFormatType_TimeCode32 = 0x746D6364,  // 'tmcd'
  /// Samples of 64 bits that count frames.
  kCMTimeCodeFormatType_TimeCode64 = 0x74633634,  // 'tc64'
  /// Counters of 32 bits.
  kCMTimeCodeFormatType_Counter32 = 0x636E3332,  // 'cn32'
  /// Counters of 64 bits.
  kCMTimeCodeFormatType_Counter64 = 0x636E3634,  // 'cn64'
  /// Frame numbers are dropped so that time codes at 29.97 frames per second match the clock
  /// (drop-frame time code).
  kCMTimeCodeFlag_DropFrame = 1,
  /// Time codes begin again after 24 hours.
  kCMTimeCodeFlag_24HourMax = 2,
  /// Time codes may be negative.
  kCMTimeCodeFlag_NegTimesOK = 4
};

/// The settings that the media was compressed with (dictionary).
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtension_OriginalCompressionSettings;
/// The atoms of the sample description by their four-character names, `avcC` and `hvcC` among them
/// (dictionary of data, or of arrays of data).
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms;
/// The sample description as it was in the file (data).
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtension_VerbatimSampleDescription;
/// The ISO sample entry as it was in the file (data).
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtension_VerbatimISOSampleEntry;
/// The older name of `kCMFormatDescriptionExtension_VerbatimSampleDescription`.
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtension_VerbatimImageDescription;
/// The name of the format for people (string).
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtension_FormatName;
/// The depth in bits as QuickTime counts them (number).
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtension_Depth;
/// The part of the picture that is to be shown (dictionary; see the keys below).
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtension_CleanAperture;
/// 1 for progressive pictures, 2 for pictures of two fields (number).
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtension_FieldCount;
/// How the fields are ordered (string; see the values below).
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtension_FieldDetail;
/// The shape of a pixel (dictionary; see the keys below).
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtension_PixelAspectRatio;
/// The colour primaries (string; see the values below).
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtension_ColorPrimaries;
/// The transfer function (string; see the values below).
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtension_TransferFunction;
/// The gamma, if the transfer function is `UseGamma` (number).
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtension_GammaLevel;
/// The matrix between RGB and Y'CbCr (string; see the values below).
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtension_YCbCrMatrix;
/// Whether samples use all values from 0 up (boolean).
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtension_FullRangeVideo;
/// The ICC profile (data).
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtension_ICCProfile;
/// The number of bytes of a row of uncompressed pixels (number).
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtension_BytesPerRow;
/// Where chroma samples lie in a frame or top field (string; see the values below).
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtension_ChromaLocationTopField;
/// Where chroma samples lie in a bottom field (string; see the values below).
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtension_ChromaLocationBottomField;
/// The profile of MPEG-2 video that the media conforms to (number).
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtension_ConformsToMPEG2VideoProfile;
/// The codec of protected media (number).
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtension_ProtectedContentOriginalFormat;
/// The temporal quality that the media was compressed with (number).
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtension_TemporalQuality;
/// The spatial quality that the media was compressed with (number).
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtension_SpatialQuality;
/// The version of the sample description (number).
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtension_Version;
/// The revision level of the sample description (number).
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtension_RevisionLevel;
/// Who made the compressor (string of four characters).
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtension_Vendor;
/// Apple.
OVT_EXPORT const CFStringRef kCMFormatDescriptionVendor_Apple;
/// The mastering display's colour volume (data as in the SEI message).
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtension_MasteringDisplayColorVolume;
/// The content light level (data as in the SEI message).
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtension_ContentLightLevelInfo;
/// The transfer function to prefer (string; see the values below).
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtension_AlternativeTransferCharacteristics;
/// The type of an auxiliary picture (string).
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtension_AuxiliaryTypeInfo;
/// Whether colour is multiplied with alpha (string; see the values below).
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtension_AlphaChannelMode;
/// Whether there is an alpha channel (boolean).
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtension_ContainsAlphaChannel;
/// The width of the clean aperture in pixels (number).
OVT_EXPORT const CFStringRef kCMFormatDescriptionKey_CleanApertureWidth;
/// The height of the clean aperture in pixels (number).
OVT_EXPORT const CFStringRef kCMFormatDescriptionKey_CleanApertureHeight;
/// The offset of the clean aperture's centre from the picture's in pixels (number).
OVT_EXPORT const CFStringRef kCMFormatDescriptionKey_CleanApertureHorizontalOffset;
/// The offset of the clean aperture's centre from the picture's in pixels (number).
OVT_EXPORT const CFStringRef kCMFormatDescriptionKey_CleanApertureVerticalOffset;
/// The same as an array of numerator and denominator.
OVT_EXPORT const CFStringRef kCMFormatDescriptionKey_CleanApertureWidthRational;
/// The same as an array of numerator and denominator.
OVT_EXPORT const CFStringRef kCMFormatDescriptionKey_CleanApertureHeightRational;
/// The same as an array of numerator and denominator.
OVT_EXPORT const CFStringRef kCMFormatDescriptionKey_CleanApertureHorizontalOffsetRational;
/// The same as an array of numerator and denominator.
OVT_EXPORT const CFStringRef kCMFormatDescriptionKey_CleanApertureVerticalOffsetRational;
/// The width of a pixel, of which only the ratio matters (number).
OVT_EXPORT const CFStringRef kCMFormatDescriptionKey_PixelAspectRatioHorizontalSpacing;
/// The height of a pixel, of which only the ratio matters (number).
OVT_EXPORT const CFStringRef kCMFormatDescriptionKey_PixelAspectRatioVerticalSpacing;
/// The top field comes first; the fields are stored one after the other.
OVT_EXPORT const CFStringRef kCMFormatDescriptionFieldDetail_TemporalTopFirst;
/// The bottom field comes first; the fields are stored one after the other.
OVT_EXPORT const CFStringRef kCMFormatDescriptionFieldDetail_TemporalBottomFirst;
/// The fields are interleaved; the first line is of the earlier one.
OVT_EXPORT const CFStringRef kCMFormatDescriptionFieldDetail_SpatialFirstLineEarly;
/// The fields are interleaved; the first line is of the later one.
OVT_EXPORT const CFStringRef kCMFormatDescriptionFieldDetail_SpatialFirstLineLate;
/// ITU-R BT.709.
OVT_EXPORT const CFStringRef kCMFormatDescriptionColorPrimaries_ITU_R_709_2;
/// EBU Tech. 3213, the primaries of 625-line video.
OVT_EXPORT const CFStringRef kCMFormatDescriptionColorPrimaries_EBU_3213;
/// SMPTE C, the primaries of 525-line video.
OVT_EXPORT const CFStringRef kCMFormatDescriptionColorPrimaries_SMPTE_C;
/// DCI-P3.
OVT_EXPORT const CFStringRef kCMFormatDescriptionColorPrimaries_DCI_P3;
/// P3 with a white point of D65.
OVT_EXPORT const CFStringRef kCMFormatDescriptionColorPrimaries_P3_D65;
/// ITU-R BT.2020.
OVT_EXPORT const CFStringRef kCMFormatDescriptionColorPrimaries_ITU_R_2020;
/// P22 phosphors.
OVT_EXPORT const CFStringRef kCMFormatDescriptionColorPrimaries_P22;
/// ITU-R BT.709.
OVT_EXPORT const CFStringRef kCMFormatDescriptionTransferFunction_ITU_R_709_2;
/// SMPTE 240M.
OVT_EXPORT const CFStringRef kCMFormatDescriptionTransferFunction_SMPTE_240M_1995;
/// A plain gamma; see `kCMFormatDescriptionExtension_GammaLevel`.
OVT_EXPORT const CFStringRef kCMFormatDescriptionTransferFunction_UseGamma;
/// ITU-R BT.2020, the same function as that of BT.709.
OVT_EXPORT const CFStringRef kCMFormatDescriptionTransferFunction_ITU_R_2020;
/// SMPTE ST 428-1.
OVT_EXPORT const CFStringRef kCMFormatDescriptionTransferFunction_SMPTE_ST_428_1;
/// SMPTE ST 2084, PQ.
OVT_EXPORT const CFStringRef kCMFormatDescriptionTransferFunction_SMPTE_ST_2084_PQ;
/// ITU-R BT.2100, HLG.
OVT_EXPORT const CFStringRef kCMFormatDescriptionTransferFunction_ITU_R_2100_HLG;
/// Linear light.
OVT_EXPORT const CFStringRef kCMFormatDescriptionTransferFunction_Linear;
/// IEC 61966-2-1, sRGB.
OVT_EXPORT const CFStringRef kCMFormatDescriptionTransferFunction_sRGB;
/// ITU-R BT.709.
OVT_EXPORT const CFStringRef kCMFormatDescriptionYCbCrMatrix_ITU_R_709_2;
/// ITU-R BT.601.
OVT_EXPORT const CFStringRef kCMFormatDescriptionYCbCrMatrix_ITU_R_601_4;
/// SMPTE 240M.
OVT_EXPORT const CFStringRef kCMFormatDescriptionYCbCrMatrix_SMPTE_240M_1995;
/// ITU-R BT.2020, not constant luminance.
OVT_EXPORT const CFStringRef kCMFormatDescriptionYCbCrMatrix_ITU_R_2020;
/// Next to the left luma samples, between the rows.
OVT_EXPORT const CFStringRef kCMFormatDescriptionChromaLocation_Left;
/// In the centre of the luma samples.
OVT_EXPORT const CFStringRef kCMFormatDescriptionChromaLocation_Center;
/// At the top left luma samples.
OVT_EXPORT const CFStringRef kCMFormatDescriptionChromaLocation_TopLeft;
/// Between the upper luma samples.
OVT_EXPORT const CFStringRef kCMFormatDescriptionChromaLocation_Top;
/// At the bottom left luma samples.
OVT_EXPORT const CFStringRef kCMFormatDescriptionChromaLocation_BottomLeft;
/// Between the lower luma samples.
OVT_EXPORT const CFStringRef kCMFormatDescriptionChromaLocation_Bottom;
/// Cr and Cb on alternate rows, as in DV.
OVT_EXPORT const CFStringRef kCMFormatDescriptionChromaLocation_DV420;
/// Colour is not multiplied with alpha.
OVT_EXPORT const CFStringRef kCMFormatDescriptionAlphaChannelMode_StraightAlpha;
/// Colour is multiplied with alpha.
OVT_EXPORT const CFStringRef kCMFormatDescriptionAlphaChannelMode_PremultipliedAlpha;
/// Number.
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtension_BitsPerComponent;
/// One of `kCMFormatDescriptionLogTransferFunction_`.
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtension_LogTransferFunction;
/// The curve of Apple Log.
OVT_EXPORT const CFStringRef kCMFormatDescriptionLogTransferFunction_AppleLog;
/// The light around the display: 8 bytes, as in the SEI message of that name.
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtension_AmbientViewingEnvironment;
/// The colours that the pictures use: bytes as in the SEI message of that name.
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtension_ContentColorVolume;
/// Boolean.
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtension_HasLeftStereoEyeView;
/// Boolean.
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtension_HasRightStereoEyeView;
/// More views than those of the two eyes. Boolean.
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtension_HasAdditionalViews;
/// The eye whose view is shown where only one is. One of `kCMFormatDescriptionHeroEye_`.
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtension_HeroEye;
/// The left eye.
OVT_EXPORT const CFStringRef kCMFormatDescriptionHeroEye_Left;
/// The right eye.
OVT_EXPORT const CFStringRef kCMFormatDescriptionHeroEye_Right;
/// Distance between the lenses' centres, in micrometres. Number.
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtension_StereoCameraBaseline;
/// Shift of the views against each other, -10000 to 10000 for -1 to 1 of the width. Number.
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtension_HorizontalDisparityAdjustment;
/// In thousandths of a degree. Number.
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtension_HorizontalFieldOfView;
/// How two views share a picture. One of `kCMFormatDescriptionViewPackingKind_`.
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtension_ViewPackingKind;
/// Left and right halves.
OVT_EXPORT const CFStringRef kCMFormatDescriptionViewPackingKind_SideBySide;
/// Upper and lower halves.
OVT_EXPORT const CFStringRef kCMFormatDescriptionViewPackingKind_OverUnder;
/// How a picture covers the sphere around the viewer. One of `kCMFormatDescriptionProjectionKind_`.
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtension_ProjectionKind;
/// Flat, as of an ordinary lens.
OVT_EXPORT const CFStringRef kCMFormatDescriptionProjectionKind_Rectilinear;
/// All around: 360 degrees.
OVT_EXPORT const CFStringRef kCMFormatDescriptionProjectionKind_Equirectangular;
/// In front: 180 degrees.
OVT_EXPORT const CFStringRef kCMFormatDescriptionProjectionKind_HalfEquirectangular;
/// By the calibration of a wide lens.
OVT_EXPORT const CFStringRef kCMFormatDescriptionProjectionKind_ParametricImmersive;
/// Apple's own format.
OVT_EXPORT const CFStringRef kCMFormatDescriptionProjectionKind_AppleImmersiveVideo;
/// The projection was found in tags of another kind. Boolean.
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtension_ConvertedFromExternalSphericalTags;
/// The calibration of each lens. Array of dictionaries of the keys below.
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtension_CameraCalibrationDataLensCollection;
/// One of `kCMFormatDescriptionCameraCalibrationLensAlgorithmKind_`.
OVT_EXPORT const CFStringRef kCMFormatDescriptionCameraCalibration_LensAlgorithmKind;
/// One of `kCMFormatDescriptionCameraCalibrationLensDomain_`.
OVT_EXPORT const CFStringRef kCMFormatDescriptionCameraCalibration_LensDomain;
/// Number.
OVT_EXPORT const CFStringRef kCMFormatDescriptionCameraCalibration_LensIdentifier;
/// One of `kCMFormatDescriptionCameraCalibrationLensRole_`.
OVT_EXPORT const CFStringRef kCMFormatDescriptionCameraCalibration_LensRole;
/// Array of numbers.
OVT_EXPORT const CFStringRef kCMFormatDescriptionCameraCalibration_LensDistortions;
/// Array of three numbers.
OVT_EXPORT const CFStringRef kCMFormatDescriptionCameraCalibration_LensFrameAdjustmentsPolynomialX;
/// Array of three numbers.
OVT_EXPORT const CFStringRef kCMFormatDescriptionCameraCalibration_LensFrameAdjustmentsPolynomialY;
/// In degrees. Number.
OVT_EXPORT const CFStringRef kCMFormatDescriptionCameraCalibration_RadialAngleLimit;
/// Nine numbers, row by row.
OVT_EXPORT const CFStringRef kCMFormatDescriptionCameraCalibration_IntrinsicMatrix;
/// Number.
OVT_EXPORT const CFStringRef kCMFormatDescriptionCameraCalibration_IntrinsicMatrixProjectionOffset;
/// The size that the matrix is for. Dictionary.
OVT_EXPORT const CFStringRef kCMFormatDescriptionCameraCalibration_IntrinsicMatrixReferenceDimensions;
/// One of `kCMFormatDescriptionCameraCalibrationExtrinsicOriginSource_`.
OVT_EXPORT const CFStringRef kCMFormatDescriptionCameraCalibration_ExtrinsicOriginSource;
/// The origin is in the middle between the two cameras.
OVT_EXPORT const CFStringRef
    kCMFormatDescriptionCameraCalibrationExtrinsicOriginSource_StereoCameraSystemBaseline;
/// Three numbers.
OVT_EXPORT const CFStringRef kCMFormatDescriptionCameraCalibration_ExtrinsicOrientationQuaternion;
/// A lens by its parameters.
OVT_EXPORT const CFStringRef kCMFormatDescriptionCameraCalibrationLensAlgorithmKind_ParametricLens;
/// A lens for colour.
OVT_EXPORT const CFStringRef kCMFormatDescriptionCameraCalibrationLensDomain_Color;
/// The only lens.
OVT_EXPORT const CFStringRef kCMFormatDescriptionCameraCalibrationLensRole_Mono;
/// The left eye's lens.
OVT_EXPORT const CFStringRef kCMFormatDescriptionCameraCalibrationLensRole_Left;
/// The right eye's lens.
OVT_EXPORT const CFStringRef kCMFormatDescriptionCameraCalibrationLensRole_Right;
/// The keys: a dictionary of dictionaries, by the local identifier in decimal.
OVT_EXPORT const CFStringRef kCMFormatDescriptionExtensionKey_MetadataKeyTable;
/// In the dictionary of a key: its key space, a four-character code as a number.
OVT_EXPORT const CFStringRef kCMMetadataFormatDescriptionKey_Namespace;
/// In the dictionary of a key: its bytes (data).
OVT_EXPORT const CFStringRef kCMMetadataFormatDescriptionKey_Value;
/// In the dictionary of a key: the number by which samples refer to it, neither 0 nor 0xFFFFFFFF.
OVT_EXPORT const CFStringRef kCMMetadataFormatDescriptionKey_LocalID;
/// In the dictionary of a key: the type of its values (data), in the form of the data type's
/// namespace.
OVT_EXPORT const CFStringRef kCMMetadataFormatDescriptionKey_DataType;
/// In the dictionary of a key: 0 if the data type is one of QuickTime's numbers, 1 if it is a name
/// in reverse-DNS form.
OVT_EXPORT const CFStringRef kCMMetadataFormatDescriptionKey_DataTypeNamespace;
/// In the dictionary of a key: the types that its data type conforms to, an array of dictionaries
/// with type and namespace.
OVT_EXPORT const CFStringRef kCMMetadataFormatDescriptionKey_ConformingDataTypes;
/// In the dictionary of a key: the language of its values, a BCP 47 tag.
OVT_EXPORT const CFStringRef kCMMetadataFormatDescriptionKey_LanguageTag;
/// In the dictionary of a key: a dictionary that describes what its values depend on.
OVT_EXPORT const CFStringRef kCMMetadataFormatDescriptionKey_StructuralDependency;
/// In the dictionary of a key: data that is needed to interpret its values.
OVT_EXPORT const CFStringRef kCMMetadataFormatDescriptionKey_SetupData;
/// In a specification: the identifier (string).
OVT_EXPORT const CFStringRef kCMMetadataFormatDescriptionMetadataSpecificationKey_Identifier;
/// In a specification: the data type (string).
OVT_EXPORT const CFStringRef kCMMetadataFormatDescriptionMetadataSpecificationKey_DataType;
/// In a specification: setup data.
OVT_EXPORT const CFStringRef kCMMetadataFormatDescriptionMetadataSpecificationKey_SetupData;
/// In a specification: the language, a BCP 47 tag (string).
OVT_EXPORT const CFStringRef kCMMetadataFormatDescriptionMetadataSpecificationKey_ExtendedLanguageTag;
/// In a specification: what values depend on (dictionary).
OVT_EXPORT const CFStringRef kCMMetadataFormatDescriptionMetadataSpecificationKey_StructuralDependency;
/// In a structural dependency: values become invalid when the structure of the movie changes
/// (boolean).
OVT_EXPORT const CFStringRef kCMMetadataFormatDescription_StructuralDependencyKey_DependencyIsInvalidFlag;
/// `kCMTextDisplayFlag_*` (number).
OVT_EXPORT const CFStringRef kCMTextFormatDescriptionExtension_DisplayFlags;
/// A colour (dictionary).
OVT_EXPORT const CFStringRef kCMTextFormatDescriptionExtension_BackgroundColor;
/// A part of a colour: 0 to 255 in 3GPP text, to 65535 in QuickTime text.
OVT_EXPORT const CFStringRef kCMTextFormatDescriptionColor_Red;
OVT_EXPORT const CFStringRef kCMTextFormatDescriptionColor_Green;
OVT_EXPORT const CFStringRef kCMTextFormatDescriptionColor_Blue;
OVT_EXPORT const CFStringRef kCMTextFormatDescriptionColor_Alpha;
/// The box that text stands in (dictionary).
OVT_EXPORT const CFStringRef kCMTextFormatDescriptionExtension_DefaultTextBox;
/// A side of a box in pixels, from the top left.
OVT_EXPORT const CFStringRef kCMTextFormatDescriptionRect_Top;
OVT_EXPORT const CFStringRef kCMTextFormatDescriptionRect_Left;
OVT_EXPORT const CFStringRef kCMTextFormatDescriptionRect_Bottom;
OVT_EXPORT const CFStringRef kCMTextFormatDescriptionRect_Right;
/// The default style of text (dictionary).
OVT_EXPORT const CFStringRef kCMTextFormatDescriptionExtension_DefaultStyle;
/// The keys of a style: the first and the last character, a number of the font table, bits for bold
/// (1), italic (2) and underlined (4), a colour, and the size in pixels.
OVT_EXPORT const CFStringRef kCMTextFormatDescriptionStyle_StartChar;
OVT_EXPORT const CFStringRef kCMTextFormatDescriptionStyle_EndChar;
OVT_EXPORT const CFStringRef kCMTextFormatDescriptionStyle_Font;
OVT_EXPORT const CFStringRef kCMTextFormatDescriptionStyle_FontFace;
OVT_EXPORT const CFStringRef kCMTextFormatDescriptionStyle_ForegroundColor;
OVT_EXPORT const CFStringRef kCMTextFormatDescriptionStyle_FontSize;
/// The keys of a style of QuickTime text: the height of a line and its ascent above the base line,
/// in pixels.
OVT_EXPORT const CFStringRef kCMTextFormatDescriptionStyle_Height;
OVT_EXPORT const CFStringRef kCMTextFormatDescriptionStyle_Ascent;
/// The horizontal justification of 3GPP text: `kCMTextJustification_*` (number).
OVT_EXPORT const CFStringRef kCMTextFormatDescriptionExtension_HorizontalJustification;
OVT_EXPORT const CFStringRef kCMTextFormatDescriptionExtension_VerticalJustification;
/// The justification of QuickTime text: `kCMTextJustification_*` (number).
OVT_EXPORT const CFStringRef kCMTextFormatDescriptionExtension_TextJustification;
/// The names of fonts by their numbers in decimal (dictionary).
OVT_EXPORT const CFStringRef kCMTextFormatDescriptionExtension_FontTable;
/// The name of the font, for QuickTime text.
OVT_EXPORT const CFStringRef kCMTextFormatDescriptionExtension_DefaultFontName;
/// Where the time code comes from, a tape for example: a dictionary with a name and its language.
OVT_EXPORT const CFStringRef kCMTimeCodeFormatDescriptionExtension_SourceReferenceName;
/// In the source's dictionary: the name.
OVT_EXPORT const CFStringRef kCMTimeCodeFormatDescriptionKey_Value;
/// In the source's dictionary: the name's language, as QuickTime numbers them.
OVT_EXPORT const CFStringRef kCMTimeCodeFormatDescriptionKey_LangCode;

/// Creates an audio format description.
///
/// - `asbd`: Sample rate, format and sizes.
/// - `layoutSize`: The size of the channel layout with all its descriptions in bytes; 0 if there is
///   none.
/// - `magicCookieSize`: The size of what the decoder needs besides, in bytes; 0 if there is
///   nothing.
///
/// The caller owns the object that `formatDescriptionOut` receives, and releases it with
/// `CFRelease`.
OVT_EXPORT OSStatus CMAudioFormatDescriptionCreate(
    CFAllocatorRef OVT_NULLABLE allocator, const AudioStreamBasicDescription *asbd,
    size_t layoutSize, const AudioChannelLayout *OVT_NULLABLE layout, size_t magicCookieSize,
    const void *OVT_NULLABLE magicCookie, CFDictionaryRef OVT_NULLABLE extensions,
    CMAudioFormatDescriptionRef OVT_NULLABLE *formatDescriptionOut);

/// Sample rate, format and sizes, valid as long as the description; NULL for other media.
OVT_EXPORT const AudioStreamBasicDescription *OVT_NULLABLE CMAudioFormatDescriptionGetStreamBasicDescription(
    CMAudioFormatDescriptionRef desc);

/// Further data that the decoder needs, valid as long as the description; NULL if there is nothing.
OVT_EXPORT const void *OVT_NULLABLE CMAudioFormatDescriptionGetMagicCookie(
    CMAudioFormatDescriptionRef desc, size_t *OVT_NULLABLE sizeOut);

/// The arrangement of the channels, valid as long as the description; NULL if it is not known, or
/// says more descriptions than it has.
OVT_EXPORT const AudioChannelLayout *OVT_NULLABLE CMAudioFormatDescriptionGetChannelLayout(
    CMAudioFormatDescriptionRef desc, size_t *OVT_NULLABLE sizeOut);

/// The formats that the audio can be decoded to, the richest first, valid as long as the
/// description; NULL for other media. There is one, that of the description.
OVT_EXPORT const AudioFormatListItem *OVT_NULLABLE CMAudioFormatDescriptionGetFormatList(
    CMAudioFormatDescriptionRef desc, size_t *OVT_NULLABLE sizeOut);

/// The richest format that the audio can be decoded to, valid as long as the description; NULL for
/// other media.
OVT_EXPORT const AudioFormatListItem *OVT_NULLABLE CMAudioFormatDescriptionGetRichestDecodableFormat(
    CMAudioFormatDescriptionRef desc);

/// The format that most decoders understand, valid as long as the description; NULL for other
/// media.
OVT_EXPORT const AudioFormatListItem *OVT_NULLABLE CMAudioFormatDescriptionGetMostCompatibleFormat(
    CMAudioFormatDescriptionRef desc);

/// Compares parts of two audio format descriptions.
///
/// - `equalityMask`: The parts.
/// - `equalityMaskOut`: Set to those of them that are equal.
/// - Returns: Whether all of them are.
OVT_EXPORT Boolean CMAudioFormatDescriptionEqual(
    CMAudioFormatDescriptionRef formatDescription,
    CMAudioFormatDescriptionRef otherFormatDescription, CMAudioFormatDescriptionMask equalityMask,
    CMAudioFormatDescriptionMask *OVT_NULLABLE equalityMaskOut);

/// Creates a description of any media.
///
/// - `extensions`: Property list values by key.
///
/// The caller owns the object that `formatDescriptionOut` receives, and releases it with
/// `CFRelease`.
OVT_EXPORT OSStatus CMFormatDescriptionCreate(
    CFAllocatorRef OVT_NULLABLE allocator, CMMediaType mediaType, FourCharCode mediaSubType,
    CFDictionaryRef OVT_NULLABLE extensions,
    CMFormatDescriptionRef OVT_NULLABLE *formatDescriptionOut);

/// The type identifier of format descriptions.
OVT_EXPORT CFTypeID CMFormatDescriptionGetTypeID(void);

/// Whether two format descriptions say the same. Two that are missing are not equal.
OVT_EXPORT Boolean CMFormatDescriptionEqual(
    CMFormatDescriptionRef OVT_NULLABLE formatDescription,
    CMFormatDescriptionRef OVT_NULLABLE otherFormatDescription);

/// Whether two format descriptions say the same but for some extensions and atoms.
///
/// - `formatDescriptionExtensionKeysToIgnore`: A key or an array of keys of extensions.
/// - `sampleDescriptionExtensionAtomKeysToIgnore`: A name or an array of names of sample
///   description atoms.
OVT_EXPORT Boolean CMFormatDescriptionEqualIgnoringExtensionKeys(
    CMFormatDescriptionRef OVT_NULLABLE formatDescription,
    CMFormatDescriptionRef OVT_NULLABLE otherFormatDescription,
    CFTypeRef OVT_NULLABLE formatDescriptionExtensionKeysToIgnore,
    CFTypeRef OVT_NULLABLE sampleDescriptionExtensionAtomKeysToIgnore);

/// The kind of media.
OVT_EXPORT CMMediaType CMFormatDescriptionGetMediaType(CMFormatDescriptionRef desc);

/// The codec, or for uncompressed video the pixel format.
OVT_EXPORT FourCharCode CMFormatDescriptionGetMediaSubType(CMFormatDescriptionRef desc);
/// The codec of a video format: its subtype.
#define CMVideoFormatDescriptionGetCodecType(desc) CMFormatDescriptionGetMediaSubType(desc)

/// All extensions; NULL if there are none.
///
/// The result is not retained for the caller.
OVT_EXPORT CFDictionaryRef OVT_NULLABLE CMFormatDescriptionGetExtensions(
    CMFormatDescriptionRef desc);

/// One extension; NULL if it is not there.
///
/// The result is not retained for the caller.
OVT_EXPORT CFPropertyListRef OVT_NULLABLE CMFormatDescriptionGetExtension(
    CMFormatDescriptionRef desc, CFStringRef extensionKey);

/// Creates a description of timed metadata.
///
/// - `keys`: Dictionaries with the keys `kCMMetadataFormatDescriptionKey_*`; local identifiers are
///   needed.
/// - Returns: `kCMFormatDescriptionError_InvalidParameter` if a key cannot be used, or two have the
///   same identifier.
///
/// The caller owns the object that `formatDescriptionOut` receives, and releases it with
/// `CFRelease`.
OVT_EXPORT OSStatus CMMetadataFormatDescriptionCreateWithKeys(
    CFAllocatorRef OVT_NULLABLE allocator, CMMetadataFormatType metadataType,
    CFArrayRef OVT_NULLABLE keys,
    CMMetadataFormatDescriptionRef OVT_NULLABLE *formatDescriptionOut);

/// Creates a description of timed metadata.
///
/// - `metadataType`: `kCMMetadataFormatType_Boxed`.
/// - `metadataSpecifications`: Dictionaries with
///   `kCMMetadataFormatDescriptionMetadataSpecificationKey_*`: identifier and data type, and what
///   else is known. They get local identifiers in their order, from 1.
/// - Returns: `kCMFormatDescriptionError_InvalidParameter` if a specification cannot be used.
///
/// The caller owns the object that `formatDescriptionOut` receives, and releases it with
/// `CFRelease`.
OVT_EXPORT OSStatus CMMetadataFormatDescriptionCreateWithMetadataSpecifications(
    CFAllocatorRef OVT_NULLABLE allocator, CMMetadataFormatType metadataType,
    CFArrayRef metadataSpecifications,
    CMMetadataFormatDescriptionRef OVT_NULLABLE *formatDescriptionOut);

/// Creates a description of timed metadata that has the keys of another one, and more.
/// - Returns: `kCMFormatDescriptionError_InvalidParameter` if a specification cannot be used.
///
/// The caller owns the object that `formatDescriptionOut` receives, and releases it with
/// `CFRelease`.
OVT_EXPORT OSStatus CMMetadataFormatDescriptionCreateWithMetadataFormatDescriptionAndMetadataSpecifications(
    CFAllocatorRef OVT_NULLABLE allocator, CMMetadataFormatDescriptionRef sourceDescription,
    CFArrayRef metadataSpecifications,
    CMMetadataFormatDescriptionRef OVT_NULLABLE *formatDescriptionOut);

/// Creates a description of timed metadata that has the keys of two others. Those that both have
/// are there once.
/// - Returns: `kCMFormatDescriptionError_InvalidParameter` if one of them is of other media or
///   stored in another way.
///
/// The caller owns the object that `formatDescriptionOut` receives, and releases it with
/// `CFRelease`.
OVT_EXPORT OSStatus CMMetadataFormatDescriptionCreateByMergingMetadataFormatDescriptions(
    CFAllocatorRef OVT_NULLABLE allocator, CMMetadataFormatDescriptionRef sourceDescription,
    CMMetadataFormatDescriptionRef otherSourceDescription,
    CMMetadataFormatDescriptionRef OVT_NULLABLE *formatDescriptionOut);

/// Returns a description's dictionary of the key with a local identifier; NULL if there is none.
///
/// The result is not retained for the caller.
OVT_EXPORT CFDictionaryRef OVT_NULLABLE CMMetadataFormatDescriptionGetKeyWithLocalID(
    CMMetadataFormatDescriptionRef desc, OSType localKeyID);

/// The identifiers of a description's keys, in the order of their local identifiers; NULL if it has
/// no keys.
///
/// The result is not retained for the caller.
OVT_EXPORT CFArrayRef OVT_NULLABLE CMMetadataFormatDescriptionGetIdentifiers(
    CMMetadataFormatDescriptionRef desc);

/// How text is shown.
/// - Returns: `kCMFormatDescriptionError_ValueNotAvailable` if the description has no value.
OVT_EXPORT OSStatus CMTextFormatDescriptionGetDisplayFlags(
    CMFormatDescriptionRef desc, CMTextDisplayFlags *displayFlagsOut);

/// Where text stands in its box.
/// - Returns: `kCMFormatDescriptionError_ValueNotAvailable` if the description has no value.
OVT_EXPORT OSStatus CMTextFormatDescriptionGetJustification(
    CMFormatDescriptionRef desc, CMTextJustificationValue *OVT_NULLABLE horizontaJustificationlOut,
    CMTextJustificationValue *OVT_NULLABLE verticalJustificationOut);

/// The box that text stands in, in pixels; see
/// `CMFormatDescription.defaultTextBox(originIsAtTopLeft:heightOfTextTrack:)`.
OVT_EXPORT OSStatus CMTextFormatDescriptionGetDefaultTextBox(
    CMFormatDescriptionRef desc, Boolean originIsAtTopLeft, CGFloat heightOfTextTrack,
    CGRect *defaultTextBoxOut);

/// How text looks. `colorComponentsOut` has room for four numbers: red, green, blue and alpha from
/// 0 to 1.
/// - Returns: `kCMFormatDescriptionError_ValueNotAvailable` if the description has no value.
OVT_EXPORT OSStatus CMTextFormatDescriptionGetDefaultStyle(
    CMFormatDescriptionRef desc, uint16_t *OVT_NULLABLE localFontIDOut,
    Boolean *OVT_NULLABLE boldOut, Boolean *OVT_NULLABLE italicOut,
    Boolean *OVT_NULLABLE underlineOut, CGFloat *OVT_NULLABLE fontSizeOut,
    CGFloat *OVT_NULLABLE colorComponentsOut);

/// The name of a font.
/// - Returns: `kCMFormatDescriptionError_ValueNotAvailable` if there is none.
///
/// The caller owns the object that `fontNameOut` receives, and releases it with `CFRelease`.
OVT_EXPORT OSStatus CMTextFormatDescriptionGetFontName(
    CMFormatDescriptionRef desc, uint16_t localFontID, CFStringRef OVT_NULLABLE *fontNameOut);

/// Creates a description of time codes.
///
/// - `frameDuration`: How long a frame is; 1001/30000 s for example.
/// - `frameQuanta`: Frames in a second, rounded up; 30 for example.
/// - `flags`: `kCMTimeCodeFlag_*`.
/// - Returns: `kCMFormatDescriptionError_InvalidParameter` if the duration is not a positive
///   number.
///
/// The caller owns the object that `formatDescriptionOut` receives, and releases it with
/// `CFRelease`.
OVT_EXPORT OSStatus CMTimeCodeFormatDescriptionCreate(
    CFAllocatorRef OVT_NULLABLE allocator, CMTimeCodeFormatType timeCodeFormatType,
    CMTime frameDuration, uint32_t frameQuanta, uint32_t flags,
    CFDictionaryRef OVT_NULLABLE extensions,
    CMTimeCodeFormatDescriptionRef OVT_NULLABLE *formatDescriptionOut);

/// How long a frame is; invalid for other media.
OVT_EXPORT CMTime CMTimeCodeFormatDescriptionGetFrameDuration(
    CMTimeCodeFormatDescriptionRef timeCodeFormatDescription);

/// Frames in a second, rounded up; 0 for other media.
OVT_EXPORT uint32_t CMTimeCodeFormatDescriptionGetFrameQuanta(
    CMTimeCodeFormatDescriptionRef timeCodeFormatDescription);

/// `kCMTimeCodeFlag_*`; 0 for other media.
OVT_EXPORT uint32_t CMTimeCodeFormatDescriptionGetTimeCodeFlags(
    CMTimeCodeFormatDescriptionRef desc);

/// Creates a description of an image buffer: its pixel format, its dimensions and what of its
/// attachments
/// has a place in a format description.
///
/// The caller owns the object that `formatDescriptionOut` receives, and releases it with
/// `CFRelease`.
OVT_EXPORT OSStatus CMVideoFormatDescriptionCreateForImageBuffer(
    CFAllocatorRef OVT_NULLABLE allocator, CVImageBufferRef imageBuffer,
    CMVideoFormatDescriptionRef OVT_NULLABLE *formatDescriptionOut);

/// The keys of the extensions that are compared with an image buffer's attachments.
///
/// The result is not retained for the caller.
OVT_EXPORT CFArrayRef OVT_NULLABLE CMVideoFormatDescriptionGetExtensionKeysCommonWithImageBuffers(
    void);

/// Whether a format description describes an image buffer: pixel format, dimensions, bytes per row,
/// and
/// the attachments that have a place in a format description.
OVT_EXPORT Boolean CMVideoFormatDescriptionMatchesImageBuffer(
    CMVideoFormatDescriptionRef desc, CVImageBufferRef imageBuffer);

/// Creates a description of video.
///
/// - `codecType`: The codec, or the pixel format of uncompressed video.
/// - `width`: In pixels, as they are stored.
/// - `extensions`: Property list values by key.
///
/// The caller owns the object that `formatDescriptionOut` receives, and releases it with
/// `CFRelease`.
OVT_EXPORT OSStatus CMVideoFormatDescriptionCreate(
    CFAllocatorRef OVT_NULLABLE allocator, CMVideoCodecType codecType, int32_t width,
    int32_t height, CFDictionaryRef OVT_NULLABLE extensions,
    CMFormatDescriptionRef OVT_NULLABLE *formatDescriptionOut);

/// Finds a parameter set of H.264: sequence parameter sets come first, then picture parameter sets.
///
/// - `parameterSetPointerOut`: The NAL unit; it lives as long as the format description.
/// - `nalUnitHeaderLengthOut`: The size of the length before each NAL unit of the samples, in
///   bytes.
/// - Returns: `kCMFormatDescriptionBridgeError_InvalidParameter` if there is no such parameter set.
OVT_EXPORT OSStatus CMVideoFormatDescriptionGetH264ParameterSetAtIndex(
    CMFormatDescriptionRef videoDesc, size_t parameterSetIndex,
    const uint8_t *OVT_NULLABLE *OVT_NULLABLE parameterSetPointerOut,
    size_t *OVT_NULLABLE parameterSetSizeOut, size_t *OVT_NULLABLE parameterSetCountOut,
    int32_t *OVT_NULLABLE NALUnitHeaderLengthOut);

/// Finds a parameter set of HEVC: video, sequence and picture parameter sets, in that order.
///
/// See `CMVideoFormatDescriptionGetH264ParameterSetAtIndex`.
OVT_EXPORT OSStatus CMVideoFormatDescriptionGetHEVCParameterSetAtIndex(
    CMFormatDescriptionRef videoDesc, size_t parameterSetIndex,
    const uint8_t *OVT_NULLABLE *OVT_NULLABLE parameterSetPointerOut,
    size_t *OVT_NULLABLE parameterSetSizeOut, size_t *OVT_NULLABLE parameterSetCountOut,
    int32_t *OVT_NULLABLE NALUnitHeaderLengthOut);

/// The width and height in pixels, as they are stored.
OVT_EXPORT CMVideoDimensions CMVideoFormatDescriptionGetDimensions(
    CMVideoFormatDescriptionRef videoDesc);

/// The width and height that pictures are to be shown with.
OVT_EXPORT CGSize CMVideoFormatDescriptionGetPresentationDimensions(
    CMVideoFormatDescriptionRef videoDesc, Boolean usePixelAspectRatio, Boolean useCleanAperture);

/// The part of the picture that is to be shown, in pixels; all of it if there is no clean aperture.
///
/// - `originIsAtTopLeft`: Whether y grows downwards from the top or upwards from the bottom.
OVT_EXPORT CGRect CMVideoFormatDescriptionGetCleanAperture(
    CMVideoFormatDescriptionRef videoDesc, Boolean originIsAtTopLeft);

/// Creates a description of H.264 from parameter sets, NAL units without start codes.
///
/// - `parameterSetPointers`, `parameterSetSizes`: arrays of `parameterSetCount` elements: at least
///   one sequence and
///   one picture parameter set. They are copied.
/// - `NALUnitHeaderLength`: the size of the length before each NAL unit in the samples: 1, 2 or 4.
/// The caller owns the object that `formatDescriptionOut` receives.
OVT_EXPORT OSStatus CMVideoFormatDescriptionCreateFromH264ParameterSets(
    CFAllocatorRef OVT_NULLABLE allocator, size_t parameterSetCount, const uint8_t *const *parameterSetPointers,
    const size_t *parameterSetSizes, int NALUnitHeaderLength,
    CMFormatDescriptionRef OVT_NULLABLE *formatDescriptionOut);

/// Creates a description of HEVC from parameter sets, NAL units without start codes: at least one
/// video, one sequence
/// and one picture parameter set. They are copied. The caller owns the object that
/// `formatDescriptionOut` receives.
OVT_EXPORT OSStatus CMVideoFormatDescriptionCreateFromHEVCParameterSets(
    CFAllocatorRef OVT_NULLABLE allocator, size_t parameterSetCount, const uint8_t *const *parameterSetPointers,
    const size_t *parameterSetSizes, int NALUnitHeaderLength, CFDictionaryRef OVT_NULLABLE extensions,
    CMFormatDescriptionRef OVT_NULLABLE *formatDescriptionOut);

/// The tags of the pictures in each sample of a multi-view stream (MV-HEVC), an array of
/// `CMTagCollectionRef`. The caller owns the object that `tagCollectionsOut` receives.
/// - Returns: `kCMFormatDescriptionError_ValueNotAvailable` if a sample holds one picture.
OVT_EXPORT OSStatus CMVideoFormatDescriptionCopyTagCollectionArray(
    CMVideoFormatDescriptionRef formatDescription, CFArrayRef OVT_NULLABLE *tagCollectionsOut);

OVT_HEADER_END

#endif
