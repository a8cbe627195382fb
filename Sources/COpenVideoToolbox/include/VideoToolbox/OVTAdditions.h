// SPDX-License-Identifier: Apache-2.0
// Properties that only this package has.

#ifndef OVT_VIDEOTOOLBOX_OVTADDITIONS_H
#define OVT_VIDEOTOOLBOX_OVTADDITIONS_H

#include <VideoToolbox/VTBase.h>

OVT_HEADER_BEGIN

/// The effort of the encoder, from 0 (fastest) to 9 (best quality). It replaces `RealTime` and the
/// other preferences of speed. Without it, in real time, this package's own encoder chooses its
/// effort frame by frame, so that 95 of 100 frames take less than half of the frame interval to
/// encode (a quarter of it with `PrioritizeEncodingSpeedOverQuality`, 70 % where that is false;
/// half of each with `MaximizePowerEfficiency`); the stream then depends on the speed of the
/// machine. Number.
OVT_EXPORT const CFStringRef kOVTCompressionPropertyKey_Effort;
/// The largest number of threads that the encoder uses, up to 128; this package's own encoder uses
/// at most 16. 0 (the default) lets it choose from the number of processors. Number.
OVT_EXPORT const CFStringRef kOVTCompressionPropertyKey_ThreadCount;
/// The number of frames, up to 1000, in which intra blocks refresh the picture, over and over
/// (gradual intra refresh): a receiver recovers from losses, or joins the stream, without a key
/// frame. H.264 refreshes columns from the left, HEVC rows from the top. A recovery point message
/// (SEI) marks the frame with which each refresh begins, and pictures are exact from its last frame
/// on. Frames of the enhancement layer are steps of a refresh in HEVC, in H.264 they are none. 0,
/// the default, turns it off. Low-latency mode only. Number.
OVT_EXPORT const CFStringRef kOVTCompressionPropertyKey_IntraRefreshFrameCount;
/// Whether to write a NAL unit of type 14 (prefix NAL unit) before each slice, which tells the
/// frame's temporal layer to a network that forwards layers. Low-latency mode only. Boolean, false
/// by default.
OVT_EXPORT const CFStringRef kOVTCompressionPropertyKey_WritesTemporalLayerPrefix;
/// The largest delay of a frame on a network of the average bit rate, from its capture until its
/// last bit is sent, in seconds: 0.02 to 10. The default is 0.3 in the low-latency mode and in
/// other sessions that do not look ahead; sessions that do have no bound by default. A lower value
/// makes key frames and new scenes coarser, a higher one lets them be sharp at once. Where frames
/// are far apart, a frame may take one and a half frame intervals. This package's own encoder only.
/// Number.
OVT_EXPORT const CFStringRef kOVTCompressionPropertyKey_MaximumQueueDelay;
/// The quality up to which a static picture is refined, with an average bit rate, as a
/// luma PSNR in dB: 30 to 100. The default, 46, is about as much as can be seen. The bits that a
/// higher quality takes are not there for the next change: a window that opens, a slide, a key
/// frame. The encoder keeps to it by the QP: the quantisation error of what has been refined is no
/// larger than the PSNR allows, and plain parts of the picture are better. Low-latency mode of this
/// package's own encoder only. Number.
OVT_EXPORT const CFStringRef kOVTCompressionPropertyKey_MaximumStillPSNR;
// A value of kVTCompressionPropertyKey_ProfileLevel.
OVT_EXPORT const CFStringRef kOVTProfileLevel_H264_High444Predictive_AutoLevel;
/// Whether passes after the second may encode parts of the movie only, where that brings it nearer
/// to its average bit rate; without it each pass is over the whole movie.
/// `VTCompressionSessionGetTimeRangesForNextPass` then returns ranges of decode times, as
/// `VTFrameSiloSetTimeRangesForNextPass` takes them. The program submits, in their order, all
/// frames whose samples of the previous pass have decode times in a range, and no others. A pass
/// may turn out worse than the one before; a program that wants to be able to go back keeps the
/// samples that are replaced. This package's own encoder only. Boolean, false by default.
OVT_EXPORT const CFStringRef kOVTCompressionPropertyKey_AllowsPartialPasses;
/// Whether a multi-pass encoding ends with the first pass that a further one would not improve. The
/// first pass is then made with the session's full effort, and `VTCompressionSessionEndPass` asks
/// for another only if the pass has missed its average bit rate by more than some per cent, or has
/// left some second clearly coarser than the others. This package's own encoder only. Boolean,
/// false by default: there are at least two passes then, the first a quick one.
OVT_EXPORT const CFStringRef kOVTCompressionPropertyKey_MakesPassesOnDemand;
/// Whether the stream signals its decoder's buffer (HRD parameters, E.1.2 of H.264), and when each
/// frame is removed from it and shown (buffering period and picture timing SEI messages, D.1.2 and
/// D.1.3), as multiplexers and broadcasters need it. The session needs a buffer for that: a
/// constant or a variable rate, `VBVBufferDuration` with an average one, data rate limits, or
/// `kOVTCompressionPropertyKey_MaximumQueueDelay`; without one it cannot be prepared
/// (kVTParameterErr). This package's own encoder only, outside the low-latency mode. Boolean, false
/// by default.
OVT_EXPORT const CFStringRef kOVTCompressionPropertyKey_WritesBufferTiming;
/// Whether the stream may have more than one picture parameter set, which saves bits where scenes
/// fade into each other. Movies hold all those that
/// `CMVideoFormatDescriptionGetH264ParameterSetAtIndex` counts; a program that sends only one
/// in addition to the sequence parameter set makes a stream that cannot be decoded. `AVAssetWriter`
/// sets this. This package's own encoder only, outside the low-latency mode. Boolean, false by
/// default.
OVT_EXPORT const CFStringRef kOVTCompressionPropertyKey_AllowsSeveralPictureParameterSets;
/// Whether the encoder looks ahead by default. A live source whose frames may be delayed by a
/// second or two should set `kVTCompressionPropertyKey_SuggestedLookAheadFrameCount` for such an
/// encoder, where its user chooses no number. Boolean.
OVT_EXPORT const CFStringRef kOVTVideoEncoderList_LooksAheadByDefault;
/// Whether the encoder produces the same stream with any number of threads
/// (`kOVTCompressionPropertyKey_ThreadCount`). Boolean.
OVT_EXPORT const CFStringRef kOVTVideoEncoderList_IsIndependentOfThreadCount;
/// Whether to open the statistics that another storage has left at that URL
/// (`kVTMultiPassStorageCreationOption_DoNotDelete`), perhaps in another process or on another
/// machine. The first pass of a session is then what would have been its second one, over the same
/// frames. The file is only read, and kept. Boolean, false by default.
OVT_EXPORT const CFStringRef kOVTMultiPassStorageCreationOption_ReadsExisting;
/// The presentation times of frames that the receiver has lost, an array of dictionaries as of
/// `CMTimeCopyAsDictionary`: neither this frame nor a later one is predicted from them or from
/// frames that depend on them. Times of frames that are not references any more, or that never
/// existed, are ignored. Low-latency mode only.
OVT_EXPORT const CFStringRef kOVTEncodeFrameOptionKey_LostFrameTimes;
/// The mean QP of the frame's macroblocks. Number; missing if the encoder does not report it.
OVT_EXPORT const CFStringRef kOVTSampleAttachmentKey_AverageQP;
/// The highest QP of the frame's macroblocks. Number; missing if the encoder does not report it.
OVT_EXPORT const CFStringRef kOVTSampleAttachmentKey_HighestQP;
/// The frame's temporal layer, from 1; missing for frames of the base layer. Number.
OVT_EXPORT const CFStringRef kOVTSampleAttachmentKey_TemporalLayer;
/// Whether to keep the silo's file when the silo is released. Boolean, false by default.
OVT_EXPORT const CFStringRef kOVTFrameSiloCreationOption_DoNotDelete;
/// Whether to open the silo that an earlier run has left at the URL and continue it: with its
/// frames, its current pass and that pass's time ranges. `VTFrameSilo.lastDecodeTimeStamp` tells
/// after which frame to continue. Boolean, false by default.
OVT_EXPORT const CFStringRef kOVTFrameSiloCreationOption_OpenExisting;

OVT_HEADER_END

#endif
