/// Turns coded frames into pictures. A session makes one for itself and calls it from one thread at a time.
public protocol VideoDecoder: AnyObject {
  /// Takes one coded frame and hands over the pictures that are ready, in order of presentation
  /// (in decode order if the configuration asks for low delay and the stream does not reorder).
  /// - Throws: `badData` for a frame that cannot be decoded; the decoder goes on with the next.
  func decode(_ packet: CompressedPacket, output: (DecodedPicture) -> Void) throws(CodecError)

  /// Hands over all pictures that are held. The next packet starts anew, with a key frame.
  func flush(output: (DecodedPicture) -> Void) throws(CodecError)
}

public struct DecoderConfiguration: Sendable, Equatable {
  public var codec: CodecType
  /// As the container says; 0 if it does not. The stream itself decides.
  public var width: Int
  public var height: Int
  /// The codec's configuration record as files store it (`avcC`, `hvcC`, ...); empty if there is none.
  public var configurationRecord: [UInt8]
  /// 0 lets the decoder choose from the number of processors.
  public var threads = 0
  /// Hold no picture back that the stream does not force it to hold.
  public var isLowDelay = false
  /// Skip what no other frame refers to.
  public var skipsNonReference = false
  /// Skip all but key frames.
  public var decodesKeyFramesOnly = false

  public init(codec: CodecType, width: Int = 0, height: Int = 0, configurationRecord: [UInt8] = []) {
    self.codec = codec
    self.width = width
    self.height = height
    self.configurationRecord = configurationRecord
  }
}

/// A coded frame in the caller's memory, valid during the call. Time stamps are opaque numbers that increase with
/// time; `token` comes back with the picture.
public struct CompressedPacket {
  public var data: UnsafeRawBufferPointer
  public var presentationTime: Int64?
  public var decodeTime: Int64?
  public var isKeyFrame: Bool
  /// Decode, but hand no picture over.
  public var discardsOutput: Bool
  public var token: Int64

  public init(
    data: UnsafeRawBufferPointer, presentationTime: Int64?, decodeTime: Int64? = nil,
    isKeyFrame: Bool = false,
    discardsOutput: Bool = false, token: Int64 = 0
  ) {
    self.data = data
    self.presentationTime = presentationTime
    self.decodeTime = decodeTime
    self.isKeyFrame = isKeyFrame
    self.discardsOutput = discardsOutput
    self.token = token
  }
}

/// A picture in the decoder's memory, which lives as long as `owner` does.
public struct DecodedPicture {
  public var format: PictureFormat
  public var width: Int
  public var height: Int
  public var planes: [PlaneView]
  public var presentationTime: Int64?
  public var token: Int64
  public var color = ColorDescription()
  public var pixelAspect: PixelAspect?
  public var isKeyFrame = false
  /// Parts of the picture were concealed.
  public var isDamaged = false
  public var owner: AnyObject

  public init(
    format: PictureFormat, width: Int, height: Int, planes: [PlaneView], presentationTime: Int64?,
    token: Int64,
    owner: AnyObject
  ) {
    self.format = format
    self.width = width
    self.height = height
    self.planes = planes
    self.presentationTime = presentationTime
    self.token = token
    self.owner = owner
  }
}
