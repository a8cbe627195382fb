// SPDX-License-Identifier: Apache-2.0
// MARK: - The picture

/// An `AVVideoCodecType`, or its raw value of four characters.
public let AVVideoCodecKey: String = "AVVideoCodecKey"
public let AVVideoCodecHEVC: String = "hvc1"
public let AVVideoCodecH264: String = "avc1"
public let AVVideoCodecJPEG: String = "jpeg"
/// The width in pixels, as a number.
public let AVVideoWidthKey: String = "AVVideoWidthKey"
/// The height in pixels, as a number.
public let AVVideoHeightKey: String = "AVVideoHeightKey"
/// A dictionary with the horizontal and vertical spacing, as integers.
public let AVVideoPixelAspectRatioKey: String = "AVVideoPixelAspectRatioKey"
public let AVVideoPixelAspectRatioHorizontalSpacingKey: String = "HorizontalSpacing"
public let AVVideoPixelAspectRatioVerticalSpacingKey: String = "VerticalSpacing"
/// A dictionary with the width, the height and the offsets of the centre, in pixels.
public let AVVideoCleanApertureKey: String = "AVVideoCleanApertureKey"
public let AVVideoCleanApertureWidthKey: String = "Width"
public let AVVideoCleanApertureHeightKey: String = "Height"
public let AVVideoCleanApertureHorizontalOffsetKey: String = "HorizontalOffset"
public let AVVideoCleanApertureVerticalOffsetKey: String = "VerticalOffset"
/// How a source of another size is scaled.
public let AVVideoScalingModeKey: String = "AVVideoScalingModeKey"
public let AVVideoScalingModeFit: String = "AVVideoScalingModeFit"
public let AVVideoScalingModeResize: String = "AVVideoScalingModeResize"
public let AVVideoScalingModeResizeAspect: String = "AVVideoScalingModeResizeAspect"
public let AVVideoScalingModeResizeAspectFill: String = "AVVideoScalingModeResizeAspectFill"

// MARK: - Colour

/// A number: whether pictures may have a wide gamut. It has no effect here: pictures keep the
/// colours of their source unless `AVVideoColorPropertiesKey` names others.
public let AVVideoAllowWideColorKey: String = "AVVideoAllowWideColorKey"

/// A dictionary with the colour primaries, transfer function and YCbCr matrix.
public let AVVideoColorPropertiesKey: String = "AVVideoColorPropertiesKey"
public let AVVideoColorPrimariesKey: String = "ColorPrimaries"
public let AVVideoColorPrimaries_ITU_R_709_2: String = "ITU_R_709_2"
public let AVVideoColorPrimaries_SMPTE_C: String = "SMPTE_C"
public let AVVideoColorPrimaries_P3_D65: String = "P3_D65"
public let AVVideoColorPrimaries_ITU_R_2020: String = "ITU_R_2020"
public let AVVideoTransferFunctionKey: String = "TransferFunction"
public let AVVideoTransferFunction_ITU_R_709_2: String = "ITU_R_709_2"
public let AVVideoTransferFunction_SMPTE_ST_2084_PQ: String = "SMPTE_ST_2084_PQ"
public let AVVideoTransferFunction_ITU_R_2100_HLG: String = "ITU_R_2100_HLG"
public let AVVideoYCbCrMatrixKey: String = "YCbCrMatrix"
public let AVVideoYCbCrMatrix_ITU_R_709_2: String = "ITU_R_709_2"
public let AVVideoYCbCrMatrix_ITU_R_601_4: String = "ITU_R_601_4"
public let AVVideoYCbCrMatrix_ITU_R_2020: String = "ITU_R_2020"

// MARK: - Compression

/// A dictionary of the keys below, or of properties of `VTCompressionSession`.
public let AVVideoCompressionPropertiesKey: String = "AVVideoCompressionPropertiesKey"
/// A dictionary of properties of `VTDecompressionSession`, in the settings of a reader's output for
/// decoded video. Properties that the decoder does not support are ignored.
public let AVVideoDecompressionPropertiesKey: String = "AVVideoDecompressionPropertiesKey"
/// The encoder specification for `VTCompressionSessionCreate`.
public let AVVideoEncoderSpecificationKey: String = "AVVideoEncoderSpecificationKey"
/// The average bit rate in bits per second.
public let AVVideoAverageBitRateKey: String = "AverageBitRate"
/// The quality, from 0.0 to 1.0.
public let AVVideoQualityKey: String = "Quality"
/// The largest number of frames from one key frame to the next; 1 for key frames only.
public let AVVideoMaxKeyFrameIntervalKey: String = "MaxKeyFrameInterval"
/// The longest time from one key frame to the next in seconds; 0.0 for no limit.
public let AVVideoMaxKeyFrameIntervalDurationKey: String = "MaxKeyFrameIntervalDuration"
public let AVVideoAllowFrameReorderingKey: String = "AllowFrameReordering"
public let AVVideoProfileLevelKey: String = "ProfileLevel"
public let AVVideoProfileLevelH264Baseline30: String = "H264_Baseline_3_0"
public let AVVideoProfileLevelH264Baseline31: String = "H264_Baseline_3_1"
public let AVVideoProfileLevelH264Baseline41: String = "H264_Baseline_4_1"
public let AVVideoProfileLevelH264BaselineAutoLevel: String = "H264_Baseline_AutoLevel"
public let AVVideoProfileLevelH264Main30: String = "H264_Main_3_0"
public let AVVideoProfileLevelH264Main31: String = "H264_Main_3_1"
public let AVVideoProfileLevelH264Main32: String = "H264_Main_3_2"
public let AVVideoProfileLevelH264Main41: String = "H264_Main_4_1"
public let AVVideoProfileLevelH264MainAutoLevel: String = "H264_Main_AutoLevel"
public let AVVideoProfileLevelH264High40: String = "H264_High_4_0"
public let AVVideoProfileLevelH264High41: String = "H264_High_4_1"
public let AVVideoProfileLevelH264HighAutoLevel: String = "H264_High_AutoLevel"
public let AVVideoH264EntropyModeKey: String = "H264EntropyMode"
public let AVVideoH264EntropyModeCAVLC: String = "CAVLC"
public let AVVideoH264EntropyModeCABAC: String = "CABAC"
/// The frame rate of the source in frames per second.
public let AVVideoExpectedSourceFrameRateKey: String = "ExpectedFrameRate"
/// The frame rate of the base layer in frames per second.
public let AVVideoAverageNonDroppableFrameRateKey: String = "AverageNonDroppableFrameRate"
