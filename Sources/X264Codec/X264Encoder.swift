// SPDX-License-Identifier: Apache-2.0
#if X264
  import CodecInterface
  import CX264
  import Foundation

  /// One stream of H.264 through libx264.
  ///
  /// libx264 takes no more pictures once it was told to give up those that it held. A client that completes frames in
  /// mid-stream gets them, and a key frame after them; from there on it gets each frame at once, which leaves nothing
  /// to complete, until a key frame is due in any case and it has not asked again since the last one.
  final class X264Encoder: SynchronousVideoEncoder {
    private var configuration: VideoEncoderConfiguration
    private var stream: X264Stream?
    private let padding: PicturePadding
    /// A changed configuration that libx264 can take only from the start.
    private var needsNewStream = false
    private var lastInput: Int64?
    private var lastDuration: Int64
    private var lastKeyFrameInput: Int64?
    /// Frames since the last key frame, counted in a stream that holds nothing.
    private var framesSinceKeyFrame = 0
    /// The next stream is one that holds nothing, or the present one is.
    private var isImpatient = false
    /// Frames were completed since the last key frame.
    private var wasCompleted = false

    init(_ configuration: VideoEncoderConfiguration) throws(CodecError) {
      self.configuration = configuration
      padding = PicturePadding(StreamShape.codedSize(configuration))
      lastDuration = Int64(clamping: Double(configuration.timescale) / (configuration.frameRate ?? 30))
      // Opened at once, so that a configuration that cannot work is an error here.
      stream = try X264Stream(configuration)
      reorderingDepth = stream?.reorderingDepth ?? 0
    }

    let reorderingDepth: Int

    func encode(
      _ picture: InputPicture, request: FrameRequest, output: (consuming CompressedFrame) -> Void
    ) throws(CodecError) {
      let picture = try padding.pad(picture, of: configuration)
      if !request.acknowledgedTokens.isEmpty || request.forcesLongTermRefresh {
        throw .unsupported("libx264 has no long-term references")
      }
      if needsNewStream {
        try flush(output: output)
        stream = nil
        needsNewStream = false
      }
      var request = request
      if isKeyFrameDue(at: picture.presentationTime) { request.forcesKeyFrame = true }
      if isImpatient, request.forcesKeyFrame {
        if stream == nil || !wasCompleted {
          // Where a key frame comes anyway, a stream that looks ahead may begin.
          isImpatient = false
          stream = nil
        }
        wasCompleted = false
      }
      let stream = try openStream()
      if let lastInput {
        lastDuration = picture.presentationTime - lastInput
      } else if picture.duration > 0 {
        lastDuration = picture.duration
      }
      let coded = try stream.encode(picture, request: request, frameDuration: lastDuration)
      lastInput = picture.presentationTime
      if request.forcesKeyFrame || lastKeyFrameInput == nil { lastKeyFrameInput = picture.presentationTime }
      if let coded {
        framesSinceKeyFrame = coded.facts.isKeyFrame ? 1 : framesSinceKeyFrame + 1
        output(coded)
      }
    }

    func complete(
      through presentationTime: Int64, output: (consuming CompressedFrame) -> Void
    ) throws(CodecError) {
      wasCompleted = true
      guard let stream, stream.heldFrameCount > 0 else { return }
      try flush(output: output)
      // The statistics of a pass are those of one stream.
      isImpatient = configuration.pass == nil
    }

    func flush(output: (consuming CompressedFrame) -> Void) throws(CodecError) {
      guard let stream, stream.heldFrameCount > 0 else { return }
      while stream.heldFrameCount > 0 {
        // Nothing comes while frames are still on their way through the threads.
        if let coded = try stream.drain() { output(coded) }
      }
      // libx264 takes no more frames once it was drained.
      self.stream = nil
    }

    func reconfigure(_ new: VideoEncoderConfiguration) throws(CodecError) -> Reconfiguration {
      guard new != configuration else { return .applied }
      var same = new
      same.frameRate = configuration.frameRate
      same.rate = configuration.rate
      same.lowLatency = configuration.lowLatency
      // The rest libx264 takes only before the first frame.
      guard same == configuration else { return .needsNewStream }
      let old = configuration
      configuration = new
      guard let stream, !needsNewStream else { return .applied }
      if try !stream.follow(new, from: old) { needsNewStream = true }
      return .applied
    }

    // MARK: -

    private func openStream() throws(CodecError) -> X264Stream {
      if let stream { return stream }
      var configuration = configuration
      if isImpatient { configuration.maxFrameDelay = 0 }
      let opened = try X264Stream(configuration)
      stream = opened
      lastKeyFrameInput = nil
      framesSinceKeyFrame = 0
      return opened
    }

    /// libx264 counts frames only, so the limit in seconds is kept here.
    private func isKeyFrameDue(at time: Int64) -> Bool {
      if isImpatient, stream != nil {
        let interval = configuration.keyFrameInterval
        if framesSinceKeyFrame >= (interval > 0 ? interval : X264Parameters.usualKeyFrameInterval) {
          return true
        }
      }
      guard configuration.maxKeyFrameIntervalDuration > 0, let last = lastKeyFrameInput else { return false }
      let seconds = Double(time - last) / Double(configuration.timescale)
      return seconds >= configuration.maxKeyFrameIntervalDuration - 0.0005
    }
  }
#endif
