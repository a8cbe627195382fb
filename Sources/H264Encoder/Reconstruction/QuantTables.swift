// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import VideoEncoding

/// The multipliers of quantisation, and of scaling (8.5.9 with flat matrices), for one QP.
///
/// A coefficient c is quantised to (|c| + bias) * multiplier >> 16 with its sign. Tables have 16 or
/// 64 values in raster order.
struct QuantTables {
  /// Multipliers of the 4x4 transform.
  let multiplier4x4: UnsafePointer<UInt16>
  /// Biases of intra macroblocks: a third of a step.
  let biasIntra4x4: UnsafePointer<UInt16>
  /// Biases of inter macroblocks: a sixth of a step.
  let biasInter4x4: UnsafePointer<UInt16>
  /// Scales of the 4x4 transform.
  let scale4x4: UnsafePointer<Int16>
  /// Biases of half a step, for levels that are then chosen by rate and distortion.
  let biasNearest4x4: UnsafePointer<UInt16>
  /// Biases of half a step, for the 8x8 transform.
  let biasNearest8x8: UnsafePointer<UInt16>
  /// Multipliers of the 8x8 transform.
  let multiplier8x8: UnsafePointer<UInt16>
  /// Biases of intra macroblocks, for the 8x8 transform.
  let biasIntra8x8: UnsafePointer<UInt16>
  /// Biases of inter macroblocks, for the 8x8 transform.
  let biasInter8x8: UnsafePointer<UInt16>
  /// Scales of the 8x8 transform.
  let scale8x8: UnsafePointer<Int16>
  /// The rounding shift to the right that follows the multiplication by `scale8x8`: 0, 1 or 2 bits.
  let shift8x8: Int32
  /// The multiplier of DC coefficients, half of that of 4x4 because of their second transform.
  let multiplierDC: Int32
  /// The bias of DC coefficients in intra macroblocks, twice that of 4x4.
  let biasDCIntra: Int32
  /// The bias of DC coefficients in inter macroblocks, twice that of 4x4.
  let biasDCInter: Int32
  /// The scale of DC levels, normAdjust4x4(m, 0, 0) << (qP / 6) (8.5.10, 8.5.11.2).
  let scaleDC: Int32

  /// The bias of intra macroblocks as a part of a step. Values below a half (a dead zone) save many
  /// bits for a small error.
  static let roundIntra = 1.0 / 3
  /// The bias of inter macroblocks as a part of a step.
  static let roundInter = 1.0 / 6
  /// The bias of levels that are chosen by rate and distortion, as a part of a step.
  static let roundNearest = 0.5

  /// normAdjust4x4 (8.5.9).
  ///
  /// - Parameters:
  ///   - qp: the QP.
  ///   - index: the position in raster order.
  private static func norm4x4(_ qp: Int, _ index: Int) -> Int {
    let v = [
      [10, 16, 13], [11, 18, 14], [13, 20, 16], [14, 23, 18], [16, 25, 20], [18, 29, 23],
    ][qp % 6]
    let y = index >> 2
    let x = index & 3
    if x & 1 == 0 && y & 1 == 0 { return v[0] }
    return x & 1 == 1 && y & 1 == 1 ? v[1] : v[2]
  }

  /// normAdjust8x8 (8.5.9).
  ///
  /// - Parameters:
  ///   - qp: the QP.
  ///   - index: the position in raster order.
  private static func norm8x8(_ qp: Int, _ index: Int) -> Int {
    let v = [
      [20, 18, 32, 19, 25, 24], [22, 19, 35, 21, 28, 26], [26, 23, 42, 24, 33, 31],
      [28, 25, 45, 26, 35, 33], [32, 28, 51, 30, 40, 38], [36, 32, 58, 34, 46, 43],
    ][qp % 6]
    let y = index >> 3
    let x = index & 7
    if x & 3 == 0 && y & 3 == 0 { return v[0] }
    if x & 1 == 1 && y & 1 == 1 { return v[1] }
    if x & 3 == 2 && y & 3 == 2 { return v[2] }
    if (x & 3 == 0 && y & 1 == 1) || (x & 1 == 1 && y & 3 == 0) { return v[3] }
    if (x & 3 == 0 && y & 3 == 2) || (x & 3 == 2 && y & 3 == 0) { return v[4] }
    return v[5]
  }

  /// The gain of forward and inverse 4x4 transform for row or column `i`: the product of the
  /// matching rows.
  private static func gain4(_ i: Int) -> Double { i & 1 == 0 ? 4 : 5 }
  /// The gain of forward and inverse 8x8 transform for row or column `i`.
  private static func gain8(_ i: Int) -> Double { i & 3 == 0 ? 8 : i & 1 == 1 ? 578.0 / 64 : 5 }

  /// Computes the tables.
  ///
  /// - Parameters:
  ///   - qp: QP_Y or QP_C, 0 to 51.
  ///   - memory: owns the tables.
  init(qp: Int, memory: inout EncoderMemory) {
    let words = memory.allocate(UInt16.self, count: 16 * 5 + 64 * 5)
    let scales = UnsafeMutableRawPointer(words).assumingMemoryBound(to: Int16.self)
    let step = Double(1 << (qp / 6))
    for i in 0..<16 {
      let norm = Double(QuantTables.norm4x4(qp, i))
      let multiplier = 65536 * 64 / (QuantTables.gain4(i >> 2) * QuantTables.gain4(i & 3) * norm * step)
      words[i] = UInt16(multiplier.rounded())
      words[16 + i] = UInt16(QuantTables.roundIntra * 65536 / multiplier)
      words[32 + i] = UInt16(QuantTables.roundInter * 65536 / multiplier)
      scales[48 + i] = Int16(norm * step)
      words[320 + i] = UInt16(QuantTables.roundNearest * 65536 / multiplier)
    }
    // The scale of the 8x8 transform is normAdjust8x8 * 2^(qP / 6) / 4, which is an integer from qP
    // 12 on; below, the division is left to `shift8x8`.
    let shift = max(0, 2 - qp / 6)
    for i in 0..<64 {
      let norm = Double(QuantTables.norm8x8(qp, i))
      let multiplier = 65536 * 256 / (QuantTables.gain8(i >> 3) * QuantTables.gain8(i & 7) * norm * step)
      words[64 + i] = UInt16(multiplier.rounded())
      words[128 + i] = UInt16(QuantTables.roundIntra * 65536 / multiplier)
      words[192 + i] = UInt16(QuantTables.roundInter * 65536 / multiplier)
      words[336 + i] = UInt16(QuantTables.roundNearest * 65536 / multiplier)
      scales[256 + i] = Int16(qp >= 12 ? norm * step / 4 : norm)
    }
    multiplier4x4 = UnsafePointer(words)
    biasNearest4x4 = UnsafePointer(words + 320)
    biasNearest8x8 = UnsafePointer(words + 336)
    biasIntra4x4 = UnsafePointer(words + 16)
    biasInter4x4 = UnsafePointer(words + 32)
    scale4x4 = UnsafePointer(scales + 48)
    multiplier8x8 = UnsafePointer(words + 64)
    biasIntra8x8 = UnsafePointer(words + 128)
    biasInter8x8 = UnsafePointer(words + 192)
    scale8x8 = UnsafePointer(scales + 256)
    shift8x8 = Int32(shift)
    multiplierDC = Int32(words[0] / 2)
    biasDCIntra = Int32(words[16]) * 2
    biasDCInter = Int32(words[32]) * 2
    scaleDC = Int32(scales[48])
  }
}

/// QP_C for a luma QP (Table 8-15), with chroma_qp_index_offset 0.
@inline(__always) func chromaQP(_ lumaQP: Int) -> Int {
  lumaQP < 30 ? lumaQP : Int(ovt_chroma_qp(Int32(lumaQP)))
}
