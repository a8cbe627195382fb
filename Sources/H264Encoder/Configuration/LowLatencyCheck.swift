// SPDX-License-Identifier: Apache-2.0

extension H264EncoderConfiguration {
  /// Checks the options of the low-latency mode.
  /// - Throws: `H264EncoderError.invalidConfiguration` for the first value out of range.
  func validateLowLatency(_ options: LowLatency) throws {
    func require(_ condition: Bool, _ text: @autoclosure () -> String) throws {
      if !condition { throw H264EncoderError.invalidConfiguration(text()) }
    }
    switch options.rateControl {
    case .constantQP(let qp):
      try require((0...51).contains(qp), "QP \(qp) is not in 0...51.")
    case .averageBitRate(let rate):
      try require(
        (1000...2_000_000_000).contains(rate), "A bit rate of \(rate) is not in 1,000...2,000,000,000.")
    }
    try require(
      options.maximumQueueDelay.isFinite && (0.02...10).contains(options.maximumQueueDelay),
      "A queue of \(options.maximumQueueDelay) seconds is not in 0.02...10.")
    try require(
      options.maximumStillPSNR.isFinite && (30...100).contains(options.maximumStillPSNR),
      "A quality of still pictures of \(options.maximumStillPSNR) dB is not in 30...100.")
    try require(
      options.longTermReferences >= 0 && options.longTermReferences < maximumReferences,
      "\(options.longTermReferences) long-term references are not in 0..<\(maximumReferences) (maximumReferences)."
    )
    try require(
      options.adaptiveQuantisation.isFinite && (0...2).contains(options.adaptiveQuantisation),
      "A strength of adaptive quantisation of \(options.adaptiveQuantisation) is not in 0...2.")
    try require(
      options.intraRefreshPeriod >= 0 && options.intraRefreshPeriod <= 1000,
      "An intra refresh takes 0...1000 frames.")
    try require(
      options.sceneChange != .intraRefresh || options.intraRefreshPeriod > 0,
      "To answer a scene change by an intra refresh, set intraRefreshPeriod.")
  }
}
