// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreVideo

/// Turns and mirrors pictures.
public struct PixelRotation: Sendable, Hashable {
  public enum Turn: Sendable { case none, right, half, left }

  public var turn: Turn
  /// Swap left and right after the turn.
  public var flipsHorizontally: Bool
  /// Swap top and bottom after the turn.
  public var flipsVertically: Bool

  public init(turn: Turn = .none, flipsHorizontally: Bool = false, flipsVertically: Bool = false) {
    self.turn = turn
    self.flipsHorizontally = flipsHorizontally
    self.flipsVertically = flipsVertically
  }

  /// True if width and height change places.
  public var swapsSides: Bool { turn == .left || turn == .right }

  /// The format in which a picture of this format can be turned: itself, or one with more chroma; nil if there is none.
  public static func workingFormat(_ pixelFormat: OSType) -> OSType? {
    guard let info = PixelFormatInfo.of(pixelFormat) else { return nil }
    let layout = PlaneLayout(info.format)
    if layout.chromaWidthShift == layout.chromaHeightShift { return pixelFormat }
    let isDeep = av_pix_fmt_desc_get(info.format).map { $0.pointee.comp.0.depth > 8 } ?? false
    let code: StaticString =
      switch (isDeep, info.isFullRange) {
      case (false, false): "444v"
      case (false, true): "444f"
      case (true, false): "x444"
      case (true, true): "xf44"
      }
    return fourCharacterCode(code)
  }

  /// Turns the picture in `source` into `target`.
  /// - Returns: False if the two do not fit: another format, sides that are not those of the turned picture, or a
  ///   format that cannot be turned as it is.
  public func rotate(_ source: CVPixelBuffer, to target: CVPixelBuffer) -> Bool {
    guard CVPixelBufferLockBaseAddress(source, .readOnly) == kCVReturnSuccess else { return false }
    defer { CVPixelBufferUnlockBaseAddress(source, .readOnly) }
    guard CVPixelBufferLockBaseAddress(target, []) == kCVReturnSuccess else { return false }
    defer { CVPixelBufferUnlockBaseAddress(target, []) }
    guard let (from, fromInfo) = try? PixelConverter.view(source),
      let (to, toInfo) = try? PixelConverter.view(target),
      fromInfo.code == toInfo.code, Self.workingFormat(fromInfo.code) == fromInfo.code,
      (from.width, from.height) == (swapsSides ? (to.height, to.width) : (to.width, to.height))
    else { return false }
    let layout = from.layout
    for plane in 0..<layout.planeCount {
      guard let input = from.planes[plane], let output = to.planes[plane] else { return false }
      let job = PlaneJob(
        source: input, sourceStride: Int(from.strides[plane]),
        sourceWidth: layout.samples(from.width, inPlane: plane),
        sourceHeight: layout.rows(from.height, inPlane: plane), target: output,
        targetStride: Int(to.strides[plane]),
        width: layout.samples(to.width, inPlane: plane), height: layout.rows(to.height, inPlane: plane),
        bytes: layout.bytesPerSample[plane])
      job.run(self)
    }
    return true
  }
}

/// One plane to turn.
private struct PlaneJob {
  let source: UnsafeMutablePointer<UInt8>
  let sourceStride: Int
  let sourceWidth: Int
  let sourceHeight: Int
  let target: UnsafeMutablePointer<UInt8>
  let targetStride: Int
  let width: Int
  let height: Int
  /// Of a sample.
  let bytes: Int

  func run(_ rotation: PixelRotation) {
    // Where the source's sample for the target's first one lies, and how far it is to the next in x and in y.
    var start: Int
    var stepX: Int
    var stepY: Int
    switch rotation.turn {
    case .none: (start, stepX, stepY) = (0, bytes, sourceStride)
    case .right: (start, stepX, stepY) = ((sourceHeight - 1) * sourceStride, -sourceStride, bytes)
    case .half:
      (start, stepX, stepY) = (
        (sourceHeight - 1) * sourceStride + (sourceWidth - 1) * bytes, -bytes, -sourceStride
      )
    case .left: (start, stepX, stepY) = ((sourceWidth - 1) * bytes, sourceStride, -bytes)
    }
    if rotation.flipsHorizontally {
      start += (width - 1) * stepX
      stepX = -stepX
    }
    if rotation.flipsVertically {
      start += (height - 1) * stepY
      stepY = -stepY
    }
    switch bytes {
    case 1: move(UInt8.self, start, stepX, stepY)
    case 2: move(UInt16.self, start, stepX, stepY)
    case 4: move(UInt32.self, start, stepX, stepY)
    case 8: move(UInt64.self, start, stepX, stepY)
    default: moveBytes(start, stepX, stepY)
    }
  }

  /// Tile by tile, so that both pictures' lines stay in the cache.
  private func move<Sample: BitwiseCopyable>(_: Sample.Type, _ start: Int, _ stepX: Int, _ stepY: Int) {
    let tile = 32
    let size = MemoryLayout<Sample>.size
    for top in stride(from: 0, to: height, by: tile) {
      for left in stride(from: 0, to: width, by: tile) {
        let right = min(left + tile, width)
        for y in top..<min(top + tile, height) {
          var input = UnsafeRawPointer(source) + start + y * stepY + left * stepX
          var output = UnsafeMutableRawPointer(target) + y * targetStride + left * size
          for _ in left..<right {
            output.storeBytes(of: input.loadUnaligned(as: Sample.self), as: Sample.self)
            input += stepX
            output += size
          }
        }
      }
    }
  }

  private func moveBytes(_ start: Int, _ stepX: Int, _ stepY: Int) {
    for y in 0..<height {
      for x in 0..<width {
        memcpy(target + y * targetStride + x * bytes, source + start + y * stepY + x * stepX, bytes)
      }
    }
  }
}
