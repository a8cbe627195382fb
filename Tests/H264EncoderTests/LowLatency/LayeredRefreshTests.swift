// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import H264Encoder

/// An intra refresh among pictures that nothing refers to, and with frames that are dropped.
@Suite struct LayeredRefreshTests {
  private static let (width, height) = (128, 64)

  private static func configuration(_ period: Int) -> H264EncoderConfiguration {
    var c = H264EncoderConfiguration(width: width, height: height)
    c.effort = 1
    c.lowLatency.intraRefreshPeriod = period
    c.lowLatency.allowsNonReferenceFrames = true
    c.lowLatency.allowsFrameNumberGaps = true
    return c
  }

  private static func isRecoveryPoint(_ frame: borrowing H264EncodedFrame) -> Bool {
    frame.nalUnits.contains { $0.type == 6 }
  }

  @Test(
    "Whoever comes in at a recovery point has all right after as many references as it says",
    arguments: [4, 8, 16], [1, 2, 4])
  func whoeverJoinsAtARecoveryPointSoonHasAllRight(_ period: Int, layers: Int) throws {
    let c = Self.configuration(period)
    let encoder = try LowLatencyEncoder(configuration: c)
    let other = try LowLatencyEncoder(configuration: c)
    let content = SyntheticContent(kind: .motion, width: Self.width, height: Self.height, seed: 3)
    let wrong = SyntheticContent(kind: .frozenNoise, width: Self.width, height: Self.height, seed: 9)
    let decoder = try #require(ReferenceDecoder(.libavcodec))
    // Another stream's key frame: what refers to it is wrong.
    let key = try wrong.frame(0).withSource(planar: true, padding: 0) { try other.encode($0).data }
    _ = try decoder.decode(key)
    var references = 0
    for n in 0..<period * layers * 3 {
      var options = H264FrameOptions()
      options.isReference = n % layers == 0
      options.temporalLayer = options.isReference ? 0 : 1
      let unit = try content.frame(n).withSource(planar: true, padding: 0) { source in
        let frame = try encoder.encode(source, options: options)
        let marks = Self.isRecoveryPoint(frame)
        #expect(!marks || options.isReference, "frame \(n)")
        if options.isReference, references > 0 || marks { references += 1 }
        return frame.data
      }
      if n == 0 { continue }
      let shown = try #require(try decoder.decode(unit))
      // The recovery point is the first of them.
      guard references >= period else { continue }
      let made = try #require(encoder.reconstruction(width: Self.width, height: Self.height))
      #expect(made.firstDifference(shown) == nil, "frame \(n)")
    }
    #expect(references >= 2 * period)
  }

  @Test("A refresh asked for with a picture that nothing refers to begins with the next reference")
  func aRefreshAskedForWithAnUnreferencedPictureBeginsWithTheNextReference() throws {
    var c = Self.configuration(8)
    c.lowLatency.refreshesContinuously = false
    let encoder = try LowLatencyEncoder(configuration: c)
    let content = SyntheticContent(kind: .motion, width: Self.width, height: Self.height, seed: 3)
    var points: [Int] = []
    for n in 0..<24 {
      var options = H264FrameOptions()
      options.isReference = n % 2 == 0
      options.startsIntraRefresh = n == 3
      try content.frame(n).withSource(planar: true, padding: 0) {
        if Self.isRecoveryPoint(try encoder.encode($0, options: options)) { points.append(n) }
      }
    }
    #expect(points == [4])
  }

  @Test("A refresh asked for with a frame that is dropped begins with the next one")
  func aRefreshAskedForWithADroppedFrameBeginsWithTheNext() throws {
    var c = Self.configuration(8)
    c.lowLatency.refreshesContinuously = false
    c.lowLatency.rateControl = .averageBitRate(400_000)
    c.maximumQP = 36
    c.dataRateLimits = [.init(bytes: 12_000, seconds: 0.5)]
    c.lowLatency.allowsFrameDropping = true
    let content = SyntheticContent(kind: .noise, width: Self.width, height: Self.height, seed: 3)
    /// The dropped frames, and the recovery points.
    func run(asking: Int?) throws -> (dropped: [Int], points: [Int]) {
      let encoder = try LowLatencyEncoder(configuration: c)
      var result: (dropped: [Int], points: [Int]) = ([], [])
      for n in 0..<40 {
        var options = H264FrameOptions()
        options.startsIntraRefresh = n == asking
        try content.frame(n).withSource(planar: true, padding: 0) {
          let frame = try encoder.encode($0, options: options)
          if frame.properties.isDropped { result.dropped.append(n) }
          if Self.isRecoveryPoint(frame) { result.points.append(n) }
        }
      }
      return result
    }
    let first = try #require(try run(asking: nil).dropped.first)
    let asked = try run(asking: first)
    #expect(asked.dropped.first == first)
    let next = (first..<40).first { !asked.dropped.contains($0) }
    #expect(asked.points == [next].compactMap { $0 })
    #expect(next != nil)
  }
}
