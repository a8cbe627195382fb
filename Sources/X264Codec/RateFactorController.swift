// SPDX-License-Identifier: Apache-2.0
#if X264
  import CodecInterface
  import Foundation

  /// Keeps an average bit rate by choosing libx264's rate factor (CRF) for each frame.
  ///
  /// libx264's own average bit rate mode cannot change its rate within a stream. It also does not
  /// correct a deviation in the frames that are still in the look-ahead when the stream ends. A
  /// rate factor can change for each frame, also while the last frames are drained.
  ///
  /// The model is a single number: the bits per second that the content would take at rate factor
  /// 0. Six steps of the rate factor halve the bits. A deviation from the target is corrected
  /// within a horizon that grows with the length of the stream, so that the quality of a long
  /// stream is even.
  struct RateFactorController {
    /// The target rate in bits per second. It may change at any time.
    var targetRate: Double {
      didSet {
        // The balance keeps its value in seconds of the target rate.
        if oldValue > 0 { balance *= targetRate / oldValue }
      }
    }
    /// The rate factor of the last frame that was passed to libx264.
    private(set) var rateFactor: Double

    /// The configured frame rate in frames per second.
    private let frameRate: Double
    /// The durations in seconds of the frames that libx264 holds, in input order.
    private var durations: [Double] = []
    /// The duration of all output frames in seconds.
    private var elapsed = 0.0
    /// The bits of the output frames beyond the target; negative where they took fewer.
    private var balance = 0.0
    /// The bits per second that the content takes at rate factor 0, as a moving average over a long
    /// time.
    private var demand: Double
    /// The same average with a short time constant.
    private var recentDemand: Double
    /// The bits that key frames took beyond a usual frame, as far as they are not yet distributed
    /// over the frames after them.
    private var keyFrameBits = 0.0
    /// The same at rate factor 0.
    private var keyFrameDemand = 0.0
    /// Whether no frames are added for now, and libx264 returns those that it holds.
    private var isDraining = false

    /// The allowed rate factors. Below 1, lossless coding begins, which follows other rules.
    static let range = 1.0...51.0
    /// The time in seconds over which the bits of a key frame are distributed.
    private static let keyFrameSpread = 1.5

    /// Creates a controller.
    /// - Parameters:
    ///   - targetRate: the target in bits per second, 1000 or more.
    ///   - frameRate: the frame rate in frames per second.
    ///   - sampleCount: the number of luma samples of a picture.
    init(targetRate: Double, frameRate: Double, sampleCount: Int) {
      self.targetRate = max(targetRate, 1000)
      self.frameRate = max(frameRate, 0.01)
      // The start assumes typical moving pictures, slightly too coarse, since bits that are spent
      // cannot be saved later.
      let bitsPerSample = self.targetRate / (self.frameRate * Double(max(sampleCount, 1)))
      rateFactor = min(max(26 - 5 * log2(bitsPerSample / 0.06), 8), 46)
      demand = self.targetRate * exp2(rateFactor / 6)
      recentDemand = demand
    }

    /// Records that a frame is passed to libx264.
    /// - Parameter seconds: its duration in seconds.
    mutating func addInput(seconds: Double) {
      // Limited, so that the bits of a long pause are not saved for the frames after it.
      durations.append(min(max(seconds, 0.001), max(1, 3 / frameRate)))
      isDraining = false
    }

    /// The time in seconds within which a deviation from the target is corrected.
    private var horizon: Double { max(0.8, 0.5 * elapsed.squareRoot()) }

    /// Records that no more frames are added for now.
    mutating func endInput() { isDraining = true }

    /// Records a frame that libx264 returned.
    /// - Parameters:
    ///   - bits: its size in bits.
    ///   - isIntra: whether it is an intra frame.
    ///   - factor: the rate factor that it was coded with, including the effect of buffer limits.
    mutating func addOutput(bits: Int, isIntra: Bool, factor: Double) {
      let duration = durations.isEmpty ? 1 / frameRate : durations.removeFirst()
      let scale = exp2(factor / 6)
      balance += Double(bits) - targetRate * duration
      // Bits that easy content cannot use are saved up to a limit only.
      balance = max(balance, -4 * horizon * targetRate)
      var own = Double(bits) * scale
      if isIntra {
        let ordinary = elapsed == 0 ? own / 6 : min(recentDemand * duration, own)
        keyFrameDemand += own - ordinary
        keyFrameBits += (own - ordinary) / scale
        own = ordinary
      }
      let fraction = min(duration / Self.keyFrameSpread, 1)
      own += keyFrameDemand * fraction
      keyFrameDemand -= keyFrameDemand * fraction
      keyFrameBits -= keyFrameBits * fraction
      elapsed += duration
      // In the first second, pictures that are harder than assumed raise the estimate faster, so
      // that they do not use up the bits of a short stream.
      let isHarder = elapsed < 1 && own / duration > demand
      let memory = isHarder ? elapsed / 2 : max(elapsed / 3, 4 / frameRate, 0.15)
      func approach(_ value: inout Double, over seconds: Double) {
        value += (own / duration - value) * min(duration / seconds, 1)
      }
      approach(&demand, over: min(memory, 12))
      approach(&recentDemand, over: max(isDraining ? 0.2 : 0.5, 4 / frameRate))
    }

    /// Chooses and returns the rate factor of the next frame.
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
      let fraction = 1 - owed / (targetRate * horizon)
      let wanted = 6 * log2(max(expected, 1) / (targetRate * min(max(fraction, 0.4), 2.5)))
      let step = wanted - rateFactor
      rateFactor += min(max(step, elapsed < 1 || isDraining ? -1.5 : -0.5), elapsed < 1 || isDraining ? 5 : 2)
      rateFactor = min(max(rateFactor, Self.range.lowerBound), Self.range.upperBound)
      return rateFactor
    }
  }

  extension RateFactorController {
    /// Creates the controller for a configuration; nil where libx264's own rate control is used.
    init?(_ configuration: VideoEncoderConfiguration, delay: DelayPlan) {
      guard delay.usesTimeStamps, configuration.pass == nil, Self.isFor(configuration.rate.mode),
        let target = configuration.rate.effectiveTarget
      else { return nil }
      self.init(
        targetRate: Double(target), frameRate: configuration.frameRate ?? 30,
        sampleCount: configuration.width * configuration.height)
    }

    /// Whether a mode of rate control uses the controller.
    static func isFor(_ mode: RateRequest.Mode) -> Bool {
      switch mode {
      case .average, .variable: true
      case .constant, .quality: false
      }
    }
  }
#endif
