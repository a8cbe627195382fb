/// Turns pictures into coded frames. A session makes one for itself and calls it from one thread at a time.
public protocol VideoEncoder: AnyObject {
  /// Takes one picture and gives back the frames that are ready, in decode order: none, one or more.
  /// The picture's memory is not used after the call.
  /// - Throws: ``CodecError``. The encoder remains usable unless the error is `malfunction`.
  func encode(_ picture: SourcePicture, options: FrameOptions) throws(CodecError) -> [EncodedFrame]

  /// Gives back all frames that are held, in decode order. A picture that comes afterwards starts with a key frame
  /// if frames were held.
  func flush() throws(CodecError) -> [EncodedFrame]

  /// Applies a changed configuration from the next picture on.
  /// - Throws: `unsupported` if the change cannot be made in mid-stream; nothing is changed then.
  func reconfigure(_ configuration: EncoderConfiguration) throws(CodecError)

  /// Frames that were taken and not yet given back.
  var heldFrameCount: Int { get }

  /// Frames that can come out before one that is shown earlier: 0 if the order never changes.
  var reorderingDepth: Int { get }
}

/// A picture in the caller's memory.
public struct SourcePicture {
  public var format: PictureFormat
  public var width: Int
  public var height: Int
  /// One to three planes, as the format says.
  public var plane0: PlaneView
  public var plane1: PlaneView?
  public var plane2: PlaneView?
  /// In units of the configuration's timescale; greater than that of the picture before.
  public var presentationTime: Int64
  /// 0 if unknown.
  public var duration: Int64

  public init(
    format: PictureFormat, width: Int, height: Int,
    plane0: PlaneView, plane1: PlaneView? = nil, plane2: PlaneView? = nil,
    presentationTime: Int64, duration: Int64 = 0
  ) {
    self.format = format
    self.width = width
    self.height = height
    self.plane0 = plane0
    self.plane1 = plane1
    self.plane2 = plane2
    self.presentationTime = presentationTime
    self.duration = duration
  }
}

/// What one frame is to be like.
public struct FrameOptions: Sendable, Equatable {
  public var forcesKeyFrame = false
  /// Quantiser of the frame in place of rate control's.
  public var baseQP: Int?
  /// Long-term references that the receiver says it has. Unknown tokens are ignored.
  public var acknowledgedTokens: [Int64] = []
  /// Predict from an acknowledged long-term reference alone, or make a key frame.
  public var forcesLongTermRefresh = false
  /// Presentation times of frames that the receiver has lost: nothing may be predicted from them any more.
  public var lostFrames: [Int64] = []
  public init() {}
}

/// What came of one picture.
public struct EncodedFrame: Sendable {
  /// The picture's time stamp.
  public var presentationTime: Int64
  /// The coded frame, or nil if rate control dropped the picture.
  public var data: EncodedData?
  /// New if the stream's parameter sets changed with this frame; always there with the first.
  public var parameterSets: ParameterSets?
  public var facts = FrameFacts()

  public init(presentationTime: Int64, data: EncodedData?) {
    self.presentationTime = presentationTime
    self.data = data
  }
}

public struct FrameFacts: Sendable, Equatable {
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

  public static func == (a: FrameFacts, b: FrameFacts) -> Bool {
    a.isKeyFrame == b.isKeyFrame && a.isIntra == b.isIntra && a.isReference == b.isReference
      && a.isOpenGOP == b.isOpenGOP && a.temporalLayer == b.temporalLayer
      && a.longTermToken == b.longTermToken
      && a.averageQP == b.averageQP && a.highestQP == b.highestQP && a.fillerBytes == b.fillerBytes
      && a.meanSquaredError.map { [$0.y, $0.cb, $0.cr] } == b.meanSquaredError.map { [$0.y, $0.cb, $0.cr] }
  }
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
