// SPDX-License-Identifier: Apache-2.0
import CoreMedia

// The names that this module adds to Apple's: they begin with kOVT. (One more, for AVFoundation's readers, stands there in
// FieldRequirements.swift.) Those of Core Video begin with OVT and are in
// OVTPixelBufferSurface.swift.

/// The package's version, as `vtencode --version` says it and CHANGELOG.md has it.
public let kOVTVersion = "0.1.0"

// MARK: - Properties of a compression session

/// How hard the encoder works, from 0 (fastest) to 9 (best); it then takes the place of `RealTime` and the other
/// preferences. Without it, in real time, this package's own engine chooses its effort frame by frame, so that 95 of 100
/// frames take less than half of the frame interval (a quarter with `PrioritizeEncodingSpeedOverQuality`, 70 % where that
/// is false; half of each with `MaximizePowerEfficiency`); what comes out then depends on the machine. Number.
public nonisolated(unsafe) let kOVTCompressionPropertyKey_Effort: CFString = "OVTEffort"

/// Threads that the encoder may use: 0 (the default) lets it choose from the number of processors, at most 128, of which
/// the package's own uses 16. Number.
public nonisolated(unsafe) let kOVTCompressionPropertyKey_ThreadCount: CFString = "OVTThreadCount"

/// Refreshes the picture with intra macroblocks, column by column, in so many frames, again and again: a receiver
/// recovers from losses without a key frame. 0, the default, is none. Low-latency mode alone. Number.
public nonisolated(unsafe) let kOVTCompressionPropertyKey_IntraRefreshFrameCount: CFString =
  "OVTIntraRefreshFrameCount"

/// True writes a NAL unit of type 14 before each slice, which tells the frame's temporal layer to a network that
/// forwards layers. Low-latency mode alone. Boolean, false by default.
public nonisolated(unsafe) let kOVTCompressionPropertyKey_WritesTemporalLayerPrefix: CFString =
  "OVTWritesTemporalLayerPrefix"

/// Seconds that a frame may wait at most before a line of the average bit rate, from its capture to its last bit: 0.02
/// to 10; 0.3 by default in the low-latency mode and in other sessions that do not look ahead, no bound by default in
/// those that do. Less makes key frames and new scenes coarser, more lets them be sharp at once. Where frames
/// are further apart, a frame may take one and a half frame intervals. Encoders of this package's own engine. Number.
public nonisolated(unsafe) let kOVTCompressionPropertyKey_MaximumQueueDelay: CFString = "OVTMaximumQueueDelay"

/// True lets passes after the second be over parts of the movie, where that brings it nearer to its average bit rate;
/// without it a pass is always over the whole. `VTCompressionSessionGetTimeRangesForNextPass` then gives ranges of
/// decode times, as `VTFrameSiloSetTimeRangesForNextPass` takes them: the next pass has to get, in their order, all
/// frames whose samples of the pass before have decode times in a range, and no others. A pass may turn out worse than
/// the one before; a program that would go back keeps what the ranges replace. Encoders of this package's own engine. Boolean, false by default.
public nonisolated(unsafe) let kOVTCompressionPropertyKey_AllowsPartialPasses: CFString =
  "OVTAllowsPartialPasses"

/// True has an encoding in several passes end with the first that no other would better: the first pass is made with the
/// session's full effort, and `VTCompressionSessionEndPass` asks for another one only if it has missed its average bit
/// rate by more than some per cent, or has left some second clearly coarser than the others. Encoders of this
/// package's own engine. Boolean, false by default: there are two passes at least then, of which the first is a quick one.
public nonisolated(unsafe) let kOVTCompressionPropertyKey_MakesPassesOnDemand: CFString =
  "OVTMakesPassesOnDemand"

/// True has the stream say what its decoder's buffer is (hypothetical reference decoder, E.1.2 of H.264), and each frame
/// when it is taken out of it and shown (buffering period and picture timing messages, D.1.2 and D.1.3), as multiplexers
/// and broadcast want it. It needs a buffer: a constant or a variable rate, `VBVBufferDuration` beside
/// an average one, data rate limits, or `kOVTCompressionPropertyKey_MaximumQueueDelay`; without one the session cannot be prepared (kVTParameterErr). Encoders of this
/// package's own engine, other than in the low-latency mode. Boolean, false by default.
public nonisolated(unsafe) let kOVTCompressionPropertyKey_WritesBufferTiming: CFString =
  "OVTWritesBufferTiming"

/// True lets a stream have more than one picture parameter set, which saves bits where scenes fade into each other. Movies hold
/// all that `CMVideoFormatDescriptionGetH264ParameterSetAtIndex` counts; programs that send only one beside the sequence parameter
/// set leave pictures that nobody decodes. Encoders of this package's own engine, other than in the low-latency mode; `AVAssetWriter`
/// sets it. Boolean, false by default.
public nonisolated(unsafe) let kOVTCompressionPropertyKey_AllowsSeveralPictureParameterSets: CFString =
  "OVTAllowsSeveralPictureParameterSets"

// MARK: - Entries of the list of encoders

/// Whether the encoder looks ahead by default: a program whose frames come at their own pace, but may wait for a second or
/// two, does well to set `kVTCompressionPropertyKey_SuggestedLookAheadFrameCount` where its user names no number. Boolean.
public nonisolated(unsafe) let kOVTVideoEncoderList_LooksAheadByDefault: CFString = "OVTLooksAheadByDefault"

/// Whether the encoder gives the same bits with any number of threads (`kOVTCompressionPropertyKey_ThreadCount`). Boolean.
public nonisolated(unsafe) let kOVTVideoEncoderList_IsIndependentOfThreadCount: CFString =
  "OVTIsIndependentOfThreadCount"

// MARK: - Options of a multi-pass storage

/// True opens the statistics that a storage has kept at that URL (`kVTMultiPassStorageCreationOption_DoNotDelete`),
/// perhaps in another process or on another machine: the first pass of a session is then what would have been its second
/// one, over the same frames. The file is only read, and stays. Boolean, false by default.
public nonisolated(unsafe) let kOVTMultiPassStorageCreationOption_ReadsExisting: CFString = "OVTReadsExisting"

// MARK: - Options of a frame

/// Presentation times (an array of the dictionaries that `CMTimeCopyAsDictionary` makes) of frames that the receiver
/// has lost: neither this frame nor any later one is predicted from them or from what depends on them. Times of frames
/// that do not matter any more, or that never were, are passed over. Low-latency mode alone.
public nonisolated(unsafe) let kOVTEncodeFrameOptionKey_LostFrameTimes: CFString = "OVTLostFrameTimes"

// MARK: - Attachments of a sample

/// Mean QP of the frame's macroblocks. Number; there if the encoder tells it.
public nonisolated(unsafe) let kOVTSampleAttachmentKey_AverageQP: CFString = "OVTAverageQP"

/// Highest QP of any of the frame's macroblocks. Number; there if the encoder tells it.
public nonisolated(unsafe) let kOVTSampleAttachmentKey_HighestQP: CFString = "OVTHighestQP"

/// The frame's temporal layer, 1 or more; not there in the base layer. Number.
public nonisolated(unsafe) let kOVTSampleAttachmentKey_TemporalLayer: CFString = "OVTTemporalLayer"

// MARK: - Options of a frame silo

/// Keep the silo's file when the silo goes away. Boolean, false by default.
public nonisolated(unsafe) let kOVTFrameSiloCreationOption_DoNotDelete: CFString = "OVTDoNotDelete"

/// Go on with the silo that is at the URL, which another run has left: with its frames, its pass, and the time ranges that
/// it was in; `VTFrameSilo.lastDecodeTimeStamp` tells how far it came. Boolean, false by default.
public nonisolated(unsafe) let kOVTFrameSiloCreationOption_OpenExisting: CFString = "OVTOpenExisting"
