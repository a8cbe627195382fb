// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

// MARK: - Buffers

/// In a buffer's attributes: the propagating attachments of the new buffer, a dictionary.
public nonisolated(unsafe) let kCVBufferPropagatedAttachmentsKey: CFString = "PropagatedAttachments"

/// In a buffer's attributes: the attachments of the new buffer that do not propagate, a dictionary.
public nonisolated(unsafe) let kCVBufferNonPropagatedAttachmentsKey: CFString = "NonPropagatedAttachments"

/// When the frame is shown in its movie: a dictionary of the next two.
public nonisolated(unsafe) let kCVBufferMovieTimeKey: CFString = "QTMovieTime"
public nonisolated(unsafe) let kCVBufferTimeValueKey: CFString = "TimeValue"
public nonisolated(unsafe) let kCVBufferTimeScaleKey: CFString = "TimeScale"

// MARK: - Attachments of images, and their values

/// A `CGColorSpace`.
public nonisolated(unsafe) let kCVImageBufferCGColorSpaceKey: CFString = "CGColorSpace"

/// The clean aperture, the part of the picture to be shown: a dictionary of the next four keys,
/// numbers in pixels. The offsets are those of its centre from the picture's centre.
public nonisolated(unsafe) let kCVImageBufferCleanApertureKey: CFString = "CVCleanAperture"
public nonisolated(unsafe) let kCVImageBufferCleanApertureWidthKey: CFString = "Width"
public nonisolated(unsafe) let kCVImageBufferCleanApertureHeightKey: CFString = "Height"
public nonisolated(unsafe) let kCVImageBufferCleanApertureHorizontalOffsetKey: CFString = "HorizontalOffset"
public nonisolated(unsafe) let kCVImageBufferCleanApertureVerticalOffsetKey: CFString = "VerticalOffset"

/// A clean aperture that takes precedence over `kCVImageBufferCleanApertureKey`.
public nonisolated(unsafe) let kCVImageBufferPreferredCleanApertureKey: CFString = "CVPreferredCleanAperture"

/// 1 for a progressive picture, 2 for an interlaced one.
public nonisolated(unsafe) let kCVImageBufferFieldCountKey: CFString = "CVFieldCount"

/// The order of the fields, one of the next four values.
public nonisolated(unsafe) let kCVImageBufferFieldDetailKey: CFString = "CVFieldDetail"
public nonisolated(unsafe) let kCVImageBufferFieldDetailTemporalTopFirst: CFString = "TemporalTopFirst"
public nonisolated(unsafe) let kCVImageBufferFieldDetailTemporalBottomFirst: CFString = "TemporalBottomFirst"
public nonisolated(unsafe) let kCVImageBufferFieldDetailSpatialFirstLineEarly: CFString =
  "SpatialFirstLineEarly"
public nonisolated(unsafe) let kCVImageBufferFieldDetailSpatialFirstLineLate: CFString =
  "SpatialFirstLineLate"

/// The shape of a pixel: a dictionary of the next two, numbers.
public nonisolated(unsafe) let kCVImageBufferPixelAspectRatioKey: CFString = "CVPixelAspectRatio"
public nonisolated(unsafe) let kCVImageBufferPixelAspectRatioHorizontalSpacingKey: CFString =
  "HorizontalSpacing"
public nonisolated(unsafe) let kCVImageBufferPixelAspectRatioVerticalSpacingKey: CFString = "VerticalSpacing"

/// The size to be shown at, in square pixels: a dictionary of the next two, numbers.
public nonisolated(unsafe) let kCVImageBufferDisplayDimensionsKey: CFString = "CVDisplayDimensions"
public nonisolated(unsafe) let kCVImageBufferDisplayWidthKey: CFString = "Width"
public nonisolated(unsafe) let kCVImageBufferDisplayHeightKey: CFString = "Height"

/// The gamma of `kCVImageBufferTransferFunction_UseGamma`, a number.
public nonisolated(unsafe) let kCVImageBufferGammaLevelKey: CFString = "CVImageBufferGammaLevel"

/// An ICC profile, data.
public nonisolated(unsafe) let kCVImageBufferICCProfileKey: CFString = "CVImageBufferICCProfile"

/// The conversion from RGB to YCbCr, one of `kCVImageBufferYCbCrMatrix_*`.
public nonisolated(unsafe) let kCVImageBufferYCbCrMatrixKey: CFString = "CVImageBufferYCbCrMatrix"
public nonisolated(unsafe) let kCVImageBufferYCbCrMatrix_ITU_R_709_2: CFString = "ITU_R_709_2"
public nonisolated(unsafe) let kCVImageBufferYCbCrMatrix_ITU_R_601_4: CFString = "ITU_R_601_4"
public nonisolated(unsafe) let kCVImageBufferYCbCrMatrix_SMPTE_240M_1995: CFString = "SMPTE_240M_1995"
public nonisolated(unsafe) let kCVImageBufferYCbCrMatrix_DCI_P3: CFString = "DCI_P3"
public nonisolated(unsafe) let kCVImageBufferYCbCrMatrix_P3_D65: CFString = "P3_D65"
public nonisolated(unsafe) let kCVImageBufferYCbCrMatrix_ITU_R_2020: CFString = "ITU_R_2020"

/// The colour primaries, one of `kCVImageBufferColorPrimaries_*`.
public nonisolated(unsafe) let kCVImageBufferColorPrimariesKey: CFString = "CVImageBufferColorPrimaries"
public nonisolated(unsafe) let kCVImageBufferColorPrimaries_ITU_R_709_2: CFString = "ITU_R_709_2"
public nonisolated(unsafe) let kCVImageBufferColorPrimaries_EBU_3213: CFString = "EBU_3213"
public nonisolated(unsafe) let kCVImageBufferColorPrimaries_SMPTE_C: CFString = "SMPTE_C"
public nonisolated(unsafe) let kCVImageBufferColorPrimaries_P22: CFString = "P22"
public nonisolated(unsafe) let kCVImageBufferColorPrimaries_DCI_P3: CFString = "DCI_P3"
public nonisolated(unsafe) let kCVImageBufferColorPrimaries_P3_D65: CFString = "P3_D65"
public nonisolated(unsafe) let kCVImageBufferColorPrimaries_ITU_R_2020: CFString = "ITU_R_2020"

/// The transfer function, one of `kCVImageBufferTransferFunction_*`.
public nonisolated(unsafe) let kCVImageBufferTransferFunctionKey: CFString = "CVImageBufferTransferFunction"
public nonisolated(unsafe) let kCVImageBufferTransferFunction_ITU_R_709_2: CFString = "ITU_R_709_2"
public nonisolated(unsafe) let kCVImageBufferTransferFunction_SMPTE_240M_1995: CFString = "SMPTE_240M_1995"
public nonisolated(unsafe) let kCVImageBufferTransferFunction_UseGamma: CFString = "UseGamma"
public nonisolated(unsafe) let kCVImageBufferTransferFunction_sRGB: CFString = "IEC_sRGB"
public nonisolated(unsafe) let kCVImageBufferTransferFunction_ITU_R_2020: CFString = "ITU_R_2020"
public nonisolated(unsafe) let kCVImageBufferTransferFunction_SMPTE_ST_428_1: CFString = "SMPTE_ST_428_1"
public nonisolated(unsafe) let kCVImageBufferTransferFunction_SMPTE_ST_2084_PQ: CFString = "SMPTE_ST_2084_PQ"
public nonisolated(unsafe) let kCVImageBufferTransferFunction_ITU_R_2100_HLG: CFString = "ITU_R_2100_HLG"
public nonisolated(unsafe) let kCVImageBufferTransferFunction_Linear: CFString = "Linear"

/// The position of chroma samples relative to luma samples, one of
/// `kCVImageBufferChromaLocation_*`: in the top field, and in progressive pictures.
public nonisolated(unsafe) let kCVImageBufferChromaLocationTopFieldKey: CFString =
  "CVImageBufferChromaLocationTopField"
public nonisolated(unsafe) let kCVImageBufferChromaLocationBottomFieldKey: CFString =
  "CVImageBufferChromaLocationBottomField"
public nonisolated(unsafe) let kCVImageBufferChromaLocation_Left: CFString = "Left"
public nonisolated(unsafe) let kCVImageBufferChromaLocation_Center: CFString = "Center"
public nonisolated(unsafe) let kCVImageBufferChromaLocation_TopLeft: CFString = "TopLeft"
public nonisolated(unsafe) let kCVImageBufferChromaLocation_Top: CFString = "Top"
public nonisolated(unsafe) let kCVImageBufferChromaLocation_BottomLeft: CFString = "BottomLeft"
public nonisolated(unsafe) let kCVImageBufferChromaLocation_Bottom: CFString = "Bottom"
public nonisolated(unsafe) let kCVImageBufferChromaLocation_DV420: CFString = "DV 4:2:0"

/// The chroma subsampling before a conversion to 4:2:2 by replication of samples.
public nonisolated(unsafe) let kCVImageBufferChromaSubsamplingKey: CFString = "CVImageBufferChromaSubsampling"
public nonisolated(unsafe) let kCVImageBufferChromaSubsampling_420: CFString = "4:2:0"
public nonisolated(unsafe) let kCVImageBufferChromaSubsampling_422: CFString = "4:2:2"
public nonisolated(unsafe) let kCVImageBufferChromaSubsampling_411: CFString = "4:1:1"

/// Whether alpha is opaque everywhere. Boolean.
public nonisolated(unsafe) let kCVImageBufferAlphaChannelIsOpaque: CFString = "AlphaChannelIsOpaque"

/// Whether colours are multiplied by alpha, one of the next two values.
public nonisolated(unsafe) let kCVImageBufferAlphaChannelModeKey: CFString = "AlphaChannelMode"
public nonisolated(unsafe) let kCVImageBufferAlphaChannelMode_StraightAlpha: CFString = "StraightAlpha"
public nonisolated(unsafe) let kCVImageBufferAlphaChannelMode_PremultipliedAlpha: CFString =
  "PremultipliedAlpha"

/// The payload of the mastering display colour volume SEI message, 24 bytes of data.
public nonisolated(unsafe) let kCVImageBufferMasteringDisplayColorVolumeKey: CFString =
  "MasteringDisplayColorVolume"

/// The payload of the content light level SEI message, 4 bytes of data.
public nonisolated(unsafe) let kCVImageBufferContentLightLevelInfoKey: CFString = "ContentLightLevelInfo"

/// The payload of the ambient viewing environment SEI message, 8 bytes of data.
public nonisolated(unsafe) let kCVImageBufferAmbientViewingEnvironmentKey: CFString =
  "AmbientViewingEnvironment"
