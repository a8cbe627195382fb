#if X264
  import CodecInterface
  import CX264
  import Foundation

  /// One stream of H.264 through libx264.
  final class X264Encoder: VideoEncoder {
    private var configuration: EncoderConfiguration
    private var stream: X264Stream?
    /// A changed configuration that libx264 can take only from the start.
    private var needsNewStream = false
    private var lastInput: Int64?
    private var lastDuration: Int64
    private var lastKeyFrameInput: Int64?

    init(_ configuration: EncoderConfiguration) throws(CodecError) {
      self.configuration = configuration
      lastDuration = Int64(clamping: Double(configuration.timescale) / (configuration.frameRate ?? 30))
      // Opened at once, so that a configuration that cannot work is an error here.
      stream = try X264Stream(configuration)
      reorderingDepth = stream?.reorderingDepth ?? 0
    }

    var heldFrameCount: Int { stream?.heldFrameCount ?? 0 }
    let reorderingDepth: Int

    func encode(_ picture: SourcePicture, options: FrameOptions) throws(CodecError) -> [EncodedFrame] {
      guard picture.width == configuration.width, picture.height == configuration.height else {
        throw .invalidConfiguration("a picture of another size")
      }
      if !options.acknowledgedTokens.isEmpty || options.forcesLongTermRefresh {
        throw .unsupported("libx264 has no long-term references")
      }
      var frames: [EncodedFrame] = []
      if needsNewStream {
        frames = try flush()
        stream = nil
        needsNewStream = false
      }
      let stream = try openStream()
      if let lastInput {
        guard picture.presentationTime > lastInput else {
          throw .invalidConfiguration("time stamps do not increase")
        }
        lastDuration = picture.presentationTime - lastInput
      } else if picture.duration > 0 {
        lastDuration = picture.duration
      }
      var options = options
      if isKeyFrameDue(at: picture.presentationTime) { options.forcesKeyFrame = true }
      let coded = try stream.encode(picture, options: options, frameDuration: lastDuration)
      lastInput = picture.presentationTime
      if options.forcesKeyFrame || lastKeyFrameInput == nil { lastKeyFrameInput = picture.presentationTime }
      if let coded { frames.append(coded) }
      return frames
    }

    func flush() throws(CodecError) -> [EncodedFrame] {
      guard let stream, stream.heldFrameCount > 0 else { return [] }
      var frames: [EncodedFrame] = []
      while stream.heldFrameCount > 0 {
        // Nothing comes while frames are still on their way through the threads.
        if let coded = try stream.drain() { frames.append(coded) }
      }
      // libx264 takes no more frames once it was drained.
      self.stream = nil
      return frames
    }

    func reconfigure(_ new: EncoderConfiguration) throws(CodecError) {
      guard new != configuration else { return }
      var same = new
      same.frameRate = configuration.frameRate
      same.rate = configuration.rate
      same.lowLatency = configuration.lowLatency
      guard same == configuration else {
        throw .unsupported("libx264 takes this only before the first frame")
      }
      let old = configuration
      configuration = new
      guard let stream, !needsNewStream else { return }
      if try !stream.follow(new, from: old) { needsNewStream = true }
    }

    // MARK: -

    private func openStream() throws(CodecError) -> X264Stream {
      if let stream { return stream }
      let opened = try X264Stream(configuration)
      stream = opened
      lastKeyFrameInput = nil
      return opened
    }

    /// libx264 counts frames only, so the limit in seconds is kept here.
    private func isKeyFrameDue(at time: Int64) -> Bool {
      guard configuration.maxKeyFrameIntervalDuration > 0, let last = lastKeyFrameInput else { return false }
      let seconds = Double(time - last) / Double(configuration.timescale)
      return seconds >= configuration.maxKeyFrameIntervalDuration - 0.0005
    }
  }
#endif
