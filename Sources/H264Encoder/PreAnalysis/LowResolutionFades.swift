// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// Half-size pictures as weighted prediction will have them: where a picture has grown darker or brighter than one that
/// it may refer to, that one is given its brightness before both are compared.
struct LowResolutionFades {
  /// Size of a block, and rows from one that is read to the next.
  private static let (blockSize, rowStep) = (16, 2)

  /// Blocks of a picture.
  static func blockCount(_ geometry: PictureGeometry) -> Int {
    max(geometry.widthInMbs / 2, 1) * max(geometry.heightInMbs / 2, 1)
  }

  private let columns: Int
  private let rows: Int
  private let blockWidth: Int
  private let blockHeight: Int
  private let table: UnsafeMutablePointer<UInt8>
  /// One for each list.
  private let adapted: (LowResolutionPicture, LowResolutionPicture)

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

  private var samples: Int { blockWidth * (blockHeight / Self.rowStep) }

  /// Reads the brightness of a picture.
  func read(_ picture: QueuedPicture) {
    let sums = picture.blockSums
    sums.update(repeating: 0, count: columns &* rows)
    var squares: UInt64 = 0
    for y in stride(from: 0, to: rows &* blockHeight, by: Self.rowStep) {
      let row = picture.half.luma + y &* picture.half.stride
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

  /// A picture as another one's reference of a list, 0 or 1; valid until the next call for that list.
  func reference(_ then: QueuedPicture, of now: QueuedPicture, list: Int) -> LowResolutionPicture {
    let shift: Int32 = 6
    guard let weight = FadeDetector.component(now.brightness, then.brightness, shift),
      FadeDetector.holds(
        weight, shift, now.blockSums, then.blockSums, count: columns * rows, samples: samples)
    else { return then.half }
    for s in 0..<256 {
      let value = (s * Int(weight.weight) + 32) >> 6 + Int(weight.offset)
      table[s] = UInt8(min(max(value, 0), 255))
    }
    let result = list == 0 ? adapted.0 : adapted.1
    let padding = LowResolutionPicture.padding
    let bytes = Int32(truncatingIfNeeded: result.width + 2 * padding)
    for y in -padding..<result.height + padding {
      let start = y &* result.stride &- padding
      ovt_map(result.luma + start, then.half.luma + start, table, bytes)
    }
    return result
  }
}
