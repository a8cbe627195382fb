// SPDX-License-Identifier: Apache-2.0
import Foundation
import VideoToolbox

/// A compression session with the settings of an `EncodingPlan`.
final class Compressor: @unchecked Sendable {
  // Sendable: only one task calls it, one frame after the other.
  /// The session's result for a frame: a sample, or nil if the frame was dropped.
  typealias Output = @Sendable (Result<CMSampleBuffer?, Failure>) -> Void

  private let encoder: EncoderSession
  var session: VTCompressionSession { encoder.session }
  var encoderID: String { encoder.id }
  private let output: Output
  private let conferencing: ConferencingPlan?
  /// The average bit rate that `--rate-steps` has set last, in bits a second. Only the thread that
  /// encodes uses it.
  private var rate: Int
  private var start: CMTime?
  /// The number of frames that the session has taken.
  private var frameCount = 0
  /// The requests of the outputs; nil if there are none.
  var control: EncoderControl?
  /// The intended bit rate in bits a second, and the factor that it is multiplied with at present.
  private let intendedRate: Int
  private var rateScale = 1.0
  private let hasRate: Bool
  /// The key frames with which segments begin; nil where there are no segments.
  private var grid: KeyFrameGrid?
  private let isConstant: Bool
  /// The bit rate of the current or next pass, in bits a second.
  var passRate: Int
  /// The session property that holds the rate of a pass.
  let rateKey: CFString
  /// Whether the session encodes in several passes, so that each one is begun and ended.
  private(set) var makesPasses = false

  /// - Parameters:
  ///   - plan: the settings.
  ///   - source: the movie, whose format, colours and duration the session is given.
  ///   - storage: the storage for several passes; nil for one pass.
  ///   - output: is called with the result of each frame.
  /// - Throws: a `Failure` if no session takes the settings.
  init(
    _ plan: EncodingPlan, source: MovieSource, storage: VTMultiPassStorage? = nil, output: @escaping Output
  ) throws {
    encoder = try EncoderSession(
      EncoderRequest(
        codec: plan.codec, width: plan.width, height: plan.height, id: plan.encoderID,
        isLowLatency: plan.conferencing != nil, pixelFormat: plan.pixelFormat.type))
    self.output = output
    conferencing = plan.conferencing
    rate = plan.bitRate
    intendedRate = plan.bitRate
    hasRate = plan.quality == nil
    grid = plan.segmentInterval.map { KeyFrameGrid(interval: $0, isRepeated: plan.passes > 1) }
    isConstant = plan.isConstantBitRate
    passRate = plan.bitRate
    rateKey =
      plan.maximumRate == nil
      ? kVTCompressionPropertyKey_AverageBitRate : kVTCompressionPropertyKey_VariableBitRate
    try configure(plan, source: source)
    if let storage { makesPasses = attach(storage, isOnDemand: plan.makesPassesOnDemand) }
    // `beginPass` prepares a session of several passes.
    guard !makesPasses else { return }
    try encoder.prepare()
  }

  func encode(_ frame: Frame) throws {
    let start = start ?? frame.time
    self.start = start
    let seconds = (frame.time - start).seconds
    if let wanted = conferencing?.rateSteps?.rate(at: seconds), wanted != rate {
      try set(kVTCompressionPropertyKey_AverageBitRate, wanted, for: "--rate-steps")
      rate = wanted
    }
    var options: [CFString: Any] = [:]
    follow(control, &options)
    if grid?.isDue(at: frame.time) == true { options[kVTEncodeFrameOptionKey_ForceKeyFrame] = kCFBooleanTrue }
    if let conferencing, conferencing.usesLongTermReferences {
      options[kVTEncodeFrameOptionKey_AcknowledgedLTRTokens] = conferencing.log.takeAcknowledgedTokens(
        before: frameCount)
    }
    let number = frameCount
    let began = SessionTime.now
    try encoder.encode(frame.pixelBuffer, at: frame.time, duration: frame.duration, options: options) {
      [output, log = conferencing?.log, rate] result in
      log?.add(result, frame: number, time: seconds, started: began, rate: rate)
      output(result)
    }
    frameCount += 1
  }

  /// Makes a key frame and changes the rate if the outputs ask for that.
  private func follow(_ control: EncoderControl?, _ options: inout [CFString: Any]) {
    guard let control else { return }
    if control.takeKeyFrameRequest() { options[kVTEncodeFrameOptionKey_ForceKeyFrame] = kCFBooleanTrue }
    let scale = control.bitRateScale
    guard hasRate, scale != rateScale else { return }
    rateScale = scale
    // An encoder that cannot change its rate leaves it to the output to drop pictures.
    encoder.hint(
      isConstant ? kVTCompressionPropertyKey_ConstantBitRate : rateKey,
      NSNumber(value: max(1000, Int(Double(intendedRate) * scale))))
  }

  /// Waits until the output of every frame has been delivered.
  func complete() throws { try encoder.complete() }

  /// The session's current settings, for `--verbose`.
  func settings() -> [(String, String)] {
    var properties: CFDictionary?
    guard
      VTSessionCopySerializableProperties(
        session, allocator: kCFAllocatorDefault, dictionaryOut: &properties) == noErr,
      let values = properties as? [String: Any]
    else { return [] }
    return values.sorted { $0.key < $1.key }.map { ($0.key, "\($0.value)") }
  }

  // MARK: Settings

  /// The window of the data rate limit in seconds: no stretch of a stream as long as this may carry
  /// more than the highest bit rate. Four seconds are two key frame intervals of the usual length.
  /// With a shorter window, an encoder that keeps a part of its buffer for the next key frame
  /// leaves up to a fifth of the rate unused where key frames are most of the bits. A short movie
  /// has less time to recover from its opening, so the window is at most half of it, but at least
  /// 1.75 s.
  private static func limitedSeconds(of movie: Double?) -> Double {
    min(max((movie ?? .infinity) / 2, 1.75), 4)
  }

  /// The number of look-ahead frames if the user named none: the plan's, if the encoder looks ahead
  /// by default and the preset sets no number.
  private func defaultLookAhead(_ plan: EncodingPlan) -> Int? {
    guard !plan.hasFullChroma, ListedEncoder.named(encoderID)?.looksAheadByDefault == true else {
      return nil
    }
    let named = encoder.value(kVTCompressionPropertyKey_SuggestedLookAheadFrameCount) as? NSNumber
    return (named?.intValue ?? 0) > 0 ? nil : plan.defaultLookAhead
  }

  /// Limits the expected frame rate to what encoders accept, 0.001 to 1000 frames a second. The
  /// time stamps tell the actual rate of a source outside of that range.
  static func expectedFrameRate(_ rate: Double) -> Double { min(max(rate, 0.001), 1000) }

  private func configure(_ plan: EncodingPlan, source: MovieSource) throws {
    if let preset = plan.preset { try apply(preset) }
    if let effort = plan.effort {
      if plan.isEffortHint {
        _ = VTSessionSetProperty(
          session, key: kOVTCompressionPropertyKey_Effort, value: NSNumber(value: effort))
      } else {
        try set(kOVTCompressionPropertyKey_Effort, effort, for: "--effort")
      }
    }
    // Movies and elementary streams can hold several picture parameter sets.
    _ = VTSessionSetProperty(
      session, key: kOVTCompressionPropertyKey_AllowsSeveralPictureParameterSets, value: kCFBooleanTrue)
    try set(kVTCompressionPropertyKey_RealTime, plan.purpose != .transcoding, for: plan.purpose.rawValue)
    try set(
      kVTCompressionPropertyKey_ExpectedFrameRate, Self.expectedFrameRate(plan.frameRate),
      for: "this frame rate")
    if let seconds = plan.expectedDuration(of: source) {
      // This is only a hint, so an encoder without the property is not an error.
      _ = VTSessionSetProperty(
        session, key: kVTCompressionPropertyKey_ExpectedDuration, value: NSNumber(value: seconds))
    }
    if plan.hasFramesBefore || plan.hasFramesAfter { try setNeighbours(plan) }
    try setRate(plan, source: source)
    try setStructure(plan)
    if let conferencing = plan.conferencing { try configure(conferencing, plan: plan, source: source) }
    try setColours(plan, source: source)
  }

  /// Sets whether frames of the movie precede or follow those of the session.
  private func setNeighbours(_ plan: EncodingPlan) throws {
    for (key, value) in [
      (kVTCompressionPropertyKey_MoreFramesBeforeStart, plan.hasFramesBefore),
      (kVTCompressionPropertyKey_MoreFramesAfterEnd, plan.hasFramesAfter),
    ] {
      let status = VTSessionSetProperty(session, key: key, value: NSNumber(value: value))
      // Segments need to agree only on the state of a decoder's buffer.
      guard status == noErr || !plan.keepsToBuffer else {
        throw Failure(Self.sharesNoBuffer(encoderID), status: 64)
      }
    }
  }

  /// Sets the quality or the bit rate, and the limits of the rate.
  private func setRate(_ plan: EncodingPlan, source: MovieSource) throws {
    if let quality = plan.quality {
      try set(kVTCompressionPropertyKey_Quality, quality, for: "--quality")
      if let ceiling = plan.ceiling, let seconds = plan.ceilingBuffer {
        try set(kVTCompressionPropertyKey_VBVMaxBitRate, ceiling, for: "the highest bit rate")
        try set(kVTCompressionPropertyKey_VBVBufferDuration, seconds, for: "the highest bit rate's buffer")
      }
    } else if plan.isConstantBitRate {
      try set(kVTCompressionPropertyKey_ConstantBitRate, plan.bitRate, for: "--cbr")
    } else if plan.maximumRate != nil {
      try set(kVTCompressionPropertyKey_VariableBitRate, plan.bitRate, for: "--max-rate")
    } else {
      try set(kVTCompressionPropertyKey_AverageBitRate, plan.bitRate, for: "--bitrate")
      if plan.purpose == .streaming {
        // A receiver's link has a limited rate, and its buffer absorbs part of a key frame.
        let seconds = Self.limitedSeconds(of: plan.expectedDuration(of: source))
        let limits: [NSNumber] = [
          NSNumber(value: Int(plan.highestBitRate / 8 * seconds)), NSNumber(value: seconds),
        ]
        try set(kVTCompressionPropertyKey_DataRateLimits, limits, for: "streaming's limit of the data rate")
      }
    }
    if let maximumRate = plan.maximumRate {
      try set(kVTCompressionPropertyKey_VBVMaxBitRate, maximumRate, for: "--max-rate")
    }
    if let seconds = plan.bufferSeconds {
      try set(kVTCompressionPropertyKey_VBVBufferDuration, seconds, for: "--buffer")
    }
    if plan.writesBufferTiming {
      try set(kOVTCompressionPropertyKey_WritesBufferTiming, true, for: "--buffer-timing")
    }
  }

  /// Sets the profile, key frames, look-ahead, adaptive quantisation and the use of processors.
  private func setStructure(_ plan: EncodingPlan) throws {
    if let level = plan.profile?.level(for: plan.codec) {
      try set(kVTCompressionPropertyKey_ProfileLevel, level, for: "--profile")
    }
    if let interval = plan.keyframeInterval {
      try set(kVTCompressionPropertyKey_MaxKeyFrameInterval, interval, for: "--keyframe-interval")
    }
    if let duration = plan.keyframeDuration {
      try set(kVTCompressionPropertyKey_MaxKeyFrameIntervalDuration, duration, for: "--keyframe-duration")
    }
    if let frames = plan.lookAheadFrames ?? defaultLookAhead(plan) {
      try set(kVTCompressionPropertyKey_SuggestedLookAheadFrameCount, frames, for: "--look-ahead-frames")
    }
    if let level = plan.spatialAdaptiveQP?.level {
      try set(kVTCompressionPropertyKey_SpatialAdaptiveQPLevel, level, for: "--spatial-adaptive-qp")
    }
    if plan.savesPower {
      try set(kVTCompressionPropertyKey_MaximizePowerEfficiency, true, for: "--save-power")
    }
    if let threads = plan.threads {
      try set(kOVTCompressionPropertyKey_ThreadCount, threads, for: "--threads")
    }
  }

  /// Sets the colours and the pixel aspect ratio.
  private func setColours(_ plan: EncodingPlan, source: MovieSource) throws {
    if plan.mapsTones {
      try set(
        kVTCompressionPropertyKey_ColorPrimaries, kCVImageBufferColorPrimaries_ITU_R_709_2, for: "BT.709")
      try set(
        kVTCompressionPropertyKey_TransferFunction, kCVImageBufferTransferFunction_ITU_R_709_2, for: "BT.709")
      try set(kVTCompressionPropertyKey_YCbCrMatrix, kCVImageBufferYCbCrMatrix_ITU_R_709_2, for: "BT.709")
    } else {
      try copyColor(from: source.format)
    }
    if plan.fit.keepsPixelAspect, let aspect = source.pixelAspect {
      let spacings: [CFString: Any] = [
        kCMFormatDescriptionKey_PixelAspectRatioHorizontalSpacing: aspect.horizontal,
        kCMFormatDescriptionKey_PixelAspectRatioVerticalSpacing: aspect.vertical,
      ]
      try set(
        kVTCompressionPropertyKey_PixelAspectRatio, spacings as CFDictionary,
        for: "the shape of the movie's pixels")
    }
  }

  /// The error text for an encoder that cannot share a decoder's buffer between segments.
  private static func sharesNoBuffer(_ encoder: String) -> String {
    "\(encoder) cannot keep to one decoder's buffer over several segments, as --cbr and --max-rate require; "
      + "take one of the package's own encoders (--codec avc1 without --encoder, or --encoder "
      + "org.openvideotoolbox.videoencoder.hevc), or encode the movie whole (no split, no --jobs), or omit "
      + "that option"
  }

  private func configure(_ mode: ConferencingPlan, plan: EncodingPlan, source: MovieSource) throws {
    if let share = mode.baseLayerFraction {
      try set(kVTCompressionPropertyKey_BaseLayerFrameRateFraction, share, for: "--base-layer-fraction")
    }
    if let share = mode.baseLayerBitRateFraction {
      try set(kVTCompressionPropertyKey_BaseLayerBitRateFraction, share, for: "--base-layer-bitrate-fraction")
    }
    if let qp = mode.minimumQP { try set(kVTCompressionPropertyKey_MinAllowedFrameQP, qp, for: "--min-qp") }
    if let qp = mode.maximumQP { try set(kVTCompressionPropertyKey_MaxAllowedFrameQP, qp, for: "--max-qp") }
    if mode.usesLongTermReferences { try set(kVTCompressionPropertyKey_EnableLTR, true, for: "--ltr") }
    if let frames = mode.intraRefreshFrames {
      try set(kOVTCompressionPropertyKey_IntraRefreshFrameCount, frames, for: "--intra-refresh")
    }
    if mode.measuresQuality {
      // The report has no chart of the PSNR if the encoder does not compute the error.
      VTSessionSetProperty(
        session, key: kVTCompressionPropertyKey_CalculateMeanSquaredError, value: NSNumber(value: true))
    }
    mode.log.begin(
      "\(source.name): \(plan.codec.name), \(plan.width)x\(plan.height), "
        + "\(TextFormat.fixed(plan.frameRate, 2)) fps, \(TextFormat.bitRate(Double(plan.bitRate))), \(encoderID)",
      bitDepth: plan.codec == .hvc1 && plan.pixelFormat == .video10Bit ? 10 : 8)
  }

  private func apply(_ preset: Preset) throws {
    var supported: CFDictionary?
    let status = VTSessionCopyProperty(
      session, key: kVTCompressionPropertyKey_SupportedPresetDictionaries, allocator: kCFAllocatorDefault,
      valueOut: &supported)
    guard status == noErr, let presets = supported as? [CFString: [CFString: Any]],
      let settings = presets[preset.key]
    else {
      throw Failure("the encoder \(encoderID) has no preset '\(preset.rawValue)'; omit --preset")
    }
    let applied = VTSessionSetProperties(session, propertyDictionary: settings as CFDictionary)
    guard applied == noErr else {
      throw Failure("the preset '\(preset.rawValue)' cannot be applied (error \(applied)); choose another")
    }
  }

  private func set(_ key: CFString, _ value: Any, for option: String) throws {
    try encoder.set(key, value, for: option)
  }

  /// Gives the encoded stream the source's colour description.
  private func copyColor(from format: CMFormatDescription) throws {
    try copyExtension(
      kCMFormatDescriptionExtension_ColorPrimaries, to: kVTCompressionPropertyKey_ColorPrimaries, from: format
    )
    try copyExtension(
      kCMFormatDescriptionExtension_TransferFunction, to: kVTCompressionPropertyKey_TransferFunction,
      from: format)
    try copyExtension(
      kCMFormatDescriptionExtension_YCbCrMatrix, to: kVTCompressionPropertyKey_YCbCrMatrix, from: format)
    for (name, key) in [
      (
        kCMFormatDescriptionExtension_MasteringDisplayColorVolume,
        kVTCompressionPropertyKey_MasteringDisplayColorVolume
      ),
      (kCMFormatDescriptionExtension_ContentLightLevelInfo, kVTCompressionPropertyKey_ContentLightLevelInfo),
    ] {
      // These messages are only hints to displays, so an encoder that cannot write them is not an
      // error.
      guard let value = CMFormatDescriptionGetExtension(format, extensionKey: name) else { continue }
      _ = VTSessionSetProperty(session, key: key, value: value)
    }
  }

  private func copyExtension(_ name: CFString, to key: CFString, from format: CMFormatDescription) throws {
    guard let value = CMFormatDescriptionGetExtension(format, extensionKey: name) else { return }
    try set(key, value, for: "the source's \(name)")
  }
}
