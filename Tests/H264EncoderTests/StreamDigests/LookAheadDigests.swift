// SPDX-License-Identifier: Apache-2.0
@testable import H264Encoder

extension DigestedStream {
  /// Streams of the mode with look-ahead: each effort, rate, kind of reordering, pass and part.
  @DigestedStreams static var lookAhead: [DigestedStream] {
    lookAheadEfforts
    lookAheadThreads
    lookAheadProfiles
    lookAheadRates
    lookAheadStructures
    lookAheadTools
    lookAheadPasses
    lookAheadParts
  }

  @DigestedStreams private static var lookAheadEfforts: [DigestedStream] {
    for effort in everyEffort {
      for kind in [SyntheticContent.Kind.motion, .cuts, .fade, .windows] {
        for rate in [LookAheadConfiguration.Rate.quality(24), .average(300_000)] {
          lookAheadStream("effort-\(effort)/\(kind)/\(name(rate))", kind) {
            $0.stream.effort = effort
            $0.rate = rate
          }
        }
      }
    }
  }

  private static func name(_ rate: LookAheadConfiguration.Rate) -> String {
    switch rate {
    case .constantQP(let qp): "qp-\(qp)"
    case .quality(let qp): "quality-\(qp)"
    case .average(let bits): "average-\(bits / 1000)k"
    case .constant(let bits): "constant-\(bits / 1000)k"
    }
  }

  private static var usualRates: [LookAheadConfiguration.Rate] {
    [.constantQP(27), .average(80_000), .average(1_500_000), .constant(400_000)]
  }

  @DigestedStreams private static var lookAheadThreads: [DigestedStream] {
    for effort in everyEffort {
      for threads in [2, 4] {
        lookAheadStream("threads-\(threads)/effort-\(effort)", .mixed) {
          $0.stream.effort = effort
          $0.stream.threads = threads
          $0.rate = .average(400_000)
        }
      }
    }
  }

  @DigestedStreams private static var lookAheadProfiles: [DigestedStream] {
    for profile in EncoderConfiguration.Profile.allCases {
      for coding in [EncoderConfiguration.EntropyCoding.cavlc, nil] {
        lookAheadStream("profile-\(profile)/\(coding == nil ? "usual" : "cavlc")", .mixed, frames: 20) {
          $0.stream.profile = profile
          $0.stream.entropyCoding = coding
        }
      }
    }
  }

  @DigestedStreams private static var lookAheadRates: [DigestedStream] {
    for kind in [SyntheticContent.Kind.cuts, .noise, .gradient] {
      for rate in usualRates {
        lookAheadStream("rate/\(kind)/\(name(rate))", kind, frames: 40) {
          $0.rate = rate
          if case .constant(let bits) = rate { $0.buffer = .init(maximumRate: bits, size: bits / 2) }
        }
      }
    }
    lookAheadStream("rate/buffer", .cuts, frames: 50) {
      $0.rate = .quality(20)
      $0.buffer = .init(maximumRate: 400_000, size: 200_000)
    }
    lookAheadStream("rate/buffer-timing", .cuts, frames: 50) {
      $0.rate = .constant(500_000)
      $0.buffer = .init(maximumRate: 500_000, size: 250_000)
      $0.writesBufferTiming = true
    }
    lookAheadStream("rate/limits", .cuts, frames: 50) {
      $0.rate = .average(400_000)
      $0.stream.dataRateLimits = [.init(bytes: 30_000, seconds: 0.5)]
    }
    lookAheadStream("rate/known-duration", .mixed, frames: 50) {
      $0.rate = .average(250_000)
      $0.expectedDuration = 50.0 / 30
    }
    lookAheadStream("rate/uneven-times", .cuts, frames: 50) {
      $0.rate = .average(250_000)
    } options: { n in
      var options = FrameOptions()
      options.duration = n % 4 == 0 ? 0.1 : 0.02
      if n == 20 { options.isKeyFrame = true }
      if n == 30 { options.qp = 33 }
      return options
    }
    lookAheadStream("rate/steps", .mixed, frames: 60) {
      $0.rate = .average(300_000)
      $0.stream.levelBitRate = 1_000_000
    } change: { n, encoder in
      guard n == 20 || n == 40 else { return }
      var changed = encoder.configuration
      changed.rate = .average(n == 20 ? 150_000 : 600_000)
      try encoder.reconfigure(changed)
    }
  }

  @DigestedStreams private static var lookAheadStructures: [DigestedStream] {
    for count in 0...3 {
      for direct in [LookAheadConfiguration.DirectPrediction.spatial, .temporal, .automatic] {
        lookAheadStream("b-\(count)/\(direct)") {
          $0.maximumBidirectional = count
          $0.directPrediction = direct
          $0.usesPyramid = count != 2
          $0.stream.effort = 4
        }
      }
    }
    for count in [0, 1, 4, 12, 80] {
      lookAheadStream("look-ahead-\(count)", .cuts) {
        $0.lookAhead = count
        $0.rate = .average(300_000)
      }
    }
    lookAheadStream("open-gop", frames: 40) {
      $0.usesOpenGOP = true
      $0.stream.keyFrameInterval = 12
    }
    lookAheadStream("open-gop-threads", .mixed, frames: 40) {
      $0.usesOpenGOP = true
      $0.stream.keyFrameInterval = 12
      $0.stream.threads = 4
    }
    lookAheadStream("key-interval", .cuts, frames: 40) {
      $0.stream.keyFrameInterval = 10
      $0.stream.writesAccessUnitDelimiters = true
    }
    lookAheadStream("key-duration", .cuts, frames: 40) {
      $0.keyFrameDuration = 0.4
      $0.placesKeyFramesAtCuts = false
    }
    lookAheadStream("one-picture-set", .fade, frames: 40) { $0.usesOnePictureSet = true }
    lookAheadStream("two-references") { $0.stream.maximumReferences = 2 }
    lookAheadStream("one-reference") { $0.stream.maximumReferences = 1 }
    lookAheadStream("size-34x50") {
      $0.stream.width = 34
      $0.stream.height = 50
    }
  }

  @DigestedStreams private static var lookAheadTools: [DigestedStream] {
    for effort in [5, 1] {
      lookAheadStream("no-aq/effort-\(effort)", .mixed) {
        $0.adaptiveQuantisation = 0
        $0.stream.effort = effort
      }
      lookAheadStream("no-tree/effort-\(effort)", .mixed) {
        $0.usesMacroblockTree = false
        $0.rate = .average(300_000)
        $0.stream.effort = effort
      }
      lookAheadStream("no-8x8/effort-\(effort)", .mixed) {
        $0.stream.allowsTransform8x8 = false
        $0.stream.effort = effort
      }
      lookAheadStream("no-weights/effort-\(effort)", .fade) {
        $0.stream.allowsWeightedPrediction = false
        $0.stream.effort = effort
      }
      lookAheadStream("slices/effort-\(effort)", .mixed) {
        $0.stream.slices = 3
        $0.stream.threads = 2
        $0.stream.effort = effort
      }
      lookAheadStream("deblocking-offsets/effort-\(effort)") {
        $0.stream.deblockingAlphaOffset = 2
        $0.stream.deblockingBetaOffset = -2
        $0.stream.effort = effort
      }
      lookAheadStream("screen/effort-\(effort)", .screen) { $0.stream.effort = effort }
      lookAheadStream("changing-effort/from-\(effort)", .mixed) {
        $0.stream.effort = effort
      } change: { n, encoder in
        var changed = encoder.configuration
        changed.stream.effort = (effort + n) % (EncoderConfiguration.mostEffort + 1)
        try encoder.reconfigure(changed)
      }
    }
  }

  @DigestedStreams private static var lookAheadPasses: [DigestedStream] {
    for effort in [5, 2, 0] {
      for kind in [SyntheticContent.Kind.cuts, .mixed] {
        lookAheadStream("two-passes/\(kind)/effort-\(effort)", kind, frames: 40, passes: 2) {
          $0.stream.effort = effort
          $0.rate = .average(300_000)
        }
      }
    }
    lookAheadStream("three-passes-buffer", .cuts, frames: 40, passes: 3) {
      $0.rate = .average(300_000)
      $0.buffer = .init(maximumRate: 450_000, size: 300_000)
      $0.stream.threads = 2
    }
  }

  @DigestedStreams private static var lookAheadParts: [DigestedStream] {
    lookAheadStream("part", .mixed) {
      $0.rate = .average(300_000)
      $0.part = .init(rate: 350_000, pictureID: 5)
    }
    lookAheadStream("joined-before", .mixed) {
      $0.rate = .constant(400_000)
      $0.buffer = .init(maximumRate: 400_000, size: 400_000, initialFullness: 0.7)
      $0.hasFramesBefore = true
    }
    lookAheadStream("joined-after", .mixed) {
      $0.rate = .average(300_000)
      $0.buffer = .init(maximumRate: 400_000, size: 400_000, initialFullness: 0.7)
      $0.hasFramesAfter = true
    }
    lookAheadStream("joined-both", .cuts) {
      $0.rate = .constant(400_000)
      $0.buffer = .init(maximumRate: 400_000, size: 400_000, initialFullness: 0.7)
      $0.hasFramesBefore = true
      $0.hasFramesAfter = true
    }
  }
}
