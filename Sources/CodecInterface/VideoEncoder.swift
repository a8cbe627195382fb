// SPDX-License-Identifier: Apache-2.0
/// Turns pictures into coded frames. A session makes one for itself and calls it from one thread at a time.
///
/// Every picture has exactly one outcome, a frame or a frame without data, which is handed over with the picture's
/// time stamp, in decode order: during the calls below, on the caller's thread. There is no other way out: what a
/// device finishes between two calls waits for the next. Where that is too late, `encode` waits for the device.
public protocol VideoEncoder: AnyObject {
  /// Takes one picture, and hands over the frames that are ready: none, one or more.
  /// The encoder is done with the picture when the call returns, on a surface too: the client may then write into it.
  /// The session sees to it that time stamps increase, and that size and format are the configuration's.
  /// - Throws: ``CodecError``; this picture then has no outcome. The encoder remains usable unless the error is
  ///   `malfunction` (or `badData`, which is the same here): then the session gives it up with the frames that it held.
  func encode(
    _ picture: InputPicture, request: FrameRequest, output: (consuming CompressedFrame) -> Void
  ) throws(CodecError)

  /// Hands over all frames that are held. A picture that comes afterwards starts with a key frame if frames were
  /// held.
  func flush(output: (consuming CompressedFrame) -> Void) throws(CodecError)

  /// Hands over the frames that are held and shown no later than a time, and goes on: the next picture continues the
  /// stream. Called also while none is held, so that an encoder learns that its client does not like to wait.
  ///
  /// An encoder that cannot go on after it has given up what it held hands over all frames, and starts with a key
  /// frame: what it does if it has no method of its own.
  /// - Parameters:
  ///   - presentationTime: in the configuration's time scale.
  ///   - output: gets each frame, in decode order.
  func complete(
    through presentationTime: Int64, output: (consuming CompressedFrame) -> Void
  ) throws(CodecError)

  /// Applies a changed configuration from the next picture on.
  /// - Returns: `needsNewStream` if the change cannot be made in mid-stream. Nothing is changed then, and the session
  ///   goes on with a new encoder.
  /// - Throws: ``CodecError`` for a configuration that makes no sense; nothing is changed then.
  func reconfigure(_ configuration: VideoEncoderConfiguration) throws(CodecError) -> Reconfiguration

  /// Frames that can come out before one that is shown earlier: 0 if the order never changes. Asked for once, when the
  /// stream begins. An encoder that goes on with the stream keeps to ``VideoEncoderConfiguration/maxReorderingDepth``.
  var reorderingDepth: Int { get }

  /// Whether another pass over the same frames would bring a better result; nil if the encoder does not know. Asked for
  /// after `flush`, at the end of a pass that may be the last (``EncodingPass/mayBeLast``).
  var wantsAnotherPass: Bool? { get }
}

extension VideoEncoder {
  public var wantsAnotherPass: Bool? { nil }

  public func complete(
    through presentationTime: Int64, output: (consuming CompressedFrame) -> Void
  ) throws(CodecError) {
    try flush(output: output)
  }
}

/// What became of a changed configuration.
public enum Reconfiguration: Sendable {
  case applied
  /// Only the first frame of a stream can begin with it.
  case needsNewStream
}
