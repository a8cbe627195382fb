// SPDX-License-Identifier: Apache-2.0
import CoreMedia

/// The configuration of an effect for a session of `VTFrameProcessor`.
public protocol VTFrameProcessorConfiguration: NSObjectProtocol, Sendable {
  /// The pixel formats of source, reference and destination frames.
  var supportedPixelFormats: [OSType] { get }
  /// The required pixel buffer attributes of source and reference buffers.
  var sourcePixelBufferAttributes: [String: any Sendable] { get }
  /// The required pixel buffer attributes of destination buffers.
  var destinationPixelBufferAttributes: [String: any Sendable] { get }
  /// Whether the effect is available.
  static var isSupported: Bool { get }
}

extension VTFrameProcessorConfiguration {
  /// The greatest number of following frames that the effect uses; nil if it uses none.
  public var nextFrameCount: Int? { (self as? any FrameEffectConfiguration)?.frameCounts.next }
  /// The greatest number of preceding frames that the effect uses; nil if it uses none.
  public var previousFrameCount: Int? { (self as? any FrameEffectConfiguration)?.frameCounts.previous }
}

/// One frame for a session of `VTFrameProcessor`, with what the effect needs for it.
public protocol VTFrameProcessorParameters: NSObjectProtocol {
  /// The frame that is processed.
  var sourceFrame: VTFrameProcessorFrame { get }
}

extension VTFrameProcessorParameters {
  /// The frame that receives the result; nil if the effect makes none.
  public var destinationFrame: VTFrameProcessorFrame? {
    (self as? VTTemporalNoiseFilterParameters)?.destinationFrame
  }
}

/// A pixel buffer with its time: a source, a reference or a destination of `VTFrameProcessor`.
open class VTFrameProcessorFrame: NSObject, @unchecked Sendable {
  // Sendable: both properties are constant.
  /// The pixel buffer.
  public let buffer: CVPixelBuffer
  /// The time at which the frame is shown.
  public let presentationTimeStamp: CMTime

  /// Keeps a pixel buffer. (On Apple's systems it has to have an `IOSurface`. Here any buffer may
  /// be used, so that this is never nil.)
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
