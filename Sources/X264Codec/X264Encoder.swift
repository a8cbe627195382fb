// SPDX-License-Identifier: Apache-2.0
#if X264
  import CodecInterface
  import CX264
  import Foundation

  /// An H.264 encoder that uses libx264.
  ///
  /// libx264 accepts no more pictures once its held frames were drained. After a client completes
  /// frames within a stream, a new libx264 stream therefore begins with a key frame. That one holds
  /// no frames, so that further completions cost nothing. A stream with look-ahead begins again at
  /// a key frame that is due anyway, if the client has not completed frames since the key frame
  /// before it.
  final class X264Encoder: SynchronousVideoEncoder {
    private var configuration: VideoEncoderConfiguration
    private var stream: X264Stream?
    private let padding: PicturePadding
    /// Whether the configuration changed in a way that takes a new libx264 stream.
    private var needsNewStream = false
    /// The presentation time of the last picture; nil before the first.
    private var lastInput: Int64?
    /// The duration of the last picture in units of the timescale.
    private var lastDuration: Int64
    /// The presentation time of the last key frame that was requested or due; nil in a new stream.
    private var lastKeyFrameInput: Int64?
    /// The number of frames since the last key frame, which is counted. Only valid in a stream that
    /// holds no frames.
    private var framesSinceKeyFrame = 0
    /// Whether the present stream, or else the next one, holds no frames.
    private var isImpatient = false
    /// Whether the client completed frames since the last key frame.
    private var wasCompleted = false

    /// Creates an encoder.
    /// - Throws: `CodecError` if libx264 does not support the configuration.
    init(_ configuration: VideoEncoderConfiguration) throws(CodecError) {
      self.configuration = configuration
      padding = PicturePadding(StreamShape.codedSize(configuration))
      lastDuration = Int64(clamping: Double(configuration.timescale) / (configuration.frameRate ?? 30))
      // Opened here, so that an unsupported configuration is an error of the initializer.
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
          // A key frame is coded anyway, so a stream with look-ahead may begin.
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
        framesSinceKeyFrame = coded.properties.isKeyFrame ? 1 : framesSinceKeyFrame + 1
        output(coded)
      }
    }

    func complete(
      through presentationTime: Int64, output: (consuming CompressedFrame) -> Void
    ) throws(CodecError) {
      wasCompleted = true
      guard let stream, stream.heldFrameCount > 0 else { return }
      try flush(output: output)
      // The statistics of a pass belong to a single stream.
      isImpatient = configuration.pass == nil
    }

    func flush(output: (consuming CompressedFrame) -> Void) throws(CodecError) {
      guard let stream, stream.heldFrameCount > 0 else { return }
      while stream.heldFrameCount > 0 {
        // libx264 may return nothing while its threads still work on frames.
        if let coded = try stream.drain() { output(coded) }
      }
      // libx264 accepts no more frames after it was drained.
      self.stream = nil
    }

    func reconfigure(_ new: VideoEncoderConfiguration) throws(CodecError) -> Reconfiguration {
      guard new != configuration else { return .applied }
      var same = new
      same.frameRate = configuration.frameRate
      same.rate = configuration.rate
      same.lowLatency = configuration.lowLatency
      // Everything else is fixed before the first frame in libx264.
      guard same == configuration else { return .needsNewStream }
      let old = configuration
      configuration = new
      guard let stream, !needsNewStream else { return .applied }
      if try !stream.follow(new, from: old) { needsNewStream = true }
      return .applied
    }

    // MARK: -

    /// Returns the open stream, or opens one.
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

    /// Whether a key frame is due by time. libx264 limits the interval in frames only. A stream
    /// that holds no frames also checks the interval in frames here.
    private func isKeyFrameDue(at time: Int64) -> Bool {
      if isImpatient, stream != nil {
        let interval = configuration.keyFrameInterval
        if framesSinceKeyFrame >= (interval > 0 ? interval : X264Parameters.defaultKeyFrameInterval) {
          return true
        }
      }
      guard configuration.maxKeyFrameIntervalDuration > 0, let last = lastKeyFrameInput else { return false }
      let seconds = Double(time - last) / Double(configuration.timescale)
      return seconds >= configuration.maxKeyFrameIntervalDuration - 0.0005
    }
  }
#endif
