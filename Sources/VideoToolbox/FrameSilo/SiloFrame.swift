// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation

/// A sample buffer of compressed frames, separated for storage into its bytes, its format
/// description, and a record of everything else.
struct SiloFrame {
  let key: DecodeTimeKey
  let decodeTime: CMTime
  /// The decode time plus the duration; the decode time itself if the duration is unknown.
  let end: CMTime
  let format: CMVideoFormatDescription
  /// Sample count, times, sizes and attachments, as a binary property list.
  let record: Data
  let data: CMBlockBuffer

  /// The largest number of samples in a sample buffer.
  private static let maximumSamples = 65_536

  /// Separates a sample buffer.
  /// - Throws: `SiloError` with `kVTFrameSiloInvalidTimeStampErr` for a decode time that is not a
  ///   number, `kVTParameterErr` for a sample buffer that has no compressed video, whose data is
  ///   not ready, or that has an attachment that is not a property list.
  init(_ sampleBuffer: CMSampleBuffer) throws(SiloError) {
    guard CMSampleBufferDataIsReady(sampleBuffer), let data = CMSampleBufferGetDataBuffer(sampleBuffer),
      let format = CMSampleBufferGetFormatDescription(sampleBuffer),
      CMFormatDescriptionGetMediaType(format) == kCMMediaType_Video,
      1...Self.maximumSamples ~= CMSampleBufferGetNumSamples(sampleBuffer),
      CMBlockBufferGetDataLength(data) > 0
    else { throw SiloError(kVTParameterErr) }
    let decodeTimeStamp = CMSampleBufferGetDecodeTimeStamp(sampleBuffer)
    let time =
      decodeTimeStamp.isValid ? decodeTimeStamp : CMSampleBufferGetPresentationTimeStamp(sampleBuffer)
    guard let key = DecodeTimeKey(time) else { throw SiloError(kVTFrameSiloInvalidTimeStampErr) }
    let duration = CMSampleBufferGetDuration(sampleBuffer)
    let sizes = (try? sampleBuffer.sampleSizes()) ?? []
    guard CMBlockBufferGetDataLength(data) <= SiloDatabase.maximumBytes / 2,
      Self.fit(
        sizes.map(Int64.init), CMSampleBufferGetNumSamples(sampleBuffer), CMBlockBufferGetDataLength(data)),
      let record = SiloRecord.pack(Self.list(of: sampleBuffer))
    else { throw SiloError(kVTParameterErr) }
    (self.key, decodeTime, self.format, self.record, self.data) = (key, time, format, record, data)
    let sum = time + duration
    end = sum.isNumeric ? sum : time
  }

  /// Whether samples of these sizes fit into the data. One size may stand for all samples.
  private static func fit(_ sizes: [Int64], _ count: Int, _ length: Int) -> Bool {
    [0, 1, count].contains(sizes.count) && sizes.allSatisfy { 0...Int64(length) ~= $0 }
      && sizes.reduce(0, +) * (sizes.count == 1 ? Int64(count) : 1) <= length
  }

  private static func list(of buffer: CMSampleBuffer) -> [String: Any] {
    let timings = (try? buffer.sampleTimingInfos()) ?? []
    var list: [String: Any] = [
      "samples": CMSampleBufferGetNumSamples(buffer),
      "times": SiloRecord.pack(
        timings.flatMap { [$0.duration, $0.presentationTimeStamp, $0.decodeTimeStamp] }),
      "sizes": SiloRecord.pack((try? buffer.sampleSizes()) ?? []),
      "output": SiloRecord.pack([CMSampleBufferGetOutputPresentationTimeStamp(buffer)]),
    ]
    if let array = CMSampleBufferGetSampleAttachmentsArray(buffer, createIfNecessary: false) {
      list["attachments"] = (0..<array.count).map { array.object(at: $0) }
    }
    for (name, mode) in attachmentModes {
      list[name] = CMCopyDictionaryOfAttachments(allocator: nil, target: buffer, attachmentMode: mode)
    }
    return list
  }

  private static let attachmentModes = [
    ("propagated", kCMAttachmentMode_ShouldPropagate), ("own", kCMAttachmentMode_ShouldNotPropagate),
  ]

  /// Recreates the sample buffer.
  /// - Parameters:
  ///   - record: The frame's record.
  ///   - data: The frame's bytes, which are copied.
  ///   - format: The format description.
  /// - Throws: `SiloError.damaged` for an invalid record.
  static func sampleBuffer(
    record: UnsafeRawBufferPointer, data: UnsafeRawBufferPointer, format: CMVideoFormatDescription
  ) throws(SiloError) -> CMSampleBuffer {
    guard let list = SiloRecord.unpack(record), let count = list["samples"] as? Int,
      1...maximumSamples ~= count,
      let output = SiloRecord.times(list["output"])?.first, let times = SiloRecord.times(list["times"]),
      times.count % 3 == 0,
      let sizes = (list["sizes"] as? Data).map(SiloRecord.integers)
    else { throw .damaged }
    let timings = stride(from: 0, to: times.count, by: 3).map {
      CMSampleTimingInfo(
        duration: times[$0], presentationTimeStamp: times[$0 + 1], decodeTimeStamp: times[$0 + 2])
    }
    guard [0, 1, count].contains(timings.count), fit(sizes, count, data.count) else { throw .damaged }
    let sampleSizes = sizes.map { Int($0) }
    var buffer: CMSampleBuffer?
    let status = CMSampleBufferCreateReady(
      allocator: kCFAllocatorDefault, dataBuffer: try blockBuffer(data), formatDescription: format,
      sampleCount: count, sampleTimingEntryCount: timings.count, sampleTimingArray: timings,
      sampleSizeEntryCount: sampleSizes.count, sampleSizeArray: sampleSizes, sampleBufferOut: &buffer)
    guard status == noErr, let buffer else { throw .damaged }
    if let dictionaries = list["attachments"] as? [[String: Any]], dictionaries.count == count,
      let array = CMSampleBufferGetSampleAttachmentsArray(buffer, createIfNecessary: true)
    {
      for (index, values) in dictionaries.enumerated() {
        (array.object(at: index) as? NSMutableDictionary)?.addEntries(from: values)
      }
    }
    for (name, mode) in attachmentModes {
      guard let values = list[name] as? [String: Any] else { continue }
      CMSetAttachments(buffer, attachments: values as NSDictionary, attachmentMode: mode)
    }
    // The output time stamp also depends on trimming attachments; it is set only if it differs from
    // what they give.
    if CMTimeCompare(output, CMSampleBufferGetOutputPresentationTimeStamp(buffer)) != 0 {
      CMSampleBufferSetOutputPresentationTimeStamp(buffer, newValue: output)
    }
    return buffer
  }

  private static func blockBuffer(_ bytes: UnsafeRawBufferPointer) throws(SiloError) -> CMBlockBuffer {
    var block: CMBlockBuffer?
    var status = CMBlockBufferCreateWithMemoryBlock(
      allocator: kCFAllocatorDefault, memoryBlock: nil, blockLength: bytes.count,
      blockAllocator: kCFAllocatorDefault, customBlockSource: nil, offsetToData: 0, dataLength: bytes.count,
      flags: kCMBlockBufferAssureMemoryNowFlag, blockBufferOut: &block)
    if status == noErr, let block, let base = bytes.baseAddress {
      status = CMBlockBufferReplaceDataBytes(
        with: base, blockBuffer: block, offsetIntoDestination: 0, dataLength: bytes.count)
    }
    guard status == noErr, let block else { throw SiloError(kVTAllocationFailedErr) }
    return block
  }
}
