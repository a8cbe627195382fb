// SPDX-License-Identifier: Apache-2.0
import HEVCEncoder

/// A stream with a look-ahead, with random settings and content, which follow from a seed.
struct RandomLookAhead {
  var configuration: HEVCEncoderConfiguration
  var content: Content
  /// The number of pictures.
  var pictures: Int
  private var generator: SeededGenerator

  /// - Parameter seed: decides everything.
  init(seed: UInt64) {
    var g = SeededGenerator(seed: seed &+ 7000)
    let width = Int.random(in: 4...90, using: &g) * 2
    let height = Int.random(in: 4...90, using: &g) * 2
    var configuration = HEVCEncoderConfiguration(width: width, height: height)
    configuration.effort = Int.random(in: 0...9, using: &g)
    configuration.maximumReferences = Int.random(in: 1...5, using: &g)
    configuration.deblocking = Int.random(in: 0..<6, using: &g) > 0
    configuration.threads = Int.random(in: 1...4, using: &g)
    configuration.usesWavefronts = Int.random(in: 0..<3, using: &g) == 0
    configuration.adaptiveOffset = Int.random(in: 0..<4, using: &g) > 0
    configuration.minimumQP = 0
    configuration.writesAccessUnitDelimiters = Bool.random(using: &g)
    if Bool.random(using: &g) { configuration.keyFrameInterval = Int.random(in: 1...14, using: &g) }
    var ahead = HEVCEncoderConfiguration.LookAhead()
    switch Int.random(in: 0..<4, using: &g) {
    case 0: ahead.rate = .constantQP(Int.random(in: 0...51, using: &g))
    case 1: ahead.rate = .average(Int.random(in: 20...3000, using: &g) * 1000)
    default: ahead.rate = .quality(Double(Int.random(in: 4...48, using: &g)))
    }
    ahead.frames = Int.random(in: 0...12, using: &g)
    ahead.maximumBidirectional = Int.random(in: 0...3, using: &g)
    ahead.usesPyramid = Int.random(in: 0..<4, using: &g) > 0
    ahead.usesOpenGOP = Bool.random(using: &g)
    ahead.usesMacroblockTree = Int.random(in: 0..<4, using: &g) > 0
    ahead.adaptiveQuantisation = [0, 0.6, 1, 2].randomElement(using: &g) ?? 1
    if Int.random(in: 0..<5, using: &g) == 0 {
      let rate = Int.random(in: 50...800, using: &g) * 1000
      ahead.buffer = .init(maximumRate: rate, size: rate / 2)
      ahead.writesBufferTiming = seed % 4 < 2
      if seed % 8 < 3 {
        ahead.rate = .constant(rate)
        ahead.frames = max(ahead.frames, 1)
      }
    }
    if Int.random(in: 0..<6, using: &g) == 0 {
      configuration.dataRateLimits = [
        DataRateLimit(bytes: Int.random(in: 2...40, using: &g) * 1000, seconds: 0.5)
      ]
    }
    configuration.lookAhead = ahead
    // Half of the streams have 10 bits. Two in three of these get pictures of 10 bits, and so do
    // some of the others.
    if seed % 2 == 1 { configuration.profile = .main10 }
    self.configuration = configuration
    let kind = Content.Kind.allCases.randomElement(using: &g) ?? .pan
    content = Content(kind: kind, width: width, height: height, seed: seed)
    content.depth = (configuration.profile == .main10 ? seed % 3 < 2 : seed % 3 == 0) ? 10 : 8
    pictures = Int.random(in: 1...24, using: &g)
    generator = g
  }

  /// The options of the next frame.
  mutating func options() -> HEVCFrameOptions {
    var options = HEVCFrameOptions()
    if Int.random(in: 0..<12, using: &generator) == 0 { options.isKeyFrame = true }
    if Int.random(in: 0..<12, using: &generator) == 0 {
      options.qp = Int.random(in: 0...51, using: &generator)
    }
    return options
  }
}
