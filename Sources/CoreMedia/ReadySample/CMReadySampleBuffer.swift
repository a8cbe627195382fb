// SPDX-License-Identifier: Apache-2.0
import CoreVideo
import Foundation

/// An immutable sample buffer whose data is ready.
public struct CMReadySampleBuffer<Content: CMSampleBuffer.Content>: @unchecked Sendable {
  // Sendable: the initialisers take ownership of the buffer, and it is copied before it is changed.
  var buffer: CMSampleBuffer
  /// The content of the sample buffer at initialisation. It is retained here because other code may
  /// invalidate the sample buffer.
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

  /// Calls a closure with the sample buffer, for functions that need one.
  public func withUnsafeSampleBuffer<R>(_ body: (CMSampleBuffer) throws -> sending R) rethrows -> sending R {
    try body(buffer)
  }

  public var contentType: CMSampleBuffer.ContentType { buffer.contentType }
  public var formatDescription: CMFormatDescription? { buffer.formatDescription }
  /// The earliest presentation time of all samples.
  public var presentationTimeStamp: CMTime { buffer.presentationTimeStamp }
  /// The earliest decode time of all samples; invalid if they are in presentation order.
  public var decodeTimeStamp: CMTime { buffer.decodeTimeStamp }
  /// The duration of all samples.
  public var duration: CMTime { buffer.duration }
  /// The duration after trimming, divided by the speed.
  public var outputDuration: CMTime { buffer.outputDuration }
  public var outputDecodeTimeStamp: CMTime { buffer.outputDecodeTimeStamp }

  /// The output presentation time that was set, or the one that follows from the presentation time
  /// and the trimmed duration.
  public var outputPresentationTimeStamp: CMTime {
    get { buffer.outputPresentationTimeStamp }
    set { change { try $0.setOutputPresentationTimeStamp(newValue) } }
  }

  /// Changes a copy of the sample buffer, because the original may be shared.
  mutating func change(_ body: (CMSampleBuffer) throws -> Void) {
    guard let copy = try? CMSampleBuffer(copying: buffer), (try? body(copy)) != nil else { return }
    buffer = copy
  }

  /// Changes the times of the only sample.
  mutating func retime(_ body: (inout CMSampleTimingInfo) -> Void) {
    guard var timing = try? buffer.sampleTimingInfo(at: 0) else { return }
    body(&timing)
    if let copy = try? CMSampleBuffer(copying: buffer, withNewTiming: [timing]) { buffer = copy }
  }
}

extension CMReadySampleBuffer where Content: CMSampleBuffer.ContentWithFormatDescription {
  public var formatDescription: CMFormatDescription {
    guard let description = held.format else {
      preconditionFailure("the initialiser has checked the format description")
    }
    return description
  }
}

extension CMReadySampleBuffer where Content: CMSampleBuffer.MultiSampleContent {
  public var sampleCount: Int { buffer.numSamples }
  /// The size of all samples in bytes; 0 if unknown.
  public var totalSampleSize: Int { buffer.totalSampleSize }

  /// The size, the times and the attachments of each sample.
  public var sampleProperties: CMSampleBuffer.SamplePropertiesCollection {
    CMSampleBuffer.SamplePropertiesCollection(buffer)
  }

  /// The times of the samples after trimming, change of speed and reversal; nil if there are none.
  public var outputSampleTimings: CMSampleBuffer.TimingPerSample? {
    guard let timings = try? buffer.outputSampleTimingInfos(), let first = timings.first else { return nil }
    return timings.count == 1 ? .sequential(startingAt: first) : .distinct(timings)
  }

  /// Divides the buffer into buffers with one sample each. If the samples cannot be separated, the
  /// result is the buffer itself.
  public func splitSamples() -> [CMReadySampleBuffer<Content>] {
    guard buffer.numSamples > 1, let parts = try? buffer.singleSampleBuffers() else { return [self] }
    let split = parts.map { part in
      // The reference is attached to each part, whether or not it is propagated.
      if held.data == nil, held.image == nil, let reference = held.reference, part.sampleDataReference == nil
      {
        part.attach(reference)
      }
      return CMReadySampleBuffer(checked: part)
    }
    return split.count == buffer.numSamples ? split : [self]
  }
}

// MARK: - Dynamic content

extension CMReadySampleBuffer where Content == CMSampleBuffer.DynamicContent {
  public init(_ other: CMReadySampleBuffer<some CMSampleBuffer.Content>) {
    self.init(checked: other.buffer)
  }

  /// Takes ownership of a sample buffer, which must not be changed from here on, and whose data
  /// must be ready.
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
  /// Creates a marker: a sample buffer without samples and format, whose attachments describe the
  /// stream.
  public init(markerAt time: CMTime, duration: CMTime = .invalid) {
    let timing = CMSampleTimingInfo(
      duration: duration, presentationTimeStamp: time, decodeTimeStamp: .invalid)
    self.init(
      checked: CMSampleBuffer(
        data: nil, image: nil, isReady: true, format: nil, sampleCount: 0, timings: .uniform(timing),
        sizes: .unknown))
    try? buffer.setOutputPresentationTimeStamp(time)
  }

  /// Takes ownership of a sample buffer without samples, which must not be changed from here on.
  public init(unsafeMarkerOnlySampleBuffer unsafeBuffer: sending CMSampleBuffer) {
    precondition(unsafeBuffer.contentType == .markerOnly, "the sample buffer has content")
    self.init(checked: unsafeBuffer)
  }

  /// Creates a buffer from one whose content is known only at run time; nil if it has content.
  public init?(_ other: CMReadySampleBuffer<CMSampleBuffer.DynamicContent>) {
    guard other.contentType == .markerOnly else { return nil }
    self.init(checked: other.buffer)
  }

  public var markerTimeStamp: CMTime { buffer.outputPresentationTimeStamp }
}
