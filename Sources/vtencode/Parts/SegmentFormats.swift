// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation

/// The format descriptions of the segments, unified if they differ only in their level.
///
/// An encoder chooses the lowest level for each segment's rate. Not all players handle a change of
/// the format description within a movie, so all segments get the highest of their levels.
struct SegmentFormats: @unchecked Sendable {
  // Sendable: format descriptions are immutable.
  private let formats: [CMFormatDescription]

  /// - Parameter found: the format description of each segment.
  init(_ found: [CMFormatDescription]) {
    let records = found.map(Self.record)
    let level = records.compactMap { $0?[3] }.max() ?? 0
    var made: [Data: CMFormatDescription] = [:]
    formats = zip(found, records).map { format, record in
      guard let record, let raised = Self.raise(record, to: level) else { return format }
      if let known = made[raised] { return known }
      let new = raised == record ? format : Self.replace(record: raised, in: format) ?? format
      made[raised] = new
      return new
    }
  }

  var first: CMFormatDescription? { formats.first }

  subscript(segment: Int) -> CMFormatDescription { formats[segment] }

  /// The AVCDecoderConfigurationRecord (ISO/IEC 14496-15, 5.3.3.1) of H.264.
  private static func record(_ format: CMFormatDescription) -> Data? {
    let atoms =
      CMFormatDescriptionGetExtension(
        format, extensionKey: kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms) as? [String: Any]
    guard CMFormatDescriptionGetMediaSubType(format) == kCMVideoCodecType_H264,
      let record = atoms?["avcC"] as? Data,
      record.count > 6
    else { return nil }
    return Data(record)
  }

  /// Sets the level in the record and in each of its sequence parameter sets, which have it in
  /// their fourth byte.
  private static func raise(_ record: Data, to level: UInt8) -> Data? {
    var record = record
    record[3] = level
    var position = 6
    for _ in 0..<Int(record[5] & 31) {
      guard position + 2 <= record.count else { return nil }
      let length = Int(record[position]) << 8 | Int(record[position + 1])
      guard length > 3, position + 2 + length <= record.count else { return nil }
      record[position + 5] = level
      position += 2 + length
    }
    return record
  }

  private static func replace(record: Data, in format: CMFormatDescription) -> CMFormatDescription? {
    var extensions = CMFormatDescriptionGetExtensions(format) as? [String: Any] ?? [:]
    let key = kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms as String
    var atoms = extensions[key] as? [String: Any] ?? [:]
    atoms["avcC"] = record
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
