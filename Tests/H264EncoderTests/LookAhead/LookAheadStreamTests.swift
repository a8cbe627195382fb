// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import H264Encoder

@Suite struct LookAheadStreamTests {
  private static func configuration(_ width: Int, _ height: Int) -> H264EncoderConfiguration {
    var c = H264EncoderConfiguration.lookAhead(width: width, height: height)
    c.maximumReferences = 3
    c.lookAhead.frames = 8
    return c
  }

  @Test("libavcodec shows what the encoder says, for any content", arguments: SyntheticContent.Kind.allCases)
  func libavcodecShowsWhatTheEncoderSays(_ kind: SyntheticContent.Kind) throws {
    for (effort, threads, entropy) in [
      (5, 1, H264EncoderConfiguration.EntropyCoding.cabac), (2, 2, .cabac), (1, 1, .cavlc),
    ] {
      var c = Self.configuration(98, 66)
      c.effort = effort
      c.threads = threads
      c.entropyCoding = entropy
      c.lookAhead.rate = .average(150_000)
      let content = SyntheticContent(kind: kind, width: 98, height: 66, seed: 5)
      let run = try LookAheadRun(c, count: 20) { content.frame($0) }
      try run.check(count: 20, "\(kind), effort \(effort)")
    }
  }

  @Test("No more pictures wait than the look-ahead has", arguments: [0, 1, 5, 40])
  func noMorePicturesWaitThanTheLookAheadHas(_ lookAhead: Int) throws {
    var c = Self.configuration(64, 64)
    c.lookAhead.frames = lookAhead
    let encoder = try LookAheadEncoder(configuration: c)
    let content = SyntheticContent(kind: .motion, width: 64, height: 64, seed: 1)
    var out = 0
    for n in 0..<12 {
      try content.frame(n).withSource(planar: true, padding: 0) { try encoder.encode($0) { _ in out += 1 } }
      #expect(out == max(0, n + 1 - lookAhead))
      #expect(encoder.heldFrameCount == n + 1 - out)
    }
    encoder.complete(through: 9) { _ in out += 1 }
    #expect(out >= 10)
    encoder.flush { _ in out += 1 }
    #expect(out == 12)
    #expect(encoder.heldFrameCount == 0)
    // The stream continues.
    try content.frame(12).withSource(planar: true, padding: 0) {
      try encoder.encode($0) { frame in
        #expect(!frame.properties.isKeyFrame)
        out += 1
      }
    }
    encoder.flush { _ in out += 1 }
    #expect(out == 13)
  }

  @Test("Key frames by interval, by duration and where asked for")
  func keyFramesComeByIntervalByDurationAndOnRequest() throws {
    var c = Self.configuration(64, 64)
    let content = SyntheticContent(kind: .motion, width: 64, height: 64, seed: 1)
    func keys(_ c: H264EncoderConfiguration, forced: Set<Int> = []) throws -> [UInt64] {
      let run = try LookAheadRun(c, count: 30) { n in
        var options = H264FrameOptions()
        options.isKeyFrame = forced.contains(n)
        return options
      } content: {
        content.frame($0)
      }
      try run.check(count: 30)
      return run.frames.filter(\.properties.isKeyFrame).map(\.properties.index)
    }
    #expect(try keys(c) == [0])
    #expect(try keys(c, forced: [7, 8, 29]) == [0, 7, 8, 29])
    c.keyFrameInterval = 10
    #expect(try keys(c) == [0, 10, 20])
    #expect(try keys(c, forced: [4]) == [0, 4, 14, 24])
    c.keyFrameInterval = nil
    c.lookAhead.keyFrameDuration = 0.5
    #expect(try keys(c) == [0, 15])
    c.keyFrameInterval = 1
    #expect(try keys(c).count == 30)
    // Pictures that are far apart, further than rate control believes.
    c.keyFrameInterval = nil
    c.lookAhead.keyFrameDuration = 10
    var sparse = H264FrameOptions()
    sparse.duration = 2
    let run = try LookAheadRun(c, count: 12) { _ in
      sparse
    } content: {
      content.frame($0)
    }
    #expect(run.frames.filter(\.properties.isKeyFrame).map(\.properties.index) == [0, 5, 10])
    // A number of seconds alone is not cut short by a number of pictures.
    sparse.duration = 1 / 60
    let dense = try LookAheadRun(c, count: 300) { _ in
      sparse
    } content: {
      content.frame($0)
    }
    #expect(dense.frames.filter(\.properties.isKeyFrame).map(\.properties.index) == [0])
  }

  @Test("A new scene begins with a key frame; a flash does not", arguments: [0, 8])
  func aNewSceneBeginsWithAKeyFrame(_ lookAhead: Int) throws {
    var c = Self.configuration(128, 96)
    c.lookAhead.frames = lookAhead
    let scenes = (0..<3).map {
      SyntheticContent(kind: .motion, width: 128, height: 96, seed: UInt64($0 * 7 + 1))
    }
    let run = try LookAheadRun(c, count: 45) { scenes[$0 / 15].frame($0) }
    #expect(run.frames.filter(\.properties.isKeyFrame).map(\.properties.index) == [0, 15, 30])
    try run.check(count: 45)
    c.lookAhead.placesKeyFramesAtCuts = false
    let plain = try LookAheadRun(c, count: 45) { scenes[$0 / 15].frame($0) }
    #expect(plain.frames.filter(\.properties.isKeyFrame).map(\.properties.index) == [0])
    guard lookAhead > 0 else { return }
    c.lookAhead.placesKeyFramesAtCuts = true
    let flash = try LookAheadRun(c, count: 30) { scenes[$0 == 15 ? 1 : 0].frame($0) }
    #expect(flash.frames.filter(\.properties.isKeyFrame).map(\.properties.index) == [0])
  }

  @Test("The same stream each time, with 1, 2 and 3 threads")
  func theStreamIsTheSameWithAnyThreads() throws {
    var c = Self.configuration(98, 130)
    c.lookAhead.rate = .average(200_000)
    c.lookAhead.buffer = .init(maximumRate: 250_000, size: 100_000)
    let content = SyntheticContent(kind: .mixed, width: 98, height: 130, seed: 17)
    let first = try LookAheadRun(c, count: 16) { content.frame($0) }.frames.map(\.data)
    for threads in [1, 2, 3, 3] {
      c.threads = threads
      #expect(try LookAheadRun(c, count: 16) { content.frame($0) }.frames.map(\.data) == first)
    }
  }

  @Test("What is shown for long is coded better than what passes")
  func whatIsShownForLongIsCodedBetterThanWhatPasses() throws {
    // The left half is static, the right half is new noise in each frame.
    func content(_ n: Int) -> PlanarFrame {
      let still = SyntheticContent(kind: .motion, width: 128, height: 64, seed: 3).frame(0)
      var frame = SyntheticContent(kind: .noise, width: 128, height: 64, seed: 3).frame(n)
      for y in 0..<64 { for x in 0..<64 { frame.y[y * 128 + x] = still.y[y * 128 + x] } }
      return frame
    }
    func error(_ propagates: Bool) throws -> (left: Int, right: Int) {
      var c = Self.configuration(128, 64)
      c.lookAhead.rate = .quality(32)
      c.lookAhead.adaptiveQuantisation = 0
      c.lookAhead.usesMacroblockTree = propagates
      let run = try LookAheadRun(c, count: 1 + c.lookAhead.frames) { content($0) }
      let (source, coded) = (content(0), run.frames[0].reconstruction)
      var sums = (left: 0, right: 0)
      for i in 0..<128 * 64 {
        let d = Int(source.y[i]) - Int(coded.y[i])
        if i % 128 < 64 { sums.left += d * d } else { sums.right += d * d }
      }
      return sums
    }
    let with = try error(true)
    let without = try error(false)
    #expect(with.left * 2 < without.left)
    #expect(with.right * 10 > without.right * 7)
  }

  @Test("A frame's options, pictures and values that do not fit are refused, and nothing is lost")
  func whatDoesNotFitIsRefusedAndNothingIsLost() throws {
    func refused(_ change: (inout H264EncoderConfiguration) -> Void) {
      var c = Self.configuration(64, 64)
      change(&c)
      #expect(throws: H264EncoderError.self) { try LookAheadEncoder(configuration: c) }
    }
    refused { $0.lookAhead.frames = 251 }
    refused { $0.lookAhead.frames = -1 }
    refused { $0.lookAhead.rate = .average(0) }
    refused { $0.lookAhead.rate = .quality(.nan) }
    refused { $0.lookAhead.rate = .constantQP(52) }
    refused { $0.lookAhead.rate = .constant(100_000) }
    refused {
      $0.lookAhead.rate = .constant(100_000)
      $0.lookAhead.buffer = .init(maximumRate: 99_000, size: 50_000)
    }
    refused { $0.lookAhead.buffer = .init(maximumRate: 1, size: 1) }
    refused { $0.lookAhead.buffer = .init(maximumRate: 10_000, size: 10_000, initialFullness: 1.5) }
    refused { $0.lookAhead.keyFrameDuration = 0 }
    refused { $0.lookAhead.adaptiveQuantisation = 3 }
    refused { $0.lookAhead.expectedDuration = -1 }
    refused { $0.masteringDisplay = [1] }
    refused { $0.contentLightLevel = [] }
    refused { $0.width = 15 }

    let encoder = try LookAheadEncoder(configuration: Self.configuration(64, 64))
    let content = SyntheticContent(kind: .motion, width: 64, height: 64, seed: 1)
    var out = 0
    for n in 0..<5 {
      try content.frame(n).withSource(planar: true, padding: 0) { source in
        for change: (inout H264FrameOptions) -> Void in [
          { $0.isReference = false }, { $0.longTermSlot = 0 }, { $0.startsIntraRefresh = true },
          { $0.qp = 52 },
          { $0.duration = 0 }, { $0.temporalLayer = 1 }, { $0.references = .frames([0]) },
        ] {
          var options = H264FrameOptions()
          change(&options)
          #expect(throws: H264EncoderError.self) {
            try encoder.encode(source, options: options) { _ in out += 1 }
          }
        }
        try encoder.encode(source) { _ in out += 1 }
      }
    }
    let wrong = SyntheticContent(kind: .motion, width: 80, height: 64, seed: 1).frame(0)
    #expect(throws: H264EncoderError.self) {
      try wrong.withSource(planar: true, padding: 0) { try encoder.encode($0) { _ in out += 1 } }
    }
    encoder.flush { _ in out += 1 }
    #expect(out == 5)
  }
}
