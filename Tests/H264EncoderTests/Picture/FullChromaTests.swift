// SPDX-License-Identifier: Apache-2.0
import Testing
import VideoBitstream

@testable import H264Encoder
@testable import VideoEncoding

/// Pictures of 4:4:4 (High 4:4:4 Predictive).
@Suite struct FullChromaTests {
  private static func configuration(_ width: Int, _ height: Int, qp: Int) -> H264EncoderConfiguration {
    var c = H264EncoderConfiguration(width: width, height: height)
    c.profile = .high444Predictive
    c.lowLatency.rateControl = .constantQP(qp)
    c.lowLatency.cascadesQuality = false
    c.minimumQP = 0
    return c
  }

  private static func grey(_ width: Int, _ height: Int) -> PlanarFrame {
    let plane = [UInt8](repeating: 128, count: width * height)
    return PlanarFrame(width: width, height: height, y: plane, u: plane, v: plane, hasFullChroma: true)
  }

  /// The largest difference of two planes.
  private static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
    zip(a, b).reduce(0) { max($0, abs(Int($1.0) - Int($1.1))) }
  }

  @Test(
    "A change of colour under equal luma is coded, whatever its size and component",
    arguments: 0...H264EncoderConfiguration.maxEffort)
  func aChangeOfColourUnderEqualLumaIsCoded(effort: Int) throws {
    let (width, height) = (96, 64)
    var c = Self.configuration(width, height, qp: 24)
    c.effort = effort
    for isCr in [false, true] {
      for size in [2, 8, 24] {
        let encoder = try LowLatencyEncoder(configuration: c)
        let before = Self.grey(width, height)
        var after = before
        for y in 20..<20 + size {
          for x in 37..<37 + size {
            if isCr { after.v[y * width + x] = 200 } else { after.u[y * width + x] = 60 }
          }
        }
        _ = try before.withSource(planar: true, padding: 0) { try encoder.encode($0).properties.bits }
        let skipped = try after.withSource(planar: true, padding: 0) {
          try encoder.encode($0).properties.skippedFraction
        }
        let shown = try #require(encoder.reconstruction(width: width, height: height))
        #expect(skipped > 0.5 && skipped < 1, "effort \(effort) Cr \(isCr) size \(size)")
        #expect(Self.distance(shown.y, after.y) <= 4, "effort \(effort) Cr \(isCr) size \(size): luma")
        let chroma = max(Self.distance(shown.u, after.u), Self.distance(shown.v, after.v))
        #expect(chroma <= 24, "effort \(effort) Cr \(isCr) size \(size): chroma is off by \(chroma)")
      }
    }
  }

  @Test(
    "Without loss exactly the source comes back, from every decoder",
    arguments: SyntheticContent.Kind.allCases)
  func withoutLossExactlyTheSourceComesBack(kind: SyntheticContent.Kind) throws {
    for (n, cabac) in [(0, true), (1, false)] {
      let (width, height) = (51 + n, 47)
      var c = Self.configuration(width, height, qp: 0)
      c.maximumQP = 0
      c.isLossless = true
      c.deblocking = false
      c.effort = n == 0 ? 3 : 9
      c.threads = n + 1
      c.entropyCoding = cabac ? .cabac : .cavlc
      let encoder = try LowLatencyEncoder(configuration: c)
      let decoder = try #require(ReferenceDecoder(.libavcodec))
      let content = SyntheticContent(kind: kind, width: width, height: height, seed: 7, hasFullChroma: true)
      for frame in 0..<4 {
        let picture = content.frame(frame)
        let unit = try picture.withSource(planar: n == 0, padding: 3) { try encoder.encode($0).data }
        let decoded = try decoder.decode(unit) ?? decoder.drain()
        let shown = try #require(decoded, "\(kind) frame \(frame)")
        let difference = picture.firstDifference(shown)
        #expect(difference == nil, "\(kind) CABAC \(cabac) frame \(frame)")
      }
    }
  }

  @Test("The stream is the same for any number of threads")
  func theStreamIsTheSameForAnyNumberOfThreads() throws {
    let content = SyntheticContent(kind: .mixed, width: 130, height: 99, seed: 3, hasFullChroma: true)
    for cabac in [true, false] {
      var streams: [[UInt8]] = []
      for threads in [1, 2, 5] {
        var c = Self.configuration(130, 99, qp: 22)
        c.threads = threads
        c.entropyCoding = cabac ? .cabac : .cavlc
        let encoder = try LowLatencyEncoder(configuration: c)
        var stream: [UInt8] = []
        for n in 0..<4 {
          stream += try content.frame(n).withSource(planar: false, padding: 0) { try encoder.encode($0).data }
        }
        streams.append(stream)
      }
      #expect(streams[1] == streams[0] && streams[2] == streams[0])
    }
  }

  @Test("Nothing outside of the source's planes is read")
  func nothingOutsideOfTheSourcesPlanesIsRead() throws {
    let content = SyntheticContent(kind: .mixed, width: 51, height: 37, seed: 9, hasFullChroma: true)
    for side in GuardedMemory.Side.allCases {
      for planar in [true, false] {
        let encoder = try LowLatencyEncoder(configuration: Self.configuration(51, 37, qp: 26))
        for n in 0..<3 {
          let bits = try content.frame(n).withGuardedSource(planar: planar, padding: n, at: side) {
            try encoder.encode($0).properties.bits
          }
          #expect(bits > 0)
        }
      }
    }
  }

  @Test("What 4:4:4 does not have is refused, and pictures of the other chroma format")
  func whatItDoesNotHaveIsRefused() throws {
    var c = Self.configuration(64, 48, qp: 26)
    c.lookAhead = .init()
    #expect(throws: H264EncoderError.self) { try H264Encoder(configuration: c) }
    var lossless = Self.configuration(64, 48, qp: 0)
    lossless.isLossless = true
    // The highest QP is not 0, and pictures would be deblocked.
    #expect(throws: H264EncoderError.self) { try H264Encoder(configuration: lossless) }
    lossless.profile = .high
    #expect(throws: H264EncoderError.self) { try H264Encoder(configuration: lossless) }
    for isFull in [false, true] {
      var c = Self.configuration(64, 48, qp: 26)
      if !isFull { c.profile = .high }
      let encoder = try LowLatencyEncoder(configuration: c)
      let content = SyntheticContent(kind: .flat, width: 64, height: 48, seed: 1, hasFullChroma: !isFull)
      #expect(throws: H264EncoderError.self) {
        try content.frame(0).withSource(planar: true, padding: 0) { try encoder.encode($0).properties.bits }
      }
    }
  }

  @Test("The parameter sets have the profile, the chroma format and a crop of single samples")
  func theParameterSetsHaveTheProfile() throws {
    let encoder = try H264Encoder(configuration: Self.configuration(53, 41, qp: 26))
    let sps = try #require(try? H264SequenceParameterSet(nalUnit: encoder.parameterSets.sequence))
    #expect(sps.profileIDC == 244 && sps.chromaFormat == 3 && !sps.hasSeparatePlanes)
    #expect(sps.width == 53 && sps.height == 41 && sps.bitDepthLuma == 8 && sps.bitDepthChroma == 8)
  }
}
