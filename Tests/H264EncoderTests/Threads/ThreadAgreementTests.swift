// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import H264Encoder
@testable import VideoEncoding

/// Threads share the work of the look-ahead encoder, and change no bit of what it writes.
@Suite struct ThreadAgreementTests {
  private static let kinds = SyntheticContent.Kind.allCases

  /// Expects the same stream of 1, 2, 3 and 8 threads.
  /// - Returns: pictures that threads left to one (`PictureCoder.picturesRecodedAlone`).
  @discardableResult private static func compare(
    _ configuration: H264EncoderConfiguration, _ content: SyntheticContent, frames: Int,
    estimates: Bool = true,
    pass: PassStatistics? = nil,
    between: (LookAheadEncoder, Int, (consuming H264EncodedFrame) -> Void) throws -> Void = { _, _, _ in }
  ) throws -> Int {
    var left = 0
    let pictures = (0..<frames).map { content.frame($0) }
    func stream(threads: Int) throws -> [[UInt8]] {
      var c = configuration
      c.threads = threads
      let encoder = try LookAheadEncoder(configuration: c, pass: pass)
      encoder.estimatesSamples = estimates
      var units: [[UInt8]] = []
      for (n, picture) in pictures.enumerated() {
        try between(encoder, n) { units.append($0.data) }
        try picture.withSource(planar: true, padding: 0) { source in
          try encoder.encode(source) { units.append($0.data) }
        }
      }
      encoder.flush { units.append($0.data) }
      left += encoder.picturesRecodedAlone
      return units
    }
    let alone = try stream(threads: 1)
    let c = configuration
    for threads in [2, 3, 8] {
      let shared = try stream(threads: threads)
      let first = zip(alone, shared).enumerated().first { $1.0 != $1.1 }?.offset
      #expect(
        first == nil && alone.count == shared.count,
        """
        \(threads) threads, unit \(first ?? -1): \(c.width)x\(c.height) \(content.kind) \(c.lookAhead.rate) \
        effort \(c.effort) \(c.cabac ? "CABAC" : "CAVLC") slices \(c.slices) seed \(content.seed)
        """)
    }
    return left
  }

  /// Noise at low QPs takes about as many bits as its samples.
  @Test("Macroblocks that take about as much as I_PCM")
  func threadsAgreeOnMacroblocksNearPCMSize() throws {
    var foreseen = 0
    var unforeseen = 0
    for (part, qp) in [26, 22, 18, 14, 10, 24, 20, 16, 12, 4].enumerated() {
      for (i, kind) in [SyntheticContent.Kind.noise, .mixed, .extremes].enumerated() {
        for cavlc in [false, true] {
          var c = H264EncoderConfiguration.lookAhead(width: 98, height: 66)
          c.minimumQP = 0
          c.effort = [4, 5, 3, 1, 6][(part + i) % 5]
          if cavlc { c.entropyCoding = .cavlc }
          c.lookAhead.rate = .constantQP(qp)
          c.lookAhead.frames = 6
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
  func threadsAgreeOnAllKindsOfPicturesAndSizes(part: Int) throws {
    for (n, kind) in Self.kinds.enumerated() {
      var r = TestRandom(UInt64(part * 100 + n) &+ 0x7EAD)
      let width = 16 + 2 * r.int(0...56)
      let height = 48 + 2 * r.int(0...40)
      var c = H264EncoderConfiguration.lookAhead(width: width, height: height)
      c.profile = r.chance(80) ? .high : .main
      if r.chance(25) { c.entropyCoding = .cavlc }
      c.minimumQP = 0
      c.effort = r.int(0...H264EncoderConfiguration.maxEffort)
      c.slices = r.chance(25) ? r.int(1...3) : 1
      c.maximumReferences = r.int(1...4)
      c.lookAhead.usesOpenGOP = r.chance(30)
      if r.chance(30) { c.keyFrameInterval = r.int(3...8) }
      // From 8 on pictures are looked at while others are coded.
      c.lookAhead.frames = r.int(0...12)
      c.lookAhead.maximumBidirectional = r.chance(80) ? 3 : r.int(0...2)
      c.lookAhead.directPrediction = [.spatial, .temporal, .automatic, .automatic][r.int(0...3)]
      c.lookAhead.adaptiveQuantisation = r.chance(50) ? 0 : 1
      let bits = r.int(20...2000) * 1000
      switch r.int(0...4) {
      case 0, 1: c.lookAhead.rate = .constantQP(r.int(0...45))
      case 2: c.lookAhead.rate = .quality(Double(r.int(0...450)) / 10)
      case 3: c.lookAhead.rate = .average(bits)
      default:
        c.lookAhead.rate = .constant(bits)
        c.lookAhead.buffer = .init(maximumRate: bits, size: bits / r.int(1...5))
      }
      let content = SyntheticContent(kind: kind, width: width, height: height, seed: UInt64(part))
      try Self.compare(c, content, frames: r.int(4...16))
    }
  }

  /// A look-ahead that several pictures are in flight with
  /// (`H264EncoderConfiguration.picturesInFlight`).
  private static func inFlight(_ r: inout TestRandom) -> H264EncoderConfiguration {
    var c = H264EncoderConfiguration.lookAhead(width: 16 + 2 * r.int(0...56), height: 48 + 2 * r.int(0...100))
    if r.chance(25) { c.entropyCoding = .cavlc }
    c.effort = r.int(0...H264EncoderConfiguration.maxEffort)
    c.slices = r.chance(25) ? r.int(1...3) : 1
    c.maximumReferences = r.int(2...4)
    c.lookAhead.usesOpenGOP = r.chance(50)
    c.lookAhead.usesPyramid = r.chance(75)
    if r.chance(50) { c.keyFrameInterval = r.int(3...12) }
    c.lookAhead.frames = r.int(12...30)
    c.lookAhead.maximumBidirectional = r.int(1...3)
    c.lookAhead.directPrediction = [.spatial, .temporal, .automatic, .automatic][r.int(0...3)]
    return c
  }

  @Test("Several pictures in flight, in one pass and in two", arguments: 0..<10)
  func threadsAgreeWithSeveralPicturesInFlight(part: Int) throws {
    for (n, kind) in Self.kinds.enumerated() {
      var r = TestRandom(UInt64(part * 100 + n) &+ 0xF117)
      var c = Self.inFlight(&r)
      #expect(c.picturesInFlight > 1)
      let content = SyntheticContent(
        kind: kind, width: c.width, height: c.height, seed: UInt64(part))
      switch part % 3 {
      case 0: c.lookAhead.rate = .constantQP(r.int(12...40))
      case 1: c.lookAhead.rate = .quality(Double(r.int(120...400)) / 10)
      default: c.lookAhead.rate = .average(r.int(20...1000) * 1000)
      }
      let frames = r.int(30...45)
      try Self.compare(c, content, frames: frames)
      guard part % 3 == 2 else { continue }
      var first = c
      first.threads = 3
      let encoder = try LookAheadEncoder(configuration: first)
      encoder.keepsStatistics = true
      for i in 0..<frames {
        try content.frame(i).withSource(planar: true, padding: 0) { try encoder.encode($0) { _ in } }
      }
      encoder.flush { _ in }
      #expect(encoder.statistics.count == frames)
      try Self.compare(c, content, frames: frames, pass: encoder.statistics)
    }
  }

  /// Large macroblocks are found while other pictures wait for theirs, which one thread then codes
  /// again.
  @Test("A picture that one thread codes again while others are in flight")
  func threadsAgreeWhereAPictureIsCodedAnew() throws {
    var left = 0
    for qp in [10, 16, 22] {
      var c = H264EncoderConfiguration.lookAhead(width: 98, height: 66)
      c.minimumQP = 0
      c.maximumReferences = 4
      c.lookAhead.rate = .constantQP(qp)
      c.lookAhead.frames = 24
      let content = SyntheticContent(kind: .noise, width: 98, height: 66, seed: 1)
      left += try Self.compare(c, content, frames: 30, estimates: false)
    }
    #expect(left > 30)
  }

  @Test("What is asked for in mid-stream finds pictures in flight", arguments: 0..<6)
  func threadsAgreeOnRequestsInMidStream(part: Int) throws {
    var r = TestRandom(UInt64(part) &+ 0x317)
    var c = Self.inFlight(&r)
    c.lookAhead.rate = .average(300_000)
    let content = SyntheticContent(
      kind: .motion, width: c.width, height: c.height, seed: UInt64(part))
    try Self.compare(c, content, frames: 60) { encoder, n, output in
      var new = encoder.configuration
      switch n {
      case 25 where part % 2 == 0: encoder.flush(output: output)
      case 25: encoder.complete(through: 8, output: output)
      case 35:
        new.lookAhead.rate = .average(80_000)
        try encoder.reconfigure(new)
      case 45:
        // From here on each picture must know what those before it took.
        new.lookAhead.buffer = .init(maximumRate: 200_000, size: 100_000)
        try encoder.reconfigure(new)
      case 52:
        new.lookAhead.buffer = nil
        new.lookAhead.rate = .quality(30)
        try encoder.reconfigure(new)
      default: break
      }
      #expect(encoder.heldFrameCount <= encoder.configuration.lookAhead.frames)
    }
  }

  @Test("An encoder goes while its pictures are in flight")
  func anEncoderMayGoWithPicturesInFlight() throws {
    let content = SyntheticContent(kind: .mixed, width: 160, height: 160, seed: 1)
    let pictures = (0..<40).map { content.frame($0) }
    for count in 20..<40 {
      var c = H264EncoderConfiguration.lookAhead(width: 160, height: 160)
      c.maximumReferences = 4
      c.threads = 2 + count % 4
      c.lookAhead.frames = 12
      let encoder = try LookAheadEncoder(configuration: c)
      var out = 0
      for picture in pictures.prefix(count) {
        try picture.withSource(planar: true, padding: 0) { try encoder.encode($0) { _ in out += 1 } }
      }
      #expect(out == count - 12)
    }
  }
}
