// SPDX-License-Identifier: Apache-2.0
import CoreVideo
import Foundation

/// A pixel buffer whose planes end with their last sample, each between two pages that the process
/// must not touch: a read or write one byte too far ends the process.
final class GuardedPicture {
  enum Side: CaseIterable { case beginning, end }

  let buffer: CVPixelBuffer
  /// Row lengths without padding, and rows, of each plane.
  let planes: [(bytes: Int, rows: Int)]
  private let memory: [GuardedPlane]

  /// - Parameters:
  ///   - padding: Bytes after each row but the last.
  ///   - seed: What the first sample is; the others follow from it. nil: all bytes are 0xA5.
  init(_ format: OSType, _ width: Int, _ height: Int, padding: Int, at side: Side, seed: UInt64? = nil) throws
  {
    // Core Video's own layout gives the planes' sizes; the rows' lengths follow from the
    // bits of the format.
    var model: CVPixelBuffer?
    guard CVPixelBufferCreate(nil, width, height, format, nil, &model) == kCVReturnSuccess, let model else {
      throw Failure(description: "no buffer of format \(format)")
    }
    let shapes = PlaneShape.of(format, width, height)
    planes = shapes.map { ($0.bytes, $0.rows) }
    var state = seed ?? 0
    memory = try shapes.map { shape in
      let stride = shape.bytes + padding
      let plane = try GuardedPlane(count: stride * (shape.rows - 1) + shape.bytes, stride: stride, at: side)
      for row in 0..<shape.rows {
        for column in 0..<shape.bytes {
          state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
          plane.base[row * stride + column] = seed == nil ? 0xA5 : UInt8(truncatingIfNeeded: state >> 56)
        }
      }
      return plane
    }
    var made: CVPixelBuffer?
    let result: CVReturn
    if CVPixelBufferIsPlanar(model) {
      var bases: [UnsafeMutableRawPointer?] = memory.map { UnsafeMutableRawPointer($0.base) }
      var widths = shapes.indices.map { CVPixelBufferGetWidthOfPlane(model, $0) }
      var heights = shapes.map(\.rows)
      var strides = memory.map(\.stride)
      result = CVPixelBufferCreateWithPlanarBytes(
        nil, width, height, format, nil, 0, bases.count, &bases, &widths, &heights, &strides, nil, nil, nil,
        &made)
    } else {
      result = CVPixelBufferCreateWithBytes(
        nil, width, height, format, memory[0].base, memory[0].stride, nil, nil, nil, &made)
    }
    guard result == kCVReturnSuccess, let made else { throw Failure(description: "error \(result)") }
    buffer = made
  }

  /// The samples, row after row, without padding.
  var bytes: [UInt8] {
    zip(memory, planes).flatMap { plane, shape in
      (0..<shape.rows).flatMap { row in
        Array(UnsafeBufferPointer(start: plane.base + row * plane.stride, count: shape.bytes))
      }
    }
  }

  struct Failure: Error { let description: String }
}

/// Bytes of a row and rows of a plane, from the definitions of the formats alone.
struct PlaneShape {
  var bytes: Int
  var rows: Int

  static func of(_ format: OSType, _ width: Int, _ height: Int) -> [PlaneShape] {
    let (halfWidth, halfHeight) = ((width + 1) / 2, (height + 1) / 2)
    func biPlanar(_ bytes: Int, _ h: Int, _ v: Int) -> [PlaneShape] {
      [
        PlaneShape(bytes: width * bytes, rows: height),
        PlaneShape(bytes: (h == 2 ? halfWidth : width) * 2 * bytes, rows: v == 2 ? halfHeight : height),
      ]
    }
    func packed(_ bytes: Int) -> [PlaneShape] { [PlaneShape(bytes: width * bytes, rows: height)] }
    switch format {
    case kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, kCVPixelFormatType_420YpCbCr8BiPlanarFullRange:
      return biPlanar(1, 2, 2)
    case kCVPixelFormatType_422YpCbCr8BiPlanarVideoRange, kCVPixelFormatType_422YpCbCr8BiPlanarFullRange:
      return biPlanar(1, 2, 1)
    case kCVPixelFormatType_444YpCbCr8BiPlanarVideoRange, kCVPixelFormatType_444YpCbCr8BiPlanarFullRange:
      return biPlanar(1, 1, 1)
    case kCVPixelFormatType_420YpCbCr10BiPlanarVideoRange, kCVPixelFormatType_420YpCbCr10BiPlanarFullRange:
      return biPlanar(2, 2, 2)
    case kCVPixelFormatType_422YpCbCr10BiPlanarVideoRange, kCVPixelFormatType_422YpCbCr10BiPlanarFullRange,
      kCVPixelFormatType_422YpCbCr16BiPlanarVideoRange:
      return biPlanar(2, 2, 1)
    case kCVPixelFormatType_444YpCbCr10BiPlanarVideoRange, kCVPixelFormatType_444YpCbCr10BiPlanarFullRange,
      kCVPixelFormatType_444YpCbCr16BiPlanarVideoRange:
      return biPlanar(2, 1, 1)
    case kCVPixelFormatType_420YpCbCr8Planar, kCVPixelFormatType_420YpCbCr8PlanarFullRange:
      let chroma = PlaneShape(bytes: halfWidth, rows: halfHeight)
      return [PlaneShape(bytes: width, rows: height), chroma, chroma]
    case kCVPixelFormatType_422YpCbCr8, kCVPixelFormatType_422YpCbCr8_yuvs,
      kCVPixelFormatType_422YpCbCr8FullRange:
      return [PlaneShape(bytes: halfWidth * 4, rows: height)]
    case kCVPixelFormatType_422YpCbCr16: return [PlaneShape(bytes: halfWidth * 8, rows: height)]
    case kCVPixelFormatType_422YpCbCr10: return [PlaneShape(bytes: (width + 5) / 6 * 16, rows: height)]
    case kCVPixelFormatType_OneComponent8: return packed(1)
    case kCVPixelFormatType_OneComponent16, kCVPixelFormatType_16Gray, kCVPixelFormatType_16BE555,
      kCVPixelFormatType_16LE555, kCVPixelFormatType_16BE565, kCVPixelFormatType_16LE565:
      return packed(2)
    case kCVPixelFormatType_24RGB, kCVPixelFormatType_24BGR, kCVPixelFormatType_444YpCbCr8: return packed(3)
    case kCVPixelFormatType_48RGB: return packed(6)
    case kCVPixelFormatType_4444AYpCbCr16, kCVPixelFormatType_64RGBALE, kCVPixelFormatType_64ARGB:
      return packed(8)
    default: return packed(4)
    }
  }
}

private final class GuardedPlane {
  let base: UnsafeMutablePointer<UInt8>
  let stride: Int
  private let mapping: UnsafeMutableRawPointer
  private let mappedBytes: Int

  init(count: Int, stride: Int, at side: GuardedPicture.Side) throws {
    self.stride = stride
    let page = Int(sysconf(Int32(_SC_PAGESIZE)))
    let inner = (count + page - 1) / page * page
    mappedBytes = inner + 2 * page
    guard let mapping = mmap(nil, mappedBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
      mapping != MAP_FAILED
    else { throw GuardedPicture.Failure(description: "no memory with guard pages") }
    self.mapping = mapping
    base = (mapping + page + (side == .beginning ? 0 : inner - count)).assumingMemoryBound(to: UInt8.self)
    mprotect(mapping, page, PROT_NONE)
    mprotect(mapping + page + inner, page, PROT_NONE)
  }

  deinit { munmap(mapping, mappedBytes) }
}
