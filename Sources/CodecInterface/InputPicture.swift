// SPDX-License-Identifier: Apache-2.0
import CoreVideo

/// A picture to encode, in memory or on a surface, which belongs to the caller and is valid during the call.
public struct InputPicture {
  /// Where the samples are.
  public enum Content {
    /// In memory, for reading.
    case planes(PlaneViews)
    /// Somewhere else, where this encoder can reach them: ``EncoderDescription/takesSurface`` said so. One stream may
    /// have pictures of both kinds.
    case surface(any OVTPixelBufferSurface)
  }

  public var format: PictureFormat
  public var width: Int
  public var height: Int
  public var content: Content
  /// In units of the configuration's timescale; greater than that of the picture before.
  public var presentationTime: Int64
  /// 0 if unknown.
  public var duration: Int64

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
  /// - Throws: `unsupported` for a surface, which comes only to an encoder that said that it takes it.
  public func planes() throws(CodecError) -> PlaneViews {
    switch content {
    case .planes(let planes): planes
    case .surface: throw .unsupported("this encoder reads pictures in memory only")
    }
  }
}

/// The planes of a picture: one to three, as the format says.
public struct PlaneViews {
  public var first: PlaneView
  public var second: PlaneView?
  public var third: PlaneView?

  public init(_ first: PlaneView, _ second: PlaneView? = nil, _ third: PlaneView? = nil) {
    self.first = first
    self.second = second
    self.third = third
  }
}

/// What one frame is to be like. Key frames can be asked of every encoder, the rest of one with the feature behind it.
public struct FrameRequest: Sendable, Equatable {
  public var forcesKeyFrame = false
  /// Quantiser of the frame in place of rate control's.
  public var baseQP: Int?
  /// Long-term references that the receiver says it has. Unknown tokens are ignored.
  public var acknowledgedTokens: [Int64] = []
  /// Predict from an acknowledged long-term reference alone, or make a key frame.
  public var forcesLongTermRefresh = false
  /// Presentation times of frames that the receiver has lost, as ``InputPicture/presentationTime`` was: nothing may be
  /// predicted from them any more.
  public var lostFrames: [Int64] = []
  public init() {}
}
