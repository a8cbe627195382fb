// SPDX-License-Identifier: Apache-2.0
import CoreVideo

extension CMSampleBuffer {
  /// Creates a sample buffer with data that is ready; see `CMSampleBufferCreate` for the
  /// parameters.
  public convenience init(
    dataBuffer: CMBlockBuffer?, formatDescription: CMFormatDescription?, numSamples: CMItemCount,
    sampleTimings: [CMSampleTimingInfo], sampleSizes: [Int]
  ) throws {
    try self.init(
      data: dataBuffer, isReady: true, format: formatDescription, sampleCount: numSamples,
      sampleTimings: sampleTimings, sampleSizes: sampleSizes, makeReady: nil)
  }

  /// Creates a sample buffer with data that may become ready later; see `CMSampleBufferCreate` for
  /// the parameters.
  public convenience init(
    dataBuffer: CMBlockBuffer?, dataReady: Bool = false, formatDescription: CMFormatDescription?,
    numSamples: CMItemCount, sampleTimings: [CMSampleTimingInfo], sampleSizes: [Int],
    makeDataReadyHandler: @escaping CMSampleBufferMakeDataReadyHandler
  ) throws {
    try self.init(
      data: dataBuffer, isReady: dataReady, format: formatDescription, sampleCount: numSamples,
      sampleTimings: sampleTimings, sampleSizes: sampleSizes, makeReady: makeDataReadyHandler)
  }

  private convenience init(
    data: CMBlockBuffer?, isReady: Bool, format: CMFormatDescription?, sampleCount: Int,
    sampleTimings: [CMSampleTimingInfo], sampleSizes: [Int],
    makeReady: CMSampleBufferMakeDataReadyHandler?
  ) throws {
    guard sampleCount >= 0,
      let timings = sampleTimings.withUnsafeBufferPointer({
        SampleTimings($0.baseAddress, entryCount: $0.count, sampleCount: sampleCount)
      }),
      let sizes = sampleSizes.withUnsafeBufferPointer({
        SampleSizes($0.baseAddress, entryCount: $0.count, sampleCount: sampleCount)
      })
    else { throw Error.invalidEntryCount }
    if sizes.hasNegative { throw Error.invalidSampleData }
    self.init(
      data: data, image: nil, isReady: isReady, format: format, sampleCount: sampleCount, timings: timings,
      sizes: sizes, makeReady: makeReady)
  }

  /// Creates a sample buffer with an image that is ready.
  public convenience init(
    imageBuffer: CVImageBuffer, formatDescription: CMVideoFormatDescription, sampleTiming: CMSampleTimingInfo
  ) throws {
    try self.init(
      image: imageBuffer, isReady: true, format: formatDescription, timing: sampleTiming, makeReady: nil)
  }

  /// Creates a sample buffer with an image that may become ready later.
  public convenience init(
    imageBuffer: CVImageBuffer, dataReady: Bool = false, formatDescription: CMVideoFormatDescription,
    sampleTiming: CMSampleTimingInfo, makeDataReadyHandler: @escaping CMSampleBufferMakeDataReadyHandler
  ) throws {
    try self.init(
      image: imageBuffer, isReady: dataReady, format: formatDescription, timing: sampleTiming,
      makeReady: makeDataReadyHandler)
  }

  private convenience init(
    image: CVImageBuffer, isReady: Bool, format: CMVideoFormatDescription, timing: CMSampleTimingInfo,
    makeReady: CMSampleBufferMakeDataReadyHandler?
  ) throws {
    guard CMVideoFormatDescriptionMatchesImageBuffer(format, imageBuffer: image) else {
      throw Error.invalidMediaFormat
    }
    self.init(
      data: nil, image: image, isReady: isReady, format: format, sampleCount: 1, timings: .uniform(timing),
      sizes: .unknown, makeReady: makeReady)
  }

  /// Creates a copy that shares the data; see `CMSampleBufferCreateCopy`.
  public convenience init(copying sampleBuffer: CMSampleBuffer) throws {
    if sampleBuffer.isInvalidated { throw Error.invalidated }
    self.init(
      derivedFrom: sampleBuffer, data: sampleBuffer.blockBuffer, timings: sampleBuffer.timings,
      sizes: sampleBuffer.sizes)
    explicitOutputTime = sampleBuffer.explicitOutputTime
  }

  /// Creates a copy with other timing; see `CMSampleBufferCreateCopyWithNewTiming`.
  public convenience init(
    copying sampleBuffer: CMSampleBuffer, withNewTiming sampleTimings: [CMSampleTimingInfo]
  ) throws {
    if sampleBuffer.isInvalidated { throw Error.invalidated }
    guard
      let timings = sampleTimings.withUnsafeBufferPointer({
        SampleTimings($0.baseAddress, entryCount: $0.count, sampleCount: sampleBuffer.sampleCount)
      })
    else { throw Error.invalidEntryCount }
    self.init(
      derivedFrom: sampleBuffer, data: sampleBuffer.blockBuffer, timings: timings,
      sizes: sampleBuffer.sizes)
  }

  /// Creates a sample buffer with a range of the samples; see
  /// `CMSampleBufferCopySampleBufferForRange`.
  public convenience init(copying sampleBuffer: CMSampleBuffer, forRange range: Range<Int>) throws {
    if sampleBuffer.isInvalidated { throw Error.invalidated }
    switch sampleBuffer.subdivide(range) {
    case .success(let part):
      self.init(
        derivedFrom: sampleBuffer, data: part.data, sampleRange: range,
        timings: sampleBuffer.timings.range(range), sizes: part.sizes)
    case .failure(let error): throw osStatusError(error.status)
    }
  }
}
