// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import Foundation
import H264Encoder

extension H264EncoderConfiguration {
  /// What a session asks for, in the encoder's terms, with zero latency.
  init(_ c: VideoEncoderConfiguration) throws(CodecError) {
    let size = c.codedSize
    self.init(width: size.width, height: size.height)
    (visibleWidth, visibleHeight) = (size.visibleWidth, size.visibleHeight)
    guard c.codec == .h264 else { throw .unsupported("this encoder makes H.264 alone") }
    profile = try Self.profile(c.profile)
    level = c.level
    entropyCoding = Self.entropyCoding(c)
    // A call's decoder is asked first; a file is better at a higher level than not at all.
    raisesLevel = c.lowLatency == nil
    frameRate = min(max(c.frameRate ?? 30, 0.1), 1000)
    setRate(c)

    effort = c.speed.resolvedEffort
    encodeTimeShare = Self.encodeTimeShare(c.speed)
    threads =
      c.threads > 0 ? min(c.threads, 16) : Self.usefulThreads(width: c.width, height: c.height, most: 4)
    if c.maxSliceBytes > 0 { maximumSliceBytes = c.maxSliceBytes }
    lowLatency.adaptiveQuantisation = c.spatialAdaptiveQP == .off ? 0 : Self.standardAdaptiveQuantisation
    measuresError = c.measuresError

    colour =
      c.color.primaries == 2 && c.color.transfer == 2 && c.color.matrix == 2
      ? nil
      : Colour(primaries: c.color.primaries, transfer: c.color.transfer, matrix: c.color.matrix)
    fullRange = c.color.isFullRange
    if let aspect = c.pixelAspect {
      sampleAspectRatio = (UInt16(clamping: aspect.horizontal), UInt16(clamping: aspect.vertical))
    }
    // They travel beside the stream, in the format description.
    writesParameterSets = false
    framing = .lengths
    try setReferences(c)
    if let call = c.lowLatency {
      lowLatency.intraRefreshPeriod = call.intraRefreshPeriod
      lowLatency.writesTemporalLayerPrefix = call.writesLayerPrefix
    }
  }

  /// Steps of QP for each doubling of a macroblock's activity over the picture's mean.
  private static let standardAdaptiveQuantisation = 0.4

  private static func profile(_ profile: CodecInterface.Profile) throws(CodecError) -> Profile {
    switch profile {
    // What it writes for Baseline is what is common to both.
    case .h264Baseline, .h264ConstrainedBaseline: return .constrainedBaseline
    case .h264Main: return .main
    case .h264High: return .high
    case .h264ConstrainedHigh: return .constrainedHigh
    case .h264Extended, .hevcMain, .hevcMain10, .unspecified:
      throw .unsupported("a profile that this encoder lacks")
    }
  }

  /// The Baseline profiles have no CABAC: asking for it there is asking for the best that they have.
  private static func entropyCoding(_ c: VideoEncoderConfiguration) -> EntropyCoding? {
    switch c.profile {
    case .h264Baseline, .h264ConstrainedBaseline: return .cavlc
    default: return c.entropyMode.map { $0 == .cavlc ? .cavlc : .cabac }
    }
  }

  // MARK: - Rate

  private mutating func setRate(_ c: VideoEncoderConfiguration) {
    switch c.rate.mode {
    case .quality(let quality):
      lowLatency.rateControl = .constantQP(Self.qp(quality: quality))
      minimumQP = c.rate.minQP ?? 0
    case .average(let bits), .constant(let bits), .variable(let bits):
      lowLatency.rateControl = .averageBitRate(min(max(bits, 1000), 2_000_000_000))
      minimumQP = c.rate.minQP ?? 8
    }
    maximumQP = c.rate.maxQP ?? 51
    minimumQP = min(minimumQP, maximumQP)
    if let delay = c.rate.maximumQueueDelay { lowLatency.maximumQueueDelay = delay }
    dataRateLimits = c.rate.limits.map { DataRateLimit(bytes: $0.bytes, seconds: $0.seconds) }
    // A cap on the QP is a promise that the picture is sharp, or not shown at all.
    lowLatency.allowsFrameDropping = c.lowLatency != nil && c.rate.maxQP != nil
  }

  /// 1 is next to lossless, 0.5 is good, 0 is the smallest.
  static func qp(quality: Double) -> Int {
    let points: [(quality: Double, qp: Double)] = [(0, 48), (0.25, 37), (0.5, 27), (0.75, 19), (1, 4)]
    let q = min(max(quality, 0), 1)
    for (a, b) in zip(points, points.dropFirst()) where q <= b.quality {
      return Int((a.qp + (b.qp - a.qp) * (q - a.quality) / (b.quality - a.quality)).rounded())
    }
    return 4
  }

  // MARK: - Effort

  /// In real time the effort follows the time, unless the caller names one: half of the frame interval leaves the other
  /// half to all else that happens to a frame.
  private static func encodeTimeShare(_ speed: SpeedPreference) -> Double? {
    guard speed.isRealTime == true, speed.effort == nil else { return nil }
    let share: Double =
      switch speed.prefersSpeedOverQuality {
      case true: 0.25
      case nil: 0.5
      case false: 0.7
      }
    return speed.savesPower ? share / 2 : share
  }

  /// As many threads as are of use.
  /// - Parameter most: 4 where a frame is to come sooner; what a file is made with need not be left for others.
  static func usefulThreads(width: Int, height: Int, most: Int) -> Int {
    let rows = (height + 15) / 16
    // A row waits for the one above it: below so many macroblocks there is nothing to share.
    guard width * height >= 320 * 240 else { return 1 }
    return min(max(ProcessInfo.processInfo.activeProcessorCount, 1), most, max(rows / 4, 1))
  }

  // MARK: - References

  /// Most long-term references that the adapter keeps.
  private static let mostLongTermReferences = 4

  private mutating func setReferences(_ c: VideoEncoderConfiguration) throws(CodecError) {
    guard let call = c.lowLatency else {
      maximumReferences = c.referenceFrameCount > 0 ? min(c.referenceFrameCount, 16) : defaultReferences(2)
      return
    }
    // Layers may come and go without a new stream.
    lowLatency.allowsNonReferenceFrames = true
    // A receiver misses frames that it was not sent, or that were lost, and takes the next that it can decode.
    lowLatency.allowsFrameNumberGaps = true
    maximumReferences = c.referenceFrameCount > 0 ? min(c.referenceFrameCount, 16) : defaultReferences(6)
    guard call.enablesLongTermReferences else { return }
    if maximumReferences < 2 {
      guard c.referenceFrameCount == 0 else {
        throw .invalidConfiguration("long-term references take a second reference frame at least")
      }
      maximumReferences = 2
    }
    lowLatency.longTermReferences = min(
      Self.mostLongTermReferences, maximumReferences > 3 ? maximumReferences - 2 : maximumReferences - 1)
  }

  /// What the level has room for was counted with the rates that the stream began with: a lower frame rate or bit rate
  /// is no reason for a new stream.
  mutating func keepReferences(of running: H264EncoderConfiguration) {
    maximumReferences = running.maximumReferences
    if case .zero(let options) = running.latency {
      lowLatency.longTermReferences = options.longTermReferences
    }
  }

  /// As many references as the level has room for that the stream needs anyway.
  private func defaultReferences(_ most: Int) -> Int {
    var single = self
    single.maximumReferences = 1
    return min(max(single.largestReferenceCount ?? 1, 1), most)
  }
}

extension VideoEncoderConfiguration {
  /// As the engine codes them: a macroblock at least.
  var codedSize: CodedPictureSize { CodedPictureSize(width: width, height: height, least: 16) }

  /// Whether both ask for the same references, whatever the rates leave room for.
  func asksForReferences(as other: VideoEncoderConfiguration) -> Bool {
    referenceFrameCount == other.referenceFrameCount
      && lowLatency?.enablesLongTermReferences == other.lowLatency?.enablesLongTermReferences
  }
}
