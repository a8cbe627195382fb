// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Appends pixel buffers to an input that encodes them.
open class AVAssetWriterInputPixelBufferAdaptor: NSObject, @unchecked Sendable {
  // Sendable: immutable; the settings are property-list values that are never changed.
  public let assetWriterInput: AVAssetWriterInput
  /// Core Video's pixel buffer attributes for the buffers of the pool.
  public let sourcePixelBufferAttributes: [String: Any]?

  /// Creates an adaptor.
  /// - Parameters:
  ///   - input: An input of media type `.video` with output settings.
  ///   - sourcePixelBufferAttributes: The pixel format, width and height of buffers from the pool.
  ///     Missing attributes get values that suit the encoder.
  public init(assetWriterInput input: AVAssetWriterInput, sourcePixelBufferAttributes: [String: Any]? = nil) {
    assetWriterInput = input
    self.sourcePixelBufferAttributes = sourcePixelBufferAttributes
    super.init()
    input.lock.withLock { input.sourceAttributes = sourcePixelBufferAttributes.map { $0 as NSDictionary } }
  }

  /// A pool of buffers that the encoder takes without a conversion, unless the attributes ask for
  /// others; nil before `AVAssetWriter.startWriting()`.
  open var pixelBufferPool: CVPixelBufferPool? {
    assetWriterInput.lock.withLock { assetWriterInput.state.pixelBufferPool }
  }

  /// Appends a picture. The pixel buffer must not be changed afterwards.
  /// - Returns: False after a failure; `AVAssetWriter.error` tells the reason.
  @discardableResult
  open func append(_ pixelBuffer: CVPixelBuffer, withPresentationTime presentationTime: CMTime) -> Bool {
    var format: CMFormatDescription?
    CMVideoFormatDescriptionCreateForImageBuffer(
      allocator: kCFAllocatorDefault, imageBuffer: pixelBuffer, formatDescriptionOut: &format)
    var sample: CMSampleBuffer?
    var timing = CMSampleTimingInfo(
      duration: .invalid, presentationTimeStamp: presentationTime, decodeTimeStamp: .invalid)
    if let format {
      CMSampleBufferCreateReadyWithImageBuffer(
        allocator: kCFAllocatorDefault, imageBuffer: pixelBuffer, formatDescription: format,
        sampleTiming: &timing,
        sampleBufferOut: &sample)
    }
    guard let sample else {
      assetWriterInput.writer?.fail(
        AVError(.invalidSourceMedia, reason: "The pixel buffer cannot be described."))
      return false
    }
    return assetWriterInput.append(sample)
  }
}
