// SPDX-License-Identifier: Apache-2.0
/// Explicit weighted prediction from one reference picture (8.4.2.3.2): the prediction of a sample
/// s is ((s * weight + 2^(shift - 1)) >> shift) + offset.
package struct PredictionWeight: BitwiseCopyable {
  /// Weight and offset of a colour component.
  package struct Component: Equatable, BitwiseCopyable {
    /// The weight in units of 2^-shift, -128 to 127.
    package var weight: Int32
    /// The offset in sample values, -128 to 127.
    package var offset: Int32

    /// Creates a weight and an offset.
    package init(weight: Int32, offset: Int32) {
      self.weight = weight
      self.offset = offset
    }
  }

  /// luma_log2_weight_denom and chroma_log2_weight_denom.
  package var shift: Int32 = 6
  /// Weight and offset of luma.
  package var luma = Component(weight: 64, offset: 0)
  /// Weight and offset of Cb.
  package var cb = Component(weight: 64, offset: 0)
  /// Weight and offset of Cr.
  package var cr = Component(weight: 64, offset: 0)
  /// Whether all components have weight 1 and offset 0.
  package var isDefault = true
  /// For each value of a source sample, the value of the reference's sample that predicts it: 256
  /// entries.
  package let inverse: UnsafeMutablePointer<UInt8>

  /// Makes the default weights.
  ///
  /// - Parameter inverse: memory of 256 entries for `inverse`.
  package init(inverse: UnsafeMutablePointer<UInt8>) { self.inverse = inverse }

  /// Whether a component has weight 1 and offset 0.
  package func isDefault(_ c: Component) -> Bool { c == Component(weight: 1 << shift, offset: 0) }

  /// Sets all components to weight 1 and offset 0.
  ///
  /// - Parameter shift: the base-2 logarithm of the weights' denominator.
  mutating func setDefault(shift: Int32) {
    self.shift = shift
    luma = Component(weight: 1 << shift, offset: 0)
    cb = luma
    cr = luma
    isDefault = true
  }

  /// Recomputes `isDefault` and `inverse`; must be called when a component has changed.
  package mutating func update() {
    isDefault = isDefault(luma) && isDefault(cb) && isDefault(cr)
    let (weight, offset, shift) = (Int(luma.weight), Int(luma.offset), Int(shift))
    for s in 0..<256 {
      let value = weight > 0 ? ((s - offset) << shift + weight / 2) / weight : s
      inverse[s] = UInt8(min(max(value, 0), 255))
    }
  }
}
