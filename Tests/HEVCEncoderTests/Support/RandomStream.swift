// SPDX-License-Identifier: Apache-2.0
import HEVCEncoder

/// A stream with random settings, content and frame options, which follow from a seed.
struct RandomStream {
  var configuration: HEVCEncoderConfiguration
  var content: Content
  private var generator: SeededGenerator

  /// - Parameter seed: decides everything.
  init(seed: UInt64) {
    var g = SeededGenerator(seed: seed)
    let width = Int.random(in: 4...120, using: &g) * 2
    let height = Int.random(in: 4...100, using: &g) * 2
    var configuration = HEVCEncoderConfiguration(width: width, height: height)
    configuration.effort = Int.random(in: 0...9, using: &g)
    configuration.maximumReferences = Int.random(in: 1...4, using: &g)
    configuration.deblocking = Int.random(in: 0..<4, using: &g) > 0
    configuration.threads = Int.random(in: 1...4, using: &g)
    configuration.usesWavefronts = Int.random(in: 0..<3, using: &g) == 0
    configuration.adaptiveOffset = Int.random(in: 0..<4, using: &g) > 0
    configuration.minimumQP = 0
    configuration.writesAccessUnitDelimiters = Bool.random(using: &g)
    configuration.lowLatency.rateControl =
      Bool.random(using: &g)
      ? .constantQP(Int.random(in: 0...51, using: &g))
      : .averageBitRate(Int.random(in: 20...3000, using: &g) * 1000)
    configuration.lowLatency.longTermReferences = Int.random(
      in: 0..<configuration.maximumReferences, using: &g)
    configuration.lowLatency.allowsNonReferenceFrames = true
    configuration.lowLatency.temporalLayers = Int.random(in: 1...3, using: &g)
    configuration.lowLatency.adaptiveQuantisation = [0, 0, 0.4, 2][Int(seed / 2 % 4)]
    configuration.lowLatency.intraRefreshPeriod = seed % 5 == 0 ? Int(seed / 5 % 7) : 0
    configuration.lowLatency.allowsFrameDropping = Bool.random(using: &g)
    if Int.random(in: 0..<4, using: &g) == 0 {
      configuration.dataRateLimits = [
        DataRateLimit(bytes: Int.random(in: 2...40, using: &g) * 1000, seconds: 0.5)
      ]
    }
    // Half of the streams have 10 bits. Two in three of these get pictures of 10 bits, and so do
    // some of the others.
    if seed % 2 == 1 { configuration.profile = .main10 }
    self.configuration = configuration
    let kind = Content.Kind.allCases.randomElement(using: &g) ?? .pan
    content = Content(kind: kind, width: width, height: height, seed: seed)
    content.depth = (configuration.profile == .main10 ? seed % 3 < 2 : seed % 3 == 0) ? 10 : 8
    generator = g
  }

  /// The options of frame `n`.
  /// - Parameter available: the frames that may be referred to.
  mutating func options(_ n: Int, available: [UInt64]) -> HEVCFrameOptions {
    let low = configuration.lowLatency
    var options = HEVCFrameOptions()
    if n > 0, Int.random(in: 0..<12, using: &generator) == 0 { options.isKeyFrame = true }
    if Int.random(in: 0..<6, using: &generator) == 0 { options.isReference = false }
    options.temporalLayer = Int.random(in: 0..<low.temporalLayers, using: &generator)
    if options.isReference, options.temporalLayer == 0, low.longTermReferences > 0,
      Int.random(in: 0..<4, using: &generator) == 0
    {
      options.longTermSlot = Int.random(in: 0..<low.longTermReferences, using: &generator)
    }
    switch Int.random(in: 0..<10, using: &generator) {
    case 0, 1: options.references = .frames(available.shuffled(using: &generator))
    case 2 where low.longTermReferences > 0: options.references = .longTerm([0])
    case 3: options.qp = Int.random(in: 0...51, using: &generator)
    default: break
    }
    return options
  }
}
