// SPDX-License-Identifier: Apache-2.0
import Foundation
import ImageIO
import Testing

/// Bitmaps and their files, against ffmpeg.
@Suite final class ImageTests {
  private let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("images-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private func context(
    _ width: Int, _ height: Int, _ alpha: CGImageAlphaInfo = .premultipliedLast, _ order: CGBitmapInfo = []
  ) throws -> CGContext {
    try #require(
      CGContext(
        data: nil, width: width, height: height, bitsPerComponent: 8, bytesPerRow: 0,
        space: CGColorSpaceCreateDeviceRGB(), bitmapInfo: alpha.rawValue | order.rawValue))
  }

  private func bytes(_ context: CGContext, _ x: Int, _ y: Int) throws -> [UInt8] {
    let data = try #require(context.data)
    return Array(UnsafeRawBufferPointer(start: data + y * context.bytesPerRow + 4 * x, count: 4))
  }

  /// The file that ffmpeg writes with these arguments.
  @discardableResult private func ffmpeg(_ arguments: [String]) throws -> Data {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["ffmpeg", "-v", "error"] + arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return data
  }

  /// Raw RGBA of a file as ffmpeg reads it.
  private func ffmpeg(_ url: URL) throws -> [UInt8] {
    [UInt8](try ffmpeg(["-i", url.path, "-f", "rawvideo", "-pix_fmt", "rgba", "-"]))
  }

  @Test func fillsInTheLowerLeftCoordinates() throws {
    let context = try context(8, 6)
    context.setFillColor(red: 1, green: 0, blue: 0, alpha: 1)
    context.fill(CGRect(x: 0, y: 0, width: 4, height: 2))
    // The lower left is in the last rows.
    #expect(try bytes(context, 0, 5) == [255, 0, 0, 255] && bytes(context, 3, 4) == [255, 0, 0, 255])
    #expect(try bytes(context, 4, 5) == [0, 0, 0, 0] && bytes(context, 0, 3) == [0, 0, 0, 0])
    context.setFillColor(CGColor(red: 0, green: 0, blue: 1, alpha: 0.5))
    context.fill(CGRect(x: 0, y: 0, width: 1, height: 1))
    #expect(try bytes(context, 0, 5) == [127, 0, 128, 255])
    context.clear(CGRect(x: 1, y: 0, width: 1, height: 1))
    #expect(try bytes(context, 1, 5) == [0, 0, 0, 0])
    // Outside, and of no size: nothing happens.
    context.fill(CGRect(x: -100, y: 90, width: 10, height: 1e9))
    context.fill(.null)
  }

  @Test func layoutsOfPixels() throws {
    let bgra = try context(2, 2, .premultipliedFirst, .byteOrder32Little)
    bgra.setFillColor(red: 1, green: 0.5, blue: 0, alpha: 1)
    bgra.fill(CGRect(x: 0, y: 0, width: 2, height: 2))
    #expect(try bytes(bgra, 0, 0) == [0, 128, 255, 255])
    let space = CGColorSpaceCreateDeviceRGB()
    for info in [CGImageAlphaInfo.last.rawValue, CGImageAlphaInfo.none.rawValue, 1 << 8] {
      #expect(
        CGContext(
          data: nil, width: 2, height: 2, bitsPerComponent: 8, bytesPerRow: 0, space: space, bitmapInfo: info)
          == nil)
    }
    #expect(
      CGContext(
        data: nil, width: 2, height: 2, bitsPerComponent: 8, bytesPerRow: 4, space: space,
        bitmapInfo: CGImageAlphaInfo.premultipliedLast.rawValue) == nil)
    let grey = CGContext(
      data: nil, width: 2, height: 2, bitsPerComponent: 8, bytesPerRow: 0,
      space: CGColorSpaceCreateDeviceGray(), bitmapInfo: CGImageAlphaInfo.none.rawValue)
    #expect(grey?.bitsPerPixel == 8)
  }

  /// Left half red, right half blue; the upper half is lighter.
  private func quarters(_ side: Int) throws -> CGImage {
    let context = try context(side, side)
    let half = CGFloat(side) / 2
    for (x, y, color) in [
      (0, 0, CGColor(red: 0.5, green: 0, blue: 0, alpha: 1)),
      (1, 0, CGColor(red: 0, green: 0, blue: 0.5, alpha: 1)),
      (0, 1, CGColor(red: 1, green: 0, blue: 0, alpha: 1)),
      (1, 1, CGColor(red: 0, green: 0, blue: 1, alpha: 1)),
    ] as [(CGFloat, CGFloat, CGColor)] {
      context.setFillColor(color)
      context.fill(CGRect(x: x * half, y: y * half, width: half, height: half))
    }
    return try #require(context.makeImage())
  }

  @Test(arguments: [4, 16, 64]) func imagesAreScaled(_ side: Int) throws {
    let image = try quarters(side)
    let context = try context(16, 16)
    context.draw(image, in: CGRect(x: 0, y: 0, width: 16, height: 16))
    #expect(try bytes(context, 2, 2) == [255, 0, 0, 255] && bytes(context, 13, 2) == [0, 0, 255, 255])
    #expect(try bytes(context, 2, 13) == [128, 0, 0, 255] && bytes(context, 13, 13) == [0, 0, 128, 255])
    // Upside down, as programs do it that come from the upper left.
    context.saveGState()
    context.translateBy(x: 0, y: 16)
    context.scaleBy(x: 1, y: -1)
    context.draw(image, in: CGRect(x: 0, y: 0, width: 16, height: 16))
    context.restoreGState()
    #expect(try bytes(context, 2, 2) == [128, 0, 0, 255] && bytes(context, 2, 13) == [255, 0, 0, 255])
    // A quarter turn to the left.
    context.translateBy(x: 16, y: 0)
    context.rotate(by: .pi / 2)
    context.draw(image, in: CGRect(x: 0, y: 0, width: 16, height: 16))
    #expect(try bytes(context, 2, 2) == [0, 0, 255, 255] && bytes(context, 2, 13) == [255, 0, 0, 255])
  }

  @Test func partsOfAnImage() throws {
    let image = try quarters(8)
    let part = try #require(image.cropping(to: CGRect(x: 4, y: 4, width: 10, height: 2)))
    #expect(part.width == 4 && part.height == 2)
    let context = try context(4, 2)
    context.draw(part, in: CGRect(x: 0, y: 0, width: 4, height: 2))
    #expect(try bytes(context, 1, 1) == [0, 0, 128, 255])
    #expect(image.cropping(to: CGRect(x: 8, y: 0, width: 1, height: 1)) == nil)
  }

  @Test func pngIsExactAndReadByOthers() throws {
    let context = try context(20, 10)
    for x in 0..<20 {
      context.setFillColor(red: CGFloat(x) / 20, green: 0.25, blue: 1, alpha: x < 10 ? 1 : 0.5)
      context.fill(CGRect(x: x, y: 0, width: 1, height: 10))
    }
    let image = try #require(context.makeImage())
    let url = folder.appendingPathComponent("a.png")
    let destination = try #require(
      CGImageDestinationCreateWithURL(url as CFURL, "public.png" as CFString, 1, nil))
    CGImageDestinationAddImage(destination, image, nil)
    #expect(CGImageDestinationFinalize(destination) && !CGImageDestinationFinalize(destination))
    let theirs = try ffmpeg(url)
    #expect(theirs.count == 800 && theirs[3] == 255 && theirs[79] == 128)
    let source = try #require(CGImageSourceCreateWithURL(url as CFURL, nil))
    #expect(CGImageSourceGetCount(source) == 1 && CGImageSourceGetStatus(source) == .statusComplete)
    #expect(CGImageSourceGetType(source) == "public.png" as CFString)
    let read = try #require(CGImageSourceCreateImageAtIndex(source, 0, nil))
    let data = try #require(read.dataProvider?.data)
    #expect([UInt8](Data(referencing: data)) == theirs)
    let properties = CGImageSourceCopyPropertiesAtIndex(source, 0, nil)
    #expect(
      properties?[kCGImagePropertyPixelWidth] as? Int == 20
        && properties?[kCGImagePropertyHasAlpha] as? Bool == true)
  }

  @Test func jpegHasItsQuality() throws {
    // Flat areas take the same at any quality: texture on top.
    let textured = try context(64, 64)
    for y in 0..<64 {
      for x in 0..<64 {
        let step: Int = (x * 37 + y * 91 + x * y * 13) % 251
        textured.setFillColor(gray: CGFloat(step) / 250, alpha: 1)
        textured.fill(CGRect(x: x, y: y, width: 1, height: 1))
      }
    }
    func jpeg(_ quality: Double, _ image: CGImage) throws -> Data {
      let data = NSMutableData()
      let destination = try #require(
        CGImageDestinationCreateWithData(data, "public.jpeg" as CFString, 1, nil))
      CGImageDestinationAddImage(
        destination, image, [kCGImageDestinationLossyCompressionQuality: quality] as CFDictionary)
      #expect(CGImageDestinationFinalize(destination))
      return Data(referencing: data)
    }
    let noise = try #require(textured.makeImage())
    #expect(try jpeg(0, noise).count < jpeg(1, noise).count)
    let best = try jpeg(1, quarters(64))
    let source = try #require(CGImageSourceCreateWithData(best as CFData, nil))
    let read = try #require(CGImageSourceCreateImageAtIndex(source, 0, nil))
    let context = try context(64, 64)
    context.draw(read, in: CGRect(x: 0, y: 0, width: 64, height: 64))
    let corner = try bytes(context, 10, 10)
    #expect(corner[0] > 245 && corner[1] < 10 && corner[2] < 10)
    let small = try #require(
      CGImageSourceCreateThumbnailAtIndex(
        source, 0,
        [
          kCGImageSourceCreateThumbnailFromImageAlways: true, kCGImageSourceThumbnailMaxPixelSize: 16,
        ] as CFDictionary))
    #expect(small.width == 16 && small.height == 16)
    #expect(CGImageSourceCreateThumbnailAtIndex(source, 0, nil) == nil)
  }

  /// Rectangles and transforms that come to nothing, to everything, or to no number.
  @Test func rectanglesBeyondMeasure() throws {
    let context = try context(4, 4)
    let image = try quarters(8)
    for size in [CGFloat.leastNormalMagnitude, CGFloat.leastNonzeroMagnitude, 1e300, .infinity, .nan]
      as [CGFloat]
    {
      for place in [0, 1e300, -.infinity, .nan] as [CGFloat] {
        let rect = CGRect(x: place, y: 0, width: size, height: 2)
        context.draw(image, in: rect)
        context.fill(rect)
        _ = image.cropping(to: rect)
        context.saveGState()
        context.clip(to: rect)
        context.clip(to: rect)
        context.fill(CGRect(x: 0, y: 0, width: 4, height: 4))
        context.restoreGState()
      }
    }
    context.saveGState()
    context.scaleBy(x: 1e200, y: 1)
    context.scaleBy(x: 1e200, y: 1)
    context.fill(CGRect(x: 0, y: 0, width: 4, height: 4))
    context.draw(image, in: CGRect(x: 0, y: 0, width: 4, height: 4))
    context.restoreGState()
    context.clear(CGRect(x: 0, y: 0, width: 4, height: 4))
    context.fill(CGRect(x: 0, y: 0, width: 1, height: 1))
    #expect(try bytes(context, 0, 3) == [0, 0, 0, 255] && bytes(context, 1, 3) == [0, 0, 0, 0])
  }

  // MARK: - Narrow pictures

  /// A grey picture of one bit for each pixel, not compressed.
  private func oneBitPNG(_ width: Int, _ height: Int, _ isLight: (_ x: Int, _ y: Int) -> Bool) -> Data {
    func big(_ number: UInt32) -> [UInt8] {
      (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
    }
    var rows: [UInt8] = []
    for y in 0..<height {
      rows.append(0)
      for start in stride(from: 0, to: width, by: 8) {
        rows.append(
          (0..<8).reduce(0) { $0 << 1 | (start + $1 < width && isLight(start + $1, y) ? 1 : 0) })
      }
    }
    var (a, b) = (UInt32(1), UInt32(0))
    for byte in rows {
      a = (a + UInt32(byte)) % 65521
      b = (b + a) % 65521
    }
    let count = UInt16(rows.count)
    let stored = [
      0x78, 0x01, 1, UInt8(count & 255), UInt8(count >> 8), UInt8(~count & 255), UInt8(~count >> 8),
    ]
    var png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    for (name, content) in [
      ("IHDR", big(UInt32(width)) + big(UInt32(height)) + [1, 0, 0, 0, 0]),
      ("IDAT", stored + rows + big(b << 16 | a)), ("IEND", []),
    ] {
      let body = Array(name.utf8) + content
      var crc = UInt32.max
      for byte in body {
        crc ^= UInt32(byte)
        for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
      }
      png += big(UInt32(content.count)) + body + big(~crc)
    }
    return Data(png)
  }

  /// Rows that are shorter than a vector.
  @Test func narrowPicturesOfOneBit() throws {
    func isLight(_ x: Int, _ y: Int) -> Bool { (x * 5 + y * 3 + x * y) % 7 < 3 }
    for width in 1...8 {
      for height in 1...40 {
        let source = try #require(
          CGImageSourceCreateWithData(oneBitPNG(width, height, isLight) as CFData, nil))
        let image = try #require(CGImageSourceCreateImageAtIndex(source, 0, nil), "\(width)x\(height)")
        let data = try #require(image.dataProvider?.data)
        let wanted = (0..<height).flatMap { y in (0..<width).map { isLight($0, y) } }
        #expect(Data(referencing: data).map { $0 > 127 } == wanted, "\(width)x\(height)")
      }
    }
  }

  /// 26 bytes that claim 151 million pixels, in a form that libavcodec takes memory for at once.
  @Test func sizesThatNoFileOfTheseBytesHas() async {
    await #expect(processExitsWith: .success) {
      func maxMemory() -> Int {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage.ru_maxrss
      }
      let bytes: [UInt8] = [
        0xFF, 0xD8, 0xFF, 0xC2, 0, 0x11, 8, 0x57, 0x5B, 0x1A, 0, 3, 1, 0x12, 0, 2, 0x12, 0, 3, 0x12, 0, 0xFF,
        0xD9,
      ]
      let source = try #require(CGImageSourceCreateWithData(Data(bytes) as NSData, nil))
      let before = maxMemory()
      try #require(CGImageSourceGetStatus(source) == .statusInvalidData)
      // Kilobytes.
      try #require(maxMemory() - before < 100_000)
    }
  }

  /// A picture of one colour is a thousandth of its size, as a file.
  @Test func largePicturesOfOneColourAreRead() throws {
    for (name, format) in [("large.png", "monob"), ("large.jpg", "gray")] {
      let url = folder.appendingPathComponent(name)
      try ffmpeg([
        "-f", "lavfi", "-i", "color=black:size=8000x6000", "-frames:v", "1", "-pix_fmt", format,
        "-compression_level", "9", url.path,
      ])
      let source = try #require(CGImageSourceCreateWithURL(url as NSURL, nil))
      let image = try #require(CGImageSourceCreateImageAtIndex(source, 0, nil), "\(name)")
      #expect(image.width == 8000 && image.height == 6000)
    }
  }

  @Test(arguments: ["public.jpeg", "public.png"]) func narrowPicturesAreWritten(_ type: String) throws {
    for width in 1...9 {
      for height in [1, 2, 7] {
        let context = try context(width, height)
        context.setFillColor(red: 1, green: 0, blue: 0, alpha: 1)
        context.fill(CGRect(x: 0, y: 0, width: width, height: height))
        let data = NSMutableData()
        let destination = try #require(CGImageDestinationCreateWithData(data, type as CFString, 1, nil))
        CGImageDestinationAddImage(destination, try #require(context.makeImage()), nil)
        #expect(CGImageDestinationFinalize(destination))
        let source = try #require(CGImageSourceCreateWithData(data as CFData, nil))
        let read = try #require(CGImageSourceCreateImageAtIndex(source, 0, nil))
        #expect(read.width == width && read.height == height)
        let bytes = Data(referencing: try #require(read.dataProvider?.data))
        #expect(bytes.count == 4 * width * height)
        #expect(bytes[0] > 245 && bytes[1] < 10 && bytes[bytes.count - 4] > 245, "\(width)x\(height)")
      }
    }
  }

  @Test func whatIsNotAPicture() throws {
    for data in [Data(), Data("hello".utf8), Data([0xFF, 0xD8, 0xFF, 0xE0, 1, 2, 3])] {
      let source = try #require(CGImageSourceCreateWithData(data as CFData, nil))
      #expect(CGImageSourceCreateImageAtIndex(source, 0, nil) == nil)
      #expect(CGImageSourceGetStatus(source) != .statusComplete)
    }
    // A PNG that ends early, at every tenth byte.
    let whole = NSMutableData()
    let destination = try #require(CGImageDestinationCreateWithData(whole, "public.png" as CFString, 1, nil))
    CGImageDestinationAddImage(destination, try quarters(32), nil)
    #expect(CGImageDestinationFinalize(destination))
    for length in stride(from: 0, to: whole.length - 20, by: 10) {
      let source = CGImageSourceCreateWithData(
        Data(referencing: whole).prefix(length) as CFData, nil)
      #expect(source.flatMap { CGImageSourceCreateImageAtIndex($0, 0, nil) } == nil, "\(length)")
    }
    #expect(CGImageDestinationCreateWithData(whole, "public.tiff" as CFString, 1, nil) == nil)
    let nowhere = URL(fileURLWithPath: "/nonexistent/a.png")
    let lost = try #require(
      CGImageDestinationCreateWithURL(nowhere as CFURL, "public.png" as CFString, 1, nil))
    #expect(!CGImageDestinationFinalize(lost))
    CGImageDestinationAddImage(lost, try quarters(4), nil)
    #expect(!CGImageDestinationFinalize(lost))
  }
}
