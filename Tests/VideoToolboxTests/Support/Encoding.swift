// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import Synchronization
import TestSupport
import Testing
import VideoToolbox

/// The output of a session.
final class Collector: Sendable {
  struct Entry: @unchecked Sendable {
    let status: OSStatus
    let flags: VTEncodeInfoFlags
    let sample: CMSampleBuffer?
  }
  private let entries = Mutex<[Entry]>([])

  func add(_ status: OSStatus, _ flags: VTEncodeInfoFlags, _ sample: CMSampleBuffer?) {
    entries.withLock { $0.append(Entry(status: status, flags: flags, sample: sample)) }
  }
  var all: [Entry] { entries.withLock { $0 } }
  var samples: [CMSampleBuffer] { all.compactMap(\.sample) }
}

struct SessionError: Error {
  let status: OSStatus
  let what: String
}

func check(_ status: OSStatus, _ what: String) throws {
  if status != noErr { throw SessionError(status: status, what: what) }
}

/// The encoder that H.264 is tested with in place of the usual one: `scripts/test` runs some suites
/// with libx264 as well.
let namedEncoderID = ProcessInfo.processInfo.environment["OVT_H264_ENCODER"]
let usesX264 = namedEncoderID?.hasSuffix(".x264") ?? false

func makeSession(
  _ codec: CMVideoCodecType = kCMVideoCodecType_H264, width: Int = 320, height: Int = 240,
  specification: [CFString: Any]? = nil, attributes: [CFString: Any]? = nil,
  properties: [CFString: Any] = [:]
) throws -> VTCompressionSession {
  var session: VTCompressionSession?
  var specification = specification
  if codec == kCMVideoCodecType_H264, specification == nil, let namedEncoderID {
    specification = [kVTVideoEncoderSpecification_EncoderID: namedEncoderID]
  }
  try check(
    VTCompressionSessionCreate(
      allocator: kCFAllocatorDefault, width: Int32(width), height: Int32(height), codecType: codec,
      encoderSpecification: specification as CFDictionary?,
      imageBufferAttributes: attributes as CFDictionary?,
      compressedDataAllocator: nil, outputCallback: nil, refcon: nil, compressionSessionOut: &session),
    "create")
  let made = try #require(session)
  if !properties.isEmpty {
    try check(VTSessionSetProperties(made, propertyDictionary: properties as CFDictionary), "properties")
  }
  return made
}

/// Encodes `count` frames of a clip and completes them.
func encode(
  _ session: VTCompressionSession, _ clip: TestClip, count: Int, from first: Int = 0, complete: Bool = true,
  duration: Bool = true, into collector: Collector = Collector(),
  before: (Int) throws -> [CFString: Any]? = { _ in nil }
) throws -> [CMSampleBuffer] {
  for index in first..<(first + count) {
    let options = try before(index)
    try check(
      VTCompressionSessionEncodeFrame(
        session, imageBuffer: clip.buffer(index), presentationTimeStamp: clip.time(index),
        duration: duration ? clip.frameDuration : .invalid, frameProperties: options as CFDictionary?,
        infoFlagsOut: nil
      ) { status, flags, sample in collector.add(status, flags, sample) }, "frame \(index)")
  }
  if complete {
    try check(VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: .invalid), "complete")
  }
  for entry in collector.all { try check(entry.status, "result") }
  return collector.samples
}

extension CMSampleBuffer {
  var bytes: [UInt8] {
    guard let block = CMSampleBufferGetDataBuffer(self) else { return [] }
    var result = [UInt8](repeating: 0, count: CMBlockBufferGetDataLength(block))
    result.withUnsafeMutableBytes {
      _ = CMBlockBufferCopyDataBytes(
        block, atOffset: 0, dataLength: $0.count, destination: $0.baseAddress!)
    }
    return result
  }

  /// The NAL units, without their lengths.
  var nalUnits: [[UInt8]] {
    let data = bytes
    var units: [[UInt8]] = []
    var offset = 0
    while offset + 4 <= data.count {
      let length = data[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) }
      units.append([UInt8](data[(offset + 4)..<min(offset + 4 + length, data.count)]))
      offset += 4 + length
    }
    return units
  }

  var firstAttachments: NSDictionary {
    (CMSampleBufferGetSampleAttachmentsArray(self, createIfNecessary: false)?.firstObject as? NSDictionary)
      ?? NSDictionary()
  }
  func flag(_ key: CFString) -> Bool? { (firstAttachments[key] as? NSNumber)?.boolValue }
  var isSync: Bool { flag(kCMSampleAttachmentKey_NotSync) != true }

  var parameterSets: [[UInt8]] {
    guard let format = CMSampleBufferGetFormatDescription(self) else { return [] }
    let isHEVC = CMFormatDescriptionGetMediaSubType(format) == kCMVideoCodecType_HEVC
    var count = 0
    func get(
      _ index: Int, _ pointer: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
      _ size: UnsafeMutablePointer<Int>?
    ) {
      if isHEVC {
        _ = CMVideoFormatDescriptionGetHEVCParameterSetAtIndex(
          format, parameterSetIndex: index, parameterSetPointerOut: pointer, parameterSetSizeOut: size,
          parameterSetCountOut: &count, nalUnitHeaderLengthOut: nil)
      } else {
        _ = CMVideoFormatDescriptionGetH264ParameterSetAtIndex(
          format, parameterSetIndex: index, parameterSetPointerOut: pointer, parameterSetSizeOut: size,
          parameterSetCountOut: &count, nalUnitHeaderLengthOut: nil)
      }
    }
    get(0, nil, nil)
    return (0..<count).map { index in
      var pointer: UnsafePointer<UInt8>?
      var size = 0
      get(index, &pointer, &size)
      return [UInt8](UnsafeBufferPointer(start: pointer, count: size))
    }
  }
}

/// The stream with start codes, parameter sets before each key frame.
func annexB(_ samples: [CMSampleBuffer]) -> Data {
  var data = Data()
  for sample in samples {
    if sample.isSync || sample.flag(kCMSampleAttachmentKey_PartialSync) == true {
      for set in sample.parameterSets { data += [0, 0, 0, 1] + set }
    }
    for unit in sample.nalUnits { data += [0, 0, 0, 1] + unit }
  }
  return data
}

func property(_ session: VTCompressionSession, _ key: CFString) throws -> AnyObject? {
  var value: CFTypeRef?
  try check(VTSessionCopyProperty(session, key: key, allocator: nil, valueOut: &value), "copy \(key)")
  return value
}
