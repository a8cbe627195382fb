// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import EncoderAdapter
import Foundation
import H264Encoder

extension H264Codec {
  /// Whether a stream is coded with a look-ahead, which follows from its other settings: it may
  /// wait, or it wants what the low-latency mode has not.
  static func looksAhead(_ c: VideoEncoderConfiguration) -> Bool {
    guard c.lowLatency == nil else { return false }
    if c.pass != nil || c.frameLimit(overhead: 1) != 0 || c.rate.writesBufferTiming { return true }
    if c.rate.hasFramesBefore || c.rate.hasFramesAfter { return true }
    if c.hdr.masteringDisplay != nil || c.hdr.contentLightLevel != nil { return true }
    switch c.rate.mode {
    case .constant, .variable: return true
    case .average, .quality:
      return (c.rate.maximumBitRate != nil || c.rate.bufferDuration != nil) && c.rate.bufferModel != nil
    }
  }
}

extension VideoEncoderConfiguration {
  /// Whether all frames are key frames.
  var isIntraOnly: Bool { !allowsTemporalCompression || maxKeyFrameInterval == 1 }
}

extension H264EncoderConfiguration {
  /// Makes the encoder's configuration for a session with a look-ahead.
  init(lookingAhead c: VideoEncoderConfiguration) throws(CodecError) {
    try self.init(c)
    if c.rate.maximumQueueDelay != nil, c.rate.hasFramesBefore || c.rate.hasFramesAfter {
      throw .unsupported("a queue before a line that goes on in another stream")
    }
    if c.threads <= 0, c.speed.isRealTime != true {
      threads = Self.usefulThreads(width: c.width, height: c.height, maximum: 16)
    }
    keyFrameInterval = c.maxKeyFrameInterval > 0 ? c.maxKeyFrameInterval : nil
    let isIntraOnly = c.isIntraOnly
    if isIntraOnly { keyFrameInterval = 1 }
    if c.pass != nil { encodeTimeShare = nil }
    var options = LookAhead()
    setRate(c, &options)
    options.keyFrameDuration = c.maxKeyFrameIntervalDuration > 0 ? c.maxKeyFrameIntervalDuration : nil
    options.expectedDuration = c.expectedDuration.flatMap { $0 > 0 && $0.isFinite ? $0 : nil }
    options.adaptiveQuantisation = c.spatialAdaptiveQP == .off ? 0 : Self.usualAdaptiveQuantisation
    options.masteringDisplay = c.hdr.masteringDisplay.flatMap { $0.count == 24 ? $0 : nil }
    options.contentLightLevel = c.hdr.contentLightLevel.flatMap { $0.count == 4 ? $0 : nil }

    options.frames = min(max(c.lookAheadFrames ?? Self.frames(effort: c.speed.resolvedEffort), 0), 250)
    options.frames = min(options.frames, Self.affordable(width: c.width, height: c.height))
    // Rate control alone looks ahead where nothing is predicted.
    if isIntraOnly { options.frames = min(options.frames, Self.intraLookAhead) }
    options.maximumBidirectional =
      c.allowsReordering && c.maxReorderingDepth != 0 && !isIntraOnly ? 3 : 0
    options.usesOpenGOP = c.allowsOpenGOP
    options.usesOnePictureSet = !c.allowsSeveralPictureSets
    options.usesPyramid = (c.maxReorderingDepth ?? 2) > 1
    if isIntraOnly {
      maximumReferences = 1
    } else if c.referenceFrameCount == 0 {
      var single = self
      single.maximumReferences = 1
      let maximum = max(Self.usualReferences, Self.referencesUsed(effort: effort))
      maximumReferences = min(max(single.largestReferenceCount ?? 1, 1), maximum)
    }
    // The measurements of a first pass are as good with a low effort.
    if let pass = c.pass, !pass.readsStatistics, !pass.mayBeLast { effort = min(effort, 2) }
    if let limit = c.frameLimit(overhead: 1) { options.frames = min(options.frames, max(limit, 0)) }
    latency = .lookAhead(options)
  }

  /// Changes the configuration to that of a pass over a part of a stream.
  /// - Parameters:
  ///   - c: the configuration of the session.
  ///   - seconds: the duration of the part; nil: nothing changes.
  mutating func makePart(of c: VideoEncoderConfiguration, seconds: Double?) {
    guard let part = c.pass?.part, let seconds else { return }
    let rate = Double(part.bits) / max(seconds, 1e-3)
    // A stream by itself has the ids 0, 1 and 2.
    lookAhead.part = LookAhead.Part(
      rate: min(max(Int(clamping: rate), 1000), 2_000_000_000), pictureID: 3 + part.frames.lowerBound % 65000)
    lookAhead.expectedDuration = max(seconds, 1e-3)
  }

  /// The frames of look-ahead of streams of key frames alone.
  private static let intraLookAhead = 8

  /// The strength of adaptive quantisation. Its SSIM is within 0.3 % of the best on the clips for
  /// tuning, and it loses less PSNR than the strength that reaches the best
  /// (docs/measurements/h264-encoder.md).
  private static let usualAdaptiveQuantisation = 0.6

  /// The frames of look-ahead that take half a gibibyte: the copy of each picture, its luma at half
  /// size with padding, and its tables.
  private static func affordable(width: Int, height: Int) -> Int {
    max((512 << 20) / (width * height * 2 + 65536), 4)
  }

  /// The number of references: two for prediction, and two for B pictures that wait to be output.
  private static let usualReferences = 4

  /// The frames of look-ahead by effort, 0 (fastest) to 9 (best).
  private static func frames(effort: Int) -> Int {
    [0, 10, 20, 20, 30, 40, 50, 60, 80, 100][min(max(effort, 0), 9)]
  }

  private mutating func setRate(_ c: VideoEncoderConfiguration, _ options: inout LookAhead) {
    let rates = 1000...2_000_000_000
    func clamp(_ bits: Int) -> Int { min(max(bits, rates.lowerBound), rates.upperBound) }
    if let model = c.rate.bufferModel {
      options.buffer = LookAhead.Buffer(
        maximumRate: clamp(model.maximumRate), size: max(model.size, 1000),
        initialFullness: min(max(model.initialFullness, 0.01), 1))
    }
    options.buffer?.decidesLevel = c.rate.maximumBitRate != nil && c.rate.limits.isEmpty
    if c.rate.hasFramesBefore || c.rate.hasFramesAfter || c.rate.writesBufferTiming {
      // A decoder is told of a bucket, and streams that are joined share one: it keeps to the
      // limits.
      dataRateLimits = []
    } else if !c.rate.limits.isEmpty {
      options.buffer = nil
    }
    options.hasFramesBefore = c.rate.hasFramesBefore
    options.hasFramesAfter = c.rate.hasFramesAfter
    // The same in all streams that are joined, whatever the average of each is.
    if options.hasFramesBefore || options.hasFramesAfter { options.buffer?.decidesLevel = true }
    if let delay = c.rate.maximumQueueDelay, let target = c.rate.targetRate {
      // A frame that waits so long behind those before it, on a line of the stream's rate.
      let line = clamp(min(target, options.buffer?.maximumRate ?? target))
      let size = max(Int(clamping: Double(line) * delay), 1000)
      var queue = LookAhead.Buffer(maximumRate: line, size: min(size, options.buffer?.size ?? size))
      queue.initialFullness = options.buffer?.initialFullness ?? 1
      queue.decidesLevel = false
      options.buffer = queue
    }
    options.writesBufferTiming = c.rate.writesBufferTiming
    switch c.rate.mode {
    case .quality(let quality): options.rate = .quality(Double(RateRequest.qp(quality: quality)))
    case .average(let bits), .variable(let bits): options.rate = .average(clamp(bits))
    case .constant(let bits):
      options.rate = .constant(clamp(bits))
      options.buffer?.maximumRate = clamp(bits)
    }
    minimumQP = min(c.rate.minQP ?? 0, c.rate.maxQP ?? 51)
  }
}
