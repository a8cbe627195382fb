// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia

/// Runs a decoder for a session, and chooses how many frames it may work on at a time.
///
/// Threads that each decode a frame are fast, but hold frames back, and cannot be stopped half-way without losing
/// the reference pictures. Where a client waits for a frame all the same, the driver takes what is under way out of
/// the decoder, and goes on with a new one that decodes the frames since the last key frame again, unseen.
/// Used from one thread at a time.
final class DecoderDriver {
  enum Mode {
    /// Each frame comes out of its own call, in decode order.
    case immediate
    /// Frames come in decode order, late by some.
    case pipelined
    /// Frames come in order of presentation.
    case presentation
  }

  struct Frame {
    var data: UnsafeRawBufferPointer
    var token: Int64
    var presentationTime: Int64?
    var isSync: Bool
    var isClosedKeyFrame: Bool
    /// The configuration record that holds from this frame on, where it is another one than before.
    var newRecord: [UInt8]?
    var palette: [UInt8]?

    /// Bytes that it takes to remember it: a description may be larger than all data.
    fileprivate var keptBytes: Int {
      DecoderDriver.pastOverhead + data.count + (newRecord?.count ?? 0) + (palette?.count ?? 0)
    }
  }

  /// Takes effect with the next decoder, that is with the next closed key frame at the latest.
  struct Setup: Equatable {
    var threads = 0
    var isLowDelay = false
  }

  private struct PastFrame {
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
  /// The frames since the last closed key frame, and the record that held before them.
  private var past: [PastFrame] = []
  private var pastBytes = 0
  private var pastRecord: [UInt8]
  private var isPastWhole = true
  /// Whether frames are remembered, so that the stream can go on after a drain in its middle.
  private let isResumable: Bool
  /// The decoder has taken a frame.
  private var isUsed = false
  /// The client has emptied it amid a group of pictures, or at its end, and may do so again.
  private var hasPaused = false
  /// The decoder has lost its reference pictures.
  private var isDrained = false
  /// And they could not be had again: up to the next closed key frame not every frame has a picture.
  private var lacksReferences = false
  /// Bytes of the past that are kept at most.
  private let pastLimit: Int
  static let pastLimit = 64 << 20
  /// Bytes that a frame of the past takes beside what it holds: the entry, and heads of arrays.
  static let pastOverhead = 128

  init(
    _ configuration: VideoDecoderConfiguration, mode: Mode, setup: Setup = Setup(), isResumable: Bool = true,
    pastLimit: Int = DecoderDriver.pastLimit,
    makeDecoder: @escaping (VideoDecoderConfiguration) throws(CodecError) -> any VideoDecoder
  ) {
    self.configuration = configuration
    self.mode = mode
    self.setup = setup
    self.isResumable = isResumable
    self.pastLimit = pastLimit
    self.makeDecoder = makeDecoder
    pastRecord = configuration.configurationRecord
  }

  /// Makes the decoder, if there is none yet.
  func prepare() throws(CodecError) {
    if decoder == nil { decoder = try make() }
  }

  /// - Parameter wish: the mode in which to go on, as soon as that can be done without a loss.
  func decode(_ frame: Frame, wish: Mode, output: (DecodedFrame) -> Void) throws(CodecError) {
    // Behind this frame the decoder could not be emptied without a loss: for a client that empties it, it holds nothing back from
    // here on. (Others would only wait, while all of the group is decoded again.)
    let wish = wish == .pipelined && hasPaused && exceedsPast(frame) ? .immediate : wish
    if frame.isClosedKeyFrame || !isUsed, decoder != nil, wish != mode || setup != decoderSetup {
      flush(output)
      decoder = nil
    } else if wish == .immediate, mode != .immediate, decoder != nil {
      // The client waits for this frame.
      drain(output: output)
    }
    if decoder == nil { mode = wish }
    if frame.isClosedKeyFrame {
      forget()
    } else if isDrained {
      if isPastWhole {
        try startAgain(wish == .presentation ? .presentation : .immediate)
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
    ) { give($0, output) }
  }

  /// Gives out every frame that is under way.
  func drain(output: (DecodedFrame) -> Void) {
    if isUsed { hasPaused = true }
    if !flush(output) { isDrained = true }
  }

  /// Gives out what is under way and starts afresh, as if nothing had been decoded.
  func reset(output: (DecodedFrame) -> Void) {
    flush(output)
    decoder = nil
    isUsed = false
    isDrained = false
    forget()
  }

  /// Frames that were decoded again have a token of their own, and are not given out a second time.
  @discardableResult
  private func flush(_ output: (DecodedFrame) -> Void) -> Bool {
    decoder?.flush { give($0, output) } ?? true
  }

  private func give(_ frame: DecodedFrame, _ output: (DecodedFrame) -> Void) {
    guard frame.token >= 0 else { return }
    var frame = frame
    if lacksReferences, selection == .all, case .dropped = frame.outcome {
      frame.outcome = .failed(.missingReferences)
    }
    output(frame)
  }

  // MARK: Decoders

  private func make() throws(CodecError) -> any VideoDecoder {
    var configuration = configuration
    configuration.threads = setup.threads
    configuration.isLowDelay = mode == .immediate || setup.isLowDelay
    configuration.order = mode == .presentation ? .presentation : .decoding
    configuration.selection = selection
    decoderSetup = setup
    return try makeDecoder(configuration)
  }

  /// A new decoder that knows what the last one knew.
  private func startAgain(_ mode: Mode) throws(CodecError) {
    self.mode = mode
    let latest = configuration.configurationRecord
    configuration.configurationRecord = pastRecord
    let decoder = try make()
    for frame in past {
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

  private func forget() {
    past = []
    pastBytes = 0
    pastRecord = configuration.configurationRecord
    isPastWhole = true
    lacksReferences = false
  }

  private func exceedsPast(_ frame: Frame) -> Bool {
    (frame.isClosedKeyFrame ? 0 : pastBytes) + frame.keptBytes > pastLimit
  }

  private func loseThePast() {
    past = []
    isPastWhole = false
  }

  private func remember(_ frame: Frame) {
    // A decoder that holds nothing back never has to be emptied before its time.
    guard mode != .immediate, isPastWhole, isResumable else {
      if !frame.isClosedKeyFrame { loseThePast() }
      return
    }
    guard !exceedsPast(frame) else { return loseThePast() }
    pastBytes += frame.keptBytes
    past.append(
      PastFrame(
        data: [UInt8](frame.data), isSync: frame.isSync, newRecord: frame.newRecord, palette: frame.palette))
  }
}
