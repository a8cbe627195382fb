// SPDX-License-Identifier: Apache-2.0
import CVideoKernels

/// The part of the pre-analysis (`PreAnalysis`) that works on one row of macroblocks.
struct PreAnalysisRow {
  /// The size of the pictures.
  private let geometry: PictureGeometry
  /// The functions that compare samples.
  private let kernels: UnsafePointer<OVTVideoKernels>
  /// The luma of the present picture and of the last one at half size.
  private(set) var current: LowResolutionPicture
  private(set) var last: LowResolutionPicture
  /// For each macroblock, its vector from the last picture in samples of the half-size picture.
  let vectors: UnsafeMutablePointer<SIMD2<Int16>>
  /// For each macroblock, what it says of a moving camera (`CameraMotion.Evidence`).
  let evidence: UnsafeMutablePointer<UInt8>

  /// The sums over rows, which do not depend on the order of the rows.
  struct Sums: BitwiseCopyable {
    /// The histogram of the residual after the better of both predictions.
    var residual = ResidualHistogram()
    /// The SATD after motion compensation and after intra prediction of the macroblocks for which
    /// both are known.
    var compared = (moved: 0, intra: 0)
    /// The number of macroblocks for which intra prediction is the better one.
    var intraCount = 0
    /// The SATD after the better prediction and after intra prediction, of every fourth macroblock.
    var sampled = (residual: 0, intra: 0)
    /// The sum of the absolute differences of samples at the same position.
    var difference = 0
    /// The number of macroblocks that were analysed.
    var analysedCount = 0

    /// Adds the sums of other rows.
    static func += (a: inout Sums, b: Sums) {
      a.residual.counts += b.residual.counts
      a.compared.moved += b.compared.moved
      a.compared.intra += b.compared.intra
      a.intraCount += b.intraCount
      a.sampled.residual += b.sampled.residual
      a.sampled.intra += b.sampled.intra
      a.difference += b.difference
      a.analysedCount += b.analysedCount
    }
  }

  /// The results and the scratch memory of a thread.
  struct Part: BitwiseCopyable {
    /// The sums over the rows that the thread has analysed.
    var found = Sums()
    /// The samples of the present macroblock and their prediction: eight rows with a stride of 16.
    let block: UnsafeMutablePointer<UInt8>
    let prediction: UnsafeMutablePointer<UInt8>

    /// Allocates the scratch memory of a thread.
    init(memory: inout EncoderMemory) {
      block = memory.allocate(UInt8.self, count: 128)
      prediction = memory.allocate(UInt8.self, count: 128)
    }
  }

  /// Allocates the memory of two half-size pictures, the vectors and the evidence.
  init(
    _ geometry: PictureGeometry, kernels: UnsafePointer<OVTVideoKernels>, memory: inout EncoderMemory
  ) {
    self.geometry = geometry
    self.kernels = kernels
    current = LowResolutionPicture(geometry, memory: &memory)
    last = LowResolutionPicture(geometry, memory: &memory)
    vectors = memory.allocate(SIMD2<Int16>.self, count: geometry.macroblockCount)
    evidence = memory.allocate(UInt8.self, count: geometry.macroblockCount)
  }

  /// Makes the present picture the last one.
  mutating func advance() { swap(&current, &last) }

  /// The number of macroblocks from which on only every other one is analysed, as on a chessboard.
  private static let chessboardThreshold = 300
  /// Whether only every other macroblock is analysed.
  private var usesChessboard: Bool { geometry.macroblockCount >= PreAnalysisRow.chessboardThreshold }

  /// The SATD after motion compensation above which intra prediction is tried too.
  private static let intraThreshold = 160

  /// Compares a row with the last picture.
  /// - Parameters:
  ///   - y: the index of the row.
  ///   - part: the results and the scratch memory of the thread.
  ///   - progress: where the row waits for the row above it, which must be at half size up to the
  ///     same macroblock; nil where there is one thread.
  func compare(row y: Int, _ part: inout Part, _ progress: RowProgress?) {
    var above = y == 0 ? geometry.widthInMbs : 0
    for x in 0..<geometry.widthInMbs {
      if let progress, above <= x {
        RowProgress.wait {
          above = progress.coded(row: y &- 1)
          return above > x
        }
      }
      compare(x, y, &part)
      if let progress { progress.setCoded(row: y, x &+ 1) }
    }
  }

  /// Compares a macroblock with the last picture, and adds it to the sums of the thread.
  @inline(__always) private func compare(_ x: Int, _ y: Int, _ part: inout Part) {
    if usesChessboard && (x &+ y) & 1 != 0 {
      // The vector and the evidence are those of the left neighbour, or of the upper one at the
      // left edge.
      let m = y &* geometry.widthInMbs &+ x
      let neighbour = m &- (x > 0 ? 1 : geometry.widthInMbs)
      vectors[m] = vectors[neighbour]
      evidence[m] = evidence[neighbour]
      return
    }
    part.found.analysedCount &+= 1
    let (block, prediction) = (part.block, part.prediction)
    fetch(x, y, block)
    let moved = interCost(x, y, block, &part.found.difference)
    var least = moved
    let isSample = (x &+ y) & 3 == 0
    if isSample || moved > PreAnalysisRow.intraThreshold {
      let texture = intraCost(x, y, block, prediction)
      part.found.compared.moved &+= moved
      part.found.compared.intra &+= texture
      if moved > texture {
        part.found.intraCount &+= 1
        least = texture
      }
      if isSample {
        part.found.sampled.intra &+= texture
        part.found.sampled.residual &+= least
      }
    }
    part.found.residual.counts[PreAnalysisRow.bin(least)] += 1
  }

  /// The residual after intra prediction of a row of macroblocks.
  func intra(row y: Int, _ part: inout Part) -> ResidualHistogram {
    let (block, prediction) = (part.block, part.prediction)
    var histogram = ResidualHistogram()
    for x in 0..<geometry.widthInMbs {
      fetch(x, y, block)
      histogram.counts[PreAnalysisRow.bin(intraCost(x, y, block, prediction))] += 1
    }
    return histogram
  }

  /// Copies the samples of a macroblock to `block`.
  @inline(__always) private func fetch(
    _ x: Int, _ y: Int, _ block: UnsafeMutablePointer<UInt8>
  ) {
    let at = current.luma + (y &* 8 &* current.stride &+ x &* 8)
    for row in 0..<8 {
      UnsafeMutableRawPointer(block + row &* 16).copyMemory(from: at + row &* current.stride, byteCount: 8)
    }
  }

  /// The bin of an SATD.
  @inline(__always) private static func bin(_ cost: Int) -> Int {
    // 2 log2(cost + 1), rounded down; linear between powers of two.
    let x = cost &+ 1
    let integerPart = Int.bitWidth &- 1 &- x.leadingZeroBitCount
    let half = integerPart >= 1 ? (x >> (integerPart &- 1)) & 1 : 0
    return min(integerPart &* 2 &+ half, ResidualHistogram.bins &- 1)
  }

  /// Fills in a row of macroblocks of the half-size picture.
  func halve(_ source: SourcePicture, row: Int) { current.fill(source, row: row) }

  /// The SATD after the best of vertical, horizontal and DC prediction from the neighbouring
  /// samples of the half-size source picture.
  @inline(__always) private func intraCost(
    _ x: Int, _ y: Int, _ block: UnsafeMutablePointer<UInt8>, _ prediction: UnsafeMutablePointer<UInt8>
  ) -> Int {
    let satd = kernels.pointee.satd.3!
    let stride = current.stride
    let at = current.luma + (y &* 8 &* stride &+ x &* 8)
    var sum = 0
    if y > 0 {
      let above = at - stride
      for row in 0..<8 {
        UnsafeMutableRawPointer(prediction + row &* 16).copyMemory(from: above, byteCount: 8)
      }
      for i in 0..<8 { sum &+= Int(above[i]) }
    } else {
      sum = 8 &* 128
    }
    var best = y > 0 ? Int(satd(block, 16, prediction, 16)) : Int.max
    if x > 0 {
      for row in 0..<8 {
        let value = at[row &* stride &- 1]
        (prediction + row &* 16).update(repeating: value, count: 8)
        sum &+= Int(value)
      }
      best = min(best, Int(satd(block, 16, prediction, 16)))
    } else {
      sum &+= y > 0 ? sum : 8 &* 128
    }
    let mean = UInt8(truncatingIfNeeded: sum >> 4)
    for row in 0..<8 { (prediction + row &* 16).update(repeating: mean, count: 8) }
    return min(best, Int(satd(block, 16, prediction, 16)))
  }

  /// The SATD after motion compensation with the best vector that was found. The vector and the
  /// evidence are stored.
  /// - Parameters:
  ///   - x: the column of the macroblock.
  ///   - y: its row.
  ///   - block: its samples.
  ///   - difference: the sum to which the SAD of the zero vector is added.
  @inline(__always) private func interCost(
    _ x: Int, _ y: Int, _ block: UnsafeMutablePointer<UInt8>, _ difference: inout Int
  ) -> Int {
    let left = x &* 8
    let top = y &* 8
    let m = y &* geometry.widthInMbs &+ x
    let stride = last.stride
    let base = last.luma + (top &* stride &+ left)
    let sad = kernels.pointee.sad.3!
    let still = Int(sad(block, 16, base, stride))
    difference &+= still
    var best = BestVector(
      cost: still, minimum: (0 &- left, 0 &- top), maximum: (last.width &- 8 &- left, last.height &- 8 &- top)
    )
    if still > 64 {
      func cost(_ x: Int, _ y: Int) -> Int { Int(sad(block, 16, base + (y &* stride &+ x), stride)) }
      func attempt(_ v: SIMD2<Int16>) { best.tryVector(Int(v.x), Int(v.y), cost) }
      attempt(vectors[m])
      if x > 0 { attempt(vectors[m &- 1]) }
      if y > 0 { attempt(vectors[m &- geometry.widthInMbs]) }
      best.diamondSearch(from: best.cost > 512 ? 8 : 2, cost)
    }
    vectors[m] = SIMD2(Int16(truncatingIfNeeded: best.x), Int16(truncatingIfNeeded: best.y))
    evidence[m] =
      still > 64 && best.cost &* 2 < still ? CameraMotion.Evidence.moved : CameraMotion.Evidence.none
    return Int(kernels.pointee.satd.3!(block, 16, base + (best.y &* stride &+ best.x), stride))
  }
}
