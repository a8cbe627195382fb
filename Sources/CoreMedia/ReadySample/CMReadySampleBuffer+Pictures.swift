// SPDX-License-Identifier: Apache-2.0
import CoreVideo
import Foundation

extension CMReadySampleBuffer where Content == CVReadOnlyPixelBuffer {
  /// Creates a buffer with a picture.
  ///
  /// - Parameters:
  ///   - content: The picture.
  ///   - formatDescription: The format of the picture; nil to create one.
  ///   - presentationTimeStamp: The presentation time, which must be numeric.
  ///   - duration: The duration.
  public init(
    pixelBuffer content: Content, formatDescription: CMVideoFormatDescription? = nil,
    presentationTimeStamp: CMTime, duration: CMTime = .invalid
  ) {
    let buffer = content.withUnsafeBuffer { image -> CMSampleBuffer? in
      guard let format = formatDescription ?? (try? CMVideoFormatDescription(imageBuffer: image)) else {
        return nil
      }
      return try? CMSampleBuffer(
        imageBuffer: image, formatDescription: format,
        sampleTiming: CMSampleTimingInfo(
          duration: duration, presentationTimeStamp: presentationTimeStamp, decodeTimeStamp: .invalid))
    }
    guard let buffer else {
      preconditionFailure("the format description does not describe the pixel buffer")
    }
    self.init(checked: buffer)
  }

  /// Takes ownership of a sample buffer with a picture, which must not be changed from here on.
  public init(unsafeWithPixelBuffer unsafeBuffer: sending CMSampleBuffer) {
    precondition(
      unsafeBuffer.imageBuffer != nil && CMSampleBufferDataIsReady(unsafeBuffer),
      "the sample buffer contains no pixel buffer, or it is not ready")
    self.init(checked: unsafeBuffer)
  }

  /// Creates a buffer from one whose content is known only at run time; nil if that is not a
  /// picture.
  public init?(_ other: CMReadySampleBuffer<CMSampleBuffer.DynamicContent>) {
    guard other.contentType == .pixelBuffer else { return nil }
    self.init(checked: other.buffer)
  }

  public var content: CVReadOnlyPixelBuffer {
    guard let image = held.image else {
      preconditionFailure("the initialiser has checked the format description")
    }
    return CVReadOnlyPixelBuffer(unsafeBuffer: image)
  }

  public var presentationTimeStamp: CMTime {
    get { buffer.presentationTimeStamp }
    set { retime { $0.presentationTimeStamp = newValue } }
  }

  public var duration: CMTime {
    get { buffer.duration }
    set { retime { $0.duration = newValue } }
  }

  public var sampleAttachments: CMSampleBuffer.SampleAttachments {
    get { CMSampleBuffer.SampleAttachments(buffer, 0) }
    set { change { newValue.apply(to: $0, 0) } }
  }
}

extension CMReadySampleBuffer where Content == [CMTaggedDynamicBuffer] {
  /// Creates a buffer with a group of tagged buffers, which must not be empty.
  ///
  /// - Parameters:
  ///   - content: The group.
  ///   - formatDescription: The format of the group; nil to create one.
  ///   - presentationTimeStamp: The presentation time, which must be numeric.
  ///   - duration: The duration.
  public init(
    taggedBuffers content: Content, formatDescription: CMTaggedBufferGroupFormatDescription? = nil,
    presentationTimeStamp: CMTime, duration: CMTime = .invalid
  ) {
    let made = content.withUnsafeTaggedBuffers { group in
      try? CMSampleBuffer(
        taggedBuffers: group, presentationTimeStamp: presentationTimeStamp, duration: duration,
        formatDescription: formatDescription ?? CMFormatDescription(taggedBuffers: group))
    }
    guard let made else { preconditionFailure("no buffers, or a description of something else") }
    self.init(checked: made)
  }

  /// Takes ownership of a sample buffer with tagged buffers, which must not be changed from here
  /// on.
  public init(unsafeWithTaggedBuffers unsafeBuffer: sending CMSampleBuffer) {
    precondition(unsafeBuffer.taggedBuffers != nil, "the sample buffer contains no tagged buffers")
    self.init(checked: unsafeBuffer)
  }

  /// Creates a buffer from one whose content is known only at run time; nil if that is not a group
  /// of tagged buffers.
  public init?(_ other: CMReadySampleBuffer<CMSampleBuffer.DynamicContent>) {
    guard other.contentType == .taggedBuffers else { return nil }
    self.init(checked: other.buffer)
  }

  public var content: [CMTaggedDynamicBuffer] {
    (buffer.taggedBuffers ?? []).map { CMTaggedDynamicBuffer(member: $0) }
  }

  public var presentationTimeStamp: CMTime {
    get { buffer.presentationTimeStamp }
    set { retime { $0.presentationTimeStamp = newValue } }
  }

  public var duration: CMTime {
    get { buffer.duration }
    set { retime { $0.duration = newValue } }
  }

  public var sampleAttachments: CMSampleBuffer.SampleAttachments {
    get { CMSampleBuffer.SampleAttachments(buffer, 0) }
    set { change { newValue.apply(to: $0, 0) } }
  }
}
