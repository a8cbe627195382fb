// SPDX-License-Identifier: Apache-2.0
#if X264
  import CodecInterface
  import VideoBitstream
  import CX264
  import Foundation

  /// An open libx264 encoder, which is used until it is drained.
  final class X264Stream {
    private let parameters: X264Parameters
    private let handle: OpaquePointer
    private let timescale: Int32
    private var follower: X264RateFollower
    private var controller: RateFactorController?
    private var parameterSets: ParameterSets?
    /// The level in the parameter sets.
    private var level: H264Level?
    /// The caller's presentation time by the time stamp that libx264 was given, for all held
    /// frames.
    private var callerTimes: [Int64: Int64] = [:]
    /// The most frames that precede a frame in decoding order and follow it in output order.
    let reorderingDepth: Int
    private let maximumQP: Int
    private let measuresError: Bool

    /// Opens an encoder, with less look-ahead if libx264 would hold more frames than the
    /// configuration allows.
    /// - Throws: `CodecError` if libx264 does not support the configuration.
    init(_ configuration: VideoEncoderConfiguration) throws(CodecError) {
      var plan = DelayPlan(limit: configuration.frameLimit(overhead: 1))
      controller = RateFactorController(configuration, delay: plan)
      var opened: (X264Parameters, OpaquePointer)?
      for _ in 0..<64 {
        let parameters = try X264Parameters(configuration, delay: plan, controller: controller)
        guard let handle = ovt_x264_encoder_open(&parameters.param) else {
          let message = parameters.message
          throw .invalidConfiguration(message.isEmpty ? "libx264 does not open" : message)
        }
        let delay = Int(x264_encoder_maximum_delayed_frames(handle))
        if let limit = plan.limit, delay > limit {
          x264_encoder_close(handle)
          plan.tighten()
          continue
        }
        opened = (parameters, handle)
        break
      }
      guard let opened else { throw .unsupported("libx264 cannot keep to this frame delay") }
      (parameters, handle) = opened
      timescale = configuration.timescale
      maximumQP = configuration.rate.maxQP ?? 51
      measuresError = configuration.measuresError

      var actual = x264_param_t()
      x264_encoder_parameters(handle, &actual)
      follower = X264RateFollower(configuration, usesTimeStamps: plan.usesTimeStamps)
      reorderingDepth =
        actual.i_bframe == 0 ? 0 : actual.i_bframe_pyramid == X264_B_PYRAMID_NONE ? 1 : 2
      parameterSets = try readParameterSets(configuration)
    }

    deinit { x264_encoder_close(handle) }

    /// The number of frames that libx264 holds.
    var heldFrameCount: Int { Int(x264_encoder_delayed_frames(handle)) }

    /// Changes the rate.
    /// - Parameters:
    ///   - new: the new configuration.
    ///   - old: the configuration before.
    /// - Returns: false if that takes a new stream.
    func follow(_ new: VideoEncoderConfiguration, from old: VideoEncoderConfiguration) throws(CodecError)
      -> Bool
    {
      // The parameter sets have been written, so the level cannot change.
      if new.level == nil, StreamShape.level(of: new, atLeast: level) != level { return false }
      if controller != nil {
        guard followWithController(new, from: old) else { return false }
      } else {
        guard follower.follow(new, from: old, parameters: parameters) else { return false }
      }
      return x264_encoder_reconfig(handle, &parameters.param) == 0
    }

    /// Passes a picture to libx264.
    /// - Parameters:
    ///   - source: the picture.
    ///   - request: the options of the frame.
    ///   - frameDuration: the duration of the previous frame, in units of the timescale.
    /// - Returns: the frame that libx264 returned; nil if it returned none.
    func encode(
      _ source: InputPicture, request: FrameRequest, frameDuration: Int64
    ) throws(CodecError) -> CompressedFrame? {
      if follower.addFrame(duration: frameDuration, parameters: parameters) {
        _ = x264_encoder_reconfig(handle, &parameters.param)
      }
      var picture = x264_picture_t()
      x264_picture_init(&picture)
      try setImage(&picture.img, source)
      if controller == nil {
        picture.i_pts = follower.libraryTime(of: source.presentationTime)
      } else {
        picture.i_pts = source.presentationTime
        controller?.addInput(seconds: Double(frameDuration) / Double(timescale))
      }
      picture.i_type = request.forcesKeyFrame ? X264_TYPE_IDR : X264_TYPE_AUTO
      if let qp = request.baseQP {
        let minimum = Int(parameters.param.rc.i_qp_min)
        picture.i_qpplus1 = Int32(min(max(qp, minimum), maximumQP)) + 1
      }
      callerTimes[picture.i_pts] = source.presentationTime
      return try run(&picture)
    }

    /// Returns the next held frame; nil if it is not complete yet.
    func drain() throws(CodecError) -> CompressedFrame? {
      controller?.endInput()
      return try run(nil)
    }

    // MARK: -

    /// Changes the rate of the controller. Returns false if that takes a new stream.
    private func followWithController(_ new: VideoEncoderConfiguration, from old: VideoEncoderConfiguration)
      -> Bool
    {
      guard new.rate != old.rate else { return true }
      guard let target = new.rate.effectiveTarget, RateFactorController.isFor(new.rate.mode),
        new.rate.minQP == old.rate.minQP, new.rate.maxQP == old.rate.maxQP,
        (new.rate.bufferModel == nil) == (old.rate.bufferModel == nil)
      else { return false }
      controller?.targetRate = Double(target)
      if let model = new.rate.bufferModel { parameters.setBuffer(model) }
      return true
    }

    /// Sets the rate factor of the next frame.
    private func setRateFactor() {
      guard let factor = controller?.advance() else { return }
      guard abs(Float(factor) - parameters.param.rc.f_rf_constant) > 0.005 else { return }
      parameters.param.rc.f_rf_constant = Float(factor)
      _ = x264_encoder_reconfig(handle, &parameters.param)
    }

    /// Calls libx264 with a picture, or with nil to drain it.
    private func run(_ input: UnsafeMutablePointer<x264_picture_t>?) throws(CodecError) -> CompressedFrame? {
      setRateFactor()
      var output = x264_picture_t()
      var nals: UnsafeMutablePointer<x264_nal_t>?
      var count: Int32 = 0
      let size = x264_encoder_encode(handle, &nals, &count, input, &output)
      guard size >= 0 else {
        throw .malfunction(parameters.message.isEmpty ? "libx264 failed" : parameters.message)
      }
      guard size > 0, let nals, count > 0 else { return nil }

      var properties = CompressedFrame.Properties()
      properties.isReference = false
      for nal in UnsafeBufferPointer(start: nals, count: Int(count)) {
        if nal.i_type == Int32(NAL_FILLER.rawValue) { properties.fillerBytes += Int(nal.i_payload) }
        if (1...5).contains(nal.i_type), nal.i_ref_idc > 0 { properties.isReference = true }
      }
      properties.isKeyFrame = output.b_keyframe != 0
      properties.isIntra = [X264_TYPE_IDR, X264_TYPE_I, X264_TYPE_KEYFRAME].contains(output.i_type)
      properties.isOpenGOP = properties.isKeyFrame && output.i_type != X264_TYPE_IDR
      controller?.addOutput(bits: Int(size) * 8, isIntra: properties.isIntra, factor: output.prop.f_crf_avg)
      if measuresError {
        func error(_ psnr: Double) -> Double { psnr >= 100 ? 0 : 255 * 255 / pow(10, psnr / 10) }
        properties.meanSquaredError = (
          error(output.prop.f_psnr.0), error(output.prop.f_psnr.1), error(output.prop.f_psnr.2)
        )
      }

      // libx264 stores the payloads of all NAL units contiguously.
      var data = CompressedData(capacity: Int(size))
      data.append(UnsafeRawBufferPointer(start: nals[0].p_payload, count: Int(size)))
      let time = callerTimes.removeValue(forKey: output.i_pts) ?? output.i_pts
      var frame = CompressedFrame(presentationTime: time, data: data)
      frame.properties = properties
      frame.header = parameterSets.map { .parameterSets($0) }
      parameterSets = nil
      return frame
    }

    /// Sets the planes of a picture.
    private func setImage(_ image: inout x264_image_t, _ source: InputPicture) throws(CodecError) {
      func set(_ index: Int, _ plane: PlaneView) {
        let address = UnsafeMutablePointer(
          mutating: plane.baseAddress.assumingMemoryBound(to: UInt8.self))
        withUnsafeMutableBytes(of: &image.plane) {
          $0.storeBytes(
            of: address, toByteOffset: index * MemoryLayout<UnsafeMutableRawPointer>.stride,
            as: UnsafeMutablePointer<UInt8>.self)
        }
        withUnsafeMutableBytes(of: &image.i_stride) {
          $0.storeBytes(of: Int32(plane.bytesPerRow), toByteOffset: index * 4, as: Int32.self)
        }
      }
      let planes = try source.planes()
      set(0, planes.first)
      switch source.format {
      case .nv12VideoRange, .nv12FullRange:
        guard let chroma = planes.second else { throw .invalidConfiguration("a plane is missing") }
        set(1, chroma)
        image.i_csp = X264_CSP_NV12
        image.i_plane = 2
      case .i420VideoRange, .i420FullRange:
        guard let cb = planes.second, let cr = planes.third else {
          throw .invalidConfiguration("a plane is missing")
        }
        set(1, cb)
        set(2, cr)
        image.i_csp = X264_CSP_I420
        image.i_plane = 3
      default: throw .unsupported("a pixel format that libx264 does not take")
      }
    }

    /// Reads and edits the parameter sets.
    private func readParameterSets(_ c: VideoEncoderConfiguration) throws(CodecError) -> ParameterSets {
      var nals: UnsafeMutablePointer<x264_nal_t>?
      var count: Int32 = 0
      guard x264_encoder_headers(handle, &nals, &count) >= 0, let nals else {
        throw .malfunction("libx264 gives no headers")
      }
      var sets = ParameterSets(sps: [], pps: [])
      for nal in UnsafeBufferPointer(start: nals, count: Int(count)) where nal.i_payload > 4 {
        let unit = [UInt8](UnsafeBufferPointer(start: nal.p_payload + 4, count: Int(nal.i_payload) - 4))
        if nal.i_type == Int32(NAL_SPS.rawValue) {
          let set = try Self.edited(unit, c)
          level = set.level
          sets.sps.append(set.nalUnit)
        } else if nal.i_type == Int32(NAL_PPS.rawValue) {
          sets.pps.append(unit)
        }
      }
      guard !sets.sps.isEmpty, !sets.pps.isEmpty else { throw .malfunction("libx264 gives no headers") }
      return sets
    }

    /// Changes values of the sequence parameter set that libx264 has no parameter for: profile_idc
    /// and constraint flags, the clock tick, and the level where libx264 does not know the bit
    /// rate.
    private static func edited(_ unit: [UInt8], _ c: VideoEncoderConfiguration) throws(CodecError)
      -> H264SequenceParameterSet
    {
      guard var set = try? H264SequenceParameterSet(nalUnit: unit) else {
        throw .malfunction("libx264's sequence parameter set cannot be read")
      }
      if set.vui?.timing != nil {
        // libx264 writes the tick of its time stamps, but players expect the frame rate here.
        let rate = FrameRateRatio(c.frameRate ?? 30)
        set.vui?.timing?.ticks = VideoTicks(
          unitsInTick: Int(rate.denominator), timeScale: Int(rate.numerator) * 2)
      }
      if c.level == nil, let level = StreamShape.level(of: c, atLeast: set.level), level != set.level {
        set.levelIDC = Int(level.number)
        set.constraintFlags &= ~0x10
      }
      if let new = StreamShape.signalling(of: c.profile, written: UInt8(set.constraintFlags)) {
        set.profileIDC = Int(new.profile)
        set.constraintFlags = Int(new.flags)
      }
      return set
    }
  }
#endif
