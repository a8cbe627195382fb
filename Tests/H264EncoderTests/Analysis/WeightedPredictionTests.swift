// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import H264Encoder

/// Pictures that grow darker or brighter as a whole.
@Suite struct WeightedPredictionTests {
  private static let width = 320
  private static let height = 192

  private struct Outcome {
    var bits = 0
    var error = 0.0
    var weighted = 0
  }

  /// Codes frames, and compares what two decoders make of them.
  private static func code(
    weighted: Bool, profile: H264EncoderConfiguration.Profile = .high, references: Int = 1,
    _ frames: [PlanarFrame]
  ) throws -> Outcome {
    var c = H264EncoderConfiguration(width: frames[0].width, height: frames[0].height)
    c.profile = profile
    c.lowLatency.rateControl = .constantQP(28)
    c.allowsWeightedPrediction = weighted
    c.maximumReferences = references
    c.effort = 4
    c.measuresError = true
    let encoder = try LowLatencyEncoder(configuration: c)
    let decoders = ReferenceDecoder.Kind.allCases.compactMap { ReferenceDecoder($0) }
    var waiting = [[PlanarFrame]](repeating: [], count: decoders.count)
    var outcome = Outcome()
    func compare(_ i: Int, _ frame: PlanarFrame) {
      let expected = waiting[i].removeFirst()
      let difference = expected.firstDifference(frame)
      #expect(difference == nil, "\(decoders[i].kind): \(difference ?? "")")
    }
    for (n, frame) in frames.enumerated() {
      let encoded = try frame.withSource(planar: n % 2 == 0, padding: 6) { try encoder.encode($0) }
      if n > 0 {
        outcome.bits += encoded.properties.bits
        outcome.error += encoded.properties.meanSquaredError?.luma ?? 0
      }
      let unit = encoded.data
      for i in decoders.indices {
        if let picture = encoder.reconstruction(width: frame.width, height: frame.height) {
          waiting[i].append(picture)
        }
        if let decoded = try decoders[i].decode(unit) { compare(i, decoded) }
      }
    }
    for i in decoders.indices {
      while let decoded = try decoders[i].drain() { compare(i, decoded) }
      #expect(waiting[i].isEmpty)
    }
    outcome.weighted = encoder.weightedPictures
    return outcome
  }

  /// A picture that moves a little, from dark to bright and back, or as it is.
  private static func fade(_ count: Int, fades: Bool = true) -> [PlanarFrame] {
    let content = SyntheticContent(kind: .motion, width: width, height: height, seed: 5)
    return (0..<count).map { n in
      var frame = content.frame(n)
      guard fades else { return frame }
      let gain = 0.3 + 0.7 * Double(abs(8 - n % 16)) / 8
      for i in frame.y.indices { frame.y[i] = UInt8((Double(frame.y[i]) * gain).rounded()) }
      for i in frame.u.indices {
        frame.u[i] = UInt8((128 + (Double(frame.u[i]) - 128) * gain).rounded())
        frame.v[i] = UInt8((128 + (Double(frame.v[i]) - 128) * gain).rounded())
      }
      return frame
    }
  }

  @Test("A fade takes a good part fewer bits with weights, at no greater error", arguments: [1, 2])
  func aFadeTakesFewerBitsWithWeights(references: Int) throws {
    let frames = Self.fade(17)
    let with = try Self.code(weighted: true, references: references, frames)
    let without = try Self.code(weighted: false, references: references, frames)
    #expect(with.weighted >= 12)
    #expect(without.weighted == 0)
    #expect(with.bits * 10 < without.bits * 7, "\(with.bits) of \(without.bits) bits")
    #expect(with.error < without.error * 1.1, "\(with.error), \(without.error)")
  }

  @Test("What moves without a change of brightness has no weights")
  func whatMovesWithoutAChangeOfBrightnessHasNoWeights() throws {
    #expect(try Self.code(weighted: true, Self.fade(9, fades: false)).weighted == 0)
  }

  @Test(
    "Decoders agree where scenes of other brightness follow each other, whether they are taken for a fade or not"
  )
  func decodersAgreeWhereScenesOfOtherBrightnessFollow() throws {
    let (width, height) = (Self.width, Self.height)
    let kinds: [SyntheticContent.Kind] = [.motion, .noise, .gradient, .extremes, .flat, .motion]
    let cuts = kinds.enumerated().map { n, kind in
      SyntheticContent(kind: kind, width: width, height: height, seed: UInt64(n)).frame(n)
    }
    _ = try Self.code(weighted: true, references: 2, cuts)
  }

  @Test("The Baseline profile has no weights")
  func theBaselineProfileHasNoWeights() throws {
    #expect(
      try Self.code(weighted: true, profile: .constrainedBaseline, Self.fade(6)).weighted == 0)
  }

  @Test("From black, to black, and a flash")
  func fadesFromBlackToBlackAndFlashesDecode() throws {
    var frames = Self.fade(4, fades: false)
    let black = PlanarFrame(
      width: Self.width, height: Self.height, y: [UInt8](repeating: 16, count: Self.width * Self.height),
      u: [UInt8](repeating: 128, count: Self.width * Self.height / 4),
      v: [UInt8](repeating: 128, count: Self.width * Self.height / 4))
    var flash = frames[2]
    for i in flash.y.indices { flash.y[i] = UInt8(min(Int(flash.y[i]) + 60, 255)) }
    frames[2] = flash
    frames.insert(black, at: 0)
    frames.append(black)
    frames.append(black)
    _ = try Self.code(weighted: true, references: 2, frames)
  }
}
