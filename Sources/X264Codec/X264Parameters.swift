// SPDX-License-Identifier: Apache-2.0
#if X264
  import CodecInterface
  import CX264
  import Foundation

  /// The parameters of libx264 for an encoder configuration, and the memory of their strings.
  final class X264Parameters {
    var param = x264_param_t()
    /// Receives the messages that libx264 logs.
    let log: UnsafeMutablePointer<ovt_x264_log>
    /// The strings that `param` points to.
    private var strings: [UnsafeMutablePointer<CChar>] = []

    /// Translates a configuration.
    /// - Parameters:
    ///   - configuration: the configuration.
    ///   - delay: limits the number of frames that libx264 holds.
    ///   - controller: chooses the rate factor; nil where libx264's own rate control is used.
    /// - Throws: `CodecError` if libx264 does not support the configuration.
    init(
      _ configuration: VideoEncoderConfiguration, delay: DelayPlan, controller: RateFactorController?
    ) throws(CodecError) {
      log = .allocate(capacity: 1)
      log.initialize(to: ovt_x264_log())
      try fill(configuration, delay: delay, controller: controller)
    }

    deinit {
      for string in strings { free(string) }
      log.deallocate()
    }

    /// The last error message that libx264 logged.
    var message: String {
      withUnsafeBytes(of: log.pointee.text) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self).trimmingCharacters(
          in: .whitespacesAndNewlines)
      }
    }

    /// The key-frame interval in frames where the configuration has none.
    static let defaultKeyFrameInterval = 250

    // MARK: - Translation

    private func fill(
      _ c: VideoEncoderConfiguration, delay: DelayPlan, controller: RateFactorController?
    ) throws(CodecError) {
      let presets = [
        "ultrafast", "superfast", "veryfast", "faster", "fast", "medium", "slow", "slower", "veryslow",
        "placebo",
      ]
      guard x264_param_default_preset(&param, presets[c.speed.resolvedEffort], nil) == 0 else {
        throw .malfunction("libx264 knows no such preset")
      }
      ovt_x264_keep_errors(&param, log)
      keepDeterministic(width: c.width)

      let shape = try StreamShape(c)
      let size = StreamShape.codedSize(c)
      param.i_width = Int32(size.width)
      param.i_height = Int32(size.height)
      param.crop_rect.i_right = Int32(size.width - size.visibleWidth)
      param.crop_rect.i_bottom = Int32(size.height - size.visibleHeight)
      param.i_csp = c.format == .i420VideoRange || c.format == .i420FullRange ? X264_CSP_I420 : X264_CSP_NV12
      param.i_bitdepth = 8
      param.i_threads = Int32(c.threads)
      param.b_repeat_headers = 0
      param.b_annexb = 0

      setTiming(c, delay: delay)
      setStructure(c, shape: shape, delay: delay)
      setColor(c)
      setRate(c, delay: delay, controller: controller)
      setHDR(c.hdr)
      if let pass = c.pass { setPass(pass) }
      param.analyse.b_psnr = c.measuresError ? 1 : 0
      // libx264 only measures PSNR if its log level would report it. `log` keeps errors only.
      if c.measuresError { param.i_log_level = X264_LOG_INFO }

      guard x264_param_apply_profile(&param, shape.libraryProfile) == 0 else {
        throw .invalidConfiguration("libx264 cannot code this in the profile \(shape.libraryProfile)")
      }
    }

    /// Keeps the output of narrow pictures deterministic. With AVX-512 the macroblock tree of
    /// libx264 164 reads uninitialised memory at some widths (such as 20 macroblocks), so that the
    /// same frames give different bits each time; MALLOC_PERTURB_ shows this with any program.
    /// Without these instructions it does not, and their speed does not matter for pictures so
    /// small.
    private func keepDeterministic(width: Int) {
      #if arch(x86_64) || arch(i386)
        if width < 640 { param.cpu &= ~UInt32(X264_CPU_AVX512) }
      #endif
    }

    private func setTiming(_ c: VideoEncoderConfiguration, delay: DelayPlan) {
      let ratio = FrameRateRatio(c.frameRate ?? 30)
      param.i_fps_num = ratio.numerator
      param.i_fps_den = ratio.denominator
      param.b_vfr_input = delay.usesTimeStamps ? 1 : 0
      param.i_timebase_num = 1
      param.i_timebase_den = UInt32(c.timescale)
    }

    private func setStructure(_ c: VideoEncoderConfiguration, shape: StreamShape, delay: DelayPlan) {
      param.i_level_idc = Int32(c.level ?? -1)
      param.b_cabac = shape.entropy == .cabac ? 1 : 0

      let interval = c.keyFrameInterval
      param.i_keyint_max = Int32(clamping: interval == 0 ? Self.defaultKeyFrameInterval : interval)
      if interval == 1 { param.i_bframe = 0 }
      param.b_open_gop = c.allowsOpenGOP ? 1 : 0
      if !shape.allowsReordering || c.maxReorderingDepth == 0 { param.i_bframe = 0 }
      if c.maxReorderingDepth == 1 { param.i_bframe_pyramid = X264_B_PYRAMID_NONE }
      if param.i_bframe == 0 { param.i_bframe_pyramid = X264_B_PYRAMID_NONE }

      if c.referenceFrameCount > 0 { param.i_frame_reference = Int32(c.referenceFrameCount) }
      if let maximum = shape.maxReferences {
        param.i_frame_reference = min(param.i_frame_reference, Int32(maximum))
      }
      if c.maxSliceBytes > 0 { param.i_slice_max_size = Int32(clamping: c.maxSliceBytes) }

      if let frames = c.lookAheadFrames {
        param.rc.i_lookahead = Int32(clamping: min(max(frames, 0), 250))
        if frames == 0 {
          param.rc.b_mb_tree = 0
          param.i_sync_lookahead = 0
        }
      }
      switch c.spatialAdaptiveQP {
      case .off:
        param.rc.i_aq_mode = X264_AQ_NONE
        param.rc.b_mb_tree = 0
      case .standard: if param.rc.i_aq_mode == X264_AQ_NONE { param.rc.i_aq_mode = X264_AQ_VARIANCE }
      case nil: break
      }
      delay.apply(to: &param)
    }

    private func setColor(_ c: VideoEncoderConfiguration) {
      param.vui.b_fullrange = c.isFullRange ? 1 : 0
      param.vui.i_colorprim = Int32(c.color.primaries)
      param.vui.i_transfer = Int32(c.color.transfer)
      param.vui.i_colmatrix = Int32(c.color.matrix)
      if let aspect = c.pixelAspect {
        param.vui.i_sar_width = Int32(clamping: aspect.horizontal)
        param.vui.i_sar_height = Int32(clamping: aspect.vertical)
      }
    }

    /// Sets the initial rate control; changes within a stream go through `X264Stream.follow`.
    private func setRate(_ c: VideoEncoderConfiguration, delay: DelayPlan, controller: RateFactorController?)
    {
      let rate = c.rate
      param.rc.i_qp_min = Int32(rate.minQP ?? 0)
      param.rc.i_qp_max = Int32(rate.maxQP ?? 51)
      switch rate.mode {
      case .quality(let quality):
        param.rc.i_rc_method = X264_RC_CRF
        param.rc.f_rf_constant = Float(Self.rateFactor(quality: quality))
      case .average, .variable:
        if let factor = controller?.rateFactor {
          param.rc.i_rc_method = X264_RC_CRF
          param.rc.f_rf_constant = Float(factor)
        } else {
          setAverageRate(c)
        }
      case .constant: setAverageRate(c)
      }
      guard let model = delay.usesTimeStamps ? rate.bufferModel : rate.zeroDelayBufferModel else { return }
      setBuffer(model)
      param.rc.f_vbv_buffer_init = Float(min(max(model.initialFullness, 0.01), 1))
      if case .constant = rate.mode {
        param.rc.i_vbv_max_bitrate = param.rc.i_bitrate
        param.rc.b_filler = 1
      }
    }

    private func setAverageRate(_ c: VideoEncoderConfiguration) {
      param.rc.i_rc_method = X264_RC_ABR
      param.rc.i_bitrate = Self.kilobits(c.rate.targetRate ?? 1)
      // With libx264's default tolerance a clip of some seconds misses its rate by up to a fifth.
      // This one costs little quality; a long stream has time to correct a deviation.
      param.rc.f_rate_tolerance = (c.expectedDuration ?? 0) > 60 ? 0.5 : 0.1
    }

    /// Sets the rate and size of the decoder's buffer (VBV).
    func setBuffer(_ model: BufferModel) {
      param.rc.i_vbv_max_bitrate = Self.kilobits(model.maximumRate)
      param.rc.i_vbv_buffer_size = Self.kilobits(model.size)
      if param.rc.i_rc_method == X264_RC_ABR {
        param.rc.i_bitrate = min(param.rc.i_bitrate, param.rc.i_vbv_max_bitrate)
      }
    }

    /// Returns bits in thousands, 1 to 2,000,000.
    static func kilobits(_ bits: Int) -> Int32 { Int32(clamping: min(max(bits / 1000, 1), 2_000_000)) }

    /// Returns the rate factor of a quality: 1.0 is nearly lossless, 0.5 good, 0.0 the smallest
    /// stream. Over the clips for tuning its mean SSIM is that of the package's own encoder at the
    /// same quality (docs/transcoding.md).
    static func rateFactor(quality: Double) -> Double {
      let points: [(Double, Double)] = [(0, 43), (0.25, 32), (0.5, 22), (0.75, 14.5), (1, 2)]
      let q = min(max(quality, 0), 1)
      for (a, b) in zip(points, points.dropFirst()) where q <= b.0 {
        return a.1 + (b.1 - a.1) * (q - a.0) / (b.0 - a.0)
      }
      return points[points.count - 1].1
    }

    private func setHDR(_ hdr: HDRMetadata) {
      if let bytes = hdr.masteringDisplay, bytes.count == 24 {
        func number(_ at: Int, _ count: Int) -> Int {
          bytes[at..<(at + count)].reduce(0) { $0 << 8 | Int($1) }
        }
        param.mastering_display.b_mastering_display = 1
        param.mastering_display.i_green_x = Int32(number(0, 2))
        param.mastering_display.i_green_y = Int32(number(2, 2))
        param.mastering_display.i_blue_x = Int32(number(4, 2))
        param.mastering_display.i_blue_y = Int32(number(6, 2))
        param.mastering_display.i_red_x = Int32(number(8, 2))
        param.mastering_display.i_red_y = Int32(number(10, 2))
        param.mastering_display.i_white_x = Int32(number(12, 2))
        param.mastering_display.i_white_y = Int32(number(14, 2))
        param.mastering_display.i_display_max = Int64(number(16, 4))
        param.mastering_display.i_display_min = Int64(number(20, 4))
      }
      if let bytes = hdr.contentLightLevel, bytes.count == 4 {
        param.content_light_level.b_cll = 1
        param.content_light_level.i_max_cll = Int32(bytes[0]) << 8 | Int32(bytes[1])
        param.content_light_level.i_max_fall = Int32(bytes[2]) << 8 | Int32(bytes[3])
      }
    }

    private func setPass(_ pass: EncodingPass) {
      if pass.readsStatistics {
        param.rc.b_stat_read = 1
        // The picture parameter set then does not depend on the statistics, so that all parts of a
        // movie have the same one.
        param.b_stitchable = 1
        param.rc.psz_stat_in = keep(pass.statisticsPath)
      }
      if pass.writesStatistics {
        param.rc.b_stat_write = 1
        param.rc.psz_stat_out = keep(pass.statisticsPath)
        if !pass.readsStatistics { x264_param_apply_fastfirstpass(&param) }
      }
    }

    /// Copies a string into memory that lives as long as this object.
    private func keep(_ string: String) -> UnsafeMutablePointer<CChar>? {
      guard let copy = strdup(string) else { return nil }
      strings.append(copy)
      return copy
    }
  }

  extension VideoEncoderConfiguration {
    /// The most frames from one key frame to the next, by the limits in frames and in seconds; 0 if
    /// there is no limit.
    var keyFrameInterval: Int {
      if !allowsTemporalCompression { return 1 }
      guard maxKeyFrameIntervalDuration > 0 else { return maxKeyFrameInterval }
      let byTime = max(
        Int(Int32(clamping: (maxKeyFrameIntervalDuration * (frameRate ?? 30)).rounded(.up))), 1)
      return maxKeyFrameInterval > 0 ? min(maxKeyFrameInterval, byTime) : byTime
    }
  }
#endif
