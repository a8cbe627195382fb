// SPDX-License-Identifier: Apache-2.0
import CoreVideo

extension CMSampleBuffer {
  /// Keys of the attachments of a sample buffer.
  public struct AttachmentKey: RawRepresentable, Hashable, @unchecked Sendable {
    // Sendable: immutable; a CFString is.
    public let rawValue: CFString
    public init(rawValue: CFString) { self.rawValue = rawValue }

    /// Reset the decoder before this buffer (boolean).
    public static let resetDecoderBeforeDecoding = AttachmentKey(
      rawValue: kCMSampleBufferAttachmentKey_ResetDecoderBeforeDecoding)
    /// Let all frames out of the decoder after this buffer (boolean).
    public static let drainAfterDecoding = AttachmentKey(
      rawValue: kCMSampleBufferAttachmentKey_DrainAfterDecoding)
    /// Post `kCMSampleBufferConsumerNotification_BufferConsumed` with this dictionary when the
    /// buffer was consumed.
    public static let postNotificationWhenConsumed = AttachmentKey(
      rawValue: kCMSampleBufferAttachmentKey_PostNotificationWhenConsumed)
    /// Resume output that a conduit inhibited; the value is the tag (number).
    public static let resumeOutput = AttachmentKey(rawValue: kCMSampleBufferAttachmentKey_ResumeOutput)
    /// Marks a transition from one source of buffers to the next (any object).
    public static let transitionID = AttachmentKey(rawValue: kCMSampleBufferAttachmentKey_TransitionID)
    /// The duration to remove from the start of the decoded media (a time as a dictionary).
    public static let trimDurationAtStart = AttachmentKey(
      rawValue: kCMSampleBufferAttachmentKey_TrimDurationAtStart)
    /// The duration to remove from the end of the decoded media (a time as a dictionary).
    public static let trimDurationAtEnd = AttachmentKey(
      rawValue: kCMSampleBufferAttachmentKey_TrimDurationAtEnd)
    /// The factor by which the media is played faster (number).
    public static let speedMultiplier = AttachmentKey(rawValue: kCMSampleBufferAttachmentKey_SpeedMultiplier)
    /// The media is to be shown backwards (boolean).
    public static let reverse = AttachmentKey(rawValue: kCMSampleBufferAttachmentKey_Reverse)
    /// Gaps in time are to be filled with silence (boolean).
    public static let fillDiscontinuitiesWithSilence = AttachmentKey(
      rawValue: kCMSampleBufferAttachmentKey_FillDiscontinuitiesWithSilence)
    /// The buffer marks an interval without media (boolean).
    public static let emptyMedia = AttachmentKey(rawValue: kCMSampleBufferAttachmentKey_EmptyMedia)
    /// The buffer marks the end of all media (boolean).
    public static let permanentEmptyMedia = AttachmentKey(
      rawValue: kCMSampleBufferAttachmentKey_PermanentEmptyMedia)
    /// The interval without media begins at once (boolean).
    public static let displayEmptyMediaImmediately = AttachmentKey(
      rawValue: kCMSampleBufferAttachmentKey_DisplayEmptyMediaImmediately)
    /// The sample before ends where this marker is (boolean).
    public static let endsPreviousSampleDuration = AttachmentKey(
      rawValue: kCMSampleBufferAttachmentKey_EndsPreviousSampleDuration)
    /// The file that the sample's data is in, for a sample that only refers to it (URL).
    public static let sampleReferenceURL = AttachmentKey(
      rawValue: kCMSampleBufferAttachmentKey_SampleReferenceURL)
    /// The offset of the data in that file, in bytes (number).
    public static let sampleReferenceByteOffset = AttachmentKey(
      rawValue: kCMSampleBufferAttachmentKey_SampleReferenceByteOffset)
    /// The number of frames that have to be decoded, including this one, until the picture is
    /// complete (number).
    public static let gradualDecoderRefresh = AttachmentKey(
      rawValue: kCMSampleBufferAttachmentKey_GradualDecoderRefresh)
    /// Why a frame was dropped (string).
    public static let droppedFrameReason = AttachmentKey(
      rawValue: kCMSampleBufferAttachmentKey_DroppedFrameReason)
    /// More on why a frame was dropped (string).
    public static let droppedFrameReasonInfo = AttachmentKey(
      rawValue: kCMSampleBufferAttachmentKey_DroppedFrameReasonInfo)
    /// The effect of lens stabilisation on a still image (string).
    public static let stillImageLensStabilizationInfo = AttachmentKey(
      rawValue: kCMSampleBufferAttachmentKey_StillImageLensStabilizationInfo)
    /// The camera's intrinsic matrix (data: a 3 by 3 matrix of floats in columns of four).
    public static let cameraIntrinsicMatrix = AttachmentKey(
      rawValue: kCMSampleBufferAttachmentKey_CameraIntrinsicMatrix)
    /// The frame is to be encoded as a key frame (boolean).
    public static let forceKeyFrame = AttachmentKey(rawValue: kCMSampleBufferAttachmentKey_ForceKeyFrame)
  }
}

extension CMSampleBuffer.PerSampleAttachmentsDictionary {
  /// Keys of the attachments of one sample.
  public struct Key: RawRepresentable, Hashable, @unchecked Sendable {
    // Sendable: immutable; a CFString is.
    public let rawValue: CFString
    public init(rawValue: CFString) { self.rawValue = rawValue }

    /// The sample is not a key frame (boolean; absent means that it is one).
    public static let notSync = Key(rawValue: kCMSampleAttachmentKey_NotSync)
    /// The sample is a key frame but for frames shown before it (boolean).
    public static let partialSync = Key(rawValue: kCMSampleAttachmentKey_PartialSync)
    /// The sample has redundant coding (boolean).
    public static let hasRedundantCoding = Key(rawValue: kCMSampleAttachmentKey_HasRedundantCoding)
    /// Other samples need this one; if not, it can be dropped (boolean).
    public static let isDependedOnByOthers = Key(rawValue: kCMSampleAttachmentKey_IsDependedOnByOthers)
    /// The sample needs others, that is, it is not an I picture (boolean).
    public static let dependsOnOthers = Key(rawValue: kCMSampleAttachmentKey_DependsOnOthers)
    /// Later samples may be shown earlier than this one (boolean).
    public static let earlierDisplayTimesAllowed = Key(
      rawValue: kCMSampleAttachmentKey_EarlierDisplayTimesAllowed)
    /// Show the sample as soon as it is decoded, whatever its time (boolean).
    public static let displayImmediately = Key(rawValue: kCMSampleAttachmentKey_DisplayImmediately)
    /// Decode the sample but do not show it (boolean).
    public static let doNotDisplay = Key(rawValue: kCMSampleAttachmentKey_DoNotDisplay)
    /// The sample's temporal level in HEVC (dictionary; see
    /// `kCMHEVCTemporalLevelInfoKey_TemporalLevel` and the like).
    public static let hevcTemporalLevelInfo = Key(rawValue: kCMSampleAttachmentKey_HEVCTemporalLevelInfo)
    /// The sample is a temporal sub-layer access picture of HEVC (boolean).
    public static let hevcTemporalSubLayerAccess = Key(
      rawValue: kCMSampleAttachmentKey_HEVCTemporalSubLayerAccess)
    /// The sample is a step-wise temporal sub-layer access picture of HEVC (boolean).
    public static let hevcStepwiseTemporalSubLayerAccess = Key(
      rawValue: kCMSampleAttachmentKey_HEVCStepwiseTemporalSubLayerAccess)
    /// The type of the sample's HEVC NAL units if it is a random access point (number).
    public static let hevcSyncSampleNALUnitType = Key(
      rawValue: kCMSampleAttachmentKey_HEVCSyncSampleNALUnitType)
    /// The number of samples that have to be decoded, from this one on, until sound is correct
    /// (number).
    public static let audioIndependentSampleDecoderRefreshCount = Key(
      rawValue: kCMSampleAttachmentKey_AudioIndependentSampleDecoderRefreshCount)
  }
}

extension CMSampleBuffer {
  /// Posted by a sample buffer whose data became ready.
  public static let dataBecameReady = NSNotification.Name(
    kCMSampleBufferNotification_DataBecameReady as String)
  /// Posted by a sample buffer whose data will never be ready; see `NotificationKey.status`.
  public static let dataFailed = NSNotification.Name(kCMSampleBufferNotification_DataFailed as String)

  /// Keys of a notification's user info.
  public struct NotificationKey: RawRepresentable, Hashable, @unchecked Sendable {
    // Sendable: immutable; a CFString is.
    public let rawValue: CFString
    public init(rawValue: CFString) { self.rawValue = rawValue }

    /// The status with which the data failed (number).
    public static let status = NotificationKey(rawValue: kCMSampleBufferNotificationParameter_OSStatus)
  }
}
