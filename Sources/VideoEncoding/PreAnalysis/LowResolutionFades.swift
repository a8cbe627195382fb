// SPDX-License-Identifier: Apache-2.0
import CVideoKernels

/// Predicts fades as weighted prediction will: where a picture is darker or brighter than one that
/// it may refer to, the half-size reference picture gets the same brightness before both are
/// compared.
struct LowResolutionFades {
  /// The width and height in half-size samples of the blocks whose sums are compared, and the
  /// distance of the rows that are read.
  private static let (blockSize, rowStep) = (16, 2)

  /// The number of blocks in a picture.
  static func blockCount(_ geometry: PictureGeometry) -> Int {
    max(geometry.widthInMbs / 2, 1) * max(geometry.heightInMbs / 2, 1)
  }

  /// The number of blocks in a row, and of rows of blocks.
  private let columns: Int
  private let rows: Int
  /// The width and height of a block in half-size samples; less than `blockSize` only in smaller
  /// pictures.
  private let blockWidth: Int
  private let blockHeight: Int
  /// The weighted value of each sample value.
  private let table: UnsafeMutablePointer<UInt8>
  /// The weighted reference picture of list 0 and of list 1.
  private let adapted: (LowResolutionPicture, LowResolutionPicture)

  /// Allocates both reference pictures.
  init(_ geometry: PictureGeometry, memory: inout EncoderMemory) {
    columns = max(geometry.widthInMbs / 2, 1)
    rows = max(geometry.heightInMbs / 2, 1)
    blockWidth = min(Self.blockSize, geometry.widthInMbs * 8)
    blockHeight = min(Self.blockSize, geometry.heightInMbs * 8)
    table = memory.allocate(UInt8.self, count: 256)
    adapted = (
      LowResolutionPicture(geometry, memory: &memory), LowResolutionPicture(geometry, memory: &memory)
    )
  }

  /// The number of samples of a block that are read.
  private var samples: Int { blockWidth * (blockHeight / Self.rowStep) }

  /// Fills in the brightness of a picture and the sums of its blocks.
  func read(_ picture: QueuedPicture) {
    let sums = picture.blockSums
    sums.update(repeating: 0, count: columns &* rows)
    var squares: UInt64 = 0
    for y in stride(from: 0, to: rows &* blockHeight, by: Self.rowStep) {
      let row = picture.lowResolution.luma + y &* picture.lowResolution.stride
      let line = sums + y / blockHeight &* columns
      for x in 0..<columns {
        var ofRow: UInt32 = 0
        ovt_sums(
          row + x &* blockWidth, Int32(truncatingIfNeeded: blockWidth), 1, line + x, &ofRow)
        squares &+= UInt64(ofRow)
      }
    }
    var sum: UInt64 = 0
    for i in 0..<columns &* rows { sum &+= UInt64(sums[i]) }
    picture.brightness = FadeDetector.level(sum, squares, samples &* columns &* rows)
  }

  /// The half-size picture of a reference picture, weighted if there is a fade.
  /// - Parameters:
  ///   - then: the reference picture.
  ///   - now: the picture that refers to it.
  ///   - list: its reference picture list, 0 or 1.
  /// - Returns: a picture that is valid until the next call for the same list.
  func reference(_ then: QueuedPicture, of now: QueuedPicture, list: Int) -> LowResolutionPicture {
    let shift: Int32 = 6
    guard let weight = FadeDetector.component(now.brightness, then.brightness, shift),
      FadeDetector.holds(
        weight, shift, now.blockSums, then.blockSums, count: columns * rows, samples: samples)
    else { return then.lowResolution }
    for s in 0..<256 {
      let value = (s * Int(weight.weight) + 32) >> 6 + Int(weight.offset)
      table[s] = UInt8(min(max(value, 0), 255))
    }
    let result = list == 0 ? adapted.0 : adapted.1
    let padding = LowResolutionPicture.padding
    let bytes = Int32(truncatingIfNeeded: result.width + 2 * padding)
    for y in -padding..<result.height + padding {
      let start = y &* result.stride &- padding
      ovt_map(result.luma + start, then.lowResolution.luma + start, table, bytes)
    }
    return result
  }
}
