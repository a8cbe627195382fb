// SPDX-License-Identifier: Apache-2.0
import CHEVCKernels
import VideoEncoding

/// The choice of sample adaptive offset: for each coding tree unit the parameters with the least
/// squared error and lambda times bits, from sums over the deblocked samples.
struct OffsetDecision<Sample: HEVCSample>: BitwiseCopyable {
  private let kernels: UnsafePointer<Sample.Kernels>
  private let layout: PlaneLayout
  /// The sums of differences and the numbers of samples of the current coding tree unit for each
  /// component: by edge class and category, and by band.
  private let sums: UnsafeMutablePointer<Int32>
  private let counts: UnsafeMutablePointer<Int32>
  /// The number of entries of one component: 16 for edge offset, then 32 for band offset.
  private static var size: Int { 48 }

  init(kernels: UnsafePointer<Sample.Kernels>, layout: PlaneLayout, memory: inout EncoderMemory) {
    self.kernels = kernels
    self.layout = layout
    sums = memory.allocate(Int32.self, count: 3 * Self.size)
    counts = memory.allocate(Int32.self, count: 3 * Self.size)
  }

  /// Chooses the parameters of a unit.
  /// - Parameters:
  ///   - x: its position in luma samples.
  ///   - y: its position in luma samples.
  ///   - source: the samples that were coded.
  ///   - planes: the deblocked samples, but for the last rows of the unit, which the row below may
  ///     still change.
  ///   - left: the parameters of the unit to the left, if there is one.
  ///   - above: those of the unit above.
  ///   - lambda: the squared error that a bit is worth, in 256ths.
  func choose(
    x: Int, y: Int, source: Planes<Sample>, planes: Planes<Sample>, left: OffsetParameters?,
    above: OffsetParameters?, lambda: Int
  ) -> OffsetParameters {
    sums.update(repeating: 0, count: 3 * Self.size)
    counts.update(repeating: 0, count: 3 * Self.size)
    measure(0, x, y, source.luma, planes.luma)
    measure(1, x &>> 1, y &>> 1, source.cb, planes.cb)
    measure(2, x &>> 1, y &>> 1, source.cr, planes.cr)
    var best = OffsetParameters()
    var cost = 0
    (best.luma, cost) = chooseLuma(lambda)
    let (cb, cr, chromaCost) = chooseChroma(lambda)
    (best.cb, best.cr) = (cb, cr)
    // A flag that is 0 for each neighbour.
    cost &+= chromaCost &+ lambda &* ((left == nil ? 0 : 1) &+ (above == nil ? 0 : 1)) / 256
    if let left {
      let merged = error(left) &+ lambda / 256
      if merged < cost {
        best = left
        best.origin = .left
        cost = merged
      }
    }
    if let above {
      let merged = error(above) &+ 2 &* lambda / 256
      if merged < cost {
        best = above
        best.origin = .above
      }
    }
    return best
  }

  // MARK: Sums

  /// The samples of a component that edges of a class can change: not those at the picture's
  /// borders.
  @inline(__always) static func edgeArea(
    _ kind: Int, x: Int, y: Int, width: Int, height: Int, planeWidth: Int, planeHeight: Int
  ) -> (x: Int, y: Int, width: Int, height: Int) {
    var (left, top, right, bottom) = (x, y, x &+ width, y &+ height)
    if kind != Int(OVT_HEVC_SAO_VERTICAL) {
      left = max(left, 1)
      right = min(right, planeWidth &- 1)
    }
    if kind != Int(OVT_HEVC_SAO_HORIZONTAL) {
      top = max(top, 1)
      bottom = min(bottom, planeHeight &- 1)
    }
    return (left, top, right &- left, bottom &- top)
  }

  private func measure(
    _ component: Int, _ x: Int, _ y: Int, _ source: UnsafePointer<Sample>,
    _ plane: UnsafePointer<Sample>
  ) {
    let isLuma = component == 0
    let stride = isLuma ? layout.lumaStride : layout.chromaStride
    let planeWidth = isLuma ? layout.width : layout.width / 2
    let planeHeight = isLuma ? layout.height : layout.height / 2
    let side = isLuma ? 32 : 16
    let width = min(side, planeWidth &- x)
    // Deblocking of the row below changes up to three rows of luma and one of chroma.
    let height = y &+ side < planeHeight ? side &- (isLuma ? 4 : 2) : planeHeight &- y
    let at = component &* Self.size
    for kind in 0..<4 {
      let area = Self.edgeArea(
        kind, x: x, y: y, width: width, height: height, planeWidth: planeWidth,
        planeHeight: planeHeight)
      guard area.width > 0, area.height > 0 else { continue }
      let first = area.y &* stride &+ area.x
      Sample.Kernels.saoEdgeStatistics(
        kernels, sums + at + kind &* 4, counts + at + kind &* 4, source + first, stride, plane + first,
        stride, Int32(area.width), Int32(area.height), Int32(kind))
    }
    let first = y &* stride &+ x
    Sample.Kernels.saoBandStatistics(
      kernels, sums + at + 16, counts + at + 16, source + first, stride, plane + first, stride, Int32(width),
      Int32(height))
  }

  // MARK: Costs

  /// The change of the squared error by an offset for the samples of a category or band.
  @inline(__always) private func change(_ at: Int, _ offset: Int) -> Int {
    offset &* (offset &* Int(counts[at]) &- 2 &* Int(sums[at]))
  }

  /// The change of the squared error by parameters.
  private func error(_ offsets: OffsetParameters) -> Int {
    var sum = 0
    for component in 0..<3 {
      let values = offsets[component]
      let at = component &* Self.size
      switch values.kind {
      case .none: break
      case .band:
        for i in 0..<4 { sum &+= change(at &+ 16 &+ Int(values.choice) &+ i, Int(values.values[i])) }
      case .edge:
        for i in 0..<4 { sum &+= change(at &+ Int(values.choice) &* 4 &+ i, Int(values.values[i])) }
      }
    }
    return sum
  }

  /// The offset of a category or band with the least cost.
  @inline(__always) private func best(
    _ at: Int, _ range: ClosedRange<Int>, signBits: Int, _ lambda: Int
  ) -> (offset: Int, cost: Int) {
    var best = (offset: 0, cost: lambda / 256)
    let (sum, count) = (Int(sums[at]), Int(counts[at]))
    // The mean difference rounds to 0.
    guard 2 &* abs(sum) >= count, count > 0 else { return best }
    let rounded = (2 &* abs(sum) &+ count) / (2 &* count)
    var offset = min(max(sum < 0 ? -rounded : rounded, range.lowerBound), range.upperBound)
    while offset != 0 {
      let magnitude = abs(offset)
      let bits = min(magnitude &+ 1, Sample.largestOffset) &+ signBits
      let cost = change(at, offset) &+ lambda &* bits / 256
      if cost < best.cost { best = (offset, cost) }
      offset &-= offset.signum()
    }
    return best
  }

  /// The best offsets of an edge class.
  private func edges(_ component: Int, _ kind: Int, _ lambda: Int) -> (ComponentOffsets, cost: Int) {
    var result = ComponentOffsets()
    result.kind = .edge
    result.choice = UInt8(truncatingIfNeeded: kind)
    var cost = 0
    for i in 0..<4 {
      // Minima and concave corners are raised, convex corners and maxima lowered.
      let found = best(
        component &* Self.size &+ kind &* 4 &+ i,
        i < 2 ? 0...Sample.largestOffset : -Sample.largestOffset...0, signBits: 0, lambda)
      result.values[i] = Int8(truncatingIfNeeded: found.offset)
      cost &+= found.cost
    }
    return (result, cost)
  }

  /// The best four bands.
  private func bands(_ component: Int, _ lambda: Int) -> (ComponentOffsets, cost: Int) {
    var result = ComponentOffsets()
    result.kind = .band
    var least = Int.max
    var offsets = SIMD32<Int8>.zero
    var costs = SIMD32<Int>.zero
    for band in 0..<32 {
      let found = best(
        component &* Self.size &+ 16 &+ band, -Sample.largestOffset...Sample.largestOffset, signBits: 1,
        lambda)
      offsets[band] = Int8(truncatingIfNeeded: found.offset)
      costs[band] = found.cost
    }
    for first in 0...28 {
      let cost = costs[first] &+ costs[first &+ 1] &+ costs[first &+ 2] &+ costs[first &+ 3]
      if cost < least {
        least = cost
        result.choice = UInt8(truncatingIfNeeded: first)
        for i in 0..<4 { result.values[i] = offsets[first &+ i] }
      }
    }
    return (result, least &+ 5 &* lambda / 256)
  }

  private func chooseLuma(_ lambda: Int) -> (ComponentOffsets, cost: Int) {
    var best = (ComponentOffsets(), cost: lambda / 256)
    for kind in 0..<4 {
      let (offsets, cost) = edges(0, kind, lambda)
      if cost &+ 4 &* lambda / 256 < best.cost { best = (offsets, cost &+ 4 &* lambda / 256) }
    }
    let (offsets, cost) = bands(0, lambda)
    if cost &+ 2 &* lambda / 256 < best.cost { best = (offsets, cost &+ 2 &* lambda / 256) }
    return best
  }

  private func chooseChroma(_ lambda: Int) -> (ComponentOffsets, ComponentOffsets, cost: Int) {
    var best = (ComponentOffsets(), ComponentOffsets(), cost: lambda / 256)
    for kind in 0..<4 {
      let (cb, cr) = (edges(1, kind, lambda), edges(2, kind, lambda))
      let cost = cb.cost &+ cr.cost &+ 4 &* lambda / 256
      if cost < best.cost { best = (cb.0, cr.0, cost) }
    }
    let (cb, cr) = (bands(1, lambda), bands(2, lambda))
    let cost = cb.cost &+ cr.cost &+ 2 &* lambda / 256
    if cost < best.cost { best = (cb.0, cr.0, cost) }
    return best
  }
}
