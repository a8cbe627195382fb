// SPDX-License-Identifier: Apache-2.0
import ElementaryStream
import Foundation
import RealTimeTransport
import VideoToolbox

/// The compression session of the sender. Each frame is output before the next picture is encoded.
final class CallEncoder {
  /// A coded frame as NAL units, with its properties.
  struct Output {
    var units: [[UInt8]]
    var coded: FrameSequencer.CodedFrame
    var averageQP: Double?
    var highestQP: Int?
    /// The mean squared error of the luma samples as the encoder reports it; nil if it does not.
    var meanSquaredError: Double?
  }

  /// The settings of an encoder.
  struct Settings {
    var codec = Codec.avc1
    var width: Int
    var height: Int
    var frameRate: Double
    var recovery = RecoveryMode.ltr
    /// The encoder's identifier; nil uses the low-latency encoder.
    var id: String?
    /// The effort, 0 to 9; nil adapts it to the speed of this machine.
    var effort: Int?
    var threads = 1
    var maximumQP: Int?
    /// The profile and level; nil leaves them to the encoder.
    var profile: CFString?
    var measuresQuality = false
    var hasLayers = false
    var baseLayerBitRateFraction: Double?
    var intraRefreshFrames = 30
    var referenceCount: Int?
    /// The length in seconds of the window of the data rate limit; nil sets no limit.
    var window: Double?
    /// The initial bit rate, and the initial limit of the data rate over `window`, in bits a
    /// second.
    var rate: Int
    var maxRate: Int
  }

  private let encoder: EncoderSession
  var id: String { encoder.id }
  private let window: Double?
  private let isLowLatency: Bool
  private var rate = 0
  private var maxRate = 0
  /// The parameter sets of the last key frame, in the order of the standard.
  private(set) var parameterSets: [[UInt8]] = []

  init(_ plan: Settings) throws {
    window = plan.window
    encoder = try EncoderSession(
      EncoderRequest(
        codec: plan.codec, width: plan.width, height: plan.height, id: plan.id, isLowLatency: plan.id == nil))
    isLowLatency = encoder.supports(kVTCompressionPropertyKey_BaseLayerFrameRateFraction)
    try configure(plan)
    try encoder.prepare()
  }

  private func configure(_ plan: Settings) throws {
    try set(kVTCompressionPropertyKey_RealTime, true, "real time")
    try set(
      kVTCompressionPropertyKey_ExpectedFrameRate, Compressor.expectedFrameRate(plan.frameRate),
      "this frame rate")
    try set(kOVTCompressionPropertyKey_ThreadCount, plan.threads, "--threads")
    if let profile = plan.profile { try set(kVTCompressionPropertyKey_ProfileLevel, profile, "this profile") }
    if let effort = plan.effort { try set(kOVTCompressionPropertyKey_Effort, effort, "--effort") }
    if let qp = plan.maximumQP { try set(kVTCompressionPropertyKey_MaxAllowedFrameQP, qp, "--max-qp") }
    // The reported error is compared with that of the pictures that receivers show.
    if plan.measuresQuality, isLowLatency {
      try set(kVTCompressionPropertyKey_CalculateMeanSquaredError, true, "measuring")
    }
    if !isLowLatency {
      // The usual settings of libx264 for calls: no reordering, no delay, and no key frame after
      // the first.
      try set(kVTCompressionPropertyKey_AllowFrameReordering, false, "no reordering")
      try set(kVTCompressionPropertyKey_MaxFrameDelayCount, 0, "no delay")
      try set(kVTCompressionPropertyKey_MaxKeyFrameInterval, 1_000_000, "an endless group of pictures")
    }
    if plan.hasLayers {
      try set(kVTCompressionPropertyKey_BaseLayerFrameRateFraction, 0.5, "--layers 2")
      if let share = plan.baseLayerBitRateFraction {
        try set(kVTCompressionPropertyKey_BaseLayerBitRateFraction, share, "--base-layer-bitrate-fraction")
      }
    }
    switch plan.recovery {
    case .keyframe: break
    case .ltr: try set(kVTCompressionPropertyKey_EnableLTR, true, "--recovery ltr")
    case .invalidate:
      if !isLowLatency { throw Failure("the encoder \(id) does not support --recovery invalidate") }
      if let count = plan.referenceCount {
        // The level may not allow so many references. Fewer are not an error; a loss then more
        // often needs a key frame.
        for count in stride(from: count, to: 1, by: -1)
        where encoder.hint(kVTCompressionPropertyKey_ReferenceBufferCount, count) { break }
      }
    case .intraRefresh:
      try set(
        kOVTCompressionPropertyKey_IntraRefreshFrameCount, plan.intraRefreshFrames, "--recovery intra-refresh"
      )
    }
    try setRate(plan.rate, maximum: plan.maxRate)
  }

  /// Sets the bit rate from the next frame on.
  /// - Parameters:
  ///   - rate: the average in bits a second.
  ///   - maximum: the limit over the window, in bits a second.
  func setRate(_ rate: Int, maximum: Int) throws {
    guard rate != self.rate || maximum != maxRate else { return }
    self.rate = rate
    maxRate = maximum
    if isLowLatency {
      try set(kVTCompressionPropertyKey_AverageBitRate, rate, "this rate")
      guard let window else { return }
      let limit: [NSNumber] = [
        NSNumber(value: max(Int(Double(maximum) * window / 8), 1)), NSNumber(value: window),
      ]
      try set(kVTCompressionPropertyKey_DataRateLimits, limit, "--window")
    } else {
      // The same limits as a decoder's buffer, which encoders without the low-latency mode support.
      try set(kVTCompressionPropertyKey_VariableBitRate, rate, "a variable rate")
      try set(kVTCompressionPropertyKey_VBVMaxBitRate, maximum, "a buffer model")
      if let window { try set(kVTCompressionPropertyKey_VBVBufferDuration, window, "--window") }
    }
  }

  private func set(_ key: CFString, _ value: Any, _ what: String) throws {
    try encoder.set(key, value, for: what)
  }

  /// The frame options for what the recovery policy asks for.
  /// - Parameters:
  ///   - requirements: what the policy asks for.
  ///   - lostTimes: the presentation times of lost frames, in seconds.
  static func options(_ requirements: RecoveryPolicy.FrameRequirements, lostTimes: [Double]) -> [CFString:
    Any]
  {
    var options: [CFString: Any] = [:]
    if !requirements.acknowledged.isEmpty {
      options[kVTEncodeFrameOptionKey_AcknowledgedLTRTokens] = requirements.acknowledged.map {
        NSNumber(value: $0)
      }
    }
    if requirements.forcesKeyFrame { options[kVTEncodeFrameOptionKey_ForceKeyFrame] = true }
    if requirements.forcesRefresh { options[kVTEncodeFrameOptionKey_ForceLTRRefresh] = true }
    let times = lostTimes.compactMap {
      CMTimeCopyAsDictionary(CMTime(nearest: $0, preferredTimescale: 90_000), allocator: nil)
    }
    if !times.isEmpty { options[kOVTEncodeFrameOptionKey_LostFrameTimes] = times }
    return options
  }

  /// Encodes a picture and waits for the result.
  /// - Returns: the frame; nil if rate control dropped it.
  /// - Throws: a `Failure` if the encoder fails.
  func encode(_ picture: CallPicture, options: [CFString: Any]) throws -> Output? {
    let time = CMTime(nearest: picture.time, preferredTimescale: 90_000)
    let box = OutputBox()
    try encoder.encode(picture.buffer, at: time, duration: .invalid, options: options) { box.store($0) }
    try encoder.complete(through: time)
    guard let result = box.take() else {
      throw Failure("the encoder gave no result for the frame at \(TextFormat.fixed(picture.time, 3)) s")
    }
    let sample = try result.get()
    return try sample.map(output)
  }

  private func output(_ sample: CMSampleBuffer) throws -> Output {
    let attachments =
      (CMSampleBufferGetSampleAttachmentsArray(sample, createIfNecessary: false) as? [[CFString: Any]])?.first
      ?? [:]
    func number(_ key: CFString) -> NSNumber? { attachments[key] as? NSNumber }
    let attributes = SampleAttributes(sample)
    var units = try sample.nalUnits().map { Array($0.data) }
    if attributes.isKeyFrame {
      // Key frames carry their parameter sets, which the receiver needs.
      parameterSets = sample.formatDescription?.parameterSets.map { Array($0) } ?? []
      units = parameterSets + units
    }
    let coded = FrameSequencer.CodedFrame(
      isKeyFrame: attributes.isKeyFrame,
      isReference: number(kCMSampleAttachmentKey_IsDependedOnByOthers)?.boolValue ?? true,
      layer: number(kOVTSampleAttachmentKey_TemporalLayer)?.intValue ?? 0,
      token: number(kVTSampleAttachmentKey_RequireLTRAcknowledgementToken)?.int64Value)
    return Output(
      units: units, coded: coded,
      averageQP: number(kOVTSampleAttachmentKey_AverageQP)?.doubleValue,
      highestQP: number(kOVTSampleAttachmentKey_HighestQP)?.intValue,
      meanSquaredError: attributes.meanSquaredError
    )
  }
}

/// Passes a frame from the session's thread to the caller's.
private final class OutputBox: @unchecked Sendable {
  // Sendable: `lock` guards the mutable state.
  private let lock = Lock()
  private var content: Result<CMSampleBuffer?, Failure>?

  func store(_ result: Result<CMSampleBuffer?, Failure>) { lock.withLock { content = result } }
  func take() -> Result<CMSampleBuffer?, Failure>? { lock.withLock { content } }
}
