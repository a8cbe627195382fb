// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import FFmpegMedia
import Foundation
import Synchronization
import Testing
import VideoToolbox

/// A movie that ffmpeg makes, as sample buffers, with ffmpeg's own decoding of it.
struct SampleMovie {
  let format: CMVideoFormatDescription
  let samples: [CMSampleBuffer]
  /// ffmpeg's frames in order of presentation, tightly packed in `pixelFormat`.
  let reference: [[UInt8]]
  let width: Int
  let height: Int

  static let isAvailable = FileManager.default.isExecutableFile(atPath: "/usr/bin/ffmpeg")

  /// - Parameter pixelFormat: of the reference.
  init(
    _ encoding: [String], codec: CMVideoCodecType = kCMVideoCodecType_H264, size: String = "352x288",
    seconds: Double = 1.2, source: String = "testsrc2", pixelFormat: String = "yuv420p",
    reference: Bool = true
  ) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("ovt-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let movie = folder.appendingPathComponent("movie.mp4").path
    try Self.ffmpeg(
      ["-f", "lavfi", "-i", "\(source)=s=\(size):r=25", "-t", "\(seconds)", "-pix_fmt", "yuv420p"] + encoding
        + [movie])
    let atom = codec == kCMVideoCodecType_HEVC ? "hvcC" : "avcC"

    let demuxer = try Demuxer(url: movie)
    let stream = try #require(demuxer.streams.first)
    let parameters = stream.codec.pointer.pointee
    (width, height) = (Int(parameters.width), Int(parameters.height))
    format = try Self.describe(codec, parameters.width, parameters.height, [atom: stream.codec.extradata])
    var samples: [CMSampleBuffer] = []
    while let packet = try demuxer.next() {
      samples.append(
        try Self.sample(
          Data(packet.bytes), format,
          time: CMTime(value: try #require(packet.pts), timescale: stream.timeBase.den),
          isSync: packet.isKeyFrame))
    }
    self.samples = samples
    guard reference else {
      self.reference = []
      return
    }
    let raw = folder.appendingPathComponent("raw").path
    try Self.ffmpeg(["-i", movie, "-f", "rawvideo", "-pix_fmt", pixelFormat, raw])
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: raw)))
    let frame = bytes.count / max(1, samples.count)
    self.reference = samples.indices.map { Array(bytes[$0 * frame..<($0 + 1) * frame]) }
  }

  /// The samples' places in order of presentation.
  var presentationOrder: [Int] {
    samples.indices.sorted { samples[$0].presentationTimeStamp < samples[$1].presentationTimeStamp }
  }

  static func ffmpeg(_ arguments: [String]) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/ffmpeg")
    process.arguments = ["-nostdin", "-v", "error", "-y"] + arguments
    process.standardInput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw SessionError(status: process.terminationStatus, what: "ffmpeg")
    }
  }

  static func describe(
    _ codec: CMVideoCodecType, _ width: Int32, _ height: Int32, _ atoms: [String: Data]
  ) throws -> CMVideoFormatDescription {
    var format: CMVideoFormatDescription?
    let extensions: NSDictionary = [
      kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms: atoms as NSDictionary
    ]
    try check(
      CMVideoFormatDescriptionCreate(
        allocator: nil, codecType: codec, width: width, height: height, extensions: extensions,
        formatDescriptionOut: &format), "format description")
    return try #require(format)
  }

  static func sample(
    _ data: Data, _ format: CMVideoFormatDescription, time: CMTime, isSync: Bool
  ) throws -> CMSampleBuffer {
    var block: CMBlockBuffer?
    try check(
      CMBlockBufferCreateWithMemoryBlock(
        allocator: nil, memoryBlock: nil, blockLength: data.count, blockAllocator: nil,
        customBlockSource: nil,
        offsetToData: 0, dataLength: data.count, flags: 0, blockBufferOut: &block), "block buffer")
    let filled = try #require(block)
    try data.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return }
      try check(
        CMBlockBufferReplaceDataBytes(
          with: base, blockBuffer: filled, offsetIntoDestination: 0, dataLength: bytes.count), "bytes")
    }
    var timing = CMSampleTimingInfo(
      duration: CMTime(value: 1, timescale: 25), presentationTimeStamp: time, decodeTimeStamp: .invalid)
    var size = data.count
    var sample: CMSampleBuffer?
    try check(
      CMSampleBufferCreateReady(
        allocator: nil, dataBuffer: filled, formatDescription: format, sampleCount: 1,
        sampleTimingEntryCount: 1,
        sampleTimingArray: &timing, sampleSizeEntryCount: 1, sampleSizeArray: &size, sampleBufferOut: &sample),
      "sample buffer")
    let made = try #require(sample)
    if !isSync { made.sampleAttachments[0][.notSync] = true }
    return made
  }
}

/// The output of a decompression session, in its order.
final class ImageCollector: Sendable {
  struct Entry: @unchecked Sendable {
    let status: OSStatus
    let flags: VTDecodeInfoFlags
    let image: CVImageBuffer?
    let time: CMTime
    let duration: CMTime
  }
  private let entries = Mutex<[Entry]>([])

  func add(
    _ status: OSStatus, _ flags: VTDecodeInfoFlags, _ image: CVImageBuffer?, _ time: CMTime,
    _ duration: CMTime
  ) {
    entries.withLock {
      $0.append(Entry(status: status, flags: flags, image: image, time: time, duration: duration))
    }
  }
  var all: [Entry] { entries.withLock { $0 } }
  var count: Int { entries.withLock { $0.count } }
  var images: [CVImageBuffer] { all.compactMap(\.image) }
  var times: [CMTime] { all.map(\.time) }
}

func makeDecoder(
  _ format: CMVideoFormatDescription, attributes: [CFString: Any]? = nil,
  specification: [CFString: Any]? = nil,
  properties: [CFString: Any] = [:]
) throws -> VTDecompressionSession {
  var session: VTDecompressionSession?
  try check(
    VTDecompressionSessionCreate(
      allocator: kCFAllocatorDefault, formatDescription: format,
      decoderSpecification: specification as CFDictionary?,
      imageBufferAttributes: attributes as CFDictionary?, outputCallback: nil,
      decompressionSessionOut: &session),
    "create decoder")
  let made = try #require(session)
  if !properties.isEmpty {
    try check(VTSessionSetProperties(made, propertyDictionary: properties as CFDictionary), "properties")
  }
  return made
}

@discardableResult
func decode(
  _ session: VTDecompressionSession, _ samples: [CMSampleBuffer], _ flags: VTDecodeFrameFlags = [],
  into collector: ImageCollector = ImageCollector()
) throws -> ImageCollector {
  for sample in samples {
    try check(
      VTDecompressionSessionDecodeFrame(
        session, sampleBuffer: sample, flags: flags, infoFlagsOut: nil, outputHandler: collector.add),
      "decode")
  }
  return collector
}

/// The samples of a 4:2:0 buffer as ffmpeg's planar formats store them: 8 bits, or 10 in the low
/// bits of words.
func planar(_ buffer: CVPixelBuffer) -> [UInt8] {
  CVPixelBufferLockBaseAddress(buffer, .readOnly)
  defer { CVPixelBufferUnlockBaseAddress(buffer, .readOnly) }
  let code = CVPixelBufferGetPixelFormatType(buffer)
  let isDeep =
    code == kCVPixelFormatType_420YpCbCr10BiPlanarVideoRange
    || code == kCVPixelFormatType_420YpCbCr10BiPlanarFullRange
  let sampleSize = isDeep ? 2 : 1
  var result: [UInt8] = []
  var chroma: [[UInt8]] = [[], []]
  for plane in 0..<CVPixelBufferGetPlaneCount(buffer) {
    guard let base = CVPixelBufferGetBaseAddressOfPlane(buffer, plane) else { return [] }
    let stride = CVPixelBufferGetBytesPerRowOfPlane(buffer, plane)
    let width = CVPixelBufferGetWidthOfPlane(buffer, plane)
    let isPaired = plane == 1 && CVPixelBufferGetPlaneCount(buffer) == 2
    for row in 0..<CVPixelBufferGetHeightOfPlane(buffer, plane) {
      let bytes = UnsafeRawBufferPointer(
        start: base + row * stride, count: width * sampleSize * (isPaired ? 2 : 1))
      if isDeep {
        let words = bytes.bindMemory(to: UInt16.self)
        for (index, word) in words.enumerated() {
          let low = [UInt8(truncatingIfNeeded: word >> 6), UInt8(truncatingIfNeeded: word >> 14)]
          if isPaired { chroma[index % 2] += low } else { result += low }
        }
      } else if isPaired {
        chroma[0] += Swift.stride(from: 0, to: bytes.count, by: 2).map { bytes[$0] }
        chroma[1] += Swift.stride(from: 1, to: bytes.count, by: 2).map { bytes[$0] }
      } else {
        result += bytes
      }
    }
  }
  return result + chroma[0] + chroma[1]
}
