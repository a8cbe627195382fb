// SPDX-License-Identifier: Apache-2.0
@_exported import VideoEncoding

/// An H.264 encoder: planes in, NAL units out.
///
/// `H264EncoderConfiguration.latency` chooses between two modes: one frame in and one frame out, for calls, and a
/// look-ahead with B pictures, for streams and files.
///
/// Not safe to use from two threads at once; give it a queue or a lock of its own.
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
  ///   - pass: what an earlier pass over the same pictures has learned (`statistics`).
  /// - Throws: `H264EncoderError` with the value that is out of range.
  public convenience init(configuration: H264EncoderConfiguration, pass: PassStatistics) throws {
    try Self.checkPasses(configuration)
    try self.init(LookAheadEncoder(configuration: configuration, pass: pass))
  }

  /// - Parameters:
  ///   - configuration: what is coded, and how; with a look-ahead.
  ///   - pass: what an earlier pass over the same pictures has learned, in a file. If that cannot be read any more while
  ///     the encoder goes, what follows is encoded as if the pass had ended there, and `StoredPass.hasFailed` is set.
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

  /// The configuration, as `reconfigure` left it.
  public var configuration: H264EncoderConfiguration { strategy.configuration }

  /// The parameter sets, NAL unit headers included, without start codes. Pictures name one of several picture
  /// parameter sets.
  public var parameterSets: (sequence: [UInt8], pictures: [[UInt8]]) { strategy.parameterSets }

  /// Frames that can come out before one that is shown earlier.
  public var reorderingDepth: Int { strategy.reorderingDepth }

  /// Pictures that wait or are being coded.
  public var heldFrameCount: Int { strategy.heldFrameCount }

  /// Changes what may change in mid-stream: rates, limits, the frame rate, the QP range, key frames, the effort and
  /// measurement; with zero latency frame dropping and the response to a new scene, with a look-ahead the buffer. The next
  /// picture to be coded follows it.
  ///
  /// - Parameter new: the configuration from then on.
  /// - Throws: `H264EncoderError.invalidConfiguration` if a value is out of range, `.fixedInStream` if anything else
  ///   differs, `.levelExceeded` if the stream's level does not allow the rates; nothing changes then.
  public func reconfigure(_ new: H264EncoderConfiguration) throws { try strategy.reconfigure(new) }

  // MARK: - Encoding

  /// Takes a picture in. Its memory is read until the call returns.
  ///
  /// - Parameters:
  ///   - source: the picture, of the configuration's size.
  ///   - options: what the caller wants of the frame; with a look-ahead a key frame, a QP and the time since the last
  ///     picture, and nothing else.
  ///   - output: gets the frames that are ready, in decoding order: with zero latency this one, with a look-ahead none or
  ///     one, more where the look-ahead got shorter.
  /// - Throws: `H264EncoderError` if the picture or the options do not fit; the encoder stays as it was.
  public func encode(
    _ source: SourcePicture, options: H264FrameOptions = H264FrameOptions(),
    output: (consuming H264EncodedFrame) -> Void
  ) throws {
    try strategy.encode(source, options: options, output: output)
  }

  /// Codes a picture with zero latency. Its memory is read until the call returns.
  ///
  /// - Parameters:
  ///   - source: the picture, of the configuration's size.
  ///   - options: what the caller wants of the frame.
  /// - Returns: the frame; `properties.isDropped` says that the rate control left it out.
  /// - Throws: `H264EncoderError` if the picture or the options do not fit, `.invalidOption` with a look-ahead, where
  ///   a picture need not come out at once; the encoder stays as it was.
  public func encode(
    _ source: SourcePicture, options: H264FrameOptions = H264FrameOptions()
  ) throws -> H264EncodedFrame {
    guard let lowLatency else {
      throw H264EncoderError.invalidOption(
        "With a look-ahead, frames come out through encode(_:options:output:).")
    }
    return try lowLatency.encode(source, options: options)
  }

  /// Codes all pictures that wait. A picture that comes afterwards goes on with the stream.
  /// - Parameter output: gets the frames, in decoding order.
  public func flush(output: (consuming H264EncodedFrame) -> Void) { strategy.flush(output: output) }

  /// Codes the pictures that wait up to one, and goes on.
  /// - Parameters:
  ///   - index: the picture's number (`H264FrameProperties.index`).
  ///   - output: gets the frames, in decoding order.
  public func complete(through index: UInt64, output: (consuming H264EncodedFrame) -> Void) {
    strategy.complete(through: index, output: output)
  }

  /// Calls `body` with the planes of the last coded picture as a decoder shows it.
  /// - Parameter body: gets luma and NV12 chroma, both with `bytesPerRow`.
  /// - Returns: what `body` returns; nil if no picture was coded yet.
  public func withReconstruction<R>(
    _ body: (_ luma: UnsafePointer<UInt8>, _ chroma: UnsafePointer<UInt8>, _ bytesPerRow: Int) throws -> R
  ) rethrows -> R? {
    try strategy.withReconstruction(body)
  }

  // MARK: - References, with zero latency

  /// Tells that the receiver lacks a frame: neither it nor what came after, which may depend on it, is referred to any
  /// more. With a look-ahead nothing changes.
  /// - Parameter index: the frame's number (`H264FrameProperties.index`).
  public func invalidateReferences(from index: UInt64) { lowLatency?.invalidateReferences(from: index) }

  /// Tells that a frame is the only one that the receiver is known to have: no other is referred to any more. With a
  /// look-ahead nothing changes.
  /// - Parameter index: the frame's number (`H264FrameProperties.index`).
  public func invalidateReferences(except index: UInt64) { lowLatency?.invalidateReferences(except: index) }

  /// Numbers of the frames that could be referred to now, the newest first; none with a look-ahead.
  public var availableReferences: [UInt64] { lowLatency?.availableReferences ?? [] }

  /// Whether there is any frame that could be referred to now.
  public var hasAvailableReference: Bool { lowLatency?.hasAvailableReference ?? false }

  /// Numbers of the frames that the last coded frame may refer to; none for a key frame, and with a look-ahead.
  public var lastReferences: [UInt64] { lowLatency?.lastReferences ?? [] }

  // MARK: - Passes and joined streams, with a look-ahead

  /// What this pass learns for a next one, once `keepsStatistics` is set: of the pictures coded so far, but for those that
  /// were taken away. Nothing with zero latency.
  public var statistics: PassStatistics {
    lookAhead?.statistics ?? PassStatistics(width: configuration.width, height: configuration.height)
  }

  /// Whether `statistics` are kept; never with zero latency.
  public var keepsStatistics: Bool {
    get { lookAhead?.keepsStatistics ?? false }
    set { lookAhead?.keepsStatistics = newValue }
  }

  /// What was learned since the last call; `statistics` begin anew.
  package func takeStatistics() -> PassStatistics { lookAhead?.takeStatistics() ?? statistics }

  /// Says when the first picture is shown, where streams are joined at a constant rate; else it changes nothing. Before the
  /// first picture.
  /// - Parameter seconds: from the beginning of the movie whose streams are joined.
  public func begin(at seconds: Double) { lookAhead?.begin(at: seconds) }

  /// Bits by which the decoder's buffer misses what joined streams agree upon, after the last picture was coded: 0 unless a
  /// picture could not be made small enough.
  public var bufferMiss: Double { lookAhead?.bufferMiss ?? 0 }
}
