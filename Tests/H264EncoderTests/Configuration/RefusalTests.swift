// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import H264Encoder
@testable import VideoEncoding

/// Every value out of range is refused with the right error, and the encoder is as it was.
@Suite struct RefusalTests {
  typealias Change = @Sendable (inout H264EncoderConfiguration) -> Void

  private static func defaultConfiguration() -> H264EncoderConfiguration {
    var c = H264EncoderConfiguration(width: 48, height: 32)
    c.maximumReferences = 3
    c.lowLatency.longTermReferences = 1
    c.effort = 2
    return c
  }

  // MARK: - Configurations

  /// A change that makes a configuration wrong, with a word that the error's text must have.
  struct Wrong: Sendable {
    let word: String
    let change: Change
  }

  static let wrong: [Wrong] = {
    var list: [Wrong] = []
    func add<Value: Sendable>(
      _ word: String, _ values: [Value],
      _ set: @escaping @Sendable (inout H264EncoderConfiguration, Value) -> Void
    ) {
      for value in values { list.append(Wrong(word: word) { set(&$0, value) }) }
    }
    let far: [Int] = [Int.max, Int.min]
    let sizes: [Int] = [0, -16, 14, 17, 16882] + far
    add("even", sizes) { $0.width = $1 }
    add("even", sizes) { $0.height = $1 }
    // A row of two macroblocks.
    let shown: [Int] = [0, -2, 16, 19, 34] + far
    add("shown", shown) { ($0.width, $0.visibleWidth) = (32, $1) }
    add("shown", shown) { ($0.height, $0.visibleHeight) = (32, $1) }
    let rates: [Double] = [0, -30, .nan, .infinity, 1000.5, 0.001, .leastNonzeroMagnitude]
    add("frame rate", rates) { $0.frameRate = $1 }
    let qps: [Int] = [-1, 52] + far
    add("QP", qps) { $0.lowLatency.rateControl = .constantQP($1) }
    add("QP", qps) { $0.minimumQP = $1 }
    add("QP", qps) { $0.maximumQP = $1 }
    list.append(Wrong(word: "QP") { ($0.minimumQP, $0.maximumQP) = (30, 29) })
    add("bit rate", [0, -1, 999, 2_000_000_001] + far) { $0.lowLatency.rateControl = .averageBitRate($1) }
    let limits: [DataRateLimit] = [
      .init(bytes: 0, seconds: 1), .init(bytes: -5, seconds: 1), .init(bytes: .min, seconds: 1),
      .init(bytes: 100, seconds: 0), .init(bytes: 100, seconds: -1), .init(bytes: 100, seconds: .nan),
      .init(bytes: 100, seconds: .infinity), .init(bytes: 100, seconds: 1e6),
    ]
    add("limit", limits) { $0.dataRateLimits = [.init(bytes: 900, seconds: 1), $1] }
    add("effort", [-1, H264EncoderConfiguration.maxEffort + 1] + far) { $0.effort = $1 }
    let counts: [Int] = [0, -1, 17] + far
    add("threads", counts) { $0.threads = $1 }
    add("references", counts) { $0.maximumReferences = $1 }
    add("slices", counts + [3]) { $0.slices = $1 }  // Two macroblock rows.
    add("slices", [0, 99, -1, Int.min]) { $0.maximumSliceBytes = $1 }
    add("long-term", [-1, 3, 17] + far) { $0.lowLatency.longTermReferences = $1 }
    add("offsets", [-7, 7] + far) { $0.deblockingAlphaOffset = $1 }
    add("offsets", [-7, 7] + far) { $0.deblockingBetaOffset = $1 }
    list.append(Wrong(word: "refresh") { $0.lowLatency.sceneChange = .intraRefresh })
    let strengths: [Double] = [-0.1, 2.1, .nan, .infinity, -.infinity]
    add("adaptive", strengths) { $0.lowLatency.adaptiveQuantisation = $1 }
    add("still", [29.9, 100.1, .nan, .infinity, -.infinity]) { $0.lowLatency.maximumStillPSNR = $1 }
    add("refresh", [-1, 1001] + far) { $0.lowLatency.intraRefreshPeriod = $1 }
    add("interval", [0, -1, Int.min]) { $0.keyFrameInterval = $1 }
    add("level", [0, 8, 14, 53, 63, -31] + far) { $0.level = $1 }
    list.append(Wrong(word: "CABAC") { ($0.profile, $0.entropyCoding) = (.constrainedBaseline, .cabac) })
    return list
  }()

  @Test("A configuration with a value out of range makes no encoder")
  func aConfigurationWithAValueOutOfRangeMakesNoEncoder() throws {
    _ = try LowLatencyEncoder(configuration: Self.defaultConfiguration())
    for (i, wrong) in Self.wrong.enumerated() {
      let word = wrong.word
      var c = Self.defaultConfiguration()
      wrong.change(&c)
      do {
        _ = try LowLatencyEncoder(configuration: c)
        Issue.record("Change \(i) (\(word)) was taken")
      } catch H264EncoderError.invalidConfiguration(let text) {
        #expect(text.localizedContains(word), "Change \(i): \(text)")
      }
    }
  }

  @Test("The ends of every range are taken, and code")
  func theEndsOfEveryRangeAreTaken() throws {
    let right: [Change] = [
      { $0.frameRate = 0.01 }, { $0.frameRate = 1000 }, { $0.lowLatency.rateControl = .constantQP(0) },
      { $0.lowLatency.rateControl = .constantQP(51) }, { $0.lowLatency.rateControl = .averageBitRate(1000) },
      { ($0.lowLatency.rateControl, $0.frameRate) = (.averageBitRate(1000), 0.01) },
      { ($0.lowLatency.rateControl, $0.frameRate) = (.averageBitRate(800_000_000), 1000) },
      { ($0.minimumQP, $0.maximumQP) = (0, 0) }, { ($0.minimumQP, $0.maximumQP) = (51, 51) },
      { $0.dataRateLimits = [.init(bytes: 1, seconds: 60), .init(bytes: .max, seconds: 1e-9)] },
      { $0.effort = 9 }, { $0.threads = 16 }, { $0.slices = 2 }, { $0.maximumSliceBytes = 100 },
      { $0.maximumSliceBytes = .max },
      { ($0.maximumReferences, $0.lowLatency.longTermReferences) = (16, 15) },
      { $0.lowLatency.intraRefreshPeriod = 1 }, { $0.lowLatency.intraRefreshPeriod = 1000 },
      { $0.keyFrameInterval = 1 },
      { $0.keyFrameInterval = .max }, { ($0.deblockingAlphaOffset, $0.deblockingBetaOffset) = (-6, 6) },
      { $0.lowLatency.adaptiveQuantisation = 2 }, { $0.lowLatency.maximumStillPSNR = 30 },
      { $0.lowLatency.maximumStillPSNR = 100 }, { $0.level = 9 }, { $0.level = 62 },
      { $0.sampleAspectRatio = (0, 0) }, { $0.sampleAspectRatio = (255, 128) },
    ]
    for (i, change) in right.enumerated() {
      var c = Self.defaultConfiguration()
      if i != 15 { (c.maximumReferences, c.lowLatency.longTermReferences) = (2, 1) }
      change(&c)
      let encoder = try LowLatencyEncoder(configuration: c)
      try expectUsable(encoder, "Change \(i)", frames: 3)
    }
  }

  @Test("What no level, or not the level asked for, allows")
  func whatNoLevelAllowsIsRefused() throws {
    let tooMuch: [Change] = [
      { ($0.width, $0.height) = (16384, 16384) }, { ($0.width, $0.height) = (16384, 4352) },
      { ($0.width, $0.height, $0.level) = (1920, 1088, 31) },
      { ($0.width, $0.height, $0.level, $0.frameRate) = (1280, 720, 31, 60) },
      { ($0.level, $0.lowLatency.rateControl) = (10, .averageBitRate(1_000_000)) },
      { ($0.width, $0.height, $0.level, $0.maximumReferences) = (352, 288, 20, 8) },
      { $0.lowLatency.rateControl = .averageBitRate(2_000_000_000) },
      { ($0.width, $0.height, $0.maximumReferences) = (8192, 4352, 16) },
    ]
    for (i, change) in tooMuch.enumerated() {
      var c = Self.defaultConfiguration()
      change(&c)
      do {
        _ = try LowLatencyEncoder(configuration: c)
        Issue.record("Change \(i) was taken")
      } catch H264EncoderError.levelExceeded(let text) {
        #expect(text.localizedContains("level"))
      }
    }
  }

  // MARK: - In mid-stream

  @Test("Nothing else than what may change changes in mid-stream")
  func onlyWhatMayChangeChangesInMidStream() throws {
    let fixed: [Change] = [
      { $0.width = 64 }, { $0.height = 48 }, { $0.profile = .main }, { $0.level = 31 },
      { $0.entropyCoding = .cavlc }, { $0.threads = 2 }, { $0.slices = 2 },
      { $0.maximumSliceBytes = 1000 }, { $0.maximumReferences = 4 }, { $0.lowLatency.longTermReferences = 2 },
      { $0.lowLatency.allowsNonReferenceFrames = true }, { $0.lowLatency.allowsFrameNumberGaps = true },
      { $0.allowsTransform8x8 = false }, { $0.deblocking = false }, { $0.deblockingAlphaOffset = 1 },
      { $0.deblockingBetaOffset = -1 }, { $0.lowLatency.adaptiveQuantisation = 1 },
      { $0.lowLatency.intraRefreshPeriod = 10 },
      { $0.sampleAspectRatio = (4, 3) }, { $0.colour = .init(primaries: 1, transfer: 1, matrix: 1) },
      { $0.fullRange = true }, { $0.writesAccessUnitDelimiters = true },
      { $0.lowLatency.writesTemporalLayerPrefix = true }, { $0.writesParameterSets = false },
      { $0.framing = .lengths },
    ]
    let encoder = try LowLatencyEncoder(configuration: Self.defaultConfiguration())
    try expectUsable(encoder, "before", frames: 1)
    for (i, change) in (fixed + Self.wrong.map(\.change)).enumerated() {
      var c = Self.defaultConfiguration()
      change(&c)
      do {
        try encoder.reconfigure(c)
        Issue.record("Change \(i) was taken")
      } catch H264EncoderError.fixedInStream {
        #expect(i < fixed.count, "Change \(i)")
      } catch H264EncoderError.invalidConfiguration {
        #expect(i >= fixed.count, "Change \(i)")
      }
      #expect(encoder.configuration == Self.defaultConfiguration())
    }
    try expectUsable(encoder, "after")
  }

  @Test("A rate or frame rate beyond the stream's level is refused in mid-stream too")
  func aRateBeyondTheStreamsLevelIsRefusedInMidStream() throws {
    var c = Self.defaultConfiguration()
    c.level = 11
    c.lowLatency.rateControl = .averageBitRate(100_000)
    let encoder = try LowLatencyEncoder(configuration: c)
    for change: Change in [
      { $0.lowLatency.rateControl = .averageBitRate(1_000_000) }, { $0.frameRate = 800 },
    ] {
      var new = c
      change(&new)
      #expect {
        try encoder.reconfigure(new)
      } throws: {
        if case H264EncoderError.levelExceeded = $0 { true } else { false }
      }
      #expect(encoder.configuration == c)
    }
    c.lowLatency.rateControl = .averageBitRate(200_000)
    try encoder.reconfigure(c)
    try expectUsable(encoder, "within the level")
  }

  // MARK: - Pictures and options

  @Test("A picture of another size, or with impossible strides, is refused")
  func aPictureThatDoesNotFitIsRefused() throws {
    let encoder = try LowLatencyEncoder(configuration: Self.defaultConfiguration())
    let memory = [UInt8](repeating: 128, count: 64 * 64)
    try memory.withUnsafeBufferPointer { buffer in
      let p = try #require(buffer.baseAddress)
      func pairs(_ stride: Int) -> SourcePicture.Chroma { .interleaved(p, bytesPerRow: stride) }
      func planes(_ cb: Int, _ cr: Int) -> SourcePicture.Chroma {
        .planar(cb: p, cbBytesPerRow: cb, cr: p, crBytesPerRow: cr)
      }
      var wrong: [SourcePicture] = []
      let sizes: [(Int, Int)] = [
        (46, 32), (48, 30), (32, 48), (0, 0), (-48, -32), (Int.max, Int.max), (Int.min, Int.min),
      ]
      for (w, h) in sizes {
        wrong.append(
          SourcePicture(width: w, height: h, luma: p, lumaBytesPerRow: 64, chroma: pairs(64)))
      }
      let far: [Int] = [Int.min, Int.max, Int.max / 16, 1 << 40]
      for stride in [0, 47, -48, -64] + far {
        wrong.append(
          SourcePicture(width: 48, height: 32, luma: p, lumaBytesPerRow: stride, chroma: pairs(48)))
        wrong.append(
          SourcePicture(width: 48, height: 32, luma: p, lumaBytesPerRow: 48, chroma: pairs(stride)))
      }
      for stride in [0, 23, -24] + far {
        for chroma in [planes(stride, 24), planes(24, stride)] {
          wrong.append(
            SourcePicture(width: 48, height: 32, luma: p, lumaBytesPerRow: 48, chroma: chroma))
        }
      }
      for picture in wrong {
        do {
          _ = try encoder.encode(picture)
          Issue.record("\(picture) was taken")
        } catch H264EncoderError.invalidPicture(let text) {
          #expect(!text.isEmpty)
        }
      }
    }
    try expectUsable(encoder, "after wrong pictures", firstIndex: 0)
  }

  @Test("A frame option that cannot be followed is refused")
  func aFrameOptionThatCannotBeFollowedIsRefused() throws {
    typealias Option = @Sendable (inout H264FrameOptions) -> Void
    // The configuration allows neither.
    var wrong: [Option] = [{ $0.isReference = false }, { $0.startsIntraRefresh = true }]
    let far: [Int] = [Int.max, Int.min]
    for n in [-1, 1, 15, 16] + far { wrong.append { $0.longTermSlot = n } }
    for n in [-1, 52] + far { wrong.append { $0.qp = n } }
    for n in [0, -1, Int.min] { wrong.append { $0.targetBits = n } }
    let durations: [Double] = [0, -1, .nan, .infinity, -.infinity, -0.0]
    for n in durations { wrong.append { $0.duration = n } }
    let shares: [Double] = [0, 0.009, 16.1, -1, .nan, .infinity]
    for n in shares { wrong.append { $0.budgetShare = n } }
    for n in [-1, 8] + far { wrong.append { $0.temporalLayer = n } }
    let encoder = try LowLatencyEncoder(configuration: Self.defaultConfiguration())
    let picture = SyntheticContent(kind: .motion, width: 48, height: 32, seed: 1).frame(0)
    for (i, change) in wrong.enumerated() {
      var options = H264FrameOptions()
      change(&options)
      do {
        _ = try properties(encoder, picture, options)
        Issue.record("Option \(i) was taken: \(options)")
      } catch H264EncoderError.invalidOption(let text) {
        #expect(!text.isEmpty)
      }
    }
    try expectUsable(encoder, "after wrong options", firstIndex: 0)

    var c = Self.defaultConfiguration()
    c.lowLatency.allowsNonReferenceFrames = true
    let other = try LowLatencyEncoder(configuration: c)
    var options = H264FrameOptions()
    options.isReference = false
    options.longTermSlot = 0
    #expect(
      throws: H264EncoderError.invalidOption("A frame that is kept in a long-term slot must be a reference.")
    ) {
      try properties(other, picture, options)
    }
    try expectUsable(other, "after a long-term frame that is not a reference", firstIndex: 0)
  }

  /// Options that are allowed but extreme: the rate control must come through them.
  @Test("Extreme durations, shares, budgets and rates code, within a rate and its limits", arguments: [1, 2])
  func extremeDurationsAndBudgetsCodeWithinTheRate(threads: Int) throws {
    var c = H264EncoderConfiguration(width: 64, height: 48)
    c.threads = threads
    c.effort = 0
    c.maximumReferences = 2
    c.lowLatency.allowsFrameDropping = true
    c.level = 62
    c.lowLatency.rateControl = .averageBitRate(1000)
    c.dataRateLimits = [.init(bytes: 4000, seconds: 60), .init(bytes: .max, seconds: 1e-9)]
    let durations: [Double?] = [
      nil, .leastNonzeroMagnitude, 1e-300, 1e-9, 0.01, 1e6, 1e300, .greatestFiniteMagnitude,
    ]
    let content = SyntheticContent(kind: .cuts, width: 64, height: 48, seed: 9)
    var random = TestRandom(4)
    for pass in 0..<3 {
      if pass == 1 { c.lowLatency.rateControl = .averageBitRate(100_000_000) }
      if pass == 2 { c.lowLatency.rateControl = .constantQP(20) }
      let encoder = try LowLatencyEncoder(configuration: c)
      for n in 0..<60 {
        var options = H264FrameOptions()
        options.duration = durations[random.int(0...durations.count - 1)]
        options.budgetShare = [0.01, 1, 16][random.int(0...2)]
        options.temporalLayer = random.int(0...7)
        if random.chance(30) { options.targetBits = [1, 1000, .max][random.int(0...2)] }
        if random.chance(10) { options.qp = [0, 51][random.int(0...1)] }
        if random.chance(10) { options.isKeyFrame = true }
        let properties = try content.frame(n).withSource(planar: false, padding: 0) {
          try encoder.encode($0, options: options).properties
        }
        #expect(properties.isDropped || properties.bits > 0)
        if random.chance(20), case .averageBitRate = c.lowLatency.rateControl {
          c.lowLatency.rateControl = .averageBitRate([1000, 50_000, 200_000_000][random.int(0...2)])
          try encoder.reconfigure(c)
        }
      }
    }
  }

  @Test("References that are not there, or named twice, are passed over or used")
  func referencesThatAreMissingOrRepeatedArePassedOver() throws {
    let encoder = try LowLatencyEncoder(configuration: Self.defaultConfiguration())
    let decoder = try #require(ReferenceDecoder(.libavcodec))
    let content = SyntheticContent(kind: .motion, width: 48, height: 32, seed: 2)
    let wishes: [H264FrameOptions.References] = [
      .automatic, .frames([99]), .frames([1, 1, 1, 1, 1]), .frames([]), .longTerm([0, -1, .max, .min]),
      .frames([.max, 4, 0, 4]), .longTerm([]), .automatic,
    ]
    var keys: [Bool] = []
    for (n, wish) in wishes.enumerated() {
      var options = H264FrameOptions()
      options.references = wish
      let encoded = try content.frame(n).withSource(planar: true, padding: 0) {
        try encoder.encode($0, options: options)
      }
      keys.append(encoded.properties.isKeyFrame)
      let reconstruction = try #require(encoder.reconstruction(width: 48, height: 32))
      let decoded = try #require(try decoder.decode(encoded.data))
      #expect(reconstruction.firstDifference(decoded) == nil)
    }
    #expect(keys == [true, true, false, true, true, false, true, false])
    encoder.invalidateReferences(from: .max)
    #expect(!encoder.availableReferences.isEmpty)
    encoder.invalidateReferences(from: 0)
    #expect(encoder.availableReferences.isEmpty)
    try expectUsable(encoder, "after all references are gone")
  }

  // MARK: -

  private func properties(
    _ encoder: LowLatencyEncoder, _ picture: PlanarFrame, _ options: H264FrameOptions
  ) throws -> H264FrameProperties {
    try picture.withSource(planar: true, padding: 0) { try encoder.encode($0, options: options).properties }
  }

  /// Codes frames that a decoder reads, with the next index in turn.
  private func expectUsable(
    _ encoder: LowLatencyEncoder, _ comment: Comment, frames: Int = 2, firstIndex: UInt64? = nil
  ) throws {
    let c = encoder.configuration
    let content = SyntheticContent(kind: .motion, width: c.width, height: c.height, seed: 6)
    let decoder = try #require(ReferenceDecoder(.libavcodec))
    for n in 0..<frames {
      var options = H264FrameOptions()
      options.isKeyFrame = n == 0
      let encoded = try content.frame(n).withSource(planar: true, padding: 0) {
        try encoder.encode($0, options: options)
      }
      if let firstIndex { #expect(encoded.properties.index == firstIndex + UInt64(n), comment) }
      let reconstruction = try #require(encoder.reconstruction(width: c.width, height: c.height))
      let decoded = try decoder.decode(encoded.data) ?? decoder.drain()
      let frame = try #require(decoded, comment)
      #expect(reconstruction.firstDifference(frame) == nil, comment)
    }
  }
}

extension String {
  /// Whether the text has the word, whatever the case.
  fileprivate func localizedContains(_ word: String) -> Bool { lowercased().contains(word.lowercased()) }
}
