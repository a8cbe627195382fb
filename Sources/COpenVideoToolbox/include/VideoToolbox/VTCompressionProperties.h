// SPDX-License-Identifier: Apache-2.0
// The properties of compression sessions, and their values.

#ifndef OVT_VIDEOTOOLBOX_VTCOMPRESSIONPROPERTIES_H
#define OVT_VIDEOTOOLBOX_VTCOMPRESSIONPROPERTIES_H

#include <VideoToolbox/VTBase.h>

OVT_HEADER_BEGIN

enum {
  /// The encoder may adapt the quantiser within a frame.
  kVTQPModulationLevel_Default = -1,
  /// One quantiser for the whole frame.
  kVTQPModulationLevel_Disable = 0,
  /// No limit for `kVTCompressionPropertyKey_MaxFrameDelayCount`.
  kVTUnlimitedFrameDelayCount = -1
};

/// The number of frames that were submitted and whose callback was not called yet. Read-only
/// number; may fall at any time.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_NumberOfPendingFrames;
/// Whether the session's pool serves the encoder directly, so that buffers from it are encoded
/// without a copy or a conversion. Read-only Boolean.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_PixelBufferPoolIsShared;
/// The pixel buffers that the encoder takes without a conversion. Read-only dictionary.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_VideoEncoderPixelBufferAttributes;
/// Most frames from one key frame to the next. 0 leaves it to the encoder; 1 makes each frame a key
/// frame.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_MaxKeyFrameInterval;
/// Most seconds from one key frame to the next. 0 means no limit.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_MaxKeyFrameIntervalDuration;
/// False makes each frame a key frame. Boolean, default true.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_AllowTemporalCompression;
/// False keeps the frames in the order of presentation. Boolean, default true.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_AllowFrameReordering;
/// True lets frames refer across a key frame that they follow in decode order and precede in
/// presentation: in H.264 it is a partial sync sample. Boolean, default false for H.264 and true
/// for HEVC.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_AllowOpenGOP;
/// Bits a second in the long run. 0, the default, leaves the size to the encoder.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_AverageBitRate;
/// Zero, one or two hard limits, as an array of bytes, seconds, bytes, seconds: no window of that
/// many seconds of decode time has more than that many bytes.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_DataRateLimits;
/// Quality to aim at when no bit rate is set: 0.0 to 1.0.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_Quality;
/// Quality of the alpha channel, where there is one.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_TargetQualityForAlpha;
/// Frames of the same source precede the first frame of this session. Boolean.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_MoreFramesBeforeStart;
/// Frames of the same source follow the last frame of this session. Boolean.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_MoreFramesAfterEnd;
/// True asks for speed, false for quality, where nothing else decides. Boolean.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_PrioritizeEncodingSpeedOverQuality;
/// Profile and level of the stream: one of the `kVTProfileLevel_` constants.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_ProfileLevel;
/// Whether static HDR metadata is written into the stream.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_HDRMetadataInsertionMode;
/// `kVTH264EntropyMode_CAVLC` or `kVTH264EntropyMode_CABAC`. H.264 only.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_H264EntropyMode;
/// Pixel depth of the encoded video.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_Depth;
/// The number M of frames that the encoder may hold: when the call that encodes frame N returns,
/// the callback of frame N - M has been called. `kVTUnlimitedFrameDelayCount`, the default, means
/// no limit.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_MaxFrameDelayCount;
/// Most bytes of one slice NAL unit. 0, the default, means no limit. H.264 only.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_MaxH264SliceBytes;
/// Whether frames come at the pace at which they are captured, so that encoding must keep up with
/// them. Boolean.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_RealTime;
/// True asks for less work at some cost in quality or speed. Boolean.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_MaximizePowerEfficiency;
/// Number of frames that will come; 0, the default, is unknown.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_SourceFrameCount;
/// Frames a second that are expected; 0, the default, is unknown. Time stamps rule where they
/// differ.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_ExpectedFrameRate;
/// Seconds that the source is expected to last; 0, the default, is unknown.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_ExpectedDuration;
/// Frames a second in the base layer.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_BaseLayerFrameRate;
/// The GPU that encodes.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_UsingGPURegistryID;
/// The part of the picture that is meant to be seen: a dictionary with the keys
/// `kCVImageBufferCleanAperture...Key`.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_CleanAperture;
/// The shape of a sample: a dictionary with the keys `kCVImageBufferPixelAspectRatio...SpacingKey`.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_PixelAspectRatio;
/// Fields in a frame: 1 is progressive.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_FieldCount;
/// Order of the fields.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_FieldDetail;
/// Picture of 16:9 in a format that can mean either. Boolean.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_AspectRatio16x9;
/// Progressive in a format that can mean either. Boolean.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_ProgressiveScan;
/// Colour primaries: one of the `kCVImageBufferColorPrimaries_` constants.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_ColorPrimaries;
/// Transfer function: one of the `kCVImageBufferTransferFunction_` constants.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_TransferFunction;
/// Conversion between RGB and Y'CbCr: one of the `kCVImageBufferYCbCrMatrix_` constants.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_YCbCrMatrix;
/// ICC profile of the source.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_ICCProfile;
/// 24 bytes of the SEI message of this name, big-endian. Data.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_MasteringDisplayColorVolume;
/// 4 bytes of the SEI message of this name, big-endian. Data.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_ContentLightLevelInfo;
/// The light around the display that the movie was graded on (data). No encoder here has it.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_AmbientViewingEnvironment;
/// Gamma of the source.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_GammaLevel;
/// How the alpha channel relates to the colours.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_AlphaChannelMode;
/// Properties for the conversion of source buffers to what the encoder takes: a dictionary of
/// `kVTPixelTransferPropertyKey_` keys.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_PixelTransferProperties;
/// Turns multi-pass encoding on: a `VTMultiPassStorage` in which the encoder keeps what it learns
/// from pass to pass.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_MultiPassStorage;
/// The encoder that the session uses. Read-only string.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_EncoderID;
/// Keep dynamic HDR metadata of the source. Boolean.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_PreserveDynamicHDRMetadata;
/// Share of the bit rate for the base layer: 0.0 to 1.0. With temporal layers only.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_BaseLayerBitRateFraction;
/// Share of the frames in the base layer: 1.0 means no temporal layers, 0.5 is two.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_BaseLayerFrameRateFraction;
/// True attaches the mean squared error of each frame to its sample buffer. Boolean.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_CalculateMeanSquaredError;
/// Bits a second, always: frames are filled up to hold the rate. Not together with an average rate
/// or data rate limits.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_ConstantBitRate;
/// True makes the encoder mark long-term references for the receiver to acknowledge. Boolean;
/// low-latency mode.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_EnableLTR;
/// An estimate of the bytes a frame will take. Read-only number.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_EstimatedAverageBytesPerFrame;
/// Highest quantiser that a frame may get.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_MaxAllowedFrameQP;
/// Lowest quantiser that a frame may get.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_MinAllowedFrameQP;
/// Highest frame rate that can come in while `RealTime` is true; 0, the default, is unknown.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_MaximumRealTimeFrameRate;
/// Bits of a sample in the encoded video.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_OutputBitDepth;
/// The number of sessions beyond which encoding further parts of a movie at the same time gives no
/// higher speed. Read-only number.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_RecommendedParallelizationLimit;
/// Shortest piece of a movie worth a session of its own. Read-only time dictionary.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_RecommendedParallelizedSubdivisionMinimumDuration;
/// Fewest frames worth a session of their own. Read-only number.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_RecommendedParallelizedSubdivisionMinimumFrameCount;
/// Most frames that prediction may draw on. The encoder fails if the standard allows fewer.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_ReferenceBufferCount;
/// `kVTQPModulationLevel_Default` lets the quantiser follow the local activity;
/// `kVTQPModulationLevel_Disable` does not.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_SpatialAdaptiveQPLevel;
/// Frames that the encoder should look ahead; they add to its delay.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_SuggestedLookAheadFrameCount;
/// Presets by name (`kVTCompressionPreset_`), each a dictionary of properties to set. Read-only.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_SupportedPresetDictionaries;
/// Whether `kVTEncodeFrameOptionKey_BaseFrameQP` is understood. Read-only Boolean.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_SupportsBaseFrameQP;
/// Seconds that the decoder's buffer model holds.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_VBVBufferDuration;
/// How full the buffer model is when the first frame is decoded: 0 to 100, default 90.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_VBVInitialDelayPercentage;
/// Bits a second at which the buffer model fills, at most.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_VBVMaxBitRate;
/// Bits a second in the long run, with the freedom that the buffer model leaves.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_VariableBitRate;
/// Whether the encoder is a piece of hardware. Read-only Boolean.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_UsingHardwareAcceleratedVideoEncoder;
OVT_EXPORT const CFStringRef kVTProfileLevel_HEVC_Main_AutoLevel;
OVT_EXPORT const CFStringRef kVTProfileLevel_HEVC_Main10_AutoLevel;
OVT_EXPORT const CFStringRef kVTProfileLevel_H264_Baseline_1_3;
OVT_EXPORT const CFStringRef kVTProfileLevel_H264_Baseline_3_0;
OVT_EXPORT const CFStringRef kVTProfileLevel_H264_Baseline_3_1;
OVT_EXPORT const CFStringRef kVTProfileLevel_H264_Baseline_3_2;
OVT_EXPORT const CFStringRef kVTProfileLevel_H264_Baseline_4_0;
OVT_EXPORT const CFStringRef kVTProfileLevel_H264_Baseline_4_1;
OVT_EXPORT const CFStringRef kVTProfileLevel_H264_Baseline_4_2;
OVT_EXPORT const CFStringRef kVTProfileLevel_H264_Baseline_5_0;
OVT_EXPORT const CFStringRef kVTProfileLevel_H264_Baseline_5_1;
OVT_EXPORT const CFStringRef kVTProfileLevel_H264_Baseline_5_2;
OVT_EXPORT const CFStringRef kVTProfileLevel_H264_Baseline_AutoLevel;
OVT_EXPORT const CFStringRef kVTProfileLevel_H264_Main_3_0;
OVT_EXPORT const CFStringRef kVTProfileLevel_H264_Main_3_1;
OVT_EXPORT const CFStringRef kVTProfileLevel_H264_Main_3_2;
OVT_EXPORT const CFStringRef kVTProfileLevel_H264_Main_4_0;
OVT_EXPORT const CFStringRef kVTProfileLevel_H264_Main_4_1;
OVT_EXPORT const CFStringRef kVTProfileLevel_H264_Main_4_2;
OVT_EXPORT const CFStringRef kVTProfileLevel_H264_Main_5_0;
OVT_EXPORT const CFStringRef kVTProfileLevel_H264_Main_5_1;
OVT_EXPORT const CFStringRef kVTProfileLevel_H264_Main_5_2;
OVT_EXPORT const CFStringRef kVTProfileLevel_H264_Main_AutoLevel;
OVT_EXPORT const CFStringRef kVTProfileLevel_H264_Extended_5_0;
OVT_EXPORT const CFStringRef kVTProfileLevel_H264_Extended_AutoLevel;
OVT_EXPORT const CFStringRef kVTProfileLevel_H264_High_3_0;
OVT_EXPORT const CFStringRef kVTProfileLevel_H264_High_3_1;
OVT_EXPORT const CFStringRef kVTProfileLevel_H264_High_3_2;
OVT_EXPORT const CFStringRef kVTProfileLevel_H264_High_4_0;
OVT_EXPORT const CFStringRef kVTProfileLevel_H264_High_4_1;
OVT_EXPORT const CFStringRef kVTProfileLevel_H264_High_4_2;
OVT_EXPORT const CFStringRef kVTProfileLevel_H264_High_5_0;
OVT_EXPORT const CFStringRef kVTProfileLevel_H264_High_5_1;
OVT_EXPORT const CFStringRef kVTProfileLevel_H264_High_5_2;
OVT_EXPORT const CFStringRef kVTProfileLevel_H264_High_AutoLevel;
OVT_EXPORT const CFStringRef kVTProfileLevel_MP4V_Simple_L0;
OVT_EXPORT const CFStringRef kVTProfileLevel_MP4V_Simple_L1;
OVT_EXPORT const CFStringRef kVTProfileLevel_MP4V_Simple_L2;
OVT_EXPORT const CFStringRef kVTProfileLevel_MP4V_Simple_L3;
OVT_EXPORT const CFStringRef kVTProfileLevel_MP4V_Main_L2;
OVT_EXPORT const CFStringRef kVTProfileLevel_MP4V_Main_L3;
OVT_EXPORT const CFStringRef kVTProfileLevel_MP4V_Main_L4;
OVT_EXPORT const CFStringRef kVTProfileLevel_MP4V_AdvancedSimple_L0;
OVT_EXPORT const CFStringRef kVTProfileLevel_MP4V_AdvancedSimple_L1;
OVT_EXPORT const CFStringRef kVTProfileLevel_MP4V_AdvancedSimple_L2;
OVT_EXPORT const CFStringRef kVTProfileLevel_MP4V_AdvancedSimple_L3;
OVT_EXPORT const CFStringRef kVTProfileLevel_MP4V_AdvancedSimple_L4;
OVT_EXPORT const CFStringRef kVTProfileLevel_H263_Profile0_Level10;
OVT_EXPORT const CFStringRef kVTProfileLevel_H263_Profile0_Level45;
OVT_EXPORT const CFStringRef kVTProfileLevel_H263_Profile3_Level45;
OVT_EXPORT const CFStringRef kVTProfileLevel_H264_ConstrainedBaseline_AutoLevel;
OVT_EXPORT const CFStringRef kVTProfileLevel_H264_ConstrainedHigh_AutoLevel;
/// No HDR metadata in the stream.
OVT_EXPORT const CFStringRef kVTHDRMetadataInsertionMode_None;
/// HDR metadata in the stream if the session has it.
OVT_EXPORT const CFStringRef kVTHDRMetadataInsertionMode_Auto;
/// Context-adaptive variable-length codes.
OVT_EXPORT const CFStringRef kVTH264EntropyMode_CAVLC;
/// Context-adaptive binary arithmetic coding.
OVT_EXPORT const CFStringRef kVTH264EntropyMode_CABAC;
/// Encode on this GPU or not at all. Number.
OVT_EXPORT const CFStringRef kVTVideoEncoderSpecification_RequiredEncoderGPURegistryID;
/// Encode on this GPU if possible. Number.
OVT_EXPORT const CFStringRef kVTVideoEncoderSpecification_PreferredEncoderGPURegistryID;
/// Make this frame a key frame. Boolean.
OVT_EXPORT const CFStringRef kVTEncodeFrameOptionKey_ForceKeyFrame;
/// Colours are not multiplied by alpha.
OVT_EXPORT const CFStringRef kVTAlphaChannelMode_StraightAlpha;
/// Colours are multiplied by alpha.
OVT_EXPORT const CFStringRef kVTAlphaChannelMode_PremultipliedAlpha;
/// Good quality at a good speed.
OVT_EXPORT const CFStringRef kVTCompressionPreset_Balanced;
/// Better quality, slower.
OVT_EXPORT const CFStringRef kVTCompressionPreset_HighQuality;
/// Faster, at some cost in quality.
OVT_EXPORT const CFStringRef kVTCompressionPreset_HighSpeed;
/// For calls: needs the low-latency mode.
OVT_EXPORT const CFStringRef kVTCompressionPreset_VideoConferencing;
/// The tokens of long-term references that the receiver has acknowledged. Array of numbers.
OVT_EXPORT const CFStringRef kVTEncodeFrameOptionKey_AcknowledgedLTRTokens;
/// The QP of this frame, which replaces that of rate control. Number.
OVT_EXPORT const CFStringRef kVTEncodeFrameOptionKey_BaseFrameQP;
/// Predict this frame from an acknowledged long-term reference alone. Boolean.
OVT_EXPORT const CFStringRef kVTEncodeFrameOptionKey_ForceLTRRefresh;
/// Dictionary of `kVTSampleAttachmentQualityMetricsKey_` keys.
OVT_EXPORT const CFStringRef kVTSampleAttachmentKey_QualityMetrics;
/// The sample is a long-term reference with this number, which the receiver should acknowledge.
OVT_EXPORT const CFStringRef kVTSampleAttachmentKey_RequireLTRAcknowledgementToken;
/// Mean squared error of Cb. Number.
OVT_EXPORT const CFStringRef kVTSampleAttachmentQualityMetricsKey_ChromaBlueMeanSquaredError;
/// Mean squared error of Cr. Number.
OVT_EXPORT const CFStringRef kVTSampleAttachmentQualityMetricsKey_ChromaRedMeanSquaredError;
/// Mean squared error of luma. Number.
OVT_EXPORT const CFStringRef kVTSampleAttachmentQualityMetricsKey_LumaMeanSquaredError;
/// Whether to use an encoder of the low-latency mode, which outputs each frame before it takes the
/// next. Boolean.
OVT_EXPORT const CFStringRef kVTVideoEncoderSpecification_EnableLowLatencyRateControl;
/// False rules hardware encoders out. Boolean.
OVT_EXPORT const CFStringRef kVTVideoEncoderSpecification_EnableHardwareAcceleratedVideoEncoder;
/// True rules software encoders out. Boolean.
OVT_EXPORT const CFStringRef kVTVideoEncoderSpecification_RequireHardwareAcceleratedVideoEncoder;
/// Whether a codec with alpha keeps it. Boolean.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_PreserveAlphaChannel;
/// Metadata that keeps what lies in the range of SDR as it is.
OVT_EXPORT const CFStringRef kVTHDRMetadataInsertionMode_RequestSDRRangePreservation;
/// HEVC 4:2:2 with 10 bits, level by the encoder.
OVT_EXPORT const CFStringRef kVTProfileLevel_HEVC_Main42210_AutoLevel;
/// HEVC grey with 8 bits, level by the encoder.
OVT_EXPORT const CFStringRef kVTProfileLevel_HEVC_Monochrome_AutoLevel;
/// HEVC grey with 10 bits, level by the encoder.
OVT_EXPORT const CFStringRef kVTProfileLevel_HEVC_Monochrome10_AutoLevel;
/// The `nuh_layer_id` of each view. Array of numbers.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_MVHEVCVideoLayerIDs;
/// The view identifier of each layer. Array of numbers.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_MVHEVCViewIDs;
/// The left and the right eye's view identifiers. Array of two numbers.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_MVHEVCLeftAndRightViewIDs;
/// Whether the stream has a view for the left eye. Boolean.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_HasLeftStereoEyeView;
/// Whether the stream has a view for the right eye. Boolean.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_HasRightStereoEyeView;
/// The eye whose view is shown where only one is. One of `kVTHeroEye_`.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_HeroEye;
/// The left eye.
OVT_EXPORT const CFStringRef kVTHeroEye_Left;
/// The right eye.
OVT_EXPORT const CFStringRef kVTHeroEye_Right;
/// How a picture covers the sphere around the viewer. One of `kVTProjectionKind_`.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_ProjectionKind;
/// Flat, as of an ordinary lens.
OVT_EXPORT const CFStringRef kVTProjectionKind_Rectilinear;
/// All around: 360 degrees.
OVT_EXPORT const CFStringRef kVTProjectionKind_Equirectangular;
/// In front: 180 degrees.
OVT_EXPORT const CFStringRef kVTProjectionKind_HalfEquirectangular;
/// By the calibration of a wide lens.
OVT_EXPORT const CFStringRef kVTProjectionKind_ParametricImmersive;
/// How two views share a picture. One of `kVTViewPackingKind_`.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_ViewPackingKind;
/// Left and right halves.
OVT_EXPORT const CFStringRef kVTViewPackingKind_SideBySide;
/// Upper and lower halves.
OVT_EXPORT const CFStringRef kVTViewPackingKind_OverUnder;
/// Distance between the lenses' centres, in micrometres. Number.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_StereoCameraBaseline;
/// Shift of the views against each other, -10000 to 10000 for -1 to 1 of the width. Number.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_HorizontalDisparityAdjustment;
/// In thousandths of a degree. Number.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_HorizontalFieldOfView;
/// The calibration of each lens. Array of dictionaries of the keys below.
OVT_EXPORT const CFStringRef kVTCompressionPropertyKey_CameraCalibrationDataLensCollection;
/// One of `kVTCameraCalibrationLensAlgorithmKind_`.
OVT_EXPORT const CFStringRef kVTCompressionPropertyCameraCalibrationKey_LensAlgorithmKind;
/// One of `kVTCameraCalibrationLensDomain_`.
OVT_EXPORT const CFStringRef kVTCompressionPropertyCameraCalibrationKey_LensDomain;
/// Number.
OVT_EXPORT const CFStringRef kVTCompressionPropertyCameraCalibrationKey_LensIdentifier;
/// One of `kVTCameraCalibrationLensRole_`.
OVT_EXPORT const CFStringRef kVTCompressionPropertyCameraCalibrationKey_LensRole;
/// Array of numbers.
OVT_EXPORT const CFStringRef kVTCompressionPropertyCameraCalibrationKey_LensDistortions;
/// Array of three numbers.
OVT_EXPORT const CFStringRef kVTCompressionPropertyCameraCalibrationKey_LensFrameAdjustmentsPolynomialX;
/// Array of three numbers.
OVT_EXPORT const CFStringRef kVTCompressionPropertyCameraCalibrationKey_LensFrameAdjustmentsPolynomialY;
/// In degrees. Number.
OVT_EXPORT const CFStringRef kVTCompressionPropertyCameraCalibrationKey_RadialAngleLimit;
/// Nine numbers, row by row.
OVT_EXPORT const CFStringRef kVTCompressionPropertyCameraCalibrationKey_IntrinsicMatrix;
/// Number.
OVT_EXPORT const CFStringRef kVTCompressionPropertyCameraCalibrationKey_IntrinsicMatrixProjectionOffset;
/// The size that the matrix is for. Dictionary.
OVT_EXPORT const CFStringRef kVTCompressionPropertyCameraCalibrationKey_IntrinsicMatrixReferenceDimensions;
/// One of `kVTCameraCalibrationExtrinsicOriginSource_`.
OVT_EXPORT const CFStringRef kVTCompressionPropertyCameraCalibrationKey_ExtrinsicOriginSource;
/// Three numbers.
OVT_EXPORT const CFStringRef kVTCompressionPropertyCameraCalibrationKey_ExtrinsicOrientationQuaternion;
/// A lens by its parameters.
OVT_EXPORT const CFStringRef kVTCameraCalibrationLensAlgorithmKind_ParametricLens;
/// A lens for colour.
OVT_EXPORT const CFStringRef kVTCameraCalibrationLensDomain_Color;
/// The only lens.
OVT_EXPORT const CFStringRef kVTCameraCalibrationLensRole_Mono;
/// The left eye's lens.
OVT_EXPORT const CFStringRef kVTCameraCalibrationLensRole_Left;
/// The right eye's lens.
OVT_EXPORT const CFStringRef kVTCameraCalibrationLensRole_Right;
/// The middle between the lenses.
OVT_EXPORT const CFStringRef kVTCameraCalibrationExtrinsicOriginSource_StereoCameraSystemBaseline;

/// Whether there is an encoder of MV-HEVC: no.
OVT_EXPORT Boolean VTIsStereoMVHEVCEncodeSupported(void);

/// Whether there is a decoder that gives all views of MV-HEVC: no. The base view is decoded as any
/// HEVC.
OVT_EXPORT Boolean VTIsStereoMVHEVCDecodeSupported(void);

OVT_HEADER_END

#endif
