// SPDX-License-Identifier: Apache-2.0
/// Which temporal layer comes next: every so many frames one of the base layer, the rest above it.
struct LayerPattern {
  struct Place {
    /// 0 is the base, which refers to nothing else; a frame of layer 1 is never referred to.
    var layer: Int
    /// The frame's share of the bits that a frame gets on average.
    var budgetShare: Double
  }

  /// Frames from one of the base layer to the next.
  private(set) var period: Int
  private var baseShare: Double
  /// Frames since the last of the base layer.
  private var phase = 0

  init(frameRateFraction: Double, bitRateFraction: Double) {
    period = max(Int(Int32(clamping: (1 / frameRateFraction).rounded())), 1)
    baseShare = bitRateFraction
  }

  mutating func change(frameRateFraction: Double, bitRateFraction: Double) {
    period = max(Int(Int32(clamping: (1 / frameRateFraction).rounded())), 1)
    baseShare = bitRateFraction
    phase = min(phase, period)
  }

  /// - Parameter restarts: the next frame is of the base layer whatever came before.
  func next(restarts: Bool) -> Place {
    guard period > 1 else { return Place(layer: 0, budgetShare: 1) }
    let isBase = restarts || phase == 0 || phase >= period
    let share =
      isBase ? baseShare * Double(period) : (1 - baseShare) * Double(period) / Double(period - 1)
    return Place(layer: isBase ? 0 : 1, budgetShare: min(max(share, 0.01), 16))
  }

  /// - Parameter isCoded: false if the frame was dropped. One of the base layer is then tried again.
  mutating func note(_ place: Place, isCoded: Bool) {
    guard period > 1 else { return }
    if place.layer == 0 {
      phase = isCoded ? 1 : 0
    } else {
      phase += 1
    }
    if phase >= period { phase = 0 }
  }
}
