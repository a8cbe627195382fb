// SPDX-License-Identifier: Apache-2.0
// The properties of decompression sessions.

#ifndef OVT_VIDEOTOOLBOX_VTDECOMPRESSIONPROPERTIES_H
#define OVT_VIDEOTOOLBOX_VTDECOMPRESSIONPROPERTIES_H

#include <VideoToolbox/VTBase.h>

OVT_HEADER_BEGIN

/// The pool that output buffers come from; NULL before the first frame. CVPixelBufferPool,
/// read-only.
OVT_EXPORT const CFStringRef kVTDecompressionPropertyKey_PixelBufferPool;
/// Whether the decoder decodes straight into the pool's buffers, without a conversion. Boolean,
/// read-only.
OVT_EXPORT const CFStringRef kVTDecompressionPropertyKey_PixelBufferPoolIsShared;
/// The minimum number of buffers that the pool keeps. Number.
OVT_EXPORT const CFStringRef kVTDecompressionPropertyKey_OutputPoolRequestedMinimumBufferCount;
/// The number of frames that were submitted and whose callback was not called yet. Number,
/// read-only.
OVT_EXPORT const CFStringRef kVTDecompressionPropertyKey_NumberOfFramesBeingDecoded;
/// The least presentation time stamp of the frames that are being decoded; NULL if there are none.
/// CMTime as a dictionary, read-only.
OVT_EXPORT const CFStringRef kVTDecompressionPropertyKey_MinOutputPresentationTimeStampOfFramesBeingDecoded;
/// The greatest presentation time stamp of the frames that are being decoded; NULL if there are
/// none. CMTime as a dictionary, read-only.
OVT_EXPORT const CFStringRef kVTDecompressionPropertyKey_MaxOutputPresentationTimeStampOfFramesBeingDecoded;
/// Whether frames depend on others. Boolean, read-only.
OVT_EXPORT const CFStringRef kVTDecompressionPropertyKey_ContentHasInterframeDependencies;
/// Whether the delay of each frame counts more than throughput. Boolean; NULL is true.
OVT_EXPORT const CFStringRef kVTDecompressionPropertyKey_RealTime;
/// Whether to save power at the cost of speed: one thread decodes. Boolean.
OVT_EXPORT const CFStringRef kVTDecompressionPropertyKey_MaximizePowerEfficiency;
/// The largest number of the decoder's threads. Number; 0 leaves the choice to the decoder. H.264
/// whose frames are to be returned without delay is decoded by one thread: with slice threads,
/// libavcodec does not report damage.
OVT_EXPORT const CFStringRef kVTDecompressionPropertyKey_ThreadCount;
/// The treatment of interlaced frames: one of the `kVTDecompressionProperty_FieldMode_` constants.
OVT_EXPORT const CFStringRef kVTDecompressionPropertyKey_FieldMode;
/// Frames with both fields, as they are. The default.
OVT_EXPORT const CFStringRef kVTDecompressionProperty_FieldMode_BothFields;
/// The top field, stretched to the frame's height.
OVT_EXPORT const CFStringRef kVTDecompressionProperty_FieldMode_TopFieldOnly;
/// The bottom field, stretched to the frame's height.
OVT_EXPORT const CFStringRef kVTDecompressionProperty_FieldMode_BottomFieldOnly;
/// The field that is shown first, stretched to the frame's height.
OVT_EXPORT const CFStringRef kVTDecompressionProperty_FieldMode_SingleField;
/// A progressive frame made of both fields, as `kVTDecompressionPropertyKey_DeinterlaceMode` says.
OVT_EXPORT const CFStringRef kVTDecompressionProperty_FieldMode_DeinterlaceFields;
/// How fields are made into a frame: one of the `kVTDecompressionProperty_DeinterlaceMode_`
/// constants.
OVT_EXPORT const CFStringRef kVTDecompressionPropertyKey_DeinterlaceMode;
/// A filter over neighbouring rows. The default.
OVT_EXPORT const CFStringRef kVTDecompressionProperty_DeinterlaceMode_VerticalFilter;
/// A filter over neighbouring frames. Not supported by these decoders.
OVT_EXPORT const CFStringRef kVTDecompressionProperty_DeinterlaceMode_Temporal;
/// A smaller size for the output: a dictionary with `kVTDecompressionResolutionKey_Width` and
/// `_Height`.
OVT_EXPORT const CFStringRef kVTDecompressionPropertyKey_ReducedResolutionDecode;
/// In pixels. Number.
OVT_EXPORT const CFStringRef kVTDecompressionResolutionKey_Width;
/// In pixels. Number.
OVT_EXPORT const CFStringRef kVTDecompressionResolutionKey_Height;
/// Coefficients to decode. Not supported by these decoders.
OVT_EXPORT const CFStringRef kVTDecompressionPropertyKey_ReducedCoefficientDecode;
/// The fraction of the frames to output. Not supported by these decoders.
OVT_EXPORT const CFStringRef kVTDecompressionPropertyKey_ReducedFrameDelivery;
/// Which frames to decode: one of the `kVTDecompressionProperty_OnlyTheseFrames_` constants. All
/// others are reported as dropped.
OVT_EXPORT const CFStringRef kVTDecompressionPropertyKey_OnlyTheseFrames;
/// All frames. The default.
OVT_EXPORT const CFStringRef kVTDecompressionProperty_OnlyTheseFrames_AllFrames;
/// The frames that other frames depend on.
OVT_EXPORT const CFStringRef kVTDecompressionProperty_OnlyTheseFrames_NonDroppableFrames;
/// The frames that depend on no other frame (I frames).
OVT_EXPORT const CFStringRef kVTDecompressionProperty_OnlyTheseFrames_IFrames;
/// The frames at which decoding can begin (sync samples).
OVT_EXPORT const CFStringRef kVTDecompressionProperty_OnlyTheseFrames_KeyFrames;
/// The highest temporal sub-layer to decode (`TemporalId` of HEVC); frames of higher ones are
/// reported as dropped. Number.
OVT_EXPORT const CFStringRef kVTDecompressionProperty_TemporalLevelLimit;
/// Ways to decode less, the best first. Not supported by these decoders.
OVT_EXPORT const CFStringRef kVTDecompressionPropertyKey_SuggestedQualityOfServiceTiers;
/// Pixel formats that images of the session can have, the most faithful first. Array of numbers,
/// read-only.
OVT_EXPORT const CFStringRef kVTDecompressionPropertyKey_SupportedPixelFormatsOrderedByQuality;
/// Pixel formats that images of the session can have, the fastest first. Array of numbers,
/// read-only.
OVT_EXPORT const CFStringRef kVTDecompressionPropertyKey_SupportedPixelFormatsOrderedByPerformance;
/// Pixel formats that images of the session can have at a reduced resolution. Array of numbers,
/// read-only.
OVT_EXPORT const CFStringRef kVTDecompressionPropertyKey_PixelFormatsWithReducedResolutionSupport;
/// Whether frames may have other dimensions than the format description says; if not they are
/// scaled. Boolean.
OVT_EXPORT const CFStringRef kVTDecompressionPropertyKey_AllowBitstreamToChangeFrameDimensions;
/// Properties (`kVTPixelTransferPropertyKey_`) for the conversion of decoded frames to what the
/// client asked for. Dictionary.
OVT_EXPORT const CFStringRef kVTDecompressionPropertyKey_PixelTransferProperties;
/// In a decoder specification: the GPU that has to decode. There is none here, so that no decoder
/// is found.
OVT_EXPORT const CFStringRef kVTVideoDecoderSpecification_RequiredDecoderGPURegistryID;
/// In a decoder specification: the GPU that should decode.
OVT_EXPORT const CFStringRef kVTVideoDecoderSpecification_PreferredDecoderGPURegistryID;
/// In a decoder specification: whether hardware may decode. Boolean.
OVT_EXPORT const CFStringRef kVTVideoDecoderSpecification_EnableHardwareAcceleratedVideoDecoder;
/// In a decoder specification: whether hardware has to decode. The built-in decoder is not
/// hardware, unless `CodecRegistry.countsAllAsHardware` is set. Boolean.
OVT_EXPORT const CFStringRef kVTVideoDecoderSpecification_RequireHardwareAcceleratedVideoDecoder;
/// The GPU that decodes. Not supported by these decoders, which run on the processor.
OVT_EXPORT const CFStringRef kVTDecompressionPropertyKey_UsingGPURegistryID;
/// Whether hardware decodes. Boolean, read-only.
OVT_EXPORT const CFStringRef kVTDecompressionPropertyKey_UsingHardwareAcceleratedVideoDecoder;
/// Attach the metadata that the stream carries for its frames to the images. Boolean.
OVT_EXPORT const CFStringRef kVTDecompressionPropertyKey_PropagatePerFrameHDRDisplayMetadata;
/// Make such metadata from the images. Boolean.
OVT_EXPORT const CFStringRef kVTDecompressionPropertyKey_GeneratePerFrameHDRDisplayMetadata;
/// The layers of an MV-HEVC stream to decode. Array of numbers.
OVT_EXPORT const CFStringRef kVTDecompressionPropertyKey_RequestedMVHEVCVideoLayerIDs;
/// Whether the decoder gives sensor data. Read-only Boolean.
OVT_EXPORT const CFStringRef kVTDecompressionPropertyKey_DecoderProducesRAWOutput;
/// Give sensor data as they are. Boolean.
OVT_EXPORT const CFStringRef kVTDecompressionPropertyKey_RequestRAWOutput;
/// For an analyser of pictures in the decoder: a rotation in degrees. Number.
OVT_EXPORT const CFStringRef kVTDecodeFrameOptionKey_ContentAnalyzerRotation;
/// For an analyser of pictures in the decoder: the part of the picture. Dictionary of a rectangle.
OVT_EXPORT const CFStringRef kVTDecodeFrameOptionKey_ContentAnalyzerCropRectangle;

OVT_HEADER_END

#endif
