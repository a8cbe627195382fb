// SPDX-License-Identifier: Apache-2.0
import HEVCEncoder

/// Settings at the ends of their types.
enum ExtremeSettings {
  typealias Change = @Sendable (inout HEVCEncoderConfiguration) -> Void
  static let (width, height) = (72, 40)

  static let ints: [Int] = [
    .min, .min + 1, -1 << 40, -1, 0, 1, 2, 3, 15, 16, 51, 52, 999, 1000, 1 << 31, 1 << 40, 1 << 53, .max / 8,
    .max - 1, .max,
  ]
  static let doubles: [Double] = [
    .nan, .infinity, -.infinity, -1, -0.0, 0, .leastNonzeroMagnitude, 1e-300, 1e-9, 0.02, 0.5, 1, 2, 40, 1e9,
    1e19, 1e300, .greatestFiniteMagnitude,
  ]
  /// Sizes of which none is large and valid, which would only take memory.
  static let sides: [Int] = ints.filter { $0 < 1000 || $0 > 8192 } + [6, 7, 8, 9, 10, 34, 66, 8194]

  struct Setting: Sendable {
    var name: String
    var change: Change
  }

  static func list(
    _ make: (_ add: (String, @escaping Change) -> Void) -> Void
  ) -> [Setting] {
    var list: [Setting] = []
    make { list.append(Setting(name: $0, change: $1)) }
    return list
  }

  /// What both modes have.
  static let common = list { add in
    for value in ints {
      add("threads \(value)") { $0.threads = value }
      add("references \(value)") { $0.maximumReferences = value }
      add("effort \(value)") { $0.effort = value }
      add("least QP \(value)") { $0.minimumQP = value }
      add("most QP \(value)") { $0.maximumQP = value }
      add("level \(value)") { $0.level = value }
      add("level \(value), raised") {
        $0.level = value
        $0.raisesLevel = true
      }
      add("level's rate \(value)") { $0.levelBitRate = value }
      add("key frames \(value)") { $0.keyFrameInterval = value }
      add("visible width \(value)") { $0.visibleWidth = value }
      add("visible height \(value)") { $0.visibleHeight = value }
      for seconds in [1e-300, 0.5, 60, 1e300] {
        add("\(value) bytes in \(seconds) s") {
          $0.dataRateLimits = [.init(bytes: value, seconds: seconds), .init(bytes: 9000, seconds: 1)]
        }
      }
    }
    for value in doubles {
      add("frame rate \(value)") { $0.frameRate = value }
      add("encode time \(value)") { $0.encodeTimeShare = value }
      add("limit in \(value) s") { $0.dataRateLimits = [.init(bytes: 10_000, seconds: value)] }
    }
    for count in [0, 1, 3, 4, 5, 23, 24, 25, 1000] {
      add("\(count) bytes of a display") { $0.masteringDisplay = [UInt8](repeating: 0, count: count) }
      add("\(count) bytes of a level") { $0.contentLightLevel = [UInt8](repeating: 255, count: count) }
    }
    for (width, height) in [(UInt16.min, UInt16.min), (0, 1), (.max, .max), (64, 45)] {
      add("aspect \(width):\(height)") { $0.sampleAspectRatio = (width, height) }
    }
    add("10 bits") { $0.profile = .main10 }
    add("lengths") { $0.framing = .lengths }
    add("wavefronts") { $0.usesWavefronts = true }
  }

  static let lowLatency = list { add in
    for value in ints {
      add("QP \(value)") { $0.lowLatency.rateControl = .constantQP(value) }
      add("rate \(value)") { $0.lowLatency.rateControl = .averageBitRate(value) }
      add("long-term \(value)") { $0.lowLatency.longTermReferences = value }
      add("refresh \(value)") { $0.lowLatency.intraRefreshPeriod = value }
      add("layers \(value)") { $0.lowLatency.temporalLayers = value }
    }
    for value in doubles {
      add("queue \(value)") { $0.lowLatency.maximumQueueDelay = value }
      add("still PSNR \(value)") { $0.lowLatency.maximumStillPSNR = value }
      add("activity \(value)") { $0.lowLatency.adaptiveQuantisation = value }
    }
    add("drops at 1000 bits") {
      $0.lowLatency.rateControl = .averageBitRate(1000)
      $0.lowLatency.allowsFrameDropping = true
    }
    for response in [HEVCEncoderConfiguration.LowLatency.SceneChangeResponse.keyFrame, .intraRefresh] {
      add("scenes \(response)") { $0.lowLatency.sceneChange = response }
    }
  }

  static let lookAhead = list { add in
    for value in ints {
      add("QP \(value)") { $0.lookAhead.rate = .constantQP(value) }
      add("average \(value)") { $0.lookAhead.rate = .average(value) }
      add("constant \(value)") {
        $0.lookAhead.rate = .constant(value)
        $0.lookAhead.buffer = .init(maximumRate: value, size: 100_000)
      }
      add("buffer's rate \(value)") { $0.lookAhead.buffer = .init(maximumRate: value, size: 50_000) }
      add("buffer's size \(value)") { $0.lookAhead.buffer = .init(maximumRate: 100_000, size: value) }
      add("buffer \(value), timing") {
        $0.lookAhead.buffer = .init(maximumRate: value, size: value)
        $0.lookAhead.writesBufferTiming = true
      }
      add("joined \(value)") {
        $0.lookAhead.rate = .constant(100_000)
        $0.lookAhead.buffer = .init(maximumRate: 100_000, size: value)
        ($0.lookAhead.hasFramesBefore, $0.lookAhead.hasFramesAfter) = (true, true)
      }
      add("frames \(value)") { $0.lookAhead.frames = value }
      add("B pictures \(value)") { $0.lookAhead.maximumBidirectional = value }
      add("part's rate \(value)") { $0.lookAhead.partRate = value }
    }
    for value in doubles {
      add("quality \(value)") { $0.lookAhead.rate = .quality(value) }
      add("fullness \(value)") {
        $0.lookAhead.buffer = .init(maximumRate: 100_000, size: 50_000, initialFullness: value)
      }
      add("joined fullness \(value)") {
        $0.lookAhead.buffer = .init(maximumRate: 100_000, size: 80_000, initialFullness: value)
        ($0.lookAhead.hasFramesBefore, $0.lookAhead.hasFramesAfter) = (true, true)
      }
      add("key frames' seconds \(value)") { $0.lookAhead.keyFrameDuration = value }
      add("activity \(value)") { $0.lookAhead.adaptiveQuantisation = value }
      add("expected seconds \(value)") {
        $0.lookAhead.rate = .average(100_000)
        $0.lookAhead.expectedDuration = value
      }
      add("frame rate \(value), timing") {
        $0.frameRate = value
        $0.lookAhead.buffer = .init(maximumRate: 100_000, size: 50_000)
        $0.lookAhead.writesBufferTiming = true
      }
    }
    add("open GOP, no tree, no pyramid") {
      $0.lookAhead.usesOpenGOP = true
      $0.lookAhead.usesMacroblockTree = false
      $0.lookAhead.usesPyramid = false
      $0.keyFrameInterval = 3
    }
  }

  /// The settings of a mode.
  static func all(looksAhead: Bool) -> [Setting] { common + (looksAhead ? lookAhead : lowLatency) }

  static func usual(looksAhead: Bool, threads: Int) -> HEVCEncoderConfiguration {
    var configuration = HEVCEncoderConfiguration(width: width, height: height)
    configuration.effort = 1
    configuration.threads = threads
    configuration.maximumReferences = 3
    if looksAhead {
      configuration.lookAhead = .init()
      configuration.lookAhead.frames = 4
    }
    return configuration
  }
}
