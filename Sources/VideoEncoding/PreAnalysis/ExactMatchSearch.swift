// SPDX-License-Identifier: Apache-2.0
import CVideoKernels

/// How many blocks of a source picture another one predicts without any error.
struct ExactMatches: BitwiseCopyable {
  /// The blocks that motion compensation in half or quarter samples predicts exactly.
  var exact = 0
  /// The blocks that have texture and do not repeat full samples of the other picture, so that
  /// they could match in that way.
  var compared = 0
  /// All blocks that were looked at.
  var sampled = 0

  /// The share of those compared that match exactly, 0 to 1.
  var share: Double { compared > 0 ? Double(exact) / Double(compared) : 0 }

  static func += (a: inout ExactMatches, b: ExactMatches) {
    a.exact &+= b.exact
    a.compared &+= b.compared
    a.sampled &+= b.sampled
  }
}

/// Searches for blocks of a source picture that the luma interpolation of H.264 (8.4.2.2.1)
/// predicts exactly from another source picture.
///
/// That hardly happens by chance. It shows that the source was decoded from H.264, that the block
/// had no residual there, and that its picture referred to the other one. Only the 8x8 samples in
/// the middle of a macroblock are compared: the deblocking filter does not change them where a
/// macroblock is skipped. Matches in full samples tell nothing, since static content matches
/// in both directions.
struct ExactMatchSearch {
  /// The block, the prediction, and the samples around the best vector at full and at half-sample
  /// positions, all with a stride of 16.
  private let block: UnsafeMutablePointer<UInt8>
  private let prediction: UnsafeMutablePointer<UInt8>
  private let full: UnsafeMutablePointer<UInt8>
  private let right: UnsafeMutablePointer<UInt8>
  private let below: UnsafeMutablePointer<UInt8>
  private let middle: UnsafeMutablePointer<UInt8>
  /// Horizontally filtered samples before rounding.
  private let filtered: UnsafeMutablePointer<Int32>
  private let kernels: UnsafePointer<OVTVideoKernels>

  /// The distance of rows of all arrays.
  private static let stride = 16
  /// The samples that a vector keeps away from the edge of the picture: the reach of the filter and
  /// of the vectors around the best one.
  private static let margin = 4
  /// The sum of absolute differences of 64 samples from their mean above which a block has texture.
  private static let texture = 256

  /// Allocates the scratch memory of one thread.
  init(kernels: UnsafePointer<OVTVideoKernels>, memory: inout EncoderMemory) {
    self.kernels = kernels
    func patch() -> UnsafeMutablePointer<UInt8> { memory.allocate(UInt8.self, count: 256) }
    (block, prediction) = (patch(), patch())
    (full, right, below, middle) = (patch(), patch(), patch(), patch())
    filtered = memory.allocate(Int32.self, count: 256)
  }

  /// Compares the middle of a macroblock with another picture.
  /// - Parameters:
  ///   - picture: the picture of the macroblock.
  ///   - x: the column of the macroblock.
  ///   - y: its row.
  ///   - other: the other picture, of the same size.
  ///   - guess: where the block may be in the other picture, in full samples from its own place.
  func compare(
    _ picture: SourcePicture, x: Int, y: Int, with other: SourcePicture, guess: SIMD2<Int>
  ) -> ExactMatches {
    var result = ExactMatches(exact: 0, compared: 0, sampled: 1)
    let (left, top) = (x &* 16 &+ 4, y &* 16 &+ 4)
    let margin = ExactMatchSearch.margin
    let maximum = (x: other.width &- 8 &- margin &- left, y: other.height &- 8 &- margin &- top)
    guard maximum.x >= 0, maximum.y >= 0, hasTexture(picture, left, top) else { return result }
    let bytesPerRow = other.lumaBytesPerRow
    let origin = other.luma + (top &* bytesPerRow &+ left)
    let sad = kernels.pointee.sad.3!
    func cost(_ vx: Int, _ vy: Int) -> Int {
      Int(sad(block, ExactMatchSearch.stride, origin + (vy &* bytesPerRow &+ vx), bytesPerRow))
    }
    var best = BestVector(cost: cost(0, 0), minimum: (margin &- left, margin &- top), maximum: maximum)
    best.tryVector(guess.x, guess.y, cost)
    best.diamondSearch(from: 4, lastRounds: 6, cost)
    if best.cost == 0 { return result }
    result.compared = 1
    interpolate(origin + (best.y &* bytesPerRow &+ best.x), bytesPerRow)
    result.exact = matchesBetweenSamples() ? 1 : 0
    return result
  }

  /// Copies a block, and says whether it has texture.
  private func hasTexture(_ picture: SourcePicture, _ left: Int, _ top: Int) -> Bool {
    var sum = 0
    for y in 0..<8 {
      let row = picture.luma + ((top &+ y) &* picture.lumaBytesPerRow &+ left)
      let to = block + y &* ExactMatchSearch.stride
      UnsafeMutableRawPointer(to).copyMemory(from: row, byteCount: 8)
      for x in 0..<8 { sum &+= Int(row[x]) }
    }
    let mean = (sum &+ 32) >> 6
    var deviation = 0
    for y in 0..<8 {
      for x in 0..<8 { deviation &+= abs(Int(block[y &* ExactMatchSearch.stride &+ x]) &- mean) }
    }
    return deviation >= ExactMatchSearch.texture
  }

  /// Fills in the full and half samples of 10x10 positions, from one above and to the left of a
  /// block on.
  /// - Parameters:
  ///   - at: the first sample of the block.
  ///   - bytesPerRow: the distance of its rows.
  private func interpolate(_ at: UnsafePointer<UInt8>, _ bytesPerRow: Int) {
    let stride = ExactMatchSearch.stride
    @inline(__always) func filter(_ a: Int32, _ b: Int32, _ c: Int32, _ d: Int32, _ e: Int32, _ f: Int32)
      -> Int32
    { a &+ f &- 5 &* (b &+ e) &+ 20 &* (c &+ d) }
    @inline(__always) func clipped(_ value: Int32) -> UInt8 {
      UInt8(truncatingIfNeeded: min(max(value, 0), 255))
    }
    // Rows from 3 above the block on, for the vertical filter over filtered samples.
    for j in 0..<15 {
      let row = at + ((j &- 3) &* bytesPerRow &- 1)
      for i in 0..<10 {
        let p = row + i
        filtered[j &* stride &+ i] = filter(
          Int32(p[-2]), Int32(p[-1]), Int32(p[0]), Int32(p[1]), Int32(p[2]), Int32(p[3]))
      }
    }
    for j in 0..<10 {
      let row = at + ((j &- 1) &* bytesPerRow &- 1)
      for i in 0..<10 {
        let (p, n) = (row + i, j &* stride &+ i)
        full[n] = p[0]
        right[n] = clipped((filtered[n &+ 2 &* stride] &+ 16) >> 5)
        @inline(__always) func sample(_ k: Int) -> Int32 { Int32(p[k &* bytesPerRow]) }
        below[n] = clipped(
          (filter(sample(-2), sample(-1), sample(0), sample(1), sample(2), sample(3)) &+ 16) >> 5)
        let f = filtered + n
        middle[n] = clipped(
          (filter(f[0], f[stride], f[2 &* stride], f[3 &* stride], f[4 &* stride], f[5 &* stride]) &+ 512)
            >> 10)
      }
    }
  }

  /// Whether a vector less than a sample away from the best one, but not that one itself, predicts
  /// the block without any error.
  private func matchesBetweenSamples() -> Bool {
    let stride = ExactMatchSearch.stride
    let sad = kernels.pointee.sad.3!
    let average = kernels.pointee.average.1!
    for dy in -3...3 {
      for dx in -3...3 where dx | dy != 0 {
        let (fx, fy) = (dx & 3, dy & 3)
        let at = ((dy >> 2) &+ 1) &* stride &+ (dx >> 2) &+ 1
        // A quarter sample is the mean of the two nearest full or half samples (table 8-12).
        let (a, b) = nearest(fx, fy)
        let first = a + at
        if let b {
          average(prediction, stride, first, b + at, stride, 8)
          if sad(block, stride, prediction, stride) == 0 { return true }
        } else if sad(block, stride, first, stride) == 0 {
          return true
        }
      }
    }
    return false
  }

  /// The arrays of the samples that give a sample at a position in quarters, each 0 to 3: one, or
  /// two whose mean it is.
  @inline(__always) private func nearest(
    _ fx: Int, _ fy: Int
  ) -> (UnsafePointer<UInt8>, UnsafePointer<UInt8>?) {
    let stride = ExactMatchSearch.stride
    let (full, right, below, middle) = (
      UnsafePointer(full), UnsafePointer(right), UnsafePointer(below), UnsafePointer(middle)
    )
    switch (fx, fy) {
    case (0, 0): return (full, nil)
    case (2, 0): return (right, nil)
    case (0, 2): return (below, nil)
    case (2, 2): return (middle, nil)
    case (_, 0): return (right, fx == 3 ? full + 1 : full)
    case (0, _): return (below, fy == 3 ? full + stride : full)
    case (2, _): return (middle, fy == 3 ? right + stride : right)
    case (_, 2): return (middle, fx == 3 ? below + 1 : below)
    default: return (fy == 3 ? right + stride : right, fx == 3 ? below + 1 : below)
    }
  }
}
