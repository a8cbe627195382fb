// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia
import FFmpegMedia
import Synchronization
import Testing

@testable import VideoToolbox

/// Groups of pictures that are longer than what a driver keeps of them.
@Suite(.enabled(if: SampleMovie.isAvailable)) struct LongGroupTests {
  /// One key frame, and no picture out of order.
  private static func movie() throws -> SampleMovie {
    try SampleMovie(["-c:v", "libx264", "-g", "1000", "-bf", "0", "-sc_threshold", "0"], reference: false)
  }

  /// The outcomes of all frames, with the decoder emptied before some of them.
  private static func outcomes(
    _ movie: SampleMovie, _ mode: DecoderDriver.Mode, limit: Int, drainedAt: Set<Int>,
    made: () -> Void = {}
  ) throws -> [Int64: DecodedFrame.Outcome] {
    let format = StreamFormat(movie.format)
    let decoders = Mutex(0)
    let driver = DecoderDriver(
      VideoDecoderConfiguration(
        codec: format.codec, width: format.width, height: format.height, configurationRecord: format.record),
      mode: mode, replayLimit: limit
    ) { (configuration) throws(CodecError) in
      decoders.withLock { $0 += 1 }
      return try FFmpegVideoDecoder(configuration)
    }
    defer { for _ in 0..<decoders.withLock({ $0 }) { made() } }
    var outcomes: [Int64: DecodedFrame.Outcome] = [:]
    for (index, sample) in movie.samples.enumerated() {
      if drainedAt.contains(index) { driver.drain { outcomes[$0.token] = $0.outcome } }
      let bytes = sample.bytes
      try bytes.withUnsafeBytes { data in
        try driver.decode(
          DecoderDriver.Frame(
            data: data, token: Int64(index), isSync: sample.isSync,
            isClosedKeyFrame: FrameTraits(data, format, isSync: sample.isSync).isClosedKeyFrame),
          // As a session wishes: not back to several frames at a time before a key frame.
          requested: index > 0 && driver.mode == .immediate ? .immediate : mode
        ) { outcomes[$0.token] = $0.outcome }
      }
    }
    driver.drain { outcomes[$0.token] = $0.outcome }
    return outcomes
  }

  private static func pictures(_ outcomes: [Int64: DecodedFrame.Outcome]) -> [Int64: [UInt8]] {
    outcomes.compactMapValues {
      guard case .picture(let picture) = $0 else { return nil }
      return planar(picture.pixelBuffer)
    }
  }

  @Test func aPauseLosesNothing() throws {
    let movie = try Self.movie()
    let count = movie.samples.count
    let sizes = movie.samples.map { $0.bytes.count + DecoderDriver.replayOverhead }
    let size = sizes.reduce(0, +)
    let whole = Self.pictures(try Self.outcomes(movie, .immediate, limit: .max, drainedAt: []))
    #expect(whole.count == count)
    let pauses: [Set<Int>] = [[1], [count / 3], [count - 3], [1, count / 3], [1, count / 2, count - 3]]
    for limit in [size / 4, size / 2, size, .max] {
      for drainedAt in pauses {
        let all = try Self.outcomes(movie, .pipelined, limit: limit, drainedAt: drainedAt)
        let first = drainedAt.min() ?? 0
        if sizes[..<first].reduce(0, +) <= limit {
          #expect(Self.pictures(all) == whole, "\(limit) bytes, a pause before \(drainedAt)")
        } else {
          // The first pause of a client comes too late: what is lost is reported.
          #expect(Self.pictures(all) == whole.filter { $0.key < first })
          let isTold = (first..<count).allSatisfy {
            if case .failed(.missingReferences) = all[Int64($0)] { true } else { false }
          }
          #expect(isTold, "\(limit) bytes, a pause before \(drainedAt)")
        }
      }
    }
  }

  /// Nothing is decoded twice for a client that never empties the decoder.
  @Test func aLongGroupIsDecodedOnce() throws {
    let movie = try Self.movie()
    let whole = Self.pictures(try Self.outcomes(movie, .immediate, limit: .max, drainedAt: []))
    var made = 0
    let all = Self.pictures(try Self.outcomes(movie, .pipelined, limit: 1000, drainedAt: []) { made += 1 })
    #expect(all == whole && made == 1)
  }

  /// In order of presentation the decoder has to hold frames back.
  @Test func whatIsLostIsReported() throws {
    let movie = try Self.movie()
    let count = movie.samples.count
    let size = movie.samples.reduce(0) { $0 + $1.bytes.count + DecoderDriver.replayOverhead }
    let kept = try Self.outcomes(movie, .presentation, limit: size, drainedAt: [count / 2])
    #expect(Self.pictures(kept).count == count)
    let lost = try Self.outcomes(movie, .presentation, limit: size / 4, drainedAt: [count / 2])
    #expect(lost.count == count)
    for index in 0..<count {
      switch lost[Int64(index)] {
      case .picture: #expect(index < count / 2, "frame \(index)")
      case .failed(.missingReferences): #expect(index >= count / 2, "frame \(index)")
      default: Issue.record("frame \(index): \(String(describing: lost[Int64(index)]))")
      }
    }
    #expect(DecompressionPipeline.status(.missingReferences) == kVTVideoDecoderReferenceMissingErr)
  }
}

/// Properties of frames that a driver keeps in addition to their data.
@Suite struct KeptDescriptionTests {
  /// Notes the frames that it is given, and cannot be emptied without a loss.
  private final class Decoder: VideoDecoder {
    var selection = FrameSelection.all
    private let note: (Int64) -> Void

    init(_ note: @escaping (Int64) -> Void) { self.note = note }

    func decode(_ packet: CompressedPacket, output: (DecodedFrame) -> Void) { note(packet.token) }
    func flush(output: (DecodedFrame) -> Void) -> Bool { false }
  }

  /// Frames that are decoded again when the stream continues after forty of them.
  private static func repeated(limit: Int, bytes: Int, record: Int, palette: Int) throws -> Int {
    var again = 0
    let driver = DecoderDriver(
      VideoDecoderConfiguration(codec: .h264, width: 64, height: 48, configurationRecord: []),
      mode: .pipelined, replayLimit: limit
    ) { (_) throws(CodecError) in
      Decoder { if $0 < 0 { again += 1 } }
    }
    let data = [UInt8](repeating: 1, count: bytes)
    for index in 0...40 {
      if index == 40 { driver.drain { _ in } }
      try data.withUnsafeBytes { data in
        var frame = DecoderDriver.Frame(
          data: data, token: Int64(index), isSync: index == 0, isClosedKeyFrame: index == 0)
        if record > 0 { frame.newRecord = [UInt8](repeating: UInt8(index), count: record) }
        if palette > 0 { frame.palette = [UInt8](repeating: UInt8(index), count: palette) }
        try driver.decode(frame, requested: index == 40 ? .immediate : .pipelined) { _ in }
      }
    }
    return again
  }

  @Test func descriptionsAndPalettesCountTowardsTheLimit() throws {
    let limit = 40 * (100 + DecoderDriver.replayOverhead)
    #expect(try Self.repeated(limit: limit, bytes: 100, record: 0, palette: 0) == 40)
    #expect(try Self.repeated(limit: limit, bytes: 100, record: 5000, palette: 0) == 0)
    #expect(try Self.repeated(limit: limit, bytes: 100, record: 0, palette: 1024) == 0)
    // Nor is an entry free.
    #expect(try Self.repeated(limit: limit / 2, bytes: 1, record: 0, palette: 0) == 0)
  }
}
