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
        for rate in [H264EncoderConfiguration.LookAhead.Rate.quality(24), .average(300_000)] {
          lookAheadStream("effort-\(effort)/\(kind)/\(name(rate))", kind) {
            $0.effort = effort
            $0.lookAhead.rate = rate
          }
        }
      }
    }
  }

  private static func name(_ rate: H264EncoderConfiguration.LookAhead.Rate) -> String {
    switch rate {
    case .constantQP(let qp): "qp-\(qp)"
    case .quality(let qp): "quality-\(qp)"
    case .average(let bits): "average-\(bits / 1000)k"
    case .constant(let bits): "constant-\(bits / 1000)k"
    }
  }

  private static var defaultRates: [H264EncoderConfiguration.LookAhead.Rate] {
    [.constantQP(27), .average(80_000), .average(1_500_000), .constant(400_000)]
  }

  @DigestedStreams private static var lookAheadThreads: [DigestedStream] {
    for effort in everyEffort {
      for threads in [2, 4] {
        lookAheadStream("threads-\(threads)/effort-\(effort)", .mixed) {
          $0.effort = effort
          $0.threads = threads
          $0.lookAhead.rate = .average(400_000)
        }
      }
    }
  }

  @DigestedStreams private static var lookAheadProfiles: [DigestedStream] {
    for profile in H264EncoderConfiguration.Profile.allCases where profile != .high444Predictive {
      for coding in [H264EncoderConfiguration.EntropyCoding.cavlc, nil] {
        lookAheadStream("profile-\(profile)/\(coding == nil ? "usual" : "cavlc")", .mixed, frames: 20) {
          $0.profile = profile
          $0.entropyCoding = coding
        }
      }
    }
  }

  @DigestedStreams private static var lookAheadRates: [DigestedStream] {
    for kind in [SyntheticContent.Kind.cuts, .noise, .gradient] {
      for rate in defaultRates {
        lookAheadStream("rate/\(kind)/\(name(rate))", kind, frames: 40) {
          $0.lookAhead.rate = rate
          if case .constant(let bits) = rate {
            $0.lookAhead.buffer = .init(maximumRate: bits, size: bits / 2)
          }
        }
      }
    }
    lookAheadStream("rate/buffer", .cuts, frames: 50) {
      $0.lookAhead.rate = .quality(20)
      $0.lookAhead.buffer = .init(maximumRate: 400_000, size: 200_000)
    }
    lookAheadStream("rate/buffer-timing", .cuts, frames: 50) {
      $0.lookAhead.rate = .constant(500_000)
      $0.lookAhead.buffer = .init(maximumRate: 500_000, size: 250_000)
      $0.lookAhead.writesBufferTiming = true
    }
    lookAheadStream("rate/limits", .cuts, frames: 50) {
      $0.lookAhead.rate = .average(400_000)
      $0.dataRateLimits = [.init(bytes: 30_000, seconds: 0.5)]
    }
    lookAheadStream("rate/known-duration", .mixed, frames: 50) {
      $0.lookAhead.rate = .average(250_000)
      $0.lookAhead.expectedDuration = 50.0 / 30
    }
    lookAheadStream("rate/uneven-times", .cuts, frames: 50) {
      $0.lookAhead.rate = .average(250_000)
    } options: { n in
      var options = H264FrameOptions()
      options.duration = n % 4 == 0 ? 0.1 : 0.02
      if n == 20 { options.isKeyFrame = true }
      if n == 30 { options.qp = 33 }
      return options
    }
    lookAheadStream("rate/steps", .mixed, frames: 60) {
      $0.lookAhead.rate = .average(300_000)
      $0.levelBitRate = 1_000_000
    } change: { n, encoder in
      guard n == 20 || n == 40 else { return }
      var changed = encoder.configuration
      changed.lookAhead.rate = .average(n == 20 ? 150_000 : 600_000)
      try encoder.reconfigure(changed)
    }
  }

  @DigestedStreams private static var lookAheadStructures: [DigestedStream] {
    for count in 0...3 {
      for direct in [H264EncoderConfiguration.LookAhead.DirectPrediction.spatial, .temporal, .automatic] {
        lookAheadStream("b-\(count)/\(direct)") {
          $0.lookAhead.maximumBidirectional = count
          $0.lookAhead.directPrediction = direct
          $0.lookAhead.usesPyramid = count != 2
          $0.effort = 4
        }
      }
    }
    for count in [0, 1, 4, 12, 80] {
      lookAheadStream("look-ahead-\(count)", .cuts) {
        $0.lookAhead.frames = count
        $0.lookAhead.rate = .average(300_000)
      }
    }
    lookAheadStream("open-gop", frames: 40) {
      $0.lookAhead.usesOpenGOP = true
      $0.keyFrameInterval = 12
    }
    lookAheadStream("open-gop-threads", .mixed, frames: 40) {
      $0.lookAhead.usesOpenGOP = true
      $0.keyFrameInterval = 12
      $0.threads = 4
    }
    lookAheadStream("key-interval", .cuts, frames: 40) {
      $0.keyFrameInterval = 10
      $0.writesAccessUnitDelimiters = true
    }
    lookAheadStream("key-duration", .cuts, frames: 40) {
      $0.lookAhead.keyFrameDuration = 0.4
      $0.lookAhead.placesKeyFramesAtCuts = false
    }
    lookAheadStream("one-picture-set", .fade, frames: 40) { $0.lookAhead.usesOnePictureSet = true }
    lookAheadStream("two-references") { $0.maximumReferences = 2 }
    lookAheadStream("one-reference") { $0.maximumReferences = 1 }
    lookAheadStream("size-34x50") {
      $0.width = 34
      $0.height = 50
    }
  }

  @DigestedStreams private static var lookAheadTools: [DigestedStream] {
    for effort in [5, 1] {
      lookAheadStream("no-aq/effort-\(effort)", .mixed) {
        $0.lookAhead.adaptiveQuantisation = 0
        $0.effort = effort
      }
      lookAheadStream("no-tree/effort-\(effort)", .mixed) {
        $0.lookAhead.usesMacroblockTree = false
        $0.lookAhead.rate = .average(300_000)
        $0.effort = effort
      }
      lookAheadStream("no-8x8/effort-\(effort)", .mixed) {
        $0.allowsTransform8x8 = false
        $0.effort = effort
      }
      lookAheadStream("no-weights/effort-\(effort)", .fade) {
        $0.allowsWeightedPrediction = false
        $0.effort = effort
      }
      lookAheadStream("slices/effort-\(effort)", .mixed) {
        $0.slices = 3
        $0.threads = 2
        $0.effort = effort
      }
      lookAheadStream("deblocking-offsets/effort-\(effort)") {
        $0.deblockingAlphaOffset = 2
        $0.deblockingBetaOffset = -2
        $0.effort = effort
      }
      lookAheadStream("screen/effort-\(effort)", .screen) { $0.effort = effort }
      lookAheadStream("changing-effort/from-\(effort)", .mixed) {
        $0.effort = effort
      } change: { n, encoder in
        var changed = encoder.configuration
        changed.effort = (effort + n) % (H264EncoderConfiguration.maxEffort + 1)
        try encoder.reconfigure(changed)
      }
    }
  }

  @DigestedStreams private static var lookAheadPasses: [DigestedStream] {
    for effort in [5, 2, 0] {
      for kind in [SyntheticContent.Kind.cuts, .mixed] {
        lookAheadStream("two-passes/\(kind)/effort-\(effort)", kind, frames: 40, passes: 2) {
          $0.effort = effort
          $0.lookAhead.rate = .average(300_000)
        }
      }
    }
    lookAheadStream("three-passes-buffer", .cuts, frames: 40, passes: 3) {
      $0.lookAhead.rate = .average(300_000)
      $0.lookAhead.buffer = .init(maximumRate: 450_000, size: 300_000)
      $0.threads = 2
    }
  }

  @DigestedStreams private static var lookAheadParts: [DigestedStream] {
    lookAheadStream("part", .mixed) {
      $0.lookAhead.rate = .average(300_000)
      $0.lookAhead.part = .init(rate: 350_000, pictureID: 5)
    }
    lookAheadStream("joined-before", .mixed) {
      $0.lookAhead.rate = .constant(400_000)
      $0.lookAhead.buffer = .init(maximumRate: 400_000, size: 400_000, initialFullness: 0.7)
      $0.lookAhead.hasFramesBefore = true
    }
    lookAheadStream("joined-after", .mixed) {
      $0.lookAhead.rate = .average(300_000)
      $0.lookAhead.buffer = .init(maximumRate: 400_000, size: 400_000, initialFullness: 0.7)
      $0.lookAhead.hasFramesAfter = true
    }
    lookAheadStream("joined-both", .cuts) {
      $0.lookAhead.rate = .constant(400_000)
      $0.lookAhead.buffer = .init(maximumRate: 400_000, size: 400_000, initialFullness: 0.7)
      $0.lookAhead.hasFramesBefore = true
      $0.lookAhead.hasFramesAfter = true
    }
  }
}
