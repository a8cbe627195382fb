// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import VideoEncoding

extension VideoEncoderConfiguration {
  /// Whether a stream is coded with a look-ahead, which follows from its other settings: it may
  /// wait, or it wants what the low-latency mode has not.
  package var looksAhead: Bool {
    guard lowLatency == nil else { return false }
    // In this profile the encoder has zero latency alone, which suits streams that may wait too. A
    // rate or a buffer that takes a look-ahead is refused; a number of frames to look ahead is a
    // suggestion.
    let mayWait = profile != .h264High444Predictive && frameLimit(overhead: 1) != 0
    if pass != nil || mayWait || rate.writesBufferTiming { return true }
    if rate.hasFramesBefore || rate.hasFramesAfter { return true }
    switch rate.mode {
    case .constant, .variable: return true
    case .average, .quality:
      return (rate.maximumBitRate != nil || rate.bufferDuration != nil) && rate.bufferModel != nil
    }
  }

  /// Whether all frames are key frames.
  package var isIntraOnly: Bool { !allowsTemporalCompression || maxKeyFrameInterval == 1 }

  /// Whether both configurations ask for the same references, whatever the level of either has room
  /// for.
  package func asksForReferences(as other: VideoEncoderConfiguration) -> Bool {
    referenceFrameCount == other.referenceFrameCount
      && lowLatency?.enablesLongTermReferences == other.lowLatency?.enablesLongTermReferences
  }
}

/// The settings of a look-ahead that a session requests, for every codec.
package struct LookAheadRequest {
  /// The bit rate or quality to aim at.
  package var rate: LookAheadRate
  /// The decoder's buffer; nil: none.
  package var buffer: CodedPictureBuffer?
  /// Whether the limits of the bytes in windows of time are replaced by the buffer.
  package var replacesLimits = false
  /// The lowest QP.
  package var minimumQP: Int
  /// The frames of look-ahead.
  package var frames: Int
  /// The most B pictures in a row, and whether they may refer to one.
  package var maximumBidirectional: Int
  package var usesPyramid: Bool
  /// The most frames and the most seconds from one key frame to the next; nil: no limit.
  package var keyFrameInterval: Int?
  package var keyFrameDuration: Double?
  /// The duration of the stream in seconds, if known.
  package var expectedDuration: Double?
  /// The strength of adaptive quantisation.
  package var adaptiveQuantisation: Double
  /// The highest effort: that of a first pass, whose measurements are as good with a low one.
  package var maximumEffort: Int

  /// The frames of look-ahead of streams of key frames alone.
  private static let intraLookAhead = 8

  /// The strength of adaptive quantisation. With H.264 its SSIM is within 0.3 % of the best on the
  /// clips for tuning, and it loses less PSNR than the strength that reaches the best
  /// (docs/measurements/h264-encoder.md).
  private static let defaultAdaptiveQuantisation = 0.6

  /// The frames of look-ahead that take half a gibibyte: the copy of each picture, its luma at half
  /// size with padding, its tables, and with 10 bits a copy of two bytes for each sample.
  private static func affordable(width: Int, height: Int, isDeep: Bool) -> Int {
    max((512 << 20) / (width * height * (isDeep ? 5 : 2) + 65536), 4)
  }

  /// The frames of look-ahead by effort, 0 (fastest) to 9 (best).
  private static func frames(effort: Int) -> Int {
    [0, 10, 20, 20, 30, 40, 50, 60, 80, 100][min(max(effort, 0), 9)]
  }

  /// Reads the configuration of a session.
  /// - Throws: `CodecError` for settings that exclude each other.
  package init(_ c: VideoEncoderConfiguration) throws(CodecError) {
    if c.rate.maximumQueueDelay != nil, c.rate.hasFramesBefore || c.rate.hasFramesAfter {
      throw .unsupported("a transmission queue that continues in another stream")
    }
    let isIntraOnly = c.isIntraOnly
    keyFrameInterval = isIntraOnly ? 1 : c.maxKeyFrameInterval > 0 ? c.maxKeyFrameInterval : nil
    keyFrameDuration = c.maxKeyFrameIntervalDuration > 0 ? c.maxKeyFrameIntervalDuration : nil
    expectedDuration = c.expectedDuration.flatMap { $0 > 0 && $0.isFinite ? $0 : nil }
    adaptiveQuantisation = c.spatialAdaptiveQP == .off ? 0 : Self.defaultAdaptiveQuantisation

    frames = min(max(c.lookAheadFrames ?? Self.frames(effort: c.speed.resolvedEffort), 0), 250)
    let isDeep = [.p010VideoRange, .p010FullRange].contains(c.format)
    frames = min(frames, Self.affordable(width: c.width, height: c.height, isDeep: isDeep))
    // Rate control alone looks ahead where nothing is predicted.
    if isIntraOnly { frames = min(frames, Self.intraLookAhead) }
    if let limit = c.frameLimit(overhead: 1) { frames = min(frames, max(limit, 0)) }
    if case .constant = c.rate.mode, c.rate.writesBufferTiming, frames == 0 {
      // The bits that arrive until the next frame is removed from the buffer must be known.
      if let delay = c.maxFrameDelay, delay < 1 {
        throw .unsupported("a constant rate with buffer timing and no delay: allow one frame")
      }
      frames = 1
    }
    maximumBidirectional =
      c.allowsReordering && c.maxReorderingDepth != 0 && !isIntraOnly ? 3 : 0
    usesPyramid = (c.maxReorderingDepth ?? 2) > 1
    maximumEffort = c.pass.map { !$0.readsStatistics && !$0.mayBeLast } == true ? 2 : 9
    minimumQP = min(c.rate.minQP ?? 0, c.rate.maxQP ?? 51)

    if let model = c.rate.bufferModel {
      buffer = CodedPictureBuffer(
        maximumRate: Self.clamp(model.maximumRate), size: max(model.size, 1000),
        initialFullness: min(max(model.initialFullness, 0.01), 1))
    }
    buffer?.decidesLevel = c.rate.maximumBitRate != nil && c.rate.limits.isEmpty
    if c.rate.hasFramesBefore || c.rate.hasFramesAfter || c.rate.writesBufferTiming {
      // A bucket is signalled to a decoder, and streams that are joined share one: it keeps to the
      // limits.
      replacesLimits = true
    } else if !c.rate.limits.isEmpty {
      buffer = nil
    }
    // The same in all streams that are joined, whatever the average of each is.
    if c.rate.hasFramesBefore || c.rate.hasFramesAfter { buffer?.decidesLevel = true }
    if let delay = c.rate.maximumQueueDelay, let target = c.rate.targetRate {
      // A frame that waits so long behind those before it, on a line of the stream's rate.
      let line = Self.clamp(min(target, buffer?.maximumRate ?? target))
      let size = max(Int(clamping: Double(line) * delay), 1000)
      var queue = CodedPictureBuffer(maximumRate: line, size: min(size, buffer?.size ?? size))
      queue.initialFullness = buffer?.initialFullness ?? 1
      queue.decidesLevel = false
      buffer = queue
    }
    switch c.rate.mode {
    case .quality(let quality): rate = .quality(Double(RateRequest.qp(quality: quality)))
    case .average(let bits), .variable(let bits): rate = .average(Self.clamp(bits))
    case .constant(let bits):
      rate = .constant(Self.clamp(bits))
      buffer?.maximumRate = Self.clamp(bits)
    }
  }

  private static func clamp(_ bits: Int) -> Int { min(max(bits, 1000), 2_000_000_000) }
}
