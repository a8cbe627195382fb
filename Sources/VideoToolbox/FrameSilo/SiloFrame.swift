// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation

/// A sample buffer of compressed frames apart: its bytes, and a record of the rest but for the format description.
struct SiloFrame {
  let key: DecodeTimeKey
  let decodeTime: CMTime
  /// When the next frame may be decoded at the earliest, as far as the frame's duration tells.
  let end: CMTime
  let format: CMVideoFormatDescription
  let record: Data
  let data: CMBlockBuffer

  /// In one sample buffer.
  private static let maximumSamples = 65_536

  /// - Throws: `SiloError` with `kVTFrameSiloInvalidTimeStampErr` for a decode time that is no number,
  ///   `kVTParameterErr` for what is not compressed video whose data is there, or has an attachment that no file can hold.
  init(_ sampleBuffer: CMSampleBuffer) throws(SiloError) {
    guard CMSampleBufferDataIsReady(sampleBuffer), let data = CMSampleBufferGetDataBuffer(sampleBuffer),
      let format = CMSampleBufferGetFormatDescription(sampleBuffer),
      CMFormatDescriptionGetMediaType(format) == kCMMediaType_Video,
      1...Self.maximumSamples ~= CMSampleBufferGetNumSamples(sampleBuffer),
      CMBlockBufferGetDataLength(data) > 0
    else { throw SiloError(kVTParameterErr) }
    let decoded = CMSampleBufferGetDecodeTimeStamp(sampleBuffer)
    let time = decoded.isValid ? decoded : CMSampleBufferGetPresentationTimeStamp(sampleBuffer)
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

  /// Whether samples of these sizes, or all of one, are within the data.
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

  /// The sample buffer again.
  /// - Throws: `SiloError.damaged` for a record that says nothing of the kind.
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
    // Trimming, which attachments tell, has a part in it.
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
