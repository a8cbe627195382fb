// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import EncoderAdapter
import Foundation
import H264Encoder

extension H264EncoderConfiguration {
  /// Makes the encoder's configuration for a session with a look-ahead.
  init(lookingAhead c: VideoEncoderConfiguration) throws(CodecError) {
    try self.init(c)
    let request = try LookAheadRequest(c)
    if c.threads <= 0, c.speed.isRealTime != true {
      threads = Self.usefulThreads(width: c.width, height: c.height, maximum: 16)
    }
    keyFrameInterval = request.keyFrameInterval
    if c.pass != nil { encodeTimeShare = nil }
    minimumQP = request.minimumQP
    if request.replacesLimits { dataRateLimits = [] }
    var options = LookAhead()
    options.rate = request.rate
    options.buffer = request.buffer
    options.hasFramesBefore = c.rate.hasFramesBefore
    options.hasFramesAfter = c.rate.hasFramesAfter
    options.writesBufferTiming = c.rate.writesBufferTiming
    options.keyFrameDuration = request.keyFrameDuration
    options.expectedDuration = request.expectedDuration
    options.adaptiveQuantisation = request.adaptiveQuantisation
    options.frames = request.frames
    options.maximumBidirectional = request.maximumBidirectional
    options.usesOpenGOP = c.allowsOpenGOP
    options.usesOnePictureSet = !c.allowsSeveralPictureSets
    options.usesPyramid = request.usesPyramid
    if c.isIntraOnly {
      maximumReferences = 1
    } else if c.referenceFrameCount == 0 {
      var single = self
      single.maximumReferences = 1
      let maximum = max(Self.defaultReferences, Self.referencesUsed(effort: effort))
      maximumReferences = min(max(single.largestReferenceCount ?? 1, 1), maximum)
    }
    effort = min(effort, request.maximumEffort)
    latency = .lookAhead(options)
  }

  /// Changes the configuration to that of a pass over a part of a stream.
  /// - Parameters:
  ///   - c: the configuration of the session.
  ///   - seconds: the duration of the part; nil: nothing changes.
  mutating func makePart(of c: VideoEncoderConfiguration, seconds: Double?) {
    guard let part = c.pass?.part, let seconds else { return }
    let rate = Double(part.bits) / max(seconds, 1e-3)
    // A stream by itself has the ids 0, 1 and 2.
    lookAhead.part = LookAhead.Part(
      rate: min(max(Int(clamping: rate), 1000), 2_000_000_000), pictureID: 3 + part.frames.lowerBound % 65000)
    lookAhead.expectedDuration = max(seconds, 1e-3)
  }

  /// The number of references: two for prediction, and two for B pictures that wait to be output.
  private static let defaultReferences = 4
}
