// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import VideoBitstream

@testable import HEVCEncoder

@Suite("Streams decode to the reconstruction")
struct RandomStreamTests {
  /// The planes of the last picture as the encoder reconstructed them.
  static func reconstruction(_ encoder: HEVCEncoder) -> PlanarFrame? {
    let (width, height) = (encoder.configuration.width, encoder.configuration.height)
    return encoder.withReconstruction {
      PlanarFrame(
        width: width, height: height, depth: 8, luma: $0, cb: $1, cr: $2, lumaStride: $3,
        chromaStride: $4)
    }
      ?? encoder.withTenBitReconstruction {
        PlanarFrame(
          width: width, height: height, depth: 10, luma: $0, cb: $1, cr: $2, lumaStride: $3,
          chromaStride: $4)
      }
  }

  /// The number of random streams: `OVT_MATRIX_STREAMS`, or 120.
  static let streams = max(
    ProcessInfo.processInfo.environment["OVT_MATRIX_STREAMS"].flatMap { Int($0) } ?? 120, 1)

  @Test("libavcodec decodes random streams bit for bit", arguments: 0..<(streams + 9) / 10)
  func random(part: Int) throws {
    let decoderExists = ReferenceDecoder() != nil
    try #require(decoderExists)
    for seed in part * 10..<min(part * 10 + 10, Self.streams) {
      var stream = RandomStream(seed: UInt64(seed))
      let encoder = try HEVCEncoder(configuration: stream.configuration)
      guard let decoder = ReferenceDecoder() else { return }
      var coded = 0
      for n in 0..<10 {
        let options = stream.options(n, available: encoder.availableReferences)
        let frame = try stream.content.withSource(n) {
          picture -> (isDropped: Bool, bits: Int, data: [UInt8]) in
          let frame = try encoder.encode(picture, options: options)
          return (frame.properties.isDropped, frame.properties.bits, frame.data)
        }
        guard let frame, !frame.isDropped else { continue }
        coded += 1
        #expect(frame.bits == frame.data.count * 8)
        let decoded = try decoder.decode(frame.data)
        #expect(decoded == Self.reconstruction(encoder), "seed \(seed), frame \(n)")
        if decoded != Self.reconstruction(encoder) { break }
      }
      #expect(coded > 0, "seed \(seed)")
    }
  }

  @Test("Higher temporal layers can be left out")
  func layers() throws {
    var configuration = HEVCEncoderConfiguration(width: 96, height: 80)
    configuration.maximumReferences = 3
    configuration.lowLatency.temporalLayers = 3
    let encoder = try HEVCEncoder(configuration: configuration)
    let decoder = try #require(ReferenceDecoder())
    let content = Content(kind: .pan, width: 96, height: 80, seed: 1)
    for n in 0..<17 {
      var options = HEVCFrameOptions()
      options.temporalLayer = [0, 2, 1, 2][n % 4]
      let frame = try content.withPicture(n) { picture -> (layer: Int?, data: [UInt8]) in
        let frame = try encoder.encode(picture, options: options)
        return (frame.nalUnits.last?.temporalLayer, frame.data)
      }
      #expect(frame?.layer == options.temporalLayer)
      // Only layer 0 reaches the decoder.
      guard let frame, options.temporalLayer == 0 else { continue }
      #expect(try decoder.decode(frame.data) == Self.reconstruction(encoder))
    }
  }

  @Test("A frame that the receiver lacks is not referred to")
  func losses() throws {
    var configuration = HEVCEncoderConfiguration(width: 128, height: 96)
    configuration.maximumReferences = 3
    configuration.effort = 5
    let encoder = try HEVCEncoder(configuration: configuration)
    let decoder = try #require(ReferenceDecoder())
    let content = Content(kind: .blocks, width: 128, height: 96, seed: 4)
    for n in 0..<12 {
      let data = try content.withPicture(n) { try encoder.encode($0).data }
      if n == 4 || n == 8 {
        // The frame is lost, and the encoder is told before the next one.
        encoder.invalidateReferences(from: UInt64(n))
        continue
      }
      guard let data else { continue }
      #expect(try decoder.decode(data) == Self.reconstruction(encoder), "frame \(n)")
      #expect(!encoder.lastReferences.contains(4) && !encoder.lastReferences.contains(8))
    }
  }

  @Test("Every instruction set gives the same stream", arguments: [8, 10])
  func instructionSets(depth: Int) throws {
    let content = Content(kind: .blocks, width: 136, height: 104, seed: 9, depth: depth)
    var configuration = HEVCEncoderConfiguration(width: 136, height: 104)
    if depth == 10 { configuration.profile = .main10 }
    configuration.effort = 8
    configuration.maximumReferences = 2
    func stream(cpu: Int32) throws -> [UInt8] {
      let encoder = try LowLatencyEncoder(configuration: configuration, cpu: cpu)
      var bytes: [UInt8] = []
      for n in 0..<6 {
        bytes += try content.withSource(n) { try encoder.encode($0, options: .init()).data } ?? []
      }
      return bytes
    }
    let plain = try stream(cpu: 0)
    for cpu in [Int32(1), 3, 16] { #expect(try stream(cpu: cpu) == plain, "instruction sets \(cpu)") }
  }
}
