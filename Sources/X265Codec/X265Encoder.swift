// SPDX-License-Identifier: Apache-2.0
#if X265
  import CodecInterface
  import CX265

  /// One stream of HEVC through libx265.
  final class X265Encoder: VideoEncoder {
    private var configuration: VideoEncoderConfiguration
    private var stream: X265Stream?
    private var needsNewStream = false
    private var pace: FramePace
    private var lastInput: Int64?
    private var lastKeyFrameInput: Int64?

    init(_ configuration: VideoEncoderConfiguration) throws(CodecError) {
      self.configuration = configuration
      let opened = try X265Stream(configuration, frameRate: configuration.frameRate ?? 30)
      stream = opened
      reorderingDepth = opened.reorderingDepth
      pace = FramePace(timescale: configuration.timescale, assumed: configuration.frameRate ?? 30)
    }

    let reorderingDepth: Int

    func encode(
      _ picture: InputPicture, request: FrameRequest, output: (consuming CompressedFrame) -> Void
    ) throws(CodecError) {
      guard picture.width == configuration.width, picture.height == configuration.height else {
        throw .invalidConfiguration("a picture of another size")
      }
      if !request.acknowledgedTokens.isEmpty || request.forcesLongTermRefresh {
        throw .unsupported("libx265 has no long-term references")
      }
      let duration = lastInput.map { picture.presentationTime - $0 } ?? picture.duration
      if pace.note(duration: duration), configuration.rate.targetRate != nil {
        // libx265 reckons with a steady frame rate, and takes no new one in mid-stream: a new stream goes on with the
        // rate at which frames really come.
        needsNewStream = true
        pace.restart()
      }
      if needsNewStream {
        try flush(output: output)
        stream = nil
        needsNewStream = false
      }
      let stream = try openStream()
      var request = request
      if isKeyFrameDue(at: picture.presentationTime) { request.forcesKeyFrame = true }
      lastInput = picture.presentationTime
      if request.forcesKeyFrame || lastKeyFrameInput == nil { lastKeyFrameInput = picture.presentationTime }
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
      self.stream = nil
    }

    func reconfigure(_ new: VideoEncoderConfiguration) throws(CodecError) -> Reconfiguration {
      guard new != configuration else { return .applied }
      var same = new
      same.frameRate = configuration.frameRate
      same.rate = configuration.rate
      same.lowLatency = configuration.lowLatency
      // The rest libx265 takes only before the first frame.
      guard same == configuration else { return .needsNewStream }
      if let rate = new.frameRate, rate != configuration.frameRate {
        pace = FramePace(timescale: new.timescale, assumed: rate)
      }
      configuration = new
      // libx265 says that it takes a new rate, and goes on with the old one.
      needsNewStream = true
      return .applied
    }

    // MARK: -

    private func openStream() throws(CodecError) -> X265Stream {
      if let stream { return stream }
      let opened = try X265Stream(configuration, frameRate: pace.assumed)
      stream = opened
      lastKeyFrameInput = nil
      return opened
    }

    /// libx265 counts frames only, so the limit in seconds is kept here.
    private func isKeyFrameDue(at time: Int64) -> Bool {
      guard configuration.maxKeyFrameIntervalDuration > 0, let last = lastKeyFrameInput else { return false }
      let seconds = Double(time - last) / Double(configuration.timescale)
      return seconds >= configuration.maxKeyFrameIntervalDuration - 0.0005
    }
  }

  /// Watches the pace at which frames really come.
  struct FramePace {
    private let timescale: Double
    /// Frames a second that rate control reckons with.
    private(set) var assumed: Double
    private(set) var lastDuration: Int64
    private var smoothed: Double?
    private var count = 0

    init(timescale: Int32, assumed: Double) {
      self.timescale = Double(timescale)
      self.assumed = assumed
      lastDuration = Int64(clamping: Double(timescale) / assumed)
    }

    /// - Returns: true if the pace has left what rate control reckons with.
    mutating func note(duration: Int64) -> Bool {
      guard duration > 0 else { return false }
      lastDuration = duration
      let seconds = min(Double(duration) / timescale, 1)
      let pace = (smoothed ?? seconds) * 0.85 + seconds * 0.15
      smoothed = pace
      count += 1
      return count >= 4 && abs(pace * assumed - 1) > 0.1
    }

    /// A new stream starts at the present pace.
    mutating func restart() {
      if let smoothed, smoothed > 0 { assumed = 1 / smoothed }
      count = 0
    }
  }
#endif
