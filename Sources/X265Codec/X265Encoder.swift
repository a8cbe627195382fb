// SPDX-License-Identifier: Apache-2.0
#if X265
  import CodecInterface
  import CX265

  /// One stream of HEVC through libx265.
  final class X265Encoder: SynchronousVideoEncoder {
    private var configuration: VideoEncoderConfiguration
    private var stream: X265Stream?
    private let padding: PicturePadding
    private var needsNewStream = false
    private var pace: FramePace
    private var lastInput: Int64?
    private var lastKeyFrameInput: Int64?
    private var hasBegun = false
    /// How full the decoder's buffer was, 0 to 1, when the last stream ended.
    private var carried: Double?
    /// For the low-latency mode.
    private let holdsNothing: Bool

    /// - Parameter holdsNothing: No look-ahead and no reordering, whatever the configuration says.
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
      // A pass is of one stream.
      if pace.note(duration: duration), configuration.rate.targetRate != nil, configuration.pass == nil {
        // libx265 reckons with a steady frame rate, and takes no new one in mid-stream: a new stream goes on with the
        // rate at which frames really come.
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
      // libx265 takes no more frames once it was drained.
      endStream()
    }

    func reconfigure(_ asked: VideoEncoderConfiguration) throws(CodecError) -> Reconfiguration {
      let new = Self.own(asked, holdsNothing)
      guard new != configuration else { return .applied }
      // What a pass has learnt is of one stream: another one in the middle of it would be all that is left.
      if new.pass != nil, new.pass == configuration.pass, hasBegun {
        throw .invalidConfiguration("this cannot change in the middle of a pass")
      }
      // libx265 takes nothing of it in mid-stream (a new rate it says that it takes, and goes on with the old one): a new
      // stream goes on with what this one leaves in the decoder's buffer, at the pace at which frames come. Before the first
      // frame, and with other pictures, there is nothing to go on with.
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

    private func openStream() throws(CodecError) -> X265Stream {
      if let stream { return stream }
      var configuration = configuration
      // Decode times are those of the first one.
      configuration.maxReorderingDepth = min(configuration.maxReorderingDepth ?? .max, reorderingDepth)
      let opened = try X265Stream(configuration, frameRate: pace.assumed, carried: carried)
      stream = opened
      lastKeyFrameInput = nil
      return opened
    }

    private func endStream() {
      if hasBegun, let stream { carried = stream.bufferShare ?? CarriedBuffer.usualShare }
      stream = nil
    }

    /// libx265 counts frames only, so the limit in seconds is kept here.
    private func isKeyFrameDue(at time: Int64) -> Bool {
      guard configuration.maxKeyFrameIntervalDuration > 0, let last = lastKeyFrameInput else { return false }
      let seconds = Double(time - last) / Double(configuration.timescale)
      return seconds >= configuration.maxKeyFrameIntervalDuration - 0.0005
    }
  }

  extension VideoEncoderConfiguration {
    /// What is encoded is of the same kind.
    fileprivate func hasPictures(of other: VideoEncoderConfiguration) -> Bool {
      codec == other.codec && width == other.width && height == other.height && format == other.format
        && timescale == other.timescale
    }
  }

  /// Watches the pace at which frames really come.
  struct FramePace {
    private let timescale: Double
    /// Frames a second that rate control reckons with.
    private(set) var assumed: Double
    private(set) var lastDuration: Int64
    private var smoothed: Double?
    /// Seconds of the last four frames.
    private var latest: [Double] = []
    /// Seconds since the pace was assumed.
    private var age = 0.0
    /// A pace that is slower than assumed leaves bits unused, and may wait so many seconds; one that is faster spends too many.
    private static let patience = 2.0

    init(timescale: Int32, assumed: Double) {
      self.timescale = Double(timescale)
      self.assumed = assumed
      lastDuration = Int64(clamping: Double(timescale) / assumed)
    }

    private var recent: Double { latest.reduce(0, +) / Double(max(latest.count, 1)) }

    /// - Returns: true if the pace has left what rate control reckons with.
    mutating func note(duration: Int64) -> Bool {
      guard duration > 0 else { return false }
      lastDuration = duration
      let seconds = min(Double(duration) / timescale, 1)
      let pace = (smoothed ?? seconds) * 0.85 + seconds * 0.15
      smoothed = pace
      latest.append(seconds)
      if latest.count > 4 { latest.removeFirst() }
      age += seconds
      guard latest.count == 4 else { return false }
      // All of them: what is assumed next is their mean.
      if pace * assumed < 0.9, (latest.max() ?? 0) * assumed < 0.9 { return true }
      return pace * assumed > 1.1 && recent * assumed > 1.1 && age >= Self.patience
    }

    /// A new stream starts at the present pace: of the last frames alone, as what was before them is over.
    mutating func restart() {
      let pace = recent
      if pace > 0 { assumed = 1 / pace }
      smoothed = pace
      latest = []
      age = 0
    }
  }
#endif
