// SPDX-License-Identifier: Apache-2.0
#if X264
  import CodecInterface
  import CX264

  /// Makes libx264's own rate control follow a changing bit rate or quality. It is used where there
  /// is no `RateFactorController`: with a quality, with a constant rate, in multi-pass encoding,
  /// and without delay.
  ///
  /// libx264's average bit rate mode compares the bits spent since the start with what the
  /// *present* rate would have allowed, so a new rate would be applied to the past as well. Instead
  /// of the rate, this type changes the speed of time: the bits of a frame are rate times duration,
  /// so the rate stays the same and time stamps are scaled. Without delay libx264 does not use time
  /// stamps. It then works with a buffer model only, which follows a new rate at once.
  struct X264RateFollower {
    /// Whether libx264's rate control uses time stamps.
    private let usesTimeStamps: Bool
    /// The units of time stamps per second.
    private let timescale: Double
    /// The target rate at the start of the stream, in bits per second.
    private let openingRate: Double
    /// The present target rate as a multiple of `openingRate`.
    private var scale = 1.0

    /// With time stamps: the last presentation time of the caller; nil before the first.
    private var lastCallerTime: Int64?
    /// With time stamps: the last time stamp for libx264, before rounding.
    private var libraryClock = 0.0

    /// Without time stamps: the frame rate that libx264 assumes, in frames per second.
    private let assumedFrameRate: Double
    /// Without time stamps: the moving average of the duration of frames in seconds; nil before the
    /// first.
    private var smoothedDuration: Double?
    /// Without time stamps: the factor of the rate that makes up for the difference of the real
    /// frame rate to the assumed one.
    private var appliedCorrection = 1.0
    /// The present rate control.
    private var target: RateRequest

    /// Creates a follower for a stream that begins with a configuration.
    init(_ configuration: VideoEncoderConfiguration, usesTimeStamps: Bool) {
      self.usesTimeStamps = usesTimeStamps
      timescale = Double(configuration.timescale)
      target = configuration.rate
      openingRate = Double(configuration.rate.effectiveTarget ?? 1)
      let ratio = FrameRateRatio(configuration.frameRate ?? 30)
      assumedFrameRate = Double(ratio.numerator) / Double(ratio.denominator)
    }

    /// Returns the time stamp for libx264.
    /// - Parameter time: the presentation time of the caller.
    mutating func libraryTime(of time: Int64) -> Int64 {
      guard usesTimeStamps else { return time }
      if let last = lastCallerTime {
        var passed = Double(time - last)
        // libx264 writes filler data for the time that passes: a pause must not become one huge
        // frame.
        if case .constant = target.mode { passed = min(passed, max(1, 3 / assumedFrameRate) * timescale) }
        libraryClock = max(libraryClock + passed * scale, libraryClock.rounded() + 1)
      } else {
        libraryClock = Double(time)
      }
      lastCallerTime = time
      return Int64(clamping: libraryClock.rounded())
    }

    /// Changes the parameters to a new rate.
    /// - Parameters:
    ///   - new: the new configuration.
    ///   - old: the configuration before.
    ///   - parameters: the parameters to change.
    /// - Returns: false if libx264 cannot change to it within the stream.
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

    /// Adapts the rate to the real frame rate, where time stamps are not used.
    /// - Parameters:
    ///   - duration: the duration of the next frame in units of the timescale.
    ///   - parameters: the parameters to change.
    /// - Returns: whether the parameters were changed.
    mutating func addFrame(duration: Int64, parameters: X264Parameters) -> Bool {
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

    /// Sets the parameters for the present target.
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

    /// Returns the buffer model for a rate; nil for none.
    private func model(of rate: RateRequest) -> BufferModel? {
      usesTimeStamps ? rate.bufferModel : rate.zeroDelayBufferModel
    }
  }

  extension RateRequest {
    /// The target rate, but no more than the data rate limits allow; nil without a target.
    var effectiveTarget: Int? {
      guard let targetRate else { return nil }
      guard !limits.isEmpty, let model = bufferModel else { return targetRate }
      return min(targetRate, model.maximumRate)
    }

    /// The buffer model without delay. There is always one, and it fills at the target rate at
    /// most: that makes libx264's rate control independent of the past.
    var zeroDelayBufferModel: BufferModel? {
      guard let target = effectiveTarget else { return bufferModel }
      var model = bufferModel ?? BufferModel(maximumRate: target, size: target)
      model.maximumRate = min(model.maximumRate, target)
      return model
    }
  }
#endif
