// SPDX-License-Identifier: Apache-2.0
@testable import VideoEncoding

/// A picture coder of the simplest kind, for a sketch of a second encoder over `VideoEncoding`: it
/// predicts each 8x8 luma block from the same place of one reference picture, or from mid-grey, and
/// codes the quantised differences of the samples as they are, without a transform. A block
/// without differences takes one bit.
///
/// It is to the shared code what a real picture coder is: it gets a picture, its QP, the offsets of
/// its blocks and a budget of its rows, and reports the bits of each row.
struct SketchPictureCoder {
  let geometry: PictureGeometry
  /// The luma of the reconstruction, `geometry.width` samples a row.
  private(set) var reconstruction: [UInt8]
  /// The bits of each row of 16 luma rows in the last picture.
  private(set) var rowBits: [Int32]
  /// The mean QP of the blocks of the last picture.
  private(set) var averageQP = 0.0

  /// Creates a coder for pictures of a size that is a multiple of 16.
  init(_ geometry: PictureGeometry) {
    self.geometry = geometry
    reconstruction = [UInt8](repeating: 128, count: geometry.width * geometry.height)
    rowBits = [Int32](repeating: 0, count: geometry.heightInMbs)
  }

  /// Codes a picture; its reconstruction is in `reconstruction` afterwards.
  /// - Parameters:
  ///   - source: the picture.
  ///   - reference: the luma of the reference picture; nil for an intra picture.
  ///   - qp: its QP.
  ///   - offsets: the QP offset of each block of 16x16 samples; nil: all are 0.
  ///   - budget: the bits that its rows should keep to; nil: their QP is that of the picture.
  /// - Returns: the bits of the picture.
  mutating func code(
    _ source: SourcePicture, reference: [UInt8]?, qp: Int, offsets: ((Int) -> Int)? = nil,
    budget: RowBudget? = nil
  ) -> Int {
    var total = 64
    var qpSum = 0
    var rowQP = qp
    for y in 0..<geometry.heightInMbs {
      if let budget {
        rowQP = budget.qp(row: y, rows: geometry.heightInMbs, bits: total, base: qp, current: rowQP)
      }
      var bits = 0
      for x in 0..<geometry.widthInMbs {
        let block = y * geometry.widthInMbs + x
        let blockQP = min(max(rowQP + (offsets?(block) ?? 0), 0), 51)
        qpSum += blockQP
        for part in 0..<4 {
          bits += code8x8(
            source, reference, x: x * 16 + part % 2 * 8, y: y * 16 + part / 2 * 8, qp: blockQP)
        }
      }
      rowBits[y] = Int32(bits)
      total += bits
    }
    averageQP = Double(qpSum) / Double(geometry.macroblockCount)
    return total
  }

  /// Codes a block of 8x8 samples and returns its bits.
  private mutating func code8x8(
    _ source: SourcePicture, _ reference: [UInt8]?, x: Int, y: Int, qp: Int
  ) -> Int {
    // The quantiser step of H.264 and H.265: it doubles every six QP, and is 1 at QP 4.
    let step = exp2Approx(Double(qp - 4) / 6)
    var bits = 1
    var isEmpty = true
    for row in y..<y + 8 {
      for column in x..<x + 8 {
        let at = row * geometry.width + column
        let prediction = reference.map { Double($0[at]) } ?? 128
        let difference = Double(source.luma[row * source.lumaBytesPerRow + column]) - prediction
        let level = Int((difference / step).rounded())
        if level != 0 { isEmpty = false }
        // An Exp-Golomb code (9.2 of H.265).
        let code = level > 0 ? 2 * level - 1 : -2 * level
        bits += 2 * (Int.bitWidth - 1 - (code + 1).leadingZeroBitCount) + 1
        reconstruction[at] = UInt8(min(max((prediction + Double(level) * step).rounded(), 0), 255))
      }
    }
    return isEmpty ? 1 : bits
  }
}

/// Made-up pictures: a texture that moves, a scene cut in the middle, and noise.
struct SketchContent {
  let width: Int
  let height: Int
  let cut: Int

  /// Calls `body` with picture `n`.
  func withPicture<R>(_ n: Int, _ body: (SourcePicture) throws -> R) rethrows -> R {
    var luma = [UInt8](repeating: 0, count: width * height)
    let chroma = [UInt8](repeating: 128, count: width * height / 2)
    let scene = n < cut ? 0 : 57
    var noise = UInt32(truncatingIfNeeded: n &* 2_654_435_761 &+ 1)
    for y in 0..<height {
      for x in 0..<width {
        noise = noise &* 1_664_525 &+ 1_013_904_223
        let texture = ((x + n / 2 + scene) * 5 % 64 + (y * 3 + scene * 7) % 96)
        luma[y * width + x] = UInt8(clamping: 40 + texture + Int(noise >> 28) / 4 + scene)
      }
    }
    return try luma.withUnsafeBufferPointer { luma in
      try chroma.withUnsafeBufferPointer { chroma in
        // Both buffers have elements.
        guard let luma = luma.baseAddress, let chroma = chroma.baseAddress else { fatalError() }
        return try body(
          SourcePicture(
            width: width, height: height, luma: luma, lumaBytesPerRow: width,
            chroma: .interleaved(chroma, bytesPerRow: width)))
      }
    }
  }
}
