// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import H264Encoder

/// B pictures of scenes that fade.
@Suite struct LookAheadFadeTests {
  private static let (width, height) = (192, 128)

  private static func configuration(weighted: Bool) -> H264EncoderConfiguration {
    var c = H264EncoderConfiguration.lookAhead(width: width, height: height)
    c.effort = 4
    c.maximumReferences = 4
    c.allowsWeightedPrediction = weighted
    c.measuresError = true
    c.lookAhead.frames = 16
    c.lookAhead.rate = .constantQP(28)
    c.lookAhead.placesKeyFramesAtCuts = false
    return c
  }

  private static func moving(_ n: Int, seed: UInt64) -> PlanarFrame {
    SyntheticContent(kind: .motion, width: width, height: height, seed: seed).frame(n)
  }

  /// From black and to black again, every 32 frames.
  private static func fade(_ n: Int) -> PlanarFrame {
    var frame = moving(n, seed: 5)
    let gain = Double(abs((n + 16) % 32 - 16)) / 16
    for i in frame.y.indices { frame.y[i] = UInt8((16 + (Double(frame.y[i]) - 16) * gain).rounded()) }
    for i in frame.u.indices {
      frame.u[i] = UInt8((128 + (Double(frame.u[i]) - 128) * gain).rounded())
      frame.v[i] = UInt8((128 + (Double(frame.v[i]) - 128) * gain).rounded())
    }
    return frame
  }

  @Test(
    "A fade has B pictures with tables of weights, which save bits, and decoders agree",
    arguments: [H264EncoderConfiguration.EntropyCoding.cabac, .cavlc], [1, 2])
  func aFadeHasBPicturesWithTablesOfWeights(_ coding: H264EncoderConfiguration.EntropyCoding, threads: Int)
    throws
  {
    func run(_ weighted: Bool) throws -> (bits: Int, error: Double, weights: PictureWeights?) {
      var c = Self.configuration(weighted: weighted)
      c.entropyCoding = coding
      c.threads = threads
      c.slices = threads
      let run = try LookAheadRun(c, count: 49) { Self.fade($0) }
      try run.check(count: 49, "\(weighted)")
      #expect(run.frames.contains { !$0.properties.isReference } || !weighted)
      return (
        run.bits, run.frames.reduce(0) { $0 + ($1.properties.meanSquaredError?.luma ?? 0) },
        run.encoder.weights
      )
    }
    let (with, without) = (try run(true), try run(false))
    #expect(without.weights == nil)
    #expect((with.weights?.explicitPictures ?? 0) >= 10)
    #expect(with.bits * 10 < without.bits * 8, "\(with.bits) of \(without.bits) bits")
    #expect(with.error < without.error * 1.1, "\(with.error), \(without.error)")
  }

  @Test("A cross-fade has B pictures that are weighted by distance, and decoders agree")
  func aCrossFadeHasBPicturesThatAreWeightedByDistance() throws {
    var c = Self.configuration(weighted: true)
    c.lookAhead.maximumBidirectional = 2
    c.lookAhead.usesPyramid = false
    // One texture under two ramps: neither grows brighter as a whole.
    let texture = SyntheticContent(
      kind: .frozenNoise, width: Self.width, height: Self.height, seed: 3
    ).frame(0)
    let run = try LookAheadRun(c, count: 40) { n in
      let share = min(max(n - 5, 0), 30)
      var frame = texture
      for i in frame.y.indices {
        let x = i % Self.width
        let ramp = x * (30 - share) + (Self.width - x) * share
        frame.y[i] = UInt8(50 + Int(texture.y[i]) / 4 + ramp * 120 / (30 * Self.width))
      }
      for i in frame.u.indices { (frame.u[i], frame.v[i]) = (128, 128) }
      return frame
    }
    try run.check(count: 40)
    #expect((run.encoder.weights?.implicitPictures ?? 0) >= 4)
  }

  @Test("Where nothing fades no B picture is weighted; the stream has a parameter set for each way")
  func whereNothingFadesNoBPictureIsWeighted() throws {
    let run = try LookAheadRun(Self.configuration(weighted: true), count: 33) { Self.moving($0, seed: 5) }
    try run.check(count: 33)
    #expect(run.encoder.weights?.explicitPictures == 0 && run.encoder.weights?.implicitPictures == 0)
    #expect(run.encoder.parameterSets.pictures.count == 3)
    let plain = try LookAheadEncoder(configuration: Self.configuration(weighted: false))
    #expect(plain.parameterSets.pictures.count == 1)
  }
}
