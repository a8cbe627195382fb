// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import EncoderAdapter
import HEVCEncoder
import HEVCReferenceDecoders

@testable import HEVCCodec

/// A small deterministic generator of random numbers (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64
  init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

  mutating func next() -> UInt64 {
    state = state &+ 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  mutating func chance(_ p: Double) -> Bool { Double.random(in: 0..<1, using: &self) < p }
}

/// A decoded or reconstructed picture without padding.
struct Planes: Equatable {
  /// The bits of a sample.
  var depth = 8
  var luma: [UInt16] = []
  var cb: [UInt16] = []
  var cr: [UInt16] = []

  init() {}

  /// Copies planes, whose strides count samples.
  init<Sample: UnsignedInteger>(
    depth: Int, width: Int, height: Int, luma: UnsafePointer<Sample>, cb: UnsafePointer<Sample>,
    cr: UnsafePointer<Sample>, stride: Int, chromaStride: Int
  ) {
    func plane(_ data: UnsafePointer<Sample>, _ stride: Int, _ width: Int, _ height: Int) -> [UInt16] {
      (0..<height).flatMap { row in (0..<width).map { UInt16(data[row * stride + $0]) } }
    }
    self.depth = depth
    self.luma = plane(luma, stride, width, height)
    self.cb = plane(cb, chromaStride, width / 2, height / 2)
    self.cr = plane(cr, chromaStride, width / 2, height / 2)
  }
}

struct DecoderError: Error {
  var text: String
}

/// libavcodec's HEVC decoder, frame by frame.
final class IndependentDecoder {
  private let decoder: OpaquePointer

  init() throws {
    guard let decoder = ovt_hevc_reference_decoder_create() else {
      throw DecoderError(text: "libavcodec has no HEVC decoder")
    }
    self.decoder = decoder
  }

  deinit { ovt_hevc_reference_decoder_destroy(decoder) }

  /// Decodes an access unit in the byte stream format; returns the picture.
  func decode(_ unit: [UInt8]) throws -> [Planes] {
    var picture = OVTHEVCDecodedPicture()
    return try frame(ovt_hevc_reference_decoder_decode(decoder, unit, unit.count, &picture), picture)
  }

  /// The pictures that the decoder still holds.
  func drain() throws -> [Planes] {
    var result: [Planes] = []
    while true {
      var picture = OVTHEVCDecodedPicture()
      let next = try frame(ovt_hevc_reference_decoder_drain(decoder, &picture), picture)
      if next.isEmpty { return result }
      result += next
    }
  }

  private func frame(_ result: Int32, _ picture: OVTHEVCDecodedPicture) throws -> [Planes] {
    guard result >= 0 else {
      throw DecoderError(text: String(cString: ovt_hevc_reference_decoder_message(decoder)))
    }
    guard result == 1 else { return [] }
    guard let luma = picture.planes.0, let cb = picture.planes.1, let cr = picture.planes.2 else {
      return []
    }
    func planes<Sample: UnsignedInteger>(_: Sample.Type) -> Planes {
      func samples(_ plane: UnsafePointer<UInt8>) -> UnsafePointer<Sample> {
        UnsafeRawPointer(plane).assumingMemoryBound(to: Sample.self)
      }
      let size = MemoryLayout<Sample>.size
      return Planes(
        depth: Int(picture.depth), width: Int(picture.width), height: Int(picture.height),
        luma: samples(luma), cb: samples(cb), cr: samples(cr), stride: Int(picture.strides.0) / size,
        chromaStride: Int(picture.strides.1) / size)
    }
    return [picture.depth > 8 ? planes(UInt16.self) : planes(UInt8.self)]
  }
}

/// A frame as it was sent.
struct SentFrame {
  var byteStream: [UInt8]
  var properties: CompressedFrame.Properties
  var presentationTime: Int64
  /// The encoder's numbers of the frame and of those that it may refer to.
  var index: UInt64
  var references: [UInt64]
  /// The picture that the encoder says a decoder shows.
  var expected: Planes
}

/// An adapter with a made-up clip in front of it: a texture that moves, and a box that moves
/// against it.
final class Sender {
  let adapter: HEVCAdapter
  let width: Int
  let height: Int
  private let seed: UInt64
  private let format: PictureFormat
  private var parameterSets: [UInt8] = []
  private var frame = 0

  init(
    width: Int = 64, height: Int = 48, seed: UInt64 = 1,
    _ change: (inout VideoEncoderConfiguration) -> Void = { _ in }
  ) throws {
    (self.width, self.height, self.seed) = (width, height, seed)
    var configuration = VideoEncoderConfiguration(
      codec: .hevc, width: width, height: height, format: .nv12VideoRange, profile: .hevcMain)
    configuration.timescale = 90_000
    configuration.frameRate = 30
    configuration.lowLatency = LowLatencyRequest()
    configuration.rate.mode = .average(60_000)
    change(&configuration)
    format = configuration.format
    adapter = try HEVCAdapter(configuration, looksAhead: false)
  }

  private func samples(_ n: Int) -> [UInt8] {
    let rows = (height + 1) / 2
    let columns = (width + 1) / 2
    var result = [UInt8](repeating: 0, count: width * height + rows * columns * 2)
    let phase = Int(seed % 97)
    for y in 0..<height {
      for x in 0..<width {
        let (u, v) = (x + n * 2 + phase, y + n + phase * 3)
        var value = (u * u / 16 + v * 5 + (u ^ v) * 2) & 127
        let (dx, dy) = ((x + n * 3) % width, (y + 2 * n) % height)
        if dx < 16, dy < 12 { value = 140 + dx * 4 + dy }
        result[y * width + x] = UInt8(clamping: value + 40)
      }
    }
    for i in 0..<(rows * columns * 2) {
      result[width * height + i] = UInt8(90 + (i / 2 + i / (2 * columns) + n + phase) % 64)
    }
    return result
  }

  /// Encodes the clip's next picture; nil if it was dropped.
  func send(_ request: FrameRequest = .init()) throws -> SentFrame? {
    defer { frame += 1 }
    var sent: SentFrame?
    func send(_ bytes: UnsafeRawBufferPointer, sampleBytes: Int) throws {
      guard let base = bytes.baseAddress else { return }
      let columns = (width + 1) / 2
      let picture = InputPicture(
        format: format, width: width, height: height,
        content: .planes(
          PlaneViews(
            PlaneView(
              baseAddress: base, bytesPerRow: width * sampleBytes, width: width, height: height),
            PlaneView(
              baseAddress: base + width * height * sampleBytes, bytesPerRow: 2 * columns * sampleBytes,
              width: columns, height: (height + 1) / 2))),
        presentationTime: Int64(frame) * 3000, duration: 3000)
      try adapter.encode(picture, request: request) { sent = copy($0) }
    }
    let samples = samples(frame)
    if format == .p010VideoRange {
      // Ten bits above six, of which the lowest two follow the place of the sample.
      let wide = samples.indices.map { (UInt16(samples[$0]) << 2 | UInt16($0 * 5 & 3)) << 6 | 0x2A }
      try wide.withUnsafeBytes { try send($0, sampleBytes: 2) }
    } else {
      try samples.withUnsafeBytes { try send($0, sampleBytes: 1) }
    }
    return sent
  }

  private func copy(_ coded: consuming CompressedFrame) -> SentFrame? {
    guard let data = coded.data.take() else { return nil }
    if case .parameterSets(let sets) = coded.header {
      parameterSets = sets.all.flatMap { [0, 0, 0, 1] + $0 }
    }
    var stream = coded.properties.isKeyFrame ? parameterSets : []
    data.withBytes { bytes in
      var at = 0
      while at + 4 <= bytes.count {
        let length = (0..<4).reduce(0) { $0 << 8 | Int(bytes[at + $1]) }
        stream += [0, 0, 0, 1]
        for i in at + 4..<at + 4 + length { stream.append(bytes[i]) }
        at += 4 + length
      }
    }
    return SentFrame(
      byteStream: stream, properties: coded.properties, presentationTime: coded.presentationTime,
      index: UInt64(frame), references: adapter.engine.lastReferences, expected: reconstruction())
  }

  /// The last picture as a decoder shows it: even sides, without what only completes coding blocks.
  private func reconstruction() -> Planes {
    let (columns, rows) = ((width + 1) & ~1, (height + 1) & ~1)
    return adapter.engine.withReconstruction {
      Planes(
        depth: 8, width: columns, height: rows, luma: $0, cb: $1, cr: $2, stride: $3, chromaStride: $4)
    }
      ?? adapter.engine.withTenBitReconstruction {
        Planes(
          depth: 10, width: columns, height: rows, luma: $0, cb: $1, cr: $2, stride: $3,
          chromaStride: $4)
      } ?? Planes()
  }
}
