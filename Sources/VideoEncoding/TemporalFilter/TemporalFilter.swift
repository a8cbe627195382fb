// SPDX-License-Identifier: Apache-2.0
import CVideoKernels

/// A motion-compensated temporal filter: each sample becomes a mean of itself and of the samples
/// that it moved from and to in neighbouring pictures, of which those that differ much count less
/// or nothing. It takes noise away and keeps edges, because nothing is averaged across them.
///
/// The method is that of published encoders (P. Wennersten et al., "Encoder-only GOP-based temporal
/// filter", JVET-O0549, 2019), with the biweight of Beaton and Tukey (1974) for the samples.
package final class TemporalFilter {
  private let kernels: UnsafeMutablePointer<OVTVideoKernels>
  private var memory = EncoderMemory()

  /// A neighbouring picture and where the blocks of the filtered picture are in it.
  package struct Reference {
    package let picture: FilterPicture
    package let motion: MotionField
    /// The weight of a block that equals the filtered picture's, of 256.
    package let weight: Int

    /// - Parameters:
    ///   - picture: the neighbour.
    ///   - motion: the motion from the filtered picture to the neighbour.
    ///   - weight: the weight of a block that equals the filtered picture's, 0 to 256.
    package init(picture: FilterPicture, motion: MotionField, weight: Int) {
      self.picture = picture
      self.motion = motion
      self.weight = weight
    }
  }

  /// Where the filtered samples go: three planes, of which the chroma planes may be interleaved.
  package struct Output {
    package var luma: UnsafeMutablePointer<UInt8>
    package var lumaBytesPerRow: Int
    package var cb: UnsafeMutablePointer<UInt8>
    package var cr: UnsafeMutablePointer<UInt8>
    package var cbBytesPerRow: Int
    package var crBytesPerRow: Int
    /// The bytes from one sample of Cb or Cr to the next: 1 for planes, 2 for pairs.
    package var chromaStep: Int

    package init(
      luma: UnsafeMutablePointer<UInt8>, lumaBytesPerRow: Int, cb: UnsafeMutablePointer<UInt8>,
      cbBytesPerRow: Int, cr: UnsafeMutablePointer<UInt8>, crBytesPerRow: Int, chromaStep: Int
    ) {
      self.luma = luma
      self.lumaBytesPerRow = lumaBytesPerRow
      self.cb = cb
      self.cr = cr
      self.cbBytesPerRow = cbBytesPerRow
      self.crBytesPerRow = crBytesPerRow
      self.chromaStep = chromaStep
    }
  }

  /// Makes a filter, which keeps nothing between pictures.
  package init() {
    kernels = memory.allocate(OVTVideoKernels.self, count: 1)
    _ = ovt_video_kernels_init(kernels, ovt_cpu_detect())
  }

  /// Copies a picture, to filter it or to filter others with it.
  ///
  /// - Parameter source: the picture, of any size from 1x1 on; its chroma has half of the size,
  ///   rounded up.
  package func copy(_ source: SourcePicture) -> FilterPicture { FilterPicture(source, kernels: kernels) }

  /// Searches for the motion from a picture to a neighbour.
  package func motion(of picture: FilterPicture, in reference: FilterPicture) -> MotionField {
    MotionField(of: picture, in: reference, kernels: kernels)
  }

  /// Searches for the motion of blocks of 16x16 samples.
  /// - Parameter isFractional: whether vectors point between samples, too.
  package func motion(
    of picture: FilterPicture, in reference: FilterPicture, isFractional: Bool
  ) -> MotionField {
    MotionField(of: picture, in: reference, kernels: kernels, isFractional: isFractional)
  }

  /// Searches for the motion of a row of blocks of 4x4 samples. Rows may be searched at the same
  /// time on several threads.
  /// - Parameters:
  ///   - row: the row of blocks.
  ///   - picture: the picture.
  ///   - reference: the other picture, of the same size.
  ///   - field: the motion of the blocks of 16x16 between the two.
  ///   - isFractional: whether vectors point between samples, too.
  ///   - output: receives four vectors for each block of 16x16 in the row.
  package func fineMotion(
    row: Int, of picture: FilterPicture, in reference: FilterPicture, near field: MotionField,
    isFractional: Bool, to output: UnsafeMutablePointer<MotionField.Vector>
  ) {
    FineMotion(
      picture: picture, reference: reference, field: field, kernels: kernels, isFractional: isFractional
    ).search(row, output)
  }

  /// Filters a row of blocks. Rows may be filtered at the same time on several threads.
  ///
  /// - Parameters:
  ///   - row: the row of blocks of 16x16 luma samples.
  ///   - picture: the picture.
  ///   - references: up to 14 neighbours.
  ///   - limit: the difference from which on a neighbour's sample counts nothing, 0 to 255. It
  ///     should be several times the standard deviation of the noise.
  ///   - output: where the samples go.
  package func filterRow(
    _ row: Int, of picture: FilterPicture, with references: [Reference], limit: Int, to output: Output
  ) {
    withUnsafeTemporaryAllocation(of: Int32.self, capacity: 512) { numbers in
      withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 256) { samples in
        guard let sums = numbers.baseAddress, let scratch = samples.baseAddress else { return }
        let block = Block(
          kernels: kernels, picture: picture, limit: limit, sums: sums, weights: sums + 256,
          scratch: scratch)
        for column in 0..<picture.columns { block.filter(column, row, references, output) }
      }
    }
  }
}

/// The filter of one block.
private struct Block {
  let kernels: UnsafePointer<OVTVideoKernels>
  let picture: FilterPicture
  let limit: Int
  /// 16 rows of 16 sums, and their weights.
  let sums: UnsafeMutablePointer<Int32>
  let weights: UnsafeMutablePointer<Int32>
  /// 16 rows of 16 samples of a reference.
  let scratch: UnsafeMutablePointer<UInt8>

  func filter(
    _ column: Int, _ row: Int, _ references: [TemporalFilter.Reference],
    _ output: TemporalFilter.Output
  ) {
    let (x, y) = (16 &* column, 16 &* row)
    let at = row &* picture.columns &+ column
    // The weights of the references in the four quarters of the block, in all of its planes.
    withUnsafeTemporaryAllocation(of: SIMD4<Int32>.self, capacity: max(references.count, 1)) { shares in
      filterLuma(x, y, at, references, shares, output)
      for isCb in [true, false] { filterChroma(isCb, x / 2, y / 2, at, references, shares, output) }
    }
  }

  private func filterLuma(
    _ x: Int, _ y: Int, _ at: Int, _ references: [TemporalFilter.Reference],
    _ shares: UnsafeMutableBufferPointer<SIMD4<Int32>>, _ output: TemporalFilter.Output
  ) {
    let plane = picture.luma
    let source = plane.at(x, y)
    ovt_temporal_start_8(sums, weights, source, plane.stride, 16, 16)
    for (i, reference) in references.enumerated() {
      Interpolation.luma(reference.picture.luma, x, y, reference.motion.vectors[at], to: scratch)
      var share = SIMD4<Int32>()
      for part in 0..<4 {
        let (right, down) = (8 &* (part & 1), 8 &* (part &>> 1))
        let samples = source + (down &* plane.stride &+ right)
        let others = scratch + (16 &* down &+ right)
        let error = Int(kernels.pointee.ssd.3!(samples, plane.stride, others, 16))
        let weight = Self.share(of: reference.weight, error: error, limit: limit)
        share[part] = Int32(weight)
        if weight > 0 {
          let to = 16 &* down &+ right
          ovt_temporal_add_8(
            sums + to, weights + to, samples, plane.stride, others, 16, 8, 8, Int32(limit), Int32(weight))
        }
      }
      shares[i] = share
    }
    ovt_temporal_finish_8(scratch, 16, sums, weights, 16, 16)
    let width = min(16, picture.width &- x)
    for line in 0..<min(16, picture.height &- y) {
      (output.luma + ((y &+ line) &* output.lumaBytesPerRow &+ x)).update(
        from: scratch + 16 &* line, count: width)
    }
  }

  private func filterChroma(
    _ isCb: Bool, _ x: Int, _ y: Int, _ at: Int, _ references: [TemporalFilter.Reference],
    _ shares: UnsafeMutableBufferPointer<SIMD4<Int32>>, _ output: TemporalFilter.Output
  ) {
    let plane = isCb ? picture.cb : picture.cr
    let source = plane.at(x, y)
    ovt_temporal_start_8(sums, weights, source, plane.stride, 8, 8)
    for (i, reference) in references.enumerated() {
      let share = shares[i]
      if share.max() == 0 { continue }
      let other = isCb ? reference.picture.cb : reference.picture.cr
      Interpolation.chroma(other, x, y, reference.motion.vectors[at], to: scratch)
      for part in 0..<4 where share[part] > 0 {
        let (right, down) = (4 &* (part & 1), 4 &* (part &>> 1))
        let to = 16 &* down &+ right
        ovt_temporal_add_8(
          sums + to, weights + to, source + (down &* plane.stride &+ right), plane.stride, scratch + to, 16,
          4, 4, Int32(limit), share[part])
      }
    }
    ovt_temporal_finish_8(scratch, 16, sums, weights, 8, 8)
    let width = min(8, (picture.width &+ 1) / 2 &- x)
    let bytesPerRow = isCb ? output.cbBytesPerRow : output.crBytesPerRow
    for line in 0..<min(8, (picture.height &+ 1) / 2 &- y) {
      let to = (isCb ? output.cb : output.cr) + ((y &+ line) &* bytesPerRow &+ x &* output.chromaStep)
      for i in 0..<width { to[i &* output.chromaStep] = scratch[16 &* line &+ i] }
    }
  }

  /// The weight of an 8x8 block that differs: 0 where the mean square of the differences reaches
  /// the square of the limit, so that what was not found again is left alone.
  ///
  /// - Parameters:
  ///   - weight: the weight of a block without a difference.
  ///   - error: the sum of the squared differences.
  ///   - limit: the limit of a sample's difference.
  @inline(__always)
  private static func share(of weight: Int, error: Int, limit: Int) -> Int {
    let maximum = 64 &* limit &* limit
    return error >= maximum ? 0 : weight &* (maximum &- error) / maximum
  }
}
