// SPDX-License-Identifier: Apache-2.0
/// Chooses the temporal layer of each frame: one frame of a period is in the base layer, the others
/// are in layer 1.
struct LayerPattern {
  /// The layer and the bits of a frame.
  struct Frame {
    /// The layer: a frame of layer 0 refers to layer 0 only; no frame refers to one of layer 1.
    var layer: Int
    /// The bits of the frame as a multiple of the mean of all frames.
    var budgetShare: Double
  }

  /// The number of frames from one of the base layer to the next.
  private(set) var period: Int
  /// The share of the bits that the base layer has, 0 to 1.
  private var baseShare: Double
  /// The number of frames since the last one of the base layer, that one included; 0 where the next
  /// is in the base layer.
  private var phase = 0

  /// Creates a pattern.
  /// - Parameters:
  ///   - frameRateFraction: the share of the frames that are in the base layer: 1, 0.5 or 0.25.
  ///   - bitRateFraction: the share of the bits that the base layer has.
  init(frameRateFraction: Double, bitRateFraction: Double) {
    period = max(Int(Int32(clamping: (1 / frameRateFraction).rounded())), 1)
    baseShare = bitRateFraction
  }

  /// Changes the pattern from the next frame on. The parameters are those of the initialiser.
  mutating func change(frameRateFraction: Double, bitRateFraction: Double) {
    period = max(Int(Int32(clamping: (1 / frameRateFraction).rounded())), 1)
    baseShare = bitRateFraction
    phase = min(phase, period)
  }

  /// The layer and the bits of the next frame.
  /// - Parameter restarts: whether it has to be in the base layer.
  func next(restarts: Bool) -> Frame {
    guard period > 1 else { return Frame(layer: 0, budgetShare: 1) }
    let isBase = restarts || phase == 0 || phase >= period
    let share =
      isBase ? baseShare * Double(period) : (1 - baseShare) * Double(period) / Double(period - 1)
    return Frame(layer: isBase ? 0 : 1, budgetShare: min(max(share, 0.01), 16))
  }

  /// Moves on to the next frame.
  /// - Parameters:
  ///   - frame: the layer and the bits of the frame.
  ///   - isCoded: false if the frame was dropped. A frame of the base layer is then replaced by the
  ///     next one.
  mutating func advance(after frame: Frame, isCoded: Bool) {
    guard period > 1 else { return }
    if frame.layer == 0 {
      phase = isCoded ? 1 : 0
    } else {
      phase += 1
    }
    if phase >= period { phase = 0 }
  }
}
