// SPDX-License-Identifier: Apache-2.0

/// What a frame turned out to be.
public struct H264FrameFacts: Sendable, Equatable {
  /// Counted from 0, dropped frames included.
  public var index: UInt64 = 0
  /// An IDR picture, or one that `isOpenGOP` says.
  public var isKeyFrame = false
  /// A key frame that is no IDR picture: frames that follow it, but are shown before it, may refer to what precedes it.
  /// Nothing that is shown after it does.
  public var isOpenGOP = false
  public var isReference = false
  /// The rate control dropped it: there are no NAL units.
  public var isDropped = false
  /// Bits of all NAL units, four bytes of framing each included.
  public var bits = 0
  /// Mean, lowest and highest QP_Y of its macroblocks.
  public var averageQP = 0.0
  public var lowestQP = 0
  public var highestQP = 0
  /// Parts of all macroblocks, 0...1.
  public var intraShare = 0.0
  public var skipShare = 0.0
  /// Seconds that the call took.
  public var encodeTime = 0.0
  /// The effort that it was coded with, 0 to `H264EncoderConfiguration.mostEffort`.
  public var effort = 0
  /// Mean squared error of luma, Cb and Cr; nil unless `measuresError`.
  public var meanSquaredError: (luma: Double, cb: Double, cr: Double)? {
    get { error.map { ($0.luma, $0.cb, $0.cr) } }
    set { error = newValue.map { SquaredError(luma: $0.luma, cb: $0.cb, cr: $0.cr) } }
  }
  public var temporalLayer = 0
  public var longTermSlot: Int?
  /// Frames that it refers to.
  public var referenceCount = 0
  /// Bytes of filler data that hold a constant rate, their NAL unit's framing included; `bits` counts them.
  public var fillerBytes = 0

  private var error: SquaredError?
  private struct SquaredError: Sendable, Equatable {
    var luma: Double
    var cb: Double
    var cr: Double
  }

  public init() {}
}
