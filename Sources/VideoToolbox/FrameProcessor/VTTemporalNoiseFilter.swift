// SPDX-License-Identifier: Apache-2.0
import CoreMedia

/// The configuration of the temporal noise filter for a session of ``VTFrameProcessor``.
///
/// The filter follows the motion from each frame to its neighbours and averages over time what is
/// alike, so that noise goes and edges stay.
public final class VTTemporalNoiseFilterConfiguration: NSObject, VTFrameProcessorConfiguration, Sendable {
  /// The width of the frames in pixels.
  public let frameWidth: Int
  /// The height of the frames in pixels.
  public let frameHeight: Int
  /// The pixel format of the frames.
  let pixelFormat: OSType

  /// Describes the frames to filter.
  ///
  /// - Parameters:
  ///   - frameWidth: the width of the frames in pixels.
  ///   - frameHeight: the height of the frames in pixels.
  ///   - sourcePixelFormat: their pixel format, one of `supportedSourcePixelFormats`.
  /// - Returns: nil for a size outside of `minimumDimensions` to `maximumDimensions`, or another
  ///   pixel format.
  public init?(frameWidth: Int, frameHeight: Int, sourcePixelFormat: OSType) {
    let (minimum, maximum) = (Self.minimumDimensions, Self.maximumDimensions)
    guard (Int(minimum.width)...Int(maximum.width)).contains(frameWidth),
      (Int(minimum.height)...Int(maximum.height)).contains(frameHeight),
      Self.supportedSourcePixelFormats.contains(sourcePixelFormat)
    else { return nil }
    self.frameWidth = frameWidth
    self.frameHeight = frameHeight
    pixelFormat = sourcePixelFormat
    super.init()
  }

  /// The pixel formats that the filter takes: 8 bits, 4:2:0, in two planes or in three.
  public static let supportedSourcePixelFormats: [OSType] = [
    kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, kCVPixelFormatType_420YpCbCr8BiPlanarFullRange,
    kCVPixelFormatType_420YpCbCr8Planar, kCVPixelFormatType_420YpCbCr8PlanarFullRange,
  ]

  /// The pixel formats of source, reference and destination buffers: that of the configuration.
  public var supportedPixelFormats: [OSType] { [pixelFormat] }

  /// The pixel format and the size of source and reference buffers.
  public var sourcePixelBufferAttributes: [String: any Sendable] {
    [
      kCVPixelBufferPixelFormatTypeKey as String: pixelFormat,
      kCVPixelBufferWidthKey as String: frameWidth, kCVPixelBufferHeightKey as String: frameHeight,
    ]
  }

  /// The pixel format and the size of destination buffers, which are those of source buffers.
  public var destinationPixelBufferAttributes: [String: any Sendable] { sourcePixelBufferAttributes }

  /// The greatest number of following frames that are used for a frame: 2.
  public var nextFrameCount: Int { 2 }
  /// The greatest number of preceding frames that are used for a frame: 2.
  public var previousFrameCount: Int { 2 }
  /// The smallest frames, 16x16.
  public static var minimumDimensions: CMVideoDimensions { CMVideoDimensions(width: 16, height: 16) }
  /// The largest frames, 8192x8192.
  public static var maximumDimensions: CMVideoDimensions { CMVideoDimensions(width: 8192, height: 8192) }
  /// Whether the filter is available: true.
  public static var isSupported: Bool { true }
}

/// One frame for the temporal noise filter, with its neighbours.
public final class VTTemporalNoiseFilterParameters: NSObject, VTFrameProcessorParameters {
  /// The frame that is filtered.
  public let sourceFrame: VTFrameProcessorFrame
  /// The frames that follow it, in the order of their times.
  public let nextFrames: [VTFrameProcessorFrame]
  /// The frames that precede it, in the order of their times.
  public let previousFrames: [VTFrameProcessorFrame]
  /// How much is filtered, from 0 (nothing) to 1.
  public var filterStrength: Float
  /// Whether the frame does not continue the previous ones. The filter of this package keeps
  /// nothing from one frame to the next, and uses no preceding frames for such a frame.
  public var hasDiscontinuity: Bool
  /// The frame that receives the result.
  public let destinationFrame: VTFrameProcessorFrame

  /// Describes a frame to filter. At least one neighbour is needed.
  ///
  /// - Parameters:
  ///   - sourceFrame: the frame.
  ///   - nextFrames: the frames that follow it in the order of their times, up to the
  ///     configuration's `nextFrameCount`.
  ///   - previousFrames: the frames that precede it in the order of their times, up to the
  ///     configuration's `previousFrameCount`.
  ///   - destinationFrame: receives the filtered frame, in the source's pixel format and size.
  ///   - filterStrength: how much is filtered, from 0 (nothing) to 1.
  ///   - hasDiscontinuity: whether the frame does not continue the previous ones.
  /// - Returns: nil without a neighbour, or for a strength outside of 0 to 1.
  public init?(
    sourceFrame: VTFrameProcessorFrame, nextFrames: [VTFrameProcessorFrame],
    previousFrames: [VTFrameProcessorFrame], destinationFrame: VTFrameProcessorFrame,
    filterStrength: Float, hasDiscontinuity: Bool
  ) {
    guard !nextFrames.isEmpty || !previousFrames.isEmpty, (0...1).contains(filterStrength) else {
      return nil
    }
    self.sourceFrame = sourceFrame
    self.nextFrames = nextFrames
    self.previousFrames = previousFrames
    self.destinationFrame = destinationFrame
    self.filterStrength = filterStrength
    self.hasDiscontinuity = hasDiscontinuity
    super.init()
  }
}
