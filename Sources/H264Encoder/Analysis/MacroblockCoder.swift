// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// Codes macroblocks one after another: decides how, predicts, transforms, quantises, reconstructs, and
/// leaves syntax and levels for the entropy coder. One for each thread; nothing is shared but the
/// reconstruction, and of that only macroblocks above and to the left.
///
/// Its functions are `mutating` even where they change nothing: a function that is not gets a copy of all of this
/// when it is called from one that is.
struct MacroblockCoder {
  /// What is the same in all pictures.
  let stream: StreamContext
  /// What is the same in all macroblocks of the picture.
  var picture: PictureContext
  let k: UnsafePointer<OVTKernels>

  let scratch: MacroblockScratch
  /// Source macroblock: luma 16 x 16 and NV12 chroma 8 rows of 16 bytes, stride 16.
  let source: UnsafeMutablePointer<UInt8>
  let sourceChroma: UnsafeMutablePointer<UInt8>
  /// Coefficients: luma 256, chroma 128.
  let coefficients: UnsafeMutablePointer<Int16>
  let chromaCoefficients: UnsafeMutablePointer<Int16>
  /// The source macroblock's luma as a reference would have it that is weighted (`PredictionWeight.inverse`).
  let matchedSource: UnsafeMutablePointer<UInt8>
  /// Neighbouring samples of a 4x4 or 8x8 block; index 0 is above left.
  let edge: UnsafeMutablePointer<UInt8>
  let filteredEdge: UnsafeMutablePointer<UInt8>
  let dc: UnsafeMutablePointer<Int16>
  let costs: UnsafeMutablePointer<Int32>
  /// Motion around and in the macroblock, in 8x8 blocks: 3 rows of 4: D B0 B1 C, A0 0 1 -, A1 2 3 -.
  /// From `gridL1` on the same of list 1, in B pictures.
  let gridMotion: UnsafeMutablePointer<MotionVector>
  let gridReference: UnsafeMutablePointer<Int8>
  /// In B pictures what direct blocks infer.
  let directMotion: BlockMotion
  /// Of macroblocks looked at in this reconstruction, where it `comparesDirect`.
  var directCosts = DirectCosts()
  /// Levels and reconstructions of two ways to code the residual, 256 values each.
  let rdLevels: UnsafeMutablePointer<Int16>
  let rdSamples: UnsafeMutablePointer<UInt8>
  let errors: UnsafeMutablePointer<Int32>
  /// Coefficients before quantisation, for the optimisation of levels.
  let originals: UnsafeMutablePointer<Int16>
  /// Which 4x4 blocks of each 8x8 block have levels.
  let keptMasks: UnsafeMutablePointer<Int32>

  /// Levels of the macroblock (`LevelLayout`), where the entropy coder finds them.
  var levels: UnsafeMutablePointer<Int16>

  // The macroblock at hand.
  var mbX = 0
  var mbY = 0
  var m = 0
  var stride: Int
  var reconstruction: UnsafeMutablePointer<UInt8>
  var reconstructionChroma: UnsafeMutablePointer<UInt8>
  var available: UInt8 = 0
  /// The same for intra prediction, which constrained_intra_pred_flag may restrict.
  var intraAvailable: UInt8 = 0
  var qp = 26
  var lambda: Int32 = 0
  var lambdaSSD = 0
  /// For the residual's bits: its errors are inherited by later pictures.
  var lambdaResidual = 0
  /// The reference that `matchedSource` is made for, or -1.
  var matchedReference = -1
  /// Vector limits in quarter samples, for blocks at the macroblock's corner.
  var minX = 0
  var maxX = 0
  var minY = 0
  var maxY = 0
  /// Coders lie side by side, and what is above changes with each macroblock.
  private let apart = CacheLines()

  /// - Parameters:
  ///   - stream: what is the same in all pictures.
  ///   - picture: the context of the first picture.
  ///   - levels: room for the levels of a macroblock.
  ///   - memory: owns what the coder works in.
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
    source = memory.allocate(UInt8.self, count: 256)
    sourceChroma = memory.allocate(UInt8.self, count: 128)
    coefficients = memory.allocate(Int16.self, count: 256)
    chromaCoefficients = memory.allocate(Int16.self, count: 128)
    edge = memory.allocate(UInt8.self, count: 64) + 24
    filteredEdge = memory.allocate(UInt8.self, count: 64) + 24
    dc = memory.allocate(Int16.self, count: 16)
    costs = memory.allocate(Int32.self, count: 16)
    gridMotion = memory.allocate(MotionVector.self, count: 24)
    gridReference = memory.allocate(Int8.self, count: 24)
    rdLevels = memory.allocate(Int16.self, count: 512)
    rdSamples = memory.allocate(UInt8.self, count: 512)
    errors = memory.allocate(Int32.self, count: 4)
    originals = memory.allocate(Int16.self, count: 256)
    keptMasks = memory.allocate(Int32.self, count: 4)
    matchedSource = memory.allocate(UInt8.self, count: 256)
    directMotion = BlockMotion(
      vectors: memory.allocate(MotionVector.self, count: 8),
      references: memory.allocate(Int8.self, count: 8))
  }

  // MARK: - Position

  /// Moves to macroblock (x, y), whose neighbours in the same slice are `available`.
  mutating func begin(x: Int, y: Int, available: UInt8, qp: Int) {
    mbX = x
    mbY = y
    m = y &* stream.geometry.widthInMbs &+ x
    self.available = available
    reconstruction = picture.planes.luma + (y &* 16 &* stride &+ x &* 16)
    reconstructionChroma = picture.planes.chroma + (y &* 8 &* stride &+ x &* 16)
    setQP(qp)
    if x & 3 == 0 { prefetch() }
    fetchSource()
    matchedReference = -1
    intraAvailable = available
    if stream.constrainedIntra { restrictIntra() }
    picture.syntax.info[m].available = available
    if !picture.isIntraPicture {
      let reach = PictureGeometry.reach
      // Components are of -2048 to 2047.75 (A.3.1).
      minX = max((-x &* 16 &- reach) &* 4, -8192)
      maxX = min(((stream.geometry.widthInMbs &- x &- 1) &* 16 &+ reach) &* 4, 8191)
      minY = max((-y &* 16 &- reach) &* 4, -stream.verticalLimit)
      maxY = min(((stream.geometry.heightInMbs &- y &- 1) &* 16 &+ reach) &* 4, stream.verticalLimit &- 1)
      if picture.keepsClean && x < picture.refreshFrom {
        // A clean macroblock may only refer to what was clean in the picture before: up to the columns
        // then refreshed, less what deblocking (3) and the taps (3) may have mixed in.
        maxX = min(maxX, ((picture.refreshFrom &- x &- 1) &* 16 &- 8) &* 4)
      }
      loadMotionNeighbours()
    }
  }

  mutating func setQP(_ value: Int) {
    qp = value
    let l = ovt_lambda(Int32(value))
    lambda = l.sad16 &* picture.tools.motion.lambdaPercent / 100
    // What is left out of a picture that others inherit from is left out of all of them.
    lambdaSSD = picture.isBetter && !picture.isIntraPicture ? Int(l.ssd256) &* 7 / 10 : Int(l.ssd256)
    lambdaResidual = lambdaSSD &* 7 / 10
  }

  /// With constrained_intra_pred_flag, inter neighbours count as not available (8.3).
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

  /// What the next four macroblocks read first: source and reference at the same place, a cache line of each row.
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
        k.pointee.interleave8x8Planes(
          sourceChroma, c + (y0 / 2 &* picture.source.chromaStride &+ x0 / 2), picture.source.chromaStride,
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

  /// Samples outside of the picture repeat its last row and column: the cropped part costs least so.
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

  /// Marks the macroblock as inter for its neighbours: one vector and reference for each 8x8 block.
  mutating func storeMotion() {
    let motion = picture.syntax.motion + m &* 4
    let reference = picture.syntax.referenceIndex + m &* 4
    for i in 0..<4 {
      let g = 5 &+ (i >> 1) &* 4 &+ (i & 1)
      reference[i] = gridReference[g]
      motion[i] = gridMotion[g]
    }
    let modes = UnsafeMutableRawPointer(picture.syntax.intraModes + m &* 16)
    // An inter neighbour predicts mode 2, or is "not available" under constrained_intra_pred (8.3.1.1).
    let fill: UInt64 = stream.constrainedIntra ? 0xFFFF_FFFF_FFFF_FFFF : 0x0202_0202_0202_0202
    modes.storeBytes(of: fill, as: UInt64.self)
    modes.storeBytes(of: fill, toByteOffset: 8, as: UInt64.self)
  }

  /// Marks the macroblock as intra for motion prediction.
  mutating func storeNoMotion() {
    UnsafeMutableRawPointer(picture.syntax.referenceIndex + m &* 4).storeBytes(
      of: 0xFFFF_FFFF, as: UInt32.self)
    clearMotion(picture.syntax.motion + m &* 4)
    clear(picture.syntax.motionDifference + m &* 16)
    if picture.isBidirectional { storeNoMotionL1() }
  }

  /// Of 16 blocks.
  mutating func clear(_ vectors: UnsafeMutablePointer<MotionVector>) {
    let p = UnsafeMutableRawPointer(vectors).assumingMemoryBound(to: UInt64.self)
    for i in 0..<8 { p[i] = 0 }
  }

  /// Of 4 blocks.
  mutating func clearMotion(_ vectors: UnsafeMutablePointer<MotionVector>) {
    let p = UnsafeMutableRawPointer(vectors).assumingMemoryBound(to: UInt64.self)
    p[0] = 0
    p[1] = 0
  }

  mutating func storeIntraModesDC() {
    let modes = UnsafeMutableRawPointer(picture.syntax.intraModes + m &* 16)
    modes.storeBytes(of: 0x0202_0202_0202_0202, as: UInt64.self)
    modes.storeBytes(of: 0x0202_0202_0202_0202, toByteOffset: 8, as: UInt64.self)
  }
}
