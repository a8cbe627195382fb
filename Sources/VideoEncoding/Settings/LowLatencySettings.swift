// SPDX-License-Identifier: Apache-2.0
import struct VideoBitstream.DataRateLimit

/// The part of an encoder's configuration that the low-latency rate control reads.
package struct LowLatencySettings {
  /// The size of the pictures in luma samples.
  package var width: Int
  package var height: Int
  /// The frame rate in frames per second, where frames give no durations.
  package var frameRate: Double
  /// The bit rate or QP to aim at.
  package var rate = LowLatencyRate.constantQP(28)
  /// The most seconds from the capture of a frame to the arrival of its last bit over a link of
  /// the average bit rate.
  package var maximumQueueDelay = 0.3
  /// The luma PSNR in dB up to which a static picture is refined.
  package var maximumStillPSNR = 46.0
  /// The lowest and the highest QP of any block, 0 to 51.
  package var minimumQP = 0
  package var maximumQP = 51
  /// The QP up to which the rate control plans where the highest QP, 51, takes too many bits: 51 to
  /// 71. Above 51, blocks are quantised with 51 and decided with the Lagrange multiplier of the
  /// higher QP, so that what costs much and shows little is left out all over the picture.
  package var coarsestQP = 51
  /// The hard limits of the bytes in windows of time.
  package var dataRateLimits: [DataRateLimit] = []
  /// Whether the rate control may drop frames.
  package var allowsFrameDropping = false
  /// The bits of a block of 16x16 samples that is coded in the cheapest way, in a key frame and in
  /// other frames.
  package var cheapestBlock = (keyFrame: 8.0, other: 0.125)
  /// The bits of a key frame's start codes, delimiter, slice header, parameter sets and SEI
  /// messages.
  package var keyFrameHeaders = 1024.0

  /// Creates settings with defaults for everything else.
  /// - Parameters:
  ///   - width: the width of the pictures in luma samples.
  ///   - height: the height of the pictures in luma samples.
  ///   - frameRate: the frame rate in frames per second.
  package init(width: Int, height: Int, frameRate: Double) {
    self.width = width
    self.height = height
    self.frameRate = frameRate
  }

  /// The value of `coarsestQP` of both encoders, also for the rows of a picture that has to fit
  /// into a decoder's buffer. At 63, noise took 0.4 of the bits that it takes at 51.
  package static let coarsestUsefulQP = 69

  /// The highest QP that a frame is planned with.
  /// - Parameter isUnpredicted: whether the frame is a key frame or begins a new scene. Such frames
  ///   have nothing to keep where a block is left out, so that they end at `maximumQP`.
  func highestPlannedQP(isUnpredicted: Bool) -> Int {
    // With a lower `maximumQP` frames may take more, and others are dropped rather than blurred.
    isUnpredicted || maximumQP < 51 || allowsFrameDropping ? maximumQP : coarsestQP
  }

  /// The average bit rate in bits per second; nil with a constant QP.
  package var averageBitRate: Double? {
    if case .averageBitRate(let rate) = rate { Double(rate) } else { nil }
  }

}
