// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Appends pixel buffers to an input that encodes.
open class AVAssetWriterInputPixelBufferAdaptor: NSObject, @unchecked Sendable {
  // Sendable: immutable; the settings are property-list values that nobody changes.
  public let assetWriterInput: AVAssetWriterInput
  /// Core Video's pixel buffer attributes: what the pool's buffers are to be like.
  public let sourcePixelBufferAttributes: [String: Any]?

  /// Of the parameters:
  ///
  /// - `sourcePixelBufferAttributes`: The pixel format, width and height of buffers from the pool. What is
  ///   missing follows the encoder.
  public init(assetWriterInput input: AVAssetWriterInput, sourcePixelBufferAttributes: [String: Any]? = nil) {
    assetWriterInput = input
    self.sourcePixelBufferAttributes = sourcePixelBufferAttributes
    super.init()
    input.lock.withLock { input.sourceAttributes = sourcePixelBufferAttributes.map { $0 as NSDictionary } }
  }

  /// Buffers that the encoder takes without a conversion; nil before `AVAssetWriter.startWriting()`.
  open var pixelBufferPool: CVPixelBufferPool? {
    assetWriterInput.lock.withLock { assetWriterInput.state.pixelBufferPool }
  }

  /// Appends a picture. Do not change it afterwards.
  /// - Returns: False after a failure: see `AVAssetWriter.error`.
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
