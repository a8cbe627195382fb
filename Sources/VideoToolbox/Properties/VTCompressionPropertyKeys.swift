// SPDX-License-Identifier: Apache-2.0
import CoreMedia

// Each string is the name that Apple gives the property, so that written-out settings mean the same
// everywhere.

/// The number of frames that were submitted and whose callback was not called yet. Read-only
/// number; may fall at any time.
public nonisolated(unsafe) let kVTCompressionPropertyKey_NumberOfPendingFrames: CFString =
  "NumberOfPendingFrames"

/// Whether the session's pool serves the encoder directly, so that buffers from it are encoded
/// without a copy or a conversion. Read-only Boolean.
public nonisolated(unsafe) let kVTCompressionPropertyKey_PixelBufferPoolIsShared: CFString =
  "PixelBufferPoolIsShared"

/// The pixel buffers that the encoder takes without a conversion. Read-only dictionary.
public nonisolated(unsafe) let kVTCompressionPropertyKey_VideoEncoderPixelBufferAttributes: CFString =
  "VideoEncoderPixelBufferAttributes"

/// Most frames from one key frame to the next. 0 leaves it to the encoder; 1 makes each frame a key
/// frame.
public nonisolated(unsafe) let kVTCompressionPropertyKey_MaxKeyFrameInterval: CFString = "MaxKeyFrameInterval"

/// Most seconds from one key frame to the next. 0 means no limit.
public nonisolated(unsafe) let kVTCompressionPropertyKey_MaxKeyFrameIntervalDuration: CFString =
  "MaxKeyFrameIntervalDuration"

/// False makes each frame a key frame. Boolean, default true.
public nonisolated(unsafe) let kVTCompressionPropertyKey_AllowTemporalCompression: CFString =
  "AllowTemporalCompression"

/// False keeps the frames in the order of presentation. Boolean, default true.
public nonisolated(unsafe) let kVTCompressionPropertyKey_AllowFrameReordering: CFString =
  "AllowFrameReordering"

/// True lets frames refer across a key frame that they follow in decode order and precede in
/// presentation: in H.264 it is a partial sync sample. Boolean, default false for H.264 and true
/// for HEVC.
public nonisolated(unsafe) let kVTCompressionPropertyKey_AllowOpenGOP: CFString = "AllowOpenGOP"

/// Bits a second in the long run. 0, the default, leaves the size to the encoder.
public nonisolated(unsafe) let kVTCompressionPropertyKey_AverageBitRate: CFString = "AverageBitRate"

/// Zero, one or two hard limits, as an array of bytes, seconds, bytes, seconds: no window of that
/// many seconds of decode time has more than that many bytes.
public nonisolated(unsafe) let kVTCompressionPropertyKey_DataRateLimits: CFString = "DataRateLimits"

/// Quality to aim at when no bit rate is set: 0.0 to 1.0.
public nonisolated(unsafe) let kVTCompressionPropertyKey_Quality: CFString = "Quality"

/// Quality of the alpha channel, where there is one.
public nonisolated(unsafe) let kVTCompressionPropertyKey_TargetQualityForAlpha: CFString =
  "TargetQualityForAlpha"

/// Frames of the same source precede the first frame of this session. Boolean.
public nonisolated(unsafe) let kVTCompressionPropertyKey_MoreFramesBeforeStart: CFString =
  "MoreFramesBeforeStart"

/// Frames of the same source follow the last frame of this session. Boolean.
public nonisolated(unsafe) let kVTCompressionPropertyKey_MoreFramesAfterEnd: CFString = "MoreFramesAfterEnd"

/// True asks for speed, false for quality, where nothing else decides. Boolean.
public nonisolated(unsafe) let kVTCompressionPropertyKey_PrioritizeEncodingSpeedOverQuality: CFString =
  "PrioritizeEncodingSpeedOverQuality"

/// Profile and level of the stream: one of the `kVTProfileLevel_` constants.
public nonisolated(unsafe) let kVTCompressionPropertyKey_ProfileLevel: CFString = "ProfileLevel"

/// Whether static HDR metadata is written into the stream.
public nonisolated(unsafe) let kVTCompressionPropertyKey_HDRMetadataInsertionMode: CFString =
  "HDRMetadataInsertionMode"

/// `kVTH264EntropyMode_CAVLC` or `kVTH264EntropyMode_CABAC`. H.264 only.
public nonisolated(unsafe) let kVTCompressionPropertyKey_H264EntropyMode: CFString = "H264EntropyMode"

/// Pixel depth of the encoded video.
public nonisolated(unsafe) let kVTCompressionPropertyKey_Depth: CFString = "Depth"

/// The number M of frames that the encoder may hold: when the call that encodes frame N returns,
/// the callback of frame N - M has been called. `kVTUnlimitedFrameDelayCount`, the default, means
/// no limit.
public nonisolated(unsafe) let kVTCompressionPropertyKey_MaxFrameDelayCount: CFString = "MaxFrameDelayCount"

/// Most bytes of one slice NAL unit. 0, the default, means no limit. H.264 only.
public nonisolated(unsafe) let kVTCompressionPropertyKey_MaxH264SliceBytes: CFString = "MaxH264SliceBytes"

/// Whether frames come at the pace at which they are captured, so that encoding must keep up with
/// them. Boolean.
public nonisolated(unsafe) let kVTCompressionPropertyKey_RealTime: CFString = "RealTime"

/// True asks for less work at some cost in quality or speed. Boolean.
public nonisolated(unsafe) let kVTCompressionPropertyKey_MaximizePowerEfficiency: CFString =
  "MaximizePowerEfficiency"

/// Number of frames that will come; 0, the default, is unknown.
public nonisolated(unsafe) let kVTCompressionPropertyKey_SourceFrameCount: CFString = "SourceFrameCount"

/// Frames a second that are expected; 0, the default, is unknown. Time stamps rule where they
/// differ.
public nonisolated(unsafe) let kVTCompressionPropertyKey_ExpectedFrameRate: CFString = "ExpectedFrameRate"

/// Seconds that the source is expected to last; 0, the default, is unknown.
public nonisolated(unsafe) let kVTCompressionPropertyKey_ExpectedDuration: CFString = "ExpectedDuration"

/// Frames a second in the base layer.
public nonisolated(unsafe) let kVTCompressionPropertyKey_BaseLayerFrameRate: CFString = "BaseLayerFrameRate"

/// The GPU that encodes.
public nonisolated(unsafe) let kVTCompressionPropertyKey_UsingGPURegistryID: CFString = "UsingMetalRegistryID"

/// The part of the picture that is meant to be seen: a dictionary with the keys
/// `kCVImageBufferCleanAperture...Key`.
public nonisolated(unsafe) let kVTCompressionPropertyKey_CleanAperture: CFString = "CleanAperture"

/// The shape of a sample: a dictionary with the keys `kCVImageBufferPixelAspectRatio...SpacingKey`.
public nonisolated(unsafe) let kVTCompressionPropertyKey_PixelAspectRatio: CFString = "PixelAspectRatio"

/// Fields in a frame: 1 is progressive.
public nonisolated(unsafe) let kVTCompressionPropertyKey_FieldCount: CFString = "FieldCount"

/// Order of the fields.
public nonisolated(unsafe) let kVTCompressionPropertyKey_FieldDetail: CFString = "FieldDetail"

/// Picture of 16:9 in a format that can mean either. Boolean.
public nonisolated(unsafe) let kVTCompressionPropertyKey_AspectRatio16x9: CFString = "AspectRatio16x9"

/// Progressive in a format that can mean either. Boolean.
public nonisolated(unsafe) let kVTCompressionPropertyKey_ProgressiveScan: CFString = "ProgressiveScan"

/// Colour primaries: one of the `kCVImageBufferColorPrimaries_` constants.
public nonisolated(unsafe) let kVTCompressionPropertyKey_ColorPrimaries: CFString = "ColorPrimaries"

/// Transfer function: one of the `kCVImageBufferTransferFunction_` constants.
public nonisolated(unsafe) let kVTCompressionPropertyKey_TransferFunction: CFString = "TransferFunction"

/// Conversion between RGB and Y'CbCr: one of the `kCVImageBufferYCbCrMatrix_` constants.
public nonisolated(unsafe) let kVTCompressionPropertyKey_YCbCrMatrix: CFString = "YCbCrMatrix"

/// ICC profile of the source.
public nonisolated(unsafe) let kVTCompressionPropertyKey_ICCProfile: CFString = "ICCProfile"

/// 24 bytes of the SEI message of this name, big-endian. Data.
public nonisolated(unsafe) let kVTCompressionPropertyKey_MasteringDisplayColorVolume: CFString =
  "MasteringDisplayColorVolume"

/// 4 bytes of the SEI message of this name, big-endian. Data.
public nonisolated(unsafe) let kVTCompressionPropertyKey_ContentLightLevelInfo: CFString =
  "ContentLightLevelInfo"

/// Gamma of the source.
public nonisolated(unsafe) let kVTCompressionPropertyKey_GammaLevel: CFString = "GammaLevel"

/// How the alpha channel relates to the colours.
public nonisolated(unsafe) let kVTCompressionPropertyKey_AlphaChannelMode: CFString = "AlphaChannelMode"

/// Properties for the conversion of source buffers to what the encoder takes: a dictionary of
/// `kVTPixelTransferPropertyKey_` keys.
public nonisolated(unsafe) let kVTCompressionPropertyKey_PixelTransferProperties: CFString =
  "PixelTransferProperties"

/// Turns multi-pass encoding on: a `VTMultiPassStorage` in which the encoder keeps what it learns
/// from pass to pass.
public nonisolated(unsafe) let kVTCompressionPropertyKey_MultiPassStorage: CFString = "MultiPassStorage"

/// The encoder that the session uses. Read-only string.
public nonisolated(unsafe) let kVTCompressionPropertyKey_EncoderID: CFString = "EncoderID"

/// Keep dynamic HDR metadata of the source. Boolean.
public nonisolated(unsafe) let kVTCompressionPropertyKey_PreserveDynamicHDRMetadata: CFString =
  "PreserveDynamicHDRMetadata"

/// Share of the bit rate for the base layer: 0.0 to 1.0. With temporal layers only.
public nonisolated(unsafe) let kVTCompressionPropertyKey_BaseLayerBitRateFraction: CFString =
  "BaseLayerBitRateFraction"

/// Share of the frames in the base layer: 1.0 means no temporal layers, 0.5 is two.
public nonisolated(unsafe) let kVTCompressionPropertyKey_BaseLayerFrameRateFraction: CFString =
  "BaseLayerFrameRateFraction"

/// True attaches the mean squared error of each frame to its sample buffer. Boolean.
public nonisolated(unsafe) let kVTCompressionPropertyKey_CalculateMeanSquaredError: CFString =
  "CalculateMeanSquaredError"

/// Bits a second, always: frames are filled up to hold the rate. Not together with an average rate
/// or data rate limits.
public nonisolated(unsafe) let kVTCompressionPropertyKey_ConstantBitRate: CFString = "ConstantBitRate"

/// True makes the encoder mark long-term references for the receiver to acknowledge. Boolean;
/// low-latency mode.
public nonisolated(unsafe) let kVTCompressionPropertyKey_EnableLTR: CFString = "EnableLTR"

/// An estimate of the bytes a frame will take. Read-only number.
public nonisolated(unsafe) let kVTCompressionPropertyKey_EstimatedAverageBytesPerFrame: CFString =
  "kVTProCodecPropertyKey_AverageBytesPerFrame"

/// Highest quantiser that a frame may get.
public nonisolated(unsafe) let kVTCompressionPropertyKey_MaxAllowedFrameQP: CFString = "MaxAllowedFrameQP"

/// Lowest quantiser that a frame may get.
public nonisolated(unsafe) let kVTCompressionPropertyKey_MinAllowedFrameQP: CFString = "MinAllowedFrameQP"

/// Highest frame rate that can come in while `RealTime` is true; 0, the default, is unknown.
public nonisolated(unsafe) let kVTCompressionPropertyKey_MaximumRealTimeFrameRate: CFString =
  "MaximumRealTimeFrameRate"

/// Bits of a sample in the encoded video.
public nonisolated(unsafe) let kVTCompressionPropertyKey_OutputBitDepth: CFString = "OutputBitDepth"

/// The number of sessions beyond which encoding further parts of a movie at the same time gives no
/// higher speed. Read-only number.
public nonisolated(unsafe) let kVTCompressionPropertyKey_RecommendedParallelizationLimit: CFString =
  "RecommendedParallelizationLimit"

/// The shortest duration of a segment for which a separate session is efficient. A read-only
/// `CMTime` dictionary.
public nonisolated(unsafe) let kVTCompressionPropertyKey_RecommendedParallelizedSubdivisionMinimumDuration:
  CFString =
    "RecommendedParallelizedSubdivisionMinimumDuration"

/// The smallest number of frames of a segment for which a separate session is efficient. A
/// read-only number.
public nonisolated(unsafe) let kVTCompressionPropertyKey_RecommendedParallelizedSubdivisionMinimumFrameCount:
  CFString =
    "RecommendedParallelizedSubdivisionMinimumFrameCount"

/// The maximum number of reference frames. The encoder reports an error if the standard allows
/// fewer.
public nonisolated(unsafe) let kVTCompressionPropertyKey_ReferenceBufferCount: CFString =
  "ReferenceBufferCount"

/// `kVTQPModulationLevel_Default` lets the quantiser follow the local activity;
/// `kVTQPModulationLevel_Disable` does not.
public nonisolated(unsafe) let kVTCompressionPropertyKey_SpatialAdaptiveQPLevel: CFString =
  "SpatialAdaptiveQPLevel"

/// Frames that the encoder should look ahead; they add to its delay.
public nonisolated(unsafe) let kVTCompressionPropertyKey_SuggestedLookAheadFrameCount: CFString =
  "SuggestedLookAheadFrameCount"

/// Presets by name (`kVTCompressionPreset_`), each a dictionary of properties to set. Read-only.
public nonisolated(unsafe) let kVTCompressionPropertyKey_SupportedPresetDictionaries: CFString =
  "SupportedPresetDictionaries"

/// Whether `kVTEncodeFrameOptionKey_BaseFrameQP` is understood. Read-only Boolean.
public nonisolated(unsafe) let kVTCompressionPropertyKey_SupportsBaseFrameQP: CFString = "SupportsBaseFrameQP"

/// Seconds that the decoder's buffer model holds.
public nonisolated(unsafe) let kVTCompressionPropertyKey_VBVBufferDuration: CFString = "VBVBufferDuration"

/// How full the buffer model is when the first frame is decoded: 0 to 100, default 90.
public nonisolated(unsafe) let kVTCompressionPropertyKey_VBVInitialDelayPercentage: CFString =
  "VBVInitialDelayPercentage"

/// Bits a second at which the buffer model fills, at most.
public nonisolated(unsafe) let kVTCompressionPropertyKey_VBVMaxBitRate: CFString = "VBVMaxBitRate"

/// Bits a second in the long run, with the freedom that the buffer model leaves.
public nonisolated(unsafe) let kVTCompressionPropertyKey_VariableBitRate: CFString = "VariableBitRate"

/// Whether the encoder is a piece of hardware. Read-only Boolean.
public nonisolated(unsafe) let kVTCompressionPropertyKey_UsingHardwareAcceleratedVideoEncoder: CFString =
  "UsingHardwareAcceleratedVideoEncoder"
