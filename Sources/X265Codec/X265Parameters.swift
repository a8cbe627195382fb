// SPDX-License-Identifier: Apache-2.0
#if X265
  import CodecInterface
  import VideoBitstream
  import CX265
  import Foundation

  /// The parameters of libx265 for an encoder configuration.
  final class X265Parameters {
    /// The functions of the libx265 build for the bit depth.
    let api: UnsafePointer<x265_api>
    /// The parameters, which libx265 allocated.
    let param: UnsafeMutablePointer<x265_param>
    /// The decoder's buffer (VBV) that libx265 keeps to; nil for none.
    private(set) var buffer: BufferModel?

    /// Translates a configuration.
    /// - Parameters:
    ///   - c: the configuration.
    ///   - carried: the fullness of the decoder's buffer, 0 to 1, where the stream continues
    ///     another; nil where it does not.
    /// - Throws: `CodecError` if libx265 does not support the configuration.
    init(_ c: VideoEncoderConfiguration, carried: Double? = nil) throws(CodecError) {
      let depth: Int32 = c.profile == .hevcMain10 ? 10 : 8
      guard let api = ovt_x265_api(depth) else {
        throw .unsupported("this libx265 was built without \(depth) bits")
      }
      guard let param = api.pointee.param_alloc() else { throw .outOfMemory }
      // libx265 does not initialise the memory that it allocates, and later frees what pointers in
      // it seem to point to, so the defaults are set first.
      api.pointee.param_default(param)
      self.api = api
      self.param = param
      try fill(c, carried)
    }

    deinit { api.pointee.param_free(param) }

    // MARK: - Translation

    private func fill(_ c: VideoEncoderConfiguration, _ carried: Double?) throws(CodecError) {
      try check(c)
      let presets = [
        "ultrafast", "superfast", "veryfast", "faster", "fast", "medium", "slow", "slower", "veryslow",
        "placebo",
      ]
      guard api.pointee.param_default_preset(param, presets[c.speed.resolvedEffort], nil) == 0 else {
        throw .malfunction("libx265 knows no such preset")
      }
      param.pointee.logLevel = X265_LOG_NONE
      let size = Self.codedSize(c)
      param.pointee.sourceWidth = Int32(size.width)
      param.pointee.sourceHeight = Int32(size.height)
      param.pointee.internalCsp = X265_CSP_I420
      param.pointee.bRepeatHeaders = 0
      param.pointee.bAnnexB = 0
      param.pointee.bEmitInfoSEI = 0
      let rate = FrameRateRatio(c.frameRate ?? 30)
      param.pointee.fpsNum = rate.numerator
      param.pointee.fpsDenom = rate.denominator
      param.pointee.bEmitVUITimingInfo = 1
      if c.threads > 0 {
        _ = api.pointee.param_parse(param, "pools", c.threads == 1 ? "none" : String(c.threads))
        if c.threads == 1 { param.pointee.bEnableWavefront = 0 }
        if c.threads <= 2 { param.pointee.frameNumThreads = Int32(c.threads) }
      }
      setStructure(c)
      setDelay(c)
      // Only B frames can refer across a key frame.
      param.pointee.bOpenGOP = c.allowsOpenGOP && param.pointee.bframes > 0 ? 1 : 0
      setColor(c)
      setRate(c.rate, expectedDuration: c.expectedDuration, carried: carried)
      setHDR(c.hdr)
      if let pass = c.pass { setPass(pass) }
      // The quantiser tree of libx265 3.5 writes beyond its memory where a row has fewer than four
      // blocks of 16x16; valgrind shows it with any program.
      if size.width <= 48 { param.pointee.rc.cuTree = 0 }
      guard api.pointee.param_apply_profile(param, c.profile == .hevcMain10 ? "main10" : "main") == 0 else {
        throw .invalidConfiguration("libx265 cannot code this in the profile")
      }
    }

    /// The range of widths and heights that libx265 supports.
    static let sides = 1...16384

    /// The coded size of pictures, with at least two coding tree units of the smallest size in each
    /// direction.
    static func codedSize(_ c: VideoEncoderConfiguration) -> CodedPictureSize {
      CodedPictureSize(width: c.width, height: c.height, minimum: 32)
    }

    private func check(_ c: VideoEncoderConfiguration) throws(CodecError) {
      guard c.codec == .hevc else { throw .unsupported("libx265 codes HEVC") }
      guard c.profile == .hevcMain || c.profile == .hevcMain10 else {
        throw .unsupported("a profile that is not HEVC's")
      }
      let sides = Self.sides
      guard sides.contains(c.width), sides.contains(c.height) else {
        throw .invalidConfiguration(
          "size \(c.width)x\(c.height) is not within 1x1 and \(sides.upperBound)x\(sides.upperBound)")
      }
      guard c.entropyMode != .cavlc else { throw .unsupported("HEVC has no CAVLC") }
      guard c.maxSliceBytes == 0 else { throw .unsupported("libx265 cannot limit slices in bytes") }
      guard (0...16).contains(c.referenceFrameCount) else {
        throw .invalidConfiguration("HEVC allows 16 reference frames")
      }
      if let number = c.level {
        guard let level = HEVCLevel.numbered(number) else {
          throw .invalidConfiguration("no level \(Double(number) / 10)")
        }
        guard level.allows(width: c.width, height: c.height) else {
          throw .invalidConfiguration("\(c.width)x\(c.height) is too large for level \(Double(number) / 10)")
        }
      }
    }

    private func setStructure(_ c: VideoEncoderConfiguration) {
      if let level = c.level { param.pointee.levelIdc = Int32(level) }
      // Small pictures need small coding tree units.
      while param.pointee.maxCUSize > 16,
        param.pointee.maxCUSize > UInt32(min(param.pointee.sourceWidth, param.pointee.sourceHeight))
      {
        param.pointee.maxCUSize /= 2
      }
      let interval = c.keyFrameInterval
      // In a call, key frames are coded only on request: -1 turns off those by interval and by
      // content.
      param.pointee.keyframeMax = interval > 0 ? Int32(clamping: interval) : c.lowLatency != nil ? -1 : 250
      if param.pointee.keyframeMax > 0 {
        param.pointee.keyframeMin = min(param.pointee.keyframeMin, param.pointee.keyframeMax)
      }
      if interval == 1 || !c.allowsReordering || c.maxReorderingDepth == 0 {
        param.pointee.bframes = 0
        param.pointee.bBPyramid = 0
      }
      if c.maxReorderingDepth == 1 { param.pointee.bBPyramid = 0 }
      if c.referenceFrameCount > 0 { param.pointee.maxNumReferences = Int32(c.referenceFrameCount) }
      if let frames = c.lookAheadFrames {
        let depth = Int32(clamping: min(max(frames, 0), 250))
        param.pointee.lookaheadDepth = depth
        // To choose B frames, libx265 needs a look-ahead that is longer by one than their number.
        param.pointee.bframes = min(param.pointee.bframes, max(depth - 1, 0))
        if param.pointee.bframes == 0 { param.pointee.bBPyramid = 0 }
        if depth == 0 {
          param.pointee.rc.cuTree = 0
          param.pointee.bFrameAdaptive = 0
        }
      }
      switch c.spatialAdaptiveQP {
      case .off:
        param.pointee.rc.aqMode = Int32(X265_AQ_NONE)
        param.pointee.rc.cuTree = 0
      case .standard:
        if param.pointee.rc.aqMode == X265_AQ_NONE { param.pointee.rc.aqMode = Int32(X265_AQ_VARIANCE) }
      case nil: break
      }
    }

    /// Limits the number of frames that libx265 holds: its look-ahead, and one frame for each frame
    /// thread after the first.
    private func setDelay(_ c: VideoEncoderConfiguration) {
      guard let limit = c.frameLimit(overhead: 3) else { return }
      if limit <= 3 {
        param.pointee.bFrameAdaptive = 0
        param.pointee.bframes = 0
        param.pointee.bBPyramid = 0
        param.pointee.lookaheadDepth = 0
        param.pointee.scenecutThreshold = 0
        param.pointee.rc.cuTree = 0
        param.pointee.frameNumThreads = 1
        return
      }
      param.pointee.frameNumThreads = 1
      // By measurement libx265 holds its look-ahead, its B frames besides, and three more frames.
      let available = Int32(clamping: limit - 3)
      param.pointee.bframes = min(param.pointee.bframes, max((available - 1) / 2, 0))
      let depth = max(available - param.pointee.bframes, 0)
      param.pointee.lookaheadDepth = min(param.pointee.lookaheadDepth, depth)
      if param.pointee.lookaheadDepth <= param.pointee.bframes {
        param.pointee.bframes = max(param.pointee.lookaheadDepth - 1, 0)
      }
      if param.pointee.bframes == 0 { param.pointee.bBPyramid = 0 }
      if param.pointee.lookaheadDepth == 0 {
        param.pointee.rc.cuTree = 0
        param.pointee.bFrameAdaptive = 0
      }
    }

    private func setColor(_ c: VideoEncoderConfiguration) {
      if !c.color.isUnspecified || c.isFullRange {
        param.pointee.vui.bEnableVideoSignalTypePresentFlag = 1
        param.pointee.vui.videoFormat = 5
        param.pointee.vui.bEnableVideoFullRangeFlag = c.isFullRange ? 1 : 0
        param.pointee.vui.bEnableColorDescriptionPresentFlag = 1
        param.pointee.vui.colorPrimaries = Int32(c.color.primaries)
        param.pointee.vui.transferCharacteristics = Int32(c.color.transfer)
        param.pointee.vui.matrixCoeffs = Int32(c.color.matrix)
      }
      if let aspect = c.pixelAspect {
        param.pointee.vui.aspectRatioIdc = 255
        param.pointee.vui.sarWidth = Int32(clamping: aspect.horizontal)
        param.pointee.vui.sarHeight = Int32(clamping: aspect.vertical)
      }
    }

    /// The expected duration in seconds from which on libx265 meets its rate by itself.
    private static let steadyDuration = 8.0

    private func setRate(_ rate: RateRequest, expectedDuration: Double?, carried: Double?) {
      param.pointee.rc.qpMin = Int32(rate.minQP ?? 0)
      param.pointee.rc.qpMax = Int32(rate.maxQP ?? 51)
      var model = rate.bufferModel
      switch rate.mode {
      case .quality(let quality):
        param.pointee.rc.rateControlMode = Int32(X265_RC_CRF.rawValue)
        param.pointee.rc.rfConstant = Self.rateFactor(quality: quality)
      case .average(let bits), .variable(let bits), .constant(let bits):
        param.pointee.rc.rateControlMode = Int32(X265_RC_ABR.rawValue)
        var target = bits
        if !rate.limits.isEmpty, let limited = model {
          // With a buffer that fills faster than the average rate, libx265 leaves up to a third of
          // the rate unused; with equal rates, almost nothing.
          target = min(Int(clamping: Double(bits) * 1.02), limited.maximumRate)
          model?.maximumRate = target
          // The bits that are in the buffer at the start add to the average rate.
          if rate.initialBufferFullness == nil { model?.initialFullness = 0.6 }
        }
        param.pointee.rc.bitrate = Self.kilobits(target)
        // libx265's average bit rate mode misses the rate of a clip of some seconds by a fifth or
        // more, and has no tolerance to set. A buffer that fills at the target rate prevents that,
        // but costs a tenth of the speed, since rows wait for the bits of others. A longer stream
        // has time to correct a deviation, unless other streams continue it.
        if model == nil, carried != nil || (expectedDuration ?? 0) < Self.steadyDuration {
          model = BufferModel(
            maximumRate: target, size: Int(clamping: Double(target) * 1.6),
            initialFullness: rate.initialBufferFullness ?? 0.87)
        }
      }
      if let carried { model?.initialFullness = carried }
      buffer = model
      guard let model else { return }
      param.pointee.rc.vbvMaxBitrate = Self.kilobits(model.maximumRate)
      param.pointee.rc.vbvBufferSize = Self.kilobits(model.size)
      param.pointee.rc.vbvBufferInit = min(max(model.initialFullness, 0.01), 1)
      if case .constant = rate.mode { param.pointee.rc.vbvMaxBitrate = param.pointee.rc.bitrate }
    }

    /// Returns bits in thousands, 1 to 2,000,000.
    static func kilobits(_ bits: Int) -> Int32 { Int32(clamping: min(max(bits / 1000, 1), 2_000_000)) }

    /// Returns the rate factor of a quality: 1.0 is nearly lossless, 0.5 good, 0.0 the smallest
    /// stream. Over the clips for tuning its mean SSIM is that of the package's own H.264 encoder
    /// at the same quality (docs/transcoding.md).
    static func rateFactor(quality: Double) -> Double {
      let points: [(Double, Double)] = [(0, 44), (0.25, 31.5), (0.5, 20.7), (0.75, 13.5), (1, 3)]
      let q = min(max(quality, 0), 1)
      for (a, b) in zip(points, points.dropFirst()) where q <= b.0 {
        return a.1 + (b.1 - a.1) * (q - a.0) / (b.0 - a.0)
      }
      return points[points.count - 1].1
    }

    private func setHDR(_ hdr: HDRMetadata) {
      if let bytes = hdr.masteringDisplay, bytes.count == 24 {
        func n(_ at: Int, _ count: Int) -> Int { bytes[at..<(at + count)].reduce(0) { $0 << 8 | Int($1) } }
        let text =
          "G(\(n(0, 2)),\(n(2, 2)))B(\(n(4, 2)),\(n(6, 2)))R(\(n(8, 2)),\(n(10, 2)))"
          + "WP(\(n(12, 2)),\(n(14, 2)))L(\(n(16, 4)),\(n(20, 4)))"
        _ = api.pointee.param_parse(param, "master-display", text)
      }
      if let bytes = hdr.contentLightLevel, bytes.count == 4 {
        let maximum = Int(bytes[0]) << 8 | Int(bytes[1])
        let average = Int(bytes[2]) << 8 | Int(bytes[3])
        _ = api.pointee.param_parse(param, "max-cll", "\(maximum),\(average)")
      }
    }

    private func setPass(_ pass: EncodingPass) {
      _ = api.pointee.param_parse(param, "stats", pass.statisticsPath)
      param.pointee.rc.bStatRead = pass.readsStatistics ? 1 : 0
      param.pointee.rc.bStatWrite = pass.writesStatistics ? 1 : 0
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
