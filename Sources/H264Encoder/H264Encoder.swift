// SPDX-License-Identifier: Apache-2.0
@_exported import VideoEncoding

/// An H.264 encoder, which turns planes of samples into NAL units.
///
/// `H264EncoderConfiguration.latency` chooses between two modes: zero latency, in which each
/// picture yields its frame at once, for calls; and a look-ahead with B pictures, for streams and
/// files.
///
/// It must not be used from two threads at once; callers use a queue or a lock.
public final class H264Encoder {
  private let strategy: any EncodingStrategy
  private let lowLatency: LowLatencyEncoder?
  private let lookAhead: LookAheadEncoder?

  /// - Parameter configuration: what is coded, and how.
  /// - Throws: `H264EncoderError` with the value that is out of range.
  public convenience init(configuration: H264EncoderConfiguration) throws {
    switch configuration.latency {
    case .zero: try self.init(LowLatencyEncoder(configuration: configuration))
    case .lookAhead: try self.init(LookAheadEncoder(configuration: configuration))
    }
  }

  /// - Parameters:
  ///   - configuration: what is coded, and how; with a look-ahead.
  ///   - pass: the statistics of an earlier pass over the same pictures (`statistics`).
  /// - Throws: `H264EncoderError` with the value that is out of range.
  public convenience init(configuration: H264EncoderConfiguration, pass: PassStatistics) throws {
    try Self.checkPasses(configuration)
    try self.init(LookAheadEncoder(configuration: configuration, pass: pass))
  }

  /// - Parameters:
  ///   - configuration: what is coded, and how; with a look-ahead.
  ///   - pass: the statistics of an earlier pass over the same pictures, in a file. If the file
  ///     becomes unreadable while the encoder runs, later pictures are encoded as if the pass had
  ///     ended there, and `StoredPass.hasFailed` is set.
  /// - Throws: `H264EncoderError` with the value that is out of range.
  public convenience init(configuration: H264EncoderConfiguration, pass: StoredPass) throws {
    try Self.checkPasses(configuration)
    try self.init(LookAheadEncoder(configuration: configuration, pass: pass))
  }

  private init(_ encoder: LowLatencyEncoder) {
    (strategy, lowLatency, lookAhead) = (encoder, encoder, nil)
  }

  private init(_ encoder: LookAheadEncoder) {
    (strategy, lowLatency, lookAhead) = (encoder, nil, encoder)
  }

  private static func checkPasses(_ configuration: H264EncoderConfiguration) throws {
    guard case .lookAhead = configuration.latency else {
      throw H264EncoderError.invalidConfiguration("Several passes take a look-ahead.")
    }
  }

  // MARK: - The stream

  /// The current configuration.
  public var configuration: H264EncoderConfiguration { strategy.configuration }

  /// The parameter sets with their NAL unit headers, without start codes. The slices of a picture
  /// refer to one of the picture parameter sets.
  public var parameterSets: (sequence: [UInt8], pictures: [[UInt8]]) { strategy.parameterSets }

  /// The largest number of frames that precede a frame in decoding order and follow it in output
  /// order.
  public var reorderingDepth: Int { strategy.reorderingDepth }

  /// The number of pictures that wait or are being coded.
  public var heldFrameCount: Int { strategy.heldFrameCount }

  /// Changes values that may change in mid-stream: rates, limits, the frame rate, the QP range, key
  /// frames, the effort and measurement; with zero latency also frame dropping and the response to
  /// a new scene; with a look-ahead also the buffer. The change applies from the next picture to be
  /// coded.
  ///
  /// - Parameter new: the new configuration.
  /// - Throws: `H264EncoderError.invalidConfiguration` if a value is out of range, `.fixedInStream`
  ///   if anything else differs, `.levelExceeded` if the stream's level does not allow the rates.
  ///   Nothing changes then.
  public func reconfigure(_ new: H264EncoderConfiguration) throws { try strategy.reconfigure(new) }

  // MARK: - Encoding

  /// Encodes a picture. Its memory is not read after the call has returned.
  ///
  /// - Parameters:
  ///   - source: the picture, of the configuration's size.
  ///   - options: the options of the frame. With a look-ahead only a key frame, a QP and the time
  ///     since the last picture are allowed.
  ///   - output: receives the frames that are ready, in decoding order: with zero latency the frame
  ///     of this picture; with a look-ahead none or one, and more if the look-ahead has become
  ///     shorter.
  /// - Throws: `H264EncoderError` if the picture or the options are invalid; the encoder is
  ///   unchanged.
  public func encode(
    _ source: SourcePicture, options: H264FrameOptions = H264FrameOptions(),
    output: (consuming H264EncodedFrame) -> Void
  ) throws {
    try strategy.encode(source, options: options, output: output)
  }

  /// Encodes a picture with zero latency. Its memory is not read after the call has returned.
  ///
  /// - Parameters:
  ///   - source: the picture, of the configuration's size.
  ///   - options: the options of the frame.
  /// - Returns: the frame; `properties.isDropped` says whether the rate control dropped it.
  /// - Throws: `H264EncoderError` if the picture or the options are invalid, `.invalidOption` with
  ///   a look-ahead, which delays frames; the encoder is unchanged.
  public func encode(
    _ source: SourcePicture, options: H264FrameOptions = H264FrameOptions()
  ) throws -> H264EncodedFrame {
    guard let lowLatency else {
      throw H264EncoderError.invalidOption(
        "With a look-ahead, frames come out through encode(_:options:output:).")
    }
    return try lowLatency.encode(source, options: options)
  }

  /// Encodes all pictures that wait. The next picture continues the stream.
  /// - Parameter output: receives the frames, in decoding order.
  public func flush(output: (consuming H264EncodedFrame) -> Void) { strategy.flush(output: output) }

  /// Encodes the waiting pictures up to a given one. The next picture continues the stream.
  /// - Parameters:
  ///   - index: the picture's number (`H264FrameProperties.index`).
  ///   - output: receives the frames, in decoding order.
  public func complete(through index: UInt64, output: (consuming H264EncodedFrame) -> Void) {
    strategy.complete(through: index, output: output)
  }

  /// Calls a closure with the reconstructed planes of the last coded picture, which are those that
  /// a decoder outputs.
  /// - Parameter body: receives luma and interleaved chroma (NV12), both with `bytesPerRow`.
  /// - Returns: what `body` returns; nil if no picture was coded yet, and at 4:4:4.
  public func withReconstruction<R>(
    _ body: (_ luma: UnsafePointer<UInt8>, _ chroma: UnsafePointer<UInt8>, _ bytesPerRow: Int) throws -> R
  ) rethrows -> R? {
    try strategy.withReconstruction(body)
  }

  /// Calls a closure with the reconstructed planes of the last coded picture of a 4:4:4 stream.
  /// - Parameter body: receives Y, Cb and Cr, all with `bytesPerRow`.
  /// - Returns: what `body` returns; nil if no picture was coded yet, and at 4:2:0.
  public func withReconstructedComponents<R>(
    _ body: (
      _ luma: UnsafePointer<UInt8>, _ cb: UnsafePointer<UInt8>, _ cr: UnsafePointer<UInt8>,
      _ bytesPerRow: Int
    ) throws -> R
  ) rethrows -> R? {
    try lowLatency?.withReconstructedComponents(body)
  }

  // MARK: - References, with zero latency

  /// Excludes a frame that the receiver lacks, and all later frames, which may depend on it, from
  /// the references of future frames. It has no effect with a look-ahead.
  /// - Parameter index: the frame's number (`H264FrameProperties.index`).
  public func invalidateReferences(from index: UInt64) { lowLatency?.invalidateReferences(from: index) }

  /// Excludes all frames but one, the only one that the receiver is known to have, from the
  /// references of future frames. It has no effect with a look-ahead.
  /// - Parameter index: the frame's number (`H264FrameProperties.index`).
  public func invalidateReferences(except index: UInt64) { lowLatency?.invalidateReferences(except: index) }

  /// The numbers of the frames that the next frame may refer to, the newest first; empty with a
  /// look-ahead.
  public var availableReferences: [UInt64] { lowLatency?.availableReferences ?? [] }

  /// Whether there is a frame that the next frame may refer to.
  public var hasAvailableReference: Bool { lowLatency?.hasAvailableReference ?? false }

  /// The numbers of the frames that the last coded frame may refer to; empty for a key frame, and
  /// with a look-ahead.
  public var lastReferences: [UInt64] { lowLatency?.lastReferences ?? [] }

  // MARK: - Passes and joined streams, with a look-ahead

  /// The statistics of this pass for the next one, if `keepsStatistics` is set: those of the
  /// pictures coded so far, without those that `takeStatistics` has returned. Empty with zero
  /// latency.
  public var statistics: PassStatistics {
    lookAhead?.statistics ?? PassStatistics(width: configuration.width, height: configuration.height)
  }

  /// Whether `statistics` are kept. Always false with zero latency.
  public var keepsStatistics: Bool {
    get { lookAhead?.keepsStatistics ?? false }
    set { lookAhead?.keepsStatistics = newValue }
  }

  /// Returns the statistics since the last call, and empties `statistics`.
  package func takeStatistics() -> PassStatistics { lookAhead?.takeStatistics() ?? statistics }

  /// Sets the time of the first picture, for streams that are joined at a constant rate; it has no
  /// effect on others. It must be called before the first picture.
  /// - Parameter seconds: the time in seconds since the beginning of the joined movie.
  public func begin(at seconds: Double) { lookAhead?.begin(at: seconds) }

  /// The bits that the decoder's buffer lacks, after the last picture, of the fullness that joined
  /// streams have agreed upon; 0 unless a picture could not be made small enough.
  public var bufferMiss: Double { lookAhead?.bufferMiss ?? 0 }
}
