// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import Testing

/// Pictures are enlarged by their last column and row, and nothing outside their samples is read.
@Suite struct PicturePaddingTests {
  /// Samples of a plane, and those of it enlarged, by the rule: the nearest one that there is.
  private static func sample(_ x: Int, _ y: Int, _ plane: Int) -> UInt8 {
    UInt8(truncatingIfNeeded: x * 7 + y * 13 + plane * 91)
  }

  @Test(
    "Every format, with rows that are longer than the picture",
    arguments: [PictureFormat.nv12VideoRange, .i420FullRange, .p010VideoRange],
    [(1, 1), (3, 2), (15, 17), (193, 144), (18, 33)])
  func enlarges(_ format: PictureFormat, _ size: (Int, Int)) throws {
    let (width, height) = size
    let coded = CodedPictureSize(width: width, height: height, minimum: 16)
    #expect(coded.width == max((width + 1) & ~1, 16) && coded.height == max((height + 1) & ~1, 16))
    #expect(coded.visibleWidth == (width + 1) & ~1 && coded.visibleHeight == (height + 1) & ~1)

    let isPlanar = format == .i420FullRange
    let sampleBytes = format == .p010VideoRange ? 2 : 1
    // Bytes of a sample or of a pair, and how many luma samples share one.
    let layout =
      [(sampleBytes, 1)] + Array(repeating: (isPlanar ? 1 : 2 * sampleBytes, 2), count: isPlanar ? 2 : 1)
    var memory: [UnsafeMutableRawBufferPointer] = []
    defer { for part in memory { part.deallocate() } }
    var views: [PlaneView] = []
    for (index, (bytes, share)) in layout.enumerated() {
      let (columns, rows) = ((width + share - 1) / share, (height + share - 1) / share)
      let stride = columns * bytes + 5
      // The last row ends with its samples.
      let part = UnsafeMutableRawBufferPointer.allocate(
        byteCount: stride * (rows - 1) + columns * bytes, alignment: 16)
      for y in 0..<rows {
        for x in 0..<columns * bytes { part[y * stride + x] = Self.sample(x, y, index) }
      }
      memory.append(part)
      let base = try #require(part.baseAddress)
      views.append(PlaneView(baseAddress: base, bytesPerRow: stride, width: columns, height: rows))
    }
    let picture = InputPicture(
      format: format, width: width, height: height,
      content: .planes(PlaneViews(views[0], views[1], isPlanar ? views[2] : nil)), presentationTime: 9)
    let padding = PicturePadding(coded)
    let padded = try padding.pad(picture)
    #expect(padded.width == coded.width && padded.height == coded.height && padded.presentationTime == 9)
    let planes = try padded.planes()
    for (index, view) in [planes.first, planes.second, planes.third].compactMap({ $0 }).enumerated() {
      let (bytes, share) = layout[index]
      #expect(view.width == coded.width / share && view.height == coded.height / share)
      let last = ((width + share - 1) / share - 1, (height + share - 1) / share - 1)
      for y in 0..<view.height {
        for x in 0..<view.width {
          for byte in 0..<bytes {
            let made = view.baseAddress.load(
              fromByteOffset: y * view.bytesPerRow + x * bytes + byte, as: UInt8.self)
            let expected = Self.sample(min(x, last.0) * bytes + byte, min(y, last.1), index)
            try #require(made == expected, "plane \(index) at \(x), \(y)")
          }
        }
      }
    }
  }

  @Test(
    "A picture that is large enough stays where it is, and one that is larger or lacks samples is refused")
  func refuses() throws {
    var samples = [UInt8](repeating: 7, count: 16 * 16 * 2)
    try samples.withUnsafeMutableBytes { memory in
      let base = UnsafeRawPointer(try #require(memory.baseAddress))
      func picture(_ width: Int, _ height: Int, chroma: Int) -> InputPicture {
        let luma = PlaneView(baseAddress: base, bytesPerRow: width, width: width, height: height)
        let pairs = PlaneView(
          baseAddress: base, bytesPerRow: 2 * chroma, width: chroma, height: (height + 1) / 2)
        return InputPicture(
          format: .nv12VideoRange, width: width, height: height, content: .planes(PlaneViews(luma, pairs)),
          presentationTime: 0)
      }
      let padding = PicturePadding(CodedPictureSize(width: 15, height: 15, minimum: 16))
      #expect(try padding.pad(picture(16, 16, chroma: 8)).planes().first.baseAddress == base)
      #expect(throws: CodecError.self) { try padding.pad(picture(17, 15, chroma: 9)) }
      #expect(throws: CodecError.self) { try padding.pad(picture(15, 15, chroma: 7)) }
    }
  }

  @Test("An area is counted in whole blocks") func areas() {
    var sizes = PictureSizes(widths: 1...16880, heights: 1...16880)
    sizes.largestArea = 139_264 * 256
    sizes.blockSize = 16
    #expect(sizes.contains(width: 8192, height: 4352) && sizes.contains(width: 1, height: 1))
    // 512 by 273 macroblocks, though the samples alone are fewer than those of 139,264.
    #expect(8177 * 4353 < 139_264 * 256 && !sizes.contains(width: 8177, height: 4353))
    #expect(!sizes.contains(width: 16881, height: 1) && !sizes.contains(width: 0, height: 1))
    #expect(!PictureSizes().contains(width: .max, height: 2))
  }
}
