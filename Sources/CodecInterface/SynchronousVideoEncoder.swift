// SPDX-License-Identifier: Apache-2.0
/// An encoder that hands its frames over during its calls alone, on the caller's thread: what most codecs that run on the
/// processor do. ``SynchronousEncoder`` makes a ``VideoEncoder`` of it.
///
/// Every picture has exactly one outcome, a frame or a frame without data, which is handed over with the picture's
/// time stamp, in decode order. What each call has to do is said with ``VideoEncoder``.
public protocol SynchronousVideoEncoder: AnyObject {
  /// Takes one picture, and hands over the frames that are ready: none, one or more.
  /// - Throws: ``CodecError``, as ``VideoEncoder/encode(_:request:)`` does.
  func encode(
    _ picture: InputPicture, request: FrameRequest, output: (consuming CompressedFrame) -> Void
  ) throws(CodecError)

  /// Hands over all frames that are held. A picture that comes afterwards starts with a key frame if frames were
  /// held.
  func flush(output: (consuming CompressedFrame) -> Void) throws(CodecError)

  /// Hands over the frames that are held and shown no later than a time, and goes on, as
  /// ``VideoEncoder/complete(through:)`` does. An encoder without a method of its own hands over all frames.
  /// - Parameters:
  ///   - presentationTime: in the configuration's time scale.
  ///   - output: gets each frame, in decode order.
  func complete(
    through presentationTime: Int64, output: (consuming CompressedFrame) -> Void
  ) throws(CodecError)

  /// As ``VideoEncoder/reconfigure(_:)``.
  func reconfigure(_ configuration: VideoEncoderConfiguration) throws(CodecError) -> Reconfiguration

  /// As ``VideoEncoder/reorderingDepth``.
  var reorderingDepth: Int { get }

  /// As ``VideoEncoder/wantsAnotherPass``.
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

/// A ``VideoEncoder`` over an encoder that hands its frames over during its calls. It allocates nothing for a frame.
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
