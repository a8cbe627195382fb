// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation

/// The format descriptions of the segments, unified if they differ only in their level and tier.
///
/// An encoder chooses the lowest level for each segment's rate. Not all players handle a change of
/// the format description within a movie, so all segments get the highest of their levels.
struct SegmentFormats: @unchecked Sendable {
  // Sendable: format descriptions are immutable.
  private let formats: [CMFormatDescription]

  /// - Parameter found: the format description of each segment.
  init(_ found: [CMFormatDescription]) {
    let records = found.map(ConfigurationRecord.init)
    let level = records.compactMap { $0?.level }.max() ?? 0
    let isHighTier = records.contains { $0?.isHighTier == true }
    var made: [[UInt8]: CMFormatDescription] = [:]
    formats = zip(found, records).map { format, record in
      guard let record, let raised = record.raised(level: level, isHighTier: isHighTier) else {
        return format
      }
      if let known = made[raised.bytes] { return known }
      let new = raised.bytes == record.bytes ? format : Self.replace(record: raised, in: format) ?? format
      made[raised.bytes] = new
      return new
    }
  }

  var first: CMFormatDescription? { formats.first }

  subscript(segment: Int) -> CMFormatDescription { formats[segment] }

  private static func replace(
    record: ConfigurationRecord, in format: CMFormatDescription
  ) -> CMFormatDescription? {
    var extensions = CMFormatDescriptionGetExtensions(format) as? [String: Any] ?? [:]
    let key = kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms as String
    var atoms = extensions[key] as? [String: Any] ?? [:]
    atoms[record.atom] = Data(record.bytes)
    extensions[key] = atoms
    let size = CMVideoFormatDescriptionGetDimensions(format)
    var made: CMFormatDescription?
    CMVideoFormatDescriptionCreate(
      allocator: kCFAllocatorDefault, codecType: CMFormatDescriptionGetMediaSubType(format),
      width: size.width,
      height: size.height, extensions: extensions as CFDictionary, formatDescriptionOut: &made)
    return made
  }

  /// A copy of a sample with the unified format description and new times.
  /// - Parameters:
  ///   - sample: the sample.
  ///   - segment: the index of its segment.
  ///   - timing: the times in the whole movie.
  ///   - bytes: replaces the sample's data; nil keeps it.
  /// - Throws: a `Failure` if the copy cannot be made.
  func retimed(
    _ sample: CMSampleBuffer, of segment: Int, timing: CMSampleTimingInfo, bytes: Data? = nil
  ) throws -> CMSampleBuffer {
    var timing = timing
    var size = CMSampleBufferGetTotalSampleSize(sample)
    var made: CMSampleBuffer?
    let data = try bytes.map(Self.block) ?? CMSampleBufferGetDataBuffer(sample)
    let status = CMSampleBufferCreateReady(
      allocator: kCFAllocatorDefault, dataBuffer: data,
      formatDescription: formats[segment], sampleCount: 1, sampleTimingEntryCount: 1,
      sampleTimingArray: &timing,
      sampleSizeEntryCount: 1, sampleSizeArray: &size, sampleBufferOut: &made)
    guard status == noErr, let made else {
      throw Failure("a sample of segment \(segment) cannot be given its time (error \(status))")
    }
    let old = CMSampleBufferGetSampleAttachmentsArray(sample, createIfNecessary: false) as? [NSDictionary]
    let new = CMSampleBufferGetSampleAttachmentsArray(made, createIfNecessary: true) as? [NSMutableDictionary]
    if let old = old?.first, let new = new?.first { new.addEntries(from: old as? [AnyHashable: Any] ?? [:]) }
    return made
  }

  private static func block(_ bytes: Data) throws -> CMBlockBuffer {
    var block: CMBlockBuffer?
    var status = CMBlockBufferCreateWithMemoryBlock(
      allocator: kCFAllocatorDefault, memoryBlock: nil, blockLength: bytes.count,
      blockAllocator: kCFAllocatorDefault, customBlockSource: nil, offsetToData: 0, dataLength: bytes.count,
      flags: kCMBlockBufferAssureMemoryNowFlag, blockBufferOut: &block)
    if status == noErr, let block {
      status = bytes.withUnsafeBytes { memory in
        guard let base = memory.baseAddress else { return kCMBlockBufferBadLengthParameterErr }
        return CMBlockBufferReplaceDataBytes(
          with: base, blockBuffer: block, offsetIntoDestination: 0, dataLength: memory.count)
      }
    }
    guard status == noErr, let block else { throw Failure("no memory for a sample (error \(status))") }
    return block
  }
}
