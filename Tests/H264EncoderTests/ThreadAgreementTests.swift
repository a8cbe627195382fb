// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import H264Encoder

/// Threads share the work of the look-ahead encoder, and change no bit of what it writes.
@Suite struct ThreadAgreementTests {
  private static let kinds = SyntheticContent.Kind.allCases

  /// Expects the same stream of 1, 2 and 3 threads.
  /// - Returns: pictures that threads left to one (`PictureCoder.picturesLeftToOne`).
  @discardableResult private static func compare(
    _ configuration: LookAheadConfiguration, _ content: SyntheticContent, frames: Int, estimates: Bool = true
  ) throws -> Int {
    var left = 0
    let pictures = (0..<frames).map { content.frame($0) }
    func stream(threads: Int) throws -> [[UInt8]] {
      var c = configuration
      c.stream.threads = threads
      let encoder = try LookAheadEncoder(configuration: c)
      encoder.estimatesSamples = estimates
      var units: [[UInt8]] = []
      for picture in pictures {
        try picture.withSource(planar: true, padding: 0) { source in
          try encoder.encode(source) { units.append($0.data) }
        }
      }
      encoder.flush { units.append($0.data) }
      left += encoder.picturesLeftToOne
      return units
    }
    let alone = try stream(threads: 1)
    let c = configuration
    for threads in [2, 3] {
      let shared = try stream(threads: threads)
      let first = zip(alone, shared).enumerated().first { $1.0 != $1.1 }?.offset
      #expect(
        first == nil && alone.count == shared.count,
        """
        \(threads) threads, unit \(first ?? -1): \(c.stream.width)x\(c.stream.height) \(content.kind) \(c.rate) \
        speed \(c.stream.speed) \(c.stream.cabac ? "CABAC" : "CAVLC") slices \(c.stream.slices) seed \(content.seed)
        """)
    }
    return left
  }

  /// Noise at low QPs takes about as many bits as its samples.
  @Test("Macroblocks that take about as much as I_PCM")
  func largeMacroblocks() throws {
    var foreseen = 0
    var unforeseen = 0
    for (part, qp) in [26, 22, 18, 14, 10, 24, 20, 16, 12, 4].enumerated() {
      for (i, kind) in [SyntheticContent.Kind.noise, .mixed, .extremes].enumerated() {
        for cavlc in [false, true] {
          var c = LookAheadConfiguration(width: 98, height: 66)
          c.stream.minimumQP = 0
          c.stream.speed = [2, 1, 3, 5, 0][(part + i) % 5]
          if cavlc { c.stream.entropyCoding = .cavlc }
          c.rate = .constantQP(qp)
          c.lookAhead = 6
          let content = SyntheticContent(kind: kind, width: 98, height: 66, seed: UInt64(part))
          foreseen += try Self.compare(c, content, frames: 6)
          unforeseen += try Self.compare(c, content, frames: 6, estimates: false)
        }
      }
    }
    // The estimate leaves next to none of the 720 pictures to be coded twice.
    print("threads: \(foreseen) of 720 pictures left to one thread, \(unforeseen) without the estimate")
    #expect(foreseen <= 36)
    #expect(unforeseen > 72)
  }

  @Test("All kinds of pictures, rates, levels and sizes", arguments: 0..<20)
  func agree(part: Int) throws {
    for (n, kind) in Self.kinds.enumerated() {
      var r = TestRandom(UInt64(part * 100 + n) &+ 0x7EAD)
      let width = 16 + 2 * r.int(0...56)
      let height = 48 + 2 * r.int(0...40)
      var c = LookAheadConfiguration(width: width, height: height)
      c.stream.profile = r.chance(80) ? .high : .main
      if r.chance(25) { c.stream.entropyCoding = .cavlc }
      c.stream.minimumQP = 0
      c.stream.speed = r.int(0...EncoderConfiguration.fastestSpeed)
      c.stream.slices = r.chance(25) ? r.int(1...3) : 1
      c.stream.maximumReferences = r.int(1...4)
      c.usesOpenGOP = r.chance(30)
      if r.chance(30) { c.stream.keyFrameInterval = r.int(3...8) }
      // From 8 on pictures are looked at while others are coded.
      c.lookAhead = r.int(0...12)
      c.maximumBidirectional = r.chance(80) ? 3 : r.int(0...2)
      c.directPrediction = [.spatial, .temporal, .automatic, .automatic][r.int(0...3)]
      c.adaptiveQuantisation = r.chance(50) ? 0 : 1
      let bits = r.int(20...2000) * 1000
      switch r.int(0...4) {
      case 0, 1: c.rate = .constantQP(r.int(0...45))
      case 2: c.rate = .quality(Double(r.int(0...450)) / 10)
      case 3: c.rate = .average(bits)
      default:
        c.rate = .constant(bits)
        c.buffer = .init(maximumRate: bits, size: bits / r.int(1...5))
      }
      let content = SyntheticContent(kind: kind, width: width, height: height, seed: UInt64(part))
      try Self.compare(c, content, frames: r.int(4...16))
    }
  }
}
