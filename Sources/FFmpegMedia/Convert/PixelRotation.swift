// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreVideo

/// Rotates and mirrors pictures.
public struct PixelRotation: Sendable, Hashable {
  /// The angle of a rotation: none, 90 degrees clockwise, 180 degrees (`half`), or 90 degrees
  /// counterclockwise.
  public enum Angle: Sendable { case none, clockwise90, half, counterclockwise90 }

  /// The rotation, which is done before mirroring.
  public var angle: Angle
  /// Whether left and right are swapped after the rotation.
  public var flipsHorizontally: Bool
  /// Whether top and bottom are swapped after the rotation.
  public var flipsVertically: Bool

  public init(angle: Angle = .none, flipsHorizontally: Bool = false, flipsVertically: Bool = false) {
    self.angle = angle
    self.flipsHorizontally = flipsHorizontally
    self.flipsVertically = flipsVertically
  }

  /// Whether the rotation swaps width and height.
  public var swapsSides: Bool { angle == .counterclockwise90 || angle == .clockwise90 }

  /// The format in which a picture of this format can be rotated: the same one, or one with more
  /// chroma; nil for unknown formats. A format that is subsampled in one direction only cannot be
  /// rotated.
  public static func workingFormat(_ pixelFormat: OSType) -> OSType? {
    guard let info = PixelFormatInfo.of(pixelFormat) else { return nil }
    let layout = PlaneLayout(info.format)
    // Packed samples are rotated in a format with as many components and as many bits.
    if let packing = info.packing {
      switch packing {
      case .v216: return kCVPixelFormatType_444YpCbCr16BiPlanarVideoRange
      case .v210, .v410: return kCVPixelFormatType_444YpCbCr10BiPlanarVideoRange
      case .v308: return kCVPixelFormatType_444YpCbCr8BiPlanarVideoRange
      case .v408, .y408: return kCVPixelFormatType_4444AYpCbCr16
      case .b64a: return kCVPixelFormatType_64RGBALE
      }
    }
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

  /// Rotates and mirrors a picture.
  /// - Parameters:
  ///   - source: The picture.
  ///   - target: Receives the result.
  /// - Returns: false if the formats differ, if the size of `target` is not that of the rotated
  ///   picture, or if the format cannot be rotated; see `workingFormat(_:)`.
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

/// The rotation of one plane.
private struct PlaneJob {
  let source: UnsafeMutablePointer<UInt8>
  let sourceStride: Int
  let sourceWidth: Int
  let sourceHeight: Int
  let target: UnsafeMutablePointer<UInt8>
  let targetStride: Int
  let width: Int
  let height: Int
  /// Bytes of a sample.
  let bytes: Int

  func run(_ rotation: PixelRotation) {
    // Offset in the source of the target's first sample, and steps in the source for one sample to
    // the right and one row down.
    var start: Int
    var stepX: Int
    var stepY: Int
    switch rotation.angle {
    case .none: (start, stepX, stepY) = (0, bytes, sourceStride)
    case .clockwise90: (start, stepX, stepY) = ((sourceHeight - 1) * sourceStride, -sourceStride, bytes)
    case .half:
      (start, stepX, stepY) = (
        (sourceHeight - 1) * sourceStride + (sourceWidth - 1) * bytes, -bytes, -sourceStride
      )
    case .counterclockwise90: (start, stepX, stepY) = ((sourceWidth - 1) * bytes, sourceStride, -bytes)
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

  /// Copies in tiles of 32 by 32 samples, so that the rows of both pictures stay in the cache.
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
