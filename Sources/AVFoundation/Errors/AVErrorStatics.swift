// SPDX-License-Identifier: Apache-2.0
extension AVError {
  /// The operation could not be completed.
  public static var unknown: AVError.Code { .unknown }
  /// There is not enough memory.
  public static var outOfMemory: AVError.Code { .outOfMemory }
  /// The session is not running.
  public static var sessionNotRunning: AVError.Code { .sessionNotRunning }
  /// The device is used by another session.
  public static var deviceAlreadyUsedByAnotherSession: AVError.Code { .deviceAlreadyUsedByAnotherSession }
  /// No data was captured.
  public static var noDataCaptured: AVError.Code { .noDataCaptured }
  /// The session's configuration has changed.
  public static var sessionConfigurationChanged: AVError.Code { .sessionConfigurationChanged }
  /// The disk is full.
  public static var diskFull: AVError.Code { .diskFull }
  /// The device was disconnected.
  public static var deviceWasDisconnected: AVError.Code { .deviceWasDisconnected }
  /// The source media has changed.
  public static var mediaChanged: AVError.Code { .mediaChanged }
  /// The maximum duration was reached.
  public static var maximumDurationReached: AVError.Code { .maximumDurationReached }
  /// The maximum file size was reached.
  public static var maximumFileSizeReached: AVError.Code { .maximumFileSizeReached }
  /// The media has a discontinuity.
  public static var mediaDiscontinuity: AVError.Code { .mediaDiscontinuity }
  /// The file format cannot hold more samples.
  public static var maximumNumberOfSamplesForFileFormatReached: AVError.Code {
    .maximumNumberOfSamplesForFileFormatReached
  }
  /// The device is not connected.
  public static var deviceNotConnected: AVError.Code { .deviceNotConnected }
  /// The device is in use by another application.
  public static var deviceInUseByAnotherApplication: AVError.Code { .deviceInUseByAnotherApplication }
  /// The device is locked by another process.
  public static var deviceLockedForConfigurationByAnotherProcess: AVError.Code {
    .deviceLockedForConfigurationByAnotherProcess
  }
  /// The session was interrupted.
  public static var sessionWasInterrupted: AVError.Code { .sessionWasInterrupted }
  /// The media services were reset.
  public static var mediaServicesWereReset: AVError.Code { .mediaServicesWereReset }
  /// The export failed.
  public static var exportFailed: AVError.Code { .exportFailed }
  /// Cannot decode.
  public static var decodeFailed: AVError.Code { .decodeFailed }
  /// The source media is invalid.
  public static var invalidSourceMedia: AVError.Code { .invalidSourceMedia }
  /// The file exists already.
  public static var fileAlreadyExists: AVError.Code { .fileAlreadyExists }
  /// The composition's segments are not contiguous.
  public static var compositionTrackSegmentsNotContiguous: AVError.Code {
    .compositionTrackSegmentsNotContiguous
  }
  /// A composition segment's duration is invalid.
  public static var invalidCompositionTrackSegmentDuration: AVError.Code {
    .invalidCompositionTrackSegmentDuration
  }
  /// A composition segment's start time is invalid.
  public static var invalidCompositionTrackSegmentSourceStartTime: AVError.Code {
    .invalidCompositionTrackSegmentSourceStartTime
  }
  /// A composition segment's source duration is invalid.
  public static var invalidCompositionTrackSegmentSourceDuration: AVError.Code {
    .invalidCompositionTrackSegmentSourceDuration
  }
  /// Cannot open: the format is not recognized.
  public static var fileFormatNotRecognized: AVError.Code { .fileFormatNotRecognized }
  /// Cannot open: the file is damaged.
  public static var fileFailedToParse: AVError.Code { .fileFailedToParse }
  /// Too many still image captures are under way.
  public static var maximumStillImageCaptureRequestsExceeded: AVError.Code {
    .maximumStillImageCaptureRequestsExceeded
  }
  /// The content is protected.
  public static var contentIsProtected: AVError.Code { .contentIsProtected }
  /// There is no image at this time.
  public static var noImageAtTime: AVError.Code { .noImageAtTime }
  /// There is no decoder for this media.
  public static var decoderNotFound: AVError.Code { .decoderNotFound }
  /// There is no encoder for this media.
  public static var encoderNotFound: AVError.Code { .encoderNotFound }
  /// The content is not authorized.
  public static var contentIsNotAuthorized: AVError.Code { .contentIsNotAuthorized }
  /// The application is not authorized.
  public static var applicationIsNotAuthorized: AVError.Code { .applicationIsNotAuthorized }
  /// The device is not available in the background.
  public static var deviceIsNotAvailableInBackground: AVError.Code { .deviceIsNotAvailableInBackground }
  /// The operation is not supported for this media.
  public static var operationNotSupportedForAsset: AVError.Code { .operationNotSupportedForAsset }
  /// The decoder is temporarily unavailable.
  public static var decoderTemporarilyUnavailable: AVError.Code { .decoderTemporarilyUnavailable }
  /// The encoder is temporarily unavailable.
  public static var encoderTemporarilyUnavailable: AVError.Code { .encoderTemporarilyUnavailable }
  /// The video composition is invalid.
  public static var invalidVideoComposition: AVError.Code { .invalidVideoComposition }
  /// The reference policy forbids a reference.
  public static var referenceForbiddenByReferencePolicy: AVError.Code { .referenceForbiddenByReferencePolicy }
  /// The output's file name extension does not fit its type.
  public static var invalidOutputURLPathExtension: AVError.Code { .invalidOutputURLPathExtension }
  /// The screen capture failed.
  public static var screenCaptureFailed: AVError.Code { .screenCaptureFailed }
  /// The display was disabled.
  public static var displayWasDisabled: AVError.Code { .displayWasDisabled }
  /// The torch level is not available.
  public static var torchLevelUnavailable: AVError.Code { .torchLevelUnavailable }
  /// The operation was interrupted.
  public static var operationInterrupted: AVError.Code { .operationInterrupted }
  /// The asset is not compatible.
  public static var incompatibleAsset: AVError.Code { .incompatibleAsset }
  /// The media data cannot be loaded.
  public static var failedToLoadMediaData: AVError.Code { .failedToLoadMediaData }
  /// The server is not configured correctly.
  public static var serverIncorrectlyConfigured: AVError.Code { .serverIncorrectlyConfigured }
  /// The application is not authorized to use the device.
  public static var applicationIsNotAuthorizedToUseDevice: AVError.Code {
    .applicationIsNotAuthorizedToUseDevice
  }
  /// The data cannot be parsed.
  public static var failedToParse: AVError.Code { .failedToParse }
  /// The file type does not support sample references.
  public static var fileTypeDoesNotSupportSampleReferences: AVError.Code {
    .fileTypeDoesNotSupportSampleReferences
  }
  /// The media data cannot be decoded.
  public static var undecodableMediaData: AVError.Code { .undecodableMediaData }
  /// The AirPlay controller needs the internet.
  public static var airPlayControllerRequiresInternet: AVError.Code { .airPlayControllerRequiresInternet }
  /// The AirPlay receiver needs the internet.
  public static var airPlayReceiverRequiresInternet: AVError.Code { .airPlayReceiverRequiresInternet }
  /// The video compositor failed.
  public static var videoCompositorFailed: AVError.Code { .videoCompositorFailed }
  /// A recording is under way.
  public static var recordingAlreadyInProgress: AVError.Code { .recordingAlreadyInProgress }
  /// The content key request cannot be created.
  public static var createContentKeyRequestFailed: AVError.Code { .createContentKeyRequestFailed }
  /// The output settings are not supported.
  public static var unsupportedOutputSettings: AVError.Code { .unsupportedOutputSettings }
  /// The operation is not allowed.
  public static var operationNotAllowed: AVError.Code { .operationNotAllowed }
  /// The content is unavailable.
  public static var contentIsUnavailable: AVError.Code { .contentIsUnavailable }
  /// The format is not supported.
  public static var formatUnsupported: AVError.Code { .formatUnsupported }
  /// The depth data is malformed.
  public static var malformedDepth: AVError.Code { .malformedDepth }
  /// The content was not updated.
  public static var contentNotUpdated: AVError.Code { .contentNotUpdated }
  /// The item can no longer be played.
  public static var noLongerPlayable: AVError.Code { .noLongerPlayable }
  /// There is no alternate for the external display.
  public static var noCompatibleAlternatesForExternalDisplay: AVError.Code {
    .noCompatibleAlternatesForExternalDisplay
  }
  /// There is no source track.
  public static var noSourceTrack: AVError.Code { .noSourceTrack }
  /// External playback is not supported for this asset.
  public static var externalPlaybackNotSupportedForAsset: AVError.Code {
    .externalPlaybackNotSupportedForAsset
  }
  /// The operation is not supported with this preset.
  public static var operationNotSupportedForPreset: AVError.Code { .operationNotSupportedForPreset }
  /// The session exceeds the capabilities of the hardware.
  public static var sessionHardwareCostOverage: AVError.Code { .sessionHardwareCostOverage }
  /// The device's format is not supported.
  public static var unsupportedDeviceActiveFormat: AVError.Code { .unsupportedDeviceActiveFormat }
  /// The object is not configured correctly.
  public static var incorrectlyConfigured: AVError.Code { .incorrectlyConfigured }
  /// A segment began with a sample that is not a sync sample.
  public static var segmentStartedWithNonSyncSample: AVError.Code { .segmentStartedWithNonSyncSample }
  /// Rosetta is not installed.
  public static var rosettaNotInstalled: AVError.Code { .rosettaNotInstalled }
  /// The operation was cancelled.
  public static var operationCancelled: AVError.Code { .operationCancelled }
  /// The content key request was cancelled.
  public static var contentKeyRequestCancelled: AVError.Code { .contentKeyRequestCancelled }
  /// The sample cursor is invalid.
  public static var invalidSampleCursor: AVError.Code { .invalidSampleCursor }
  /// The sample data cannot be loaded.
  public static var failedToLoadSampleData: AVError.Code { .failedToLoadSampleData }
  /// The AirPlay receiver is temporarily unavailable.
  public static var airPlayReceiverTemporarilyUnavailable: AVError.Code {
    .airPlayReceiverTemporarilyUnavailable
  }
  /// Cannot encode.
  public static var encodeFailed: AVError.Code { .encodeFailed }
  /// The sandbox denied the access.
  public static var sandboxExtensionDenied: AVError.Code { .sandboxExtensionDenied }
  /// Tone mapping failed.
  public static var toneMappingFailed: AVError.Code { .toneMappingFailed }
}
