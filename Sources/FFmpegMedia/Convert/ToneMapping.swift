// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Maps high dynamic range (PQ or HLG, BT.2100) to the range of a standard display according to
/// Report ITU-R BT.2390, section 5.4: luminance up to a knee is kept, and higher values are
/// compressed towards the peak.
///
/// The largest of the three components is mapped and the others are scaled by the same factor, so
/// that hues are kept.
struct ToneMapping: Sendable {
  /// Luminance of reference white in high dynamic range (BT.2408), in cd/m2; it becomes white of
  /// the result.
  static let targetPeak = 203.0
  /// Peak luminance assumed for material without mastering metadata, in cd/m2.
  static let defaultSourcePeak = 1000.0

  /// Factors for pixels, indexed by the fourth root of the largest component's light (1: the
  /// source's peak) times 4096.
  private let gains: [Float]
  /// Factor from the source's light to light relative to its peak.
  let scale: Float

  /// Makes the table of factors.
  /// - Parameters:
  ///   - curve: The source's transfer function.
  ///   - sourcePeak: The source's peak luminance in cd/m2.
  /// - Returns: nil if the transfer function is not one of high dynamic range.
  init?(_ curve: TransferCurve, sourcePeak: Double = defaultSourcePeak) {
    guard curve.isHighRange else { return nil }
    // PQ codes absolute luminance, up to 10,000 cd/m2; HLG codes luminance relative to the peak.
    scale = curve == .pq ? Float(10_000 / sourcePeak) : 1
    func pq(_ candelas: Double) -> Double { TransferCurve.pq.signal(candelas / 10_000) }
    func candelas(_ signal: Double) -> Double { TransferCurve.pq.light(signal) * 10_000 }
    let brightest = pq(sourcePeak)
    let limit = pq(Self.targetPeak) / brightest
    let knee = max(1.5 * limit - 0.5, 0)
    gains = (0...4096).map { step -> Float in
      let root = Double(step) / 4096
      let light = max(root * root * root * root, 1e-9)
      let signal = pq(light * sourcePeak) / brightest
      guard signal > knee else { return Float(sourcePeak / Self.targetPeak) }
      let t = (signal - knee) / (1 - knee)
      let (t2, t3) = (t * t, t * t * t)
      let mapped =
        (2 * t3 - 3 * t2 + 1) * knee + (t3 - 2 * t2 + t) * (1 - knee) + (-2 * t3 + 3 * t2) * limit
      return Float(candelas(mapped * brightest) / (light * Self.targetPeak))
    }
  }

  /// The factor that converts a pixel's light, relative to the source's peak, to light relative to
  /// the target's.
  /// - Parameter greatest: The light of the pixel's largest component.
  @inline(__always) func gain(_ greatest: Float) -> Float {
    let root = (greatest < 0 ? 0 : greatest > 1 ? 1 : greatest).squareRoot().squareRoot()
    return gains[Int(root * 4096 + 0.5)]
  }

  /// The factor of HLG's system gamma for a display of 1,000 cd/m2 (BT.2100, table 5), which
  /// converts scene light to display light.
  static func displayGain(_ r: Float, _ g: Float, _ b: Float) -> Float {
    let luminance = max(0.2627 * r + 0.6780 * g + 0.0593 * b, 1e-6)
    return powf(luminance, 0.2)
  }
}
