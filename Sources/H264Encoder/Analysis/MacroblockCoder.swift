// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import VideoEncoding

/// Codes macroblocks one after another up to entropy coding: mode decision, prediction, transform,
/// quantisation and reconstruction. It leaves syntax elements and levels for the entropy coder.
///
/// Each thread has its own coder. Threads share only the reconstruction and the syntax arrays, of
/// which a coder reads macroblocks above and to the left.
///
/// Its functions are `mutating` even where they change nothing: Swift copies the whole structure
/// for a call of a nonmutating function from a mutating one.
struct MacroblockCoder {
  /// The values that do not change during the stream.
  let stream: StreamContext
  /// The values that do not change during the picture.
  var picture: PictureContext
  /// The SIMD kernels of the machine.
  let k: UnsafePointer<OVTKernels>

  /// Scratch memory for predictions and searches.
  let scratch: MacroblockScratch
  /// Luma of the source macroblock: 16 rows of 16 samples. At 4:4:4, Cb and Cr follow
  /// (`componentSamples`).
  var source: UnsafeMutablePointer<UInt8>
  /// NV12 chroma of the source macroblock: 8 rows of 16 bytes; not used at 4:4:4.
  let sourceChroma: UnsafeMutablePointer<UInt8>
  /// Luma coefficients: 256, in 16 blocks of 16 or 4 of 64, in z order (luma4x4BlkIdx).
  let coefficients: UnsafeMutablePointer<Int16>
  /// Chroma coefficients: 4 blocks of 16 for Cb, then for Cr.
  let chromaCoefficients: UnsafeMutablePointer<Int16>
  /// Luma of the source macroblock mapped by the inverse of a reference picture's weight
  /// (`PredictionWeight.inverse`).
  let unweightedSource: UnsafeMutablePointer<UInt8>
  /// The neighbouring samples of a 4x4 or 8x8 block for intra prediction: index 0 is the sample
  /// above left, positive indices go to the right along the row above, negative ones down the
  /// column at the left.
  ///
  /// At 4:4:4, those of Cb and Cr follow (`edgeSize`).
  let edge: UnsafeMutablePointer<UInt8>
  /// The same samples after the reference sample filter of Intra_8x8 (8.3.2.2.1).
  let filteredEdge: UnsafeMutablePointer<UInt8>
  /// DC coefficients: 16 of luma, or 4 of Cb and 4 of Cr.
  let dc: UnsafeMutablePointer<Int16>
  /// The SADs of up to four vectors that are compared at once.
  let costs: UnsafeMutablePointer<Int32>
  /// The vectors of the 8x8 blocks in and around the macroblock (`loadMotionNeighbours`): 12
  /// entries, three rows of four. In B pictures, the vectors of list 1 follow from `gridL1` on.
  let gridMotion: UnsafeMutablePointer<MotionVector>
  /// The reference index of each entry of `gridMotion`; -1 for intra or an unused list, -2 where
  /// not available.
  let gridReference: UnsafeMutablePointer<Int8>
  /// In B pictures, the motion that direct prediction derives for the macroblock.
  let directMotion: BlockMotion
  /// The costs of spatial and temporal direct prediction of the macroblocks of this picture that
  /// were compared, where `PictureContext.comparesDirect` is set.
  var directCosts = DirectCosts()
  /// The levels of two trials of coding the residual (4x4 and 8x8 transform), 256 for each; at
  /// 4:4:4, of two trials for each component.
  var rdLevels: UnsafeMutablePointer<Int16>
  /// The reconstructed samples of these trials, 256 for each.
  var rdSamples: UnsafeMutablePointer<UInt8>
  /// Squared errors: of each 8x8 luma block, or of Cb and Cr.
  let errors: UnsafeMutablePointer<Int32>
  /// Coefficients before quantisation, for rate-distortion optimised quantisation.
  let originals: UnsafeMutablePointer<Int16>
  /// For each 8x8 block, a bit for each 4x4 block that has levels in the 4x4 trial.
  var keptMasks: UnsafeMutablePointer<Int32>

  /// At 4:4:4, the component that functions for luma code now (`select`).
  var component = 0
  /// QP_Y while Cb or Cr is selected.
  var lumaQP = 0
  /// `PictureContext.rdoqLambda` of luma while Cb or Cr is selected.
  var lumaRDOQLambda = 0

  /// The bytes from `edge` of a component to that of the next.
  static let edgeSize = 64

  /// The levels of the macroblock (`LevelLayout`), which the entropy coder reads.
  var levels: UnsafeMutablePointer<Int16>

  // State of the current macroblock.

  /// The macroblock's column.
  var mbX = 0
  /// The macroblock's row.
  var mbY = 0
  /// The macroblock's address (raster order).
  var m = 0
  /// Bytes from one row of the reconstruction to the next, for luma and for chroma.
  var stride: Int
  /// Luma of the macroblock in the reconstruction.
  var reconstruction: UnsafeMutablePointer<UInt8>
  /// NV12 chroma of the macroblock in the reconstruction; at 4:4:4 Cb.
  var reconstructionChroma: UnsafeMutablePointer<UInt8>
  /// `Availability` bits of the neighbours in the same slice.
  var available: UInt8 = 0
  /// `Availability` bits for intra prediction, which constrained_intra_pred_flag may restrict.
  var intraAvailable: UInt8 = 0
  /// QP_Y; QP_C while Cb or Cr is selected (`select`).
  var qp = 26
  /// The Lagrange multiplier of a bit for SAD and SATD, in sixteenths.
  var lambda: Int32 = 0
  /// The Lagrange multiplier of a bit for squared errors, in 256ths.
  var lambdaSSD = 0
  /// The multiplier for the bits of luma levels, in 256ths: less than `lambdaSSD` except in B
  /// pictures, since the error that levels remove would be propagated to the pictures that refer to
  /// this one.
  var lambdaResidual = 0
  /// Lambda of the choice of levels, in the units of `MacroblockCoder.defaultRDOQLambda`.
  var rdoqLambda = 0
  /// The index of the reference picture that `unweightedSource` was mapped for, or -1.
  var unweightedSourceReference = -1
  /// The smallest horizontal vector component of a block at the macroblock's upper left corner, in
  /// quarter samples.
  var minX = 0
  /// The largest horizontal component.
  var maxX = 0
  /// The smallest vertical component.
  var minY = 0
  /// The largest vertical component.
  var maxY = 0
  /// Padding: coders lie side by side in memory and the fields above change with each macroblock,
  /// so that threads would contend for a cache line.
  private let apart = CacheLines()

  /// Allocates the coder's memory.
  ///
  /// - Parameters:
  ///   - stream: what does not change during the stream.
  ///   - picture: the context of the first picture.
  ///   - levels: memory for the levels of a macroblock.
  ///   - memory: owns what the coder allocates.
  init(
    stream: StreamContext, picture: PictureContext, levels: UnsafeMutablePointer<Int16>,
    memory: inout EncoderMemory
  ) {
    self.stream = stream
    self.picture = picture
    k = stream.kernels
    stride = stream.geometry.stride
    self.levels = levels
    reconstruction = picture.planes.luma
    reconstructionChroma = picture.planes.chroma
    scratch = MacroblockScratch(memory: &memory)
    let components = stream.is444 ? 3 : 1
    source = memory.allocate(UInt8.self, count: components * 256)
    sourceChroma = memory.allocate(UInt8.self, count: 128)
    coefficients = memory.allocate(Int16.self, count: 256)
    chromaCoefficients = memory.allocate(Int16.self, count: 128)
    edge = memory.allocate(UInt8.self, count: components * Self.edgeSize) + 24
    filteredEdge = memory.allocate(UInt8.self, count: components * Self.edgeSize) + 24
    dc = memory.allocate(Int16.self, count: 16)
    costs = memory.allocate(Int32.self, count: 16)
    gridMotion = memory.allocate(MotionVector.self, count: 24)
    gridReference = memory.allocate(Int8.self, count: 24)
    rdLevels = memory.allocate(Int16.self, count: components * 512)
    rdSamples = memory.allocate(UInt8.self, count: components * 512)
    errors = memory.allocate(Int32.self, count: 4)
    originals = memory.allocate(Int16.self, count: 256)
    keptMasks = memory.allocate(Int32.self, count: components * 4)
    unweightedSource = memory.allocate(UInt8.self, count: 256)
    directMotion = BlockMotion(
      vectors: memory.allocate(MotionVector.self, count: 8),
      references: memory.allocate(Int8.self, count: 8))
  }

  // MARK: - Position

  /// Moves to a macroblock: fetches the source, and loads neighbours and vector limits.
  ///
  /// - Parameters:
  ///   - x: the macroblock's column.
  ///   - y: the macroblock's row.
  ///   - available: `Availability` bits of the neighbours in the same slice.
  ///   - qp: QP_Y.
  mutating func begin(x: Int, y: Int, available: UInt8, qp: Int) {
    mbX = x
    mbY = y
    m = y &* stream.geometry.widthInMbs &+ x
    self.available = available
    reconstruction = picture.planes.luma + (y &* 16 &* stride &+ x &* 16)
    reconstructionChroma =
      stream.is444
      ? reconstruction + stream.componentOffset
      : picture.planes.chroma + (y &* 8 &* stride &+ x &* 16)
    setQP(qp)
    if stream.is444 {
      fetchComponents()
    } else {
      if x & 3 == 0 { prefetch() }
      fetchSource()
    }
    unweightedSourceReference = -1
    intraAvailable = available
    if stream.constrainedIntra { restrictIntra() }
    picture.syntax.info[m].available = available
    if !picture.isIntraPicture {
      let reach = PictureGeometry.reach
      // Vector components are -2048 to 2047.75 (A.3.1).
      minX = max((-x &* 16 &- reach) &* 4, -8192)
      maxX = min(((stream.geometry.widthInMbs &- x &- 1) &* 16 &+ reach) &* 4, 8191)
      minY = max((-y &* 16 &- reach) &* 4, -stream.verticalLimit)
      maxY = min(((stream.geometry.heightInMbs &- y &- 1) &* 16 &+ reach) &* 4, stream.verticalLimit &- 1)
      // A refreshed macroblock may only refer to samples that were refreshed in the picture before,
      // which are those left of the columns that are refreshed now. Deblocking changes 3 samples at
      // their edge and the six-tap filter reaches 3 further; both are rounded up to 8.
      if picture.keepsClean && x < picture.refreshFrom {
        maxX = min(maxX, ((picture.refreshFrom &- x &- 1) &* 16 &- 8) &* 4)
      }
      loadMotionNeighbours()
    }
  }

  /// Sets QP and the Lagrange multipliers.
  ///
  /// - Parameter value: QP_Y, or what exceeds its range: 52 to 71 stand for QP 51 with the
  ///   multipliers of the higher QP (`LowLatencySettings.coarsestQP`).
  mutating func setQP(_ value: Int) {
    qp = min(value, 51)
    let l = ovt_lambda(Int32(value))
    rdoqLambda = picture.rdoqLambda
    if value > 51 { rdoqLambda = rdoqLambda &* Int(l.ssd256) / Int(ovt_lambda(51).ssd256) }
    lambda = l.sad16 &* picture.settings.motion.lambdaPercent / 100
    // Errors of a picture that others refer to are propagated to all of these, so its bits count
    // for less.
    lambdaSSD = picture.hasRaisedQuality && !picture.isIntraPicture ? Int(l.ssd256) &* 7 / 10 : Int(l.ssd256)
    lambdaResidual = lambdaSSD &* 7 / 10
  }

  /// Marks inter neighbours as not available for intra prediction under constrained_intra_pred_flag
  /// (8.3).
  private mutating func restrictIntra() {
    let info = picture.syntax.info
    let w = stream.geometry.widthInMbs
    func drop(_ bit: UInt8, _ n: Int) {
      if intraAvailable & bit != 0 && !MacroblockType.isIntra(info[n].type) { intraAvailable &= ~bit }
    }
    drop(Availability.left, m &- 1)
    drop(Availability.top, m &- w)
    drop(Availability.topRight, m &- w &+ 1)
    drop(Availability.topLeft, m &- w &- 1)
  }

  // MARK: - Source

  /// Prefetches what the next four macroblocks read first: a cache line of each row of the source
  /// and of the first reference picture at the same position.
  private func prefetch() {
    let x = mbX &* 16 &+ 64
    let y = mbY &* 16
    ovt_prefetch(picture.source.luma + (y &* picture.source.lumaStride &+ x), picture.source.lumaStride, 16)
    if let cr = picture.source.cr {
      let offset = y / 2 &* picture.source.chromaStride &+ x / 2
      ovt_prefetch(picture.source.chroma + offset, picture.source.chromaStride, 8)
      ovt_prefetch(cr + (y / 2 &* picture.source.crStride &+ x / 2), picture.source.crStride, 8)
    } else {
      ovt_prefetch(
        picture.source.chroma + (y / 2 &* picture.source.chromaStride &+ x), picture.source.chromaStride, 8)
    }
    if picture.isIntraPicture { return }
    let reference = stream.references[0]
    ovt_prefetch(reference.luma + (y &* stride &+ x), stride, 16)
    ovt_prefetch(reference.chroma + (y / 2 &* stride &+ x), stride, 8)
  }

  /// Copies the source macroblock, chroma as NV12.
  private mutating func fetchSource() {
    let g = stream.geometry
    let x0 = mbX &* 16
    let y0 = mbY &* 16
    if x0 &+ 16 <= g.width && y0 &+ 16 <= g.height {
      ovt_copy(
        k, 0, source, 16, picture.source.luma + (y0 &* picture.source.lumaStride &+ x0),
        picture.source.lumaStride, 16)
      let c = picture.source.chroma
      if let cr = picture.source.cr {
        k.pointee.video.interleave8x8Planes(
          sourceChroma, 16, c + (y0 / 2 &* picture.source.chromaStride &+ x0 / 2),
          picture.source.chromaStride,
          cr + (y0 / 2 &* picture.source.crStride &+ x0 / 2), picture.source.crStride)
      } else {
        ovt_copy(
          k, 0, sourceChroma, 16, c + (y0 / 2 &* picture.source.chromaStride &+ x0),
          picture.source.chromaStride, 8)
      }
    } else {
      fetchSourceAtBorder()
    }
  }

  /// Copies a source macroblock that lies partly outside of the picture. The last row and column
  /// are repeated: the samples there are cropped, and constant ones take the fewest bits.
  private mutating func fetchSourceAtBorder() {
    let g = stream.geometry
    for y in 0..<16 {
      let row = picture.source.luma + min(mbY &* 16 &+ y, g.height &- 1) &* picture.source.lumaStride
      for x in 0..<16 { source[y &* 16 &+ x] = row[min(mbX &* 16 &+ x, g.width &- 1)] }
    }
    let w = (g.width &+ 1) / 2
    let h = (g.height &+ 1) / 2
    for y in 0..<8 {
      let sy = min(mbY &* 8 &+ y, h &- 1)
      for x in 0..<8 {
        let sx = min(mbX &* 8 &+ x, w &- 1)
        let p = sourceChroma + (y &* 16 &+ 2 &* x)
        if let cr = picture.source.cr {
          p[0] = picture.source.chroma[sy &* picture.source.chromaStride &+ sx]
          p[1] = cr[sy &* picture.source.crStride &+ sx]
        } else {
          p[0] = picture.source.chroma[sy &* picture.source.chromaStride &+ 2 &* sx]
          p[1] = picture.source.chroma[sy &* picture.source.chromaStride &+ 2 &* sx &+ 1]
        }
      }
    }
  }

  // MARK: - Syntax of the macroblock

  /// Stores the motion in the grid as that of the macroblock: a vector and ref_idx_l0 for each 8x8
  /// block. Sets the intra modes that its neighbours predict from.
  mutating func storeMotion() {
    let motion = picture.syntax.motion + m &* 4
    let reference = picture.syntax.referenceIndex + m &* 4
    for i in 0..<4 {
      let g = MotionGrid.block(i)
      reference[i] = gridReference[g]
      motion[i] = gridMotion[g]
    }
    let modes = UnsafeMutableRawPointer(picture.syntax.intraModes + m &* 16)
    // An inter neighbour predicts mode 2, or is "not available" under constrained_intra_pred_flag
    // (8.3.1.1).
    let fill: UInt64 = stream.constrainedIntra ? 0xFFFF_FFFF_FFFF_FFFF : 0x0202_0202_0202_0202
    modes.storeBytes(of: fill, as: UInt64.self)
    modes.storeBytes(of: fill, toByteOffset: 8, as: UInt64.self)
  }

  /// Marks the macroblock as intra for the motion prediction of its neighbours.
  mutating func storeNoMotion() {
    UnsafeMutableRawPointer(picture.syntax.referenceIndex + m &* 4).storeBytes(
      of: 0xFFFF_FFFF, as: UInt32.self)
    clearMotion(picture.syntax.motion + m &* 4)
    clear(picture.syntax.motionDifference + m &* 16)
    if picture.isBidirectional { storeNoMotionL1() }
  }

  /// Clears the vectors of 16 blocks.
  mutating func clear(_ vectors: UnsafeMutablePointer<MotionVector>) {
    let p = UnsafeMutableRawPointer(vectors).assumingMemoryBound(to: UInt64.self)
    for i in 0..<8 { p[i] = 0 }
  }

  /// Clears the vectors of four blocks.
  mutating func clearMotion(_ vectors: UnsafeMutablePointer<MotionVector>) {
    let p = UnsafeMutableRawPointer(vectors).assumingMemoryBound(to: UInt64.self)
    p[0] = 0
    p[1] = 0
  }

  /// Sets all intra modes of the macroblock to 2 (DC), from which neighbours predict theirs.
  mutating func storeIntraModesDC() {
    let modes = UnsafeMutableRawPointer(picture.syntax.intraModes + m &* 16)
    modes.storeBytes(of: 0x0202_0202_0202_0202, as: UInt64.self)
    modes.storeBytes(of: 0x0202_0202_0202_0202, toByteOffset: 8, as: UInt64.self)
  }
}
