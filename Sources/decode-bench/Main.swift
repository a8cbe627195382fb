import CFFmpeg
import CoreMedia
import FFmpegMedia
import Foundation
import VideoToolbox

// Compares a decompression session with bare libavcodec on the same movie and the same threads, turn about, in one
// process: `decode-bench MOVIE [ROUNDS]`. The ratio of processor times counts, as the clock also measures what else
// the machine is doing; 1.00 is no overhead.

@main struct Main {
  static func main() {
    do { try run() } catch {
      FileHandle.standardError.write(Data("decode-bench: \(error)\n".utf8))
      exit(1)
    }
  }

  private static func run() throws {
    let arguments = CommandLine.arguments
    guard arguments.count >= 2 else { throw BenchError("usage: decode-bench MOVIE [ROUNDS]") }
    let rounds = arguments.count > 2 ? Int(arguments[2]) ?? 5 : 5
    let movie = try Movie(arguments[1])
    print(
      "\(movie.width)x\(movie.height), \(movie.packets.count) frames, \(rounds) rounds; session against libavcodec"
    )
    let planar = kCVPixelFormatType_420YpCbCr8Planar
    let cases: [(name: String, threads: Int, flags: VTDecodeFrameFlags, format: OSType?)] = [
      ("1 thread, planar", 1, [], planar),
      ("1 thread, default format", 1, [], nil),
      ("2 threads, presentation order, planar", 2, [._EnableTemporalProcessing], planar),
      ("2 threads, presentation order, default format", 2, [._EnableTemporalProcessing], nil),
      ("2 threads, asynchronous, planar", 2, [._EnableAsynchronousDecompression], planar),
    ]
    for item in cases {
      var bare: [Usage] = []
      var session: [Usage] = []
      for _ in 0...rounds {
        bare.append(
          try Usage.of {
            let decoder = try BareDecoder(
              movie.parameters, threads: item.threads, frameThreads: item.threads > 1)
            guard decoder.decode(movie.packets) == movie.packets.count else {
              throw BenchError("frames are missing")
            }
          })
        session.append(try Usage.of { try movie.decode(item.threads, item.flags, item.format) })
      }
      // The first round warms up.
      let a = Usage.best(bare.dropFirst())
      let b = Usage.best(session.dropFirst())
      let frames = Double(movie.packets.count)
      let line = String(
        format: "speed %.3f by processor time, %.3f by the clock (%.1f fps bare, %.1f fps session)",
        a.processor / b.processor, a.clock / b.clock, frames / a.clock, frames / b.clock)
      print(item.name.padding(toLength: 48, withPad: " ", startingAt: 0) + line)
    }
  }
}

/// What a piece of work took, in seconds.
private struct Usage {
  var processor: Double
  var clock: Double

  static func of(_ work: () throws -> Void) throws -> Usage {
    let start = now()
    try work()
    let end = now()
    return Usage(processor: end.processor - start.processor, clock: end.clock - start.clock)
  }

  /// The least of each: everything else is disturbance.
  static func best(_ list: ArraySlice<Usage>) -> Usage {
    Usage(processor: list.map(\.processor).min() ?? 0, clock: list.map(\.clock).min() ?? 0)
  }

  private static func now() -> Usage {
    func seconds(_ id: clockid_t) -> Double {
      var time = timespec()
      clock_gettime(id, &time)
      return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
    return Usage(processor: seconds(CLOCK_PROCESS_CPUTIME_ID), clock: seconds(CLOCK_MONOTONIC))
  }
}

/// A movie in memory: as packets for libavcodec, as sample buffers for the session.
private final class Movie {
  let packets: [UnsafeMutablePointer<AVPacket>]
  private let owners: [MediaPacket]
  private let stream: MediaStream
  private let format: CMVideoFormatDescription
  private let samples: [CMSampleBuffer]
  var parameters: UnsafePointer<AVCodecParameters> { UnsafePointer(stream.codec.pointer) }
  var width: Int { Int(parameters.pointee.width) }
  var height: Int { Int(parameters.pointee.height) }

  init(_ path: String) throws {
    let demuxer = try Demuxer(url: path)
    guard let stream = demuxer.streams.first(where: { $0.kind == .video }) else {
      throw BenchError("no video")
    }
    self.stream = stream
    demuxer.select([stream.index])
    let isHEVC = stream.codec.codecID == AV_CODEC_ID_HEVC
    guard isHEVC || stream.codec.codecID == AV_CODEC_ID_H264, !stream.isAnnexB else {
      throw BenchError("the movie must hold H.264 or HEVC, in a movie file")
    }
    let atoms: NSDictionary = [(isHEVC ? "hvcC" : "avcC") as NSString: stream.codec.extradata as NSData]
    var description: CMVideoFormatDescription?
    CMVideoFormatDescriptionCreate(
      allocator: nil, codecType: isHEVC ? kCMVideoCodecType_HEVC : kCMVideoCodecType_H264,
      width: stream.codec.pointer.pointee.width, height: stream.codec.pointer.pointee.height,
      extensions: [kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms: atoms] as NSDictionary,
      formatDescriptionOut: &description)
    guard let description else { throw BenchError("no format description") }
    format = description
    var owners: [MediaPacket] = []
    var samples: [CMSampleBuffer] = []
    while let packet = try demuxer.next() {
      owners.append(packet)
      samples.append(try Self.sample(packet, description, stream.timeBase.den))
    }
    self.owners = owners
    self.samples = samples
    packets = owners.map(\.pointer)
  }

  private static func sample(
    _ packet: MediaPacket, _ format: CMVideoFormatDescription, _ timescale: Int32
  ) throws -> CMSampleBuffer {
    var block: CMBlockBuffer?
    let bytes = packet.bytes
    CMBlockBufferCreateWithMemoryBlock(
      allocator: nil, memoryBlock: nil, blockLength: bytes.count, blockAllocator: nil, customBlockSource: nil,
      offsetToData: 0, dataLength: bytes.count, flags: 0, blockBufferOut: &block)
    guard let block, let base = bytes.baseAddress else { throw BenchError("no memory") }
    CMBlockBufferReplaceDataBytes(
      with: base, blockBuffer: block, offsetIntoDestination: 0, dataLength: bytes.count)
    var timing = CMSampleTimingInfo(
      duration: .invalid, presentationTimeStamp: CMTime(value: packet.pts ?? 0, timescale: timescale),
      decodeTimeStamp: .invalid)
    var size = bytes.count
    var sample: CMSampleBuffer?
    CMSampleBufferCreateReady(
      allocator: nil, dataBuffer: block, formatDescription: format, sampleCount: 1, sampleTimingEntryCount: 1,
      sampleTimingArray: &timing, sampleSizeEntryCount: 1, sampleSizeArray: &size, sampleBufferOut: &sample)
    guard let sample else { throw BenchError("no sample buffer") }
    if !packet.isKeyFrame { sample.sampleAttachments[0][.notSync] = true }
    return sample
  }

  func decode(_ threads: Int, _ flags: VTDecodeFrameFlags, _ pixelFormat: OSType?) throws {
    var session: VTDecompressionSession?
    let attributes = pixelFormat.map {
      [kCVPixelBufferPixelFormatTypeKey: NSNumber(value: $0)] as NSDictionary
    }
    VTDecompressionSessionCreate(
      allocator: nil, formatDescription: format, decoderSpecification: nil, imageBufferAttributes: attributes,
      outputCallback: nil, decompressionSessionOut: &session)
    guard let session else { throw BenchError("no session") }
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
    guard images.value == samples.count else { throw BenchError("images are missing: \(images.value)") }
  }
}

private final class Counter: @unchecked Sendable {
  private let lock = NSLock()
  private var count = 0
  func increment() { lock.withLock { count += 1 } }
  var value: Int { lock.withLock { count } }
}
