// SPDX-License-Identifier: Apache-2.0
import VideoEncoding

extension HEVCEncoderConfiguration {
  /// The options of the mode with look-ahead.
  public struct LookAhead: Sendable, Equatable {
    /// The bit rate or quality to aim at. A constant rate takes a buffer that fills at that rate;
    /// what pictures leave of it is filler data.
    public typealias Rate = LookAheadRate
    /// The coded picture buffer of a decoder (C.1).
    public typealias Buffer = CodedPictureBuffer

    /// The bit rate or quality to aim at.
    public var rate = Rate.quality(24)
    /// The decoder's buffer, which pictures must fit: one that does not is coded again. Nil: no
    /// limit. Its rate and size are lowered to those of the stream's level (MaxBR, MaxCPB) where
    /// they exceed them.
    public var buffer: Buffer?
    /// Whether the stream describes the buffer: HRD parameters in the sequence parameter set, and
    /// buffering period and picture timing SEI messages. Durations of frames are rounded to clock
    /// ticks of 1/90,000 s or a little less then, so that the clock tick is no frame interval. With
    /// a constant rate it takes a look-ahead of one frame at least.
    public var writesBufferTiming = false
    /// The number of frames, 0 to 250, that are analysed before a frame is coded.
    public var frames = 40
    /// The most B pictures in a row, 0 to 3, at most `frames`; fewer are used at scene cuts, key
    /// frames and where they do not pay. There are none with fewer than two references.
    public var maximumBidirectional = 3
    /// Whether the middle one of several B pictures in a row is a reference for the others. That
    /// takes three references.
    public var usesPyramid = true
    /// Whether key frames that are due only by interval or duration are CRA pictures instead of IDR
    /// pictures, so that the B pictures before them in output order (RASL pictures) may refer to
    /// the pictures on both sides.
    ///
    /// A key frame with no B picture before it is an IDR picture in any case, and so are the first
    /// one, those that the caller requests and those at scene cuts.
    public var usesOpenGOP = false
    /// The most seconds from one key frame to the next; nil: no limit. `keyFrameInterval` is the
    /// limit in frames.
    public var keyFrameDuration: Double?
    /// Whether a new scene begins with a key frame.
    public var placesKeyFramesAtCuts = true
    /// Whether blocks that later pictures are predicted from, along motion, get a lower QP
    /// (macroblock tree). It needs a look-ahead.
    public var usesMacroblockTree = true
    /// The strength of adaptive quantisation by local variance, 0 to 2. 0 is off and gives the best
    /// PSNR; 1 looks best.
    public var adaptiveQuantisation = 1.0
    /// The duration of the stream in seconds, if known: the rate control then aims at the target at
    /// its end.
    public var expectedDuration: Double?
    /// The bit rate of the pictures in bits per second, where they replace a part of a stream that
    /// was coded before, from one IDR picture to the next; nil: they are a stream of their own. It
    /// replaces the stream's average, but the level stays that of the stream.
    public var partRate: Int?
    /// Whether another stream comes before this one, where several that are encoded independently
    /// are joined.
    ///
    /// All of them have one buffer and agree on its fullness at a join, which is the fullness that
    /// it begins with (`Buffer.initialFullness`).
    public var hasFramesBefore = false
    /// Whether another stream follows this one, where several are joined.
    ///
    /// The buffer then holds at least the agreed fullness when the next stream's first frame is
    /// removed. With a constant rate it holds exactly that, plus the part of a byte that has
    /// arrived by then (`HEVCEncoder.begin(at:)`).
    public var hasFramesAfter = false

    /// Creates options with their defaults: a quality of QP 24.
    public init() {}
  }

  /// The most B pictures in a row that the number of references and the look-ahead allow.
  var bidirectionalLimit: Int {
    guard case .lookAhead(let options) = latency, maximumReferences >= 2, options.frames >= 1 else {
      return 0
    }
    return min(options.maximumBidirectional, options.frames)
  }

  /// Whether B pictures may refer to a B picture.
  var hasPyramid: Bool { lookAhead.usesPyramid && bidirectionalLimit > 1 && maximumReferences > 2 }

  /// The most pictures that precede a picture in decoding order and follow it in output order
  /// (sps_max_num_reorder_pics).
  var reorderingDepth: Int { bidirectionalLimit == 0 ? 0 : hasPyramid ? 2 : 1 }

  /// The pictures that a decoder keeps: the reference pictures, the current picture, and with a
  /// pyramid one that is no longer referred to but not shown yet (sps_max_dec_pic_buffering_minus1
  /// + 1). A B picture that is no reference is shown as soon as it is decoded (C.5.2.3).
  var decodedPictureCount: Int { maximumReferences + 1 + (hasPyramid ? 1 : 0) }

  /// Whether the look-ahead recognises P and B pictures of a source that was compressed with H.264.
  var recognisesSourceTypes: Bool {
    if lookAhead.frames < LookAheadQueue.fewestForTypes { return false }
    switch lookAhead.rate {
    case .quality(let qp): return qp <= Self.coarsestForTypes
    case .average, .constant: return true
    case .constantQP: return false
    }
  }

  /// Whether pictures remain of the types that were recognised. It pays where the quality comes
  /// near that of the source; at lower qualities B pictures everywhere take fewer bits.
  /// - Parameter qp: the QP of recent pictures, without the offsets of their types.
  func keepsSourceTypes(qp: Double) -> Bool {
    if case .quality(let quality) = lookAhead.rate { return quality <= Self.coarsestForTypes }
    return qp <= Self.coarsestForTypes
  }

  /// The quality, as a QP, up to which the types of a source are kept.
  private static let coarsestForTypes = 24.0

  /// Whether the stream shares its buffer with a stream before or after it.
  var isJoined: Bool { lookAheadSettings.isJoined }
  /// Whether others rely on the buffer, since the stream describes it or other streams share it. No
  /// picture may then take more bits than the buffer holds, nor may the buffer change.
  var mustConformToBuffer: Bool { lookAhead.buffer != nil && (lookAhead.writesBufferTiming || isJoined) }

  /// log2 of the size of quantisation groups: coding tree units, unless blocks of 16x16 samples
  /// have QPs of their own.
  var log2QuantisationGroup: Int {
    switch latency {
    case .zero(let options): options.adaptiveQuantisation > 0 ? 4 : 5
    case .lookAhead: lookAheadSettings.isConstantQP ? 5 : 4
    }
  }

  /// Checks the options of the mode with look-ahead.
  /// - Throws: `HEVCEncoderError.invalidConfiguration` for the first value out of range.
  func validateLookAhead(_ options: LookAhead) throws {
    func require(_ condition: Bool, _ text: @autoclosure () -> String) throws {
      if !condition { throw HEVCEncoderError.invalidConfiguration(text()) }
    }
    switch options.rate {
    case .constantQP(let qp): try require((0...51).contains(qp), "QP \(qp) is not in 0...51.")
    case .quality(let qp): try require((0...51).contains(qp), "A quality of QP \(qp) is not in 0...51.")
    case .average(let bits):
      try require(
        (1000...2_000_000_000).contains(bits), "A bit rate of \(bits) is not in 1,000...2,000,000,000.")
    case .constant(let bits):
      try require(
        (1000...2_000_000_000).contains(bits), "A bit rate of \(bits) is not in 1,000...2,000,000,000.")
      try require(
        options.buffer?.maximumRate == bits, "A constant bit rate needs a buffer that fills at that rate.")
    }
    if let buffer = options.buffer {
      try require(
        buffer.maximumRate >= 1000 && buffer.size >= 1000,
        "A buffer of \(buffer.size) bits at \(buffer.maximumRate) bits per second is too small: both must be at least 1,000."
      )
      try require(
        (0...1).contains(buffer.initialFullness), "A fullness of \(buffer.initialFullness) is not in 0...1.")
    }
    if options.writesBufferTiming {
      try require(options.buffer != nil, "Buffering period SEI messages require a buffer.")
      try require(options.partRate == nil, "writesBufferTiming is not possible for a part of a stream.")
      if case .constant = options.rate {
        try require(
          options.frames > 0,
          "Filler data takes the time of the next frame: a look-ahead of one frame at least.")
      }
      if let buffer = options.buffer {
        try require(
          Double(buffer.size) <= Double(buffer.maximumRate) * BufferClock.longestBuffer,
          "A buffer that takes more than \(BufferClock.longestBuffer) seconds to fill cannot be described.")
      }
    }
    if isJoined, let buffer = options.buffer {
      try require(options.partRate == nil, "A part of a stream is not joined to another stream.")
      try require(
        !options.hasFramesAfter || options.frames > 0,
        "A stream that is followed by others in the same buffer requires a look-ahead of at least one frame.")
      try require(
        Double(buffer.size) * buffer.initialFullness
          >= Double(buffer.maximumRate) * JoinedBuffer.fewestFrames / frameRate,
        "The initial fullness of a buffer that joined streams share must be at least "
          + "\(Int(JoinedBuffer.fewestFrames)) frame intervals at the maximum rate.")
    }
    try require(
      (0...250).contains(options.frames), "A look-ahead of \(options.frames) frames is not in 0...250.")
    try require(
      (0...3).contains(options.maximumBidirectional),
      "\(options.maximumBidirectional) B pictures in a row are not in 0...3.")
    try require(
      decodedPictureCount <= 16,
      "\(maximumReferences) references are not in 1...14 where B pictures refer to B pictures.")
    if let seconds = options.keyFrameDuration {
      try require(
        seconds.isFinite && seconds > 0,
        "A key-frame duration of \(seconds) seconds is not positive and finite.")
    }
    try require(
      options.adaptiveQuantisation.isFinite && (0...2).contains(options.adaptiveQuantisation),
      "A strength of adaptive quantisation of \(options.adaptiveQuantisation) is not in 0...2.")
    if let rate = options.partRate {
      try require(
        (1000...2_000_000_000).contains(rate), "A bit rate of \(rate) is not in 1,000...2,000,000,000.")
    }
    if let seconds = options.expectedDuration {
      try require(
        seconds.isFinite && seconds > 0,
        "An expected duration of \(seconds) seconds is not positive and finite.")
    }
  }
}
