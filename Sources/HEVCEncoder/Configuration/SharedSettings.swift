// SPDX-License-Identifier: Apache-2.0
import VideoEncoding

/// The parts of the configuration that the shared pre-analysis and rate control read.
extension HEVCEncoderConfiguration {
  /// The settings of the low-latency rate control.
  var lowLatencySettings: LowLatencySettings {
    let options = lowLatency
    var settings = LowLatencySettings(width: width, height: height, frameRate: frameRate)
    settings.rate = options.rateControl
    settings.maximumQueueDelay = options.maximumQueueDelay
    settings.maximumStillPSNR = options.maximumStillPSNR
    settings.minimumQP = minimumQP
    settings.maximumQP = maximumQP
    settings.dataRateLimits = dataRateLimits
    settings.allowsFrameDropping = options.allowsFrameDropping
    // A coding tree unit of 32x32 samples is four blocks: skipped, or intra without a residual.
    settings.cheapestBlock = (keyFrame: 2.5, other: 0.06)
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
