// SPDX-License-Identifier: Apache-2.0
import VideoBitstream
import VideoEncoding

/// The explicit weights of a reference picture (7.4.7.3, 8.5.3.3.4.3). All reference pictures of a
/// picture have the same denominators.
struct ReferenceWeight: BitwiseCopyable, Equatable {
  typealias Component = PredictionWeight.Component

  /// luma_log2_weight_denom and ChromaLog2WeightDenom, 0...7.
  var lumaShift: Int32 = 0
  var chromaShift: Int32 = 0
  /// Weights in units of 2^-shift, and offsets in sample values of 8 bits, -128...127.
  var luma = Component(weight: 1, offset: 0)
  var cb = Component(weight: 1, offset: 0)
  var cr = Component(weight: 1, offset: 0)

  /// The default weights: 1, without an offset.
  init(lumaShift: Int32 = 0, chromaShift: Int32 = 0) {
    (self.lumaShift, self.chromaShift) = (lumaShift, chromaShift)
    luma = Component(weight: 1 << lumaShift, offset: 0)
    cb = Component(weight: 1 << chromaShift, offset: 0)
    cr = cb
  }

  /// The weights that a detector found.
  init(_ weight: PredictionWeight) {
    (lumaShift, chromaShift) = (weight.shift, weight.shift)
    (luma, cb, cr) = (weight.luma, weight.cb, weight.cr)
  }

  /// Weight and offset of luma (0), Cb (1) or Cr (2).
  @inline(__always) subscript(component: Int) -> Component {
    component == 0 ? luma : component == 1 ? cb : cr
  }

  /// The base-2 logarithm of the denominator of luma (0), Cb (1) or Cr (2).
  @inline(__always) func shift(_ component: Int) -> Int32 { component == 0 ? lumaShift : chromaShift }

  /// Whether luma (0), Cb (1) or Cr (2) has weight 1 and no offset.
  @inline(__always) func isDefault(_ component: Int) -> Bool {
    let own = self[component]
    return own.weight == 1 &<< shift(component) && own.offset == 0
  }

  /// Whether all components have weight 1 and no offset.
  var isDefault: Bool { isDefault(0) && isDefault(1) && isDefault(2) }

  /// The entry of pred_weight_table() (7.3.6.3).
  var entry: HEVCPredictionWeights.Entry {
    var entry = HEVCPredictionWeights.Entry()
    if !isDefault(0) {
      entry.luma = .init(delta: Int(luma.weight) - 1 << lumaShift, offset: Int(luma.offset))
    }
    guard !isDefault(1) || !isDefault(2) else { return entry }
    // (7-56): delta_chroma_offset is the difference to the offset that keeps the middle value.
    func weight(_ c: Component) -> HEVCPredictionWeights.Weight {
      .init(
        delta: Int(c.weight) - 1 << chromaShift,
        offset: Int(c.offset) - 128 + (128 * Int(c.weight)) >> chromaShift)
    }
    var chroma = HEVCPredictionWeights.Chroma()
    (chroma.cb, chroma.cr) = (weight(cb), weight(cr))
    entry.chroma = chroma
    return entry
  }
}
