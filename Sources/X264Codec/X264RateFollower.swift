// SPDX-License-Identifier: Apache-2.0
#if X264
  import CodecInterface
  import CX264

  /// Makes libx264's own rate control follow a bit rate that changes, where that is in charge: with a constant rate, in
  /// a pass of several, and without delay. Elsewhere `RateFactorController` is.
  ///
  /// Its average-rate control asks itself how many bits it should have spent since the start *at the present rate*,
  /// so that a new rate would make it pay for, or save up, all of the past. What it sees instead is a rate that
  /// stays and time that runs slower or faster: bits per frame are rate times duration. Where libx264 does not look
  /// at time stamps (no delay at all), it works on a buffer model alone, and that follows a new rate at once.
  struct X264RateFollower {
    private let usesTimeStamps: Bool
    private let timescale: Double
    private let openingRate: Double
    /// The present rate in terms of the opening rate.
    private var scale = 1.0

    // With time stamps
    private var lastCallerTime: Int64?
    private var libraryClock = 0.0

    // Without time stamps
    private let assumedFrameRate: Double
    private var smoothedDuration: Double?
    private var appliedCorrection = 1.0
    private var target: RateControl

    init(_ configuration: VideoEncoderConfiguration, usesTimeStamps: Bool) {
      self.usesTimeStamps = usesTimeStamps
      timescale = Double(configuration.timescale)
      target = configuration.rate
      openingRate = Double(configuration.rate.effectiveTarget ?? 1)
      let ratio = FrameRateRatio(configuration.frameRate ?? 30)
      assumedFrameRate = Double(ratio.numerator) / Double(ratio.denominator)
    }

    /// The time stamp that libx264 is given.
    mutating func libraryTime(of time: Int64) -> Int64 {
      guard usesTimeStamps else { return time }
      if let last = lastCallerTime {
        var passed = Double(time - last)
        // libx264 fills what passes: a long pause is no reason for a frame that takes as long to send.
        if case .constant = target.mode { passed = min(passed, max(1, 3 / assumedFrameRate) * timescale) }
        libraryClock = max(libraryClock + passed * scale, libraryClock.rounded() + 1)
      } else {
        libraryClock = Double(time)
      }
      lastCallerTime = time
      return Int64(clamping: libraryClock.rounded())
    }

    /// Puts a new rate into the parameters.
    /// - Returns: false if libx264 cannot change to it.
    mutating func follow(
      _ new: VideoEncoderConfiguration, from old: VideoEncoderConfiguration, parameters: X264Parameters
    ) -> Bool {
      guard new.rate != old.rate else { return true }
      guard new.rate.minQP == old.rate.minQP, new.rate.maxQP == old.rate.maxQP else { return false }
      let newModel = model(of: new.rate)
      guard (newModel == nil) == (model(of: old.rate) == nil) else { return false }
      target = new.rate
      switch (old.rate.mode, new.rate.mode) {
      case (.quality, .quality(let quality)):
        parameters.param.rc.f_rf_constant = Float(X264Parameters.rateFactor(quality: quality))
        if let newModel { parameters.setBuffer(newModel) }
        return true
      case (.average, .average), (.constant, .constant), (.variable, .variable): break
      default: return false
      }
      apply(to: parameters)
      return true
    }

    /// Notes the duration of the next frame.
    /// - Returns: true if the parameters were changed by it.
    mutating func noteFrame(duration: Int64, parameters: X264Parameters) -> Bool {
      guard !usesTimeStamps, target.targetRate != nil, duration > 0 else { return false }
      let seconds = min(Double(duration) / timescale, 1)
      let smoothed = (smoothedDuration ?? seconds) * 0.8 + seconds * 0.2
      smoothedDuration = smoothed
      let correction = smoothed * assumedFrameRate
      guard abs(correction / appliedCorrection - 1) > 0.04 else { return false }
      appliedCorrection = correction
      apply(to: parameters)
      return true
    }

    private mutating func apply(to parameters: X264Parameters) {
      let rate = Double(target.effectiveTarget ?? 1)
      let buffer = model(of: target)
      if usesTimeStamps {
        scale = rate / openingRate
        parameters.param.rc.i_bitrate = X264Parameters.kilobits(Int(clamping: openingRate))
        if var buffer {
          buffer.maximumRate = Int(clamping: Double(buffer.maximumRate) / scale)
          parameters.setBuffer(buffer)
        }
      } else {
        parameters.param.rc.i_bitrate = X264Parameters.kilobits(Int(clamping: rate * appliedCorrection))
        if var buffer {
          buffer.maximumRate = Int(clamping: Double(buffer.maximumRate) * appliedCorrection)
          parameters.setBuffer(buffer)
        }
      }
      if case .constant = target.mode {
        parameters.param.rc.i_vbv_max_bitrate = parameters.param.rc.i_bitrate
      }
    }

    private func model(of rate: RateControl) -> BufferModel? {
      usesTimeStamps ? rate.bufferModel : rate.zeroDelayBufferModel
    }
  }

  extension RateControl {
    /// The target as far as the limits leave room for it.
    var effectiveTarget: Int? {
      guard let targetRate else { return nil }
      guard !limits.isEmpty, let model = bufferModel else { return targetRate }
      return min(targetRate, model.maximumRate)
    }

    /// Without delay there is always a buffer, which fills at the target rate: that is what makes libx264 forget the
    /// past.
    var zeroDelayBufferModel: BufferModel? {
      guard let target = effectiveTarget else { return bufferModel }
      var model = bufferModel ?? BufferModel(maximumRate: target, size: target)
      model.maximumRate = min(model.maximumRate, target)
      return model
    }
  }
#endif
