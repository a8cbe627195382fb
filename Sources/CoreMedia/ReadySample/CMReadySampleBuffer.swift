// SPDX-License-Identifier: Apache-2.0
import CoreVideo
import Foundation

/// A sample buffer whose data is there, and which nobody changes any more.
public struct CMReadySampleBuffer<Content: CMSampleBuffer.Content>: @unchecked Sendable {
  // Sendable: the initializers take the buffer over, and it is copied before it is changed.
  var buffer: CMSampleBuffer
  /// What was checked to be there. It stays, also when the buffer is made invalid by somebody who took it.
  let held: Held

  struct Held {
    var format: CMFormatDescription?
    var data: CMBlockBuffer?
    var image: CVImageBuffer?
    var reference: CMSampleDataReference?

    init(_ buffer: CMSampleBuffer) {
      format = buffer.formatDescription
      data = buffer.dataBuffer
      image = buffer.imageBuffer
      reference = buffer.sampleDataReference
    }
  }

  init(checked buffer: CMSampleBuffer) {
    self.buffer = buffer
    held = Held(buffer)
  }

  /// Gives the sample buffer to functions that take one.
  public func withUnsafeSampleBuffer<R>(_ body: (CMSampleBuffer) throws -> sending R) rethrows -> sending R {
    try body(buffer)
  }

  public var contentType: CMSampleBuffer.ContentType { buffer.contentType }
  public var formatDescription: CMFormatDescription? { buffer.formatDescription }
  /// The earliest of all samples.
  public var presentationTimeStamp: CMTime { buffer.presentationTimeStamp }
  /// The earliest of all samples; invalid if they are in presentation order.
  public var decodeTimeStamp: CMTime { buffer.decodeTimeStamp }
  /// Of all samples.
  public var duration: CMTime { buffer.duration }
  /// After trimming, divided by the speed.
  public var outputDuration: CMTime { buffer.outputDuration }
  public var outputDecodeTimeStamp: CMTime { buffer.outputDecodeTimeStamp }

  /// The time that was set, or the one that follows from the presentation time and what is trimmed.
  public var outputPresentationTimeStamp: CMTime {
    get { buffer.outputPresentationTimeStamp }
    set { change { try $0.setOutputPresentationTimeStamp(newValue) } }
  }

  /// Changes a copy of the buffer, which others may have.
  mutating func change(_ body: (CMSampleBuffer) throws -> Void) {
    guard let copy = try? CMSampleBuffer(copying: buffer), (try? body(copy)) != nil else { return }
    buffer = copy
  }

  /// Gives the only sample other times.
  mutating func retime(_ body: (inout CMSampleTimingInfo) -> Void) {
    guard var timing = try? buffer.sampleTimingInfo(at: 0) else { return }
    body(&timing)
    if let copy = try? CMSampleBuffer(copying: buffer, withNewTiming: [timing]) { buffer = copy }
  }
}

extension CMReadySampleBuffer where Content: CMSampleBuffer.ContentWithFormatDescription {
  public var formatDescription: CMFormatDescription {
    guard let description = held.format else {
      preconditionFailure("checked when it was made")
    }
    return description
  }
}

extension CMReadySampleBuffer where Content: CMSampleBuffer.MultiSampleContent {
  public var sampleCount: Int { buffer.numSamples }
  /// Bytes; 0 if unknown.
  public var totalSampleSize: Int { buffer.totalSampleSize }

  /// Sizes, times and attachments of each sample.
  public var sampleProperties: CMSampleBuffer.SamplePropertiesCollection {
    CMSampleBuffer.SamplePropertiesCollection(buffer)
  }

  /// Times of the samples after trimming, speed and reversal.
  public var outputSampleTimings: CMSampleBuffer.TimingPerSample? {
    guard let timings = try? buffer.outputSampleTimingInfos(), let first = timings.first else { return nil }
    return timings.count == 1 ? .sequential(startingAt: first) : .distinct(timings)
  }

  /// A buffer for each sample; the whole where samples cannot be told apart.
  public func splitSamples() -> [CMReadySampleBuffer<Content>] {
    guard buffer.numSamples > 1, let parts = try? buffer.singleSampleBuffers() else { return [self] }
    let split = parts.map { part in
      // The reference is needed, whether it is to be propagated or not.
      if held.data == nil, held.image == nil, let reference = held.reference, part.sampleDataReference == nil
      {
        part.attach(reference)
      }
      return CMReadySampleBuffer(checked: part)
    }
    return split.count == buffer.numSamples ? split : [self]
  }
}

// MARK: - Content of any kind

extension CMReadySampleBuffer where Content == CMSampleBuffer.DynamicContent {
  public init(_ other: CMReadySampleBuffer<some CMSampleBuffer.Content>) {
    self.init(checked: other.buffer)
  }

  /// Takes a sample buffer over, which nobody may change any more, and whose data is ready.
  public init(unsafeBuffer: sending CMSampleBuffer) {
    precondition(CMSampleBufferDataIsReady(unsafeBuffer), "the sample buffer's data is not ready")
    self.init(checked: unsafeBuffer)
  }

  public var content: CMSampleBuffer.DynamicContent {
    if let image = buffer.imageBuffer { return .pixelBuffer(CVReadOnlyPixelBuffer(unsafeBuffer: image)) }
    if let group = buffer.tagged {
      return .taggedBuffers(group.map { CMTaggedDynamicBuffer(member: $0) })
    }
    if let data = buffer.dataBuffer {
      return .dataBuffer(CMReadOnlyDataBlockBuffer(unsafeBlockBuffer: data))
    }
    return buffer.sampleDataReference.map { .sampleReference($0) } ?? .markerOnly
  }
}

// MARK: - Markers

extension CMReadySampleBuffer where Content == Never {
  /// A marker: no samples, no format, attachments that tell something of the stream.
  public init(markerAt time: CMTime, duration: CMTime = .invalid) {
    let timing = CMSampleTimingInfo(
      duration: duration, presentationTimeStamp: time, decodeTimeStamp: .invalid)
    self.init(
      checked: CMSampleBuffer(
        data: nil, image: nil, isReady: true, format: nil, sampleCount: 0, timings: .uniform(timing),
        sizes: .unknown))
    try? buffer.setOutputPresentationTimeStamp(time)
  }

  /// Takes a sample buffer without samples over, which nobody may change any more.
  public init(unsafeMarkerOnlySampleBuffer unsafeBuffer: sending CMSampleBuffer) {
    precondition(unsafeBuffer.contentType == .markerOnly, "the sample buffer has content")
    self.init(checked: unsafeBuffer)
  }

  /// Nil if the buffer has content.
  public init?(_ other: CMReadySampleBuffer<CMSampleBuffer.DynamicContent>) {
    guard other.contentType == .markerOnly else { return nil }
    self.init(checked: other.buffer)
  }

  public var markerTimeStamp: CMTime { buffer.outputPresentationTimeStamp }
}
