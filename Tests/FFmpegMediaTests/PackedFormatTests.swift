// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreVideo
import Foundation
import Testing

@testable import FFmpegMedia

/// Pixel formats whose arrangement libavutil does not have: v210, v216, v308, v408, v410, y408 and
/// b64a.
@Suite struct PackedFormatTests {
  /// A format, ffmpeg's name of the same samples in planes, and where they go.
  struct Packed: Sendable, CustomTestStringConvertible {
    var code: OSType
    /// Core Video's format with the same samples, which is converted from and to.
    var equivalentFormat: OSType
    var planar: String
    /// ffmpeg's encoder, whose packets are the rows of this format.
    var encoder: String
    var testDescription: String { encoder }
  }

  static let known = [
    Packed(
      code: kCVPixelFormatType_422YpCbCr10,
      equivalentFormat: kCVPixelFormatType_422YpCbCr10BiPlanarVideoRange,
      planar: "yuv422p10le", encoder: "v210"),
    Packed(
      code: kCVPixelFormatType_444YpCbCr10,
      equivalentFormat: kCVPixelFormatType_444YpCbCr10BiPlanarVideoRange,
      planar: "yuv444p10le", encoder: "v410"),
    Packed(
      code: kCVPixelFormatType_444YpCbCr8, equivalentFormat: kCVPixelFormatType_444YpCbCr8BiPlanarVideoRange,
      planar: "yuv444p", encoder: "v308"),
    Packed(
      code: kCVPixelFormatType_4444YpCbCrA8, equivalentFormat: kCVPixelFormatType_4444AYpCbCr8,
      planar: "yuva444p",
      encoder: "v408"),
  ]

  private func makeBuffer(_ width: Int, _ height: Int, _ code: OSType) throws -> CVPixelBuffer {
    var made: CVPixelBuffer?
    #expect(CVPixelBufferCreate(nil, width, height, code, nil, &made) == kCVReturnSuccess)
    return try #require(made)
  }

  /// The rows of all planes without padding.
  private func rows(_ buffer: CVPixelBuffer) -> [UInt8] {
    CVPixelBufferLockBaseAddress(buffer, .readOnly)
    defer { CVPixelBufferUnlockBaseAddress(buffer, .readOnly) }
    let shapes = PlaneShape.of(
      CVPixelBufferGetPixelFormatType(buffer), CVPixelBufferGetWidth(buffer), CVPixelBufferGetHeight(buffer))
    var bytes: [UInt8] = []
    for (plane, shape) in shapes.enumerated() {
      let isPlanar = CVPixelBufferIsPlanar(buffer)
      guard
        let base = isPlanar
          ? CVPixelBufferGetBaseAddressOfPlane(buffer, plane) : CVPixelBufferGetBaseAddress(buffer)
      else { return [] }
      let stride =
        isPlanar ? CVPixelBufferGetBytesPerRowOfPlane(buffer, plane) : CVPixelBufferGetBytesPerRow(buffer)
      for row in 0..<shape.rows {
        bytes += UnsafeRawBufferPointer(start: base + row * stride, count: shape.bytes)
      }
    }
    return bytes
  }

  private func fill(_ buffer: CVPixelBuffer, _ bytes: [UInt8]) {
    CVPixelBufferLockBaseAddress(buffer, [])
    defer { CVPixelBufferUnlockBaseAddress(buffer, []) }
    let shapes = PlaneShape.of(
      CVPixelBufferGetPixelFormatType(buffer), CVPixelBufferGetWidth(buffer), CVPixelBufferGetHeight(buffer))
    var rest = bytes[...]
    for (plane, shape) in shapes.enumerated() {
      let isPlanar = CVPixelBufferIsPlanar(buffer)
      let base =
        isPlanar ? CVPixelBufferGetBaseAddressOfPlane(buffer, plane) : CVPixelBufferGetBaseAddress(buffer)
      let stride =
        isPlanar ? CVPixelBufferGetBytesPerRowOfPlane(buffer, plane) : CVPixelBufferGetBytesPerRow(buffer)
      for row in 0..<shape.rows {
        UnsafeMutableRawBufferPointer(start: base.map { $0 + row * stride }, count: shape.bytes)
          .copyBytes(from: rest.prefix(shape.bytes))
        rest = rest.dropFirst(shape.bytes)
      }
    }
    #expect(rest.isEmpty)
  }

  private func words(_ bytes: [UInt8]) -> [UInt16] {
    stride(from: 0, to: bytes.count - 1, by: 2).map { at -> UInt16 in
      UInt16(bytes[at]) | UInt16(bytes[at + 1]) << 8
    }
  }

  private func littleEndian(_ words: [UInt16]) -> [UInt8] {
    words.flatMap { word -> [UInt8] in
      [UInt8(truncatingIfNeeded: word), UInt8(truncatingIfNeeded: word >> 8)]
    }
  }

  /// The samples of a picture in Core Video's format compared with `Packed`, from ffmpeg's planes.
  private func equivalentFormat(_ format: Packed, _ planes: [UInt8], _ width: Int, _ height: Int) throws
    -> CVPixelBuffer
  {
    let buffer = try makeBuffer(width, height, format.equivalentFormat)
    if format.equivalentFormat == kCVPixelFormatType_4444AYpCbCr8 {
      let count = width * height
      var pixels: [UInt8] = []
      for n in 0..<count {
        // Alpha first.
        for plane in [3, 0, 1, 2] { pixels.append(planes[plane * count + n]) }
      }
      fill(buffer, pixels)
      return buffer
    }
    let name = [
      kCVPixelFormatType_422YpCbCr10BiPlanarVideoRange: "p210le",
      kCVPixelFormatType_444YpCbCr10BiPlanarVideoRange: "p410le",
    ][format.equivalentFormat, default: "nv24"]
    fill(
      buffer,
      try FFmpegTool.run(
        [
          "-f", "rawvideo", "-pix_fmt", format.planar, "-s", "\(width)x\(height)", "-i", "{in}", "-f",
          "rawvideo",
          "-pix_fmt", name,
        ], input: planes))
    return buffer
  }

  @Test(
    "What ffmpeg's encoders write is what the converter writes, and reads",
    .enabled(if: FFmpegTool.isAvailable), arguments: known)
  func matchesFFmpeg(_ format: Packed) throws {
    // Rows of v210 are stored in groups of 48 pixels.
    let (width, height) = (96, 22)
    let planes = try FFmpegTool.testPicture(width, height, format.planar)
    let expected = try FFmpegTool.run(
      [
        "-f", "rawvideo", "-pix_fmt", format.planar, "-s", "\(width)x\(height)", "-i", "{in}", "-c:v",
        format.encoder, "-strict", "-2", "-f", "data", "-map", "0:v",
      ], input: planes)
    let source = try equivalentFormat(format, planes, width, height)
    let made = try makeBuffer(width, height, format.code)
    try PixelConverter().convert(source, to: made)
    #expect(rows(made) == expected)
    let back = try makeBuffer(width, height, format.equivalentFormat)
    fill(made, expected)
    try PixelConverter().convert(made, to: back)
    #expect(rows(back) == rows(source))
  }

  @Test(
    "v216 has the samples of 4:2:2 in words of 16 bits", .enabled(if: FFmpegTool.isAvailable),
    arguments: [(96, 22), (95, 7)])
  func v216(_ width: Int, _ height: Int) throws {
    let samples = words(try FFmpegTool.testPicture(width, height, "yuv422p16le"))
    let (half, luma) = ((width + 1) / 2, width * height)
    var expected: [UInt16] = []
    var chroma: [UInt16] = []
    for row in 0..<height {
      for pair in 0..<half {
        let (cb, cr) = (samples[luma + row * half + pair], samples[luma + (height + row) * half + pair])
        let left = row * width + 2 * pair
        expected += [cb, samples[left], cr, samples[2 * pair + 1 < width ? left + 1 : left]]
        chroma += [cb, cr]
      }
    }
    let source = try makeBuffer(width, height, kCVPixelFormatType_422YpCbCr16BiPlanarVideoRange)
    fill(source, littleEndian(Array(samples.prefix(luma)) + chroma))
    let made = try makeBuffer(width, height, kCVPixelFormatType_422YpCbCr16)
    try PixelConverter().convert(source, to: made)
    #expect(rows(made) == littleEndian(expected))
    let back = try makeBuffer(width, height, kCVPixelFormatType_422YpCbCr16BiPlanarVideoRange)
    try PixelConverter().convert(made, to: back)
    #expect(rows(back) == rows(source))
  }

  @Test("b64a is RGBA in another order and byte order", .enabled(if: FFmpegTool.isAvailable))
  func b64a() throws {
    let rgba = try FFmpegTool.testPicture(33, 10, "rgba64le")
    let source = try makeBuffer(33, 10, kCVPixelFormatType_64RGBALE)
    fill(source, rgba)
    let made = try makeBuffer(33, 10, kCVPixelFormatType_64ARGB)
    try PixelConverter().convert(source, to: made)
    let values = words(rgba)
    var expected: [UInt8] = []
    for at in stride(from: 0, to: values.count, by: 4) {
      for sample in [3, 0, 1, 2] {
        let value = values[at + sample]
        expected += [UInt8(value >> 8), UInt8(truncatingIfNeeded: value)]
      }
    }
    #expect(rows(made) == expected)
  }

  @Test(
    "Pictures are converted within their memory, and come back, whatever their size",
    arguments: GuardedPicture.Side.allCases)
  func staysWithinItsMemory(side: GuardedPicture.Side) throws {
    let converter = PixelConverter()
    for info in PixelFormatInfo.all where info.packing != nil {
      // Without loss: the same samples, or more bits.
      let equivalentFormat =
        switch info.code {
        case kCVPixelFormatType_422YpCbCr16: kCVPixelFormatType_422YpCbCr16BiPlanarVideoRange
        case kCVPixelFormatType_422YpCbCr10: kCVPixelFormatType_422YpCbCr10BiPlanarVideoRange
        case kCVPixelFormatType_444YpCbCr10: kCVPixelFormatType_444YpCbCr10BiPlanarVideoRange
        case kCVPixelFormatType_444YpCbCr8: kCVPixelFormatType_444YpCbCr8BiPlanarVideoRange
        case kCVPixelFormatType_4444YpCbCrA8: kCVPixelFormatType_4444AYpCbCr8
        case kCVPixelFormatType_4444AYpCbCr8: kCVPixelFormatType_4444YpCbCrA8
        default: kCVPixelFormatType_64RGBALE
        }
      for width in Array(1...13) + [48, 50] {
        let first = try GuardedPicture(info.code, width, 3, padding: 2, at: side, seed: 7)
        let between = try GuardedPicture(equivalentFormat, width, 3, padding: 0, at: side)
        let second = try GuardedPicture(info.code, width, 3, padding: 6, at: side)
        let again = try GuardedPicture(equivalentFormat, width, 3, padding: 0, at: side)
        try converter.convert(first.buffer, to: between.buffer)
        try converter.convert(between.buffer, to: second.buffer)
        try converter.convert(second.buffer, to: again.buffer)
        let isV210 = info.code == kCVPixelFormatType_422YpCbCr10
        #expect(
          (isV210 ? withoutCodes(between.bytes) : between.bytes) == again.bytes, "\(info.code) \(width)")
      }
    }
  }

  /// Samples of 10 bits in the upper bits of words, with those that v210 cannot have at the nearest
  /// that it can.
  private func withoutCodes(_ bytes: [UInt8]) -> [UInt8] {
    littleEndian(words(bytes).map { min(max($0 >> 6, 4), 1019) << 6 })
  }

  @Test("Of a part that is written, what lies around it stays") func parts() throws {
    let converter = PixelConverter()
    for info in PixelFormatInfo.all where info.packing != nil {
      let target = try GuardedPicture(info.code, 50, 8, padding: 0, at: .end, seed: 3)
      let source = try GuardedPicture(info.code, 20, 4, padding: 0, at: .end, seed: 5)
      let before = try makeBuffer(50, 8, kCVPixelFormatType_4444AYpCbCr16)
      let after = try makeBuffer(50, 8, kCVPixelFormatType_4444AYpCbCr16)
      let part = try makeBuffer(20, 4, kCVPixelFormatType_4444AYpCbCr16)
      // Random bytes may have values that a format cannot: what is converted has not.
      try converter.convert(target.buffer, to: before)
      try converter.convert(before, to: target.buffer)
      try converter.convert(target.buffer, to: before)
      try converter.convert(source.buffer, to: part)
      try converter.convert(part, to: source.buffer)
      try converter.convert(source.buffer, to: part)
      try converter.convert(
        source.buffer, to: target.buffer, targetRect: PixelRect(x: 14, y: 2, width: 20, height: 4))
      try converter.convert(target.buffer, to: after)
      let (old, new, inner) = (rows(before), rows(after), rows(part))
      // Chroma is interpolated from neighbours too: four pixels next to the edge may differ.
      for y in 0..<8 {
        for x in 0..<50 {
          let place = (y * 50 + x) * 8
          if (2..<6).contains(y), (18..<30).contains(x) {
            let from = ((y - 2) * 20 + x - 14) * 8
            #expect(new[place..<place + 8].elementsEqual(inner[from..<from + 8]), "\(info.code) \(x) \(y)")
          } else if !(2..<6).contains(y) || !(10..<38).contains(x) {
            #expect(new[place..<place + 8] == old[place..<place + 8], "\(info.code) \(x) \(y)")
          }
        }
      }
    }
  }
}
