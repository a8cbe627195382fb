// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// How much there is to code in a picture, seen before it is coded: a histogram of what each macroblock leaves
/// after prediction, by twice the base-2 logarithm of its SATD on the half-size picture.
struct ResidualHistogram: Equatable {
  static let bins = 32
  /// Macroblocks by bin; a mean over pictures need not be whole.
  var counts = SIMD32<Float>()

  /// Moves a part of the way to another.
  mutating func approach(_ other: ResidualHistogram, by part: Float) {
    counts += (other.counts - counts) * part
  }
}

/// What the rate control knows of a picture before it is coded.
struct PictureFacts {
  /// What prediction leaves: intra prediction alone for a key frame, else the better of both.
  var residual = ResidualHistogram()
  /// The mean absolute difference in place is below a camera's noise.
  var isStill = false
  /// How much of what intra prediction leaves the last picture does not predict either: 0 (still) to 1 (all new).
  var novelty = 1.0
}

/// A look at the whole picture before it is coded, at half its size: what the best of a few vectors into the last
/// source picture leaves, and what intra prediction from the source would leave.
struct PictureLook {
  private let geometry: PictureGeometry
  private let kernels: UnsafePointer<OVTKernels>
  private let width: Int
  private let height: Int
  private var current: UnsafeMutablePointer<UInt8>
  private var last: UnsafeMutablePointer<UInt8>
  /// The vector of each macroblock, in half-size samples; what the last picture left is a candidate.
  private let vectors: UnsafeMutablePointer<SIMD2<Int16>>
  /// What each says of a camera that moves (`CameraMotion.Evidence`).
  private let evidence: UnsafeMutablePointer<UInt8>
  private let histogram: UnsafeMutablePointer<Int32>
  /// From the last picture to this one.
  private(set) var camera = CameraMotion()
  /// The block being looked at, and its prediction: rows of 16.
  private let block: UnsafeMutablePointer<UInt8>
  private let prediction: UnsafeMutablePointer<UInt8>
  private var hasLast = false

  /// What is left after the better of both predictions.
  private var residual = ResidualHistogram()
  /// What moved and what intra prediction leaves of the macroblocks for which both are known.
  private var compared = (moved: 0, intra: 0)
  /// Macroblocks that intra prediction suits better.
  private var intraCount = 0
  /// What is left, and what intra prediction leaves of every fourth macroblock.
  private var sums = (residual: 0, sampledIntra: 0, sampledResidual: 0)
  /// The mean absolute difference in place from the last picture.
  private var change = 0.0
  private(set) var isSceneChange = false

  /// The mean absolute difference of the half-size pictures below which the picture stands still: a camera's noise
  /// is more.
  private static let stillness = 0.1
  private var isStill: Bool { hasLast && change < PictureLook.stillness }
  /// How much of what intra prediction leaves the last picture does not predict either: 0 (still) to 1 (all new).
  private var novelty = 1.0

  init(_ geometry: PictureGeometry, kernels: UnsafePointer<OVTKernels>, memory: inout EncoderMemory) {
    self.geometry = geometry
    self.kernels = kernels
    width = geometry.widthInMbs * 8
    height = geometry.heightInMbs * 8
    current = memory.allocate(UInt8.self, count: width * height)
    last = memory.allocate(UInt8.self, count: width * height)
    vectors = memory.allocate(SIMD2<Int16>.self, count: geometry.macroblockCount)
    evidence = memory.allocate(UInt8.self, count: geometry.macroblockCount)
    histogram = memory.allocate(Int32.self, count: CameraMotion.histogramCount)
    block = memory.allocate(UInt8.self, count: 128)
    prediction = memory.allocate(UInt8.self, count: 128)
  }

  /// Of the picture that was looked at.
  func facts(isKeyFrame: Bool) -> PictureFacts {
    PictureFacts(residual: isKeyFrame ? intra() : residual, isStill: isStill, novelty: novelty)
  }

  /// Reads the picture's luma and compares it with the last picture that was looked at.
  mutating func look(at source: SourcePicture) {
    swap(&current, &last)
    halve(source)
    residual = ResidualHistogram()
    compared = (0, 0)
    sums = (0, 0, 0)
    intraCount = 0
    isSceneChange = false
    camera = CameraMotion()
    novelty = 1
    change = 0
    guard hasLast else {
      residual = intra()
      hasLast = true
      return
    }
    var difference = 0
    var lookedAt = 0
    for y in 0..<geometry.heightInMbs {
      for x in 0..<geometry.widthInMbs {
        if skips && (x &+ y) & 1 != 0 {
          // As its neighbour in the row, or above at the left edge.
          let m = y &* geometry.widthInMbs &+ x
          let neighbour = m &- (x > 0 ? 1 : geometry.widthInMbs)
          vectors[m] = vectors[neighbour]
          evidence[m] = evidence[neighbour]
          continue
        }
        lookedAt &+= 1
        fetch(x, y)
        let moved = interCost(x, y, &difference)
        var least = moved
        let isSample = (x &+ y) & 3 == 0
        if isSample || moved > PictureLook.intraThreshold {
          let texture = intraCost(x, y)
          compared.moved &+= moved
          compared.intra &+= texture
          if moved > texture {
            intraCount &+= 1
            least = texture
          }
          if isSample {
            sums.sampledIntra &+= texture
            sums.sampledResidual &+= least
          }
        }
        residual.counts[PictureLook.bin(least)] += 1
      }
    }
    residual.counts *= Float(geometry.macroblockCount) / Float(lookedAt)
    change = Double(difference) / Double(lookedAt &* 64)
    novelty = min(Double(sums.sampledResidual + 1) / Double(sums.sampledIntra + 1), 1)
    isSceneChange =
      intraCount * 2 > lookedAt
      && Double(compared.moved) > 0.9 * Double(compared.intra) && change > 6 && !isFlash
    if isSceneChange { return }
    camera = CameraMotion(
      vectors: vectors, evidence: evidence, width: geometry.widthInMbs, height: geometry.heightInMbs,
      histogram: histogram)
  }

  /// What intra prediction leaves of the picture that was looked at.
  private func intra() -> ResidualHistogram {
    var histogram = ResidualHistogram()
    for y in 0..<geometry.heightInMbs {
      for x in 0..<geometry.widthInMbs {
        fetch(x, y)
        histogram.counts[PictureLook.bin(intraCost(x, y))] += 1
      }
    }
    return histogram
  }

  /// Macroblocks from which on every other one, as on a chessboard, tells enough of the picture.
  private static let many = 300
  private var skips: Bool { geometry.macroblockCount >= PictureLook.many }

  /// SATD above which intra prediction is tried too.
  private static let intraThreshold = 160

  /// Whether a step of brightness alone explains most of the change.
  private var isFlash: Bool {
    let area = width * height
    var total = 0
    for i in 0..<area { total &+= Int(current[i]) &- Int(last[i]) }
    let shift = Int((Double(total) / Double(area)).rounded())
    var without = 0
    var with = 0
    for i in 0..<area {
      let change = Int(current[i]) &- Int(last[i])
      without &+= abs(change &- shift)
      with &+= abs(change)
    }
    return without * 3 < with
  }

  @inline(__always) private func fetch(_ x: Int, _ y: Int) {
    let at = current + (y &* 8 &* width &+ x &* 8)
    for row in 0..<8 {
      UnsafeMutableRawPointer(block + row &* 16).copyMemory(from: at + row &* width, byteCount: 8)
    }
  }

  @inline(__always) private static func bin(_ cost: Int) -> Int {
    // 16 log2(cost + 1) / 8.
    let x = cost &+ 1
    let whole = Int.bitWidth &- 1 &- x.leadingZeroBitCount
    let half = whole >= 1 ? (x >> (whole &- 1)) & 1 : 0
    return min(whole &* 2 &+ half, ResidualHistogram.bins &- 1)
  }

  private func halve(_ source: SourcePicture) {
    let columns = source.width / 2
    let rows = source.height / 2
    for y in 0..<height {
      let row = current + y &* width
      if y >= rows {
        UnsafeMutableRawPointer(row).copyMemory(from: row - width, byteCount: width)
        continue
      }
      let pixels = source.luma + 2 &* y &* source.lumaBytesPerRow
      ovt_halve_row(row, pixels, pixels + source.lumaBytesPerRow, Int32(truncatingIfNeeded: columns))
      for x in columns..<max(width, columns) { row[x] = row[columns &- 1] }
    }
  }

  /// SATD after the best of horizontal, vertical and mean prediction from the source's own neighbours.
  @inline(__always) private func intraCost(_ x: Int, _ y: Int) -> Int {
    let satd = kernels.pointee.satd.3!
    let at = current + (y &* 8 &* width &+ x &* 8)
    var sum = 0
    if y > 0 {
      let above = at - width
      for row in 0..<8 {
        UnsafeMutableRawPointer(prediction + row &* 16).copyMemory(from: above, byteCount: 8)
      }
      for i in 0..<8 { sum &+= Int(above[i]) }
    } else {
      sum = 8 &* 128
    }
    var best = y > 0 ? Int(satd(block, prediction, 16)) : Int.max
    if x > 0 {
      for row in 0..<8 {
        let value = at[row &* width &- 1]
        (prediction + row &* 16).update(repeating: value, count: 8)
        sum &+= Int(value)
      }
      best = min(best, Int(satd(block, prediction, 16)))
    } else {
      sum &+= y > 0 ? sum : 8 &* 128
    }
    let mean = UInt8(truncatingIfNeeded: sum >> 4)
    for row in 0..<8 { (prediction + row &* 16).update(repeating: mean, count: 8) }
    return min(best, Int(satd(block, prediction, 16)))
  }

  /// SATD at the best vector found.
  @inline(__always) private func interCost(_ x: Int, _ y: Int, _ difference: inout Int) -> Int {
    let k = kernels
    let left = x &* 8
    let top = y &* 8
    let m = y &* geometry.widthInMbs &+ x
    let leastX = 0 &- left
    let leastY = 0 &- top
    let mostX = width &- 8 &- left
    let mostY = height &- 8 &- top
    let base = last + (top &* width &+ left)
    let still = Int(k.pointee.sad.3!(block, base, width))
    difference &+= still
    var best = still
    var bestX = 0
    var bestY = 0
    func attempt(_ vx: Int, _ vy: Int) {
      let cx = min(max(vx, leastX), mostX)
      let cy = min(max(vy, leastY), mostY)
      if cx == bestX && cy == bestY { return }
      let cost = Int(k.pointee.sad.3!(block, base + (cy &* width &+ cx), width))
      if cost < best {
        best = cost
        bestX = cx
        bestY = cy
      }
    }
    if best > 64 {
      let before = vectors[m]
      attempt(Int(before.x), Int(before.y))
      if x > 0 {
        let v = vectors[m &- 1]
        attempt(Int(v.x), Int(v.y))
      }
      if y > 0 {
        let v = vectors[m &- geometry.widthInMbs]
        attempt(Int(v.x), Int(v.y))
      }
      var step = best > 512 ? 8 : 2
      while step > 0 {
        var rounds = 3
        while rounds > 0 {
          let (cx, cy) = (bestX, bestY)
          attempt(cx &- step, cy)
          attempt(cx &+ step, cy)
          attempt(cx, cy &- step)
          attempt(cx, cy &+ step)
          if bestX == cx && bestY == cy { break }
          rounds &-= 1
        }
        step >>= 1
      }
    }
    vectors[m] = SIMD2(Int16(truncatingIfNeeded: bestX), Int16(truncatingIfNeeded: bestY))
    evidence[m] = still > 64 && best &* 2 < still ? CameraMotion.Evidence.moved : CameraMotion.Evidence.none
    return Int(k.pointee.satd.3!(block, base + (bestY &* width &+ bestX), width))
  }
}
