// SPDX-License-Identifier: Apache-2.0
/// What a `LookAheadEncoder` is to produce.
///
/// Values are checked when an encoder is made or reconfigured; see `EncoderError`.
public struct LookAheadConfiguration: Sendable, Equatable {
  /// How bits are spent.
  public enum Rate: Sendable, Equatable {
    /// The same QP for all frames, 0...51: exactly, without any offset.
    case constantQP(Int)
    /// About the same quality throughout: the QP, 0...51, of a macroblock that nothing refers to.
    case quality(Double)
    /// An average in bits per second over the whole stream.
    case average(Int)
    /// Bits per second, always: the bit rate of `buffer`, and filler data where pictures take less.
    case constant(Int)
  }

  /// The coded picture buffer of a decoder (C.1): bits come in at `maximumRate` and a frame's bits go at its decode time.
  public struct Buffer: Sendable, Equatable {
    /// Bits per second.
    public var maximumRate: Int
    /// Bits.
    public var size: Int
    /// Part of the buffer that is full when the first frame is taken out of it, 0...1.
    public var initialFullness: Double
    /// Whether a level that is not named has to allow `maximumRate`. If not, it is the one that the target needs, and the
    /// buffer is kept within what that allows, as it is within a level that is named.
    public var decidesLevel = true

    public init(maximumRate: Int, size: Int, initialFullness: Double = 0.9) {
      self.maximumRate = maximumRate
      self.size = size
      self.initialFullness = initialFullness
    }
  }

  /// What is coded is a part of a stream that was coded before, between two of its IDR pictures, and takes its place.
  public struct Part: Sendable, Equatable {
    /// Bits per second that it is to have, in place of the stream's average; the level is that of the stream.
    public var rate: Int
    /// `idr_pic_id` of its first picture (7.4.3), 0 to 65535: another than in the IDR picture before and after it.
    public var pictureID: Int

    public init(rate: Int, pictureID: Int) { (self.rate, self.pictureID) = (rate, pictureID) }
  }

  /// The picture, the profile, the level, the tools, the effort, the threads, and the hard limits of the rate: they hold in
  /// every window of the times at which frames leave a decoder's buffer, and a picture that breaks one is coded again. What belongs to the low-latency face is
  /// not read: its rate control and queue, dropped frames, scene changes, refreshes and long-term
  /// references.
  public var stream: EncoderConfiguration
  public var rate = Rate.quality(24)
  /// Never violated: a picture that does not fit is coded again. Nil: no limit. Its rate and size count as those of the
  /// stream's level (MaxBR, MaxCPB) where they are beyond them.
  public var buffer: Buffer?
  /// Whether the parameter sets describe `buffer` (E.1.2), and each frame says when it is taken out of it and shown:
  /// buffering period and picture timing messages (D.1.2, D.1.3). Durations of frames are then rounded to half a frame at
  /// the stream's first frame rate, and a second or three frames at the most. The buffer can not change in such a stream.
  public var writesBufferTiming = false
  /// Frames that are looked at before a frame is coded, 0 to 250.
  public var lookAhead = 40
  /// Most B pictures in a row, 0 to 3: as many of them as pay. Not in the Constrained Baseline and Constrained High
  /// profiles, nor with fewer than two references.
  public var maximumBidirectional = 3
  /// The middle one of several B pictures in a row is referred to by the others; takes three references.
  public var usesPyramid = true
  /// Key frames that only the interval or the duration asks for are I pictures with a recovery point (D.1.8) in place of
  /// IDR pictures: B pictures that are shown before them refer to the pictures on both sides. Where no B picture precedes
  /// one it is an IDR picture still, as are the first, those asked for and those at cuts.
  public var usesOpenGOP = false
  /// One picture parameter set for all pictures, as many multiplexers expect; else one for each way that B pictures are
  /// weighted in. It has no weights by distance in time, which cross-fades gain from.
  public var usesOnePictureSet = false
  /// How B pictures infer motion that is not sent (B_Skip, direct).
  public enum DirectPrediction: Sendable, Equatable {
    /// From the neighbours (8.4.1.2.2).
    case spatial
    /// From the same place in the next picture, divided by time (8.4.1.2.3).
    case temporal
    /// For each B picture that one which left less in the last ones of its kind, by macroblocks in which both are looked at.
    case automatic
  }
  /// Spatial is the better one on all that was measured.
  public var directPrediction = DirectPrediction.spatial
  /// Seconds from a key frame to the next, at the most; `stream.keyFrameInterval` counts frames. Nil: no limit.
  public var keyFrameDuration: Double?
  /// Whether a key frame begins where a new scene does.
  public var placesKeyFramesAtCuts = true
  /// What is referred to much, along motion, is coded better. Needs a look-ahead.
  public var usesMacroblockTree = true
  /// Strength of the adaptive quantisation by local variance, 0 (off: best PSNR) to 2 (1: for eyes).
  /// `stream.adaptiveQuantisation` is not read.
  public var adaptiveQuantisation = 1.0
  /// Seconds that the stream will last, if known: the rate control then aims for its end.
  public var expectedDuration: Double?
  /// Payloads of the SEI messages mastering display colour volume (24 bytes) and content light level (4 bytes), written
  /// with each key frame; nil: not written.
  public var masteringDisplay: [UInt8]?
  public var contentLightLevel: [UInt8]?

  /// Nil: a stream of its own.
  public var part: Part?

  /// The stream is one of several that are joined, each encoded by itself. All of them have one buffer, and agree on what
  /// is in it at a join: what it begins with (`Buffer.initialFullness`). With frames after, at least that is there when the
  /// next stream's first frame is taken out; with a constant rate just that, and the part of a byte that has come in by
  /// then (`LookAheadEncoder.begin(at:)`).
  public var hasFramesBefore = false
  public var hasFramesAfter = false

  public init(_ stream: EncoderConfiguration) { self.stream = stream }

  public init(width: Int, height: Int) { self.init(EncoderConfiguration(width: width, height: height)) }
}

extension LookAheadConfiguration {
  /// - Throws: `EncoderError.invalidConfiguration` for the first value out of range.
  func validate() throws {
    func require(_ condition: Bool, _ text: @autoclosure () -> String) throws {
      if !condition { throw EncoderError.invalidConfiguration(text()) }
    }
    try engineConfiguration.validate()
    let rates = 1000...2_000_000_000
    switch rate {
    case .constantQP(let qp): try require((0...51).contains(qp), "QP \(qp) is not in 0...51.")
    case .quality(let qp): try require((0...51).contains(qp), "A quality of QP \(qp) is not in 0...51.")
    case .average(let bits):
      try require(rates.contains(bits), "A bit rate of \(bits) is not in 1,000...2,000,000,000.")
    case .constant(let bits):
      try require(rates.contains(bits), "A bit rate of \(bits) is not in 1,000...2,000,000,000.")
      try require(buffer != nil, "A constant bit rate needs a buffer.")
      try require(buffer?.maximumRate == bits, "The buffer of a constant bit rate fills at that rate.")
    }
    if let buffer {
      try require(
        buffer.maximumRate >= 1000 && buffer.size >= 1000,
        "A buffer of \(buffer.size) bits at \(buffer.maximumRate) a second: both are 1,000 at least.")
      try require(
        (0...1).contains(buffer.initialFullness), "A fullness of \(buffer.initialFullness) is not in 0...1.")
    }
    if writesBufferTiming {
      try require(buffer != nil, "Buffering periods need a buffer.")
      try require(part == nil, "A part of a stream has no buffering periods of its own.")
      if let buffer {
        try require(
          Double(buffer.size) <= Double(buffer.maximumRate) * BufferTiming.longestBuffer,
          "A buffer of more than \(Int(BufferTiming.longestBuffer)) seconds fits no buffering period.")
      }
    }
    if isJoined, let buffer {
      try require(part == nil, "A part of a stream is not joined to another stream.")
      try require(
        !hasFramesAfter || lookAhead > 0,
        "What the buffer holds at the end of a stream that others follow takes a look-ahead.")
      try require(
        Double(buffer.size) * buffer.initialFullness
          >= Double(buffer.maximumRate) * JoinedBuffer.fewestFrames / stream.frameRate,
        "A buffer that streams are joined in holds \(Int(JoinedBuffer.fewestFrames)) frames at least where one begins."
      )
    }
    try require((0...250).contains(lookAhead), "A look-ahead of \(lookAhead) frames is not in 0...250.")
    try require(
      (0...3).contains(maximumBidirectional), "\(maximumBidirectional) B pictures in a row are not in 0...3.")
    if let seconds = keyFrameDuration {
      try require(seconds.isFinite && seconds > 0, "Key frames \(seconds) seconds apart cannot be.")
    }
    try require(
      adaptiveQuantisation.isFinite && (0...2).contains(adaptiveQuantisation),
      "A strength of adaptive quantisation of \(adaptiveQuantisation) is not in 0...2.")
    if let seconds = expectedDuration {
      try require(seconds.isFinite && seconds > 0, "A stream of \(seconds) seconds cannot be.")
    }
    if let part {
      try require(rates.contains(part.rate), "A bit rate of \(part.rate) is not in 1,000...2,000,000,000.")
      try require(
        (0...65535).contains(part.pictureID), "An idr_pic_id of \(part.pictureID) is not in 0...65535.")
    }
    try require((masteringDisplay?.count ?? 24) == 24, "A mastering display has 24 bytes.")
    try require((contentLightLevel?.count ?? 4) == 4, "A content light level has 4 bytes.")
  }

  /// What the picture coder and the parameter sets are made of.
  var engineConfiguration: EncoderConfiguration {
    var c = stream
    c.rateControl = .constantQP(26)
    if let bits = targetRate { c.rateControl = .averageBitRate(bits) }
    c.maximumQueueDelay = 0.3
    c.allowsFrameDropping = false
    c.cascadesQuality = false
    c.longTermReferences = 0
    c.allowsNonReferenceFrames = false
    c.allowsFrameNumberGaps = false
    c.adaptiveQuantisation = 0
    c.intraRefreshPeriod = 0
    c.sceneChange = .none
    c.writesTemporalLayerPrefix = false
    return c
  }

  /// B pictures in a row that there can be.
  var bidirectionalLimit: Int {
    switch stream.profile {
    case .constrainedBaseline, .constrainedHigh: return 0
    case .main, .high: break
    }
    return stream.maximumReferences < 2 || lookAhead < 1 ? 0 : min(maximumBidirectional, lookAhead)
  }

  /// B pictures refer to B pictures.
  var hasPyramid: Bool { usesPyramid && bidirectionalLimit > 1 && stream.maximumReferences > 2 }

  /// B pictures refer across key frames.
  var hasOpenGOP: Bool { usesOpenGOP && bidirectionalLimit > 0 }

  /// Frames that can come out before one that is shown earlier.
  var reorderingDepth: Int { bidirectionalLimit == 0 ? 0 : hasPyramid ? 2 : 1 }

  /// There is a buffer, and it goes on in another stream.
  var isJoined: Bool { buffer != nil && (hasFramesBefore || hasFramesAfter) }
  /// A decoder is told of the buffer, or other streams share it: no picture may take more than it holds.
  var hasPromisedBuffer: Bool { buffer != nil && (writesBufferTiming || isJoined) }

  var isConstantRate: Bool {
    if case .constant = rate { return true }
    return false
  }

  /// Bits per second to aim at; nil with a quality or a QP.
  var targetRate: Int? {
    switch rate {
    case .constantQP, .quality: nil
    case .average(let bits): min(bits, buffer?.maximumRate ?? bits, limitedRate ?? bits)
    case .constant(let bits): bits
    }
  }

  /// Bits per second that the tightest of the hard limits allows.
  private var limitedRate: Int? {
    // Asked for before limits are checked: what is no number is the least as well.
    stream.dataRateLimits.map { Double($0.bytes) * 8 / $0.seconds }.min().map {
      $0 > 1000 ? Int(min($0, 2e9)) : 1000
    }
  }
}
