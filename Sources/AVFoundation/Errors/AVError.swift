// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The domain of all errors of AVFoundation.
public let AVFoundationErrorDomain: String = "AVFoundationErrorDomain"

public let AVErrorDeviceKey: String = "AVErrorDeviceKey"
/// An `NSValue` with a `CMTime`: the time at which the error occurred.
public let AVErrorTimeKey: String = "AVErrorTimeKey"
/// An `NSNumber`: the file size limit that was reached, in bytes.
public let AVErrorFileSizeKey: String = "AVErrorFileSizeKey"
public let AVErrorPIDKey: String = "AVErrorPIDKey"
public let AVErrorRecordingSuccessfullyFinishedKey: String = "AVErrorRecordingSuccessfullyFinishedKey"
/// The raw value of an `AVMediaType`.
public let AVErrorMediaTypeKey: String = "AVErrorMediaTypeKey"
/// An array of `NSNumber` with four-character codes.
public let AVErrorMediaSubTypeKey: String = "AVErrorMediaSubTypeKey"
/// An `NSValue` with a `CMTime`: the presentation time of the sample that caused the error.
public let AVErrorPresentationTimeStampKey: String = "AVErrorPresentationTimeStampKey"
/// An `NSNumber`: the identifier of the track that caused the error.
public let AVErrorPersistentTrackIDKey: String = "AVErrorPersistentTrackIDKey"
/// The raw value of an `AVFileType`.
public let AVErrorFileTypeKey: String = "AVErrorFileTypeKey"

/// An error of AVFoundation. `localizedDescription` says in one line what happened and why.
/// `NSLocalizedRecoverySuggestionErrorKey` in the user info says, where there is advice, what to
/// do.
public struct AVError: _BridgedStoredNSError, Sendable {
  public let _nsError: NSError

  public init(_nsError error: NSError) { _nsError = error }

  public static var _nsErrorDomain: String { AVFoundationErrorDomain }
  public static var errorDomain: String { AVFoundationErrorDomain }
}

// With this conformance an `AVError` converts to `NSError` in `catch let error as NSError` and
// `error as? NSError`, and an `NSError` of the domain to `AVError` with `as?`, as on Apple's
// systems.
extension AVError: _ObjectiveCBridgeable {
  public func _bridgeToObjectiveC() -> NSError { _nsError }

  public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout AVError?) {
    result = AVError(_nsError: source)
  }

  public static func _conditionallyBridgeFromObjectiveC(_ source: NSError, result: inout AVError?) -> Bool {
    result = source.domain == AVFoundationErrorDomain ? AVError(_nsError: source) : nil
    return result != nil
  }

  public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> AVError {
    AVError(_nsError: source ?? NSError(domain: AVFoundationErrorDomain, code: AVError.unknown.rawValue))
  }
}

extension AVError {
  /// The time at which the error occurred.
  public var time: CMTime? { (userInfo[AVErrorTimeKey] as? NSValue)?.timeValue }
  /// The file size limit that was reached, in bytes.
  public var fileSize: Int64? { (userInfo[AVErrorFileSizeKey] as? NSNumber)?.int64Value }
  public var mediaType: AVMediaType? { (userInfo[AVErrorMediaTypeKey] as? String).map { AVMediaType($0) } }
  /// The media subtypes, as four-character codes.
  public var mediaSubtypes: [Int]? {
    (userInfo[AVErrorMediaSubTypeKey] as? [NSNumber])?.map(\.intValue)
  }
  /// The presentation time of the sample that caused the error.
  public var presentationTimeStamp: CMTime? {
    (userInfo[AVErrorPresentationTimeStampKey] as? NSValue)?.timeValue
  }
  public var persistentTrackID: CMPersistentTrackID? {
    (userInfo[AVErrorPersistentTrackIDKey] as? NSNumber)?.int32Value
  }
  public var fileType: AVFileType? { (userInfo[AVErrorFileTypeKey] as? String).map { AVFileType($0) } }

  /// The identifier of the process that caused the error.
  public var processID: Int? { (userInfo[AVErrorPIDKey] as? NSNumber)?.intValue }
  /// Whether the recording is complete in spite of the error.
  public var recordingSuccessfullyFinished: Bool? {
    (userInfo[AVErrorRecordingSuccessfullyFinishedKey] as? NSNumber)?.boolValue
  }

  private var userInfo: [String: Any] { _nsError.userInfo }
}

extension AVError {
  /// Creates an error with a description.
  /// - Parameters:
  ///   - code: The code, whose summary begins the description.
  ///   - reason: The cause of the error, as one sentence.
  ///   - advice: What the program or its user can do.
  ///   - underlying: The error that caused this one.
  ///   - info: Further values of the user info.
  init(
    _ code: Code, reason: String, advice: String? = nil, underlying: Error? = nil, info: [String: Any] = [:]
  ) {
    var info = info
    info[NSLocalizedDescriptionKey] = "\(code.summary.dropLast()): \(reason)"
    info[NSLocalizedFailureReasonErrorKey] = reason
    if let advice { info[NSLocalizedRecoverySuggestionErrorKey] = advice }
    if let underlying { info[NSUnderlyingErrorKey] = underlying as NSError }
    self.init(code, userInfo: info)
  }
}
