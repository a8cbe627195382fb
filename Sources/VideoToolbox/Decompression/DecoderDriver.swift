// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia

/// Runs a session's decoder, and chooses between frame threads and low delay.
///
/// A decoder with frame threads is fast, but returns frames late, and draining it loses the
/// reference pictures. Where a client waits for a frame nevertheless, the driver drains the
/// decoder, and continues with a new one, which first decodes the frames since the last closed key
/// frame again without output. Used on one thread at a time.
final class DecoderDriver {
  enum Mode {
    /// Each call of `decode` outputs its own frame; frames come in decode order.
    case immediate
    /// Frames come in decode order, with a delay of several frames.
    case pipelined
    /// Frames come in presentation order.
    case presentation
  }

  /// A compressed frame.
  struct Frame {
    var data: UnsafeRawBufferPointer
    /// A number of 0 or more that comes back with the frame's outcome.
    var token: Int64
    /// In microseconds; nil if unknown.
    var presentationTime: Int64?
    /// Whether the sample is a sync sample.
    var isSync: Bool
    /// Whether no frame that follows in decode order refers to a frame before this one.
    var isClosedKeyFrame: Bool
    /// The configuration record (avcC, hvcC, ...) from this frame on, where it differs from the
    /// previous one.
    var newRecord: [UInt8]?
    /// The palette of a palettised format; nil if the frame has none.
    var palette: [UInt8]?

    /// The number of bytes that storing the frame takes. The record is included, because it may be
    /// larger than the frame's data.
    fileprivate var keptBytes: Int {
      DecoderDriver.replayOverhead + data.count + (newRecord?.count ?? 0) + (palette?.count ?? 0)
    }
  }

  /// Settings of the decoder. A change takes effect with the next decoder that is created, at the
  /// latest for the next closed key frame.
  struct Setup: Equatable {
    /// The number of threads; 0 lets the decoder choose.
    var threads = 0
    /// Whether the decoder is to return each frame without delay, in any mode.
    var isLowDelay = false
  }

  /// A stored frame, to be decoded again.
  private struct ReplayFrame {
    var data: [UInt8]
    var isSync: Bool
    var newRecord: [UInt8]?
    var palette: [UInt8]?
  }

  var setup = Setup()
  var selection = FrameSelection.all { didSet { decoder?.selection = selection } }
  private(set) var mode: Mode
  private let makeDecoder: (VideoDecoderConfiguration) throws(CodecError) -> any VideoDecoder
  private var configuration: VideoDecoderConfiguration
  private var decoder: (any VideoDecoder)?
  private var decoderSetup = Setup()
  /// The frames since the last closed key frame, the number of bytes that they take, and the
  /// configuration record before the first of them.
  private var replayFrames: [ReplayFrame] = []
  private var replayBytes = 0
  private var replayRecord: [UInt8]
  /// Whether `replayFrames` has all frames since the last closed key frame.
  private var isReplayComplete = true
  /// Whether frames are stored, so that decoding can continue after the decoder was drained in the
  /// middle of the stream.
  private let isResumable: Bool
  /// Whether a frame was decoded since the start or the last reset.
  private var isUsed = false
  /// Whether the client has drained the decoder before, and so may do it again.
  private var hasPaused = false
  /// Whether the decoder was drained and has lost its reference pictures.
  private var isDrained = false
  /// Whether they could not be restored: until the next closed key frame, frames that have no
  /// picture are reported as missing references.
  private var lacksReferences = false
  /// The largest number of bytes that `replayFrames` may take.
  private let replayLimit: Int
  static let replayLimit = 64 << 20
  /// The number of bytes that a stored frame takes in addition to its data: the array element and
  /// the array headers.
  static let replayOverhead = 128

  init(
    _ configuration: VideoDecoderConfiguration, mode: Mode, setup: Setup = Setup(), isResumable: Bool = true,
    replayLimit: Int = DecoderDriver.replayLimit,
    makeDecoder: @escaping (VideoDecoderConfiguration) throws(CodecError) -> any VideoDecoder
  ) {
    self.configuration = configuration
    self.mode = mode
    self.setup = setup
    self.isResumable = isResumable
    self.replayLimit = replayLimit
    self.makeDecoder = makeDecoder
    replayRecord = configuration.configurationRecord
  }

  /// Creates the decoder, if there is none.
  func prepare() throws(CodecError) {
    if decoder == nil { decoder = try make() }
  }

  /// Decodes a frame.
  /// - Parameters:
  ///   - frame: The frame.
  ///   - requested: The mode to change to as soon as that is possible without losing frames.
  ///   - output: Called with each frame that is finished.
  /// - Throws: The error of creating a decoder.
  func decode(_ frame: Frame, requested: Mode, output: (DecodedFrame) -> Void) throws(CodecError) {
    // The stored frames would exceed their limit with this one, so that decoding could not continue
    // after a drain. For a client that drains the decoder, it returns frames without delay from
    // here on. (Other clients would only have to wait while the group of pictures is decoded
    // again.)
    let requested = requested == .pipelined && hasPaused && exceedsReplayLimit(frame) ? .immediate : requested
    if frame.isClosedKeyFrame || !isUsed, decoder != nil, requested != mode || setup != decoderSetup {
      flush(output)
      decoder = nil
    } else if requested == .immediate, mode != .immediate, decoder != nil {
      // The client waits for this frame, so that the frames before it have to come out now.
      drain(output: output)
    }
    if decoder == nil { mode = requested }
    if frame.isClosedKeyFrame {
      forget()
    } else if isDrained {
      if isReplayComplete {
        try startAgain(requested == .presentation ? .presentation : .immediate)
      } else {
        lacksReferences = isResumable
      }
    }
    isDrained = false
    try prepare()
    if let record = frame.newRecord { configuration.configurationRecord = record }
    remember(frame)
    isUsed = true
    decoder?.decode(
      CompressedPacket(
        data: frame.data, token: frame.token, presentationTime: frame.presentationTime,
        isKeyFrame: frame.isSync,
        newConfigurationRecord: frame.newRecord, palette: frame.palette)
    ) { forward($0, output) }
  }

  /// Outputs every frame that the decoder holds.
  func drain(output: (DecodedFrame) -> Void) {
    if isUsed { hasPaused = true }
    if !flush(output) { isDrained = true }
  }

  /// Outputs every frame that the decoder holds and releases the decoder, as if nothing had been
  /// decoded.
  func reset(output: (DecodedFrame) -> Void) {
    flush(output)
    decoder = nil
    isUsed = false
    isDrained = false
    forget()
  }

  /// Drains the decoder.
  /// - Returns: Whether the decoder still has its reference pictures.
  @discardableResult
  private func flush(_ output: (DecodedFrame) -> Void) -> Bool {
    decoder?.flush { forward($0, output) } ?? true
  }

  /// Passes a frame on. Frames that are decoded again have the token -1 and are not output a second
  /// time.
  private func forward(_ frame: DecodedFrame, _ output: (DecodedFrame) -> Void) {
    guard frame.token >= 0 else { return }
    var frame = frame
    if lacksReferences, selection == .all, case .dropped = frame.outcome {
      frame.outcome = .failed(.missingReferences)
    }
    output(frame)
  }

  // MARK: Decoders

  /// Creates a decoder with the current settings and mode.
  private func make() throws(CodecError) -> any VideoDecoder {
    var configuration = configuration
    configuration.threads = setup.threads
    configuration.isLowDelay = mode == .immediate || setup.isLowDelay
    configuration.order = mode == .presentation ? .presentation : .decoding
    configuration.selection = selection
    decoderSetup = setup
    return try makeDecoder(configuration)
  }

  /// Creates a new decoder and decodes the stored frames with it, which restores the reference
  /// pictures.
  private func startAgain(_ mode: Mode) throws(CodecError) {
    self.mode = mode
    let latest = configuration.configurationRecord
    configuration.configurationRecord = replayRecord
    let decoder = try make()
    for frame in replayFrames {
      frame.data.withUnsafeBytes { bytes in
        decoder.decode(
          CompressedPacket(
            data: bytes, token: -1, isKeyFrame: frame.isSync, newConfigurationRecord: frame.newRecord,
            palette: frame.palette)
        ) { _ in }
      }
    }
    configuration.configurationRecord = latest
    self.decoder = decoder
  }

  // MARK: The past

  /// Clears the stored frames, at a closed key frame or a reset.
  private func forget() {
    replayFrames = []
    replayBytes = 0
    replayRecord = configuration.configurationRecord
    isReplayComplete = true
    lacksReferences = false
  }

  /// Whether the stored frames would exceed their limit with this one.
  private func exceedsReplayLimit(_ frame: Frame) -> Bool {
    (frame.isClosedKeyFrame ? 0 : replayBytes) + frame.keptBytes > replayLimit
  }

  /// Gives up storing frames until the next closed key frame.
  private func discardReplayFrames() {
    replayFrames = []
    isReplayComplete = false
  }

  /// Stores a frame, if that is needed and the limit allows it.
  private func remember(_ frame: Frame) {
    // A decoder that returns each frame at once never has to be drained early.
    guard mode != .immediate, isReplayComplete, isResumable else {
      if !frame.isClosedKeyFrame { discardReplayFrames() }
      return
    }
    guard !exceedsReplayLimit(frame) else { return discardReplayFrames() }
    replayBytes += frame.keptBytes
    replayFrames.append(
      ReplayFrame(
        data: [UInt8](frame.data), isSync: frame.isSync, newRecord: frame.newRecord, palette: frame.palette))
  }
}
