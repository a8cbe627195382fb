// SPDX-License-Identifier: Apache-2.0
import Foundation
import ImageIO
import Testing
import ToolSupport

/// HEIC files by ImageIO, read by libheif's tools.
@Suite(.enabled(if: Tool("heif-convert").isInstalled)) final class HEICWritingTests {
  private let folder: HEICFolder

  init() throws { folder = try HEICFolder() }

  @Test func theTypeIsKnown() throws {
    #expect((CGImageDestinationCopyTypeIdentifiers() as? [String])?.contains("public.heic") == true)
    #expect((CGImageSourceCopyTypeIdentifiers() as? [String])?.contains("public.heic") == true)
    for (type, count) in [("public.heic", 0), ("public.heic", -1), ("public.png", 2), ("public.avif", 1)] {
      #expect(CGImageDestinationCreateWithData(NSMutableData(), type as CFString, count, nil) == nil)
    }
  }

  @Test(arguments: [
    (1, 1), (1, 7), (2, 2), (3, 5), (8, 8), (17, 9), (64, 48), (65, 33), (130, 63), (641, 363),
  ]) func sizes(_ width: Int, _ height: Int) throws {
    let source = Pixels.textured(width, height)
    let file = try folder.heic([source.image()], quality: 0.9)
    let read = try folder.libheif(file)
    #expect(read.count == 1 && read[0].width == width && read[0].height == height)
    #expect(read[0].psnr(source) > 38, "\(read[0].psnr(source)) dB")
    // Of the decoded picture, which is even.
    let even =
      [0, 0, 0, 0, 0, 0] + [width + width % 2, height + height % 2].flatMap { [$0 >> 8, $0 & 255, 0, 0] }
    #expect(file.range(of: Data("ispe".utf8) + even.dropLast(2).map { UInt8($0) }) != nil)
    let text = try folder.information(file)
    #expect(text.contains("\(width)x\(height)"), "\(text)")
  }

  /// A photograph's size in one picture, and beyond that in tiles.
  @Test(arguments: [(4000, 3000), (8194, 62), (61, 9001)]) func largeImages(
    _ width: Int, _ height: Int
  ) throws {
    let source = Pixels.textured(width, height)
    let file = try folder.heic([source.image()])
    let read = try #require(try folder.libheif(file).first)
    #expect(read.width == width && read.height == height)
    #expect(read.psnr(source) > 36, "\(read.psnr(source)) dB")
    let isGrid = file.prefix(1000).range(of: Data("grid".utf8)) != nil
    #expect(isGrid == (max(width, height) > 8192))
  }

  @Test func aHigherQualityIsLargerAndBetter() throws {
    let source = Pixels.textured(320, 240)
    var last = (size: 0, psnr: 0.0)
    for quality in stride(from: 0.0, through: 1.0, by: 0.125) {
      let file = try folder.heic([source.image()], quality: quality)
      let psnr = try folder.libheif(file)[0].psnr(source)
      #expect(file.count > last.size && psnr > last.psnr, "\(quality): \(file.count) bytes, \(psnr) dB")
      last = (file.count, psnr)
    }
    #expect(last.psnr > 44)
    // Beyond the ends, and without a quality.
    #expect(try folder.heic([source.image()], quality: 7) == folder.heic([source.image()], quality: 1))
    #expect(try folder.heic([source.image()], quality: -1) == folder.heic([source.image()], quality: 0))
    #expect(try folder.heic([source.image()]) == folder.heic([source.image()], quality: 0.6))
  }

  /// The corners of the displayed picture, by the meaning of Exif's orientation.
  @Test(arguments: 1...8) func orientations(_ raw: UInt32) throws {
    let colors = ["R": [230, 20, 20], "G": [20, 200, 20], "B": [20, 20, 220], "W": [240, 240, 240]]
    let corners: [UInt32: String] = [
      1: "RGBW", 2: "GRWB", 3: "WBGR", 4: "BWRG", 5: "RBGW", 6: "BRWG", 7: "WGBR", 8: "GWRB",
    ]
    for (width, height) in [(48, 32), (47, 31)] {
      var source = Pixels.textured(width, height)
      for y in 0..<height {
        for x in 0..<width {
          let name = ["R", "G", "B", "W"][(y < height / 2 ? 0 : 2) + (x < width / 2 ? 0 : 1)]
          for (channel, value) in (colors[name] ?? []).enumerated() {
            source.bytes[4 * (y * width + x) + channel] = UInt8(value)
          }
        }
      }
      let orientation = try #require(CGImagePropertyOrientation(rawValue: raw))
      let file = try folder.heic([source.image()], quality: 0.9, orientation: orientation)
      let shown = try #require(try folder.libheif(file).first)
      #expect(shown.width == (raw >= 5 ? height : width) && shown.height == (raw >= 5 ? width : height))
      for (corner, name) in (corners[raw] ?? "").enumerated() {
        let (x, y) = (corner % 2 == 0 ? 3 : shown.width - 4, corner < 2 ? 3 : shown.height - 4)
        let difference = zip(shown[x, y], colors[String(name)] ?? []).map { abs($0 - $1) }.max() ?? 255
        #expect(difference < 12, "orientation \(raw), corner \(corner): \(shown[x, y])")
      }
      // The stored image is read as it is, with its orientation in addition.
      let again = try #require(CGImageSourceCreateWithData(file as CFData, nil))
      let stored = try Pixels(try #require(CGImageSourceCreateImageAtIndex(again, 0, nil)))
      #expect(stored.width == width && stored.height == height)
      for (x, y) in [(3, 3), (width - 4, 3), (3, height - 4), (width - 4, height - 4)] {
        #expect(zip(stored[x, y], source[x, y]).allSatisfy { abs($0 - $1) < 12 })
      }
      let properties = CGImageSourceCopyPropertiesAtIndex(again, 0, nil)
      #expect(properties?[kCGImagePropertyOrientation] as? UInt32 == (raw == 1 ? nil : raw))
    }
  }

  @Test func alphaIsAnAuxiliaryImage() throws {
    for (width, height) in [(96, 64), (33, 21)] {
      let source = Pixels.textured(width, height, hasAlpha: true)
      let file = try folder.heic([source.image(hasAlpha: true)], quality: 0.9)
      let read = try #require(try folder.libheif(file).first)
      #expect(read.psnr(source, channels: 3..<4) > 45 && read.psnr(source) > 38)
      #expect(try folder.information(file).contains("alpha channel: yes"))
    }
    // Opaque pixels need none, nor do layouts without alpha.
    let opaque = Pixels.textured(96, 64)
    for hasAlpha in [true, false] {
      let file = try folder.heic([opaque.image(hasAlpha: hasAlpha)])
      #expect(try folder.information(file).contains("alpha channel: no"))
    }
  }

  @Test func layoutsOfPixels() throws {
    let source = Pixels.textured(40, 24)
    var swapped = source
    for pixel in stride(from: 0, to: swapped.bytes.count, by: 4) { swapped.bytes.swapAt(pixel, pixel + 2) }
    let provider = try #require(CGDataProvider(data: Data(swapped.bytes) as NSData))
    let info = CGImageAlphaInfo.noneSkipFirst.rawValue | CGBitmapInfo.byteOrder32Little.rawValue
    let bgrx = try #require(
      CGImage(
        width: 40, height: 24, bitsPerComponent: 8, bitsPerPixel: 32, bytesPerRow: 160,
        space: CGColorSpaceCreateDeviceRGB(), bitmapInfo: CGBitmapInfo(rawValue: info), provider: provider,
        decode: nil, shouldInterpolate: true, intent: .defaultIntent))
    #expect(try folder.heic([bgrx]) == folder.heic([source.image()]))
    let grey = try #require(CGDataProvider(data: Data((0..<960).map { UInt8($0 % 240) }) as NSData))
    let image = try #require(
      CGImage(
        width: 40, height: 24, bitsPerComponent: 8, bitsPerPixel: 8, bytesPerRow: 40,
        space: CGColorSpaceCreateDeviceGray(), bitmapInfo: [], provider: grey, decode: nil,
        shouldInterpolate: true, intent: .defaultIntent))
    let read = try folder.libheif(folder.heic([image], quality: 1))[0]
    for x in 0..<40 { #expect(read[x, 2].prefix(3).allSatisfy { abs($0 - (80 + x)) <= 3 }) }
  }

  @Test func severalImages() throws {
    let sources = [(64, 48), (31, 17), (80, 16)].map { Pixels.textured($0.0, $0.1) }
    let file = try folder.heic(sources.map { try $0.image() }, quality: 0.9)
    let read = try folder.libheif(file)
    #expect(read.count == 3)
    for (mine, theirs) in zip(sources, read) { #expect(theirs.psnr(mine) > 38) }
    let text = try folder.information(file)
    #expect(
      text.split(separator: "\n").first { $0.contains("primary") }?.contains("64x48") == true, "\(text)")
    let source = try #require(CGImageSourceCreateWithData(file as CFData, nil))
    #expect(CGImageSourceGetCount(source) == 3 && CGImageSourceGetPrimaryImageIndex(source) == 0)
    for (index, mine) in sources.enumerated() {
      let image = try #require(CGImageSourceCreateImageAtIndex(source, index, nil))
      #expect(try Pixels(image).psnr(mine) > 38)
    }
    #expect(CGImageSourceCreateImageAtIndex(source, 3, nil) == nil)
    #expect(CGImageSourceCreateImageAtIndex(source, -1, nil) == nil)
  }

  // MARK: - Color

  /// The bytes of the `colr` boxes of a file.
  private func colors(_ file: Data) -> [Data] {
    var result: [Data] = []
    var rest = file[...]
    while let place = rest.range(of: Data("colr".utf8)) {
      let size = file[place.lowerBound - 4..<place.lowerBound].reduce(0) { $0 << 8 | Int($1) }
      result.append(Data(file[place.upperBound..<place.lowerBound - 4 + size]))
      rest = file[place.upperBound...]
    }
    return result
  }

  @Test func codePointsOfColorSpaces() throws {
    for (name, codes) in [
      (CGColorSpace.sRGB, [1, 13, 1]), (CGColorSpace.itur_709, [1, 1, 1]),
      (CGColorSpace.displayP3, [12, 13, 1]),
      (CGColorSpace.itur_2100_HLG, [9, 18, 9]), (CGColorSpace.linearSRGB, [1, 8, 1]),
    ] {
      let source = Pixels.textured(48, 32)
      let space = try #require(CGColorSpace(name: name))
      let file = try folder.heic([source.image(space: space)], quality: 0.9)
      #expect(colors(file) == [Data("nclx".utf8) + codes.flatMap { [0, UInt8($0)] } + [0x80]])
      // libheif uses the matrix and the range.
      #expect(try folder.libheif(file)[0].psnr(source) > 38)
      let again = try #require(CGImageSourceCreateWithData(file as CFData, nil))
      #expect(CGImageSourceCreateImageAtIndex(again, 0, nil)?.colorSpace == space)
    }
  }

  /// The parameter sets and the picture as a byte stream, by ffprobe.
  @Test func theStreamSaysWhatItsSamplesMean() throws {
    let file = try folder.heic([Pixels.textured(48, 32).image()])
    func content(_ type: String) throws -> Data {
      let place = try #require(file.range(of: Data(type.utf8)))
      let size = file[place.lowerBound - 4..<place.lowerBound].reduce(0) { $0 << 8 | Int($1) }
      return Data(file[place.upperBound..<place.lowerBound - 4 + size])
    }
    var stream = Data()
    func append(_ units: Data, lengthSize: Int, count: Int = .max) {
      var (rest, left) = (units, count)
      while rest.count > lengthSize, left > 0 {
        let length = rest.prefix(lengthSize).reduce(0) { $0 << 8 | Int($1) }
        stream += Data([0, 0, 0, 1]) + rest.dropFirst(lengthSize).prefix(length)
        (rest, left) = (rest.dropFirst(lengthSize + length), left - 1)
      }
    }
    // Three arrays of one parameter set each.
    var sets = try content("hvcC").dropFirst(23)
    for _ in 0..<3 {
      let length = sets.dropFirst(3).prefix(2).reduce(0) { $0 << 8 | Int($1) }
      append(Data(sets.dropFirst(3)), lengthSize: 2, count: 1)
      sets = sets.dropFirst(5 + length)
    }
    append(try content("mdat"), lengthSize: 4)
    try stream.write(to: folder.file("stream.hevc"))
    let text = try Tool("ffprobe").text([
      "-v", "error", "-show_entries",
      "stream=width,height,color_range,color_space,color_transfer,color_primaries,chroma_location",
      "-of", "default=nw=1", folder.file("stream.hevc").path,
    ])
    for line in [
      "width=48", "height=32", "color_range=pc", "color_space=bt709", "color_transfer=iec61966-2-1",
      "color_primaries=bt709", "chroma_location=center",
    ] { #expect(text.contains(line), "\(text)") }
  }

  @Test func profilesAreKept() throws {
    let profile = ProfileOfTest.data
    let space = try #require(CGColorSpace(iccData: profile as NSData))
    let source = Pixels.textured(48, 32)
    let file = try folder.heic([source.image(space: space)], quality: 0.9)
    #expect(colors(file) == [Data("prof".utf8) + profile])
    // Without code points libheif takes the matrix and the range from the stream.
    #expect(try folder.libheif(file)[0].psnr(source) > 38)
    let png = try Data(contentsOf: folder.file("decoded.png"))
    #expect(png.range(of: Data("iCCP".utf8)) != nil)
    let again = try #require(CGImageSourceCreateWithData(file as CFData, nil))
    let read = try #require(CGImageSourceCreateImageAtIndex(again, 0, nil))
    #expect(read.colorSpace?.copyICCData().map { Data(referencing: $0) } == profile)
    #expect(try Pixels(read).psnr(source) > 38)
  }

  // MARK: - Failures

  @Test func nothingIsWrittenWhereItFails() throws {
    let image = try Pixels.textured(16, 16).image()
    let url = folder.file("few.heic")
    let few = try #require(CGImageDestinationCreateWithURL(url as CFURL, "public.heic" as CFString, 2, nil))
    CGImageDestinationAddImage(few, image, nil)
    #expect(!CGImageDestinationFinalize(few))
    #expect(!FileManager.default.fileExists(atPath: url.path))
    CGImageDestinationAddImage(few, image, nil)
    #expect(CGImageDestinationFinalize(few) && !CGImageDestinationFinalize(few))
    #expect(try Data(contentsOf: url) == folder.heic([image, image]))
    // A layout that is not supported, and more pixels and rows than an image can have.
    let data = NSMutableData()
    for (width, height, bits) in [(16, 16, 16), (16385, 16384, 8), (1, (1 << 20) + 1, 8)] {
      let bytes = try #require(NSMutableData(length: width * height * bits / 8))
      let provider = try #require(CGDataProvider(data: bytes))
      let large = try #require(
        CGImage(
          width: width, height: height, bitsPerComponent: bits, bitsPerPixel: bits,
          bytesPerRow: width * bits / 8, space: CGColorSpaceCreateDeviceGray(), bitmapInfo: [],
          provider: provider, decode: nil, shouldInterpolate: true, intent: .defaultIntent))
      let destination = try #require(
        CGImageDestinationCreateWithData(data, "public.heic" as CFString, 1, nil))
      CGImageDestinationAddImage(destination, large, nil)
      #expect(!CGImageDestinationFinalize(destination) && data.length == 0)
    }
  }
}

/// A small ICC profile (version 2, matrix and curves) with the primaries of sRGB and a gamma of
/// 2.2.
enum ProfileOfTest {
  static var data: Data {
    func long(_ value: Int) -> [UInt8] {
      (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
    }
    func fixed(_ values: Double...) -> [UInt8] { values.flatMap { long(Int(($0 * 65536).rounded())) } }
    func text(_ name: String) -> [UInt8] { Array(name.utf8) }
    let xyz = text("XYZ ") + long(0)
    let curve = text("curv") + long(0) + long(1) + [2, 0x33, 0, 0]
    let name = text("desc") + long(0) + long(5) + text("test") + [UInt8](repeating: 0, count: 79)
    let tags: [(String, [UInt8])] = [
      ("desc", name), ("cprt", text("text") + long(0) + text("none") + long(0)),
      ("wtpt", xyz + fixed(0.9642, 1, 0.8249)), ("rXYZ", xyz + fixed(0.4361, 0.2225, 0.0139)),
      ("gXYZ", xyz + fixed(0.3851, 0.7169, 0.0971)), ("bXYZ", xyz + fixed(0.1431, 0.0606, 0.7141)),
      ("rTRC", curve), ("gTRC", curve), ("bTRC", curve),
    ]
    var table = long(tags.count)
    var content: [UInt8] = []
    for (name, bytes) in tags {
      table += text(name) + long(132 + 12 * tags.count + content.count) + long(bytes.count)
      content += bytes + [UInt8](repeating: 0, count: -bytes.count & 3)
    }
    var header = long(128 + table.count + content.count) + long(0) + [2, 0x10, 0, 0]
    header += text("mntrRGB XYZ ") + [7, 0xEA, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0] + text("acsp")
    header += [UInt8](repeating: 0, count: 28) + fixed(0.9642, 1, 0.8249)
    header += [UInt8](repeating: 0, count: 128 - header.count)
    return Data(header + table + content)
  }
}
