// SPDX-License-Identifier: Apache-2.0
/// The result of encoding a picture. A frame has one owner at a time, as its bytes have.
public struct CompressedFrame: ~Copyable, Sendable {
  /// The time stamp of the picture, in units of the configuration's timescale.
  public let presentationTime: Int64
  /// The bytes of the frame, at least one; nil if the rate control dropped the picture.
  public var data: CompressedData?
  /// The header of the stream. It comes with the first frame of each encoder, and with a frame from
  /// which on it changes. The parameter sets of H.264 and HEVC are here only, not in `data`.
  public var header: StreamHeader?
  /// The properties of the frame.
  public var properties = Properties()

  /// Creates a frame without a header and with default properties.
  /// - Parameters:
  ///   - presentationTime: the time stamp of the picture.
  ///   - data: the bytes of the frame; nil if it was dropped.
  public init(presentationTime: Int64, data: consuming CompressedData?) {
    self.presentationTime = presentationTime
    self.data = data
  }

  /// The properties of a coded frame.
  public struct Properties: Sendable, Equatable {
    /// Whether decoding can begin with the frame.
    public var isKeyFrame = false
    /// Whether the frame refers to no other one. A key frame does not; other frames may be intra
    /// too.
    public var isIntra = false
    /// Whether other frames may refer to it.
    public var isReference = true
    /// Whether frames that follow this key frame in decoding order but are shown before it refer to
    /// frames before it.
    public var isOpenGOP = false
    /// The temporal layer; 0 is the base layer.
    public var temporalLayer = 0
    /// The token with which the receiver acknowledges the frame, if it is a long-term reference;
    /// otherwise nil.
    public var longTermToken: Int64?
    /// The mean QP of its macroblocks; nil if unknown.
    public var averageQP: Double?
    /// The highest QP of a macroblock; nil if unknown.
    public var highestQP: Int?
    /// The mean squared error of Y, Cb and Cr in samples of the stream's bit depth, if the
    /// configuration asks for it.
    public var meanSquaredError: (y: Double, cb: Double, cr: Double)?
    /// The bytes of filler data that keep the rate constant.
    public var fillerBytes = 0

    /// Creates properties of a frame that is not a key frame.
    public init() {}

    public static func == (a: Properties, b: Properties) -> Bool {
      a.isKeyFrame == b.isKeyFrame && a.isIntra == b.isIntra && a.isReference == b.isReference
        && a.isOpenGOP == b.isOpenGOP && a.temporalLayer == b.temporalLayer
        && a.longTermToken == b.longTermToken
        && a.averageQP == b.averageQP && a.highestQP == b.highestQP && a.fillerBytes == b.fillerBytes
        && a.meanSquaredError.map { [$0.y, $0.cb, $0.cr] } == b.meanSquaredError.map { [$0.y, $0.cb, $0.cr] }
    }
  }
}

/// The decoder configuration that is needed before the first frame, as a format description carries
/// it.
public enum StreamHeader: Sendable, Equatable {
  /// The parameter sets of H.264 or HEVC.
  case parameterSets(ParameterSets)
  /// The codec's configuration record as movie files store it, and the name of its atom, four
  /// characters such as "av1C".
  case configurationRecord(atom: String, [UInt8])
  /// The codec has no header.
  case nothing
}

/// The NAL units of a stream's parameter sets, without start codes or lengths.
public struct ParameterSets: Sendable, Equatable {
  /// The video parameter sets; HEVC only.
  public var vps: [[UInt8]]
  /// The sequence parameter sets.
  public var sps: [[UInt8]]
  /// The picture parameter sets.
  public var pps: [[UInt8]]
  /// Creates a list of parameter sets.
  /// - Parameters:
  ///   - vps: the video parameter sets; HEVC only.
  ///   - sps: the sequence parameter sets.
  ///   - pps: the picture parameter sets.
  public init(vps: [[UInt8]] = [], sps: [[UInt8]], pps: [[UInt8]]) {
    self.vps = vps
    self.sps = sps
    self.pps = pps
  }
  /// All parameter sets, in the order in which a format description stores them.
  public var all: [[UInt8]] { vps + sps + pps }
}
