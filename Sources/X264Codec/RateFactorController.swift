// SPDX-License-Identifier: Apache-2.0
#if X264
  import CodecInterface
  import Foundation

  /// Holds an average bit rate by choosing libx264's rate factor from frame to frame.
  ///
  /// libx264's own average-rate control cannot be given another rate in mid-stream, and what it misses it leaves
  /// missed when the stream ends, with the frames of its look-ahead still to come. A rate factor can be changed for
  /// whichever frame is encoded next, also while the last ones are drained.
  ///
  /// The model is one number: the bits a second that the content would take at rate factor 0. Six steps of the rate
  /// factor halve the bits. What was spent too much or too little is made up for over a horizon that grows with the
  /// length of the stream, so that the quality of a long one is even.
  struct RateFactorController {
    /// Bits a second to aim at. May be changed at any time.
    var targetRate: Double {
      didSet {
        // What is owed stays the same time's worth.
        if oldValue > 0 { balance *= targetRate / oldValue }
      }
    }
    /// The present rate factor.
    private(set) var rateFactor: Double

    private let frameRate: Double
    /// Durations of the frames that were put in and have not come out.
    private var durations: [Double] = []
    private var elapsed = 0.0
    /// Bits that were spent beyond the target.
    private var balance = 0.0
    /// Bits a second at rate factor 0, over some time and over a short one.
    private var demand: Double
    private var recentDemand: Double
    /// What key frames took beyond a usual frame, and is still to be shared out over the frames after them.
    private var keyFrameBits = 0.0
    private var keyFrameDemand = 0.0
    private var isDraining = false

    /// Lossless coding, which has other rules, begins below 1.
    static let range = 1.0...51.0
    private static let keyFrameSpread = 1.5

    init(targetRate: Double, frameRate: Double, sampleCount: Int) {
      self.targetRate = max(targetRate, 1000)
      self.frameRate = max(frameRate, 0.01)
      // Moving pictures of which nothing is known; a little too coarse, since bits that are gone are gone.
      let bitsPerSample = self.targetRate / (self.frameRate * Double(max(sampleCount, 1)))
      rateFactor = min(max(26 - 5 * log2(bitsPerSample / 0.06), 8), 46)
      demand = self.targetRate * exp2(rateFactor / 6)
      recentDemand = demand
    }

    /// A frame goes in that lasts so many seconds.
    mutating func noteInput(seconds: Double) {
      // After a long pause nobody can use what it has saved.
      durations.append(min(max(seconds, 0.001), max(1, 3 / frameRate)))
      isDraining = false
    }

    /// Seconds over which a miss is made up for.
    private var horizon: Double { max(0.8, 0.5 * elapsed.squareRoot()) }

    /// No more frames come for now.
    mutating func noteEnd() { isDraining = true }

    /// A frame has come out.
    /// - Parameter factor: the rate factor that it was coded with, buffer limits included.
    mutating func noteOutput(bits: Int, isIntra: Bool, factor: Double) {
      let duration = durations.isEmpty ? 1 / frameRate : durations.removeFirst()
      let scale = exp2(factor / 6)
      balance += Double(bits) - targetRate * duration
      // What the content could not use is not saved up for ever.
      balance = max(balance, -4 * horizon * targetRate)
      var own = Double(bits) * scale
      if isIntra {
        let usual = elapsed == 0 ? own / 6 : min(recentDemand * duration, own)
        keyFrameDemand += own - usual
        keyFrameBits += (own - usual) / scale
        own = usual
      }
      let share = min(duration / Self.keyFrameSpread, 1)
      own += keyFrameDemand * share
      keyFrameDemand -= keyFrameDemand * share
      keyFrameBits -= keyFrameBits * share
      elapsed += duration
      // At the start, pictures that are harder than was thought must not eat up what a short stream has.
      let isHarder = elapsed < 1 && own / duration > demand
      let memory = isHarder ? elapsed / 2 : max(elapsed / 3, 4 / frameRate, 0.15)
      func approach(_ value: inout Double, over seconds: Double) {
        value += (own / duration - value) * min(duration / seconds, 1)
      }
      approach(&demand, over: min(memory, 12))
      approach(&recentDemand, over: max(isDraining ? 0.2 : 0.5, 4 / frameRate))
    }

    /// Chooses the rate factor of the next frame.
    mutating func advance() -> Double {
      let remaining = durations.reduce(0, +)
      var horizon = horizon
      var expected = demand
      var owed = balance - keyFrameBits
      if isDraining, remaining > 0 {
        horizon = min(horizon, remaining)
        expected = (demand * recentDemand).squareRoot()
        owed = balance
      }
      let share = 1 - owed / (targetRate * horizon)
      let wanted = 6 * log2(max(expected, 1) / (targetRate * min(max(share, 0.4), 2.5)))
      let step = wanted - rateFactor
      rateFactor += min(max(step, elapsed < 1 || isDraining ? -1.5 : -0.5), elapsed < 1 || isDraining ? 5 : 2)
      rateFactor = min(max(rateFactor, Self.range.lowerBound), Self.range.upperBound)
      return rateFactor
    }
  }

  extension RateFactorController {
    /// The controller for a configuration; nil where libx264's own rate control is in charge.
    init?(_ configuration: VideoEncoderConfiguration, delay: DelayPlan) {
      guard delay.usesTimeStamps, configuration.pass == nil, Self.isFor(configuration.rate.mode),
        let target = configuration.rate.effectiveTarget
      else { return nil }
      self.init(
        targetRate: Double(target), frameRate: configuration.frameRate ?? 30,
        sampleCount: configuration.width * configuration.height)
    }

    static func isFor(_ mode: RateControl.Mode) -> Bool {
      switch mode {
      case .average, .variable: true
      case .constant, .quality: false
      }
    }
  }
#endif
