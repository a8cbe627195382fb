// SPDX-License-Identifier: Apache-2.0
import VideoEncoding

extension H264EncoderConfiguration {
  /// Checks the options of the mode with look-ahead.
  /// - Throws: `H264EncoderError.invalidConfiguration` for the first value out of range.
  func validateLookAhead(_ options: LookAhead) throws {
    func require(_ condition: Bool, _ text: @autoclosure () -> String) throws {
      if !condition { throw H264EncoderError.invalidConfiguration(text()) }
    }
    let rates = 1000...2_000_000_000
    let frames = options.frames
    switch options.rate {
    case .constantQP(let qp): try require((0...51).contains(qp), "QP \(qp) is not in 0...51.")
    case .quality(let qp): try require((0...51).contains(qp), "A quality of QP \(qp) is not in 0...51.")
    case .average(let bits):
      try require(rates.contains(bits), "A bit rate of \(bits) is not in 1,000...2,000,000,000.")
    case .constant(let bits):
      try require(rates.contains(bits), "A bit rate of \(bits) is not in 1,000...2,000,000,000.")
      try require(options.buffer != nil, "A constant bit rate needs a buffer.")
      try require(
        options.buffer?.maximumRate == bits,
        "With a constant bit rate, the maximum rate of the buffer must equal the bit rate.")
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
      try require(options.part == nil, "writesBufferTiming is not possible for a part of a stream.")
      if case .constant = options.rate {
        try require(
          frames > 0, "Filler data takes the time of the next frame: a look-ahead of one frame at least.")
      }
      if let buffer = options.buffer {
        try require(
          Double(buffer.size) <= Double(buffer.maximumRate) * BufferClock.longestBuffer,
          "A buffer of more than \(Int(BufferClock.longestBuffer)) seconds cannot be described by buffering period SEI messages."
        )
      }
    }
    if isJoined, let buffer = options.buffer {
      try require(options.part == nil, "A part of a stream is not joined to another stream.")
      try require(
        !options.hasFramesAfter || frames > 0,
        "A stream that is followed by others in the same buffer requires a look-ahead of at least one frame.")
      try require(
        Double(buffer.size) * buffer.initialFullness
          >= Double(buffer.maximumRate) * JoinedBuffer.fewestFrames / frameRate,
        "The initial fullness of a buffer that joined streams share must be at least \(Int(JoinedBuffer.fewestFrames)) frame intervals at the maximum rate."
      )
    }
    try require((0...250).contains(frames), "A look-ahead of \(frames) frames is not in 0...250.")
    try require(
      (0...3).contains(options.maximumBidirectional),
      "\(options.maximumBidirectional) B pictures in a row are not in 0...3.")
    if let seconds = options.keyFrameDuration {
      try require(
        seconds.isFinite && seconds > 0,
        "A key-frame duration of \(seconds) seconds is not positive and finite.")
    }
    try require(
      options.adaptiveQuantisation.isFinite && (0...2).contains(options.adaptiveQuantisation),
      "A strength of adaptive quantisation of \(options.adaptiveQuantisation) is not in 0...2.")
    if let seconds = options.expectedDuration {
      try require(
        seconds.isFinite && seconds > 0,
        "An expected duration of \(seconds) seconds is not positive and finite.")
    }
    if let part = options.part {
      try require(rates.contains(part.rate), "A bit rate of \(part.rate) is not in 1,000...2,000,000,000.")
      try require(
        (0...65535).contains(part.pictureID), "An idr_pic_id of \(part.pictureID) is not in 0...65535.")
    }
  }

  /// The most B pictures in a row that the profile, the number of references and the look-ahead
  /// allow.
  var bidirectionalLimit: Int {
    switch profile {
    case .constrainedBaseline, .constrainedHigh, .high444Predictive: return 0
    case .main, .high: break
    }
    return maximumReferences < 2 || lookAhead.frames < 1
      ? 0 : min(lookAhead.maximumBidirectional, lookAhead.frames)
  }

  /// Whether B pictures may refer to a B picture.
  var hasPyramid: Bool { lookAhead.usesPyramid && bidirectionalLimit > 1 && maximumReferences > 2 }

  /// Whether there may be key frames that are not IDR pictures, with B pictures before them in
  /// output order that refer across them.
  var hasOpenGOP: Bool { lookAhead.usesOpenGOP && bidirectionalLimit > 0 }

  /// The most frames that precede a frame in decoding order and follow it in output order
  /// (max_num_reorder_frames).
  var reorderingDepth: Int { lookAheadSettings.reorderingDepth }

  /// Whether the stream shares its buffer with a stream before or after it.
  var isJoined: Bool { lookAheadSettings.isJoined }
  /// Whether the stream must conform to the buffer, because its SEI messages describe the buffer or
  /// because joined streams share it. No picture may then take more bits than the buffer holds.
  var mustConformToBuffer: Bool { lookAhead.buffer != nil && (lookAhead.writesBufferTiming || isJoined) }

  /// Whether the bit rate is constant.
  var isConstantRate: Bool { lookAheadSettings.isConstantRate }

  /// The bit rate that the rate control aims at, in bits per second; nil with a quality or a QP.
  var targetRate: Int? { lookAheadSettings.targetRate }
}
