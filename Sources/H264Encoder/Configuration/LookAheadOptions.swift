// SPDX-License-Identifier: Apache-2.0

extension H264EncoderConfiguration {
  /// Options of the mode with look-ahead.
  public struct LookAhead: Sendable, Equatable {
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

    /// The coded picture buffer of a decoder (C.1): bits come in at `maximumRate` and a frame's bits leave at its decode
    /// time.
    public struct Buffer: Sendable, Equatable {
      /// Bits per second.
      public var maximumRate: Int
      /// Bits.
      public var size: Int
      /// Part of the buffer that is full when the first frame is taken out of it, 0...1.
      public var initialFullness: Double
      /// Whether a level that is not named has to allow `maximumRate`. If not, it is the one that the target needs, and
      /// the buffer is kept within what that allows, as it is within a level that is named.
      public var decidesLevel = true

      /// - Parameters:
      ///   - maximumRate: bits per second.
      ///   - size: bits.
      ///   - initialFullness: the part that is full when the first frame is taken out, 0...1.
      public init(maximumRate: Int, size: Int, initialFullness: Double = 0.9) {
        self.maximumRate = maximumRate
        self.size = size
        self.initialFullness = initialFullness
      }
    }

    /// The pictures are a part of a stream that was coded before, between two of its IDR pictures, and take its place.
    public struct Part: Sendable, Equatable {
      /// Bits per second of the part, in place of the stream's average; the level is that of the stream.
      public var rate: Int
      /// `idr_pic_id` of its first picture (7.4.3), 0 to 65535: another than in the IDR picture before and after it.
      public var pictureID: Int

      /// - Parameters:
      ///   - rate: bits per second.
      ///   - pictureID: `idr_pic_id` of the first picture, 0 to 65535.
      public init(rate: Int, pictureID: Int) { (self.rate, self.pictureID) = (rate, pictureID) }
    }

    /// How B pictures infer motion that is not sent (B_Skip, direct).
    public enum DirectPrediction: Sendable, Equatable {
      /// From the neighbours (8.4.1.2.2).
      case spatial
      /// From the same place in the next picture, scaled by time (8.4.1.2.3).
      case temporal
      /// For each B picture the one that left less in the last B pictures of its kind, by macroblocks in which both are
      /// compared.
      case automatic
    }

    public var rate = Rate.quality(24)
    /// A decoder's buffer, which is never violated: a picture that does not fit is coded again. Nil: no limit. Its rate
    /// and size count as those of the stream's level (MaxBR, MaxCPB) where they are beyond them.
    public var buffer: Buffer?
    /// Whether the parameter sets describe `buffer` (E.1.2), and each frame says when it is taken out of it and shown:
    /// buffering period and picture timing messages (D.1.2, D.1.3). Durations of frames are then rounded to half a frame
    /// at the stream's first frame rate, and are a second or three frames at most. The buffer cannot change in such a
    /// stream.
    public var writesBufferTiming = false
    /// Frames that are analysed before a frame is coded, 0 to 250.
    public var frames = 40
    /// Most B pictures in a row, 0 to 3: as many of them as pay. There are none in the Constrained Baseline and
    /// Constrained High profiles, nor with fewer than two references.
    public var maximumBidirectional = 3
    /// Whether the middle one of several B pictures in a row is referred to by the others; takes three references.
    public var usesPyramid = true
    /// Whether key frames that only the interval or the duration asks for are I pictures with a recovery point (D.1.8) in
    /// place of IDR pictures: B pictures that are shown before them refer to the pictures on both sides. Where no B picture
    /// precedes one it is an IDR picture still, as are the first, those asked for and those at cuts.
    public var usesOpenGOP = false
    /// Whether there is one picture parameter set for all pictures, as many multiplexers expect; else there is one for
    /// each way that B pictures are weighted in. With one there are no weights by distance in time, which cross-fades
    /// gain from.
    public var usesOnePictureSet = false
    /// Spatial direct prediction was the better one on all clips that were measured.
    public var directPrediction = DirectPrediction.spatial
    /// Seconds from a key frame to the next at most; `keyFrameInterval` counts frames. Nil: no limit.
    public var keyFrameDuration: Double?
    /// Whether a key frame begins where a new scene does.
    public var placesKeyFramesAtCuts = true
    /// Whether macroblocks that later pictures refer to, along motion, get a lower QP (macroblock tree). Needs a
    /// look-ahead.
    public var usesMacroblockTree = true
    /// Strength of the adaptive quantisation by local variance, 0 (off: best PSNR) to 2 (1: for eyes).
    public var adaptiveQuantisation = 1.0
    /// Seconds that the stream will last, if known: the rate control then aims for its end.
    public var expectedDuration: Double?
    /// Payloads of the SEI messages mastering display colour volume (24 bytes) and content light level (4 bytes), which
    /// are written with each key frame; nil: not written.
    public var masteringDisplay: [UInt8]?
    public var contentLightLevel: [UInt8]?
    /// Nil: a stream of its own.
    public var part: Part?
    /// Whether the stream is one of several that are joined, each encoded by itself: streams come before it, or after it.
    /// All of them have one buffer, and agree on its fullness at a join, which is what it begins with
    /// (`Buffer.initialFullness`). With frames after, at least that is there when the next stream's first frame is taken
    /// out; with a constant rate exactly that, and the part of a byte that has come in by then
    /// (`H264Encoder.begin(at:)`).
    public var hasFramesBefore = false
    public var hasFramesAfter = false

    /// Options with their defaults: a quality of QP 24.
    public init() {}
  }
}
