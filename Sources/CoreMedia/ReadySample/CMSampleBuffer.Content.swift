// SPDX-License-Identifier: Apache-2.0
import CoreVideo
import Foundation

extension CMSampleBuffer {
  /// The content of a sample buffer: a picture, data, tagged buffers, a reference to data, or
  /// nothing (`Never`).
  public protocol Content: Sendable {}
  /// Content with a format description.
  public protocol ContentWithFormatDescription: Content {}
  /// Content that may consist of several samples.
  public protocol MultiSampleContent: Content {}

  /// Content whose type is known only at run time.
  public enum DynamicContent: MultiSampleContent {
    case pixelBuffer(CVReadOnlyPixelBuffer)
    case dataBuffer(CMReadOnlyDataBlockBuffer)
    case taggedBuffers([CMTaggedDynamicBuffer])
    case sampleReference(CMSampleDataReference)
    /// There are no samples; attachments describe the stream.
    case markerOnly
  }

  /// The type of the content of a sample buffer.
  public enum ContentType: Hashable, Sendable {
    case pixelBuffer
    case dataBuffer
    case taggedBuffers
    case sampleReference
    case markerOnly
  }

  /// The type of the content.
  public var contentType: ContentType {
    if imageBuffer != nil { return .pixelBuffer }
    if tagged != nil { return .taggedBuffers }
    if dataBuffer != nil { return .dataBuffer }
    return sampleDataReference == nil ? .markerOnly : .sampleReference
  }

  /// The location of the samples' data, if attachments state that it is in another file; nil
  /// otherwise.
  var sampleDataReference: CMSampleDataReference? {
    guard numSamples > 0,
      let text = CMGetAttachment(
        self, key: kCMSampleBufferAttachmentKey_SampleReferenceURL, attachmentModeOut: nil),
      let url = (text as? URL) ?? (text as? String).flatMap(URL.init(string:))
    else { return nil }
    let offset = CMGetAttachment(
      self, key: kCMSampleBufferAttachmentKey_SampleReferenceByteOffset, attachmentModeOut: nil)
    return CMSampleDataReference(containerLocation: url, byteOffset: (offset as? NSNumber)?.intValue ?? 0)
  }

  /// Attaches the location of the samples' data.
  func attach(_ reference: CMSampleDataReference) {
    CMSetAttachment(
      self, key: kCMSampleBufferAttachmentKey_SampleReferenceURL,
      value: reference.containerLocation.absoluteString as CFString,
      attachmentMode: kCMAttachmentMode_ShouldPropagate)
    CMSetAttachment(
      self, key: kCMSampleBufferAttachmentKey_SampleReferenceByteOffset,
      value: NSNumber(value: reference.byteOffset), attachmentMode: kCMAttachmentMode_ShouldPropagate)
  }
}

extension Never: CMSampleBuffer.Content {}
extension CVReadOnlyPixelBuffer: CMSampleBuffer.ContentWithFormatDescription {}
extension CMReadOnlyDataBlockBuffer: CMSampleBuffer.ContentWithFormatDescription,
  CMSampleBuffer.MultiSampleContent
{}
extension Array: CMSampleBuffer.Content where Element == CMTaggedDynamicBuffer {}
extension Array: CMSampleBuffer.ContentWithFormatDescription where Element == CMTaggedDynamicBuffer {}

/// The location of sample data that is in another file: the file, and the offset in it.
public struct CMSampleDataReference: CMSampleBuffer.ContentWithFormatDescription,
  CMSampleBuffer.MultiSampleContent, Hashable
{
  public var containerLocation: URL
  /// The offset in bytes from the beginning of the container.
  public var byteOffset: Int

  public init(containerLocation: URL, byteOffset: Int) {
    self.containerLocation = containerLocation
    self.byteOffset = byteOffset
  }
}
