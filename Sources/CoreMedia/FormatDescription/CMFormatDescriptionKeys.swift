// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

// MARK: - Extensions: how the media is described in a file

/// The settings with which the media was compressed (dictionary).
nonisolated(unsafe) public let kCMFormatDescriptionExtension_OriginalCompressionSettings: CFString =
  "OriginalCompressionSettings"
/// The atoms of the sample description by their four-character names, such as `avcC` and `hvcC`
/// (dictionary of data, or of arrays of data).
nonisolated(unsafe) public let kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms: CFString =
  "SampleDescriptionExtensionAtoms"
/// The sample description as it was in the file (data).
nonisolated(unsafe) public let kCMFormatDescriptionExtension_VerbatimSampleDescription: CFString =
  "VerbatimSampleDescription"
/// The ISO sample entry as it was in the file (data).
nonisolated(unsafe) public let kCMFormatDescriptionExtension_VerbatimISOSampleEntry: CFString =
  "VerbatimISOSampleEntry"
/// The older name of `kCMFormatDescriptionExtension_VerbatimSampleDescription`.
nonisolated(unsafe) public let kCMFormatDescriptionExtension_VerbatimImageDescription: CFString =
  "VerbatimSampleDescription"

// MARK: - Extensions: video

/// The name of the format for users (string).
nonisolated(unsafe) public let kCMFormatDescriptionExtension_FormatName: CFString = "FormatName"
/// The depth in bits as defined by QuickTime (number).
nonisolated(unsafe) public let kCMFormatDescriptionExtension_Depth: CFString = "Depth"
/// The part of the picture that is presented (dictionary; see the keys below).
nonisolated(unsafe) public let kCMFormatDescriptionExtension_CleanAperture: CFString = "CVCleanAperture"
/// The number of fields: 1 for progressive pictures, 2 for interlaced ones (number).
nonisolated(unsafe) public let kCMFormatDescriptionExtension_FieldCount: CFString = "CVFieldCount"
/// The order of the fields (string; see the values below).
nonisolated(unsafe) public let kCMFormatDescriptionExtension_FieldDetail: CFString = "CVFieldDetail"
/// The aspect ratio of a pixel (dictionary; see the keys below).
nonisolated(unsafe) public let kCMFormatDescriptionExtension_PixelAspectRatio: CFString = "CVPixelAspectRatio"
/// The colour primaries (string; see the values below).
nonisolated(unsafe) public let kCMFormatDescriptionExtension_ColorPrimaries: CFString =
  "CVImageBufferColorPrimaries"
/// The transfer function (string; see the values below).
nonisolated(unsafe) public let kCMFormatDescriptionExtension_TransferFunction: CFString =
  "CVImageBufferTransferFunction"
/// The gamma, if the transfer function is `UseGamma` (number).
nonisolated(unsafe) public let kCMFormatDescriptionExtension_GammaLevel: CFString = "CVImageBufferGammaLevel"
/// The matrix between RGB and Y'CbCr (string; see the values below).
nonisolated(unsafe) public let kCMFormatDescriptionExtension_YCbCrMatrix: CFString =
  "CVImageBufferYCbCrMatrix"
/// Whether samples use the full range of values (Boolean).
nonisolated(unsafe) public let kCMFormatDescriptionExtension_FullRangeVideo: CFString = "FullRangeVideo"
/// The ICC profile (data).
nonisolated(unsafe) public let kCMFormatDescriptionExtension_ICCProfile: CFString = "CVImageBufferICCProfile"
/// The number of bytes of a row of uncompressed pixels (number).
nonisolated(unsafe) public let kCMFormatDescriptionExtension_BytesPerRow: CFString = "CVBytesPerRow"
/// The location of chroma samples in a frame or top field (string; see the values below).
nonisolated(unsafe) public let kCMFormatDescriptionExtension_ChromaLocationTopField: CFString =
  "CVImageBufferChromaLocationTopField"
/// The location of chroma samples in a bottom field (string; see the values below).
nonisolated(unsafe) public let kCMFormatDescriptionExtension_ChromaLocationBottomField: CFString =
  "CVImageBufferChromaLocationBottomField"
/// The profile of MPEG-2 video that the media conforms to (number).
nonisolated(unsafe) public let kCMFormatDescriptionExtension_ConformsToMPEG2VideoProfile: CFString =
  "ConformsToMPEG2VideoProfile"
/// The codec of protected media (number).
nonisolated(unsafe) public let kCMFormatDescriptionExtension_ProtectedContentOriginalFormat: CFString =
  "ProtectedContentOriginalFormat"
/// The temporal quality with which the media was compressed (number).
nonisolated(unsafe) public let kCMFormatDescriptionExtension_TemporalQuality: CFString = "TemporalQuality"
/// The spatial quality with which the media was compressed (number).
nonisolated(unsafe) public let kCMFormatDescriptionExtension_SpatialQuality: CFString = "SpatialQuality"
/// The version of the sample description (number).
nonisolated(unsafe) public let kCMFormatDescriptionExtension_Version: CFString = "Version"
/// The revision level of the sample description (number).
nonisolated(unsafe) public let kCMFormatDescriptionExtension_RevisionLevel: CFString = "RevisionLevel"
/// The vendor of the compressor (string of four characters).
nonisolated(unsafe) public let kCMFormatDescriptionExtension_Vendor: CFString = "Vendor"
/// Apple.
nonisolated(unsafe) public let kCMFormatDescriptionVendor_Apple: CFString = "appl"
/// The colour volume of the mastering display (data as in the SEI message).
nonisolated(unsafe) public let kCMFormatDescriptionExtension_MasteringDisplayColorVolume: CFString =
  "MasteringDisplayColorVolume"
/// The content light level (data as in the SEI message).
nonisolated(unsafe) public let kCMFormatDescriptionExtension_ContentLightLevelInfo: CFString =
  "ContentLightLevelInfo"
/// The preferred transfer function (string; see the values below).
nonisolated(unsafe) public let kCMFormatDescriptionExtension_AlternativeTransferCharacteristics: CFString =
  "AlternativeTransferCharacteristics"
/// The type of an auxiliary picture (string).
nonisolated(unsafe) public let kCMFormatDescriptionExtension_AuxiliaryTypeInfo: CFString = "AuxiliaryTypeInfo"
/// Whether colours are premultiplied by alpha (string; see the values below).
nonisolated(unsafe) public let kCMFormatDescriptionExtension_AlphaChannelMode: CFString = "AlphaChannelMode"
/// Whether there is an alpha channel (Boolean).
nonisolated(unsafe) public let kCMFormatDescriptionExtension_ContainsAlphaChannel: CFString =
  "ContainsAlphaChannel"

// MARK: - Clean aperture and pixel aspect ratio

/// The width of the clean aperture in pixels (number).
nonisolated(unsafe) public let kCMFormatDescriptionKey_CleanApertureWidth: CFString = "Width"
/// The height of the clean aperture in pixels (number).
nonisolated(unsafe) public let kCMFormatDescriptionKey_CleanApertureHeight: CFString = "Height"
/// The horizontal offset of the centre of the clean aperture from the centre of the picture in
/// pixels (number).
nonisolated(unsafe) public let kCMFormatDescriptionKey_CleanApertureHorizontalOffset: CFString =
  "HorizontalOffset"
/// The vertical offset of the centre of the clean aperture from the centre of the picture in pixels
/// (number).
nonisolated(unsafe) public let kCMFormatDescriptionKey_CleanApertureVerticalOffset: CFString =
  "VerticalOffset"
/// The width as an array of numerator and denominator.
nonisolated(unsafe) public let kCMFormatDescriptionKey_CleanApertureWidthRational: CFString = "WidthRational"
/// The height as an array of numerator and denominator.
nonisolated(unsafe) public let kCMFormatDescriptionKey_CleanApertureHeightRational: CFString =
  "HeightRational"
/// The horizontal offset as an array of numerator and denominator.
nonisolated(unsafe) public let kCMFormatDescriptionKey_CleanApertureHorizontalOffsetRational: CFString =
  "HorizontalOffsetRational"
/// The vertical offset as an array of numerator and denominator.
nonisolated(unsafe) public let kCMFormatDescriptionKey_CleanApertureVerticalOffsetRational: CFString =
  "VerticalOffsetRational"
/// The width of a pixel; only its quotient with the height matters (number).
nonisolated(unsafe) public let kCMFormatDescriptionKey_PixelAspectRatioHorizontalSpacing: CFString =
  "HorizontalSpacing"
/// The height of a pixel; only its quotient with the width matters (number).
nonisolated(unsafe) public let kCMFormatDescriptionKey_PixelAspectRatioVerticalSpacing: CFString =
  "VerticalSpacing"

// MARK: - Field order

/// The top field is first in time; the fields are stored one after the other.
nonisolated(unsafe) public let kCMFormatDescriptionFieldDetail_TemporalTopFirst: CFString = "TemporalTopFirst"
/// The bottom field is first in time; the fields are stored one after the other.
nonisolated(unsafe) public let kCMFormatDescriptionFieldDetail_TemporalBottomFirst: CFString =
  "TemporalBottomFirst"
/// The fields are stored interleaved; the first line belongs to the earlier field.
nonisolated(unsafe) public let kCMFormatDescriptionFieldDetail_SpatialFirstLineEarly: CFString =
  "SpatialFirstLineEarly"
/// The fields are stored interleaved; the first line belongs to the later field.
nonisolated(unsafe) public let kCMFormatDescriptionFieldDetail_SpatialFirstLineLate: CFString =
  "SpatialFirstLineLate"

// MARK: - Colour

/// ITU-R BT.709.
nonisolated(unsafe) public let kCMFormatDescriptionColorPrimaries_ITU_R_709_2: CFString = "ITU_R_709_2"
/// EBU Tech. 3213, the primaries of 625-line video.
nonisolated(unsafe) public let kCMFormatDescriptionColorPrimaries_EBU_3213: CFString = "EBU_3213"
/// SMPTE C, the primaries of 525-line video.
nonisolated(unsafe) public let kCMFormatDescriptionColorPrimaries_SMPTE_C: CFString = "SMPTE_C"
/// DCI-P3.
nonisolated(unsafe) public let kCMFormatDescriptionColorPrimaries_DCI_P3: CFString = "DCI_P3"
/// P3 with a white point of D65.
nonisolated(unsafe) public let kCMFormatDescriptionColorPrimaries_P3_D65: CFString = "P3_D65"
/// ITU-R BT.2020.
nonisolated(unsafe) public let kCMFormatDescriptionColorPrimaries_ITU_R_2020: CFString = "ITU_R_2020"
/// P22 phosphors.
nonisolated(unsafe) public let kCMFormatDescriptionColorPrimaries_P22: CFString = "P22"
/// ITU-R BT.709.
nonisolated(unsafe) public let kCMFormatDescriptionTransferFunction_ITU_R_709_2: CFString = "ITU_R_709_2"
/// SMPTE 240M.
nonisolated(unsafe) public let kCMFormatDescriptionTransferFunction_SMPTE_240M_1995: CFString =
  "SMPTE_240M_1995"
/// A power function; see `kCMFormatDescriptionExtension_GammaLevel`.
nonisolated(unsafe) public let kCMFormatDescriptionTransferFunction_UseGamma: CFString = "UseGamma"
/// ITU-R BT.2020, whose function is that of BT.709.
nonisolated(unsafe) public let kCMFormatDescriptionTransferFunction_ITU_R_2020: CFString = "ITU_R_2020"
/// SMPTE ST 428-1.
nonisolated(unsafe) public let kCMFormatDescriptionTransferFunction_SMPTE_ST_428_1: CFString =
  "SMPTE_ST_428_1"
/// SMPTE ST 2084, PQ.
nonisolated(unsafe) public let kCMFormatDescriptionTransferFunction_SMPTE_ST_2084_PQ: CFString =
  "SMPTE_ST_2084_PQ"
/// ITU-R BT.2100, HLG.
nonisolated(unsafe) public let kCMFormatDescriptionTransferFunction_ITU_R_2100_HLG: CFString =
  "ITU_R_2100_HLG"
/// Linear light.
nonisolated(unsafe) public let kCMFormatDescriptionTransferFunction_Linear: CFString = "Linear"
/// IEC 61966-2-1, sRGB.
nonisolated(unsafe) public let kCMFormatDescriptionTransferFunction_sRGB: CFString = "IEC_sRGB"
/// ITU-R BT.709.
nonisolated(unsafe) public let kCMFormatDescriptionYCbCrMatrix_ITU_R_709_2: CFString = "ITU_R_709_2"
/// ITU-R BT.601.
nonisolated(unsafe) public let kCMFormatDescriptionYCbCrMatrix_ITU_R_601_4: CFString = "ITU_R_601_4"
/// SMPTE 240M.
nonisolated(unsafe) public let kCMFormatDescriptionYCbCrMatrix_SMPTE_240M_1995: CFString = "SMPTE_240M_1995"
/// ITU-R BT.2020, non-constant luminance.
nonisolated(unsafe) public let kCMFormatDescriptionYCbCrMatrix_ITU_R_2020: CFString = "ITU_R_2020"
/// Horizontally at the left luma samples, vertically between two rows.
nonisolated(unsafe) public let kCMFormatDescriptionChromaLocation_Left: CFString = "Left"
/// At the centre of four luma samples.
nonisolated(unsafe) public let kCMFormatDescriptionChromaLocation_Center: CFString = "Center"
/// At the top left luma sample.
nonisolated(unsafe) public let kCMFormatDescriptionChromaLocation_TopLeft: CFString = "TopLeft"
/// Between the two upper luma samples.
nonisolated(unsafe) public let kCMFormatDescriptionChromaLocation_Top: CFString = "Top"
/// At the bottom left luma sample.
nonisolated(unsafe) public let kCMFormatDescriptionChromaLocation_BottomLeft: CFString = "BottomLeft"
/// Between the two lower luma samples.
nonisolated(unsafe) public let kCMFormatDescriptionChromaLocation_Bottom: CFString = "Bottom"
/// Cr and Cb in alternate rows, as in DV.
nonisolated(unsafe) public let kCMFormatDescriptionChromaLocation_DV420: CFString = "DV 4:2:0"
/// Colours are not premultiplied by alpha.
nonisolated(unsafe) public let kCMFormatDescriptionAlphaChannelMode_StraightAlpha: CFString = "StraightAlpha"
/// Colours are premultiplied by alpha.
nonisolated(unsafe) public let kCMFormatDescriptionAlphaChannelMode_PremultipliedAlpha: CFString =
  "PremultipliedAlpha"
