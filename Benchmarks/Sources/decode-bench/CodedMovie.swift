// SPDX-License-Identifier: Apache-2.0
import BenchmarkSupport
import CClipMedia
import Foundation
import VideoToolbox

/// The coded frames of a movie in memory, as packets for libavcodec and as sample buffers for the
/// session.
final class CodedMovie {
  let width: Int
  let height: Int
  let count: Int
  private let packets: OpaquePointer
  private let format: CMVideoFormatDescription
  private let samples: [CMSampleBuffer]

  init(_ path: String) throws {
    var text = [CChar](repeating: 0, count: 256)
    guard let packets = movie_packets_read(path, &text) else {
      throw BenchmarkError(
        description: String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }
    do {
      let properties = movie_packets_facts(packets)
      let format = try Self.format(properties)
      samples = try (0..<properties.packets).map {
        try Self.sample(movie_packets_at(packets, $0), format, properties.timescale)
      }
      (width, height, count) = (Int(properties.width), Int(properties.height), Int(properties.packets))
      (self.packets, self.format) = (packets, format)
    } catch {
      movie_packets_free(packets)
      throw error
    }
  }

  deinit { movie_packets_free(packets) }

  private static func format(_ properties: MovieFacts) throws -> CMVideoFormatDescription {
    let configuration = Data(bytes: properties.configuration, count: properties.configurationSize)
    let isHEVC = properties.isHEVC != 0
    let atoms: NSDictionary = [(isHEVC ? "hvcC" : "avcC") as NSString: configuration as NSData]
    var description: CMVideoFormatDescription?
    CMVideoFormatDescriptionCreate(
      allocator: nil, codecType: isHEVC ? kCMVideoCodecType_HEVC : kCMVideoCodecType_H264,
      width: properties.width, height: properties.height,
      extensions: [kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms: atoms] as NSDictionary,
      formatDescriptionOut: &description)
    guard let description else { throw BenchmarkError(description: "there is no format description") }
    return description
  }

  private static func sample(
    _ packet: MoviePacket, _ format: CMVideoFormatDescription, _ timescale: Int32
  ) throws -> CMSampleBuffer {
    var block: CMBlockBuffer?
    CMBlockBufferCreateWithMemoryBlock(
      allocator: nil, memoryBlock: nil, blockLength: packet.size, blockAllocator: nil, customBlockSource: nil,
      offsetToData: 0, dataLength: packet.size, flags: 0, blockBufferOut: &block)
    guard let block, let base = packet.data else {
      throw BenchmarkError(description: "no memory for a frame")
    }
    CMBlockBufferReplaceDataBytes(
      with: base, blockBuffer: block, offsetIntoDestination: 0, dataLength: packet.size)
    var timing = CMSampleTimingInfo(
      duration: .invalid,
      presentationTimeStamp: CMTime(value: packet.presentationTime, timescale: timescale),
      decodeTimeStamp: .invalid)
    var size = packet.size
    var sample: CMSampleBuffer?
    CMSampleBufferCreateReady(
      allocator: nil, dataBuffer: block, formatDescription: format, sampleCount: 1, sampleTimingEntryCount: 1,
      sampleTimingArray: &timing, sampleSizeEntryCount: 1, sampleSizeArray: &size, sampleBufferOut: &sample)
    guard let sample else { throw BenchmarkError(description: "there is no sample buffer") }
    if packet.isKeyFrame == 0 { sample.sampleAttachments[0][.notSync] = true }
    return sample
  }

  /// Decodes with libavcodec alone, as a minimal program would.
  func decodeBare(threads: Int) throws {
    guard movie_packets_decode(packets, Int32(threads), threads > 1 ? 1 : 0) == count else {
      throw BenchmarkError(description: "libavcodec does not give every frame")
    }
  }

  func decode(threads: Int, _ flags: VTDecodeFrameFlags, pixelFormat: OSType?) throws {
    var session: VTDecompressionSession?
    let attributes = pixelFormat.map {
      [kCVPixelBufferPixelFormatTypeKey: NSNumber(value: $0)] as NSDictionary
    }
    VTDecompressionSessionCreate(
      allocator: nil, formatDescription: format, decoderSpecification: nil, imageBufferAttributes: attributes,
      outputCallback: nil, decompressionSessionOut: &session)
    guard let session else { throw BenchmarkError(description: "there is no session") }
    VTSessionSetProperty(
      session, key: kVTDecompressionPropertyKey_ThreadCount, value: NSNumber(value: threads))
    let images = Counter()
    for sample in samples {
      VTDecompressionSessionDecodeFrame(session, sampleBuffer: sample, flags: flags, infoFlagsOut: nil) {
        _, _, image, _, _ in
        if image != nil { images.increment() }
      }
    }
    VTDecompressionSessionWaitForAsynchronousFrames(session)
    VTDecompressionSessionInvalidate(session)
    guard images.value == count else {
      throw BenchmarkError(description: "the session gave \(images.value) images of \(count)")
    }
  }
}

private final class Counter: @unchecked Sendable {  // The lock protects all members.
  private let lock = NSLock()
  private var count = 0
  func increment() { lock.withLock { count += 1 } }
  var value: Int { lock.withLock { count } }
}
