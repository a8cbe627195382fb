// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import EncoderAdapter
import Foundation
import H264Encoder

extension H264EncoderConfiguration {
  /// Makes the encoder's configuration for a session with zero latency.
  init(_ c: VideoEncoderConfiguration) throws(CodecError) {
    let size = c.codedSize
    self.init(width: size.width, height: size.height)
    (visibleWidth, visibleHeight) = (size.visibleWidth, size.visibleHeight)
    guard c.codec == .h264 else { throw .unsupported("this encoder makes H.264 alone") }
    profile = try Self.profile(c.profile)
    level = c.level
    entropyCoding = Self.entropyCoding(c)
    // A call asks its decoder for the level first, so it is kept; a file is better encoded at a
    // higher level than not at all.
    raisesLevel = c.lowLatency == nil
    frameRate = min(max(c.frameRate ?? 30, 0.1), 1000)
    setRate(c)

    effort = c.speed.resolvedEffort
    encodeTimeShare = c.speed.encodeTimeShare
    threads =
      c.threads > 0 ? min(c.threads, 16) : Self.usefulThreads(width: c.width, height: c.height, maximum: 4)
    if c.maxSliceBytes > 0 { maximumSliceBytes = c.maxSliceBytes }
    lowLatency.adaptiveQuantisation = c.spatialAdaptiveQP == .off ? 0 : Self.standardAdaptiveQuantisation
    measuresError = c.measuresError

    colour = c.color.isUnspecified ? nil : c.color
    fullRange = c.isFullRange
    masteringDisplay = c.hdr.masteringDisplay.flatMap { $0.count == 24 ? $0 : nil }
    contentLightLevel = c.hdr.contentLightLevel.flatMap { $0.count == 4 ? $0 : nil }
    if let aspect = c.pixelAspect {
      sampleAspectRatio = (UInt16(clamping: aspect.horizontal), UInt16(clamping: aspect.vertical))
    }
    // Parameter sets are stored in the format description, not in the stream.
    writesParameterSets = false
    framing = .lengths
    try setReferences(c)
    if let call = c.lowLatency {
      lowLatency.intraRefreshPeriod = call.intraRefreshPeriod
      lowLatency.writesTemporalLayerPrefix = call.writesLayerPrefix
    }
  }

  /// The QP steps for each doubling of a macroblock's variance over the picture's mean.
  private static let standardAdaptiveQuantisation = 0.4

  /// The encoder's profile for that of a session.
  private static func profile(_ profile: CodecProfile) throws(CodecError) -> Profile {
    switch profile {
    // For Baseline it writes what is common to both, which is Constrained Baseline.
    case .h264Baseline, .h264ConstrainedBaseline: return .constrainedBaseline
    case .h264Main: return .main
    case .h264High: return .high
    case .h264ConstrainedHigh: return .constrainedHigh
    case .h264High444Predictive: return .high444Predictive
    case .h264Extended, .hevcMain, .hevcMain10, .unspecified:
      throw .unsupported("a profile that this encoder lacks")
    }
  }

  /// The entropy coding of a session. The Baseline profiles have no CABAC; where it is asked for
  /// there, CAVLC is used.
  private static func entropyCoding(_ c: VideoEncoderConfiguration) -> EntropyCoding? {
    switch c.profile {
    case .h264Baseline, .h264ConstrainedBaseline: return .cavlc
    default: return c.entropyMode.map { $0 == .cavlc ? .cavlc : .cabac }
    }
  }

  // MARK: - Rate

  /// Sets the bit rate, the range of the QP and the limits.
  private mutating func setRate(_ c: VideoEncoderConfiguration) {
    let rate = c.rate.lowLatency
    lowLatency.rateControl = rate.rate
    (minimumQP, maximumQP) = (rate.minimumQP, rate.maximumQP)
    if let delay = c.rate.maximumQueueDelay { lowLatency.maximumQueueDelay = delay }
    if let psnr = c.rate.maximumStillPSNR { lowLatency.maximumStillPSNR = psnr }
    dataRateLimits = c.rate.limits
    setLossless(c)
    // A cap on the QP is a promise that the picture is sharp, or not shown at all.
    lowLatency.allowsFrameDropping = c.lowLatency != nil && c.rate.maxQP != nil
  }

  /// Codes without loss where a session asks for the highest quality, and for nothing that
  /// contradicts it, in the one profile that can.
  private mutating func setLossless(_ c: VideoEncoderConfiguration) {
    guard profile == .high444Predictive, case .quality(let quality) = c.rate.mode, quality >= 1,
      c.rate.limits.isEmpty, c.rate.minQP ?? 0 == 0
    else { return }
    isLossless = true
    lowLatency.rateControl = .constantQP(0)
    (minimumQP, maximumQP) = (0, 0)
    deblocking = false
  }

  // MARK: - Effort

  /// The number of threads that are of use.
  /// - Parameters:
  ///   - width: the width in luma samples.
  ///   - height: the height in luma samples.
  ///   - maximum: the most threads: 4 where a frame is needed soon, more for files, which need not
  ///     leave processors to others.
  static func usefulThreads(width: Int, height: Int, maximum: Int) -> Int {
    let rows = (height + 15) / 16
    // A row waits for the row above it, so small pictures have nothing to share.
    guard width * height >= 320 * 240 else { return 1 }
    return min(max(ProcessInfo.processInfo.activeProcessorCount, 1), maximum, max(rows / 4, 1))
  }

  // MARK: - References

  /// The most long-term references that the adapter uses.
  private static let maxLongTermReferences = 4

  /// Sets the number of short-term and long-term references.
  private mutating func setReferences(_ c: VideoEncoderConfiguration) throws(CodecError) {
    guard let call = c.lowLatency else {
      maximumReferences = c.referenceFrameCount > 0 ? min(c.referenceFrameCount, 16) : defaultReferences(2)
      return
    }
    // Layers may come and go without a new stream.
    lowLatency.allowsNonReferenceFrames = true
    // A receiver misses frames that it was not sent, or that were lost, and takes the next that it
    // can decode.
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
      Self.maxLongTermReferences, maximumReferences > 3 ? maximumReferences - 2 : maximumReferences - 1)
  }

  /// The capacity of the level was computed with the initial rates of the stream: a lower frame
  /// rate or bit rate is no reason for a new stream.
  mutating func keepReferences(of running: H264EncoderConfiguration) {
    maximumReferences = running.maximumReferences
    if case .zero(let options) = running.latency {
      lowLatency.longTermReferences = options.longTermReferences
    }
  }

  /// The number of references for which the level that the stream needs anyway has room, up to
  /// `maximum`.
  private func defaultReferences(_ maximum: Int) -> Int {
    var single = self
    single.maximumReferences = 1
    return min(max(single.largestReferenceCount ?? 1, 1), maximum)
  }
}

extension VideoEncoderConfiguration {
  /// The size at which the encoder codes the pictures, at least a macroblock.
  var codedSize: CodedPictureSize { CodedPictureSize(width: width, height: height, minimum: 16) }
}
