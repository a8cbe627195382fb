// SPDX-License-Identifier: Apache-2.0
import CHEVCKernels
import VideoEncoding

/// The deblocking filter (8.7.2) of one picture in one slice.
struct Deblocking<Sample: HEVCSample>: BitwiseCopyable {
  private let kernels: UnsafePointer<Sample.Kernels>
  private let layout: PlaneLayout
  private let map: PictureMap
  /// β′ and tC′ by Q (table 8-12).
  private let beta: UnsafeMutablePointer<UInt8>
  private let tc: UnsafeMutablePointer<UInt8>

  init(
    kernels: UnsafePointer<Sample.Kernels>, layout: PlaneLayout, map: PictureMap,
    memory: inout EncoderMemory
  ) {
    self.kernels = kernels
    self.layout = layout
    self.map = map
    beta = memory.allocate(UInt8.self, count: 52)
    tc = memory.allocate(UInt8.self, count: 54)
    for q in 16..<52 { beta[q] = UInt8(q <= 28 ? q - 10 : 2 * q - 38) }
    let steps: [UInt8] = [
      1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 5, 5, 6, 6, 7, 8, 9, 10, 11, 13, 14,
      16, 18, 20, 22, 24,
    ]
    for (i, step) in steps.enumerated() { tc[18 + i] = step }
  }

  /// Filters the edges of the 8x8 blocks in a row of coding tree units: vertical edges, then
  /// horizontal ones, which change three rows of samples of the row above. All samples that intra
  /// prediction reads must have been read.
  /// - Parameters:
  ///   - row: the row of coding tree units.
  ///   - planes: the samples.
  ///   - motion: the motion of each 8x8 block.
  ///   - references: the reference pictures of list 0 and, from `PictureContext.listSize` on, of
  ///     list 1; nil in I and P slices.
  func filter(
    row: Int, _ planes: Planes<Sample>, _ motion: UnsafePointer<MotionPair>,
    _ references: UnsafePointer<ReferenceIdentity>?
  ) {
    let rows = row &* 4..<min(row &* 4 &+ 4, map.height)
    for v in rows {
      for u in 1..<max(map.width, 1) {
        let at = v &* map.width &+ u
        let strength = strength(at, at &- 1, u, motion, references)
        guard strength > 0 else { continue }
        let qp = (Int(map.qp[at]) &+ Int(map.qp[at &- 1]) &+ 1) >> 1
        let edge = planes.luma + v &* 8 &* layout.lumaStride + u &* 8
        filterLuma(qp, strength) {
          Sample.Kernels.deblockLuma(kernels, 1, edge, layout.lumaStride, $0, $1)
        }
        if strength == 2 && u & 1 == 0 {
          let chroma = v &* 4 &* layout.chromaStride &+ u &* 4
          filterChroma(qp) {
            Sample.Kernels.deblockChroma(kernels, 1, planes.cb + chroma, layout.chromaStride, $0)
            Sample.Kernels.deblockChroma(kernels, 1, planes.cr + chroma, layout.chromaStride, $0)
          }
        }
      }
    }
    for v in rows where v > 0 {
      for u in 0..<map.width {
        let at = v &* map.width &+ u
        let strength = strength(at, at &- map.width, v, motion, references)
        guard strength > 0 else { continue }
        let qp = (Int(map.qp[at]) &+ Int(map.qp[at &- map.width]) &+ 1) >> 1
        let edge = planes.luma + v &* 8 &* layout.lumaStride + u &* 8
        filterLuma(qp, strength) {
          Sample.Kernels.deblockLuma(kernels, 0, edge, layout.lumaStride, $0, $1)
        }
        if strength == 2 && v & 1 == 0 {
          let chroma = v &* 4 &* layout.chromaStride &+ u &* 4
          filterChroma(qp) {
            Sample.Kernels.deblockChroma(kernels, 0, planes.cb + chroma, layout.chromaStride, $0)
            Sample.Kernels.deblockChroma(kernels, 0, planes.cr + chroma, layout.chromaStride, $0)
          }
        }
      }
    }
  }

  /// bS of the edge between two blocks (8.7.2.4); 0 where there is none.
  /// - Parameters:
  ///   - at: the index of the block after the edge.
  ///   - other: the index of the block before it.
  ///   - position: the column or row of the block after the edge, in 8x8 blocks.
  ///   - motion: the motion of each block.
  ///   - references: as in `filter`.
  @inline(__always) private func strength(
    _ at: Int, _ other: Int, _ position: Int, _ motion: UnsafePointer<MotionPair>,
    _ references: UnsafePointer<ReferenceIdentity>?
  ) -> Int {
    let blocks = 1 &<< (Int(map.log2Size[at]) &- 3)
    let inside = position & (blocks &- 1)
    if inside != 0 && (map.partMode[at] == 0 || inside != blocks &>> 1) { return 0 }
    let intra = UnitKind.intra.rawValue
    if map.kind[at] == intra || map.kind[other] == intra { return 2 }
    if map.coded[at] | map.coded[other] != 0 { return 1 }
    if let references { return Self.differs(motion[at], motion[other], references) ? 1 : 0 }
    let (a, b) = (motion[at].first, motion[other].first)
    if a.reference != b.reference { return 1 }
    return Self.isFar(a, b) ? 1 : 0
  }

  /// Whether two vectors differ by a whole sample or more.
  @inline(__always) private static func isFar(_ a: Motion, _ b: Motion) -> Bool {
    abs(Int(a.x) &- Int(b.x)) >= 4 || abs(Int(a.y) &- Int(b.y)) >= 4
  }

  /// Whether two blocks of a B slice have other reference pictures, another number of vectors, or
  /// vectors that differ by a whole sample or more. Pictures are compared, whatever their list.
  private static func differs(
    _ a: MotionPair, _ b: MotionPair, _ references: UnsafePointer<ReferenceIdentity>
  ) -> Bool {
    if a.isBidirectional != b.isBidirectional { return true }
    func order(_ motion: Motion, _ list: Int) -> Int32 {
      references[list &* PictureContext.listSize &+ Int(motion.reference)].order
    }
    guard a.isBidirectional else {
      let (listA, listB) = (a.first.reference >= 0 ? 0 : 1, b.first.reference >= 0 ? 0 : 1)
      return order(a[listA], listA) != order(b[listB], listB) || isFar(a[listA], b[listB])
    }
    let (a0, a1) = (order(a.first, 0), order(a.second, 1))
    let (b0, b1) = (order(b.first, 0), order(b.second, 1))
    guard a0 == b0 && a1 == b1 || a0 == b1 && a1 == b0 else { return true }
    let straight = isFar(a.first, b.first) || isFar(a.second, b.second)
    let crossed = isFar(a.first, b.second) || isFar(a.second, b.first)
    if a0 == a1 { return straight && crossed }
    return a0 == b0 ? straight : crossed
  }

  @inline(__always) private func filterLuma(
    _ qp: Int, _ strength: Int, _ filter: (Int32, UnsafePointer<Int16>) -> Void
  ) {
    let step = Int16(tc[min(qp &+ 2 &* (strength &- 1), 53)]) &<< Int16(Sample.extraBits)
    guard step > 0 else { return }
    var steps = (step, step)
    withUnsafePointer(to: &steps) {
      $0.withMemoryRebound(to: Int16.self, capacity: 2) {
        filter(Int32(beta[qp]) &<< Int32(Sample.extraBits), $0)
      }
    }
  }

  @inline(__always) private func filterChroma(_ qp: Int, _ filter: (UnsafePointer<Int16>) -> Void) {
    let step = Int16(tc[min(ChromaQP.of(qp) &+ 2, 53)]) &<< Int16(Sample.extraBits)
    guard step > 0 else { return }
    var steps = (step, step)
    withUnsafePointer(to: &steps) {
      $0.withMemoryRebound(to: Int16.self, capacity: 2) { filter($0) }
    }
  }
}
