// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import Testing

@testable import H264Encoder

/// Sizes at the edges of what is allowed, and that nothing outside of a source picture's planes is
/// read.
@Suite struct SizeTests {
  private static func configuration(_ width: Int, _ height: Int, effort: Int) -> H264EncoderConfiguration {
    var c = H264EncoderConfiguration(width: width, height: height)
    c.effort = effort
    c.maximumReferences = 2
    c.lowLatency.adaptiveQuantisation = 1
    c.measuresError = true
    c.lowLatency.sceneChange = .keyFrame
    return c
  }

  @Test(
    "Narrow, low and cut-off sizes decode to the reconstruction, read from tight planes",
    arguments: [
      (16, 16), (18, 34), (34, 18), (16, 30), (30, 16), (62, 66), (4096, 16), (16, 4096), (1026, 18),
    ])
  func narrowLowAndCutOffSizesDecode(width: Int, height: Int) throws {
    for (variant, side) in [(0, GuardedMemory.Side.beginning), (1, .end)] {
      let long = max(width, height) > 256
      var c = Self.configuration(width, height, effort: long ? 1 : variant * 3)
      c.threads = 1 + variant
      c.lowLatency.rateControl = variant == 0 ? .constantQP(24) : .averageBitRate(2_000_000)
      let encoder = try LowLatencyEncoder(configuration: c)
      var decoders = ReferenceDecoder.Kind.allCases.compactMap { ReferenceDecoder($0) }
      // OpenH264 stops at 3840 samples; libavcodec takes all.
      if long { decoders.removeAll { $0.kind == .openH264 } }
      let content = SyntheticContent(kind: .motion, width: width, height: height, seed: 5)
      for n in 0..<3 {
        let picture = content.frame(n)
        let encoded = try picture.withGuardedSource(planar: variant == 1, padding: n * 3, at: side) {
          try encoder.encode($0)
        }
        let reconstruction = try #require(encoder.reconstruction(width: width, height: height))
        for decoder in decoders {
          let decoded = try decoder.decode(encoded.data) ?? decoder.drain()
          let frame = try #require(decoded, "\(decoder.kind) \(width)x\(height) frame \(n)")
          let difference = reconstruction.firstDifference(frame)
          #expect(difference == nil, "\(decoder.kind) \(width)x\(height) frame \(n)")
        }
        let error = try #require(encoded.properties.meanSquaredError)
        #expect(error.luma < 400, "\(width)x\(height) frame \(n)")
      }
    }
  }

  @Test(
    "Every effort and CPU path reads only the source's own samples",
    arguments: 0...H264EncoderConfiguration.maxEffort)
  func everyEffortAndCPUPathReadsOnlyTheSourcesOwnSamples(effort: Int) throws {
    let paths = Set([Int32(OVT_CPU_C), ovt_cpu_detect()])
    for (width, height) in [(38, 22), (50, 46)] {
      for path in paths {
        for side in GuardedMemory.Side.allCases {
          for planar in [false, true] {
            let encoder = try LowLatencyEncoder(
              configuration: Self.configuration(width, height, effort: effort), cpu: path)
            let content = SyntheticContent(kind: .mixed, width: width, height: height, seed: 11)
            for n in 0..<3 {
              try content.frame(n).withGuardedSource(planar: planar, padding: n, at: side) {
                let bits = try encoder.encode($0).properties.bits
                #expect(bits > 0)
              }
            }
          }
        }
      }
    }
  }

  @Test("The same picture gives the same bytes from planes and from pairs, with any stride")
  func theSamePictureGivesTheSameBytesFromPlanesAndFromPairs() throws {
    let c = Self.configuration(50, 38, effort: 4)
    let content = SyntheticContent(kind: .mixed, width: 50, height: 38, seed: 3)
    var streams: [[UInt8]] = []
    for (planar, padding) in [(false, 0), (true, 0), (false, 14), (true, 37)] {
      let encoder = try LowLatencyEncoder(configuration: c)
      var stream: [UInt8] = []
      for n in 0..<4 {
        stream += try content.frame(n).withSource(planar: planar, padding: padding) {
          try encoder.encode($0).data
        }
      }
      streams.append(stream)
    }
    for stream in streams { #expect(stream == streams[0]) }
  }
}
