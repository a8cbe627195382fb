// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import H264Encoder

/// Several references where pictures make use of them, one where they do not.
@Suite struct ReferenceUseTests {
  @Test("The largest share of the last pictures counts as it fades, and each seventh picture is asked again")
  func theLargestShareOfTheLastPicturesCountsAsItFades() {
    var use = ReferenceUse()
    #expect(use.shouldUseSeveralReferences(index: 1, minimumShare: 0.3))
    use.record(index: 1, inOtherReferences: 40, inter: 100)
    // 0.8 of what was taken for granted.
    #expect(use.shouldUseSeveralReferences(index: 2, minimumShare: 0.8))
    for index in UInt64(2)...6 { use.record(index: index, inOtherReferences: 0, inter: 100) }
    #expect(!use.shouldUseSeveralReferences(index: 7, minimumShare: 0.3))
    #expect(use.shouldUseSeveralReferences(index: 7, minimumShare: 0.2))
    #expect(!use.shouldUseSeveralReferences(index: 12, minimumShare: 0.3))
    #expect(use.shouldUseSeveralReferences(index: 13, minimumShare: 0.3))
    use.record(index: 13, inOtherReferences: 50, inter: 100)
    #expect(use.shouldUseSeveralReferences(index: 14, minimumShare: 0.3))
    use.record(index: 14, inOtherReferences: 0, inter: 0)
    #expect(use.shouldUseSeveralReferences(index: 15, minimumShare: 0.4))
    #expect(!use.shouldUseSeveralReferences(index: 15, minimumShare: 0.45))
  }

  /// - Parameter picture: which picture of the content comes `n`th.
  private static func encode(
    effort: Int, references: Int, frames: Int, picture: (Int) -> Int
  ) throws -> [H264FrameProperties] {
    var c = H264EncoderConfiguration(width: 128, height: 96)
    c.lowLatency.rateControl = .constantQP(26)
    c.maximumReferences = references
    c.effort = effort
    let encoder = try LowLatencyEncoder(configuration: c)
    let decoder = try #require(ReferenceDecoder(.libavcodec))
    let content = SyntheticContent(kind: .motion, width: c.width, height: c.height, seed: 5)
    return try (0..<frames).map { n in
      let unit = try content.frame(picture(n)).withSource(planar: true, padding: 0) { try encoder.encode($0) }
      let reconstruction = try #require(encoder.reconstruction(width: c.width, height: c.height))
      let decoded = try #require(try decoder.decode(unit.data))
      #expect(reconstruction.firstDifference(decoded) == nil, "frame \(n)")
      return unit.properties
    }
  }

  @Test("Two pictures in turns: the one before the last is kept for reference", arguments: 1...4)
  func theReferenceBeforeTheLastIsKeptForTwoPicturesInTurns(effort: Int) throws {
    let two = try Self.encode(effort: effort, references: 2, frames: 24) { $0 % 2 * 60 }
    let one = try Self.encode(effort: effort, references: 1, frames: 24) { $0 % 2 * 60 }
    #expect(two.dropFirst(2).allSatisfy { $0.referenceCount == 2 })
    let bits = (
      two: two.dropFirst(2).reduce(0) { $0 + $1.bits }, one: one.dropFirst(2).reduce(0) { $0 + $1.bits }
    )
    #expect(bits.two * 3 < bits.one)
  }

  @Test("A static picture needs one, but for those that ask", arguments: 1...4)
  func aPictureThatStandsStillNeedsOne(effort: Int) throws {
    let properties = try Self.encode(effort: effort, references: 3, frames: 40) { _ in 0 }
    let asked = properties.indices.filter { $0 >= 20 && properties[$0].referenceCount > 1 }
    #expect((2...3).contains(asked.count))
    #expect(zip(asked, asked.dropFirst()).allSatisfy { $1 - $0 == Int(ReferenceUse.interval) })
  }
}
