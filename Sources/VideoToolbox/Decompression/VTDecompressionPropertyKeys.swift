// SPDX-License-Identifier: Apache-2.0
import CoreMedia

// MARK: - Pixel buffers

/// The pool that output buffers come from; nil before the first frame. CVPixelBufferPool,
/// read-only.
public nonisolated(unsafe) let kVTDecompressionPropertyKey_PixelBufferPool: CFString = "PixelBufferPool"
/// Whether the decoder decodes straight into the pool's buffers, without a conversion. Boolean,
/// read-only.
public nonisolated(unsafe) let kVTDecompressionPropertyKey_PixelBufferPoolIsShared: CFString =
  "PixelBufferPoolIsShared"
/// The minimum number of buffers that the pool keeps. Number.
public nonisolated(unsafe) let kVTDecompressionPropertyKey_OutputPoolRequestedMinimumBufferCount: CFString =
  "OutputPoolRequestedMinimumBufferCount"

// MARK: - Frames under way

/// The number of frames that were submitted and whose callback was not called yet. Number,
/// read-only.
public nonisolated(unsafe) let kVTDecompressionPropertyKey_NumberOfFramesBeingDecoded: CFString =
  "NumberOfFramesBeingDecoded"
/// The least presentation time stamp of the frames that are being decoded; nil if there are none.
/// CMTime as a dictionary, read-only.
public nonisolated(unsafe) let kVTDecompressionPropertyKey_MinOutputPresentationTimeStampOfFramesBeingDecoded:
  CFString = "MinOutputPresentationTimeStampOfFramesBeingDecoded"
/// The greatest presentation time stamp of the frames that are being decoded; nil if there are
/// none. CMTime as a dictionary, read-only.
public nonisolated(unsafe) let kVTDecompressionPropertyKey_MaxOutputPresentationTimeStampOfFramesBeingDecoded:
  CFString = "MaxOutputPresentationTimeStampOfFramesBeingDecoded"

// MARK: - Content

/// Whether frames depend on others. Boolean, read-only.
public nonisolated(unsafe) let kVTDecompressionPropertyKey_ContentHasInterframeDependencies: CFString =
  "ContentHasInterframeDependencies"

// MARK: - Decoder behaviour

/// Whether the delay of each frame counts more than throughput. Boolean; nil is true.
public nonisolated(unsafe) let kVTDecompressionPropertyKey_RealTime: CFString = "RealTime"
/// Whether to save power at the cost of speed: one thread decodes. Boolean.
public nonisolated(unsafe) let kVTDecompressionPropertyKey_MaximizePowerEfficiency: CFString =
  "MaximizePowerEfficiency"
/// The largest number of the decoder's threads. Number; 0 leaves the choice to the decoder. H.264
/// whose frames are to be returned without delay is decoded by one thread: with slice threads,
/// libavcodec does not report damage.
public nonisolated(unsafe) let kVTDecompressionPropertyKey_ThreadCount: CFString = "ThreadCount"
/// The treatment of interlaced frames: one of the `kVTDecompressionProperty_FieldMode_` constants.
public nonisolated(unsafe) let kVTDecompressionPropertyKey_FieldMode: CFString = "FieldMode"
/// Frames with both fields, as they are. The default.
public nonisolated(unsafe) let kVTDecompressionProperty_FieldMode_BothFields: CFString = "BothFields"
/// The top field, stretched to the frame's height.
public nonisolated(unsafe) let kVTDecompressionProperty_FieldMode_TopFieldOnly: CFString = "TopFieldOnly"
/// The bottom field, stretched to the frame's height.
public nonisolated(unsafe) let kVTDecompressionProperty_FieldMode_BottomFieldOnly: CFString =
  "BottomFieldOnly"
/// The field that is shown first, stretched to the frame's height.
public nonisolated(unsafe) let kVTDecompressionProperty_FieldMode_SingleField: CFString = "SingleField"
/// A progressive frame made of both fields, as `kVTDecompressionPropertyKey_DeinterlaceMode` says.
public nonisolated(unsafe) let kVTDecompressionProperty_FieldMode_DeinterlaceFields: CFString =
  "DeinterlaceFields"
/// How fields are made into a frame: one of the `kVTDecompressionProperty_DeinterlaceMode_`
/// constants.
public nonisolated(unsafe) let kVTDecompressionPropertyKey_DeinterlaceMode: CFString = "DeinterlaceMode"
/// A filter over neighbouring rows. The default.
public nonisolated(unsafe) let kVTDecompressionProperty_DeinterlaceMode_VerticalFilter: CFString =
  "VerticalFilter"
/// A filter over neighbouring frames. Not supported by these decoders.
public nonisolated(unsafe) let kVTDecompressionProperty_DeinterlaceMode_Temporal: CFString = "Temporal"
/// A smaller size for the output: a dictionary with `kVTDecompressionResolutionKey_Width` and
/// `_Height`.
public nonisolated(unsafe) let kVTDecompressionPropertyKey_ReducedResolutionDecode: CFString =
  "ReducedResolutionDecode"
/// In pixels. Number.
public nonisolated(unsafe) let kVTDecompressionResolutionKey_Width: CFString = "Width"
/// In pixels. Number.
public nonisolated(unsafe) let kVTDecompressionResolutionKey_Height: CFString = "Height"
/// Coefficients to decode. Not supported by these decoders.
public nonisolated(unsafe) let kVTDecompressionPropertyKey_ReducedCoefficientDecode: CFString =
  "ReducedCoefficientDecode"
/// The fraction of the frames to output. Not supported by these decoders.
public nonisolated(unsafe) let kVTDecompressionPropertyKey_ReducedFrameDelivery: CFString =
  "ReducedFrameDelivery"
/// Which frames to decode: one of the `kVTDecompressionProperty_OnlyTheseFrames_` constants. All
/// others are reported as dropped.
public nonisolated(unsafe) let kVTDecompressionPropertyKey_OnlyTheseFrames: CFString = "OnlyTheseFrames"
/// All frames. The default.
public nonisolated(unsafe) let kVTDecompressionProperty_OnlyTheseFrames_AllFrames: CFString = "AllFrames"
/// The frames that other frames depend on.
public nonisolated(unsafe) let kVTDecompressionProperty_OnlyTheseFrames_NonDroppableFrames: CFString =
  "NonDroppableFrames"
/// The frames that depend on no other frame (I frames).
public nonisolated(unsafe) let kVTDecompressionProperty_OnlyTheseFrames_IFrames: CFString = "IFrames"
/// The frames at which decoding can begin (sync samples).
public nonisolated(unsafe) let kVTDecompressionProperty_OnlyTheseFrames_KeyFrames: CFString = "KeyFrames"
/// The highest temporal sub-layer to decode (`TemporalId` of HEVC); frames of higher ones are
/// reported as dropped. Number.
public nonisolated(unsafe) let kVTDecompressionProperty_TemporalLevelLimit: CFString = "TemporalLevelLimit"
/// Ways to decode less, the best first. Not supported by these decoders.
public nonisolated(unsafe) let kVTDecompressionPropertyKey_SuggestedQualityOfServiceTiers: CFString =
  "SuggestedQualityOfServiceTiers"
/// Pixel formats that images of the session can have, the most faithful first. Array of numbers,
/// read-only.
public nonisolated(unsafe) let kVTDecompressionPropertyKey_SupportedPixelFormatsOrderedByQuality: CFString =
  "SupportedPixelFormatsOrderedByQuality"
/// Pixel formats that images of the session can have, the fastest first. Array of numbers,
/// read-only.
public nonisolated(unsafe) let kVTDecompressionPropertyKey_SupportedPixelFormatsOrderedByPerformance:
  CFString =
    "SupportedPixelFormatsOrderedByPerformance"
/// Pixel formats that images of the session can have at a reduced resolution. Array of numbers,
/// read-only.
public nonisolated(unsafe) let kVTDecompressionPropertyKey_PixelFormatsWithReducedResolutionSupport:
  CFString =
    "PixelFormatsWithReducedResolutionSupport"
/// Whether frames may have other dimensions than the format description says; if not they are
/// scaled. Boolean.
public nonisolated(unsafe) let kVTDecompressionPropertyKey_AllowBitstreamToChangeFrameDimensions: CFString =
  "AllowBitstreamToChangeFrameDimensions"

// MARK: - After the decoder

/// Properties (`kVTPixelTransferPropertyKey_`) for the conversion of decoded frames to what the
/// client asked for. Dictionary.
public nonisolated(unsafe) let kVTDecompressionPropertyKey_PixelTransferProperties: CFString =
  "PixelTransferProperties"

// MARK: - Hardware

/// In a decoder specification: the GPU that has to decode. There is none here, so that no decoder
/// is found.
public nonisolated(unsafe) let kVTVideoDecoderSpecification_RequiredDecoderGPURegistryID: CFString =
  "RequiredDecoderGPURegistryID"
/// In a decoder specification: the GPU that should decode.
public nonisolated(unsafe) let kVTVideoDecoderSpecification_PreferredDecoderGPURegistryID: CFString =
  "PreferredDecoderGPURegistryID"
/// In a decoder specification: whether hardware may decode. Boolean.
public nonisolated(unsafe) let kVTVideoDecoderSpecification_EnableHardwareAcceleratedVideoDecoder: CFString =
  "EnableHardwareAcceleratedVideoDecoder"
/// In a decoder specification: whether hardware has to decode. The built-in decoder is not
/// hardware, unless `CodecRegistry.countsAllAsHardware` is set. Boolean.
public nonisolated(unsafe) let kVTVideoDecoderSpecification_RequireHardwareAcceleratedVideoDecoder: CFString =
  "RequireHardwareAcceleratedVideoDecoder"
/// The GPU that decodes. Not supported by these decoders, which run on the processor.
public nonisolated(unsafe) let kVTDecompressionPropertyKey_UsingGPURegistryID: CFString =
  "UsingMetalRegistryID"
/// Whether hardware decodes. Boolean, read-only.
public nonisolated(unsafe) let kVTDecompressionPropertyKey_UsingHardwareAcceleratedVideoDecoder: CFString =
  "UsingHardwareAcceleratedVideoDecoder"
