// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import H264Encoder

/// Where several pictures are in flight, each is planned before it is known what those before it
/// took.
@Suite struct PicturesInFlightTests {
  private static let (width, height) = (160, 96)
  private static let frames = 420

  /// Scenes of one to four seconds, which take from a tenth to several times as much as the mean at
  /// the same QP.
  private static func content(_ n: Int) -> PlanarFrame {
    let scenes: [(until: Int, kind: SyntheticContent.Kind)] = [
      (70, .motion), (100, .screen), (190, .fade), (310, .mixed), (340, .gradient), (frames, .motion),
    ]
    let scene = scenes.firstIndex { n < $0.until } ?? 0
    return SyntheticContent(
      kind: scenes[scene].kind, width: width, height: height, seed: UInt64(scene + 20)
    ).frame(n)
  }

  private static func encode(
    _ configuration: H264EncoderConfiguration, _ pictures: [PlanarFrame]
  ) throws -> [[UInt8]] {
    let encoder = try LookAheadEncoder(configuration: configuration)
    var units: [[UInt8]] = []
    for picture in pictures {
      try picture.withSource(planar: true, padding: 0) { source in
        try encoder.encode(source) { units.append($0.data) }
      }
    }
    encoder.flush { units.append($0.data) }
    return units
  }

  /// Gives the numbers of frames as they come, with a call for more in the middle of each.
  private final class Nested {
    let encoder: LookAheadEncoder
    let flushes: Bool
    var numbers: [UInt64] = []

    init(_ configuration: H264EncoderConfiguration, flushes: Bool) throws {
      encoder = try LookAheadEncoder(configuration: configuration)
      self.flushes = flushes
    }

    func take(_ frame: consuming H264EncodedFrame) {
      numbers.append(frame.properties.index)
      if flushes { encoder.flush { take($0) } } else { encoder.complete(through: 1000) { take($0) } }
    }

    func encode(_ range: Range<Int>) throws {
      for n in range {
        try PicturesInFlightTests.content(n).withSource(planar: true, padding: 0) {
          try encoder.encode($0) { take($0) }
        }
      }
    }
  }

  @Test(
    "Whoever gets a frame may ask for all others", arguments: [true, false], [(10, 1), (20, 1), (20, 3)])
  func whoeverGetsAFrameMayAskForAllOthers(flushes: Bool, _ setting: (lookAhead: Int, threads: Int)) throws {
    var c = H264EncoderConfiguration.lookAhead(width: Self.width, height: Self.height)
    c.maximumReferences = 2
    c.effort = 1
    c.threads = setting.threads
    c.lookAhead.rate = .average(200_000)
    c.lookAhead.frames = setting.lookAhead
    let run = try Nested(c, flushes: flushes)
    // All at once, and where the look-ahead is full.
    try run.encode(0..<8)
    run.encoder.flush { run.take($0) }
    try run.encode(8..<28)
    // With a buffer there is one picture in flight, and there were several.
    c.lookAhead.buffer = .init(maximumRate: 300_000, size: 150_000)
    try run.encoder.reconfigure(c)
    try run.encode(28..<56)
    run.encoder.complete(through: 1000) { run.take($0) }
    run.encoder.flush { run.take($0) }
    #expect(run.numbers.sorted() == (0..<56).map { UInt64($0) } && run.encoder.heldFrameCount == 0)
  }

  /// 14 s: in the first ten pictures are planned when all before are known, then while several are
  /// in flight.
  @Test(
    "An average over 14 s of scenes is kept within 2 %, with the same bits from 1, 2 and 4 threads",
    arguments: [(20, 4), (40, 6)], [200_000, 400_000])
  func anAverageOverScenesIsKeptWithAnyThreads(_ depth: (lookAhead: Int, inFlight: Int), rate: Int) throws {
    var c = H264EncoderConfiguration.lookAhead(width: Self.width, height: Self.height)
    c.maximumReferences = 2
    c.effort = 1
    c.lookAhead.rate = .average(rate)
    c.lookAhead.frames = depth.lookAhead
    // As sessions that code files say; a short look-ahead does not see the last scenes come.
    c.lookAhead.expectedDuration = Double(Self.frames) / 30
    #expect(c.picturesInFlight == depth.inFlight)
    let pictures = (0..<Self.frames).map { Self.content($0) }
    var first: [[UInt8]] = []
    for threads in [1, 2, 4] {
      c.threads = threads
      let units = try Self.encode(c, pictures)
      let bits = units.reduce(0) { $0 + $1.count * 8 }
      let error = Double(bits) * 30 / Double(Self.frames * rate) - 1
      #expect(units.count == Self.frames)
      #expect(abs(error) < 0.02, "\(threads) threads, look-ahead \(depth.lookAhead), \(rate) b/s: \(error)")
      if threads == 1 { first = units } else { #expect(units == first, "\(threads) threads") }
    }
  }
}
