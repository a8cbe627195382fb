// SPDX-License-Identifier: Apache-2.0
import CoreMedia

/// The configuration of an effect for a session of `VTFrameProcessor`.
public protocol VTFrameProcessorConfiguration: AnyObject {
  /// The pixel formats of source, reference and destination frames.
  var frameSupportedPixelFormats: [OSType] { get }
  /// What source and reference buffers have to be like, as attributes of pixel buffers.
  var sourcePixelBufferAttributes: [String: any Sendable] { get }
  /// What destination buffers have to be like, as attributes of pixel buffers.
  var destinationPixelBufferAttributes: [String: any Sendable] { get }
  /// The greatest number of following frames that the effect uses.
  var nextFrameCount: Int { get }
  /// The greatest number of preceding frames that the effect uses.
  var previousFrameCount: Int { get }
  /// Whether the effect is available.
  static var isSupported: Bool { get }
}

extension VTFrameProcessorConfiguration {
  public var nextFrameCount: Int { 0 }
  public var previousFrameCount: Int { 0 }
}

/// One frame for a session of `VTFrameProcessor`, with what the effect needs for it.
public protocol VTFrameProcessorParameters: AnyObject {
  /// The frame that is processed.
  var sourceFrame: VTFrameProcessorFrame { get }
  /// The frame that receives the result, if the effect makes one.
  var destinationFrame: VTFrameProcessorFrame? { get }
  /// The frames that receive the results, if the effect makes several.
  var destinationFrames: [VTFrameProcessorFrame]? { get }
}

extension VTFrameProcessorParameters {
  public var destinationFrame: VTFrameProcessorFrame? { nil }
  public var destinationFrames: [VTFrameProcessorFrame]? { nil }
}

/// A pixel buffer with its time: a source, a reference or a destination of `VTFrameProcessor`.
open class VTFrameProcessorFrame: NSObject, @unchecked Sendable {
  // Sendable: both properties are constant.
  /// The pixel buffer.
  public let buffer: CVPixelBuffer
  /// The time at which the frame is shown.
  public let presentationTimeStamp: CMTime

  /// Keeps a pixel buffer. (On Apple's systems it has to have an `IOSurface`. Here any buffer may be
  /// used, so that this is never nil.)
  ///
  /// - Parameters:
  ///   - buffer: the pixel buffer.
  ///   - presentationTimeStamp: the time at which the frame is shown.
  public init?(buffer: CVPixelBuffer, presentationTimeStamp: CMTime) {
    self.buffer = buffer
    self.presentationTimeStamp = presentationTimeStamp
    super.init()
  }
}
