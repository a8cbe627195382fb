// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The domain of all errors of this module.
public let AVFoundationErrorDomain: String = "AVFoundationErrorDomain"

public let AVErrorDeviceKey: String = "AVErrorDeviceKey"
/// A `CMTime` in an `NSValue`: when it happened.
public let AVErrorTimeKey: String = "AVErrorTimeKey"
/// Bytes, an `NSNumber`: the size limit that was reached.
public let AVErrorFileSizeKey: String = "AVErrorFileSizeKey"
public let AVErrorPIDKey: String = "AVErrorPIDKey"
public let AVErrorRecordingSuccessfullyFinishedKey: String = "AVErrorRecordingSuccessfullyFinishedKey"
/// An `AVMediaType`'s raw value.
public let AVErrorMediaTypeKey: String = "AVErrorMediaTypeKey"
/// An array of four-character codes, as `NSNumber`s.
public let AVErrorMediaSubTypeKey: String = "AVErrorMediaSubTypeKey"
/// A `CMTime` in an `NSValue`: the sample that was at fault.
public let AVErrorPresentationTimeStampKey: String = "AVErrorPresentationTimeStampKey"
/// An `NSNumber`: the track that was at fault.
public let AVErrorPersistentTrackIDKey: String = "AVErrorPersistentTrackIDKey"
/// An `AVFileType`'s raw value.
public let AVErrorFileTypeKey: String = "AVErrorFileTypeKey"

/// An error of this module. `localizedDescription` says what happened and why in one line;
/// `NSLocalizedRecoverySuggestionErrorKey` in its user info, where there is advice, what to do.
public struct AVError: _BridgedStoredNSError, Sendable {
  public let _nsError: NSError

  public init(_nsError error: NSError) { _nsError = error }

  public static var _nsErrorDomain: String { AVFoundationErrorDomain }
  public static var errorDomain: String { AVFoundationErrorDomain }
}

// With this `catch let error as NSError` and `error as? NSError` take an `AVError`, and `as? AVError` an `NSError` of
// the domain, as they do on Apple's systems.
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
  /// When it happened.
  public var time: CMTime? { (userInfo[AVErrorTimeKey] as? NSValue)?.timeValue }
  /// The limit that was reached, in bytes.
  public var fileSize: Int64? { (userInfo[AVErrorFileSizeKey] as? NSNumber)?.int64Value }
  public var mediaType: AVMediaType? { (userInfo[AVErrorMediaTypeKey] as? String).map { AVMediaType($0) } }
  /// Four-character codes.
  public var mediaSubtypes: [Int]? {
    (userInfo[AVErrorMediaSubTypeKey] as? [NSNumber])?.map(\.intValue)
  }
  /// The presentation time of the sample at fault.
  public var presentationTimeStamp: CMTime? {
    (userInfo[AVErrorPresentationTimeStampKey] as? NSValue)?.timeValue
  }
  public var persistentTrackID: CMPersistentTrackID? {
    (userInfo[AVErrorPersistentTrackIDKey] as? NSNumber)?.int32Value
  }
  public var fileType: AVFileType? { (userInfo[AVErrorFileTypeKey] as? String).map { AVFileType($0) } }

  /// The process that was at fault.
  public var processID: Int? { (userInfo[AVErrorPIDKey] as? NSNumber)?.intValue }
  /// Whether what was recorded is complete in spite of the error.
  public var recordingSuccessfullyFinished: Bool? {
    (userInfo[AVErrorRecordingSuccessfullyFinishedKey] as? NSNumber)?.boolValue
  }

  private var userInfo: [String: Any] { _nsError.userInfo }
}

extension AVError {
  /// An error with words of our own.
  /// - Parameters:
  ///   - reason: Why, one sentence.
  ///   - advice: What the program or the person can do.
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
