// SPDX-License-Identifier: Apache-2.0
#if X265
  import CodecInterface
  import CX265

  /// An HEVC encoder that uses libx265. Where libx265 cannot change a value, a new libx265 stream
  /// continues the one before.
  final class X265Encoder: SynchronousVideoEncoder {
    private var configuration: VideoEncoderConfiguration
    private var stream: X265Stream?
    private let padding: PicturePadding
    /// Whether the next picture begins a new libx265 stream.
    private var needsNewStream = false
    /// Measures the real frame rate.
    private var pace: FramePace
    /// The presentation time of the last picture; nil before the first.
    private var lastInput: Int64?
    /// The presentation time of the last key frame that was requested or due; nil in a new stream.
    private var lastKeyFrameInput: Int64?
    /// Whether a picture was encoded.
    private var hasBegun = false
    /// The fullness of the decoder's buffer at the end of the last libx265 stream, 0 to 1; nil in
    /// the first.
    private var carried: Double?
    /// Whether there is neither look-ahead nor reordering, as in the low-latency encoder.
    private let holdsNothing: Bool

    /// Creates an encoder.
    /// - Parameters:
    ///   - asked: the configuration.
    ///   - holdsNothing: whether look-ahead and reordering are off whatever the configuration says.
    /// - Throws: `CodecError` if libx265 does not support the configuration.
    init(_ asked: VideoEncoderConfiguration, holdsNothing: Bool = false) throws(CodecError) {
      self.holdsNothing = holdsNothing
      let configuration = Self.own(asked, holdsNothing)
      self.configuration = configuration
      padding = PicturePadding(X265Parameters.codedSize(configuration))
      let opened = try X265Stream(configuration, frameRate: configuration.frameRate ?? 30)
      stream = opened
      reorderingDepth = opened.reorderingDepth
      pace = FramePace(timescale: configuration.timescale, assumed: configuration.frameRate ?? 30)
    }

    let reorderingDepth: Int

    /// Returns the configuration, without look-ahead and reordering if `holdsNothing`.
    private static func own(
      _ asked: VideoEncoderConfiguration, _ holdsNothing: Bool
    ) -> VideoEncoderConfiguration {
      guard holdsNothing else { return asked }
      var configuration = asked
      configuration.maxFrameDelay = 0
      configuration.allowsReordering = false
      return configuration
    }

    func encode(
      _ picture: InputPicture, request: FrameRequest, output: (consuming CompressedFrame) -> Void
    ) throws(CodecError) {
      let picture = try padding.pad(picture, of: configuration)
      if !request.acknowledgedTokens.isEmpty || request.forcesLongTermRefresh {
        throw .unsupported("libx265 has no long-term references")
      }
      let duration = lastInput.map { picture.presentationTime - $0 } ?? picture.duration
      // A pass is a single stream.
      if pace.add(duration: duration), configuration.rate.targetRate != nil, configuration.pass == nil {
        // libx265 assumes a constant frame rate that cannot change within a stream, so a new stream
        // continues with the real frame rate.
        needsNewStream = true
        pace.restart()
      }
      if needsNewStream {
        try flush(output: output)
        endStream()
        needsNewStream = false
      }
      let stream = try openStream()
      var request = request
      if isKeyFrameDue(at: picture.presentationTime) { request.forcesKeyFrame = true }
      lastInput = picture.presentationTime
      if request.forcesKeyFrame || lastKeyFrameInput == nil { lastKeyFrameInput = picture.presentationTime }
      hasBegun = true
      if let coded = try stream.encode(picture, request: request, frameDuration: pace.lastDuration) {
        output(coded)
      }
    }

    func complete(
      through presentationTime: Int64, output: (consuming CompressedFrame) -> Void
    ) throws(CodecError) {
      guard let stream else { return }
      try stream.complete(through: presentationTime) { output($0) }
    }

    func flush(output: (consuming CompressedFrame) -> Void) throws(CodecError) {
      guard let stream, stream.heldFrameCount > 0 else { return }
      while stream.heldFrameCount > 0 {
        guard let coded = try stream.drain() else { break }
        output(coded)
      }
      // libx265 accepts no more frames after it was drained.
      endStream()
    }

    func reconfigure(_ asked: VideoEncoderConfiguration) throws(CodecError) -> Reconfiguration {
      let new = Self.own(asked, holdsNothing)
      guard new != configuration else { return .applied }
      // The statistics of a pass belong to a single stream; a second stream would replace them.
      if new.pass != nil, new.pass == configuration.pass, hasBegun {
        throw .invalidConfiguration("this cannot change in the middle of a pass")
      }
      // libx265 changes nothing within a stream: it accepts a new rate, but keeps the old one. A
      // new stream continues with the fullness of the decoder's buffer and the real frame rate.
      // Before the first frame, and with pictures of another kind, there is nothing to continue.
      guard hasBegun, new.pass == configuration.pass, new.hasPictures(of: configuration) else {
        return .needsNewStream
      }
      if let rate = new.frameRate, rate != configuration.frameRate {
        pace = FramePace(timescale: new.timescale, assumed: rate)
      }
      configuration = new
      needsNewStream = true
      return .applied
    }

    // MARK: -

    /// Returns the open stream, or opens one.
    private func openStream() throws(CodecError) -> X265Stream {
      if let stream { return stream }
      var configuration = configuration
      // Decode times follow from the reordering depth of the first stream, so later ones keep
      // within it.
      configuration.maxReorderingDepth = min(configuration.maxReorderingDepth ?? .max, reorderingDepth)
      let opened = try X265Stream(configuration, frameRate: pace.assumed, carried: carried)
      stream = opened
      lastKeyFrameInput = nil
      return opened
    }

    /// Closes the stream, and keeps the fullness of the decoder's buffer.
    private func endStream() {
      if hasBegun, let stream { carried = stream.bufferFullness ?? CarriedBuffer.defaultFullness }
      stream = nil
    }

    /// Whether a key frame is due by time: libx265 limits the interval in frames only.
    private func isKeyFrameDue(at time: Int64) -> Bool {
      guard configuration.maxKeyFrameIntervalDuration > 0, let last = lastKeyFrameInput else { return false }
      let seconds = Double(time - last) / Double(configuration.timescale)
      return seconds >= configuration.maxKeyFrameIntervalDuration - 0.0005
    }
  }

  extension VideoEncoderConfiguration {
    /// Whether codec, size, pixel format and timescale are the same.
    fileprivate func hasPictures(of other: VideoEncoderConfiguration) -> Bool {
      codec == other.codec && width == other.width && height == other.height && format == other.format
        && timescale == other.timescale
    }
  }

  /// Measures the frame rate, and detects that it differs from the one that rate control assumes.
  struct FramePace {
    /// The units of time stamps per second.
    private let timescale: Double
    /// The frame rate that rate control assumes, in frames per second.
    private(set) var assumed: Double
    /// The last duration of a frame, in units of the timescale.
    private(set) var lastDuration: Int64
    /// The moving average of the duration of frames in seconds; nil before the first.
    private var smoothed: Double?
    /// The durations of the last four frames in seconds.
    private var latest: [Double] = []
    /// The seconds of frames since `assumed` was set.
    private var age = 0.0
    /// The seconds before a frame rate that is lower than assumed counts: it leaves bits unused,
    /// while a higher one spends too many and counts at once.
    private static let timeout = 2.0

    /// Creates a measurement.
    /// - Parameters:
    ///   - timescale: the units of time stamps per second.
    ///   - assumed: the frame rate that rate control assumes, in frames per second.
    init(timescale: Int32, assumed: Double) {
      self.timescale = Double(timescale)
      self.assumed = assumed
      lastDuration = Int64(clamping: Double(timescale) / assumed)
    }

    /// The mean duration of the last frames in seconds.
    private var recent: Double { latest.reduce(0, +) / Double(max(latest.count, 1)) }

    /// Records the duration of a frame, in units of the timescale.
    /// - Returns: whether the frame rate differs from the assumed one by more than a tenth.
    mutating func add(duration: Int64) -> Bool {
      guard duration > 0 else { return false }
      lastDuration = duration
      let seconds = min(Double(duration) / timescale, 1)
      let pace = (smoothed ?? seconds) * 0.85 + seconds * 0.15
      smoothed = pace
      latest.append(seconds)
      if latest.count > 4 { latest.removeFirst() }
      age += seconds
      guard latest.count == 4 else { return false }
      // All of them must be short, since `restart` assumes their mean.
      if pace * assumed < 0.9, (latest.max() ?? 0) * assumed < 0.9 { return true }
      return pace * assumed > 1.1 && recent * assumed > 1.1 && age >= Self.timeout
    }

    /// Assumes the mean of the last frames from now on; older ones do not count.
    mutating func restart() {
      let pace = recent
      if pace > 0 { assumed = 1 / pace }
      smoothed = pace
      latest = []
      age = 0
    }
  }
#endif
