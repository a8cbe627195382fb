// SPDX-License-Identifier: Apache-2.0
import CoreVideo

/// A picture to encode, in memory or on a surface. It belongs to the caller and is valid during the
/// call.
public struct InputPicture {
  /// Where the samples are.
  public enum Content {
    /// In memory that may be read.
    case planes(PlaneViews)
    /// On a surface that the encoder can read, as it said in ``EncoderDescription/takesSurface``. A
    /// stream may have pictures of both kinds.
    case surface(any OVTPixelBufferSurface)
  }

  /// The layout of the samples.
  public var format: PictureFormat
  /// The width in luma samples.
  public var width: Int
  /// The height in luma samples.
  public var height: Int
  /// The samples.
  public var content: Content
  /// The time at which the picture is shown, in units of the configuration's timescale; later than
  /// that of the picture before.
  public var presentationTime: Int64
  /// How long the picture is shown, in units of the configuration's timescale; 0 if unknown.
  public var duration: Int64

  /// Describes a picture.
  /// - Parameters:
  ///   - format: the layout of the samples.
  ///   - width: the width in luma samples.
  ///   - height: the height in luma samples.
  ///   - content: the samples.
  ///   - presentationTime: the time at which it is shown, in units of the configuration's
  ///     timescale.
  ///   - duration: how long it is shown, in the same units; 0 if unknown.
  public init(
    format: PictureFormat, width: Int, height: Int, content: Content, presentationTime: Int64,
    duration: Int64 = 0
  ) {
    self.format = format
    self.width = width
    self.height = height
    self.content = content
    self.presentationTime = presentationTime
    self.duration = duration
  }

  /// The planes of a picture in memory.
  /// - Throws: ``CodecError/unsupported(_:)`` for a picture on a surface, which only an encoder
  ///   gets that takes it.
  public func planes() throws(CodecError) -> PlaneViews {
    switch content {
    case .planes(let planes): planes
    case .surface: throw .unsupported("this encoder reads pictures in memory only")
    }
  }
}

/// The planes of a picture: one to three, depending on its format.
public struct PlaneViews {
  /// The only plane, or that of luma.
  public var first: PlaneView
  /// The plane of Cb and Cr, or of Cb.
  public var second: PlaneView?
  /// The plane of Cr.
  public var third: PlaneView?

  /// Creates a list of planes.
  /// - Parameters:
  ///   - first: the only plane, or that of luma.
  ///   - second: the plane of Cb and Cr, or of Cb.
  ///   - third: the plane of Cr.
  public init(_ first: PlaneView, _ second: PlaneView? = nil, _ third: PlaneView? = nil) {
    self.first = first
    self.second = second
    self.third = third
  }
}

/// The session's options for one frame. Every encoder makes key frames on request; the other
/// requests are only made of encoders that have the feature for them.
public struct FrameRequest: Sendable, Equatable {
  /// Whether to make a key frame.
  public var forcesKeyFrame = false
  /// The QP of the frame, in place of that of the rate control; nil: the rate control chooses.
  public var baseQP: Int?
  /// The tokens of long-term references that the receiver has acknowledged. Unknown tokens are
  /// ignored.
  public var acknowledgedTokens: [Int64] = []
  /// Whether to predict the frame from an acknowledged long-term reference only or, if there is
  /// none, to make a key frame.
  public var forcesLongTermRefresh = false
  /// The presentation times of frames that the receiver has lost
  /// (``InputPicture/presentationTime``). No frame may be predicted from them any more.
  public var lostFrames: [Int64] = []
  /// Creates a request for an ordinary frame.
  public init() {}
}
