// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Appends groups of metadata items to an input for timed metadata.
///
/// The samples hold the items in boxes ('mebx'; QuickTime File Format, "Timed Metadata Media"). The
/// source format hint of the input describes which items there can be. Without a hint, the first
/// group does.
open class AVAssetWriterInputMetadataAdaptor: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  public let assetWriterInput: AVAssetWriterInput
  private let lock = Lock()
  private var format: CMFormatDescription?
  /// The end of the previous group; invalid if that lasts until the next group begins.
  private var end = CMTime.invalid

  /// Creates an adaptor.
  /// - Parameter input: An input of media type `.metadata` without output settings. With another
  ///   input, `append` fails.
  public init(assetWriterInput input: AVAssetWriterInput) {
    assetWriterInput = input
    format = input.sourceFormatHint
    super.init()
  }

  /// Appends a group. Its items apply until the next group begins or, if the group's time range has
  /// a duration, until that ends. A group without items ends the previous group.
  /// - Parameter timedMetadataGroup: A group that begins later than the previous one.
  /// - Returns: False after a failure. `AVAssetWriter.error` is then `invalidSourceMedia` if the
  ///   source format hint does not describe an item or its data type, and `operationNotAllowed` if
  ///   the input is not one for metadata.
  @discardableResult
  open func append(_ timedMetadataGroup: AVTimedMetadataGroup) -> Bool {
    let group = (timedMetadataGroup.items, timedMetadataGroup.timeRange)
    do {
      let buffers = try lock.withLock { try samples(group.0, group.1) }
      return buffers.allSatisfy { assetWriterInput.append($0) }
    } catch {
      assetWriterInput.writer?.fail(AVError.writing(error))
      return false
    }
  }

  private func samples(_ items: [AVMetadataItem], _ range: CMTimeRange) throws -> [CMSampleBuffer] {
    guard assetWriterInput.mediaType == .metadata, assetWriterInput.outputSettings == nil else {
      throw AVError(
        .operationNotAllowed,
        reason: "Metadata cannot be appended to an input of type \(assetWriterInput.mediaType.rawValue).",
        advice: "Use an input of type .metadata without output settings.")
    }
    guard range.start.isNumeric else {
      throw AVError(
        .invalidSourceMedia, reason: "The group has no time.",
        advice: "Give each group a time range with a numeric start.")
    }
    guard let description = format ?? TimedMetadataCoding.description(of: items) else {
      throw AVError(
        .invalidSourceMedia, reason: "Nobody knows which items the track has.",
        advice: "Give the input a source format hint, or begin with a group whose items have data types.")
    }
    format = description
    let bytes = try TimedMetadataCoding.sample(items, description)
    var buffers: [CMSampleBuffer] = []
    // Samples in the file last until the next one. A sample without items fills a gap between
    // groups.
    if end.isNumeric, end < range.start {
      buffers.append(
        try sample(
          TimedMetadataCoding.nothing, CMTimeRange(start: end, end: range.start), description))
    }
    buffers.append(try sample(bytes, range, description))
    end = range.duration.isNumeric && range.duration > .zero ? range.end : .invalid
    return buffers
  }

  private func sample(
    _ bytes: [UInt8], _ range: CMTimeRange, _ description: CMFormatDescription
  ) throws -> CMSampleBuffer {
    let block = try CMBlockBuffer(length: bytes.count, flags: .assureMemoryNow)
    try bytes.withUnsafeBytes { try block.replaceDataBytes(with: $0) }
    let duration = range.duration.isNumeric && range.duration > .zero ? range.duration : .invalid
    return try CMSampleBuffer(
      dataBuffer: block, formatDescription: description, numSamples: 1,
      sampleTimings: [
        CMSampleTimingInfo(
          duration: duration, presentationTimeStamp: range.start, decodeTimeStamp: .invalid)
      ], sampleSizes: [bytes.count])
  }
}
