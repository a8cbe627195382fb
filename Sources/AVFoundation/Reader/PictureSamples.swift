// SPDX-License-Identifier: Apache-2.0
/// Makes sample buffers of pictures. Consecutive pictures of the same format share a format
/// description.
struct PictureSamples {
  private var format: CMFormatDescription?

  mutating func make(_ image: CVPixelBuffer, _ timing: CMSampleTimingInfo) throws -> CMSampleBuffer {
    if let known = format, !CMVideoFormatDescriptionMatchesImageBuffer(known, imageBuffer: image) {
      format = nil
    }
    if format == nil {
      CMVideoFormatDescriptionCreateForImageBuffer(
        allocator: kCFAllocatorDefault, imageBuffer: image, formatDescriptionOut: &format)
    }
    guard let format else { throw AVError(.unknown, reason: "The picture's format cannot be described.") }
    var timing = timing
    var made: CMSampleBuffer?
    let status = CMSampleBufferCreateReadyWithImageBuffer(
      allocator: kCFAllocatorDefault, imageBuffer: image, formatDescription: format, sampleTiming: &timing,
      sampleBufferOut: &made)
    guard status == noErr, let made else {
      throw AVError(.outOfMemory, reason: "A sample buffer cannot be made (\(status)).")
    }
    return made
  }
}
