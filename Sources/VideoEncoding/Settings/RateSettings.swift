// SPDX-License-Identifier: Apache-2.0

/// The bit rate or QP that an encoder without delay aims at.
public enum LowLatencyRate: Sendable, Equatable {
  /// A constant QP, 0...51: the QP of all frames, or their average where the quality of the frames
  /// follows a cascade.
  case constantQP(Int)
  /// An average bit rate in bits per second, kept over some seconds; frames are never held back
  /// for it.
  case averageBitRate(Int)
}

/// The bit rate or quality that an encoder with a look-ahead aims at.
public enum LookAheadRate: Sendable, Equatable {
  /// The same QP, 0...51, for all macroblocks, without any offset.
  case constantQP(Int)
  /// A nearly constant quality, given as the QP, 0...51, of a macroblock that no later picture
  /// refers to.
  case quality(Double)
  /// An average bit rate over the stream, in bits per second.
  case average(Int)
  /// A constant bit rate in bits per second: that of the decoder's buffer, with filler data where
  /// pictures take less.
  case constant(Int)
}

/// The coded picture buffer of a decoder (H.264 and H.265, C.1): bits arrive at `maximumRate`, and
/// those of a frame are removed at its decode time.
public struct CodedPictureBuffer: Sendable, Equatable {
  /// The rate at which bits arrive, in bits per second.
  public var maximumRate: Int
  /// The size of the buffer in bits.
  public var size: Int
  /// The share of the buffer, 0...1, that is full when the first frame is removed.
  public var initialFullness: Double
  /// Whether the level has to allow `maximumRate` where the configuration names none. Otherwise
  /// the level is the lowest that the target rate needs. In either case, and where a level is
  /// named, the buffer is limited to what the level allows.
  public var decidesLevel = true

  /// Creates a buffer.
  /// - Parameters:
  ///   - maximumRate: the rate at which bits arrive, in bits per second.
  ///   - size: the size in bits.
  ///   - initialFullness: the share, 0...1, that is full when the first frame is removed.
  public init(maximumRate: Int, size: Int, initialFullness: Double = 0.9) {
    self.maximumRate = maximumRate
    self.size = size
    self.initialFullness = initialFullness
  }
}
