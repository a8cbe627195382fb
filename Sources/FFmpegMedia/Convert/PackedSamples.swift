// SPDX-License-Identifier: Apache-2.0
import CFFmpeg

/// An arrangement of samples in one plane that libavutil has no pixel format for: pictures are
/// converted by way of a format of the same samples that it has (QuickTime File Format, "Component
/// Y'CbCr formats"). The names are those of Core Video's four-character codes.
enum PackedSamples: Sendable {
  /// Cb Y Cr Y, 16 bits, little endian.
  case v216
  /// Cb Y Cr Y Cb Y Cr Y Cb Y Cr Y, 10 bits, three of them in each little-endian word of 32 bits.
  case v210
  /// Cb Y Cr, 10 bits, from bit 2 of a little-endian word of 32 bits on.
  case v410
  /// Cr Y Cb, 8 bits.
  case v308
  /// Cb Y Cr A, 8 bits.
  case v408
  /// A Y Cb Cr, 8 bits.
  case y408
  /// A R G B, 16 bits, big endian.
  case b64a

  /// The libavutil format with the same samples.
  var format: AVPixelFormat {
    switch self {
    case .v216: AV_PIX_FMT_YUV422P16LE
    case .v210: AV_PIX_FMT_YUV422P10LE
    case .v410: AV_PIX_FMT_YUV444P10LE
    case .v308: AV_PIX_FMT_YUV444P
    case .v408, .y408: AV_PIX_FMT_YUVA444P
    case .b64a: AV_PIX_FMT_RGBA64BE
    }
  }

  /// Bytes of a row of a number of pixels.
  func bytes(_ width: Int) -> Int {
    switch self {
    case .v216: (width + 1) / 2 * 8
    case .v210: (width + 5) / 6 * 16
    case .v410, .v408, .y408: width * 4
    case .v308: width * 3
    case .b64a: width * 8
    }
  }

  /// Copies the samples of a picture to a picture of `format` and of the same size.
  /// - Parameters:
  ///   - memory: The first row; each has `bytes(_:)` of the picture's width.
  ///   - stride: Bytes from one row to the next.
  ///   - target: Receives the samples.
  func unpack(_ memory: UnsafeRawPointer, stride: Int, to target: PictureView) {
    for row in 0..<target.height {
      let packed = UnsafeMutableRawPointer(mutating: memory + row * stride)
      let planes = SampleRow(target, row)
      switch self {
      case .v216:
        groups(packed, planes) { from, to in
          to.pointee = UInt16(littleEndian: from.loadUnaligned(as: UInt16.self))
        }
      case .v210: tenBitGroups(packed, planes, packs: false)
      case .v410: tenBitPixels(packed, planes, packs: false)
      case .v308, .v408, .y408: bytePixels(packed, planes, packs: false)
      case .b64a: rotate(from: packed, to: planes.words(0), planes.width, by: 3)
      }
    }
  }

  /// Copies the samples of a picture of `format` to a picture of the same size.
  /// - Parameters:
  ///   - source: The picture.
  ///   - memory: Receives the first row; each has `bytes(_:)` of the picture's width. What belongs
  ///     to no pixel at the end of a row repeats the last one.
  ///   - stride: Bytes from one row to the next.
  func pack(_ source: PictureView, to memory: UnsafeMutableRawPointer, stride: Int) {
    for row in 0..<source.height {
      let packed = memory + row * stride
      let planes = SampleRow(source, row)
      switch self {
      case .v216:
        groups(packed, planes) { to, from in to.storeBytes(of: from.pointee.littleEndian, as: UInt16.self) }
        if planes.width % 2 == 1 {
          let last = packed + (planes.width - 1) / 2 * 8
          (last + 6).copyMemory(from: last + 2, byteCount: 2)
        }
      case .v210: tenBitGroups(packed, planes, packs: true)
      case .v410: tenBitPixels(packed, planes, packs: true)
      case .v308, .v408, .y408: bytePixels(packed, planes, packs: true)
      case .b64a: rotate(from: planes.words(0), to: packed, planes.width, by: 1)
      }
    }
  }

  /// Visits the samples of packed 4:2:2 with 16 bits, except for a luma sample after the last
  /// pixel.
  private func groups(
    _ packed: UnsafeMutableRawPointer, _ row: SampleRow,
    _ visit: (UnsafeMutableRawPointer, UnsafeMutablePointer<UInt16>) -> Void
  ) {
    let (luma, cb, cr) = (row.samples(0), row.samples(1), row.samples(2))
    for pair in 0..<(row.width + 1) / 2 {
      let group = packed + 8 * pair
      visit(group, cb + pair)
      visit(group + 2, luma + 2 * pair)
      visit(group + 4, cr + pair)
      if 2 * pair + 1 < row.width { visit(group + 6, luma + 2 * pair + 1) }
    }
  }

  /// Moves the samples of 4:2:2 with 10 bits, which are in the order of `v216`, three in a word.
  ///
  /// The values 0 to 3 and 1020 to 1023 are reserved for synchronisation in the interfaces that
  /// this format comes from (ITU-R BT.656), and are not written.
  private func tenBitGroups(_ packed: UnsafeMutableRawPointer, _ row: SampleRow, packs: Bool) {
    let (luma, cb, cr) = (row.samples(0), row.samples(1), row.samples(2))
    let (lastPixel, lastPair) = (row.width - 1, (row.width - 1) / 2)
    for word in 0..<bytes(row.width) / 4 {
      let pointer = packed + 4 * word
      var value = packs ? 0 : UInt32(littleEndian: pointer.loadUnaligned(as: UInt32.self))
      for part in 0..<3 {
        // Of four samples the second and the fourth are luma.
        let (at, pair) = (3 * word + part, (3 * word + part) / 4)
        let isLuma = at % 2 == 1
        let index = isLuma ? 2 * pair + at % 4 / 2 : pair
        let last = isLuma ? lastPixel : lastPair
        let sample = (isLuma ? luma : at % 4 == 0 ? cb : cr) + min(index, last)
        if packs {
          value |= UInt32(min(max(sample.pointee & 0x3FF, 4), 1019)) << UInt32(10 * part)
        } else if index <= last {
          sample.pointee = UInt16(truncatingIfNeeded: value >> UInt32(10 * part)) & 0x3FF
        }
      }
      if packs { pointer.storeBytes(of: value.littleEndian, as: UInt32.self) }
    }
  }

  /// Moves the samples of 4:4:4 with 10 bits, three in a word.
  private func tenBitPixels(_ packed: UnsafeMutableRawPointer, _ row: SampleRow, packs: Bool) {
    let (luma, cb, cr) = (row.samples(0), row.samples(1), row.samples(2))
    for x in 0..<row.width {
      let pointer = packed + 4 * x
      if packs {
        let value =
          UInt32(cb[x] & 0x3FF) << 2 | UInt32(luma[x] & 0x3FF) << 12 | UInt32(cr[x] & 0x3FF) << 22
        pointer.storeBytes(of: value.littleEndian, as: UInt32.self)
      } else {
        let value = UInt32(littleEndian: pointer.loadUnaligned(as: UInt32.self))
        cb[x] = UInt16(truncatingIfNeeded: value >> 2) & 0x3FF
        luma[x] = UInt16(truncatingIfNeeded: value >> 12) & 0x3FF
        cr[x] = UInt16(truncatingIfNeeded: value >> 22) & 0x3FF
      }
    }
  }

  /// Moves the samples of 4:4:4 with 8 bits.
  private func bytePixels(_ packed: UnsafeMutableRawPointer, _ row: SampleRow, packs: Bool) {
    // The byte offsets of Y, Cb, Cr and alpha in a pixel.
    let offsets =
      switch self {
      case .v308: [1, 2, 0]
      case .v408: [1, 0, 2, 3]
      default: [1, 2, 3, 0]
      }
    let step = offsets.count
    for (plane, offset) in offsets.enumerated() {
      guard let samples = row.planes[plane] else { return }
      let first = packed.assumingMemoryBound(to: UInt8.self) + offset
      for x in 0..<row.width {
        if packs { first[x * step] = samples[x] } else { samples[x] = first[x * step] }
      }
    }
  }

  /// Moves pixels of four samples with 16 bits.
  /// - Parameter steps: The position in the target's pixel of the first sample of the source's.
  private func rotate(
    from source: UnsafeMutableRawPointer, to target: UnsafeMutableRawPointer, _ width: Int, by steps: Int
  ) {
    for x in 0..<width {
      for sample in 0..<4 {
        let word = (source + 8 * x + 2 * sample).loadUnaligned(as: UInt16.self)
        (target + 8 * x + (sample + steps) % 4 * 2).storeBytes(of: word, as: UInt16.self)
      }
    }
  }
}

/// A row of each plane of a picture without vertical subsampling.
private struct SampleRow {
  let width: Int
  let planes: [UnsafeMutablePointer<UInt8>?]

  init(_ view: PictureView, _ row: Int) {
    width = view.width
    planes = (0..<4).map { plane in view.planes[plane].map { $0 + row * Int(view.strides[plane]) } }
  }

  /// The row of a plane. The caller has created the picture, so the plane exists.
  func words(_ plane: Int) -> UnsafeMutableRawPointer { UnsafeMutableRawPointer(planes[plane]!) }

  /// The samples of a plane with 16 bits.
  func samples(_ plane: Int) -> UnsafeMutablePointer<UInt16> {
    words(plane).assumingMemoryBound(to: UInt16.self)
  }
}
