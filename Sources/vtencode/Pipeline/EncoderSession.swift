// SPDX-License-Identifier: Apache-2.0
import Foundation
import VideoToolbox

/// The picture format and the codec that a compression session is created for.
struct EncoderRequest: Sendable {
  var codec = Codec.avc1
  var width: Int
  var height: Int
  /// The identifier of the only encoder to use; nil uses the usual one.
  var id: String?
  var isLowLatency = false
  /// The pixel format of the source pictures, if it is known.
  var pixelFormat: OSType?

  fileprivate var specification: CFDictionary? {
    var requested: [CFString: Any] = [:]
    if let id { requested[kVTVideoEncoderSpecification_EncoderID] = id }
    if isLowLatency { requested[kVTVideoEncoderSpecification_EnableLowLatencyRateControl] = true }
    return requested.isEmpty ? nil : requested as CFDictionary
  }

  /// The identifiers of the encoders of a codec, as a list in a sentence.
  private static func identifiers(of type: CMVideoCodecType) -> String {
    let all = ((try? ListedEncoder.all()) ?? []).filter { $0.codecType == type }.map(\.id)
    return all.isEmpty ? "none of this codec" : all.joined(separator: ", ")
  }

  /// The error for a session that could not be created, with advice.
  fileprivate func creationError(_ status: OSStatus) -> Failure {
    let what = "\(codec.name) at \(width)x\(height)"
    guard status == kVTCouldNotFindVideoEncoderErr else {
      return Failure(
        "the encoder does not take \(what) (error \(status)); try another size with --dimensions")
    }
    if let id {
      return Failure(
        isLowLatency
          ? "'\(id)' is not an encoder with a low-latency mode for \(what); omit --encoder, or see "
            + "vtencode encoders"
          : "there is no encoder '\(id)' for \(what); there are \(Self.identifiers(of: codec.type))")
    }
    let isBuiltIn = ((try? ListedEncoder.all()) ?? []).contains { $0.codecType == codec.type }
    return Failure(
      isBuiltIn
        ? "no encoder takes \(what)\(isLowLatency ? " in the low-latency mode" : ""); try another size with --dimensions"
        : "no \(codec.name) encoder is built in; build with --traits default,X264,X265 (make build does), "
          + "or see vtencode encoders")
  }
}

/// A compression session from its creation to its invalidation. Every subcommand that encodes uses
/// it, so that all report errors in the same words.
final class EncoderSession: Sendable {
  let session: VTCompressionSession
  /// The identifier of the encoder that the session uses.
  let id: String
  private let request: EncoderRequest

  init(_ request: EncoderRequest) throws {
    let attributes = request.pixelFormat.map { [kCVPixelBufferPixelFormatTypeKey: $0 as CFNumber] }
    var created: VTCompressionSession?
    let status = VTCompressionSessionCreate(
      allocator: kCFAllocatorDefault, width: Int32(clamping: request.width),
      height: Int32(clamping: request.height),
      codecType: request.codec.type, encoderSpecification: request.specification,
      imageBufferAttributes: attributes as CFDictionary?, compressedDataAllocator: nil, outputCallback: nil,
      refcon: nil, compressionSessionOut: &created)
    guard status == noErr, let created else { throw request.creationError(status) }
    session = created
    self.request = request
    var id: CFString?
    VTSessionCopyProperty(
      created, key: kVTCompressionPropertyKey_EncoderID, allocator: kCFAllocatorDefault, valueOut: &id)
    self.id = (id as String?) ?? "unknown"
  }

  deinit { VTCompressionSessionInvalidate(session) }

  // MARK: Settings

  /// Sets a property.
  /// - Parameters:
  ///   - key: the property.
  ///   - value: its value.
  ///   - what: the option that the value comes from, as the user knows it.
  /// - Throws: a `Failure` if the encoder does not support the property or rejects the value.
  func set(_ key: CFString, _ value: Any, for what: String) throws {
    let status = VTSessionSetProperty(session, key: key, value: value as CFTypeRef)
    switch status {
    case noErr: return
    case kVTPropertyNotSupportedErr:
      throw Failure("the encoder \(id) does not support \(what); omit it")
    default:
      throw Failure("the encoder \(id) does not take the value of \(what) (error \(status)); change it")
    }
  }

  /// Sets a property that the encoder may lack.
  /// - Returns: whether the encoder accepted it.
  @discardableResult
  func hint(_ key: CFString, _ value: Any) -> Bool {
    VTSessionSetProperty(session, key: key, value: value as CFTypeRef) == noErr
  }

  /// The value of a property; nil where there is none.
  func value(_ key: CFString) -> CFTypeRef? {
    var value: CFTypeRef?
    let status = VTSessionCopyProperty(session, key: key, allocator: kCFAllocatorDefault, valueOut: &value)
    return status == noErr ? value : nil
  }

  /// Whether the session has a property.
  func supports(_ key: CFString) -> Bool {
    var supported: CFDictionary?
    VTSessionCopySupportedPropertyDictionary(session, supportedPropertyDictionaryOut: &supported)
    return supported?[key] != nil
  }

  func prepare() throws {
    let status = VTCompressionSessionPrepareToEncodeFrames(session)
    guard status == noErr else {
      throw Failure(
        "the encoder \(id) cannot work with these settings on pictures of \(request.width)x\(request.height) (error \(status)); "
          + "try fewer options, or another size with --dimensions")
    }
  }

  // MARK: Frames

  /// Passes a frame to the session.
  /// - Parameters:
  ///   - picture: the frame.
  ///   - time: its presentation time.
  ///   - duration: its duration; invalid if it is not known.
  ///   - options: frame options, with keys `kVTEncodeFrameOptionKey_...`.
  ///   - output: is called on the session's thread with the sample, or with nil if the frame was
  ///     dropped.
  /// - Throws: a `Failure` if the session rejects the frame.
  func encode(
    _ picture: CVPixelBuffer, at time: CMTime, duration: CMTime, options: [CFString: Any],
    output: @escaping @Sendable (Result<CMSampleBuffer?, Failure>) -> Void
  ) throws {
    let status = VTCompressionSessionEncodeFrame(
      session, imageBuffer: picture, presentationTimeStamp: time, duration: duration,
      frameProperties: options.isEmpty ? nil : options as CFDictionary, infoFlagsOut: nil
    ) { status, flags, sample in
      if status != noErr {
        output(.failure(Self.failure("the encoder failed on the frame at", time, status)))
      } else {
        output(.success(flags.contains(.frameDropped) ? nil : sample))
      }
    }
    guard status == noErr else {
      throw Self.failure("the encoder did not take the frame at", time, status)
    }
  }

  private static func failure(_ what: String, _ time: CMTime, _ status: OSStatus) -> Failure {
    Failure("\(what) \(TextFormat.fixed(time.seconds, 3)) s (error \(status))")
  }

  /// Waits until the output of the frames has been delivered.
  /// - Parameter time: the presentation time of the last frame to wait for; invalid waits for all.
  func complete(through time: CMTime = .invalid) throws {
    let status = VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: time)
    guard status == noErr else { throw Failure("the encoder could not finish (error \(status))") }
  }
}

/// Whether the encoder that a session would choose encodes in several passes. For code that does
/// not create a session itself.
func encoderMakesPasses(_ codec: CMVideoCodecType, encoderID: String? = nil) -> Bool {
  encoderSupports(kVTCompressionPropertyKey_MultiPassStorage, codec, encoderID: encoderID)
}

/// Whether the encoder that a session would choose has a property. For code that does not create a
/// session itself.
func encoderSupports(_ key: CFString, _ codec: CMVideoCodecType, encoderID: String? = nil) -> Bool {
  let specification = encoderID.map { [kVTVideoEncoderSpecification_EncoderID: $0] as CFDictionary }
  var properties: CFDictionary?
  // An encoder has the same properties at all sizes that it takes.
  let status = VTCopySupportedPropertyDictionaryForEncoder(
    width: 640, height: 360, codecType: codec, encoderSpecification: specification, encoderIDOut: nil,
    supportedPropertiesOut: &properties)
  return status == noErr && properties?[key] != nil
}
