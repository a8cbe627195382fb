// SPDX-License-Identifier: Apache-2.0
/// Turns pictures into coded frames. Each session creates its own encoder and calls it from one
/// thread at a time.
///
/// Every picture has exactly one outcome: a frame, a frame without data, or an error. The encoder
/// passes outcomes to the output that it got in ``start(output:)``, in decode order and with the
/// picture's time stamp. It may do so on any thread, during a call or between two calls, so that
/// the frames of a device need not wait for the next call. An encoder that finishes its work within
/// its calls is simpler as a ``SynchronousVideoEncoder``.
public protocol VideoEncoder: AnyObject {
  /// Called once, before all other calls.
  /// - Parameter output: receives the outcome of each picture. It may be kept longer than the
  ///   encoder lives; outcomes that are sent after the session has released the encoder are
  ///   dropped.
  func start(output: any VideoEncoderOutput)

  /// Encodes one picture. Its outcome, and the outcomes of earlier pictures, may come during the
  /// call or later.
  ///
  /// The encoder must not read the picture's memory, or its surface, after the call has returned,
  /// since the client may then write into it. The session guarantees that time stamps increase, and
  /// that size and format are those of the configuration. An encoder whose queue is full blocks; an
  /// encoder with the feature ``EncoderFeature/frameDelayLimit`` blocks until it holds no more
  /// frames than ``VideoEncoderConfiguration/maxFrameDelay``.
  /// - Throws: ``CodecError``; the picture then has no other outcome. The encoder remains usable
  ///   unless the error is `malfunction`, or `badData`, which is treated alike: then the session
  ///   releases the encoder, and the frames that it held are lost.
  func encode(_ picture: InputPicture, request: FrameRequest) throws(CodecError)

  /// Returns when all pictures so far have their outcomes. If frames were held, the next picture is
  /// coded as a key frame.
  func flush() throws(CodecError)

  /// Returns when all pictures that are shown no later than a time have their outcomes. The next
  /// picture continues the stream. The session also calls it while no frame is held, so that an
  /// encoder learns that its client needs frames early.
  ///
  /// An encoder that cannot continue its stream after that outputs all frames, and codes the next
  /// picture as a key frame. The default implementation does this, by calling ``flush()``.
  /// - Parameter presentationTime: the time, in the configuration's time scale.
  func complete(through presentationTime: Int64) throws(CodecError)

  /// Applies a changed configuration from the next picture on.
  /// - Returns: `needsNewStream` if the change cannot be made in mid-stream. Nothing is changed
  ///   then, and the session continues with a new encoder.
  /// - Throws: ``CodecError`` for an invalid configuration; nothing is changed then.
  func reconfigure(_ configuration: VideoEncoderConfiguration) throws(CodecError) -> Reconfiguration

  /// The largest number of frames that precede a frame in decode order and follow it in
  /// presentation order; 0 if the order never changes. The session reads it once, when the stream
  /// begins. An encoder that continues a stream keeps to
  /// ``VideoEncoderConfiguration/maxReorderingDepth``.
  var reorderingDepth: Int { get }

  /// Whether another pass over the same frames would improve the result; nil if the encoder does
  /// not know. The session reads it after `flush`, at the end of a pass that may be the last
  /// (``EncodingPass/mayBeLast``).
  var wantsAnotherPass: Bool? { get }
}

extension VideoEncoder {
  public var wantsAnotherPass: Bool? { nil }

  public func complete(through presentationTime: Int64) throws(CodecError) { try flush() }
}

/// Receives the outcomes of the pictures that an encoder was given, in decode order.
///
/// Its methods may be called from any thread, but not by two threads at once where the order of
/// frames matters. They do not block: the session processes the outcomes on its own thread, and
/// calls its client there.
public protocol VideoEncoderOutput: AnyObject, Sendable {
  /// Passes on the frame of a picture. A frame without data says that rate control dropped the
  /// picture.
  ///
  /// A frame that is reordered by more than the encoder's ``VideoEncoder/reorderingDepth`` counts
  /// as a malfunction of the encoder. A frame whose time stamp does not belong to a picture without
  /// an outcome is ignored.
  func send(_ frame: consuming CompressedFrame)

  /// Reports that a picture has failed after ``VideoEncoder/encode(_:request:)`` has returned, and
  /// has no frame.
  /// - Parameters:
  ///   - presentationTime: the picture's time stamp.
  ///   - error: the reason. The encoder remains usable unless it is `malfunction`, or `badData`,
  ///     which is treated alike: then the session releases the encoder, and the frames that it held
  ///     are lost.
  func fail(pictureAt presentationTime: Int64, with error: CodecError)
}

/// The result of ``VideoEncoder/reconfigure(_:)``.
public enum Reconfiguration: Sendable {
  case applied
  /// Only a new stream can begin with the configuration.
  case needsNewStream
}
