// SPDX-License-Identifier: Apache-2.0
import HEVCEncoder
import Testing
import VideoBitstream

@Suite("Threads and wavefronts")
struct ThreadTests {
  /// Encodes pictures, and compares each with what libavcodec decodes.
  private static func stream(
    _ configuration: HEVCEncoderConfiguration, kind: Content.Kind, frames: Int, decoderThreads: Int = 1
  ) throws -> [[UInt8]] {
    let encoder = try HEVCEncoder(configuration: configuration)
    let decoder = try #require(ReferenceDecoder(threads: decoderThreads))
    let content = Content(
      kind: kind, width: configuration.width, height: configuration.height, seed: 7)
    return try (0..<frames).map { n in
      let data = try #require(try content.withPicture(n) { try encoder.encode($0).data })
      if !data.isEmpty {
        #expect(try decoder.decode(data) == RandomStreamTests.reconstruction(encoder), "frame \(n)")
      }
      return data
    }
  }

  /// 17 rows of coding tree units of 10, of which up to four are begun and not written.
  private static func configuration(effort: Int) -> HEVCEncoderConfiguration {
    var configuration = HEVCEncoderConfiguration(width: 312, height: 520)
    configuration.effort = effort
    configuration.maximumReferences = 2
    return configuration
  }

  @Test("The stream does not depend on the number of threads", arguments: [0, 3, 6], [false, true])
  func threads(effort: Int, wavefronts: Bool) throws {
    var configuration = Self.configuration(effort: effort)
    configuration.usesWavefronts = wavefronts
    // Rows whose QP follows the bits, and units that are coded in the cheapest way.
    configuration.lowLatency.rateControl = .averageBitRate(900_000)
    configuration.dataRateLimits = [DataRateLimit(bytes: 30_000, seconds: 0.5)]
    let alone = try Self.stream(configuration, kind: .noise, frames: 8)
    for threads in [2, 3, 4, 9] {
      configuration.threads = threads
      let stream = try Self.stream(configuration, kind: .noise, frames: 8)
      #expect(stream == alone, "\(threads) threads")
    }
  }

  @Test("Entry points lead to the rows", arguments: [8, 32, 40, 312])
  func entryPoints(width: Int) throws {
    var configuration = Self.configuration(effort: 2)
    configuration.width = width
    configuration.usesWavefronts = true
    configuration.writesParameterSets = false
    configuration.lowLatency.rateControl = .constantQP(12)
    let encoder = try HEVCEncoder(configuration: configuration)
    let sps = try HEVCSequenceParameterSet(nalUnit: encoder.parameterSets.sequence)
    let pps = try HEVCPictureParameterSet(nalUnit: encoder.parameterSets.pictures[0])
    #expect(pps.isSynchronised)
    let content = Content(kind: .blocks, width: width, height: 520, seed: 2)
    for n in 0..<3 {
      let unit = try #require(
        try content.withPicture(n) { picture -> [UInt8] in
          let frame = try encoder.encode(picture)
          return frame.nalUnits.last.map { frame.data(of: $0) } ?? []
        })
      let header = try HEVCSliceHeader(nalUnit: unit, sequences: [0: sps], pictures: [0: pps])
      #expect(header.entryPoints.count == 16)
      #expect(header.entryPoints.allSatisfy { $0 > 0 })
      #expect(header.entryPoints.reduce(0, +) < unit.count - 2)
    }
    // A decoder that starts each row at its entry point shows whether they are right.
    var decoded = Self.configuration(effort: 2)
    decoded.width = width
    decoded.usesWavefronts = true
    decoded.lowLatency.rateControl = .constantQP(12)
    _ = try Self.stream(decoded, kind: .blocks, frames: 3, decoderThreads: 2)
  }

  @Test("Numbers of threads out of range are refused", arguments: [0, 17])
  func refusals(threads: Int) {
    var configuration = HEVCEncoderConfiguration(width: 64, height: 64)
    configuration.threads = threads
    #expect(throws: HEVCEncoderError.self) { try HEVCEncoder(configuration: configuration) }
  }
}
