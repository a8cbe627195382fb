// SPDX-License-Identifier: Apache-2.0
import CoreVideo

/// A buffer of media with tags that describe it, for example the eye for which a picture is
/// intended.
public struct CMTaggedBuffer: Sendable, CustomStringConvertible {
  public let tags: [CMTag]
  public let buffer: Buffer

  public enum Buffer: Sendable {
    case pixelBuffer(CVPixelBuffer)
    case sampleBuffer(CMSampleBuffer)
  }

  public init(tags: [CMTag], buffer: Buffer) {
    self.tags = tags
    self.buffer = buffer
  }

  public init(tags: [CMTag], pixelBuffer: CVPixelBuffer) {
    self.init(tags: tags, buffer: .pixelBuffer(pixelBuffer))
  }

  public init(tags: [CMTag], sampleBuffer: CMSampleBuffer) {
    self.init(tags: tags, buffer: .sampleBuffer(sampleBuffer))
  }

  public var description: String { "CMTaggedBuffer \(tags) \(buffer)" }
}

/// The format description of a group of tagged buffers.
public typealias CMTaggedBufferGroupFormatDescription = CMFormatDescription
/// The subtype of the format description of a group of tagged buffers.
public typealias CMTaggedBufferGroupFormatType = FourCharCode
// 'tbgr'
public let kCMTaggedBufferGroupFormatType_TaggedBufferGroup: CMTaggedBufferGroupFormatType = 0x7462_6772

extension CMFormatDescription.MediaType {
  public static let taggedBufferGroup = CMFormatDescription.MediaType(
    rawValue: kCMMediaType_TaggedBufferGroup)
}

extension CMFormatDescription.MediaSubType {
  public static let taggedBufferGroup = CMFormatDescription.MediaSubType(
    rawValue: kCMTaggedBufferGroupFormatType_TaggedBufferGroup)
}

extension CMFormatDescription {
  /// Creates a description of a group of tagged buffers.
  /// - Throws: `CMFormatDescription.Error.invalidParameter` if the group is empty.
  public convenience init(taggedBuffers: [CMTaggedBuffer]) throws {
    guard !taggedBuffers.isEmpty else { throw Error.invalidParameter }
    self.init(
      mediaType: kCMMediaType_TaggedBufferGroup,
      mediaSubType: kCMTaggedBufferGroupFormatType_TaggedBufferGroup, extensions: nil)
  }

  /// Creates a description of a group of tagged buffers, which must not be empty.
  public convenience init(taggedBuffers: [CMTaggedDynamicBuffer]) {
    precondition(!taggedBuffers.isEmpty, "a group of no buffers")
    self.init(
      mediaType: kCMMediaType_TaggedBufferGroup,
      mediaSubType: kCMTaggedBufferGroupFormatType_TaggedBufferGroup, extensions: nil)
  }
}

extension CMSampleBuffer {
  /// Creates a sample buffer with a group of tagged buffers, for example the pictures for both
  /// eyes.
  /// - Throws: `CMSampleBuffer.Error.invalidMediaFormat` if the format description is of another
  ///   media type, `requiredParameterMissing` if the group is empty.
  public convenience init(
    taggedBuffers: [CMTaggedBuffer], presentationTimeStamp: CMTime, duration: CMTime,
    formatDescription: CMTaggedBufferGroupFormatDescription
  ) throws {
    guard !taggedBuffers.isEmpty else { throw Error.requiredParameterMissing }
    guard formatDescription.mediaType == .taggedBufferGroup else { throw Error.invalidMediaFormat }
    self.init(
      data: nil, image: nil, taggedBuffers: taggedBuffers, isReady: true, format: formatDescription,
      sampleCount: 1,
      timings: .uniform(
        CMSampleTimingInfo(
          duration: duration, presentationTimeStamp: presentationTimeStamp, decodeTimeStamp: .invalid)),
      sizes: .unknown)
  }

  /// The tagged buffers of this sample; nil if it has none.
  public var taggedBuffers: [CMTaggedBuffer]? { tagged }
}

/// An immutable buffer of media with tags that describe it.
public struct CMTaggedDynamicBuffer: Sendable {
  public var tags: [CMTag]
  public var content: Content

  public enum Content: Sendable {
    case pixelBuffer(CVReadOnlyPixelBuffer)
    case sampleBuffer(CMReadySampleBuffer<CMSampleBuffer.DynamicContent>)
  }

  public init(tags: [CMTag], content: Content) {
    self.tags = tags
    self.content = content
  }

  public init(tags: [CMTag], content: CVReadOnlyPixelBuffer) {
    self.init(tags: tags, content: .pixelBuffer(content))
  }

  public init(tags: [CMTag], content: CMReadySampleBuffer<CVReadOnlyPixelBuffer>) {
    self.init(tags: tags, content: .sampleBuffer(CMReadySampleBuffer(content)))
  }

  public init(tags: [CMTag], content: CMReadySampleBuffer<CMReadOnlyDataBlockBuffer>) {
    self.init(tags: tags, content: .sampleBuffer(CMReadySampleBuffer(content)))
  }

  /// Takes ownership of a buffer, which must not be changed from here on. A sample buffer's data
  /// must be ready.
  public init(unsafeBuffer: sending CMTaggedBuffer) {
    if case .sampleBuffer(let buffer) = unsafeBuffer.buffer {
      precondition(CMSampleBufferDataIsReady(buffer), "the sample buffer's data is not ready")
    }
    self.init(member: unsafeBuffer)
  }

  /// Creates a tagged buffer from a member of a group whose own data is ready. A sample buffer is
  /// used with whatever content it has.
  init(member: CMTaggedBuffer) {
    let content: Content =
      switch member.buffer {
      case .pixelBuffer(let buffer): .pixelBuffer(CVReadOnlyPixelBuffer(unsafeBuffer: buffer))
      case .sampleBuffer(let buffer): .sampleBuffer(CMReadySampleBuffer(checked: buffer))
      }
    self.init(tags: member.tags, content: content)
  }

  public func withUnsafeTaggedBuffer<R>(_ body: (CMTaggedBuffer) throws -> sending R) rethrows -> sending R {
    try body(unsafeTaggedBuffer)
  }

  fileprivate var unsafeTaggedBuffer: CMTaggedBuffer {
    switch content {
    case .pixelBuffer(let buffer):
      CMTaggedBuffer(tags: tags, pixelBuffer: buffer.withUnsafeBuffer { $0 })
    case .sampleBuffer(let buffer):
      CMTaggedBuffer(tags: tags, sampleBuffer: buffer.withUnsafeSampleBuffer { $0 })
    }
  }
}

extension Array where Element == CMTaggedDynamicBuffer {
  /// Calls a closure with the buffers as `CMTaggedBuffer` values, for functions that need these.
  public func withUnsafeTaggedBuffers<R>(_ body: ([CMTaggedBuffer]) throws -> sending R) rethrows -> sending R
  {
    try body(map(\.unsafeTaggedBuffer))
  }
}
