// SPDX-License-Identifier: Apache-2.0
import CoreMedia

/// The domain of the errors of `VTFrameProcessor`.
public let VTFrameProcessorErrorDomain: String = "VTFrameProcessorErrorDomain"

/// An error of `VTFrameProcessor`. `localizedDescription` says in one sentence what happened.
public struct VTFrameProcessorError: _BridgedStoredNSError, Sendable {
  /// The error as an object of Foundation.
  public let _nsError: NSError

  /// Makes an error of an object of Foundation.
  public init(_nsError error: NSError) { _nsError = error }

  /// The domain of these errors.
  public static var _nsErrorDomain: String { VTFrameProcessorErrorDomain }
  /// The domain of these errors.
  public static var errorDomain: String { VTFrameProcessorErrorDomain }

  /// The codes of errors, with Apple's values.
  public enum Code: Int, Sendable, _ErrorCodeProtocol {
    /// The error that has these codes.
    public typealias _ErrorType = VTFrameProcessorError

    /// The processor failed for an unknown reason.
    case unknownError = -19730
    /// The size of the frames is not supported.
    case unsupportedResolution = -19731
    /// A frame came without a session.
    case sessionNotStarted = -19732
    /// The session had already been started.
    case sessionAlreadyActive = -19733
    /// Processing failed for good.
    case fatalError = -19734
    /// Processing failed, and the session should be ended.
    case sessionLevelError = -19735
    /// The session could not be started.
    case initializationFailed = -19736
    /// A frame has a format that the effect does not take.
    case unsupportedInput = -19737
    /// There is not enough memory.
    case memoryAllocationFailure = -19738
    /// The effect does not have the revision that was asked for.
    case revisionNotSupported = -19739
    /// The frame could not be processed.
    case processingError = -19740
    /// A parameter is not valid.
    case invalidParameterError = -19741
    /// The time of a frame is not numeric, or not in order.
    case invalidFrameTiming = -19742
    /// A model that the effect needs could not be fetched.
    case assetDownloadFailed = -19743
  }

  /// Makes the error of a code with its sentence.
  init(_ code: Code) {
    self.init(
      _nsError: NSError(
        domain: VTFrameProcessorErrorDomain, code: code.rawValue,
        userInfo: [NSLocalizedDescriptionKey: code.summary]))
  }
}

extension VTFrameProcessorError.Code {
  /// A description of the error, in one sentence.
  fileprivate var summary: String {
    switch self {
    case .unknownError: "The frame processor failed."
    case .unsupportedResolution: "The size of the frames is not supported."
    case .sessionNotStarted: "The frame processor has no session: call startSession(configuration:) first."
    case .sessionAlreadyActive: "The frame processor already has a session."
    case .fatalError: "The frame processor failed for good."
    case .sessionLevelError: "Processing failed: end the session."
    case .initializationFailed: "The frame processor does not have the effect of this configuration."
    case .unsupportedInput: "A frame's size or pixel format is not that of the configuration."
    case .memoryAllocationFailure: "There is not enough memory."
    case .revisionNotSupported: "The effect does not have this revision."
    case .processingError: "The frame could not be processed."
    case .invalidParameterError: "A parameter of the frame is not valid."
    case .invalidFrameTiming: "The times of the frames are not numeric, or not in order."
    case .assetDownloadFailed: "A model that the effect needs could not be fetched."
    }
  }
}

// The codes by the names that `catch VTFrameProcessorError.sessionNotStarted` uses.
extension VTFrameProcessorError {
  /// The processor failed for an unknown reason.
  public static var unknownError: Code { .unknownError }
  /// The size of the frames is not supported.
  public static var unsupportedResolution: Code { .unsupportedResolution }
  /// A frame came without a session.
  public static var sessionNotStarted: Code { .sessionNotStarted }
  /// The session had already been started.
  public static var sessionAlreadyActive: Code { .sessionAlreadyActive }
  /// Processing failed for good.
  public static var fatalError: Code { .fatalError }
  /// Processing failed, and the session should be ended.
  public static var sessionLevelError: Code { .sessionLevelError }
  /// The session could not be started.
  public static var initializationFailed: Code { .initializationFailed }
  /// A frame has a format that the effect does not take.
  public static var unsupportedInput: Code { .unsupportedInput }
  /// There is not enough memory.
  public static var memoryAllocationFailure: Code { .memoryAllocationFailure }
  /// The effect does not have the revision that was asked for.
  public static var revisionNotSupported: Code { .revisionNotSupported }
  /// The frame could not be processed.
  public static var processingError: Code { .processingError }
  /// A parameter is not valid.
  public static var invalidParameterError: Code { .invalidParameterError }
  /// The time of a frame is not numeric, or not in order.
  public static var invalidFrameTiming: Code { .invalidFrameTiming }
  /// A model that the effect needs could not be fetched.
  public static var assetDownloadFailed: Code { .assetDownloadFailed }
}
