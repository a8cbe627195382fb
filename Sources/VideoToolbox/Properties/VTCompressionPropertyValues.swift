// SPDX-License-Identifier: Apache-2.0
import CoreMedia

// MARK: - Profiles and levels

public nonisolated(unsafe) let kVTProfileLevel_HEVC_Main_AutoLevel: CFString = "HEVC_Main_AutoLevel"
public nonisolated(unsafe) let kVTProfileLevel_HEVC_Main10_AutoLevel: CFString = "HEVC_Main10_AutoLevel"
public nonisolated(unsafe) let kVTProfileLevel_H264_Baseline_1_3: CFString = "H264_Baseline_1_3"
public nonisolated(unsafe) let kVTProfileLevel_H264_Baseline_3_0: CFString = "H264_Baseline_3_0"
public nonisolated(unsafe) let kVTProfileLevel_H264_Baseline_3_1: CFString = "H264_Baseline_3_1"
public nonisolated(unsafe) let kVTProfileLevel_H264_Baseline_3_2: CFString = "H264_Baseline_3_2"
public nonisolated(unsafe) let kVTProfileLevel_H264_Baseline_4_0: CFString = "H264_Baseline_4_0"
public nonisolated(unsafe) let kVTProfileLevel_H264_Baseline_4_1: CFString = "H264_Baseline_4_1"
public nonisolated(unsafe) let kVTProfileLevel_H264_Baseline_4_2: CFString = "H264_Baseline_4_2"
public nonisolated(unsafe) let kVTProfileLevel_H264_Baseline_5_0: CFString = "H264_Baseline_5_0"
public nonisolated(unsafe) let kVTProfileLevel_H264_Baseline_5_1: CFString = "H264_Baseline_5_1"
public nonisolated(unsafe) let kVTProfileLevel_H264_Baseline_5_2: CFString = "H264_Baseline_5_2"
public nonisolated(unsafe) let kVTProfileLevel_H264_Baseline_AutoLevel: CFString = "H264_Baseline_AutoLevel"
public nonisolated(unsafe) let kVTProfileLevel_H264_Main_3_0: CFString = "H264_Main_3_0"
public nonisolated(unsafe) let kVTProfileLevel_H264_Main_3_1: CFString = "H264_Main_3_1"
public nonisolated(unsafe) let kVTProfileLevel_H264_Main_3_2: CFString = "H264_Main_3_2"
public nonisolated(unsafe) let kVTProfileLevel_H264_Main_4_0: CFString = "H264_Main_4_0"
public nonisolated(unsafe) let kVTProfileLevel_H264_Main_4_1: CFString = "H264_Main_4_1"
public nonisolated(unsafe) let kVTProfileLevel_H264_Main_4_2: CFString = "H264_Main_4_2"
public nonisolated(unsafe) let kVTProfileLevel_H264_Main_5_0: CFString = "H264_Main_5_0"
public nonisolated(unsafe) let kVTProfileLevel_H264_Main_5_1: CFString = "H264_Main_5_1"
public nonisolated(unsafe) let kVTProfileLevel_H264_Main_5_2: CFString = "H264_Main_5_2"
public nonisolated(unsafe) let kVTProfileLevel_H264_Main_AutoLevel: CFString = "H264_Main_AutoLevel"
public nonisolated(unsafe) let kVTProfileLevel_H264_Extended_5_0: CFString = "H264_Extended_5_0"
public nonisolated(unsafe) let kVTProfileLevel_H264_Extended_AutoLevel: CFString = "H264_Extended_AutoLevel"
public nonisolated(unsafe) let kVTProfileLevel_H264_High_3_0: CFString = "H264_High_3_0"
public nonisolated(unsafe) let kVTProfileLevel_H264_High_3_1: CFString = "H264_High_3_1"
public nonisolated(unsafe) let kVTProfileLevel_H264_High_3_2: CFString = "H264_High_3_2"
public nonisolated(unsafe) let kVTProfileLevel_H264_High_4_0: CFString = "H264_High_4_0"
public nonisolated(unsafe) let kVTProfileLevel_H264_High_4_1: CFString = "H264_High_4_1"
public nonisolated(unsafe) let kVTProfileLevel_H264_High_4_2: CFString = "H264_High_4_2"
public nonisolated(unsafe) let kVTProfileLevel_H264_High_5_0: CFString = "H264_High_5_0"
public nonisolated(unsafe) let kVTProfileLevel_H264_High_5_1: CFString = "H264_High_5_1"
public nonisolated(unsafe) let kVTProfileLevel_H264_High_5_2: CFString = "H264_High_5_2"
public nonisolated(unsafe) let kVTProfileLevel_H264_High_AutoLevel: CFString = "H264_High_AutoLevel"
public nonisolated(unsafe) let kVTProfileLevel_MP4V_Simple_L0: CFString = "MP4V_Simple_L0"
public nonisolated(unsafe) let kVTProfileLevel_MP4V_Simple_L1: CFString = "MP4V_Simple_L1"
public nonisolated(unsafe) let kVTProfileLevel_MP4V_Simple_L2: CFString = "MP4V_Simple_L2"
public nonisolated(unsafe) let kVTProfileLevel_MP4V_Simple_L3: CFString = "MP4V_Simple_L3"
public nonisolated(unsafe) let kVTProfileLevel_MP4V_Main_L2: CFString = "MP4V_Main_L2"
public nonisolated(unsafe) let kVTProfileLevel_MP4V_Main_L3: CFString = "MP4V_Main_L3"
public nonisolated(unsafe) let kVTProfileLevel_MP4V_Main_L4: CFString = "MP4V_Main_L4"
public nonisolated(unsafe) let kVTProfileLevel_MP4V_AdvancedSimple_L0: CFString = "MP4V_AdvancedSimple_L0"
public nonisolated(unsafe) let kVTProfileLevel_MP4V_AdvancedSimple_L1: CFString = "MP4V_AdvancedSimple_L1"
public nonisolated(unsafe) let kVTProfileLevel_MP4V_AdvancedSimple_L2: CFString = "MP4V_AdvancedSimple_L2"
public nonisolated(unsafe) let kVTProfileLevel_MP4V_AdvancedSimple_L3: CFString = "MP4V_AdvancedSimple_L3"
public nonisolated(unsafe) let kVTProfileLevel_MP4V_AdvancedSimple_L4: CFString = "MP4V_AdvancedSimple_L4"
public nonisolated(unsafe) let kVTProfileLevel_H263_Profile0_Level10: CFString = "H263_Profile0_Level10"
public nonisolated(unsafe) let kVTProfileLevel_H263_Profile0_Level45: CFString = "H263_Profile0_Level45"
public nonisolated(unsafe) let kVTProfileLevel_H263_Profile3_Level45: CFString = "H263_Profile3_Level45"
public nonisolated(unsafe) let kVTProfileLevel_H264_ConstrainedBaseline_AutoLevel: CFString =
  "H264_ConstrainedBaseline_AutoLevel"
public nonisolated(unsafe) let kVTProfileLevel_H264_ConstrainedHigh_AutoLevel: CFString =
  "H264_ConstrainedHigh_AutoLevel"

// MARK: - Other values

/// No HDR metadata in the stream.
public nonisolated(unsafe) let kVTHDRMetadataInsertionMode_None: CFString = "HDRMetadataInsertionMode_None"
/// HDR metadata in the stream if the session has it.
public nonisolated(unsafe) let kVTHDRMetadataInsertionMode_Auto: CFString = "HDRMetadataInsertionMode_Auto"
/// Context-adaptive variable-length codes.
public nonisolated(unsafe) let kVTH264EntropyMode_CAVLC: CFString = "CAVLC"
/// Context-adaptive binary arithmetic coding.
public nonisolated(unsafe) let kVTH264EntropyMode_CABAC: CFString = "CABAC"
/// Encode on this GPU or not at all. Number.
public nonisolated(unsafe) let kVTVideoEncoderSpecification_RequiredEncoderGPURegistryID: CFString =
  "RequiredEncoderGPURegistryID"
/// Encode on this GPU if possible. Number.
public nonisolated(unsafe) let kVTVideoEncoderSpecification_PreferredEncoderGPURegistryID: CFString =
  "PreferredEncoderGPURegistryID"
/// Make this frame a key frame. Boolean.
public nonisolated(unsafe) let kVTEncodeFrameOptionKey_ForceKeyFrame: CFString = "ForceKeyFrame"
/// Colours are not multiplied by alpha.
public nonisolated(unsafe) let kVTAlphaChannelMode_StraightAlpha: CFString = "StraightAlpha"
/// Colours are multiplied by alpha.
public nonisolated(unsafe) let kVTAlphaChannelMode_PremultipliedAlpha: CFString = "PremultipliedAlpha"
/// Good quality at a good speed.
public nonisolated(unsafe) let kVTCompressionPreset_Balanced: CFString = "Balanced"
/// Better quality, slower.
public nonisolated(unsafe) let kVTCompressionPreset_HighQuality: CFString = "HighQuality"
/// Faster, at some cost in quality.
public nonisolated(unsafe) let kVTCompressionPreset_HighSpeed: CFString = "HighSpeed"
/// For calls: needs the low-latency mode.
public nonisolated(unsafe) let kVTCompressionPreset_VideoConferencing: CFString = "VideoConferencing"
/// The tokens of long-term references that the receiver has acknowledged. Array of numbers.
public nonisolated(unsafe) let kVTEncodeFrameOptionKey_AcknowledgedLTRTokens: CFString =
  "AcknowledgedLTRTokens"
/// The QP of this frame, which replaces that of rate control. Number.
public nonisolated(unsafe) let kVTEncodeFrameOptionKey_BaseFrameQP: CFString = "BaseFrameQP"
/// Predict this frame from an acknowledged long-term reference alone. Boolean.
public nonisolated(unsafe) let kVTEncodeFrameOptionKey_ForceLTRRefresh: CFString = "ForceLTRRefresh"
/// Dictionary of `kVTSampleAttachmentQualityMetricsKey_` keys.
public nonisolated(unsafe) let kVTSampleAttachmentKey_QualityMetrics: CFString = "QualityMetrics"
/// The sample is a long-term reference with this number, which the receiver should acknowledge.
public nonisolated(unsafe) let kVTSampleAttachmentKey_RequireLTRAcknowledgementToken: CFString =
  "RequireLTRAcknowledgementToken"
/// Mean squared error of Cb. Number.
public nonisolated(unsafe) let kVTSampleAttachmentQualityMetricsKey_ChromaBlueMeanSquaredError: CFString =
  "ChromaBlueMeanSquaredError"
/// Mean squared error of Cr. Number.
public nonisolated(unsafe) let kVTSampleAttachmentQualityMetricsKey_ChromaRedMeanSquaredError: CFString =
  "ChromaRedMeanSquaredError"
/// Mean squared error of luma. Number.
public nonisolated(unsafe) let kVTSampleAttachmentQualityMetricsKey_LumaMeanSquaredError: CFString =
  "LumaMeanSquaredError"
/// Whether to use an encoder of the low-latency mode, which outputs each frame before it takes the
/// next. Boolean.
public nonisolated(unsafe) let kVTVideoEncoderSpecification_EnableLowLatencyRateControl: CFString =
  "EnableLowLatencyRateControl"
/// False rules hardware encoders out. Boolean.
public nonisolated(unsafe) let kVTVideoEncoderSpecification_EnableHardwareAcceleratedVideoEncoder: CFString =
  "EnableHardwareAcceleratedVideoEncoder"
/// True rules software encoders out. Boolean.
public nonisolated(unsafe) let kVTVideoEncoderSpecification_RequireHardwareAcceleratedVideoEncoder: CFString =
  "RequireHardwareAcceleratedVideoEncoder"

/// The encoder may adapt the quantiser within a frame.
public var kVTQPModulationLevel_Default: Int { -1 }
/// One quantiser for the whole frame.
public var kVTQPModulationLevel_Disable: Int { 0 }

/// No limit for `kVTCompressionPropertyKey_MaxFrameDelayCount`.
public var kVTUnlimitedFrameDelayCount: Int { -1 }
