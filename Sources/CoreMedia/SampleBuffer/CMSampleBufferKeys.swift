// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

// MARK: - Attachments of each sample

/// The sample is not a sync sample; if absent, it is one (Boolean).
nonisolated(unsafe) public let kCMSampleAttachmentKey_NotSync: CFString = "NotSync"
/// The sample is a sync sample except for frames presented before it (Boolean).
nonisolated(unsafe) public let kCMSampleAttachmentKey_PartialSync: CFString = "PartialSync"
/// The sample has redundant coding (Boolean).
nonisolated(unsafe) public let kCMSampleAttachmentKey_HasRedundantCoding: CFString = "HasRedundantCoding"
/// Other samples depend on this one; if false, it can be dropped (Boolean).
nonisolated(unsafe) public let kCMSampleAttachmentKey_IsDependedOnByOthers: CFString = "IsDependedOnByOthers"
/// The sample depends on others: it is not an I picture (Boolean).
nonisolated(unsafe) public let kCMSampleAttachmentKey_DependsOnOthers: CFString = "DependsOnOthers"
/// Later samples may be presented earlier than this one (Boolean).
nonisolated(unsafe) public let kCMSampleAttachmentKey_EarlierDisplayTimesAllowed: CFString =
  "EarlierDisplayTimesAllowed"
/// The sample is displayed as soon as it has been decoded, regardless of its time (Boolean).
nonisolated(unsafe) public let kCMSampleAttachmentKey_DisplayImmediately: CFString = "DisplayImmediately"
/// The sample is decoded but not displayed (Boolean).
nonisolated(unsafe) public let kCMSampleAttachmentKey_DoNotDisplay: CFString = "DoNotDisplay"
/// The temporal level of the sample in HEVC (dictionary; see the keys below).
nonisolated(unsafe) public let kCMSampleAttachmentKey_HEVCTemporalLevelInfo: CFString =
  "HEVCTemporalLevelInfo"
/// The sample is a temporal sub-layer access picture of HEVC (Boolean).
nonisolated(unsafe) public let kCMSampleAttachmentKey_HEVCTemporalSubLayerAccess: CFString =
  "HEVCTemporalSubLayerAccess"
/// The sample is a step-wise temporal sub-layer access picture of HEVC (Boolean).
nonisolated(unsafe) public let kCMSampleAttachmentKey_HEVCStepwiseTemporalSubLayerAccess: CFString =
  "HEVCStepwiseTemporalSubLayerAccess"
/// The type of the HEVC NAL units of a sample that is a random access point (number).
nonisolated(unsafe) public let kCMSampleAttachmentKey_HEVCSyncSampleNALUnitType: CFString =
  "HEVCSyncSampleNALUnitType"
/// The number of samples from this one on that have to be decoded until audio is correct (number).
nonisolated(unsafe) public let kCMSampleAttachmentKey_AudioIndependentSampleDecoderRefreshCount: CFString =
  "AudioIndependentSampleDecoderRefreshCount"

// MARK: - Keys of the temporal level of HEVC

/// The temporal level (number).
nonisolated(unsafe) public let kCMHEVCTemporalLevelInfoKey_TemporalLevel: CFString = "TemporalLevel"
/// general_profile_space (number).
nonisolated(unsafe) public let kCMHEVCTemporalLevelInfoKey_ProfileSpace: CFString = "ProfileSpace"
/// general_tier_flag (number).
nonisolated(unsafe) public let kCMHEVCTemporalLevelInfoKey_TierFlag: CFString = "TierFlag"
/// general_profile_idc (number).
nonisolated(unsafe) public let kCMHEVCTemporalLevelInfoKey_ProfileIndex: CFString = "ProfileIndex"
/// general_profile_compatibility_flags (data of 4 bytes, big-endian).
nonisolated(unsafe) public let kCMHEVCTemporalLevelInfoKey_ProfileCompatibilityFlags: CFString =
  "ProfileCompatibilityFlags"
/// The general constraint flags (data of 6 bytes, big-endian).
nonisolated(unsafe) public let kCMHEVCTemporalLevelInfoKey_ConstraintIndicatorFlags: CFString =
  "ConstraintIndicatorFlags"
/// general_level_idc (number).
nonisolated(unsafe) public let kCMHEVCTemporalLevelInfoKey_LevelIndex: CFString = "LevelIndex"

// MARK: - Attachments of a sample buffer

/// The decoder is reset before it decodes this buffer (Boolean).
nonisolated(unsafe) public let kCMSampleBufferAttachmentKey_ResetDecoderBeforeDecoding: CFString =
  "ResetDecoderBeforeDecoding"
/// The decoder outputs all of its frames after it has decoded this buffer (Boolean).
nonisolated(unsafe) public let kCMSampleBufferAttachmentKey_DrainAfterDecoding: CFString =
  "DrainAfterDecoding"
/// The dictionary with which `kCMSampleBufferConsumerNotification_BufferConsumed` is posted after
/// the buffer has been consumed.
nonisolated(unsafe) public let kCMSampleBufferAttachmentKey_PostNotificationWhenConsumed: CFString =
  "PostNotificationWhenConsumed"
/// Output that a conduit inhibited is resumed; the value is the tag (number).
nonisolated(unsafe) public let kCMSampleBufferAttachmentKey_ResumeOutput: CFString = "ResumeOutput"
/// Marks a transition from one source of buffers to the next (any object).
nonisolated(unsafe) public let kCMSampleBufferAttachmentKey_TransitionID: CFString = "TransitionID"
/// The duration to remove from the start of the decoded media (a time as a dictionary).
nonisolated(unsafe) public let kCMSampleBufferAttachmentKey_TrimDurationAtStart: CFString =
  "TrimDurationAtStart"
/// The duration to remove from the end of the decoded media (a time as a dictionary).
nonisolated(unsafe) public let kCMSampleBufferAttachmentKey_TrimDurationAtEnd: CFString = "TrimDurationAtEnd"
/// The factor by which playback is accelerated (number).
nonisolated(unsafe) public let kCMSampleBufferAttachmentKey_SpeedMultiplier: CFString = "SpeedMultiplier"
/// The media is presented in reverse (Boolean).
nonisolated(unsafe) public let kCMSampleBufferAttachmentKey_Reverse: CFString = "Reverse"
/// Discontinuities are filled with silence (Boolean).
nonisolated(unsafe) public let kCMSampleBufferAttachmentKey_FillDiscontinuitiesWithSilence: CFString =
  "FillDiscontinuitiesWithSilence"
/// The buffer marks an interval without media (Boolean).
nonisolated(unsafe) public let kCMSampleBufferAttachmentKey_EmptyMedia: CFString = "EmptyMedia"
/// The buffer marks the end of all media (Boolean).
nonisolated(unsafe) public let kCMSampleBufferAttachmentKey_PermanentEmptyMedia: CFString =
  "PermanentEmptyMedia"
/// The interval without media begins immediately (Boolean).
nonisolated(unsafe) public let kCMSampleBufferAttachmentKey_DisplayEmptyMediaImmediately: CFString =
  "DisplayEmptyMediaImmediately"
/// The previous sample ends at the time of this marker (Boolean).
nonisolated(unsafe) public let kCMSampleBufferAttachmentKey_EndsPreviousSampleDuration: CFString =
  "EndsPreviousSampleDuration"
/// The file with the data, for a sample that only refers to its data (URL).
nonisolated(unsafe) public let kCMSampleBufferAttachmentKey_SampleReferenceURL: CFString =
  "SampleReferenceURL"
/// The offset of the data in that file in bytes (number).
nonisolated(unsafe) public let kCMSampleBufferAttachmentKey_SampleReferenceByteOffset: CFString =
  "SampleReferenceByteOffset"
/// The number of frames that have to be decoded, including this one, until pictures are correct
/// (number).
nonisolated(unsafe) public let kCMSampleBufferAttachmentKey_GradualDecoderRefresh: CFString =
  "GradualDecoderRefresh"
/// The reason for which a frame was dropped (string).
nonisolated(unsafe) public let kCMSampleBufferAttachmentKey_DroppedFrameReason: CFString =
  "DroppedFrameReason"
/// Further information on the reason for which a frame was dropped (string).
nonisolated(unsafe) public let kCMSampleBufferAttachmentKey_DroppedFrameReasonInfo: CFString =
  "DroppedFrameReasonInfo"
/// The effect of lens stabilisation on a still image (string).
nonisolated(unsafe) public let kCMSampleBufferAttachmentKey_StillImageLensStabilizationInfo: CFString =
  "StillImageLensStabilizationInfo"
/// The camera's intrinsic matrix (data: a 3 by 3 matrix of floats in columns of four).
nonisolated(unsafe) public let kCMSampleBufferAttachmentKey_CameraIntrinsicMatrix: CFString =
  "CameraIntrinsicMatrix"
/// The frame must be encoded as a key frame (Boolean).
nonisolated(unsafe) public let kCMSampleBufferAttachmentKey_ForceKeyFrame: CFString = "ForceKeyFrame"

/// The frame came too late.
nonisolated(unsafe) public let kCMSampleBufferDroppedFrameReason_FrameWasLate: CFString = "FrameWasLate"
/// No buffer was available for the frame.
nonisolated(unsafe) public let kCMSampleBufferDroppedFrameReason_OutOfBuffers: CFString = "OutOfBuffers"
/// An unknown number of frames is missing.
nonisolated(unsafe) public let kCMSampleBufferDroppedFrameReason_Discontinuity: CFString = "Discontinuity"

/// The camera changed its mode.
nonisolated(unsafe) public let kCMSampleBufferDroppedFrameReasonInfo_CameraModeSwitch: CFString =
  "CameraModeSwitch"

/// Stabilisation was active.
nonisolated(unsafe) public let kCMSampleBufferLensStabilizationInfo_Active: CFString = "Active"
/// Stabilisation was out of its range.
nonisolated(unsafe) public let kCMSampleBufferLensStabilizationInfo_OutOfRange: CFString = "OutOfRange"
/// Stabilisation is not available.
nonisolated(unsafe) public let kCMSampleBufferLensStabilizationInfo_Unavailable: CFString = "Unavailable"
/// Stabilisation was off.
nonisolated(unsafe) public let kCMSampleBufferLensStabilizationInfo_Off: CFString = "Off"

// MARK: - Notifications

/// Posted by a sample buffer whose data has become ready.
nonisolated(unsafe) public let kCMSampleBufferNotification_DataBecameReady: CFString =
  "CMSampleBufferNotification_DataBecameReady"
/// Posted by a sample buffer whose data has failed.
nonisolated(unsafe) public let kCMSampleBufferNotification_DataFailed: CFString =
  "CMSampleBufferNotification_DataFailed"
/// The status with which the data failed (number).
nonisolated(unsafe) public let kCMSampleBufferNotificationParameter_OSStatus: CFString =
  "OSStatus"
/// Posted by a conduit: output stops until a buffer with the tag arrives.
nonisolated(unsafe) public let kCMSampleBufferConduitNotification_InhibitOutputUntil: CFString =
  "CMSampleBufferConduitNotification_InhibitOutputUntil"
/// The tag of the buffer with which output resumes (number).
nonisolated(unsafe) public let kCMSampleBufferConduitNotificationParameter_ResumeTag: CFString =
  "ResumeTag"
/// Posted by a conduit: queued buffers must be dropped.
nonisolated(unsafe) public let kCMSampleBufferConduitNotification_ResetOutput: CFString =
  "CMSampleBufferConduitNotification_ResetOutput"
/// Posted by a conduit: the range of the upcoming output presentation times has changed.
nonisolated(unsafe) public let kCMSampleBufferConduitNotification_UpcomingOutputPTSRangeChanged: CFString =
  "CMSampleBufferConduitNotification_UpcomingOutputPTSRangeChanged"
/// Whether the upcoming range may overlap that of queued buffers (Boolean).
nonisolated(unsafe) public
  let kCMSampleBufferConduitNotificationParameter_UpcomingOutputPTSRangeMayOverlapQueuedOutputPTSRange:
  CFString =
    "UpcomingOutputPTSRangeMayOverlapQueuedOutputPTSRange"
/// The earliest upcoming output presentation time (a time as a dictionary).
nonisolated(unsafe) public let kCMSampleBufferConduitNotificationParameter_MinUpcomingOutputPTS: CFString =
  "MinUpcomingOutputPTS"
/// The latest upcoming output presentation time (a time as a dictionary).
nonisolated(unsafe) public let kCMSampleBufferConduitNotificationParameter_MaxUpcomingOutputPTS: CFString =
  "MaxUpcomingOutputPTS"
/// Posted by a consumer for a buffer with
/// `kCMSampleBufferAttachmentKey_PostNotificationWhenConsumed`.
nonisolated(unsafe) public let kCMSampleBufferConsumerNotification_BufferConsumed: CFString =
  "CMSampleBufferConsumerNotification_BufferConsumed"
