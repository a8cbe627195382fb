// SPDX-License-Identifier: Apache-2.0
import CFFmpeg

/// Conversions that only move samples: between planes, and between planar and interleaved.
enum PlaneCopy {
  /// Copies a picture of the same format and size.
  static func copy(_ source: PictureView, to target: PictureView) {
    let layout = source.layout
    for plane in 0..<layout.planeCount {
      copyPlane(
        source, target, plane, bytes: layout.bytes(source.width, inPlane: plane),
        rows: layout.rows(source.height, inPlane: plane))
    }
  }

  /// Repeats the last pixel of each row after its end, for which the rows must have padding.
  static func repeatLastColumn(of picture: PictureView) {
    let layout = picture.layout
    for plane in 0..<layout.planeCount {
      guard let memory = picture.planes[plane] else { continue }
      let end = layout.bytes(picture.width, inPlane: plane)
      let pixel = layout.bytes(1, inPlane: plane)
      for row in 0..<layout.rows(picture.height, inPlane: plane) {
        let behind = memory + row * Int(picture.strides[plane]) + end
        memcpy(behind, behind - pixel, pixel)
      }
    }
  }

  /// Converts between a planar format and its semi-planar counterpart, or from planar 4:2:2 to
  /// packed rows of odd length, if the formats are such a pair.
  /// - Parameters:
  ///   - source: The picture.
  ///   - target: Receives the samples.
  ///   - wholeTarget: Whether `target` is not a part of a picture whose other pixels must not
  ///     change.
  /// - Returns: false, with nothing written, if the formats are no such pair.
  static func rearrange(_ source: PictureView, to target: PictureView, wholeTarget: Bool = true) -> Bool {
    if let pair = SemiPlanarPair(planar: source.format, semiPlanar: target.format) {
      joinLuma(source, target, pair)
      joinChroma(source, target, pair)
      return true
    }
    if let pair = SemiPlanarPair(planar: target.format, semiPlanar: source.format) {
      split(source, target, pair)
      return true
    }
    if source.format == AV_PIX_FMT_YUV422P, target.width % 2 == 1, let order = PackedOrder(target.format) {
      pack(source, target, order, fillsGroups: wholeTarget)
      return true
    }
    return false
  }

  /// Packs two pixels into each group of four bytes.
  /// - Parameters:
  ///   - source: The picture, in planar 4:2:2.
  ///   - target: Receives the groups.
  ///   - order: The positions of the samples in a group.
  ///   - fillsGroups: Whether the luma sample after the end of an odd row, which belongs to no
  ///     pixel, repeats the last one.
  private static func pack(
    _ source: PictureView, _ target: PictureView, _ order: PackedOrder, fillsGroups: Bool
  ) {
    guard let luma = source.planes[0], let cb = source.planes[1], let cr = source.planes[2],
      let out = target.planes[0]
    else { return }
    for row in 0..<source.height {
      let y = luma + row * Int(source.strides[0])
      let u = cb + row * Int(source.strides[1])
      let v = cr + row * Int(source.strides[2])
      let line = out + row * Int(target.strides[0])
      for pair in 0..<(source.width + 1) / 2 {
        let group = line + 4 * pair
        let left = 2 * pair
        group[order.luma] = y[left]
        group[order.chroma] = u[pair]
        group[order.chroma + 2] = v[pair]
        if left + 1 < source.width || fillsGroups {
          group[order.luma + 2] = y[min(left + 1, source.width - 1)]
        }
      }
    }
  }

  /// Interleaves the two chroma planes of `source` into the chroma plane of `target`.
  static func joinChroma(_ source: PictureView, _ target: PictureView, _ pair: SemiPlanarPair) {
    let layout = source.layout
    let count = layout.samples(source.width, inPlane: 1)
    guard let cb = source.planes[1], let cr = source.planes[2], let pairs = target.planes[1] else { return }
    for row in 0..<layout.rows(source.height, inPlane: 1) {
      let a = cb + row * Int(source.strides[1])
      let b = cr + row * Int(source.strides[2])
      let out = pairs + row * Int(target.strides[1])
      if pair.bytes == 1 {
        ovt_interleave_u8(out, a, b, count)
      } else {
        ovt_interleave_u16(words(out), words(a), words(b), count, pair.shift)
      }
    }
  }

  private static func joinLuma(_ source: PictureView, _ target: PictureView, _ pair: SemiPlanarPair) {
    guard pair.shift > 0 else {
      copyPlane(source, target, 0, bytes: source.width * pair.bytes, rows: source.height)
      return
    }
    guard let from = source.planes[0], let to = target.planes[0] else { return }
    for row in 0..<source.height {
      ovt_shift_left_u16(
        words(to + row * Int(target.strides[0])), words(from + row * Int(source.strides[0])), source.width,
        pair.shift)
    }
  }

  private static func split(_ source: PictureView, _ target: PictureView, _ pair: SemiPlanarPair) {
    let layout = target.layout
    if pair.shift == 0 {
      copyPlane(source, target, 0, bytes: source.width * pair.bytes, rows: source.height)
    } else if let from = source.planes[0], let to = target.planes[0] {
      for row in 0..<source.height {
        ovt_shift_right_u16(
          words(to + row * Int(target.strides[0])), words(from + row * Int(source.strides[0])), source.width,
          pair.shift)
      }
    }
    let count = layout.samples(source.width, inPlane: 1)
    guard let cb = target.planes[1], let cr = target.planes[2], let pairs = source.planes[1] else { return }
    for row in 0..<layout.rows(source.height, inPlane: 1) {
      let a = cb + row * Int(target.strides[1])
      let b = cr + row * Int(target.strides[2])
      let from = pairs + row * Int(source.strides[1])
      if pair.bytes == 1 {
        ovt_deinterleave_u8(a, b, from, count)
      } else {
        ovt_deinterleave_u16(words(a), words(b), words(from), count, pair.shift)
      }
    }
  }

  private static func copyPlane(
    _ source: PictureView, _ target: PictureView, _ plane: Int, bytes: Int, rows: Int
  ) {
    guard let from = source.planes[plane], let to = target.planes[plane], from != to else { return }
    let fromStride = Int(source.strides[plane])
    let toStride = Int(target.strides[plane])
    if fromStride == bytes, toStride == bytes {
      memcpy(to, from, bytes * rows)
    } else {
      for row in 0..<rows { memcpy(to + row * toStride, from + row * fromStride, bytes) }
    }
  }

  private static func words(_ bytes: UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt16> {
    UnsafeMutableRawPointer(bytes).assumingMemoryBound(to: UInt16.self)
  }
}

/// Positions of the samples of packed 4:2:2 in the four bytes of two pixels.
struct PackedOrder {
  /// Index of the first luma sample and of Cb. The second luma sample and Cr are two bytes after
  /// them.
  let luma: Int
  let chroma: Int

  /// nil if the format is not packed 4:2:2.
  init?(_ format: AVPixelFormat) {
    switch format {
    case AV_PIX_FMT_UYVY422: (luma, chroma) = (1, 0)
    case AV_PIX_FMT_YUYV422: (luma, chroma) = (0, 1)
    default: return nil
    }
  }
}

/// A planar format and the format with the same samples and interleaved chroma.
struct SemiPlanarPair {
  let planar: AVPixelFormat
  let semiPlanar: AVPixelFormat
  /// Bytes per sample.
  let bytes: Int
  /// Number of bits by which the semi-planar format's samples are shifted left.
  let shift: Int32

  private init(_ planar: AVPixelFormat, _ semiPlanar: AVPixelFormat, bytes: Int, shift: Int32) {
    self.planar = planar
    self.semiPlanar = semiPlanar
    self.bytes = bytes
    self.shift = shift
  }

  private static let all = [
    SemiPlanarPair(AV_PIX_FMT_YUV420P, AV_PIX_FMT_NV12, bytes: 1, shift: 0),
    SemiPlanarPair(AV_PIX_FMT_YUV422P, AV_PIX_FMT_NV16, bytes: 1, shift: 0),
    SemiPlanarPair(AV_PIX_FMT_YUV444P, AV_PIX_FMT_NV24, bytes: 1, shift: 0),
    SemiPlanarPair(AV_PIX_FMT_YUV420P10LE, AV_PIX_FMT_P010LE, bytes: 2, shift: 6),
    SemiPlanarPair(AV_PIX_FMT_YUV422P10LE, AV_PIX_FMT_P210LE, bytes: 2, shift: 6),
    SemiPlanarPair(AV_PIX_FMT_YUV444P10LE, AV_PIX_FMT_P410LE, bytes: 2, shift: 6),
    SemiPlanarPair(AV_PIX_FMT_YUV422P16LE, AV_PIX_FMT_P216LE, bytes: 2, shift: 0),
    SemiPlanarPair(AV_PIX_FMT_YUV444P16LE, AV_PIX_FMT_P416LE, bytes: 2, shift: 0),
  ]

  init?(planar: AVPixelFormat, semiPlanar: AVPixelFormat) {
    guard let pair = Self.all.first(where: { $0.planar == planar && $0.semiPlanar == semiPlanar }) else {
      return nil
    }
    self = pair
  }

  init?(planar: AVPixelFormat) {
    guard let pair = Self.all.first(where: { $0.planar == planar }) else { return nil }
    self = pair
  }

  init?(semiPlanar: AVPixelFormat) {
    guard let pair = Self.all.first(where: { $0.semiPlanar == semiPlanar }) else { return nil }
    self = pair
  }
}
