// SPDX-License-Identifier: Apache-2.0
import CoreVideo

extension CMSampleBuffer {
  /// Keys of the attachments of a sample buffer.
  public struct AttachmentKey: RawRepresentable, Hashable, @unchecked Sendable {
    // Sendable: immutable; a CFString is.
    public let rawValue: CFString
    public init(rawValue: CFString) { self.rawValue = rawValue }

    /// The decoder is reset before it decodes this buffer (Boolean).
    public static let resetDecoderBeforeDecoding = AttachmentKey(
      rawValue: kCMSampleBufferAttachmentKey_ResetDecoderBeforeDecoding)
    /// The decoder outputs all of its frames after it has decoded this buffer (Boolean).
    public static let drainAfterDecoding = AttachmentKey(
      rawValue: kCMSampleBufferAttachmentKey_DrainAfterDecoding)
    /// The dictionary with which `kCMSampleBufferConsumerNotification_BufferConsumed` is posted
    /// after the buffer has been consumed.
    public static let postNotificationWhenConsumed = AttachmentKey(
      rawValue: kCMSampleBufferAttachmentKey_PostNotificationWhenConsumed)
    /// Output that a conduit inhibited is resumed; the value is the tag (number).
    public static let resumeOutput = AttachmentKey(rawValue: kCMSampleBufferAttachmentKey_ResumeOutput)
    /// Marks a transition from one source of buffers to the next (any object).
    public static let transitionID = AttachmentKey(rawValue: kCMSampleBufferAttachmentKey_TransitionID)
    /// The duration to remove from the start of the decoded media (a time as a dictionary).
    public static let trimDurationAtStart = AttachmentKey(
      rawValue: kCMSampleBufferAttachmentKey_TrimDurationAtStart)
    /// The duration to remove from the end of the decoded media (a time as a dictionary).
    public static let trimDurationAtEnd = AttachmentKey(
      rawValue: kCMSampleBufferAttachmentKey_TrimDurationAtEnd)
    /// The factor by which playback is accelerated (number).
    public static let speedMultiplier = AttachmentKey(rawValue: kCMSampleBufferAttachmentKey_SpeedMultiplier)
    /// The media is presented in reverse (Boolean).
    public static let reverse = AttachmentKey(rawValue: kCMSampleBufferAttachmentKey_Reverse)
    /// Discontinuities are filled with silence (Boolean).
    public static let fillDiscontinuitiesWithSilence = AttachmentKey(
      rawValue: kCMSampleBufferAttachmentKey_FillDiscontinuitiesWithSilence)
    /// The buffer marks an interval without media (Boolean).
    public static let emptyMedia = AttachmentKey(rawValue: kCMSampleBufferAttachmentKey_EmptyMedia)
    /// The buffer marks the end of all media (Boolean).
    public static let permanentEmptyMedia = AttachmentKey(
      rawValue: kCMSampleBufferAttachmentKey_PermanentEmptyMedia)
    /// The interval without media begins immediately (Boolean).
    public static let displayEmptyMediaImmediately = AttachmentKey(
      rawValue: kCMSampleBufferAttachmentKey_DisplayEmptyMediaImmediately)
    /// The previous sample ends at the time of this marker (Boolean).
    public static let endsPreviousSampleDuration = AttachmentKey(
      rawValue: kCMSampleBufferAttachmentKey_EndsPreviousSampleDuration)
    /// The file with the data, for a sample that only refers to its data (URL).
    public static let sampleReferenceURL = AttachmentKey(
      rawValue: kCMSampleBufferAttachmentKey_SampleReferenceURL)
    /// The offset of the data in that file in bytes (number).
    public static let sampleReferenceByteOffset = AttachmentKey(
      rawValue: kCMSampleBufferAttachmentKey_SampleReferenceByteOffset)
    /// The number of frames that have to be decoded, including this one, until pictures are correct
    /// (number).
    public static let gradualDecoderRefresh = AttachmentKey(
      rawValue: kCMSampleBufferAttachmentKey_GradualDecoderRefresh)
    /// The reason for which a frame was dropped (string).
    public static let droppedFrameReason = AttachmentKey(
      rawValue: kCMSampleBufferAttachmentKey_DroppedFrameReason)
    /// Further information on the reason for which a frame was dropped (string).
    public static let droppedFrameReasonInfo = AttachmentKey(
      rawValue: kCMSampleBufferAttachmentKey_DroppedFrameReasonInfo)
    /// The effect of lens stabilisation on a still image (string).
    public static let stillImageLensStabilizationInfo = AttachmentKey(
      rawValue: kCMSampleBufferAttachmentKey_StillImageLensStabilizationInfo)
    /// The camera's intrinsic matrix (data: a 3 by 3 matrix of floats in columns of four).
    public static let cameraIntrinsicMatrix = AttachmentKey(
      rawValue: kCMSampleBufferAttachmentKey_CameraIntrinsicMatrix)
    /// The frame must be encoded as a key frame (Boolean).
    public static let forceKeyFrame = AttachmentKey(rawValue: kCMSampleBufferAttachmentKey_ForceKeyFrame)
  }
}

extension CMSampleBuffer.PerSampleAttachmentsDictionary {
  /// Keys of the attachments of one sample.
  public struct Key: RawRepresentable, Hashable, @unchecked Sendable {
    // Sendable: immutable; a CFString is.
    public let rawValue: CFString
    public init(rawValue: CFString) { self.rawValue = rawValue }

    /// The sample is not a sync sample; if absent, it is one (Boolean).
    public static let notSync = Key(rawValue: kCMSampleAttachmentKey_NotSync)
    /// The sample is a sync sample except for frames presented before it (Boolean).
    public static let partialSync = Key(rawValue: kCMSampleAttachmentKey_PartialSync)
    /// The sample has redundant coding (Boolean).
    public static let hasRedundantCoding = Key(rawValue: kCMSampleAttachmentKey_HasRedundantCoding)
    /// Other samples depend on this one; if false, it can be dropped (Boolean).
    public static let isDependedOnByOthers = Key(rawValue: kCMSampleAttachmentKey_IsDependedOnByOthers)
    /// The sample depends on others: it is not an I picture (Boolean).
    public static let dependsOnOthers = Key(rawValue: kCMSampleAttachmentKey_DependsOnOthers)
    /// Later samples may be presented earlier than this one (Boolean).
    public static let earlierDisplayTimesAllowed = Key(
      rawValue: kCMSampleAttachmentKey_EarlierDisplayTimesAllowed)
    /// The sample is displayed as soon as it has been decoded, regardless of its time (Boolean).
    public static let displayImmediately = Key(rawValue: kCMSampleAttachmentKey_DisplayImmediately)
    /// The sample is decoded but not displayed (Boolean).
    public static let doNotDisplay = Key(rawValue: kCMSampleAttachmentKey_DoNotDisplay)
    /// The temporal level of the sample in HEVC (dictionary; see `kCMHEVCTemporalLevelInfoKey_*`).
    public static let hevcTemporalLevelInfo = Key(rawValue: kCMSampleAttachmentKey_HEVCTemporalLevelInfo)
    /// The sample is a temporal sub-layer access picture of HEVC (Boolean).
    public static let hevcTemporalSubLayerAccess = Key(
      rawValue: kCMSampleAttachmentKey_HEVCTemporalSubLayerAccess)
    /// The sample is a step-wise temporal sub-layer access picture of HEVC (Boolean).
    public static let hevcStepwiseTemporalSubLayerAccess = Key(
      rawValue: kCMSampleAttachmentKey_HEVCStepwiseTemporalSubLayerAccess)
    /// The type of the HEVC NAL units of a sample that is a random access point (number).
    public static let hevcSyncSampleNALUnitType = Key(
      rawValue: kCMSampleAttachmentKey_HEVCSyncSampleNALUnitType)
    /// The number of samples from this one on that have to be decoded until audio is correct
    /// (number).
    public static let audioIndependentSampleDecoderRefreshCount = Key(
      rawValue: kCMSampleAttachmentKey_AudioIndependentSampleDecoderRefreshCount)
  }
}

extension CMSampleBuffer {
  /// Posted by a sample buffer whose data has become ready.
  public static let dataBecameReady = NSNotification.Name(
    kCMSampleBufferNotification_DataBecameReady as String)
  /// Posted by a sample buffer whose data has failed; see `NotificationKey.status`.
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
