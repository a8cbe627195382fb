// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import H264Encoder
@testable import VideoEncoding

/// Key frames that are not IDR pictures.
@Suite struct OpenGOPTests {
  private static let (width, height) = (98, 82)

  private static func configuration(
    references: Int, bidirectional: Int, threads: Int = 1
  ) -> H264EncoderConfiguration {
    var c = H264EncoderConfiguration.lookAhead(width: width, height: height)
    c.effort = 4
    c.threads = threads
    c.maximumReferences = references
    c.writesParameterSets = true
    c.keyFrameInterval = 12
    c.lookAhead.placesKeyFramesAtCuts = false
    c.lookAhead.maximumBidirectional = bidirectional
    c.lookAhead.frames = 10
    c.lookAhead.rate = .quality(26)
    c.lookAhead.usesOpenGOP = true
    return c
  }

  private static func content(_ n: Int) -> PlanarFrame {
    SyntheticContent(kind: .motion, width: width, height: height, seed: 11).frame(n)
  }

  @Test(
    "A decoder that begins at any open key frame shows it and all that follows as the encoder says",
    arguments: [(2, 1), (3, 3), (4, 2), (4, 3), (6, 3)])
  func decodingCanBeginAtAnyOpenKeyFrame(references: Int, bidirectional: Int) throws {
    let count = 58
    let c = Self.configuration(references: references, bidirectional: bidirectional)
    let run = try LookAheadRun(c, count: count) { Self.content($0) }
    try run.check(count: count)
    let open = run.frames.indices.filter { run.frames[$0].properties.isOpenGOP }
    #expect(open.count == 4)
    for start in open {
      let key = run.frames[start].properties
      #expect(key.isKeyFrame && key.referenceCount == 0 && key.isReference)
      // Frames that are shown before it follow it, and refer across it.
      #expect(run.frames[start + 1].properties.index < key.index)
      let leading = run.frames[(start + 1)...].prefix { $0.properties.index < key.index }
      #expect(run.frames[(start + 1 + leading.count)...].allSatisfy { $0.properties.index > key.index })
      let decoder = try #require(ReferenceDecoder(.libavcodec))
      var shown: [PlanarFrame] = []
      var failures = 0
      func take(_ next: () throws -> PlanarFrame?) -> Bool {
        do {
          guard let picture = try next() else { return false }
          shown.append(picture)
        } catch {
          failures += 1
        }
        return true
      }
      for frame in run.frames[start...] { _ = take { try decoder.decode(frame.data) } }
      while take({ try decoder.drain() }) {}
      // Of leading frames, whose references are not there, the decoder says so where it reads them
      // and where it shows them.
      #expect(failures <= 2 * leading.count)
      let expected = run.frames[start...].filter { $0.properties.index >= key.index }
        .sorted { $0.properties.index < $1.properties.index }.map(\.reconstruction)
      #expect(shown.suffix(expected.count) == expected[...], "from frame \(start)")
      // The same for who does not even read them, where none counts in frame_num.
      guard !leading.contains(where: \.properties.isReference) else { continue }
      let sparing = try #require(ReferenceDecoder(.libavcodec))
      var rest: [PlanarFrame] = []
      for frame in run.frames[start...] where frame.properties.index >= key.index {
        if let picture = try sparing.decode(frame.data) { rest.append(picture) }
      }
      while let picture = try sparing.drain() { rest.append(picture) }
      #expect(rest == expected, "from frame \(start), without leading frames")
    }
  }

  @Test("Only intervals and durations open a group, and only with B pictures before the key frame")
  func onlyIntervalsAndDurationsOpenAGroup() throws {
    func keys(_ c: H264EncoderConfiguration, forced: Set<Int> = [], count: Int = 30) throws -> (
      closed: [UInt64], open: [UInt64]
    ) {
      let run = try LookAheadRun(c, count: count) { n in
        var options = H264FrameOptions()
        options.isKeyFrame = forced.contains(n)
        return options
      } content: {
        Self.content($0)
      }
      try run.check(count: count)
      let keys = run.frames.map(\.properties).filter(\.isKeyFrame)
      for frame in run.frames {
        let types = Self.unitTypes(frame.data)
        // IDR slices are of type 5.
        #expect(types.contains(5) == (frame.properties.isKeyFrame && !frame.properties.isOpenGOP))
        #expect(types.contains(7) == frame.properties.isKeyFrame)
      }
      return (keys.filter { !$0.isOpenGOP }.map(\.index), keys.filter(\.isOpenGOP).map(\.index))
    }
    var c = Self.configuration(references: 4, bidirectional: 3)
    var found = try keys(c)
    #expect(found.closed == [0] && found.open == [12, 24])
    found = try keys(c, forced: [4])
    #expect(found.closed == [0, 4] && found.open == [16, 28])
    c.keyFrameInterval = nil
    c.lookAhead.keyFrameDuration = 0.5
    found = try keys(c)
    #expect(found.closed == [0] && found.open == [15])
    c.lookAhead.keyFrameDuration = nil
    c.keyFrameInterval = 1
    found = try keys(c, count: 5)
    #expect(found.closed == [0, 1, 2, 3, 4] && found.open.isEmpty)
    c.keyFrameInterval = 12
    c.lookAhead.maximumBidirectional = 0
    found = try keys(c)
    #expect(found.closed == [0, 12, 24] && found.open.isEmpty)
    c.lookAhead.maximumBidirectional = 3
    c.lookAhead.usesOpenGOP = false
    found = try keys(c)
    #expect(found.closed == [0, 12, 24] && found.open.isEmpty)
  }

  private static func unitTypes(_ data: [UInt8]) -> [UInt8] {
    data.indices.dropFirst(4).filter { data[$0 - 4..<$0].elementsEqual([0, 0, 0, 1]) }.map { data[$0] & 31 }
  }

  @Test("A new scene begins with an IDR picture, also where a key frame is due")
  func aNewSceneBeginsWithAnIDRPicture() throws {
    var c = Self.configuration(references: 4, bidirectional: 3)
    c.lookAhead.placesKeyFramesAtCuts = true
    let scenes = (0..<3).map {
      SyntheticContent(kind: .motion, width: Self.width, height: Self.height, seed: UInt64($0 * 7 + 1))
    }
    let run = try LookAheadRun(c, count: 46) { scenes[$0 < 17 ? 0 : $0 < 29 ? 1 : 2].frame($0) }
    try run.check(count: 46)
    let keys = run.frames.map(\.properties).filter(\.isKeyFrame)
    #expect(keys.map(\.index) == [0, 12, 17, 29, 41])
    #expect(keys.map(\.isOpenGOP) == [false, true, false, false, true])
  }

  @Test("They cause no delay, and a second pass meets its rate with them")
  func delayAndPasses() throws {
    var c = Self.configuration(references: 4, bidirectional: 3)
    c.lookAhead.rate = .average(120_000)
    c.effort = 1
    var known: PassStatistics?
    for pass in 0..<2 {
      let encoder = try LookAheadEncoder(configuration: c, pass: known)
      encoder.keepsStatistics = true
      let decoder = try #require(ReferenceDecoder(.libavcodec))
      var (bits, open, given, decoded) = (0, 0, 0, 0)
      func take(_ properties: H264FrameProperties, _ data: [UInt8]) throws {
        given += 1
        bits += properties.bits
        if properties.isOpenGOP { open += 1 }
        if try decoder.decode(data) != nil { decoded += 1 }
      }
      let count = 240
      for n in 0..<count {
        var frames: [(properties: H264FrameProperties, data: [UInt8])] = []
        try Self.content(n).withSource(planar: true, padding: 0) {
          try encoder.encode($0) { frames.append(($0.properties, $0.data)) }
        }
        for frame in frames { try take(frame.properties, frame.data) }
        #expect(given == max(0, n + 1 - c.lookAhead.frames))
      }
      var rest: [(properties: H264FrameProperties, data: [UInt8])] = []
      encoder.flush { rest.append(($0.properties, $0.data)) }
      for frame in rest { try take(frame.properties, frame.data) }
      while try decoder.drain() != nil { decoded += 1 }
      #expect(open == 19 && decoded == count)
      let rate = Double(bits) * 30 / Double(count)
      #expect(abs(rate - 120_000) < (pass == 0 ? 12_000 : 6_000), "pass \(pass): \(rate)")
      known = encoder.statistics
    }
  }

  @Test("The same stream with 1, 2 and 3 threads; and it may open its groups from the middle on")
  func threadsAndChange() throws {
    let single = try LookAheadRun(Self.configuration(references: 4, bidirectional: 3), count: 40) {
      Self.content($0)
    }
    for threads in [2, 3] {
      let c = Self.configuration(references: 4, bidirectional: 3, threads: threads)
      let run = try LookAheadRun(c, count: 40) { Self.content($0) }
      #expect(run.frames.map(\.data) == single.frames.map(\.data))
    }
    var c = Self.configuration(references: 4, bidirectional: 3)
    c.lookAhead.usesOpenGOP = false
    let encoder = try LookAheadEncoder(configuration: c)
    var properties: [H264FrameProperties] = []
    for n in 0..<40 {
      if n == 20 {
        c.lookAhead.usesOpenGOP = true
        try encoder.reconfigure(c)
      }
      try Self.content(n).withSource(planar: true, padding: 0) {
        try encoder.encode($0) { properties.append($0.properties) }
      }
    }
    encoder.flush { properties.append($0.properties) }
    let keys = properties.filter(\.isKeyFrame)
    #expect(keys.map(\.index) == [0, 12, 24, 36])
    #expect(keys.map(\.isOpenGOP) == [false, false, true, true])
  }
}
