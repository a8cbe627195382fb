// SPDX-License-Identifier: Apache-2.0
@_exported import VideoEncoding

/// An H.265 encoder: planes in, NAL units out.
///
/// `HEVCEncoderConfiguration.latency` chooses between two modes: zero latency, in which each
/// picture yields its frame at once, for calls; and a look-ahead with B pictures, for streams and
/// files. Not safe to use from two threads at once; give it a queue or a lock of its own.
public final class HEVCEncoder {
  private let strategy: any EncodingStrategy
  private let lowLatency: LowLatencyEncoder?
  private let lookAhead: LookAheadEncoder?

  /// Creates an encoder.
  /// - Parameter configuration: what is coded, and how.
  /// - Throws: `HEVCEncoderError` with the value that is out of range.
  public convenience init(configuration: HEVCEncoderConfiguration) throws {
    switch configuration.latency {
    case .zero: try self.init(LowLatencyEncoder(configuration: configuration))
    case .lookAhead: try self.init(LookAheadEncoder(configuration: configuration))
    }
  }

  /// Creates an encoder for a later pass.
  /// - Parameters:
  ///   - configuration: what is coded, and how; with a look-ahead.
  ///   - pass: the statistics of an earlier pass over the same pictures (`statistics`).
  /// - Throws: `HEVCEncoderError` with the value that is out of range.
  public convenience init(configuration: HEVCEncoderConfiguration, pass: PassStatistics) throws {
    try self.init(Self.laterPass(configuration, pass))
  }

  /// Creates an encoder for a later pass.
  /// - Parameters:
  ///   - configuration: what is coded, and how; with a look-ahead.
  ///   - pass: the statistics of an earlier pass over the same pictures, in a file. If the file
  ///     becomes unreadable while the encoder runs, later pictures are encoded as if the pass had
  ///     ended there, and `StoredPass.hasFailed` is set.
  /// - Throws: `HEVCEncoderError` with the value that is out of range.
  public convenience init(configuration: HEVCEncoderConfiguration, pass: StoredPass) throws {
    try self.init(Self.laterPass(configuration, pass))
  }

  private static func laterPass(
    _ configuration: HEVCEncoderConfiguration, _ pass: any PassSource
  ) throws -> LookAheadEncoder {
    guard case .lookAhead = configuration.latency else {
      throw HEVCEncoderError.invalidConfiguration("Several passes take a look-ahead.")
    }
    return try LookAheadEncoder(configuration: configuration, pass: pass)
  }

  /// Wraps an encoder that a test has made.
  init(_ encoder: LowLatencyEncoder) {
    (strategy, lowLatency, lookAhead) = (encoder, encoder, nil)
  }

  private init(_ encoder: LookAheadEncoder) {
    (strategy, lowLatency, lookAhead) = (encoder, nil, encoder)
  }

  // MARK: - The stream

  /// The configuration, as `reconfigure` left it.
  public var configuration: HEVCEncoderConfiguration { strategy.configuration }

  /// The video, sequence and picture parameter sets, NAL unit headers included, without start
  /// codes.
  public var parameterSets: (video: [UInt8], sequence: [UInt8], pictures: [[UInt8]]) {
    strategy.parameterSets
  }

  /// The largest number of frames that precede a frame in decoding order and follow it in output
  /// order.
  public var reorderingDepth: Int { strategy.reorderingDepth }

  /// The number of pictures that wait.
  public var heldFrameCount: Int { strategy.heldFrameCount }

  /// Changes what may change in mid-stream: rates, limits, the frame rate, the QP range, key
  /// frames, the effort and measurement; with zero latency also frame dropping and the response to
  /// a new scene; with a look-ahead also the buffer. The next picture that is coded follows it.
  ///
  /// - Parameter new: the configuration from then on.
  /// - Throws: `HEVCEncoderError.invalidConfiguration` if a value is out of range, `.fixedInStream`
  ///   if anything else differs, `.levelExceeded` if the stream's level does not allow the rates;
  ///   nothing changes then.
  public func reconfigure(_ new: HEVCEncoderConfiguration) throws { try strategy.reconfigure(new) }

  /// Replaces the choice of the weights of reference pictures; for tests.
  /// - Parameter choice: gets the list and the index of a reference picture.
  func chooseWeights(_ choice: @escaping (_ list: Int, _ index: Int) -> ReferenceWeight) {
    lowLatency?.weights?.choice = choice
    lookAhead?.weights?.choice = choice
  }

  /// The number of pictures with other weights than the default; for tests.
  var weightedPictures: Int {
    lowLatency?.weights?.weightedPictures ?? lookAhead?.weights?.weightedPictures ?? 0
  }

  // MARK: - Encoding

  /// Codes a picture. Its memory is read until the call returns.
  ///
  /// - Parameters:
  ///   - source: the picture, of the configuration's size.
  ///   - options: what the caller wants of the frame. With a look-ahead only a key frame, a QP and
  ///     the time since the last picture are allowed.
  ///   - output: receives the frames that are ready, in decoding order: with zero latency the frame
  ///     of this picture; with a look-ahead none or one.
  /// - Throws: `HEVCEncoderError` if the picture or the options do not fit; the encoder stays as it
  ///   was.
  public func encode(
    _ source: HEVCSource, options: HEVCFrameOptions = HEVCFrameOptions(),
    output: (consuming HEVCEncodedFrame) -> Void
  ) throws {
    try strategy.encode(source, options: options, output: output)
  }

  /// Codes a picture with 8 bits per sample; the parameters and errors are those of
  /// `encode(_:options:output:)`.
  public func encode(
    _ source: SourcePicture, options: HEVCFrameOptions = HEVCFrameOptions(),
    output: (consuming HEVCEncodedFrame) -> Void
  ) throws {
    try encode(.eightBits(source), options: options, output: output)
  }

  /// Codes a picture with zero latency. Its memory is read until the call returns.
  ///
  /// - Parameters:
  ///   - source: the picture, of the configuration's size.
  ///   - options: what the caller wants of the frame.
  /// - Returns: the frame; `properties.isDropped` says that the rate control left it out.
  /// - Throws: `HEVCEncoderError` if the picture or the options do not fit, `.invalidOption` with a
  ///   look-ahead, which delays frames; the encoder stays as it was.
  public func encode(
    _ source: HEVCSource, options: HEVCFrameOptions = HEVCFrameOptions()
  ) throws -> HEVCEncodedFrame {
    guard let lowLatency else {
      throw HEVCEncoderError.invalidOption(
        "With a look-ahead, frames come out through encode(_:options:output:).")
    }
    return try lowLatency.encode(source, options: options)
  }

  /// Codes a picture with 8 bits per sample with zero latency; the parameters, result and errors
  /// are those of `encode(_:options:)`.
  public func encode(
    _ source: SourcePicture, options: HEVCFrameOptions = HEVCFrameOptions()
  ) throws -> HEVCEncodedFrame {
    try encode(.eightBits(source), options: options)
  }

  /// Codes all pictures that wait. The next picture continues the stream.
  /// - Parameter output: receives the frames, in decoding order.
  public func flush(output: (consuming HEVCEncodedFrame) -> Void) { strategy.flush(output: output) }

  /// Codes the waiting pictures up to a given one. The next picture continues the stream.
  /// - Parameters:
  ///   - index: the picture's number (`HEVCFrameProperties.index`).
  ///   - output: receives the frames, in decoding order.
  public func complete(through index: UInt64, output: (consuming HEVCEncodedFrame) -> Void) {
    strategy.complete(through: index, output: output)
  }

  /// Calls `body` with the planes of the last coded picture as a decoder shows it.
  /// - Parameter body: gets luma, Cb and Cr, the bytes from one row of luma to the next, and those
  ///   of Cb and Cr.
  /// - Returns: what `body` returns; nil if no picture was coded yet, or the stream has 10 bits per
  ///   sample.
  public func withReconstruction<R>(
    _ body: (
      _ luma: UnsafePointer<UInt8>, _ cb: UnsafePointer<UInt8>, _ cr: UnsafePointer<UInt8>,
      _ lumaBytesPerRow: Int, _ chromaBytesPerRow: Int
    ) throws -> R
  ) rethrows -> R? {
    guard let picture = strategy.lastPicture, case .eightBits(let coder) = strategy.coder else {
      return nil
    }
    return try coder.withPlanes(picture, body)
  }

  /// Calls `body` with the planes of the last coded picture as a decoder shows it, of a stream with
  /// 10 bits per sample.
  /// - Parameter body: gets luma, Cb and Cr, the samples from one row of luma to the next, and
  ///   those of Cb and Cr.
  /// - Returns: what `body` returns; nil if no picture was coded yet, or the stream has 8 bits per
  ///   sample.
  public func withTenBitReconstruction<R>(
    _ body: (
      _ luma: UnsafePointer<UInt16>, _ cb: UnsafePointer<UInt16>, _ cr: UnsafePointer<UInt16>,
      _ lumaSamplesPerRow: Int, _ chromaSamplesPerRow: Int
    ) throws -> R
  ) rethrows -> R? {
    guard let picture = strategy.lastPicture, case .tenBits(let coder) = strategy.coder else {
      return nil
    }
    return try coder.withPlanes(picture, body)
  }

  // MARK: - References, with zero latency

  /// Tells that the receiver lacks a frame: neither it nor what came after, which may depend on it,
  /// is referred to any more. It has no effect with a look-ahead.
  /// - Parameter index: the frame's number (`HEVCFrameProperties.index`).
  public func invalidateReferences(from index: UInt64) {
    lowLatency?.invalidateReferences(from: index)
  }

  /// Tells that a frame is the only one that the receiver is known to have: no other is referred to
  /// any more. It has no effect with a look-ahead.
  /// - Parameter index: the frame's number (`HEVCFrameProperties.index`).
  public func invalidateReferences(except index: UInt64) {
    lowLatency?.invalidateReferences(except: index)
  }

  /// Numbers of the frames that could be referred to now, the newest first; none with a look-ahead.
  public var availableReferences: [UInt64] { lowLatency?.availableReferences ?? [] }

  /// Whether there is any frame that could be referred to now.
  public var hasAvailableReference: Bool { lowLatency?.hasAvailableReference ?? false }

  /// Numbers of the frames that the last coded frame may refer to; none for a key frame, and with a
  /// look-ahead.
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
