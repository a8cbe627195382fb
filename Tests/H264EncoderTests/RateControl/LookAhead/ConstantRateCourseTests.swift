// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import H264Encoder
@testable import VideoEncoding

/// A constant bit rate where nothing happens for a while, and then motion begins: the bits of the
/// quiet part are lost to filler data, but they do not make the motion that follows worse.
@Suite struct ConstantRateCourseTests {
  private static let (width, height, quiet, moving) = (320, 192, 60, 40)

  private static func motion(_ n: Int) -> PlanarFrame {
    SyntheticContent(kind: .motion, width: width, height: height, seed: 11).frame(n)
  }

  /// The mean squared error of the luma of the worst half second of the motion, and the share of
  /// filler data in it.
  /// - Parameter quiet: the static picture before the motion; nil: there is none.
  private static func worst(after quiet: PlanarFrame?) throws -> (error: Double, filler: Double) {
    var c = H264EncoderConfiguration.lookAhead(width: width, height: height)
    c.maximumReferences = 3
    c.effort = 1
    c.measuresError = true
    c.lookAhead.frames = 20
    c.lookAhead.keyFrameDuration = 1.3
    c.lookAhead.rate = .constant(400_000)
    c.lookAhead.buffer = .init(maximumRate: 400_000, size: 200_000)
    let still = quiet == nil ? 0 : Self.quiet
    let run = try LookAheadRun(c, count: still + moving) { n in
      n < still ? quiet ?? motion(0) : motion(n - still)
    }
    let shown = run.frames.filter { $0.properties.index >= UInt64(still) }
      .sorted { $0.properties.index < $1.properties.index }
    let errors = try shown.map { try #require($0.properties.meanSquaredError).luma }
    let half = Int(c.frameRate / 2)
    let worst = (0...errors.count - half).map { errors[$0..<$0 + half].reduce(0, +) / Double(half) }.max()
    let bytes = shown.reduce(0) { $0 + $1.data.count }
    let filler = shown.reduce(0) { $0 + fillerBytes($1.data) }
    return (worst ?? 0, Double(filler) / Double(bytes))
  }

  /// The bytes of NAL units of type 12 (7.4.1), counted without the encoder.
  private static func fillerBytes(_ data: [UInt8]) -> Int {
    var starts: [Int] = []
    for at in 0..<max(data.count - 3, 0) where data[at..<at + 3].elementsEqual([0, 0, 1]) {
      starts.append(at)
    }
    return zip(starts, starts.dropFirst() + [data.count]).reduce(0) { sum, unit in
      data[unit.0 + 3] & 31 == 12 ? sum + unit.1 - unit.0 : sum
    }
  }

  @Test("Motion after a still, black or a title is as good as motion alone", arguments: 0..<3)
  func motionAfterAQuietPartIsAsGood(_ course: Int) throws {
    let black = PlanarFrame(
      width: Self.width, height: Self.height, y: Array(repeating: 16, count: Self.width * Self.height),
      u: Array(repeating: 128, count: Self.width * Self.height / 4),
      v: Array(repeating: 128, count: Self.width * Self.height / 4))
    let title = SyntheticContent(kind: .windows, width: Self.width, height: Self.height, seed: 3).frame(0)
    let alone = try Self.worst(after: nil)
    let after = try Self.worst(after: [Self.motion(0), black, title][course])
    // Half a decibel is an error of 1.12 times the other.
    #expect(after.error < alone.error * 1.12, "\(after) \(alone)")
    #expect(after.filler < alone.filler + 0.2, "\(after) \(alone)")
  }
}
