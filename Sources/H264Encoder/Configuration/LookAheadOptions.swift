// SPDX-License-Identifier: Apache-2.0

extension H264EncoderConfiguration {
  /// The options of the mode with look-ahead.
  public struct LookAhead: Sendable, Equatable {
    /// The bit rate or quality to aim at.
    public typealias Rate = LookAheadRate
    /// The coded picture buffer of a decoder (C.1).
    public typealias Buffer = CodedPictureBuffer

    /// Describes that the pictures replace a part of a stream that was coded before, from one IDR
    /// picture to the next.
    public struct Part: Sendable, Equatable {
      /// The bit rate of the part in bits per second. It replaces the stream's average, but the
      /// level stays that of the stream.
      public var rate: Int
      /// `idr_pic_id` of the part's first picture (7.4.3), 0 to 65535. It has to differ from those
      /// of the IDR pictures before and after it.
      public var pictureID: Int

      /// Describes a part of a stream.
      /// - Parameters:
      ///   - rate: the bit rate of the part in bits per second.
      ///   - pictureID: `idr_pic_id` of its first picture, 0 to 65535.
      public init(rate: Int, pictureID: Int) { (self.rate, self.pictureID) = (rate, pictureID) }
    }

    /// How the motion of B_Skip and direct macroblocks in B pictures is derived.
    public enum DirectPrediction: Sendable, Equatable {
      /// From neighbouring macroblocks (8.4.1.2.2).
      case spatial
      /// From the colocated macroblock of the first picture of list 1, scaled by distance in time
      /// (8.4.1.2.3).
      case temporal
      /// For each B picture the prediction that had the lower cost in the last B pictures of its
      /// class. Both are compared in each macroblock.
      case automatic
    }

    /// The bit rate or quality to aim at.
    public var rate = Rate.quality(24)
    /// The decoder's buffer, which pictures must fit: one that does not is coded again. Nil: no
    /// limit. Its rate and size are lowered to those of the stream's level (MaxBR, MaxCPB) where
    /// they exceed them.
    public var buffer: Buffer?
    /// Whether the parameter sets describe `buffer` (E.1.2), and each access unit has buffering
    /// period and picture timing messages with its removal and output times (D.1.2, D.1.3).
    ///
    /// Durations of frames are then rounded to clock ticks of 1/90,000 s or a little less, so that
    /// the clock tick is not a frame interval, and limited to a second or three frames, whichever
    /// is longer. With a constant rate it takes a look-ahead of one frame at least. The buffer of
    /// such a stream cannot change.
    public var writesBufferTiming = false
    /// The number of frames, 0 to 250, that are analysed before a frame is coded.
    public var frames = 40
    /// The most B pictures in a row, 0 to 3; fewer are used at scene cuts, key frames and where
    /// they do not pay. There are none in the Constrained Baseline and Constrained High profiles,
    /// nor with fewer than two references.
    public var maximumBidirectional = 3
    /// Whether the middle one of several B pictures in a row is a reference for the others. That
    /// takes three references.
    public var usesPyramid = true
    /// Whether key frames that are due only by interval or duration are I pictures with a recovery
    /// point (D.1.8) instead of IDR pictures, so that the B pictures before them in output order
    /// may refer to the pictures on both sides.
    ///
    /// A key frame with no B picture before it is an IDR picture in any case, and so are the first
    /// one, those that the caller requests and those at scene cuts.
    public var usesOpenGOP = false
    /// Whether all pictures use one picture parameter set, as many multiplexers expect. Otherwise
    /// there is one for each kind of weighted prediction in B pictures. A single one excludes
    /// implicit weights by distance in time, which improve cross-fades.
    public var usesOnePictureSet = false
    /// The direct prediction of B pictures. Spatial prediction was better on all measured clips.
    public var directPrediction = DirectPrediction.spatial
    /// The most seconds from one key frame to the next; nil: no limit. `keyFrameInterval` is the
    /// limit in frames.
    public var keyFrameDuration: Double?
    /// Whether a new scene begins with a key frame.
    public var placesKeyFramesAtCuts = true
    /// Whether macroblocks that later pictures are predicted from, along motion, get a lower QP
    /// (macroblock tree). It needs a look-ahead.
    public var usesMacroblockTree = true
    /// The strength of adaptive quantisation by local variance, 0 to 2. 0 is off and gives the best
    /// PSNR; 1 looks best.
    public var adaptiveQuantisation = 1.0
    /// The duration of the stream in seconds, if known: the rate control then aims at the target at
    /// its end.
    public var expectedDuration: Double?
    /// The part of another stream that the pictures replace; nil: they are a stream of their own.
    public var part: Part?
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
    /// arrived by then (`H264Encoder.begin(at:)`).
    public var hasFramesAfter = false

    /// Creates options with their defaults: a quality of QP 24.
    public init() {}
  }
}
