// SPDX-License-Identifier: Apache-2.0
import CoreVideo
import FFmpegMedia
import Foundation
import Testing

/// A Core Video pixel format and ffmpeg's name for the same memory layout.
private struct Format: Sendable, CustomStringConvertible {
  let code: OSType
  let name: String
  let range: String
  /// Bytes of a sample, to tell 8 from 16 bits in the comparison.
  var bytes = 1
  var description: String { name + (range == "pc" ? " full" : "") }
}

private let formats = [
  Format(code: kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, name: "nv12", range: "tv"),
  Format(code: kCVPixelFormatType_420YpCbCr8BiPlanarFullRange, name: "nv12", range: "pc"),
  Format(code: kCVPixelFormatType_420YpCbCr8Planar, name: "yuv420p", range: "tv"),
  Format(code: kCVPixelFormatType_420YpCbCr8PlanarFullRange, name: "yuv420p", range: "pc"),
  Format(code: kCVPixelFormatType_32BGRA, name: "bgra", range: "pc"),
  Format(code: kCVPixelFormatType_32ARGB, name: "argb", range: "pc"),
  Format(code: kCVPixelFormatType_32RGBA, name: "rgba", range: "pc"),
  Format(code: kCVPixelFormatType_32ABGR, name: "abgr", range: "pc"),
  Format(code: kCVPixelFormatType_24RGB, name: "rgb24", range: "pc"),
  Format(code: kCVPixelFormatType_422YpCbCr8, name: "uyvy422", range: "tv"),
  Format(code: kCVPixelFormatType_422YpCbCr8_yuvs, name: "yuyv422", range: "tv"),
  Format(code: kCVPixelFormatType_420YpCbCr10BiPlanarVideoRange, name: "p010le", range: "tv", bytes: 2),
  Format(code: kCVPixelFormatType_420YpCbCr10BiPlanarFullRange, name: "p010le", range: "pc", bytes: 2),
  Format(code: kCVPixelFormatType_422YpCbCr10BiPlanarVideoRange, name: "p210le", range: "tv", bytes: 2),
  Format(code: kCVPixelFormatType_444YpCbCr10BiPlanarVideoRange, name: "p410le", range: "tv", bytes: 2),
  Format(code: kCVPixelFormatType_OneComponent8, name: "gray", range: "pc"),
]

private let bgra = formats[4]
private let nv12 = formats[0]

@Suite struct PixelConverterTests {
  /// Every format to every format, against ffmpeg's scale filter.
  @Test(.enabled(if: FFmpegTool.isAvailable)) func matchesScaleFilter() throws {
    let converter = PixelConverter()
    for source in formats {
      let input = try FFmpegTool.testPicture(96, 64, source.name)
      for target in formats where source.code != target.code {
        let expected = try scaleFilter(input, 96, 64, source, 96, 64, target)
        let from = try buffer(input, 96, 64, source)
        let to = try emptyBuffer(96, 64, target)
        try converter.convert(from, to: to)
        let psnr = psnr(packed(to), expected, bytes: target.bytes)
        #expect(psnr > 45, "\(source) to \(target): \(psnr) dB")
      }
    }
  }

  @Test(.enabled(if: FFmpegTool.isAvailable), arguments: [(160, 90), (64, 48), (322, 182), (95, 63)])
  func scalesAsScaleFilterDoes(width: Int, height: Int) throws {
    let converter = PixelConverter()
    for (source, target) in [
      (nv12, nv12), (bgra, nv12), (nv12, bgra), (formats[11], nv12), (formats[2], nv12),
    ] {
      let input = try FFmpegTool.testPicture(160, 120, source.name)
      let expected = try scaleFilter(input, 160, 120, source, width, height, target)
      let from = try buffer(input, 160, 120, source)
      let to = try emptyBuffer(width, height, target)
      try converter.convert(from, to: to)
      let psnr = psnr(packed(to), expected, bytes: target.bytes)
      #expect(psnr > 45, "\(source) to \(target) at \(width)x\(height): \(psnr) dB")
    }
  }

  /// The attachments decide on the matrix.
  @Test(
    .enabled(if: FFmpegTool.isAvailable),
    arguments: [("bt601", "ITU_R_601_4"), ("bt709", "ITU_R_709_2"), ("bt2020", "ITU_R_2020")])
  func theAttachmentDecidesOnTheMatrix(filterName: String, attachment: String) throws {
    let converter = PixelConverter()
    for (source, target) in [(bgra, nv12), (nv12, bgra), (formats[12], bgra)] {
      let input = try FFmpegTool.testPicture(96, 64, source.name)
      let expected = try scaleFilter(
        input, 96, 64, source, 96, 64, target,
        more: source.name == "bgra" ? ":out_color_matrix=\(filterName)" : ":in_color_matrix=\(filterName)")
      let from = try buffer(input, 96, 64, source)
      let to = try emptyBuffer(96, 64, target)
      CVBufferSetAttachment(
        source.name == "bgra" ? to : from, "CVImageBufferYCbCrMatrix", attachment as CFString,
        .shouldPropagate)
      try converter.convert(from, to: to)
      let psnr = psnr(packed(to), expected, bytes: target.bytes)
      #expect(psnr > 45, "\(source) to \(target), \(filterName): \(psnr) dB")
    }
  }

  /// From one matrix to another and back: the picture comes back, and is another in between.
  @Test(.enabled(if: FFmpegTool.isAvailable)) func matrixChangesBetweenYCbCr() throws {
    let converter = PixelConverter()
    // A picture in gentle colours: saturated ones leave the RGB cube on the way.
    let input = try FFmpegTool.run([
      "-f", "lavfi", "-i", "color=0x808080:s=96x64:r=1", "-vf",
      "geq=r='50+X*1.5':g='60+Y*2':b='190-X'", "-frames:v", "1", "-pix_fmt", "nv12", "-f", "rawvideo",
    ])
    let from = try buffer(input, 96, 64, nv12)
    CVBufferSetAttachment(from, "CVImageBufferYCbCrMatrix", "ITU_R_601_4" as CFString, .shouldPropagate)
    let middle = try emptyBuffer(96, 64, nv12)
    CVBufferSetAttachment(middle, "CVImageBufferYCbCrMatrix", "ITU_R_709_2" as CFString, .shouldPropagate)
    let back = try emptyBuffer(96, 64, nv12)
    CVBufferSetAttachment(back, "CVImageBufferYCbCrMatrix", "ITU_R_601_4" as CFString, .shouldPropagate)
    try converter.convert(from, to: middle)
    try converter.convert(middle, to: back)
    #expect(psnr(packed(back), input, bytes: 1) > 40)
    #expect(psnr(packed(middle), input, bytes: 1) < 40)
    let expected = try scaleFilter(
      input, 96, 64, nv12, 96, 64, nv12, more: ":in_color_matrix=bt601:out_color_matrix=bt709")
    #expect(psnr(packed(middle), expected, bytes: 1) > 40)
  }

  /// Formats with interleaved chroma that libswscale does not know go through the equivalent planar
  /// formats.
  @Test(.enabled(if: FFmpegTool.isAvailable)) func formatsOutsideOfLibswscaleAreConverted() throws {
    let converter = PixelConverter()
    let input = try FFmpegTool.testPicture(96, 64, "bgra")
    let from = try buffer(input, 96, 64, bgra)
    let expected = try FFmpegTool.run(
      [
        "-f", "rawvideo", "-pix_fmt", "bgra", "-s", "96x64", "-i", "{in}", "-pix_fmt", "nv12", "-f",
        "rawvideo",
      ], input: input)
    for code in [
      kCVPixelFormatType_422YpCbCr8BiPlanarVideoRange, kCVPixelFormatType_444YpCbCr8BiPlanarVideoRange,
    ] {
      let middle = try emptyBuffer(96, 64, Format(code: code, name: "", range: "tv"))
      try converter.convert(from, to: middle)
      let to = try emptyBuffer(96, 64, nv12)
      try converter.convert(middle, to: to)
      #expect(psnr(packed(to), expected, bytes: 1) > 35)
    }
  }

  @Test func partsOfPicturesAreScaledAlone() throws {
    let converter = PixelConverter()
    let gray = Format(code: kCVPixelFormatType_OneComponent8, name: "gray", range: "pc")
    let ramp = (0..<64 * 64).map { (i: Int) -> UInt8 in UInt8(i % 64 + i / 64 * 2) }
    let from = try buffer(ramp, 64, 64, gray)
    let to = try buffer([UInt8](repeating: 7, count: 64 * 64), 64, 64, gray)
    try converter.convert(
      from, sourceRect: PixelRect(x: 5, y: 9, width: 20, height: 10), to: to,
      targetRect: PixelRect(x: 30, y: 40, width: 20, height: 10))
    let result = packed(to)
    for y in 0..<64 {
      for x in 0..<64 {
        let inside = (30..<50).contains(x) && (40..<50).contains(y)
        let expected = inside ? x - 25 + 2 * (y - 31) : 7
        #expect(Int(result[y * 64 + x]) == expected)
      }
    }
    // Scaled into a part: what lies around it stays as it was.
    try converter.convert(
      from, to: to, targetRect: PixelRect(x: 3, y: 5, width: 17, height: 11))
    let scaled = packed(to)
    for y in 0..<64 {
      for x in 0..<64 where !((3..<20).contains(x) && (5..<16).contains(y)) {
        #expect(scaled[y * 64 + x] == result[y * 64 + x])
      }
    }
    #expect(throws: PixelConversionError.invalidRectangle) {
      try converter.convert(from, sourceRect: PixelRect(x: 60, y: 0, width: 5, height: 5), to: to)
    }
    #expect(throws: PixelConversionError.invalidRectangle) {
      try converter.convert(from, to: to, targetRect: PixelRect(x: 0, y: 0, width: 0, height: 5))
    }
  }

  @Test func refusesWhatItDoesNotKnow() throws {
    let from = try emptyBuffer(16, 16, nv12)
    var odd: CVPixelBuffer?
    #expect(CVPixelBufferCreate(nil, 16, 16, kCVPixelFormatType_14Bayer_GRBG, nil, &odd) == kCVReturnSuccess)
    let bayer = try #require(odd)
    #expect(throws: PixelConversionError.unsupportedPixelFormat(kCVPixelFormatType_14Bayer_GRBG)) {
      try PixelConverter().convert(from, to: bayer)
    }
    #expect(!PixelConverter.canRead(kCVPixelFormatType_14Bayer_GRBG))
    #expect(PixelConverter.canWrite(kCVPixelFormatType_422YpCbCr8BiPlanarVideoRange))
  }

  /// One converter, many threads and geometries at once.
  @Test(.enabled(if: FFmpegTool.isAvailable)) func aConverterIsSharedByThreads() async throws {
    let converter = PixelConverter()
    let input = try FFmpegTool.testPicture(96, 64, "nv12")
    try await withThrowingTaskGroup(of: [UInt8].self) { group in
      for _ in 0..<16 {
        group.addTask {
          let from = try buffer(input, 96, 64, nv12)
          let to = try emptyBuffer(48, 32, bgra)
          try converter.convert(from, to: to)
          return packed(to)
        }
      }
      var first: [UInt8]?
      for try await picture in group {
        let isSame = first == nil || picture == first
        #expect(isSame)
        first = picture
      }
    }
  }

  @Test(.enabled(if: FFmpegTool.isAvailable)) func sliceThreadsGiveTheSamePicture() throws {
    let input = try FFmpegTool.testPicture(320, 240, "nv12")
    let from = try buffer(input, 320, 240, nv12)
    var pictures: [[UInt8]] = []
    for threads in [1, 3] {
      let to = try emptyBuffer(200, 150, bgra)
      try PixelConverter(threads: threads).convert(from, to: to)
      pictures.append(packed(to))
    }
    let isSame = pictures[0] == pictures[1]
    #expect(isSame)
  }
}

// MARK: - Help

private func scaleFilter(
  _ input: [UInt8], _ width: Int, _ height: Int, _ source: Format, _ newWidth: Int, _ newHeight: Int,
  _ target: Format, more: String = ""
) throws -> [UInt8] {
  // From gray to interleaved chroma the filter makes green pictures: take the planar format in
  // between.
  let equivalentFormats = [
    "nv12": "yuv420p,", "p010le": "yuv420p10le,", "p210le": "yuv422p10le,", "p410le": "yuv444p10le,",
  ]
  let detour = source.name == "gray" ? equivalentFormats[target.name].map { "format=" + $0 } ?? "" : ""
  // RGB is made of chroma in the full size.
  let rgb = ["bgra", "argb", "rgba", "abgr", "rgb24"]
  let more =
    more + (rgb.contains(target.name) && !rgb.contains(source.name) ? ":flags=bicubic+full_chroma_int" : "")
  let range = detour.isEmpty ? "" : "scale=in_range=\(target.range):out_range=\(target.range),"
  return try FFmpegTool.run(
    [
      "-f", "rawvideo", "-pix_fmt", source.name, "-s", "\(width)x\(height)", "-i", "{in}", "-vf",
      "scale=\(newWidth):\(newHeight):in_range=\(source.range):out_range=\(target.range)\(more),\(detour)\(range)format=\(target.name)",
      "-f", "rawvideo",
    ], input: input)
}

private func emptyBuffer(_ width: Int, _ height: Int, _ format: Format) throws -> CVPixelBuffer {
  var buffer: CVPixelBuffer?
  #expect(CVPixelBufferCreate(nil, width, height, format.code, nil, &buffer) == kCVReturnSuccess)
  return try #require(buffer)
}

/// A buffer that holds tightly packed samples.
private func buffer(_ samples: [UInt8], _ width: Int, _ height: Int, _ format: Format) throws -> CVPixelBuffer
{
  let buffer = try emptyBuffer(width, height, format)
  CVPixelBufferLockBaseAddress(buffer, [])
  defer { CVPixelBufferUnlockBaseAddress(buffer, []) }
  var offset = 0
  for (base, stride, bytes, rows) in rowLayout(buffer, samples.count) {
    for row in 0..<rows {
      samples.withUnsafeBytes { _ = memcpy(base + row * stride, $0.baseAddress! + offset, bytes) }
      offset += bytes
    }
  }
  #expect(offset == samples.count)
  return buffer
}

private func packed(_ buffer: CVPixelBuffer) -> [UInt8] {
  CVPixelBufferLockBaseAddress(buffer, .readOnly)
  defer { CVPixelBufferUnlockBaseAddress(buffer, .readOnly) }
  var samples: [UInt8] = []
  for (base, stride, bytes, rows) in rowLayout(buffer, nil) {
    for row in 0..<rows { samples += UnsafeRawBufferPointer(start: base + row * stride, count: bytes) }
  }
  return samples
}

private func rowLayout(
  _ buffer: CVPixelBuffer, _ total: Int?
) -> [(UnsafeMutableRawPointer, stride: Int, bytes: Int, rows: Int)] {
  let width = CVPixelBufferGetWidth(buffer)
  let height = CVPixelBufferGetHeight(buffer)
  let code = CVPixelBufferGetPixelFormatType(buffer)
  guard CVPixelBufferIsPlanar(buffer) else {
    let bytes =
      switch code {
      case kCVPixelFormatType_OneComponent8: width
      case kCVPixelFormatType_24RGB: 3 * width
      case kCVPixelFormatType_422YpCbCr8, kCVPixelFormatType_422YpCbCr8_yuvs: 2 * width
      default: 4 * width
      }
    return [(CVPixelBufferGetBaseAddress(buffer)!, CVPixelBufferGetBytesPerRow(buffer), bytes, height)]
  }
  let bytes =
    [
      kCVPixelFormatType_420YpCbCr10BiPlanarVideoRange, kCVPixelFormatType_420YpCbCr10BiPlanarFullRange,
      kCVPixelFormatType_422YpCbCr10BiPlanarVideoRange, kCVPixelFormatType_444YpCbCr10BiPlanarVideoRange,
    ].contains(code) ? 2 : 1
  let planes = CVPixelBufferGetPlaneCount(buffer)
  return (0..<planes).map {
    (
      CVPixelBufferGetBaseAddressOfPlane(buffer, $0)!, CVPixelBufferGetBytesPerRowOfPlane(buffer, $0),
      CVPixelBufferGetWidthOfPlane(buffer, $0) * bytes * (planes == 2 && $0 == 1 ? 2 : 1),
      CVPixelBufferGetHeightOfPlane(buffer, $0)
    )
  }
}

/// In decibels, over all samples; infinite if equal.
private func psnr(_ a: [UInt8], _ b: [UInt8], bytes: Int) -> Double {
  guard a.count == b.count, !a.isEmpty else { return -1 }
  var sum = 0.0
  let count = a.count / bytes
  for i in 0..<count {
    let x = bytes == 1 ? Double(a[i]) : Double(Int(a[2 * i]) | Int(a[2 * i + 1]) << 8) / 257
    let y = bytes == 1 ? Double(b[i]) : Double(Int(b[2 * i]) | Int(b[2 * i + 1]) << 8) / 257
    sum += (x - y) * (x - y)
  }
  return sum == 0 ? .infinity : 10 * log10(255 * 255 * Double(count) / sum)
}
