// SPDX-License-Identifier: Apache-2.0
@testable import H264Encoder

extension DigestedStream {
  /// Streams of the low-latency mode: each effort, profile, rate mode and option.
  @DigestedStreams static var lowLatency: [DigestedStream] {
    lowLatencyEfforts
    lowLatencyThreads
    lowLatencyProfiles
    lowLatencyRates
    lowLatencyTools
    lowLatencyLayers
    lowLatencyReferences
    lowLatencyRefreshes
    lowLatencySizes
    fullChroma
  }

  static let everyEffort = Array(0...H264EncoderConfiguration.maxEffort)

  @DigestedStreams private static var lowLatencyEfforts: [DigestedStream] {
    for effort in everyEffort {
      for kind in [SyntheticContent.Kind.motion, .windows, .cuts, .fade, .mixed] {
        lowLatencyStream("effort-\(effort)/\(kind)", kind) { $0.effort = effort }
      }
    }
  }

  @DigestedStreams private static var lowLatencyThreads: [DigestedStream] {
    for effort in everyEffort {
      for threads in [2, 4] {
        lowLatencyStream("threads-\(threads)/effort-\(effort)") {
          $0.effort = effort
          $0.threads = threads
          $0.lowLatency.rateControl = .averageBitRate(300_000)
        }
      }
    }
  }

  private static var profilesAndCodings:
    [(H264EncoderConfiguration.Profile, H264EncoderConfiguration.EntropyCoding)]
  {
    [
      (.constrainedBaseline, .cavlc), (.main, .cavlc), (.main, .cabac), (.constrainedHigh, .cavlc),
      (.constrainedHigh, .cabac), (.high, .cavlc), (.high, .cabac),
    ]
  }

  @DigestedStreams private static var lowLatencyProfiles: [DigestedStream] {
    for (profile, coding) in profilesAndCodings {
      for effort in [5, 2, 0] {
        lowLatencyStream("profile-\(profile)/\(coding)/effort-\(effort)", .mixed, frames: 12) {
          $0.profile = profile
          $0.entropyCoding = coding
          $0.effort = effort
        }
      }
    }
  }

  @DigestedStreams private static var fullChroma: [DigestedStream] {
    for coding in H264EncoderConfiguration.EntropyCoding.allCases {
      for effort in [5, 3, 0] {
        lowLatencyStream("full-chroma/\(coding)/effort-\(effort)", .mixed, frames: 12) {
          $0.profile = .high444Predictive
          $0.entropyCoding = coding
          $0.effort = effort
        }
      }
      lowLatencyStream("full-chroma/\(coding)/lossless", .mixed, frames: 6) {
        $0.profile = .high444Predictive
        $0.entropyCoding = coding
        $0.lowLatency.rateControl = .constantQP(0)
        ($0.minimumQP, $0.maximumQP) = (0, 0)
        $0.isLossless = true
        $0.deblocking = false
      }
    }
    lowLatencyStream("full-chroma/rate-and-threads", .windows, frames: 30) {
      $0.profile = .high444Predictive
      $0.lowLatency.rateControl = .averageBitRate(400_000)
      $0.threads = 3
    }
  }

  @DigestedStreams private static var lowLatencyRates: [DigestedStream] {
    for kilobits in [40, 200, 1000] {
      for frameRate in [8.0, 30, 240] {
        lowLatencyStream("rate-\(kilobits)k/\(Int(frameRate))-fps", .cuts, frames: 30) {
          $0.lowLatency.rateControl = .averageBitRate(kilobits * 1000)
          $0.frameRate = frameRate
        }
      }
    }
    lowLatencyStream("rate/limits", .cuts, frames: 30) {
      $0.lowLatency.rateControl = .averageBitRate(300_000)
      $0.dataRateLimits = [.init(bytes: 4000, seconds: 0.2), .init(bytes: 40_000, seconds: 1)]
    }
    lowLatencyStream("rate/limits-threads", .noise, frames: 20) {
      $0.lowLatency.rateControl = .averageBitRate(500_000)
      $0.dataRateLimits = [.init(bytes: 10_000, seconds: 0.5)]
      $0.threads = 2
    }
    lowLatencyStream("rate/drops", .noise, frames: 30) {
      $0.lowLatency.rateControl = .averageBitRate(200_000)
      $0.maximumQP = 38
      $0.lowLatency.allowsFrameDropping = true
    }
    lowLatencyStream("rate/steps", frames: 40) {
      $0.lowLatency.rateControl = .averageBitRate(400_000)
      $0.levelBitRate = 1_000_000
    } change: { n, encoder in
      guard n % 10 == 0 else { return }
      var changed = encoder.configuration
      changed.lowLatency.rateControl = .averageBitRate(n % 20 == 0 ? 800_000 : 150_000)
      try encoder.reconfigure(changed)
    }
    lowLatencyStream("rate/own-target-and-qp") {
      $0.lowLatency.rateControl = .averageBitRate(400_000)
    } options: { n in
      var options = H264FrameOptions()
      if n % 5 == 2 { options.targetBits = 30_000 }
      if n % 5 == 4 { options.qp = 35 }
      options.duration = n % 3 == 0 ? 0.1 : 0.02
      return options
    }
    lowLatencyStream("rate/short-queue", .cuts, frames: 30) {
      $0.lowLatency.rateControl = .averageBitRate(300_000)
      $0.lowLatency.maximumQueueDelay = 0.05
      $0.lowLatency.sceneChange = .keyFrame
    }
  }

  @DigestedStreams private static var lowLatencyTools: [DigestedStream] {
    for effort in [4, 1] {
      lowLatencyStream("no-8x8/effort-\(effort)") {
        $0.allowsTransform8x8 = false
        $0.effort = effort
      }
      lowLatencyStream("no-deblocking/effort-\(effort)") {
        $0.deblocking = false
        $0.effort = effort
      }
      lowLatencyStream("deblocking-offsets/effort-\(effort)") {
        $0.deblockingAlphaOffset = -3
        $0.deblockingBetaOffset = 2
        $0.effort = effort
      }
      lowLatencyStream("no-weights/effort-\(effort)", .fade) {
        $0.allowsWeightedPrediction = false
        $0.effort = effort
      }
      lowLatencyStream("adaptive-quantisation/effort-\(effort)", .mixed) {
        $0.lowLatency.adaptiveQuantisation = 1
        $0.effort = effort
      }
      lowLatencyStream("no-cascade/effort-\(effort)") {
        $0.lowLatency.cascadesQuality = false
        $0.effort = effort
      }
      lowLatencyStream("slices/effort-\(effort)") {
        $0.slices = 4
        $0.threads = 2
        $0.effort = effort
      }
      lowLatencyStream("slice-bytes/effort-\(effort)") {
        $0.maximumSliceBytes = 700
        $0.effort = effort
      }
      lowLatencyStream("screen/effort-\(effort)", .screen) { $0.effort = effort }
      lowLatencyStream("extremes/effort-\(effort)", .extremes, frames: 6) {
        $0.lowLatency.rateControl = .constantQP(2)
        $0.minimumQP = 0
        $0.effort = effort
      }
      lowLatencyStream("still/effort-\(effort)", .frozenNoise) {
        $0.lowLatency.rateControl = .averageBitRate(500_000)
        $0.effort = effort
      }
      lowLatencyStream("changing-effort/from-\(effort)") {
        $0.effort = effort
      } change: { n, encoder in
        var changed = encoder.configuration
        changed.effort = (effort + n) % (H264EncoderConfiguration.maxEffort + 1)
        try encoder.reconfigure(changed)
      }
    }
  }

  @DigestedStreams private static var lowLatencyLayers: [DigestedStream] {
    for rate in [nil, 300_000] {
      for threads in [1, 2] {
        lowLatencyStream("two-layers/\(rate == nil ? "qp" : "rate")/threads-\(threads)", frames: 24) {
          $0.lowLatency.allowsNonReferenceFrames = true
          $0.lowLatency.writesTemporalLayerPrefix = true
          $0.writesAccessUnitDelimiters = true
          $0.threads = threads
          if let rate { $0.lowLatency.rateControl = .averageBitRate(rate) }
        } options: { n in
          var options = H264FrameOptions()
          options.isReference = n % 2 == 0
          options.temporalLayer = n % 2
          options.budgetShare = n % 2 == 0 ? 1.4 : 0.6
          return options
        }
      }
    }
  }

  @DigestedStreams private static var lowLatencyReferences: [DigestedStream] {
    for effort in [5, 3, 0] {
      lowLatencyStream("references-4/effort-\(effort)") {
        $0.maximumReferences = 4
        $0.effort = effort
      }
      lowLatencyStream("long-term/effort-\(effort)", frames: 24) {
        $0.maximumReferences = 4
        $0.lowLatency.longTermReferences = 2
        $0.effort = effort
      } options: { n in
        var options = H264FrameOptions()
        if n % 6 == 0 { options.longTermSlot = n / 6 % 2 }
        if n % 8 == 7 { options.references = .longTerm([0, 1]) }
        return options
      }
      lowLatencyStream("losses/effort-\(effort)", frames: 24) {
        $0.maximumReferences = 4
        $0.lowLatency.allowsFrameNumberGaps = true
        $0.effort = effort
      } change: { n, encoder in
        if n % 7 == 6 { encoder.invalidateReferences(from: UInt64(n - 2)) }
        if n % 11 == 10 { encoder.invalidateReferences(except: UInt64(n - 3)) }
      }
      lowLatencyStream("named-references/effort-\(effort)") {
        $0.maximumReferences = 4
        $0.effort = effort
      } options: { n in
        var options = H264FrameOptions()
        if n > 3, n % 3 == 0 { options.references = .frames([UInt64(n - 3), UInt64(n - 1)]) }
        if n == 10 { options.isKeyFrame = true }
        return options
      }
    }
  }

  @DigestedStreams private static var lowLatencyRefreshes: [DigestedStream] {
    for effort in [5, 2, 0] {
      lowLatencyStream("refresh-continuous/effort-\(effort)") {
        $0.lowLatency.intraRefreshPeriod = 6
        $0.effort = effort
      }
      lowLatencyStream("refresh-asked/effort-\(effort)") {
        $0.lowLatency.intraRefreshPeriod = 5
        $0.lowLatency.refreshesContinuously = false
        $0.effort = effort
      } options: { n in
        var options = H264FrameOptions()
        options.startsIntraRefresh = n == 4 || n == 13
        return options
      }
      lowLatencyStream("refresh-at-cuts/effort-\(effort)", .cuts) {
        $0.lowLatency.intraRefreshPeriod = 4
        $0.lowLatency.refreshesContinuously = false
        $0.lowLatency.sceneChange = .intraRefresh
        $0.effort = effort
      }
      lowLatencyStream("key-frames/effort-\(effort)", .cuts) {
        $0.keyFrameInterval = 7
        $0.lowLatency.sceneChange = .keyFrame
        $0.effort = effort
      }
    }
  }

  @DigestedStreams private static var lowLatencySizes: [DigestedStream] {
    for size in [(16, 16), (34, 50), (320, 32), (32, 240)] {
      lowLatencyStream("size-\(size.0)x\(size.1)", frames: 10) {
        $0.width = size.0
        $0.height = size.1
        $0.framing = .lengths
        $0.measuresError = true
      }
    }
  }
}
