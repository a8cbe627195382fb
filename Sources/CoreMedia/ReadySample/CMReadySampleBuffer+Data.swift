// SPDX-License-Identifier: Apache-2.0
import CoreVideo
import Foundation

extension CMReadySampleBuffer where Content == CMReadOnlyDataBlockBuffer {
  /// Creates a buffer of consecutive samples with the given sizes, times and attachments.
  public init(
    dataBuffer content: Content, formatDescription: CMFormatDescription,
    sampleProperties: CMSampleBuffer.SamplePropertiesCollection
  ) {
    let made = content.withUnsafeBlockBuffer { sampleProperties.sampleBuffer($0, formatDescription) }
    guard let made else { preconditionFailure("the properties do not fit the samples") }
    self.init(checked: made)
  }

  /// Creates a buffer of uncompressed audio.
  ///
  /// - Parameters:
  ///   - content: The frames.
  ///   - formatDescription: The format of the audio.
  ///   - sampleCount: The number of frames, at least 1.
  ///   - presentationTimeStamp: The presentation time of the first frame, which must be numeric.
  public init(
    audioDataBuffer content: Content, formatDescription: CMAudioFormatDescription, sampleCount: Int,
    presentationTimeStamp: CMTime
  ) {
    self.init(content, formatDescription, sampleCount, presentationTimeStamp, nil)
  }

  /// Creates a buffer of compressed audio, with a sample for each packet.
  public init(
    compressedAudioDataBuffer content: Content, formatDescription: CMAudioFormatDescription,
    presentationTimeStamp: CMTime, packetDescriptions: [AudioStreamPacketDescription]
  ) {
    self.init(
      content, formatDescription, packetDescriptions.count, presentationTimeStamp, packetDescriptions)
  }

  private init(
    _ content: Content, _ format: CMAudioFormatDescription, _ count: Int, _ time: CMTime,
    _ packets: [AudioStreamPacketDescription]?
  ) {
    var made: CMSampleBuffer?
    let status = content.withUnsafeBlockBuffer { data in
      if let packets {
        return CMAudioSampleBufferCreateReadyWithPacketDescriptions(
          allocator: kCFAllocatorDefault, dataBuffer: data, formatDescription: format, sampleCount: count,
          presentationTimeStamp: time, packetDescriptions: packets, sampleBufferOut: &made)
      }
      return CMAudioSampleBufferCreateReadyWithPacketDescriptions(
        allocator: kCFAllocatorDefault, dataBuffer: data, formatDescription: format, sampleCount: count,
        presentationTimeStamp: time, packetDescriptions: nil, sampleBufferOut: &made)
    }
    guard status == noErr, let made else { preconditionFailure("the sizes do not match the data: \(status)") }
    self.init(checked: made)
  }

  /// Takes ownership of a sample buffer with data, which must not be changed from here on.
  public init(unsafeWithDataBuffer unsafeBuffer: sending CMSampleBuffer) {
    precondition(
      unsafeBuffer.dataBuffer != nil && unsafeBuffer.formatDescription != nil
        && CMSampleBufferDataIsReady(unsafeBuffer),
      "the sample buffer contains no data or no format, or it is not ready")
    self.init(checked: unsafeBuffer)
  }

  /// Creates a buffer from one whose content is known only at run time; nil if that is not data
  /// with a format description.
  public init?(_ other: CMReadySampleBuffer<CMSampleBuffer.DynamicContent>) {
    guard other.contentType == .dataBuffer, other.buffer.formatDescription != nil else { return nil }
    self.init(checked: other.buffer)
  }

  public var content: CMReadOnlyDataBlockBuffer {
    guard let data = held.data else {
      preconditionFailure("the initialiser has checked the format description")
    }
    return CMReadOnlyDataBlockBuffer(unsafeBlockBuffer: data)
  }

  /// The packet descriptions of compressed audio; nil for other media.
  public var audioStreamPacketDescriptions: [AudioStreamPacketDescription]? {
    try? buffer.audioStreamPacketDescriptions()
  }

  /// Copies frames of uncompressed audio.
  /// - Throws: `CMSampleBuffer.Error.sampleIndexOutOfRange` if the range exceeds the samples, or
  ///   the list has no room for them.
  public func copyPCMData(fromRange range: Range<Int>, into bufferList: UnsafeMutablePointer<AudioBufferList>)
    throws
  { try buffer.copyPCMData(fromRange: range, into: bufferList) }
}

extension CMReadySampleBuffer where Content == CMSampleDataReference {
  /// Creates a buffer of samples whose data is in another file.
  public init(
    sampleDataReference content: Content, formatDescription: CMFormatDescription,
    sampleProperties: CMSampleBuffer.SamplePropertiesCollection
  ) {
    guard let made = sampleProperties.sampleBuffer(nil, formatDescription) else {
      preconditionFailure("the properties do not fit the samples")
    }
    made.attach(content)
    self.init(checked: made)
  }

  /// Takes ownership of a sample buffer with a reference to data, which must not be changed from
  /// here on.
  public init(unsafeSampleDataReferenceBuffer unsafeBuffer: sending CMSampleBuffer) {
    precondition(
      unsafeBuffer.sampleDataReference != nil && unsafeBuffer.formatDescription != nil,
      "the sample buffer contains no reference or no format")
    self.init(checked: unsafeBuffer)
  }

  public var content: CMSampleDataReference {
    guard let reference = held.reference else {
      preconditionFailure("the initialiser has checked the format description")
    }
    return reference
  }
}
