// SPDX-License-Identifier: Apache-2.0

/// The properties of a coded or dropped frame.
public struct HEVCFrameProperties: Sendable, Equatable {
  /// The number of the frame in input order, from 0; dropped frames are counted.
  public var index: UInt64 = 0
  /// Whether decoding can begin with the frame: it is an IDR picture, or `isOpenGOP` is set.
  public var isKeyFrame = false
  /// Whether the frame is a key frame but not an IDR picture: a CRA picture. Frames that follow it
  /// in decoding order but precede it in output order may refer to frames before it; frames after
  /// it in output order do not.
  public var isOpenGOP = false
  /// Whether later frames may refer to it.
  public var isReference = false
  /// Whether the rate control dropped the frame, which then has no NAL units.
  public var isDropped = false
  /// The bits of all NAL units, with the four bytes of framing of each.
  public var bits = 0
  /// The bytes of filler data among them, with framing: what a constant bit rate takes beyond the
  /// picture.
  public var fillerBytes = 0
  /// The mean QpY of its samples.
  public var averageQP = 0.0
  /// The lowest QpY of its blocks.
  public var lowestQP = 0
  /// The highest QpY of its blocks.
  public var highestQP = 0
  /// The share of samples in intra coding units, 0...1.
  public var intraFraction = 0.0
  /// The share of samples in skipped coding units, 0...1.
  public var skippedFraction = 0.0
  /// The encoding time on the calling thread in seconds.
  public var encodeTime = 0.0
  /// The effort that it was coded with, 0 to `HEVCEncoderConfiguration.maxEffort`.
  public var effort = 0
  /// The mean squared error of luma, Cb and Cr; nil unless
  /// `HEVCEncoderConfiguration.measuresError`.
  public var meanSquaredError: (luma: Double, cb: Double, cr: Double)? {
    get { error.map { ($0.luma, $0.cb, $0.cr) } }
    set { error = newValue.map { SquaredError(luma: $0.luma, cb: $0.cb, cr: $0.cr) } }
  }
  /// The temporal layer (TemporalId).
  public var temporalLayer = 0
  /// The long-term slot that it is kept in; nil for none.
  public var longTermSlot: Int?
  /// The number of frames that it may refer to.
  public var referenceCount = 0

  private var error: SquaredError?
  private struct SquaredError: Sendable, Equatable {
    var luma: Double
    var cb: Double
    var cr: Double
  }

  /// Creates facts with zeros.
  public init() {}
}
