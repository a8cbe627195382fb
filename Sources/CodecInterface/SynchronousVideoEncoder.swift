// SPDX-License-Identifier: Apache-2.0
/// An encoder that outputs frames only during its calls, on the caller's thread, as most software
/// codecs do. ``SynchronousEncoder`` makes a ``VideoEncoder`` of it.
///
/// Every picture has exactly one outcome, a frame or a frame without data, which is output with the
/// picture's time stamp, in decode order. ``VideoEncoder`` describes what each call has to do.
public protocol SynchronousVideoEncoder: AnyObject {
  /// Encodes one picture, and outputs the frames that are ready: none, one or more.
  /// - Throws: ``CodecError``, as ``VideoEncoder/encode(_:request:)`` does.
  func encode(
    _ picture: InputPicture, request: FrameRequest, output: (consuming CompressedFrame) -> Void
  ) throws(CodecError)

  /// Outputs all frames that are held. If there were any, the next picture is coded as a key frame.
  func flush(output: (consuming CompressedFrame) -> Void) throws(CodecError)

  /// Outputs the held frames that are shown no later than a time, and continues the stream, as
  /// ``VideoEncoder/complete(through:)`` does. The default implementation outputs all frames.
  /// - Parameters:
  ///   - presentationTime: the time, in the configuration's time scale.
  ///   - output: receives each frame, in decode order.
  func complete(
    through presentationTime: Int64, output: (consuming CompressedFrame) -> Void
  ) throws(CodecError)

  /// Applies a changed configuration; see ``VideoEncoder/reconfigure(_:)``.
  func reconfigure(_ configuration: VideoEncoderConfiguration) throws(CodecError) -> Reconfiguration

  /// See ``VideoEncoder/reorderingDepth``.
  var reorderingDepth: Int { get }

  /// See ``VideoEncoder/wantsAnotherPass``.
  var wantsAnotherPass: Bool? { get }
}

extension SynchronousVideoEncoder {
  public var wantsAnotherPass: Bool? { nil }

  public func complete(
    through presentationTime: Int64, output: (consuming CompressedFrame) -> Void
  ) throws(CodecError) {
    try flush(output: output)
  }
}

/// A ``VideoEncoder`` that wraps a ``SynchronousVideoEncoder``. It allocates nothing for a frame.
public final class SynchronousEncoder: VideoEncoder {
  private let encoder: any SynchronousVideoEncoder
  private var output: (any VideoEncoderOutput)?

  public init(_ encoder: any SynchronousVideoEncoder) { self.encoder = encoder }

  public func start(output: any VideoEncoderOutput) { self.output = output }

  public func encode(_ picture: InputPicture, request: FrameRequest) throws(CodecError) {
    try encoder.encode(picture, request: request) { output?.send($0) }
  }

  public func flush() throws(CodecError) { try encoder.flush { output?.send($0) } }

  public func complete(through presentationTime: Int64) throws(CodecError) {
    try encoder.complete(through: presentationTime) { output?.send($0) }
  }

  public func reconfigure(_ configuration: VideoEncoderConfiguration) throws(CodecError) -> Reconfiguration {
    try encoder.reconfigure(configuration)
  }

  public var reorderingDepth: Int { encoder.reorderingDepth }
  public var wantsAnotherPass: Bool? { encoder.wantsAnotherPass }
}
