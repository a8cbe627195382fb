// SPDX-License-Identifier: Apache-2.0
import VideoEncoding

/// The parts of the configuration that the shared pre-analysis and rate control read.
extension HEVCEncoderConfiguration {
  /// The settings of the low-latency rate control.
  /// - Parameter sets: the parameter sets of the stream.
  func lowLatencySettings(_ sets: HEVCParameterSets) -> LowLatencySettings {
    let options = lowLatency
    var settings = LowLatencySettings(width: width, height: height, frameRate: frameRate)
    settings.rate = options.rateControl
    settings.maximumQueueDelay = options.maximumQueueDelay
    settings.maximumStillPSNR = options.maximumStillPSNR
    settings.minimumQP = minimumQP
    settings.maximumQP = maximumQP
    settings.coarsestQP = LowLatencySettings.coarsestUsefulQP
    settings.dataRateLimits = dataRateLimits
    settings.allowsFrameDropping = options.allowsFrameDropping
    settings.cheapestBlock = Self.cheapestBlock
    settings.keyFrameHeaders = keyFrameHeaders(sets)
    return settings
  }

  /// The bits of a key frame besides its coding tree units: start codes, delimiter and slice
  /// header, and what `AccessUnitWriter.appendLeadingUnits` writes.
  private func keyFrameHeaders(_ sets: HEVCParameterSets) -> Double {
    var bytes = 32
    if writesParameterSets {
      for unit in [sets.vps.nalUnit, sets.sps.nalUnit, sets.pps.nalUnit] { bytes += unit.count + 4 }
    }
    // Framing and NAL unit header, then type, size and payload of each message, and trailing bits.
    let payloads = [masteringDisplay, contentLightLevel].compactMap(\.?.count)
    if !payloads.isEmpty { bytes += 7 + payloads.reduce(0) { $0 + $1 + 2 } }
    return Double(bytes * 8)
  }

  /// The bits of 16x16 samples at least: a coding tree unit of 32x32 samples is four such blocks,
  /// skipped, or intra without a residual.
  static let cheapestBlock = (keyFrame: 2.5, other: 0.06)

  /// The settings of the look-ahead and its rate control.
  var lookAheadSettings: LookAheadSettings {
    let options = lookAhead
    var settings = LookAheadSettings(width: width, height: height, frameRate: frameRate)
    settings.rate = options.rate
    settings.buffer = options.buffer
    settings.dataRateLimits = dataRateLimits
    settings.minimumQP = minimumQP
    settings.maximumQP = maximumQP
    settings.keyFrameInterval = keyFrameInterval
    settings.keyFrameDuration = options.keyFrameDuration
    settings.placesKeyFramesAtCuts = options.placesKeyFramesAtCuts
    settings.bidirectionalLimit = bidirectionalLimit
    settings.hasPyramid = hasPyramid
    settings.hasOpenGOP = options.usesOpenGOP && bidirectionalLimit > 0
    settings.adaptiveQuantisation = options.adaptiveQuantisation
    settings.expectedDuration = options.expectedDuration
    settings.partRate = options.partRate
    settings.hasFramesBefore = options.hasFramesBefore
    settings.hasFramesAfter = options.hasFramesAfter
    return settings
  }
}

extension HEVCFrameOptions {
  /// The part of the options that the shared pre-analysis and rate control read.
  var request: CodingRequest {
    var request = CodingRequest()
    request.isKeyFrame = isKeyFrame
    request.hasChosenReferences = references != .automatic
    request.qp = qp
    request.targetBits = targetBits
    request.temporalLayer = temporalLayer
    request.budgetShare = budgetShare
    request.duration = duration
    return request
  }
}
