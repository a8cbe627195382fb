// SPDX-License-Identifier: Apache-2.0
/// What came of one picture. There is one owner at a time, since there is one of its bytes.
public struct CompressedFrame: ~Copyable, Sendable {
  /// The picture's time stamp.
  public let presentationTime: Int64
  /// The coded frame, or nil if rate control dropped the picture. Never empty.
  public var data: CompressedData?
  /// Set with the first frame of each encoder, and where it changes with this frame. The parameter sets of H.264 and
  /// HEVC stand here alone, not in `data`.
  public var header: StreamHeader?
  public var facts = Facts()

  public init(presentationTime: Int64, data: consuming CompressedData?) {
    self.presentationTime = presentationTime
    self.data = data
  }

  /// What is known of a coded frame beside its bytes.
  public struct Facts: Sendable, Equatable {
    /// Decoding can start here.
    public var isKeyFrame = false
    /// Needs no other frame (a key frame is one; there may be others).
    public var isIntra = false
    /// Another frame may refer to this one.
    public var isReference = true
    /// Frames that follow in decode order and precede in presentation refer to frames before this key frame.
    public var isOpenGOP = false
    /// 0 is the base.
    public var temporalLayer = 0
    /// Set if the frame is a long-term reference that the receiver should acknowledge.
    public var longTermToken: Int64?
    public var averageQP: Double?
    /// The highest of any macroblock.
    public var highestQP: Int?
    /// Mean squared error of Y, Cb and Cr if the configuration asks for it.
    public var meanSquaredError: (y: Double, cb: Double, cr: Double)?
    /// Bytes of filler data that hold a constant rate.
    public var fillerBytes = 0

    public init() {}

    public static func == (a: Facts, b: Facts) -> Bool {
      a.isKeyFrame == b.isKeyFrame && a.isIntra == b.isIntra && a.isReference == b.isReference
        && a.isOpenGOP == b.isOpenGOP && a.temporalLayer == b.temporalLayer
        && a.longTermToken == b.longTermToken
        && a.averageQP == b.averageQP && a.highestQP == b.highestQP && a.fillerBytes == b.fillerBytes
        && a.meanSquaredError.map { [$0.y, $0.cb, $0.cr] } == b.meanSquaredError.map { [$0.y, $0.cb, $0.cr] }
    }
  }
}

/// What a decoder has to know before the first frame, as a format description carries it.
public enum StreamHeader: Sendable, Equatable {
  /// Of H.264 and HEVC.
  case parameterSets(ParameterSets)
  /// The codec's configuration record as movie files store it, and the name of its atom (four characters: "av1C").
  case configurationRecord(atom: String, [UInt8])
  /// The codec has none.
  case nothing
}

/// The NAL units of a stream's headers, without start codes or lengths.
public struct ParameterSets: Sendable, Equatable {
  /// HEVC only.
  public var vps: [[UInt8]]
  public var sps: [[UInt8]]
  public var pps: [[UInt8]]
  public init(vps: [[UInt8]] = [], sps: [[UInt8]], pps: [[UInt8]]) {
    self.vps = vps
    self.sps = sps
    self.pps = pps
  }
  /// All, in the order in which a format description holds them.
  public var all: [[UInt8]] { vps + sps + pps }
}
