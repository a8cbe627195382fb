// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import EncoderAdapter
import H264Encoder

@testable import H264Codec

/// Random numbers that a seed fixes.
struct Dice: RandomNumberGenerator {
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

/// Small made-up pictures: a texture that moves, a box that moves against it, noise, and cuts.
struct SmallClip {
  var width = 64
  var height = 48
  var seed: UInt64 = 1
  var noise = 0
  var cutEvery = 0

  func nv12(_ n: Int) -> [UInt8] {
    var result = [UInt8](repeating: 0, count: width * height * 3 / 2)
    let scene = cutEvery > 0 ? n / cutEvery : 0
    var dice = Dice(seed &* 1000 &+ UInt64(n))
    let phase = Int(seed % 97) + scene * 31
    for y in 0..<height {
      for x in 0..<width {
        let (u, v) = (x + n * 2 + phase, y + n + phase * 3)
        var value = (u * u / 16 + v * 5 + (u ^ v) * 2) & 127
        let (dx, dy) = ((x + n * 3) % width, (y + 2 * n) % height)
        if dx < 16, dy < 12 { value = 140 + dx * 4 + dy }
        if noise > 0 { value += Int(dice.next() % UInt64(noise)) }
        result[y * width + x] = UInt8(clamping: value + 40)
      }
    }
    for y in 0..<(height / 2) {
      for x in 0..<width { result[width * height + y * width + x] = UInt8(90 + (x / 2 + y + n + phase) % 64) }
    }
    return result
  }
}

/// A frame as it was sent.
struct SentFrame {
  var annexB: [UInt8]
  var properties: CompressedFrame.Properties
  var presentationTime: Int64
  var bits: Int
  /// The engine's numbers of the frame and of those that it may refer to.
  var index: UInt64
  var references: [UInt64]
  /// The picture that a decoder shows according to the encoder.
  var expected: Planes
}

/// An encoder with a clip in front of it.
final class Sender {
  let encoder: H264Adapter
  let clip: SmallClip
  private var parameterSets: [UInt8] = []
  private var frame = 0

  init(_ clip: SmallClip, _ change: (inout VideoEncoderConfiguration) -> Void) throws {
    self.clip = clip
    var configuration = VideoEncoderConfiguration(
      codec: .h264, width: clip.width, height: clip.height, format: .nv12VideoRange, profile: .h264High)
    configuration.timescale = 90_000
    configuration.frameRate = 30
    configuration.lowLatency = LowLatencyRequest()
    configuration.rate.mode = .average(60_000)
    change(&configuration)
    encoder = try H264Adapter(configuration, looksAhead: false)
  }

  /// Encodes the clip's next picture; nil if it was dropped.
  func send(_ request: FrameRequest = .init()) throws -> SentFrame? {
    defer { frame += 1 }
    let pixels = clip.nv12(frame)
    let (width, height) = (clip.width, clip.height)
    var sent: SentFrame?
    try pixels.withUnsafeBytes { bytes in
      let base = bytes.baseAddress!
      let picture = InputPicture(
        format: .nv12VideoRange, width: width, height: height,
        content: .planes(
          PlaneViews(
            PlaneView(baseAddress: base, bytesPerRow: width, width: width, height: height),
            PlaneView(
              baseAddress: base + width * height, bytesPerRow: width, width: width / 2, height: height / 2))),
        presentationTime: Int64(frame) * 3000, duration: 3000)
      try encoder.encode(picture, request: request) { sent = copy($0) }
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
      annexB: stream, properties: coded.properties, presentationTime: coded.presentationTime,
      bits: data.count * 8, index: UInt64(frame), references: encoder.engine.lastReferences,
      expected: reconstruction())
  }

  private func reconstruction() -> Planes {
    encoder.engine.withReconstruction { luma, chroma, stride in
      var planes = Planes()
      for y in 0..<clip.height {
        planes.luma += UnsafeBufferPointer(start: luma + y * stride, count: clip.width)
      }
      for y in 0..<(clip.height / 2) {
        for x in 0..<(clip.width / 2) {
          planes.cb.append(chroma[y * stride + 2 * x])
          planes.cr.append(chroma[y * stride + 2 * x + 1])
        }
      }
      return planes
    } ?? Planes()
  }
}
