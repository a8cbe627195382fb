// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Foundation

/// The requests of a run's outputs to its encoder.
final class EncoderControl: @unchecked Sendable {
  // Sendable: `lock` guards the mutable state.
  private let lock = Lock()
  private var needsKeyFrame = false
  private var scales: [Int: Double] = [:]

  /// Asks for the next picture to be a key frame.
  func requestKeyFrame() { lock.withLock { needsKeyFrame = true } }

  /// Whether a key frame was asked for since the last call.
  func takeKeyFrameRequest() -> Bool {
    lock.withLock {
      defer { needsKeyFrame = false }
      return needsKeyFrame
    }
  }

  /// Sets the factor that an output wants the bit rate multiplied with. The encoder serves all
  /// outputs, so the least factor counts.
  /// - Parameter output: a number of the output.
  func setBitRateScale(_ scale: Double, for output: Int) { lock.withLock { scales[output] = scale } }

  /// The factor for the bit rate, above 0 and at most 1.
  var bitRateScale: Double { lock.withLock { min(scales.values.min() ?? 1, 1) } }
}
