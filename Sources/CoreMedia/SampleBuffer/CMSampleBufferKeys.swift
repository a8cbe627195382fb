// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

// MARK: - Attachments of each sample

/// The sample is not a key frame (boolean; absent means that it is one).
nonisolated(unsafe) public let kCMSampleAttachmentKey_NotSync: CFString = "NotSync"
/// The sample is a key frame but for frames shown before it (boolean).
nonisolated(unsafe) public let kCMSampleAttachmentKey_PartialSync: CFString = "PartialSync"
/// The sample has redundant coding (boolean).
nonisolated(unsafe) public let kCMSampleAttachmentKey_HasRedundantCoding: CFString = "HasRedundantCoding"
/// Other samples need this one; if not, it can be dropped (boolean).
nonisolated(unsafe) public let kCMSampleAttachmentKey_IsDependedOnByOthers: CFString = "IsDependedOnByOthers"
/// The sample needs others, that is, it is not an I picture (boolean).
nonisolated(unsafe) public let kCMSampleAttachmentKey_DependsOnOthers: CFString = "DependsOnOthers"
/// Later samples may be shown earlier than this one (boolean).
nonisolated(unsafe) public let kCMSampleAttachmentKey_EarlierDisplayTimesAllowed: CFString =
  "EarlierDisplayTimesAllowed"
/// Show the sample as soon as it is decoded, whatever its time (boolean).
nonisolated(unsafe) public let kCMSampleAttachmentKey_DisplayImmediately: CFString = "DisplayImmediately"
/// Decode the sample but do not show it (boolean).
nonisolated(unsafe) public let kCMSampleAttachmentKey_DoNotDisplay: CFString = "DoNotDisplay"
/// The sample's temporal level in HEVC (dictionary; see `kCMHEVCTemporalLevelInfoKey_TemporalLevel`
/// and the like).
nonisolated(unsafe) public let kCMSampleAttachmentKey_HEVCTemporalLevelInfo: CFString =
  "HEVCTemporalLevelInfo"
/// The sample is a temporal sub-layer access picture of HEVC (boolean).
nonisolated(unsafe) public let kCMSampleAttachmentKey_HEVCTemporalSubLayerAccess: CFString =
  "HEVCTemporalSubLayerAccess"
/// The sample is a step-wise temporal sub-layer access picture of HEVC (boolean).
nonisolated(unsafe) public let kCMSampleAttachmentKey_HEVCStepwiseTemporalSubLayerAccess: CFString =
  "HEVCStepwiseTemporalSubLayerAccess"
/// The type of the sample's HEVC NAL units if it is a random access point (number).
nonisolated(unsafe) public let kCMSampleAttachmentKey_HEVCSyncSampleNALUnitType: CFString =
  "HEVCSyncSampleNALUnitType"
/// The number of samples that have to be decoded, from this one on, until sound is correct
/// (number).
nonisolated(unsafe) public let kCMSampleAttachmentKey_AudioIndependentSampleDecoderRefreshCount: CFString =
  "AudioIndependentSampleDecoderRefreshCount"

// MARK: - What is in the temporal level of HEVC

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

/// Reset the decoder before this buffer (boolean).
nonisolated(unsafe) public let kCMSampleBufferAttachmentKey_ResetDecoderBeforeDecoding: CFString =
  "ResetDecoderBeforeDecoding"
/// Let all frames out of the decoder after this buffer (boolean).
nonisolated(unsafe) public let kCMSampleBufferAttachmentKey_DrainAfterDecoding: CFString =
  "DrainAfterDecoding"
/// Post `kCMSampleBufferConsumerNotification_BufferConsumed` with this dictionary when the buffer
/// was consumed.
nonisolated(unsafe) public let kCMSampleBufferAttachmentKey_PostNotificationWhenConsumed: CFString =
  "PostNotificationWhenConsumed"
/// Resume output that a conduit inhibited; the value is the tag (number).
nonisolated(unsafe) public let kCMSampleBufferAttachmentKey_ResumeOutput: CFString = "ResumeOutput"
/// Marks a transition from one source of buffers to the next (any object).
nonisolated(unsafe) public let kCMSampleBufferAttachmentKey_TransitionID: CFString = "TransitionID"
/// The duration to remove from the start of the decoded media (a time as a dictionary).
nonisolated(unsafe) public let kCMSampleBufferAttachmentKey_TrimDurationAtStart: CFString =
  "TrimDurationAtStart"
/// The duration to remove from the end of the decoded media (a time as a dictionary).
nonisolated(unsafe) public let kCMSampleBufferAttachmentKey_TrimDurationAtEnd: CFString = "TrimDurationAtEnd"
/// The factor by which the media is played faster (number).
nonisolated(unsafe) public let kCMSampleBufferAttachmentKey_SpeedMultiplier: CFString = "SpeedMultiplier"
/// The media is to be shown backwards (boolean).
nonisolated(unsafe) public let kCMSampleBufferAttachmentKey_Reverse: CFString = "Reverse"
/// Gaps in time are to be filled with silence (boolean).
nonisolated(unsafe) public let kCMSampleBufferAttachmentKey_FillDiscontinuitiesWithSilence: CFString =
  "FillDiscontinuitiesWithSilence"
/// The buffer marks an interval without media (boolean).
nonisolated(unsafe) public let kCMSampleBufferAttachmentKey_EmptyMedia: CFString = "EmptyMedia"
/// The buffer marks the end of all media (boolean).
nonisolated(unsafe) public let kCMSampleBufferAttachmentKey_PermanentEmptyMedia: CFString =
  "PermanentEmptyMedia"
/// The interval without media begins at once (boolean).
nonisolated(unsafe) public let kCMSampleBufferAttachmentKey_DisplayEmptyMediaImmediately: CFString =
  "DisplayEmptyMediaImmediately"
/// The sample before ends where this marker is (boolean).
nonisolated(unsafe) public let kCMSampleBufferAttachmentKey_EndsPreviousSampleDuration: CFString =
  "EndsPreviousSampleDuration"
/// The file that the sample's data is in, for a sample that only refers to it (URL).
nonisolated(unsafe) public let kCMSampleBufferAttachmentKey_SampleReferenceURL: CFString =
  "SampleReferenceURL"
/// The offset of the data in that file, in bytes (number).
nonisolated(unsafe) public let kCMSampleBufferAttachmentKey_SampleReferenceByteOffset: CFString =
  "SampleReferenceByteOffset"
/// The number of frames that have to be decoded, including this one, until the picture is complete
/// (number).
nonisolated(unsafe) public let kCMSampleBufferAttachmentKey_GradualDecoderRefresh: CFString =
  "GradualDecoderRefresh"
/// Why a frame was dropped (string).
nonisolated(unsafe) public let kCMSampleBufferAttachmentKey_DroppedFrameReason: CFString =
  "DroppedFrameReason"
/// More on why a frame was dropped (string).
nonisolated(unsafe) public let kCMSampleBufferAttachmentKey_DroppedFrameReasonInfo: CFString =
  "DroppedFrameReasonInfo"
/// The effect of lens stabilisation on a still image (string).
nonisolated(unsafe) public let kCMSampleBufferAttachmentKey_StillImageLensStabilizationInfo: CFString =
  "StillImageLensStabilizationInfo"
/// The camera's intrinsic matrix (data: a 3 by 3 matrix of floats in columns of four).
nonisolated(unsafe) public let kCMSampleBufferAttachmentKey_CameraIntrinsicMatrix: CFString =
  "CameraIntrinsicMatrix"
/// The frame is to be encoded as a key frame (boolean).
nonisolated(unsafe) public let kCMSampleBufferAttachmentKey_ForceKeyFrame: CFString = "ForceKeyFrame"

/// The frame came too late.
nonisolated(unsafe) public let kCMSampleBufferDroppedFrameReason_FrameWasLate: CFString = "FrameWasLate"
/// There was no buffer left for the frame.
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
/// There is no stabilisation.
nonisolated(unsafe) public let kCMSampleBufferLensStabilizationInfo_Unavailable: CFString = "Unavailable"
/// Stabilisation was off.
nonisolated(unsafe) public let kCMSampleBufferLensStabilizationInfo_Off: CFString = "Off"

// MARK: - Notifications

/// Posted by a sample buffer whose data became ready.
nonisolated(unsafe) public let kCMSampleBufferNotification_DataBecameReady: CFString =
  "CMSampleBufferNotification_DataBecameReady"
/// Posted by a sample buffer whose data will never be ready.
nonisolated(unsafe) public let kCMSampleBufferNotification_DataFailed: CFString =
  "CMSampleBufferNotification_DataFailed"
/// The status with which the data failed (number).
nonisolated(unsafe) public let kCMSampleBufferNotificationParameter_OSStatus: CFString =
  "OSStatus"
/// Posted by a conduit: output stops until a buffer comes with the tag.
nonisolated(unsafe) public let kCMSampleBufferConduitNotification_InhibitOutputUntil: CFString =
  "CMSampleBufferConduitNotification_InhibitOutputUntil"
/// The tag of the buffer that output resumes with (number).
nonisolated(unsafe) public let kCMSampleBufferConduitNotificationParameter_ResumeTag: CFString =
  "ResumeTag"
/// Posted by a conduit: what is queued is to be dropped.
nonisolated(unsafe) public let kCMSampleBufferConduitNotification_ResetOutput: CFString =
  "CMSampleBufferConduitNotification_ResetOutput"
/// Posted by a conduit: the range of times to come has changed.
nonisolated(unsafe) public let kCMSampleBufferConduitNotification_UpcomingOutputPTSRangeChanged: CFString =
  "CMSampleBufferConduitNotification_UpcomingOutputPTSRangeChanged"
/// Whether the range to come may overlap what is queued (boolean).
nonisolated(unsafe) public
  let kCMSampleBufferConduitNotificationParameter_UpcomingOutputPTSRangeMayOverlapQueuedOutputPTSRange:
  CFString =
    "UpcomingOutputPTSRangeMayOverlapQueuedOutputPTSRange"
/// The earliest output time to come (a time as a dictionary).
nonisolated(unsafe) public let kCMSampleBufferConduitNotificationParameter_MinUpcomingOutputPTS: CFString =
  "MinUpcomingOutputPTS"
/// The latest output time to come (a time as a dictionary).
nonisolated(unsafe) public let kCMSampleBufferConduitNotificationParameter_MaxUpcomingOutputPTS: CFString =
  "MaxUpcomingOutputPTS"
/// Posted by a consumer for a buffer with
/// `kCMSampleBufferAttachmentKey_PostNotificationWhenConsumed`.
nonisolated(unsafe) public let kCMSampleBufferConsumerNotification_BufferConsumed: CFString =
  "CMSampleBufferConsumerNotification_BufferConsumed"
