// SPDX-License-Identifier: Apache-2.0
import CHEVCKernels
import Synchronization
import VideoEncoding

/// Luma of a reference picture at half samples, computed tile by tile when a vector first points
/// there: much of many pictures is skipped with vectors of whole samples.
struct HalfSamples<Sample: HEVCSample>: BitwiseCopyable {
  /// Luma at whole samples, half a sample to the right, half a sample below, and both: the
  /// prediction that 8.5.3.3.3 gives for these positions. The first is that of the picture.
  let planes: UnsafeMutablePointer<UnsafeMutablePointer<Sample>>
  /// The state of each tile: 0, `computing` or `ready`. nil where all are ready.
  private let states: UnsafeMutablePointer<Atomic<UInt8>>?
  private let columns: Int
  private let rows: Int

  private static var computing: UInt8 { 1 }
  private static var ready: UInt8 { 2 }
  /// log2 of the size of a tile.
  private static var log2Width: Int { 6 }
  private static var log2Height: Int { 5 }
  /// The samples beyond the edges of the picture that vectors and the margin of a search reach.
  private static var margin: Int { PlaneLayout.reach + 8 }

  /// Half samples of a picture; `begin` goes before their use.
  init(_ layout: PlaneLayout, luma: UnsafeMutablePointer<Sample>, memory: inout EncoderMemory) {
    planes = memory.allocate(UnsafeMutablePointer<Sample>.self, count: 4)
    planes[0] = luma
    for i in 1..<4 {
      planes[i] = memory.allocate(Sample.self, count: layout.lumaCount) + layout.lumaOrigin
    }
    func tiles(_ size: Int, _ log2: Int) -> Int { (size + 2 * Self.margin - 1) >> log2 + 1 }
    columns = tiles(layout.width, Self.log2Width)
    rows = tiles(layout.height, Self.log2Height)
    let count = columns * rows
    let states = UnsafeMutableRawPointer(memory.allocate(UInt8.self, count: count))
      .bindMemory(to: Atomic<UInt8>.self, capacity: count)
    for i in 0..<count { (states + i).initialize(to: Atomic(0)) }
    self.states = states
  }

  /// Planes that are complete.
  init(complete planes: UnsafeMutablePointer<UnsafeMutablePointer<Sample>>) {
    self.planes = planes
    states = nil
    (columns, rows) = (0, 0)
  }

  /// Forgets all tiles: the picture is another one. No thread may use them.
  func begin() {
    guard let states else { return }
    for i in 0..<columns &* rows { states[i].store(0, ordering: .relaxed) }
  }

  /// Makes the planes complete for a block.
  /// - Parameters:
  ///   - x: the position in luma samples.
  ///   - y: the position in luma samples.
  @inline(__always) func require(
    _ x: Int, _ y: Int, width: Int, height: Int, _ layout: PlaneLayout,
    _ kernels: UnsafePointer<Sample.Kernels>
  ) {
    guard let states else { return }
    let (left, top) = (x &+ Self.margin, y &+ Self.margin)
    let (lastColumn, lastRow) = (
      (left &+ width &- 1) &>> Self.log2Width, (top &+ height &- 1) &>> Self.log2Height
    )
    var row = top &>> Self.log2Height
    while row <= lastRow {
      var column = left &>> Self.log2Width
      while column <= lastColumn {
        if states[row &* columns &+ column].load(ordering: .acquiring) != Self.ready {
          compute(states + row &* columns + column, column: column, row: row, layout, kernels)
        }
        column &+= 1
      }
      row &+= 1
    }
  }

  /// Makes the planes complete.
  func requireAll(_ layout: PlaneLayout, _ kernels: UnsafePointer<Sample.Kernels>) {
    require(
      -Self.margin, -Self.margin, width: layout.width + 2 * Self.margin,
      height: layout.height + 2 * Self.margin, layout, kernels)
  }

  /// Computes a tile, or waits until another thread has done so.
  @inline(never) private func compute(
    _ state: UnsafeMutablePointer<Atomic<UInt8>>, column: Int, row: Int, _ layout: PlaneLayout,
    _ kernels: UnsafePointer<Sample.Kernels>
  ) {
    let (isFirst, _) = state.pointee.compareExchange(
      expected: 0, desired: Self.computing, ordering: .acquiring)
    guard isFirst else {
      RowProgress.wait { state.pointee.load(ordering: .acquiring) == Self.ready }
      return
    }
    let x = column &<< Self.log2Width &- Self.margin
    let y = row &<< Self.log2Height &- Self.margin
    let at = y &* layout.lumaStride &+ x
    let width = min(1 &<< Self.log2Width, layout.width &+ Self.margin &- x)
    let height = min(1 &<< Self.log2Height, layout.height &+ Self.margin &- y)
    Sample.Kernels.lumaHalves(
      kernels, planes[1] + at, planes[2] + at, planes[3] + at, planes[0] + at, layout.lumaStride,
      Int32(width), Int32(height))
    state.pointee.store(Self.ready, ordering: .releasing)
  }
}
