// SPDX-License-Identifier: Apache-2.0
import VideoEncoding

/// The syntax of the coded 8x8 blocks of the current picture, in raster order, for the prediction
/// of later blocks.
struct PictureMap: BitwiseCopyable {
  /// The width and the height of the picture in 8x8 blocks.
  let width: Int
  let height: Int
  /// log2 of the size of the coding unit.
  let log2Size: UnsafeMutablePointer<UInt8>
  /// `UnitKind`.
  let kind: UnsafeMutablePointer<UInt8>
  /// QpY.
  let qp: UnsafeMutablePointer<Int8>
  /// IntraPredModeY of each 4x4 block, `2 * width` in a row; DC for inter units.
  let lumaMode: UnsafeMutablePointer<UInt8>
  /// Whether the luma transform block has levels: 0 or 1.
  let coded: UnsafeMutablePointer<UInt8>
  /// `PartMode` of inter units; 0 for others.
  let partMode: UnsafeMutablePointer<UInt8>

  init(codedWidth: Int, codedHeight: Int, memory: inout EncoderMemory) {
    width = codedWidth / 8
    height = codedHeight / 8
    let count = width * height
    log2Size = memory.allocate(UInt8.self, count: count)
    kind = memory.allocate(UInt8.self, count: count)
    qp = memory.allocate(Int8.self, count: count)
    lumaMode = memory.allocate(UInt8.self, count: count * 4)
    partMode = memory.allocate(UInt8.self, count: count)
    coded = memory.allocate(UInt8.self, count: count)
  }

  /// The index of the block that covers a luma sample.
  @inline(__always) func index(_ x: Int, _ y: Int) -> Int { (y >> 3) &* width &+ (x >> 3) }
}
