// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import EncoderAdapter
import Foundation
import HEVCEncoder

extension HEVCEncoderConfiguration {
  /// The settings that a session requests, as an encoder configuration.
  init(_ c: VideoEncoderConfiguration) throws(CodecError) {
    let size = c.codedSize
    self.init(width: size.width, height: size.height)
    (visibleWidth, visibleHeight) = (size.visibleWidth, size.visibleHeight)
    guard c.codec == .hevc else { throw .unsupported("this encoder makes HEVC alone") }
    switch c.profile {
    case .hevcMain, .unspecified: profile = .main
    case .hevcMain10: profile = .main10
    default: throw .unsupported("a profile that this encoder lacks")
    }
    level = c.level
    // A call asks its decoder for the level first, so it is kept; a file is better encoded at a
    // higher level than not at all.
    raisesLevel = c.lowLatency == nil
    levelBitRate = Self.defaultLevelBitRate
    frameRate = min(max(c.frameRate ?? 30, 0.1), 1000)

    let rate = c.rate.lowLatency
    lowLatency.rateControl = rate.rate
    (minimumQP, maximumQP) = (rate.minimumQP, rate.maximumQP)
    if let delay = c.rate.maximumQueueDelay { lowLatency.maximumQueueDelay = delay }
    if let psnr = c.rate.maximumStillPSNR { lowLatency.maximumStillPSNR = psnr }
    dataRateLimits = c.rate.limits
    // A cap on the QP is a promise that the picture is sharp, or not shown at all.
    lowLatency.allowsFrameDropping = c.lowLatency != nil && c.rate.maxQP != nil

    lowLatency.adaptiveQuantisation = c.spatialAdaptiveQP == .off ? 0 : Self.defaultAdaptiveQuantisation
    if c.lowLatency == nil {
      lowLatency.sceneChange = .keyFrame
    }

    effort = c.speed.resolvedEffort
    encodeTimeShare = c.speed.encodeTimeShare
    threads = c.threads > 0 ? min(c.threads, 16) : Self.usefulThreads(height: size.height)
    measuresError = c.measuresError
    colour = c.color.isUnspecified ? nil : c.color
    fullRange = c.isFullRange
    masteringDisplay = c.hdr.masteringDisplay
    contentLightLevel = c.hdr.contentLightLevel
    if let aspect = c.pixelAspect {
      sampleAspectRatio = (UInt16(clamping: aspect.horizontal), UInt16(clamping: aspect.vertical))
    }
    // Parameter sets are stored in the format description, not in the stream.
    writesParameterSets = false
    framing = .lengths
    try setReferences(c)
  }

  /// Makes the encoder's configuration for a session with a look-ahead.
  init(lookingAhead c: VideoEncoderConfiguration) throws(CodecError) {
    try self.init(c)
    let request = try LookAheadRequest(c)
    levelBitRate = 0
    keyFrameInterval = request.keyFrameInterval
    if c.pass != nil { encodeTimeShare = nil }
    minimumQP = request.minimumQP
    if request.replacesLimits { dataRateLimits = [] }
    var options = LookAhead()
    options.rate = request.rate
    options.buffer = request.buffer
    options.writesBufferTiming = c.rate.writesBufferTiming
    options.hasFramesBefore = c.rate.hasFramesBefore
    options.hasFramesAfter = c.rate.hasFramesAfter
    options.keyFrameDuration = request.keyFrameDuration
    options.expectedDuration = request.expectedDuration
    options.adaptiveQuantisation = request.adaptiveQuantisation
    options.frames = request.frames
    options.maximumBidirectional = request.maximumBidirectional
    options.usesOpenGOP = c.allowsOpenGOP
    options.usesPyramid = request.usesPyramid
    if c.isIntraOnly {
      maximumReferences = 1
    } else if c.referenceFrameCount == 0 {
      maximumReferences = Self.defaultLookAheadReferences
    } else {
      maximumReferences = min(maximumReferences, Self.mostLookAheadReferences)
    }
    effort = min(effort, request.maximumEffort)
    latency = .lookAhead(options)
  }

  /// The QP steps for each doubling of a block's variance over the picture's mean, without delay:
  /// that of the H.264 encoder.
  private static let defaultAdaptiveQuantisation = 0.4

  /// The number of references with a look-ahead, unless the session names one: with the current
  /// picture and one that waits to be shown, the decoded picture buffer of every level holds them.
  private static let defaultLookAheadReferences = 4
  /// The most references with a look-ahead.
  private static let mostLookAheadReferences = 4

  /// Changes the configuration to that of a pass over a part of a stream.
  /// - Parameters:
  ///   - c: the configuration of the session.
  ///   - seconds: the duration of the part; nil: nothing changes.
  mutating func makePart(of c: VideoEncoderConfiguration, seconds: Double?) {
    guard let part = c.pass?.part, let seconds else { return }
    let rate = Double(part.bits) / max(seconds, 1e-3)
    lookAhead.partRate = min(max(Int(clamping: rate), 1000), 2_000_000_000)
    lookAhead.expectedDuration = max(seconds, 1e-3)
  }

  /// Bits per second that the level allows at least. A rate that follows a network may rise; if the
  /// level only allowed the first rate, it would have to change, with a key frame. Level 3.1 allows
  /// this rate.
  private static let defaultLevelBitRate = 10_000_000
  /// The most long-term references that the adapter uses.
  private static let maxLongTermReferences = 4
  /// The number of references unless the session names one: the decoded picture buffer of every
  /// level holds six pictures, the current one included (A.4.2).
  private static let defaultReferences = (call: 5, other: 2)
  private static let mostReferences = 5

  /// The number of threads that are of use, at most 4, which leaves processors to others.
  /// - Parameter height: the height in luma samples.
  private static func usefulThreads(height: Int) -> Int {
    let rows = (height + 31) / 32
    // Rows of coding tree units that are begun wait for those above them to be written, so that
    // small pictures have little to share.
    return min(max(ProcessInfo.processInfo.activeProcessorCount, 1), 4, max(rows / 6, 1))
  }

  /// Sets the number of references, and of those that are long-term ones and temporal layers.
  private mutating func setReferences(_ c: VideoEncoderConfiguration) throws(CodecError) {
    let isCall = c.lowLatency != nil
    let defaultCount = isCall ? Self.defaultReferences.call : Self.defaultReferences.other
    maximumReferences =
      c.referenceFrameCount > 0 ? min(c.referenceFrameCount, Self.mostReferences) : defaultCount
    guard let call = c.lowLatency else { return }
    // Layers may come and go without a new stream.
    lowLatency.allowsNonReferenceFrames = true
    lowLatency.temporalLayers = 2
    lowLatency.intraRefreshPeriod = call.intraRefreshPeriod
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
}

extension VideoEncoderConfiguration {
  /// The size at which the encoder codes the pictures: at least the smallest coding unit.
  var codedSize: CodedPictureSize { CodedPictureSize(width: width, height: height, minimum: 8) }
}
