// SPDX-License-Identifier: Apache-2.0
/// Turns pictures into coded frames. A session makes one for itself and calls it from one thread at a time.
///
/// Every picture has exactly one outcome: a frame, a frame without data, or an error. Outcomes go to the output that
/// ``start(output:)`` hands over, in decode order and with the picture's time stamp, from any thread, during a call or
/// between two: what a device has finished need not wait for the next call. An encoder that finishes its work within
/// its calls is simpler as a ``SynchronousVideoEncoder``.
public protocol VideoEncoder: AnyObject {
  /// Called once, before all other calls.
  /// - Parameter output: takes what comes of each picture. It may be kept beyond the encoder's life; what is sent after
  ///   the session has let the encoder go is dropped.
  func start(output: any VideoEncoderOutput)

  /// Takes one picture. Its outcome, and those of pictures before it, may come during the call or later.
  ///
  /// The encoder is done with the picture when the call returns, on a surface too: the client may then write into it.
  /// The session sees to it that time stamps increase, and that size and format are the configuration's. An encoder that
  /// has as much to do as it can hold waits; one with the feature ``EncoderFeature/frameDelayLimit`` waits here until it
  /// holds no more frames than ``VideoEncoderConfiguration/maxFrameDelay``.
  /// - Throws: ``CodecError``; this picture then has no other outcome. The encoder remains usable unless the error is
  ///   `malfunction` (or `badData`, which is the same here): then the session gives it up with the frames that it held.
  func encode(_ picture: InputPicture, request: FrameRequest) throws(CodecError)

  /// Returns when all pictures that were taken have their outcomes. A picture that comes afterwards starts with a key
  /// frame if frames were held.
  func flush() throws(CodecError)

  /// Returns when all pictures that are shown no later than a time have their outcomes, and goes on: the next picture
  /// continues the stream. Called also while none is held, so that an encoder learns that its client does not like to
  /// wait.
  ///
  /// An encoder that cannot go on after it has given up what it held gives up all frames, and starts with a key
  /// frame: what it does if it has no method of its own.
  /// - Parameter presentationTime: in the configuration's time scale.
  func complete(through presentationTime: Int64) throws(CodecError)

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

  public func complete(through presentationTime: Int64) throws(CodecError) { try flush() }
}

/// Takes what comes of the pictures that an encoder was given, in decode order.
///
/// Its methods may be called from any thread, by one at a time where the order matters. They do not wait: the session
/// takes the outcomes up on its own thread, and calls its client there.
public protocol VideoEncoderOutput: AnyObject, Sendable {
  /// Hands over the frame of a picture, or, without data, that rate control dropped the picture.
  ///
  /// A frame that comes out of order, further than the encoder's ``VideoEncoder/reorderingDepth`` says, counts as
  /// a malfunction of the encoder. One with a time stamp that is none of a picture without an outcome is passed over.
  func send(_ frame: consuming CompressedFrame)

  /// Says that a picture has failed after ``VideoEncoder/encode(_:request:)`` has returned; it has no frame.
  /// - Parameters:
  ///   - presentationTime: the picture's time stamp.
  ///   - error: why. The encoder remains usable unless it is `malfunction` (or `badData`, which is the same here): then
  ///     the session gives it up with the frames that it held.
  func fail(pictureAt presentationTime: Int64, with error: CodecError)
}

/// What became of a changed configuration.
public enum Reconfiguration: Sendable {
  case applied
  /// Only the first frame of a stream can begin with it.
  case needsNewStream
}
