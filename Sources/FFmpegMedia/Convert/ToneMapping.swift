// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Brings the light of pictures of high dynamic range (PQ or HLG, BT.2100) into the range of an ordinary display, after
/// Report ITU-R BT.2390, section 5.4: light up to a knee stays as it is, what is brighter is rolled off towards the peak.
///
/// The greatest of the three components is mapped and the others follow in proportion, so that hues stay.
struct ToneMapping: Sendable {
  /// Candela per square metre: white of an ordinary picture within one of high range (BT.2408).
  static let targetPeak = 203.0
  /// Candela per square metre: what material is mastered for that does not say.
  static let usualSourcePeak = 1000.0

  /// The factor for a pixel, by the fourth root of its greatest component's light, which is 1 at the source's peak.
  private let gains: [Float]
  /// To light relative to the source's peak.
  let scale: Float

  /// - Parameter curve: that of the source; nil if it is none of high range.
  init?(_ curve: TransferCurve, sourcePeak: Double = usualSourcePeak) {
    guard curve.isHighRange else { return nil }
    // A signal of PQ says how bright the display shall be, up to 10,000; one of HLG what share of the peak.
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

  /// The factor that takes a pixel's light, relative to the source's peak, to light relative to the target's.
  @inline(__always) func gain(_ greatest: Float) -> Float {
    let root = (greatest < 0 ? 0 : greatest > 1 ? 1 : greatest).squareRoot().squareRoot()
    return gains[Int(root * 4096 + 0.5)]
  }

  /// The system gamma of HLG for a display of 1,000 cd/m² (BT.2100, table 5): from the light of the scene to that of the
  /// display.
  static func displayGain(_ r: Float, _ g: Float, _ b: Float) -> Float {
    let luminance = max(0.2627 * r + 0.6780 * g + 0.0593 * b, 1e-6)
    return powf(luminance, 0.2)
  }
}
