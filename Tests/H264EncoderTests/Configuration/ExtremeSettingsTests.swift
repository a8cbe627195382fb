// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import H264Encoder
@testable import VideoEncoding

/// Numbers at the ends of their types, and such as are none, in every setting of the look-ahead
/// face: each is refused, or the encoder codes with it; `RefusalTests` has those of the other face.
@Suite struct ExtremeSettingsTests {
  @Test("Sizes that are none have no references", arguments: ints.filter { $0 != 1000 })
  func sizesThatAreNoneHaveNoReferences(size: Int) {
    for (width, height) in [(size, 16), (16, size), (size, size)] {
      #expect(H264EncoderConfiguration(width: width, height: height).largestReferenceCount == nil)
    }
  }

  private typealias Change = @Sendable (inout H264EncoderConfiguration) -> Void
  private static let (width, height) = (48, 32)

  private static let ints: [Int] = [
    .min, .min + 1, -1 << 40, -1, 0, 1, 2, 999, 1000, 1 << 31, 1 << 40, 1 << 53, .max / 8, .max - 1, .max,
  ]
  private static let doubles: [Double] = [
    .nan, .infinity, -.infinity, -1, -0.0, 0, .leastNonzeroMagnitude, 1e-300, 1e-9, 0.5, 1, 40, 1e9, 1e19,
    1e300, .greatestFiniteMagnitude,
  ]

  private static let changes: [(name: String, change: Change)] = {
    var list: [(String, Change)] = []
    func add<Value: Sendable>(
      _ name: String, _ values: [Value],
      _ set: @escaping @Sendable (inout H264EncoderConfiguration, Value) -> Void
    ) {
      for value in values { list.append(("\(name) \(value)", { set(&$0, value) })) }
    }
    add("quality", doubles) { $0.lookAhead.rate = .quality($1) }
    add("constant QP", ints) { $0.lookAhead.rate = .constantQP($1) }
    add("average", ints) { $0.lookAhead.rate = .average($1) }
    add("constant", ints) {
      $0.lookAhead.rate = .constant($1)
      $0.lookAhead.buffer = .init(maximumRate: $1, size: 100_000)
    }
    add("buffer's rate", ints) { $0.lookAhead.buffer = .init(maximumRate: $1, size: 50_000) }
    add("buffer's size", ints) { $0.lookAhead.buffer = .init(maximumRate: 100_000, size: $1) }
    add("buffer's rate and size", ints) { $0.lookAhead.buffer = .init(maximumRate: $1, size: $1) }
    add("buffer of a level", ints) {
      $0.lookAhead.buffer = .init(maximumRate: $1, size: $1)
      $0.lookAhead.buffer?.decidesLevel = false
      $0.level = 10
    }
    add("fullness", doubles) {
      $0.lookAhead.buffer = .init(maximumRate: 100_000, size: 50_000, initialFullness: $1)
    }
    add("timing", ints) {
      $0.lookAhead.buffer = .init(maximumRate: $1, size: $1)
      $0.lookAhead.writesBufferTiming = true
    }
    add("joined", ints) {
      $0.lookAhead.rate = .constant(100_000)
      $0.lookAhead.buffer = .init(maximumRate: 100_000, size: $1)
      ($0.lookAhead.hasFramesBefore, $0.lookAhead.hasFramesAfter) = (true, true)
    }
    add("joined fullness", doubles) {
      $0.lookAhead.buffer = .init(maximumRate: 100_000, size: 80_000, initialFullness: $1)
      ($0.lookAhead.hasFramesBefore, $0.lookAhead.hasFramesAfter) = (true, true)
    }
    add("look-ahead", ints) { $0.lookAhead.frames = $1 }
    add("B pictures", ints) { $0.lookAhead.maximumBidirectional = $1 }
    add("key frames' seconds", doubles) { $0.lookAhead.keyFrameDuration = $1 }
    add("key frames", ints) { $0.keyFrameInterval = $1 }
    add("activity", doubles) { $0.lookAhead.adaptiveQuantisation = $1 }
    add("expected seconds", doubles) {
      $0.lookAhead.expectedDuration = $1
      $0.lookAhead.rate = .average(100_000)
    }
    add("frame rate", doubles) { $0.frameRate = $1 }
    add("frame rate with a buffer", doubles) {
      $0.frameRate = $1
      $0.lookAhead.buffer = .init(maximumRate: 100_000, size: 50_000)
      $0.lookAhead.writesBufferTiming = true
    }
    add("part's rate", ints) { $0.lookAhead.part = .init(rate: $1, pictureID: 3) }
    add("part's picture", ints) { $0.lookAhead.part = .init(rate: 50_000, pictureID: $1) }
    add("bytes of a display", [0, 1, 23, 25, 1000]) {
      $0.masteringDisplay = [UInt8](repeating: 0, count: $1)
    }
    add("bytes of a level", [0, 1, 5]) { $0.contentLightLevel = [UInt8](repeating: 0, count: $1) }
    add("encode time", doubles) { $0.encodeTimeShare = $1 }
    add("threads", ints) { $0.threads = $1 }
    add("slices", ints) { $0.slices = $1 }
    add("slices' bytes", ints) { $0.maximumSliceBytes = $1 }
    add("references", ints) { $0.maximumReferences = $1 }
    add("effort", ints) { $0.effort = $1 }
    add("least QP", ints) { $0.minimumQP = $1 }
    add("most QP", ints) { $0.maximumQP = $1 }
    add("level", ints) { $0.level = $1 }
    return list
  }()

  private static func defaultConfiguration(_ threads: Int) -> H264EncoderConfiguration {
    var c = H264EncoderConfiguration.lookAhead(width: width, height: height)
    c.effort = 1
    c.maximumReferences = 3
    c.threads = threads
    c.lookAhead.frames = 4
    return c
  }

  private static let pictures = (0..<8).map {
    SyntheticContent(kind: .motion, width: width, height: height, seed: 1).frame($0)
  }

  /// Numbers of the pictures that came out.
  private static func code(
    _ encoder: LookAheadEncoder, options: (Int) -> H264FrameOptions = { _ in H264FrameOptions() }
  ) throws -> [UInt64] {
    var out: [UInt64] = []
    for (n, picture) in pictures.enumerated() {
      try picture.withSource(planar: true, padding: 0) {
        try encoder.encode($0, options: options(n)) { out.append($0.properties.index) }
      }
    }
    encoder.flush { out.append($0.properties.index) }
    return out.sorted()
  }

  private static let all = (0..<UInt64(pictures.count)).map { $0 }

  @Test("A setting at its end is refused, or coded with; from the beginning and in mid-stream")
  func aSettingAtItsEndIsRefusedOrCodes() throws {
    var refused = 0
    for (n, (name, change)) in Self.changes.enumerated() {
      var c = Self.defaultConfiguration(n % 3 + 1)
      change(&c)
      do {
        let encoder = try LookAheadEncoder(configuration: c)
        encoder.begin(at: Self.doubles[n % Self.doubles.count])
        #expect(try Self.code(encoder) == Self.all, "\(name)")
      } catch is H264EncoderError {
        refused += 1
      }
      c = Self.defaultConfiguration(n % 3 + 1)
      let encoder = try LookAheadEncoder(configuration: c)
      change(&c)
      let first = try Self.code(encoder)
      try? encoder.reconfigure(c)
      #expect(first == Self.all, "\(name)")
      #expect(try Self.code(encoder) == Self.all.map { $0 + UInt64(Self.pictures.count) }, "\(name)")
    }
    #expect(refused > Self.changes.count / 3 && refused < Self.changes.count * 4 / 5)
  }

  @Test("Limits in no time are refused", arguments: doubles.filter { !($0 > 0 && $0 < 1e6) })
  func limitsInNoTimeAreRefused(seconds: Double) {
    for bytes in [10_000, 0, -1, .min] {
      for others in [[], [DataRateLimit(bytes: 10_000, seconds: 1)]] {
        var c = Self.defaultConfiguration(1)
        c.lookAhead.rate = .average(100_000)
        c.dataRateLimits = others + [.init(bytes: bytes, seconds: seconds)]
        #expect(throws: H264EncoderError.self, "\(bytes)") { try LookAheadEncoder(configuration: c) }
      }
    }
  }

  @Test("Two settings at their ends at a time", arguments: 0..<8)
  func twoSettingsAtTheirEndsAreRefusedOrCode(part: Int) throws {
    var r = TestRandom(UInt64(part) &+ 0xE71)
    for _ in 0..<150 {
      var c = Self.defaultConfiguration(r.int(1...3))
      let picked = (0..<2).map { _ in Self.changes[r.int(0...Self.changes.count - 1)] }
      for one in picked { one.change(&c) }
      guard let encoder = try? LookAheadEncoder(configuration: c) else { continue }
      encoder.keepsStatistics = true
      #expect(try Self.code(encoder) == Self.all, "\(picked.map(\.name))")
      // The statistics can be used for another pass.
      let known = try PassStatistics(bytes: encoder.statistics.bytes)
      let second = try LookAheadEncoder(configuration: c, pass: known)
      #expect(try Self.code(second) == Self.all, "\(picked.map(\.name))")
    }
  }

  @Test("Durations at the ends, with a buffer and without, joined and alone", arguments: 0..<4)
  func durationsAtTheEndsAreRefusedOrCode(way: Int) throws {
    for (n, seconds) in Self.doubles.enumerated() where seconds > 0 && seconds.isFinite {
      var c = Self.defaultConfiguration(n % 2 + 1)
      c.lookAhead.rate = .average(100_000)
      c.lookAhead.keyFrameDuration = [nil, 1, 1e300][n % 3]
      if way > 0 { c.lookAhead.buffer = .init(maximumRate: 120_000, size: 60_000) }
      if way == 2 { c.lookAhead.writesBufferTiming = true }
      if way == 3 {
        c.lookAhead.rate = .constant(120_000)
        (c.lookAhead.hasFramesBefore, c.lookAhead.hasFramesAfter) = (true, true)
      }
      let encoder = try LookAheadEncoder(configuration: c)
      encoder.keepsStatistics = true
      let numbers = try Self.code(encoder) { picture in
        var options = H264FrameOptions()
        options.duration = picture % 3 == 1 ? 1.0 / 30 : seconds
        return options
      }
      #expect(numbers == Self.all, "\(seconds)")
      #expect(encoder.statistics.seconds.isFinite && encoder.bufferMiss.isFinite)
      #expect(try PassStatistics(bytes: encoder.statistics.bytes).count == Self.pictures.count)
    }
  }

  @Test("The other face: durations, shares and targets, at a rate and under limits", arguments: 0..<4)
  func extremesInLowLatencyAreRefusedOrCode(way: Int) throws {
    for (n, seconds) in Self.doubles.enumerated() where seconds > 0 && seconds.isFinite {
      var c = H264EncoderConfiguration(width: Self.width, height: Self.height)
      c.lowLatency.rateControl = way == 0 ? .constantQP(30) : .averageBitRate(way == 3 ? 1000 : 100_000)
      if way == 2 { c.dataRateLimits = [.init(bytes: 1, seconds: 60), .init(bytes: .max, seconds: 1e-300)] }
      if way == 3 { (c.lowLatency.allowsFrameDropping, c.maximumQP) = (true, 30) }
      c.encodeTimeShare = n % 2 == 0 ? 0.01 : nil
      c.threads = n % 2 + 1
      let encoder = try LowLatencyEncoder(configuration: c)
      for (i, picture) in Self.pictures.enumerated() {
        var options = H264FrameOptions()
        options.duration = i % 3 == 1 ? nil : seconds
        options.budgetShare = [1, 0.01, 16][i % 3]
        if i % 4 == 2 { options.targetBits = [1, .max, .max / 8][n % 3] }
        let properties = try picture.withSource(planar: false, padding: 0) {
          try encoder.encode($0, options: options).properties
        }
        #expect(properties.index == UInt64(i) && properties.encodeTime.isFinite)
      }
    }
  }
}
