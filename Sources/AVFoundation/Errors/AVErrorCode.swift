// SPDX-License-Identifier: Apache-2.0
import Foundation

extension AVError {
  /// The codes of errors, with Apple's values.
  public enum Code: Int, Sendable, _ErrorCodeProtocol {
    public typealias _ErrorType = AVError

    /// The operation could not be completed.
    case unknown = -11800
    /// There is not enough memory.
    case outOfMemory = -11801
    /// The session is not running.
    case sessionNotRunning = -11803
    /// The device is used by another session.
    case deviceAlreadyUsedByAnotherSession = -11804
    /// No data was captured.
    case noDataCaptured = -11805
    /// The session's configuration has changed.
    case sessionConfigurationChanged = -11806
    /// The disk is full.
    case diskFull = -11807
    /// The device was disconnected.
    case deviceWasDisconnected = -11808
    /// The source media has changed.
    case mediaChanged = -11809
    /// The maximum duration was reached.
    case maximumDurationReached = -11810
    /// The maximum file size was reached.
    case maximumFileSizeReached = -11811
    /// The media has a discontinuity.
    case mediaDiscontinuity = -11812
    /// The file format cannot hold more samples.
    case maximumNumberOfSamplesForFileFormatReached = -11813
    /// The device is not connected.
    case deviceNotConnected = -11814
    /// The device is in use by another application.
    case deviceInUseByAnotherApplication = -11815
    /// The device is locked by another process.
    case deviceLockedForConfigurationByAnotherProcess = -11817
    /// The session was interrupted.
    case sessionWasInterrupted = -11818
    /// The media services were reset.
    case mediaServicesWereReset = -11819
    /// The export failed.
    case exportFailed = -11820
    /// Cannot decode.
    case decodeFailed = -11821
    /// The source media is invalid.
    case invalidSourceMedia = -11822
    /// The file exists already.
    case fileAlreadyExists = -11823
    /// The composition's segments are not contiguous.
    case compositionTrackSegmentsNotContiguous = -11824
    /// A composition segment's duration is invalid.
    case invalidCompositionTrackSegmentDuration = -11825
    /// A composition segment's start time is invalid.
    case invalidCompositionTrackSegmentSourceStartTime = -11826
    /// A composition segment's source duration is invalid.
    case invalidCompositionTrackSegmentSourceDuration = -11827
    /// Cannot open: the format is not recognized.
    case fileFormatNotRecognized = -11828
    /// Cannot open: the file is damaged.
    case fileFailedToParse = -11829
    /// Too many still image captures are under way.
    case maximumStillImageCaptureRequestsExceeded = -11830
    /// The content is protected.
    case contentIsProtected = -11831
    /// There is no image at this time.
    case noImageAtTime = -11832
    /// There is no decoder for this media.
    case decoderNotFound = -11833
    /// There is no encoder for this media.
    case encoderNotFound = -11834
    /// The content is not authorized.
    case contentIsNotAuthorized = -11835
    /// The application is not authorized.
    case applicationIsNotAuthorized = -11836
    /// The device is not available in the background.
    case deviceIsNotAvailableInBackground = -11837
    /// The operation is not supported for this media.
    case operationNotSupportedForAsset = -11838
    /// The decoder is temporarily unavailable.
    case decoderTemporarilyUnavailable = -11839
    /// The encoder is temporarily unavailable.
    case encoderTemporarilyUnavailable = -11840
    /// The video composition is invalid.
    case invalidVideoComposition = -11841
    /// The reference policy forbids a reference.
    case referenceForbiddenByReferencePolicy = -11842
    /// The output's file name extension does not fit its type.
    case invalidOutputURLPathExtension = -11843
    /// The screen capture failed.
    case screenCaptureFailed = -11844
    /// The display was disabled.
    case displayWasDisabled = -11845
    /// The torch level is not available.
    case torchLevelUnavailable = -11846
    /// The operation was interrupted.
    case operationInterrupted = -11847
    /// The asset is not compatible.
    case incompatibleAsset = -11848
    /// The media data cannot be loaded.
    case failedToLoadMediaData = -11849
    /// The server is not configured correctly.
    case serverIncorrectlyConfigured = -11850
    /// The application is not authorized to use the device.
    case applicationIsNotAuthorizedToUseDevice = -11852
    /// The data cannot be parsed.
    case failedToParse = -11853
    /// The file type does not support sample references.
    case fileTypeDoesNotSupportSampleReferences = -11854
    /// The media data cannot be decoded.
    case undecodableMediaData = -11855
    /// The AirPlay controller needs the internet.
    case airPlayControllerRequiresInternet = -11856
    /// The AirPlay receiver needs the internet.
    case airPlayReceiverRequiresInternet = -11857
    /// The video compositor failed.
    case videoCompositorFailed = -11858
    /// A recording is under way.
    case recordingAlreadyInProgress = -11859
    /// The content key request cannot be created.
    case createContentKeyRequestFailed = -11860
    /// The output settings are not supported.
    case unsupportedOutputSettings = -11861
    /// The operation is not allowed.
    case operationNotAllowed = -11862
    /// The content is unavailable.
    case contentIsUnavailable = -11863
    /// The format is not supported.
    case formatUnsupported = -11864
    /// The depth data is malformed.
    case malformedDepth = -11865
    /// The content was not updated.
    case contentNotUpdated = -11866
    /// The item can no longer be played.
    case noLongerPlayable = -11867
    /// There is no alternate for the external display.
    case noCompatibleAlternatesForExternalDisplay = -11868
    /// There is no source track.
    case noSourceTrack = -11869
    /// External playback is not supported for this asset.
    case externalPlaybackNotSupportedForAsset = -11870
    /// The operation is not supported with this preset.
    case operationNotSupportedForPreset = -11871
    /// The session exceeds the capabilities of the hardware.
    case sessionHardwareCostOverage = -11872
    /// The device's format is not supported.
    case unsupportedDeviceActiveFormat = -11873
    /// The object is not configured correctly.
    case incorrectlyConfigured = -11875
    /// A segment began with a sample that is not a sync sample.
    case segmentStartedWithNonSyncSample = -11876
    /// Rosetta is not installed.
    case rosettaNotInstalled = -11877
    /// The operation was cancelled.
    case operationCancelled = -11878
    /// The content key request was cancelled.
    case contentKeyRequestCancelled = -11879
    /// The sample cursor is invalid.
    case invalidSampleCursor = -11880
    /// The sample data cannot be loaded.
    case failedToLoadSampleData = -11881
    /// The AirPlay receiver is temporarily unavailable.
    case airPlayReceiverTemporarilyUnavailable = -11882
    /// Cannot encode.
    case encodeFailed = -11883
    /// The sandbox denied the access.
    case sandboxExtensionDenied = -11884
    /// Tone mapping failed.
    case toneMappingFailed = -11885
  }
}

extension AVError.Code {
  /// A description of the error in one sentence, for users.
  var summary: String {
    switch self {
    case .unknown: "The operation could not be completed."
    case .outOfMemory: "There is not enough memory."
    case .sessionNotRunning: "The session is not running."
    case .deviceAlreadyUsedByAnotherSession: "The device is used by another session."
    case .noDataCaptured: "No data was captured."
    case .sessionConfigurationChanged: "The session's configuration has changed."
    case .diskFull: "The disk is full."
    case .deviceWasDisconnected: "The device was disconnected."
    case .mediaChanged: "The source media has changed."
    case .maximumDurationReached: "The maximum duration was reached."
    case .maximumFileSizeReached: "The maximum file size was reached."
    case .mediaDiscontinuity: "The media has a discontinuity."
    case .maximumNumberOfSamplesForFileFormatReached: "The file format cannot hold more samples."
    case .deviceNotConnected: "The device is not connected."
    case .deviceInUseByAnotherApplication: "The device is in use by another application."
    case .deviceLockedForConfigurationByAnotherProcess: "The device is locked by another process."
    case .sessionWasInterrupted: "The session was interrupted."
    case .mediaServicesWereReset: "The media services were reset."
    case .exportFailed: "The export failed."
    case .decodeFailed: "Cannot decode."
    case .invalidSourceMedia: "The source media is invalid."
    case .fileAlreadyExists: "The file exists already."
    case .compositionTrackSegmentsNotContiguous: "The composition's segments are not contiguous."
    case .invalidCompositionTrackSegmentDuration: "A composition segment's duration is invalid."
    case .invalidCompositionTrackSegmentSourceStartTime: "A composition segment's start time is invalid."
    case .invalidCompositionTrackSegmentSourceDuration: "A composition segment's source duration is invalid."
    case .fileFormatNotRecognized: "Cannot open: the format is not recognized."
    case .fileFailedToParse: "Cannot open: the file is damaged."
    case .maximumStillImageCaptureRequestsExceeded: "Too many still image captures are under way."
    case .contentIsProtected: "The content is protected."
    case .noImageAtTime: "There is no image at this time."
    case .decoderNotFound: "There is no decoder for this media."
    case .encoderNotFound: "There is no encoder for this media."
    case .contentIsNotAuthorized: "The content is not authorized."
    case .applicationIsNotAuthorized: "The application is not authorized."
    case .deviceIsNotAvailableInBackground: "The device is not available in the background."
    case .operationNotSupportedForAsset: "The operation is not supported for this media."
    case .decoderTemporarilyUnavailable: "The decoder is temporarily unavailable."
    case .encoderTemporarilyUnavailable: "The encoder is temporarily unavailable."
    case .invalidVideoComposition: "The video composition is invalid."
    case .referenceForbiddenByReferencePolicy: "The reference policy forbids a reference."
    case .invalidOutputURLPathExtension: "The output's file name extension does not fit its type."
    case .screenCaptureFailed: "The screen capture failed."
    case .displayWasDisabled: "The display was disabled."
    case .torchLevelUnavailable: "The torch level is not available."
    case .operationInterrupted: "The operation was interrupted."
    case .incompatibleAsset: "The asset is not compatible."
    case .failedToLoadMediaData: "The media data cannot be loaded."
    case .serverIncorrectlyConfigured: "The server is not configured correctly."
    case .applicationIsNotAuthorizedToUseDevice: "The application is not authorized to use the device."
    case .failedToParse: "The data cannot be parsed."
    case .fileTypeDoesNotSupportSampleReferences: "The file type does not support sample references."
    case .undecodableMediaData: "The media data cannot be decoded."
    case .airPlayControllerRequiresInternet: "The AirPlay controller needs the internet."
    case .airPlayReceiverRequiresInternet: "The AirPlay receiver needs the internet."
    case .videoCompositorFailed: "The video compositor failed."
    case .recordingAlreadyInProgress: "A recording is under way."
    case .createContentKeyRequestFailed: "The content key request cannot be created."
    case .unsupportedOutputSettings: "The output settings are not supported."
    case .operationNotAllowed: "The operation is not allowed."
    case .contentIsUnavailable: "The content is unavailable."
    case .formatUnsupported: "The format is not supported."
    case .malformedDepth: "The depth data is malformed."
    case .contentNotUpdated: "The content was not updated."
    case .noLongerPlayable: "The item can no longer be played."
    case .noCompatibleAlternatesForExternalDisplay: "There is no alternate for the external display."
    case .noSourceTrack: "There is no source track."
    case .externalPlaybackNotSupportedForAsset: "External playback is not supported for this asset."
    case .operationNotSupportedForPreset: "The operation is not supported with this preset."
    case .sessionHardwareCostOverage: "The session asks too much of the hardware."
    case .unsupportedDeviceActiveFormat: "The device's format is not supported."
    case .incorrectlyConfigured: "The object is not configured correctly."
    case .segmentStartedWithNonSyncSample: "A segment began with a sample that is not a sync sample."
    case .rosettaNotInstalled: "Rosetta is not installed."
    case .operationCancelled: "The operation was cancelled."
    case .contentKeyRequestCancelled: "The content key request was cancelled."
    case .invalidSampleCursor: "The sample cursor is invalid."
    case .failedToLoadSampleData: "The sample data cannot be loaded."
    case .airPlayReceiverTemporarilyUnavailable: "The AirPlay receiver is temporarily unavailable."
    case .encodeFailed: "Cannot encode."
    case .sandboxExtensionDenied: "The sandbox denied the access."
    case .toneMappingFailed: "Tone mapping failed."
    }
  }
}
