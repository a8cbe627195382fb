// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreVideo

/// Makes progressive pictures from interlaced ones.
public enum FieldFilter {
  /// The rows of a field: the even ones, from 0 (`top`), or the odd ones (`bottom`).
  public enum Field: Sendable { case top, bottom }

  /// Returns one field of a picture as a picture of half the height; nil for an unknown pixel
  /// format. It shares the picture's memory, except for a bottom field of 4:2:0 with an odd number
  /// of chroma rows, which has one chroma row too few: that one is a copy whose last chroma row is
  /// repeated.
  /// - Parameters:
  ///   - field: The field.
  ///   - buffer: The picture.
  public static func field(_ field: Field, of buffer: CVPixelBuffer) -> CVPixelBuffer? {
    guard let (view, info) = try? PixelConverter.view(buffer), view.height >= 2 else { return nil }
    let count = view.layout.planeCount
    let start = field == .top ? 0 : 1
    var bases: [UnsafeMutableRawPointer?] = []
    for plane in 0..<count {
      guard let base = view.planes[plane] else { return nil }
      bases.append(base + start * Int(view.strides[plane]))
    }
    let rows = field == .top ? (view.height + 1) / 2 : view.height / 2
    for plane in 0..<count
    where start + 2 * (view.layout.rows(rows, inPlane: plane) - 1)
      >= view.layout.rows(view.height, inPlane: plane)
    {
      return copy(view, info, firstRow: start, rows: rows, attachmentsOf: buffer)
    }
    // The release callback of the field holds the picture whose memory it uses.
    let owner = Unmanaged.passRetained(buffer)
    var made: CVPixelBuffer?
    let result: CVReturn
    if CVPixelBufferIsPlanar(buffer) {
      var widths = (0..<count).map { CVPixelBufferGetWidthOfPlane(buffer, $0) }
      var heights = (0..<count).map { view.layout.rows(rows, inPlane: $0) }
      var strides = (0..<count).map { Int(view.strides[$0]) * 2 }
      result = CVPixelBufferCreateWithPlanarBytes(
        nil, view.width, rows, info.code, nil, 0, count, &bases, &widths, &heights, &strides,
        { owner, _, _, _, _ in if let owner { Unmanaged<CVPixelBuffer>.fromOpaque(owner).release() } },
        owner.toOpaque(), nil, &made)
    } else {
      guard let base = bases[0] else { return nil }
      result = CVPixelBufferCreateWithBytes(
        nil, view.width, rows, info.code, base, Int(view.strides[0]) * 2,
        { owner, _ in if let owner { Unmanaged<CVPixelBuffer>.fromOpaque(owner).release() } },
        owner.toOpaque(), nil,
        &made)
    }
    guard result == kCVReturnSuccess, let made else {
      owner.release()
      return nil
    }
    CVBufferPropagateAttachments(buffer, made)
    return made
  }

  /// Copies every other row of each plane, beginning with `firstRow`. Rows that the picture does
  /// not have repeat the field's last row.
  private static func copy(
    _ view: PictureView, _ info: PixelFormatInfo, firstRow: Int, rows: Int,
    attachmentsOf buffer: CVPixelBuffer
  ) -> CVPixelBuffer? {
    var made: CVPixelBuffer?
    guard CVPixelBufferCreate(nil, view.width, rows, info.code, nil, &made) == kCVReturnSuccess, let made,
      let (target, _) = try? PixelConverter.view(made)
    else { return nil }
    let layout = view.layout
    for plane in 0..<layout.planeCount {
      guard let input = view.planes[plane], let output = target.planes[plane] else { return nil }
      let stored = layout.rows(view.height, inPlane: plane)
      let last = stored - 1 - (stored - 1 - firstRow) & 1
      let bytes = layout.bytes(view.width, inPlane: plane)
      for row in 0..<layout.rows(rows, inPlane: plane) {
        let from = max(0, min(firstRow + 2 * row, last, stored - 1))
        memcpy(output + row * Int(target.strides[plane]), input + from * Int(view.strides[plane]), bytes)
      }
    }
    CVBufferPropagateAttachments(buffer, made)
    return made
  }

  /// Filters each row with its neighbours by the weights 1, 2, 1, which blends the two fields.
  /// - Parameters:
  ///   - source: The interlaced picture.
  ///   - target: Receives the result.
  /// - Returns: false if the buffers differ in format or size, or if the samples are not bytes or
  ///   little-endian 16-bit words.
  public static func blend(_ source: CVPixelBuffer, to target: CVPixelBuffer) -> Bool {
    guard let (from, fromInfo) = try? PixelConverter.view(source),
      let (to, toInfo) = try? PixelConverter.view(target),
      fromInfo.code == toInfo.code, from.width == to.width, from.height == to.height,
      let descriptor = av_pix_fmt_desc_get(from.format)
    else { return false }
    let depth = descriptor.pointee.comp.0.depth
    let isBig = descriptor.pointee.flags & UInt64(AV_PIX_FMT_FLAG_BE) != 0
    guard depth == 8 || (depth > 8 && !isBig && from.format != AV_PIX_FMT_X2RGB10LE) else { return false }
    let layout = from.layout
    for plane in 0..<layout.planeCount {
      guard let input = from.planes[plane], let output = to.planes[plane] else { return false }
      let rows = layout.rows(from.height, inPlane: plane)
      let bytes = layout.bytes(from.width, inPlane: plane)
      for row in 0..<rows {
        let above = input + max(0, row - 1) * Int(from.strides[plane])
        let here = input + row * Int(from.strides[plane])
        let below = input + min(rows - 1, row + 1) * Int(from.strides[plane])
        let out = output + row * Int(to.strides[plane])
        if depth == 8 {
          for i in 0..<bytes {
            out[i] = UInt8(
              truncatingIfNeeded: (Int32(above[i]) &+ 2 &* Int32(here[i]) &+ Int32(below[i]) &+ 2) >> 2)
          }
        } else {
          blendWords(above, here, below, out, bytes / 2)
        }
      }
    }
    return true
  }

  private static func blendWords(
    _ above: UnsafeMutablePointer<UInt8>, _ here: UnsafeMutablePointer<UInt8>,
    _ below: UnsafeMutablePointer<UInt8>,
    _ out: UnsafeMutablePointer<UInt8>, _ count: Int
  ) {
    func words(_ pointer: UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt16> {
      UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: UInt16.self)
    }
    let (a, b, c, d) = (words(above), words(here), words(below), words(out))
    for i in 0..<count {
      d[i] = UInt16(truncatingIfNeeded: (Int32(a[i]) &+ 2 &* Int32(b[i]) &+ Int32(c[i]) &+ 2) >> 2)
    }
  }
}
