// SPDX-License-Identifier: Apache-2.0
// Samples with their times, sizes, format and attachments.

#ifndef OVT_COREMEDIA_CMSAMPLEBUFFER_H
#define OVT_COREMEDIA_CMSAMPLEBUFFER_H

#include <CoreMedia/CMAttachment.h>
#include <CoreMedia/CMBlockBuffer.h>
#include <CoreMedia/CMFormatDescription.h>
#include <CoreMedia/CMTime.h>
#include <CoreVideo/CVImageBuffer.h>

OVT_HEADER_BEGIN

typedef struct opaqueCMSampleBuffer *CMSampleBufferRef;

/// The times of one sample.
typedef struct {
  CMTime duration;
  CMTime presentationTimeStamp;
  /// `kCMTimeInvalid` if samples are decoded in the order of their presentation.
  CMTime decodeTimeStamp;
} CMSampleTimingInfo;

/// Called by `CMSampleBufferMakeDataReady` to make the data of a sample buffer ready.
typedef OSStatus (*CMSampleBufferMakeDataReadyCallback)(CMSampleBufferRef sbuf, void *OVT_NULLABLE makeDataReadyRefcon);
/// Called when a sample buffer is invalidated.
typedef void (*CMSampleBufferInvalidateCallback)(CMSampleBufferRef sbuf, uint64_t invalidateRefCon);

enum {
  /// Memory ran out.
  kCMSampleBufferError_AllocationFailed = -12730,
  /// A parameter that is needed is missing.
  kCMSampleBufferError_RequiredParameterMissing = -12731,
  /// The sample buffer has its data already.
  kCMSampleBufferError_AlreadyHasDataBuffer = -12732,
  /// The data is not ready and nothing is known that makes it so.
  kCMSampleBufferError_BufferNotReady = -12733,
  /// There is no sample of that index.
  kCMSampleBufferError_SampleIndexOutOfRange = -12734,
  /// The sizes of the samples are unknown.
  kCMSampleBufferError_BufferHasNoSampleSizes = -12735,
  /// The timing of the samples is unknown.
  kCMSampleBufferError_BufferHasNoSampleTimingInfo = -12736,
  /// The array has no room for all entries.
  kCMSampleBufferError_ArrayTooSmall = -12737,
  /// The number of entries is not 0, 1 or the number of samples.
  kCMSampleBufferError_InvalidEntryCount = -12738,
  /// The sample buffer cannot be divided into samples.
  kCMSampleBufferError_CannotSubdivide = -12739,
  /// The timing is not usable.
  kCMSampleBufferError_SampleTimingInfoInvalid = -12740,
  /// The operation is not for this kind of media.
  kCMSampleBufferError_InvalidMediaTypeForOperation = -12741,
  /// The data does not fit the sizes.
  kCMSampleBufferError_InvalidSampleData = -12742,
  /// The format does not describe the media.
  kCMSampleBufferError_InvalidMediaFormat = -12743,
  /// The sample buffer was invalidated.
  kCMSampleBufferError_Invalidated = -12744,
  /// The data will never be ready.
  kCMSampleBufferError_DataFailed = -16750,
  /// Making the data ready was cancelled.
  kCMSampleBufferError_DataCanceled = -16751,
  /// Data of lists of audio buffers begins at addresses that are multiples of 16 bytes.
  kCMSampleBufferFlag_AudioBufferList_Assure16ByteAlignment = 1
};

/// The sample is not a key frame (boolean; absent means that it is one).
OVT_EXPORT const CFStringRef kCMSampleAttachmentKey_NotSync;
/// The dynamic metadata of HDR10+ of the sample, as an ITU-T T.35 message (data). Nothing here
/// reads it.
OVT_EXPORT const CFStringRef kCMSampleAttachmentKey_HDR10PlusPerFrameData;
/// The sample is a key frame but for frames shown before it (boolean).
OVT_EXPORT const CFStringRef kCMSampleAttachmentKey_PartialSync;
/// The sample has redundant coding (boolean).
OVT_EXPORT const CFStringRef kCMSampleAttachmentKey_HasRedundantCoding;
/// Other samples need this one; if not, it can be dropped (boolean).
OVT_EXPORT const CFStringRef kCMSampleAttachmentKey_IsDependedOnByOthers;
/// The sample needs others, that is, it is not an I picture (boolean).
OVT_EXPORT const CFStringRef kCMSampleAttachmentKey_DependsOnOthers;
/// Later samples may be shown earlier than this one (boolean).
OVT_EXPORT const CFStringRef kCMSampleAttachmentKey_EarlierDisplayTimesAllowed;
/// Show the sample as soon as it is decoded, whatever its time (boolean).
OVT_EXPORT const CFStringRef kCMSampleAttachmentKey_DisplayImmediately;
/// Decode the sample but do not show it (boolean).
OVT_EXPORT const CFStringRef kCMSampleAttachmentKey_DoNotDisplay;
/// The sample's temporal level in HEVC (dictionary; see `kCMHEVCTemporalLevelInfoKey_TemporalLevel`
/// and the like).
OVT_EXPORT const CFStringRef kCMSampleAttachmentKey_HEVCTemporalLevelInfo;
/// The sample is a temporal sub-layer access picture of HEVC (boolean).
OVT_EXPORT const CFStringRef kCMSampleAttachmentKey_HEVCTemporalSubLayerAccess;
/// The sample is a step-wise temporal sub-layer access picture of HEVC (boolean).
OVT_EXPORT const CFStringRef kCMSampleAttachmentKey_HEVCStepwiseTemporalSubLayerAccess;
/// The type of the sample's HEVC NAL units if it is a random access point (number).
OVT_EXPORT const CFStringRef kCMSampleAttachmentKey_HEVCSyncSampleNALUnitType;
/// The number of samples that have to be decoded, from this one on, until audio is correct
/// (number).
OVT_EXPORT const CFStringRef kCMSampleAttachmentKey_AudioIndependentSampleDecoderRefreshCount;
/// The temporal level (number).
OVT_EXPORT const CFStringRef kCMHEVCTemporalLevelInfoKey_TemporalLevel;
/// general_profile_space (number).
OVT_EXPORT const CFStringRef kCMHEVCTemporalLevelInfoKey_ProfileSpace;
/// general_tier_flag (number).
OVT_EXPORT const CFStringRef kCMHEVCTemporalLevelInfoKey_TierFlag;
/// general_profile_idc (number).
OVT_EXPORT const CFStringRef kCMHEVCTemporalLevelInfoKey_ProfileIndex;
/// general_profile_compatibility_flags (data of 4 bytes, big-endian).
OVT_EXPORT const CFStringRef kCMHEVCTemporalLevelInfoKey_ProfileCompatibilityFlags;
/// The general constraint flags (data of 6 bytes, big-endian).
OVT_EXPORT const CFStringRef kCMHEVCTemporalLevelInfoKey_ConstraintIndicatorFlags;
/// general_level_idc (number).
OVT_EXPORT const CFStringRef kCMHEVCTemporalLevelInfoKey_LevelIndex;
/// Reset the decoder before this buffer (boolean).
OVT_EXPORT const CFStringRef kCMSampleBufferAttachmentKey_ResetDecoderBeforeDecoding;
/// Let all frames out of the decoder after this buffer (boolean).
OVT_EXPORT const CFStringRef kCMSampleBufferAttachmentKey_DrainAfterDecoding;
/// Post `kCMSampleBufferConsumerNotification_BufferConsumed` with this dictionary when the buffer
/// was consumed.
OVT_EXPORT const CFStringRef kCMSampleBufferAttachmentKey_PostNotificationWhenConsumed;
/// Resume output that a conduit inhibited; the value is the tag (number).
OVT_EXPORT const CFStringRef kCMSampleBufferAttachmentKey_ResumeOutput;
/// Marks a transition from one source of buffers to the next (any object).
OVT_EXPORT const CFStringRef kCMSampleBufferAttachmentKey_TransitionID;
/// The duration to remove from the start of the decoded media (a time as a dictionary).
OVT_EXPORT const CFStringRef kCMSampleBufferAttachmentKey_TrimDurationAtStart;
/// The duration to remove from the end of the decoded media (a time as a dictionary).
OVT_EXPORT const CFStringRef kCMSampleBufferAttachmentKey_TrimDurationAtEnd;
/// The factor by which the media is played faster (number).
OVT_EXPORT const CFStringRef kCMSampleBufferAttachmentKey_SpeedMultiplier;
/// The media is to be shown backwards (boolean).
OVT_EXPORT const CFStringRef kCMSampleBufferAttachmentKey_Reverse;
/// Gaps in time are to be filled with silence (boolean).
OVT_EXPORT const CFStringRef kCMSampleBufferAttachmentKey_FillDiscontinuitiesWithSilence;
/// The buffer marks an interval without media (boolean).
OVT_EXPORT const CFStringRef kCMSampleBufferAttachmentKey_EmptyMedia;
/// The buffer marks the end of all media (boolean).
OVT_EXPORT const CFStringRef kCMSampleBufferAttachmentKey_PermanentEmptyMedia;
/// The interval without media begins at once (boolean).
OVT_EXPORT const CFStringRef kCMSampleBufferAttachmentKey_DisplayEmptyMediaImmediately;
/// The sample before ends where this marker is (boolean).
OVT_EXPORT const CFStringRef kCMSampleBufferAttachmentKey_EndsPreviousSampleDuration;
/// The file that the sample's data is in, for a sample that only refers to it (URL).
OVT_EXPORT const CFStringRef kCMSampleBufferAttachmentKey_SampleReferenceURL;
/// The offset of the data in that file, in bytes (number).
OVT_EXPORT const CFStringRef kCMSampleBufferAttachmentKey_SampleReferenceByteOffset;
/// The number of frames that have to be decoded, including this one, until the picture is complete
/// (number).
OVT_EXPORT const CFStringRef kCMSampleBufferAttachmentKey_GradualDecoderRefresh;
/// Why a frame was dropped (string).
OVT_EXPORT const CFStringRef kCMSampleBufferAttachmentKey_DroppedFrameReason;
/// More on why a frame was dropped (string).
OVT_EXPORT const CFStringRef kCMSampleBufferAttachmentKey_DroppedFrameReasonInfo;
/// The effect of lens stabilisation on a still image (string).
OVT_EXPORT const CFStringRef kCMSampleBufferAttachmentKey_StillImageLensStabilizationInfo;
/// The camera's intrinsic matrix (data: a 3 by 3 matrix of floats in columns of four).
OVT_EXPORT const CFStringRef kCMSampleBufferAttachmentKey_CameraIntrinsicMatrix;
/// The frame is to be encoded as a key frame (boolean).
OVT_EXPORT const CFStringRef kCMSampleBufferAttachmentKey_ForceKeyFrame;
/// The frame came too late.
OVT_EXPORT const CFStringRef kCMSampleBufferDroppedFrameReason_FrameWasLate;
/// There was no buffer left for the frame.
OVT_EXPORT const CFStringRef kCMSampleBufferDroppedFrameReason_OutOfBuffers;
/// An unknown number of frames is missing.
OVT_EXPORT const CFStringRef kCMSampleBufferDroppedFrameReason_Discontinuity;
/// The camera changed its mode.
OVT_EXPORT const CFStringRef kCMSampleBufferDroppedFrameReasonInfo_CameraModeSwitch;
/// Stabilisation was active.
OVT_EXPORT const CFStringRef kCMSampleBufferLensStabilizationInfo_Active;
/// Stabilisation was out of its range.
OVT_EXPORT const CFStringRef kCMSampleBufferLensStabilizationInfo_OutOfRange;
/// There is no stabilisation.
OVT_EXPORT const CFStringRef kCMSampleBufferLensStabilizationInfo_Unavailable;
/// Stabilisation was off.
OVT_EXPORT const CFStringRef kCMSampleBufferLensStabilizationInfo_Off;
/// Posted by a sample buffer whose data became ready.
OVT_EXPORT const CFStringRef kCMSampleBufferNotification_DataBecameReady;
/// Posted by a sample buffer whose data will never be ready.
OVT_EXPORT const CFStringRef kCMSampleBufferNotification_DataFailed;
/// The status with which the data failed (number).
OVT_EXPORT const CFStringRef kCMSampleBufferNotificationParameter_OSStatus;
/// Posted by a conduit: output stops until a buffer comes with the tag.
OVT_EXPORT const CFStringRef kCMSampleBufferConduitNotification_InhibitOutputUntil;
/// The tag of the buffer that output resumes with (number).
OVT_EXPORT const CFStringRef kCMSampleBufferConduitNotificationParameter_ResumeTag;
/// Posted by a conduit: what is queued is to be dropped.
OVT_EXPORT const CFStringRef kCMSampleBufferConduitNotification_ResetOutput;
/// Posted by a conduit: the range of times to come has changed.
OVT_EXPORT const CFStringRef kCMSampleBufferConduitNotification_UpcomingOutputPTSRangeChanged;
/// Whether the upcoming range may overlap that of queued buffers (boolean).
OVT_EXPORT const CFStringRef
    kCMSampleBufferConduitNotificationParameter_UpcomingOutputPTSRangeMayOverlapQueuedOutputPTSRange;
/// The earliest output time to come (a time as a dictionary).
OVT_EXPORT const CFStringRef kCMSampleBufferConduitNotificationParameter_MinUpcomingOutputPTS;
/// The latest output time to come (a time as a dictionary).
OVT_EXPORT const CFStringRef kCMSampleBufferConduitNotificationParameter_MaxUpcomingOutputPTS;
/// Posted by a consumer for a buffer with
/// `kCMSampleBufferAttachmentKey_PostNotificationWhenConsumed`.
OVT_EXPORT const CFStringRef kCMSampleBufferConsumerNotification_BufferConsumed;

/// The dictionaries of the attachments of all samples, to be changed in place.
///
/// - `createIfNecessary`: Whether empty dictionaries are made if there are none.
/// - Returns: An array with a mutable dictionary for each sample, which stays the sample buffer's
///   own; NULL if
///   there are none.
///
/// The result is not retained for the caller.
OVT_EXPORT CFArrayRef OVT_NULLABLE CMSampleBufferGetSampleAttachmentsArray(
    CMSampleBufferRef sbuf, Boolean createIfNecessary);

/// Copies uncompressed audio of a sample buffer into buffers that are there.
///
/// - `frameOffset`: The first frame.
/// - `bufferList`: One buffer for interleaved audio, otherwise one for each channel; with room for
///   the frames each.
/// - Returns: `kCMSampleBufferError_InvalidMediaTypeForOperation` for other media,
///   `kCMSampleBufferError_ArrayTooSmall` if there is not enough room.
OVT_EXPORT OSStatus CMSampleBufferCopyPCMDataIntoAudioBufferList(
    CMSampleBufferRef sbuf, int32_t frameOffset, int32_t numFrames, AudioBufferList *bufferList);

/// The audio of a sample buffer as a list of buffers that point into a block buffer.
///
/// - `bufferListSizeNeededOut`: receives the size of the list in bytes.
/// - `bufferListOut`: the list, of `bufferListSize` bytes; NULL to ask for its size only.
/// - `flags`: `kCMSampleBufferFlag_AudioBufferList_Assure16ByteAlignment`.
/// - `blockBufferOut`: receives what keeps the data; the list is valid as long as that is.
/// - Returns: `kCMSampleBufferError_InvalidMediaTypeForOperation` for other media,
///   `kCMSampleBufferError_ArrayTooSmall`
///   if the list has not enough room, `kCMSampleBufferError_BufferNotReady` without data,
///   `kCMSampleBufferError_InvalidMediaFormat` for more channels than a layout can have.
///
/// The caller owns the object that `blockBufferOut` receives, and releases it with `CFRelease`.
OVT_EXPORT OSStatus CMSampleBufferGetAudioBufferListWithRetainedBlockBuffer(
    CMSampleBufferRef sbuf, size_t *OVT_NULLABLE bufferListSizeNeededOut,
    AudioBufferList *OVT_NULLABLE bufferListOut, size_t bufferListSize,
    CFAllocatorRef OVT_NULLABLE blockBufferAllocator,
    CFAllocatorRef OVT_NULLABLE blockBufferMemoryAllocator, uint32_t flags,
    CMBlockBufferRef OVT_NULLABLE *OVT_NULLABLE blockBufferOut);

/// Copies the audio in a list of buffers and makes it the data of a sample buffer, which is ready
/// then.
///
/// - Returns: `kCMSampleBufferError_InvalidMediaTypeForOperation` for other media,
///   `kCMSampleBufferError_RequiredParameterMissing` if the list does not hold what the sample
/// buffer's format and
///   number of samples say, `kCMSampleBufferError_AlreadyHasDataBuffer` if it has data.
OVT_EXPORT OSStatus CMSampleBufferSetDataBufferFromAudioBufferList(
    CMSampleBufferRef sbuf, CFAllocatorRef OVT_NULLABLE blockBufferAllocator,
    CFAllocatorRef OVT_NULLABLE blockBufferMemoryAllocator, uint32_t flags,
    const AudioBufferList *bufferList);

/// Creates a copy that shares the data; attachments that are to be propagated and those of the
/// samples are copied.
///
/// If the data is not ready, the copy becomes ready with the original.
///
/// The caller owns the object that `sampleBufferOut` receives, and releases it with `CFRelease`.
OVT_EXPORT OSStatus CMSampleBufferCreateCopy(
    CFAllocatorRef OVT_NULLABLE allocator, CMSampleBufferRef sbuf,
    CMSampleBufferRef OVT_NULLABLE *sampleBufferOut);

/// Creates a copy as `CMSampleBufferCreateCopy` does, but with other timing and without an output
/// time of its own.
///
/// - `numSampleTimingEntries`: 0 (unknown), 1 (of the first sample; the others follow at the
///   distance of
///   its duration) or the number of samples.
///
/// The caller owns the object that `sampleBufferOut` receives, and releases it with `CFRelease`.
OVT_EXPORT OSStatus CMSampleBufferCreateCopyWithNewTiming(
    CFAllocatorRef OVT_NULLABLE allocator, CMSampleBufferRef originalSBuf,
    CMItemCount numSampleTimingEntries, const CMSampleTimingInfo *OVT_NULLABLE sampleTimingArray,
    CMSampleBufferRef OVT_NULLABLE *sampleBufferOut);

/// Creates a sample buffer of a range of the samples, which shares their data.
///
/// - Returns: `kCMSampleBufferError_SampleIndexOutOfRange` for a range that is empty or reaches
///   beyond the samples,
///   `kCMSampleBufferError_BufferHasNoSampleSizes` or `kCMSampleBufferError_CannotSubdivide` if the
/// samples
///   cannot be distinguished.
///
/// The caller owns the object that `sampleBufferOut` receives, and releases it with `CFRelease`.
OVT_EXPORT OSStatus CMSampleBufferCopySampleBufferForRange(
    CFAllocatorRef OVT_NULLABLE allocator, CMSampleBufferRef sbuf, CFRange sampleRange,
    CMSampleBufferRef OVT_NULLABLE *sampleBufferOut);

/// Creates a sample buffer of data that is ready; see `CMSampleBufferCreate`.
///
/// The caller owns the object that `sampleBufferOut` receives, and releases it with `CFRelease`.
OVT_EXPORT OSStatus CMSampleBufferCreateReady(
    CFAllocatorRef OVT_NULLABLE allocator, CMBlockBufferRef OVT_NULLABLE dataBuffer,
    CMFormatDescriptionRef OVT_NULLABLE formatDescription, CMItemCount numSamples,
    CMItemCount numSampleTimingEntries, const CMSampleTimingInfo *OVT_NULLABLE sampleTimingArray,
    CMItemCount numSampleSizeEntries, const size_t *OVT_NULLABLE sampleSizeArray,
    CMSampleBufferRef OVT_NULLABLE *sampleBufferOut);

/// Creates a sample buffer of one image that is ready; see `CMSampleBufferCreateForImageBuffer`.
///
/// The caller owns the object that `sampleBufferOut` receives, and releases it with `CFRelease`.
OVT_EXPORT OSStatus CMSampleBufferCreateReadyWithImageBuffer(
    CFAllocatorRef OVT_NULLABLE allocator, CVImageBufferRef imageBuffer,
    CMVideoFormatDescriptionRef formatDescription, const CMSampleTimingInfo *sampleTiming,
    CMSampleBufferRef OVT_NULLABLE *sampleBufferOut);

/// Creates a sample buffer of audio that is ready; see
/// `CMAudioSampleBufferCreateWithPacketDescriptions`.
///
/// The caller owns the object that `sampleBufferOut` receives, and releases it with `CFRelease`.
OVT_EXPORT OSStatus CMAudioSampleBufferCreateReadyWithPacketDescriptions(
    CFAllocatorRef OVT_NULLABLE allocator, CMBlockBufferRef dataBuffer,
    CMFormatDescriptionRef formatDescription, CMItemCount numSamples, CMTime presentationTimeStamp,
    const AudioStreamPacketDescription *OVT_NULLABLE packetDescriptions,
    CMSampleBufferRef OVT_NULLABLE *sampleBufferOut);

/// Copies the descriptions of a sample buffer's packets.
///
/// - `allocatedSize`: bytes at `packetDescriptionsOut`, which may be NULL to ask for the size only.
/// - `packetDescriptionsSizeNeededOut`: receives the size of all in bytes, 0 if all packets have
///   the size that the format says.
/// - Returns: `kCMSampleBufferError_ArrayTooSmall` if there is not enough room.
OVT_EXPORT OSStatus CMSampleBufferGetAudioStreamPacketDescriptions(
    CMSampleBufferRef sbuf, size_t packetDescriptionsSize,
    AudioStreamPacketDescription *OVT_NULLABLE packetDescriptionsOut,
    size_t *OVT_NULLABLE packetDescriptionsSizeNeededOut);

/// The descriptions of a sample buffer's packets, at an address that is valid as long as the sample
/// buffer.
///
/// - `packetDescriptionsPointerOut`: receives the address, NULL if all packets have the size that
///   the format says.
/// - `sizeOut`: receives the size of all in bytes.
OVT_EXPORT OSStatus CMSampleBufferGetAudioStreamPacketDescriptionsPtr(
    CMSampleBufferRef sbuf,
    const AudioStreamPacketDescription *OVT_NULLABLE *OVT_NULLABLE packetDescriptionsPointerOut,
    size_t *OVT_NULLABLE sizeOut);

/// The type identifier of sample buffers.
OVT_EXPORT CFTypeID CMSampleBufferGetTypeID(void);

/// Gives a sample buffer its data, once. It does not become ready by that.
///
/// - Returns: `kCMSampleBufferError_AlreadyHasDataBuffer` if it has data or an image.
OVT_EXPORT OSStatus CMSampleBufferSetDataBuffer(
    CMSampleBufferRef sbuf, CMBlockBufferRef dataBuffer);

/// The data of all samples, one after the other; NULL if there is none.
///
/// The result is not retained for the caller.
OVT_EXPORT CMBlockBufferRef OVT_NULLABLE CMSampleBufferGetDataBuffer(CMSampleBufferRef sbuf);

/// The image; NULL if this is not a sample buffer of an image.
///
/// The result is not retained for the caller.
OVT_EXPORT CVImageBufferRef OVT_NULLABLE CMSampleBufferGetImageBuffer(CMSampleBufferRef sbuf);

/// The format of all samples.
///
/// The result is not retained for the caller.
OVT_EXPORT CMFormatDescriptionRef OVT_NULLABLE CMSampleBufferGetFormatDescription(
    CMSampleBufferRef sbuf);

/// Says that the data is ready now.
OVT_EXPORT OSStatus CMSampleBufferSetDataReady(CMSampleBufferRef sbuf);

/// Whether the data is ready, of this sample buffer or the one that it tracks.
OVT_EXPORT Boolean CMSampleBufferDataIsReady(CMSampleBufferRef sbuf);

/// Says that the data will never be ready, and why.
OVT_EXPORT OSStatus CMSampleBufferSetDataFailed(CMSampleBufferRef sbuf, OSStatus status);

/// Whether the data will never be ready, and why.
OVT_EXPORT Boolean CMSampleBufferHasDataFailed(
    CMSampleBufferRef sbuf, OSStatus *OVT_NULLABLE statusOut);

/// Has the data made ready by the function that was given for it.
///
/// - Returns: That function's error; `kCMSampleBufferError_BufferNotReady` if there is none.
OVT_EXPORT OSStatus CMSampleBufferMakeDataReady(CMSampleBufferRef sbuf);

/// Makes a sample buffer ready whenever another one is.
OVT_EXPORT OSStatus CMSampleBufferTrackDataReadiness(
    CMSampleBufferRef sbuf, CMSampleBufferRef sampleBufferToTrack);

/// Makes a sample buffer unusable, releases its data and calls its invalidation function.
OVT_EXPORT OSStatus CMSampleBufferInvalidate(CMSampleBufferRef sbuf);

/// Whether a sample buffer was not invalidated.
OVT_EXPORT Boolean CMSampleBufferIsValid(CMSampleBufferRef sbuf);

/// The number of samples.
OVT_EXPORT CMItemCount CMSampleBufferGetNumSamples(CMSampleBufferRef sbuf);

/// The sum of the durations of all samples; gaps between them do not count.
OVT_EXPORT CMTime CMSampleBufferGetDuration(CMSampleBufferRef sbuf);

/// The earliest presentation time of all samples.
OVT_EXPORT CMTime CMSampleBufferGetPresentationTimeStamp(CMSampleBufferRef sbuf);

/// The earliest decode time of all samples; invalid if they are in presentation order.
OVT_EXPORT CMTime CMSampleBufferGetDecodeTimeStamp(CMSampleBufferRef sbuf);

/// The duration less what is trimmed, divided by the speed.
OVT_EXPORT CMTime CMSampleBufferGetOutputDuration(CMSampleBufferRef sbuf);

/// The output time that was set, otherwise the presentation time after what is trimmed at the start
/// (or, reversed, the end of the presentation before what is trimmed there).
OVT_EXPORT CMTime CMSampleBufferGetOutputPresentationTimeStamp(CMSampleBufferRef sbuf);

/// Sets the output time; an invalid time has it derived again.
OVT_EXPORT OSStatus CMSampleBufferSetOutputPresentationTimeStamp(
    CMSampleBufferRef sbuf, CMTime outputPresentationTimeStamp);

/// The output time, less what the decode time is before the presentation time at the buffer's
/// speed.
OVT_EXPORT CMTime CMSampleBufferGetOutputDecodeTimeStamp(CMSampleBufferRef sbuf);

/// The timing entries as they were given: one that applies to all samples, or one for each.
///
/// - `timingArrayOut`: Filled; NULL to learn only how many entries there are.
/// - Returns: `kCMSampleBufferError_BufferHasNoSampleTimingInfo` or
///   `kCMSampleBufferError_ArrayTooSmall`.
OVT_EXPORT OSStatus CMSampleBufferGetSampleTimingInfoArray(
    CMSampleBufferRef sbuf, CMItemCount numSampleTimingEntries,
    CMSampleTimingInfo *OVT_NULLABLE timingArrayOut,
    CMItemCount *OVT_NULLABLE timingArrayEntriesNeededOut);

/// The timing entries after trimming, speed and reversal; see
/// `CMSampleBufferGetSampleTimingInfoArray`.
OVT_EXPORT OSStatus CMSampleBufferGetOutputSampleTimingInfoArray(
    CMSampleBufferRef sbuf, CMItemCount timingArrayEntries,
    CMSampleTimingInfo *OVT_NULLABLE timingArrayOut,
    CMItemCount *OVT_NULLABLE timingArrayEntriesNeededOut);

/// The timing of one sample, also where only one entry for all was given.
OVT_EXPORT OSStatus CMSampleBufferGetSampleTimingInfo(
    CMSampleBufferRef sbuf, CMItemIndex sampleIndex, CMSampleTimingInfo *timingInfoOut);

/// The size entries as they were given, in bytes: one that applies to all samples, or one for each.
OVT_EXPORT OSStatus CMSampleBufferGetSampleSizeArray(
    CMSampleBufferRef sbuf, CMItemCount sizeArrayEntries, size_t *OVT_NULLABLE sizeArrayOut,
    CMItemCount *OVT_NULLABLE sizeArrayEntriesNeededOut);

/// The size of one sample in bytes; 0 if it is unknown or there is no such sample.
OVT_EXPORT size_t CMSampleBufferGetSampleSize(CMSampleBufferRef sbuf, CMItemIndex sampleIndex);

/// The size of all samples in bytes; 0 if it is unknown.
OVT_EXPORT size_t CMSampleBufferGetTotalSampleSize(CMSampleBufferRef sbuf);

/// Creates a sample buffer.
///
/// - `dataBuffer`: the data of all samples, which the sample buffer retains; `NULL` if it comes
///   later.
/// - `dataReady`: whether the data is there; if not, `makeDataReadyCallback` may bring it.
/// - `numSampleTimingEntries`: 0, 1 for samples of equal duration one after the other, or
///   `numSamples`.
/// - `numSampleSizeEntries`: 0, 1 for samples of equal size, or `numSamples`.
/// The caller owns the object that `sampleBufferOut` receives.
OVT_EXPORT OSStatus CMSampleBufferCreate(
    CFAllocatorRef OVT_NULLABLE allocator, CMBlockBufferRef OVT_NULLABLE dataBuffer, Boolean dataReady,
    CMSampleBufferMakeDataReadyCallback OVT_NULLABLE makeDataReadyCallback, void *OVT_NULLABLE makeDataReadyRefcon,
    CMFormatDescriptionRef OVT_NULLABLE formatDescription, CMItemCount numSamples,
    CMItemCount numSampleTimingEntries, const CMSampleTimingInfo *OVT_NULLABLE sampleTimingArray,
    CMItemCount numSampleSizeEntries, const size_t *OVT_NULLABLE sampleSizeArray,
    CMSampleBufferRef OVT_NULLABLE *sampleBufferOut);

/// Creates a sample buffer of one picture. The caller owns the object that `sampleBufferOut`
/// receives.
OVT_EXPORT OSStatus CMSampleBufferCreateForImageBuffer(
    CFAllocatorRef OVT_NULLABLE allocator, CVImageBufferRef imageBuffer, Boolean dataReady,
    CMSampleBufferMakeDataReadyCallback OVT_NULLABLE makeDataReadyCallback, void *OVT_NULLABLE makeDataReadyRefcon,
    CMVideoFormatDescriptionRef formatDescription, const CMSampleTimingInfo *sampleTiming,
    CMSampleBufferRef OVT_NULLABLE *sampleBufferOut);

/// Creates a sample buffer of audio packets. The caller owns the object that `sampleBufferOut`
/// receives.
OVT_EXPORT OSStatus CMAudioSampleBufferCreateWithPacketDescriptions(
    CFAllocatorRef OVT_NULLABLE allocator, CMBlockBufferRef OVT_NULLABLE dataBuffer, Boolean dataReady,
    CMSampleBufferMakeDataReadyCallback OVT_NULLABLE makeDataReadyCallback, void *OVT_NULLABLE makeDataReadyRefcon,
    CMFormatDescriptionRef formatDescription, CMItemCount numSamples, CMTime presentationTimeStamp,
    const AudioStreamPacketDescription *OVT_NULLABLE packetDescriptions,
    CMSampleBufferRef OVT_NULLABLE *sampleBufferOut);

/// Sets the function that is called when the sample buffer is invalidated.
OVT_EXPORT OSStatus CMSampleBufferSetInvalidateCallback(
    CMSampleBufferRef sbuf, CMSampleBufferInvalidateCallback invalidateCallback, uint64_t invalidateRefCon);

/// Calls a function for a sample buffer of each sample, until it returns an error, which is the
/// result.
OVT_EXPORT OSStatus CMSampleBufferCallForEachSample(
    CMSampleBufferRef sbuf,
    OSStatus (*callback)(CMSampleBufferRef sampleBuffer, CMItemCount index, void *OVT_NULLABLE refcon),
    void *OVT_NULLABLE refcon);

#if OVT_HAS_BLOCKS
typedef OSStatus (^CMSampleBufferMakeDataReadyHandler)(CMSampleBufferRef sbuf);
typedef void (^CMSampleBufferInvalidateHandler)(CMSampleBufferRef sbuf);

/// `CMSampleBufferCreate` with a block, which is copied.
OVT_EXPORT OSStatus CMSampleBufferCreateWithMakeDataReadyHandler(
    CFAllocatorRef OVT_NULLABLE allocator, CMBlockBufferRef OVT_NULLABLE dataBuffer, Boolean dataReady,
    CMFormatDescriptionRef OVT_NULLABLE formatDescription, CMItemCount numSamples,
    CMItemCount numSampleTimingEntries, const CMSampleTimingInfo *OVT_NULLABLE sampleTimingArray,
    CMItemCount numSampleSizeEntries, const size_t *OVT_NULLABLE sampleSizeArray,
    CMSampleBufferRef OVT_NULLABLE *sampleBufferOut,
    CMSampleBufferMakeDataReadyHandler OVT_NULLABLE makeDataReadyHandler);
/// `CMSampleBufferCreateForImageBuffer` with a block, which is copied.
OVT_EXPORT OSStatus CMSampleBufferCreateForImageBufferWithMakeDataReadyHandler(
    CFAllocatorRef OVT_NULLABLE allocator, CVImageBufferRef imageBuffer, Boolean dataReady,
    CMVideoFormatDescriptionRef formatDescription, const CMSampleTimingInfo *sampleTiming,
    CMSampleBufferRef OVT_NULLABLE *sampleBufferOut,
    CMSampleBufferMakeDataReadyHandler OVT_NULLABLE makeDataReadyHandler);
/// `CMAudioSampleBufferCreateWithPacketDescriptions` with a block, which is copied.
OVT_EXPORT OSStatus CMAudioSampleBufferCreateWithPacketDescriptionsAndMakeDataReadyHandler(
    CFAllocatorRef OVT_NULLABLE allocator, CMBlockBufferRef OVT_NULLABLE dataBuffer, Boolean dataReady,
    CMFormatDescriptionRef formatDescription, CMItemCount numSamples, CMTime presentationTimeStamp,
    const AudioStreamPacketDescription *OVT_NULLABLE packetDescriptions,
    CMSampleBufferRef OVT_NULLABLE *sampleBufferOut,
    CMSampleBufferMakeDataReadyHandler OVT_NULLABLE makeDataReadyHandler);
/// Sets the block that is called when the sample buffer is invalidated.
OVT_EXPORT OSStatus CMSampleBufferSetInvalidateHandler(
    CMSampleBufferRef sbuf, CMSampleBufferInvalidateHandler invalidateHandler);
/// Calls a block for a sample buffer of each sample, until it returns an error, which is the
/// result.
OVT_EXPORT OSStatus CMSampleBufferCallBlockForEachSample(
    CMSampleBufferRef sbuf, OSStatus (^handler)(CMSampleBufferRef sampleBuffer, CMItemCount index));
#endif

OVT_HEADER_END

#endif
