// SPDX-License-Identifier: Apache-2.0
import VideoEncoding

/// The parts of the configuration that the shared pre-analysis, look-ahead and rate control read.
extension H264EncoderConfiguration {
  /// The settings of the low-latency rate control.
  var lowLatencySettings: LowLatencySettings {
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
    settings.cheapestBlock = (cheapestMacroblock(isKeyFrame: true), cheapestMacroblock(isKeyFrame: false))
    return settings
  }

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
    settings.hasOpenGOP = hasOpenGOP
    settings.adaptiveQuantisation = options.adaptiveQuantisation
    settings.expectedDuration = options.expectedDuration
    settings.partRate = options.part?.rate
    settings.hasFramesBefore = options.hasFramesBefore
    settings.hasFramesAfter = options.hasFramesAfter
    return settings
  }

  /// The bits of the cheapest macroblock: of P_Skip, or of intra DC prediction without residual
  /// (mb_type, the prediction modes, mb_qp_delta and, with CAVLC, coeff_token; 7.3.5).
  func cheapestMacroblock(isKeyFrame: Bool) -> Double {
    // At 4:4:4, coeff_token or coded_block_flag of the DC levels of Cb and Cr are sent too.
    isKeyFrame ? (cabac ? 6 : 8) + (is444 ? 2 : 0) : 0.125
  }
}

extension H264FrameOptions {
  /// The part of the options that the shared pre-analysis, look-ahead and rate control read.
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
