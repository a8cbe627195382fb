// SPDX-License-Identifier: Apache-2.0
import Foundation
import ImageIO
import Testing
import ToolSupport

/// HEIC files of libheif's encoder, and files in the shape of a telephone's, read by ImageIO.
@Suite final class HEICReadingTests {
  private static let isLibheifInstalled = Tool("heif-convert").isInstalled && Tool("heif-enc").isInstalled
  private let folder: HEICFolder

  init() throws { folder = try HEICFolder() }

  private func source(_ data: Data) throws -> CGImageSource {
    try #require(CGImageSourceCreateWithData(data as CFData, nil))
  }

  /// A file by heif-enc of a PNG file that ImageIO writes.
  private func encoded(_ pixels: Pixels, hasAlpha: Bool = false, _ options: [String] = []) throws -> Data {
    let (png, heic) = (folder.file("source.png"), folder.file("source.heic"))
    let destination = try #require(
      CGImageDestinationCreateWithURL(png as CFURL, "public.png" as CFString, 1, nil))
    CGImageDestinationAddImage(destination, try pixels.image(hasAlpha: hasAlpha), nil)
    try #require(CGImageDestinationFinalize(destination))
    try #require(try Tool("heif-enc").run([png.path, "-q", "90", "-o", heic.path] + options).status == 0)
    return try Data(contentsOf: heic)
  }

  /// As libheif decodes them, and as they were.
  @Test(
    .enabled(if: isLibheifInstalled),
    arguments: [
      [], ["--matrix_coefficients=1"], ["--full_range_flag=0"], ["-p", "chroma=444"], ["-t", "16"],
    ])
  func filesOfLibheif(_ options: [String]) throws {
    for (width, height) in [(64, 48), (131, 97)] {
      let pixels = Pixels.textured(width, height)
      let file = try encoded(pixels, options)
      let images = try source(file)
      #expect(CGImageSourceGetType(images) == "public.heic" as CFString)
      #expect(CGImageSourceGetStatus(images) == .statusComplete && CGImageSourceGetCount(images) == 1)
      let read = try Pixels(try #require(CGImageSourceCreateImageAtIndex(images, 0, nil)))
      #expect(read.psnr(pixels) > 36, "\(read.psnr(pixels)) dB")
      #expect(try read.psnr(folder.libheif(file)[0]) > 38)
      let properties = CGImageSourceCopyPropertiesAtIndex(images, 0, nil)
      #expect(properties?[kCGImagePropertyPixelWidth] as? Int == width)
      #expect(properties?[kCGImagePropertyHasAlpha] as? Bool == false)
    }
  }

  @Test(.enabled(if: isLibheifInstalled)) func alphaOfLibheif() throws {
    let pixels = Pixels.textured(64, 48, hasAlpha: true)
    let image = try #require(
      try CGImageSourceCreateImageAtIndex(source(encoded(pixels, hasAlpha: true)), 0, nil))
    #expect(image.alphaInfo == .last)
    let read = try Pixels(image)
    #expect(read.psnr(pixels) > 36 && read.psnr(pixels, channels: 3..<4) > 40)
  }

  @Test(.enabled(if: isLibheifInstalled)) func ownFilesAreReadAsLibheifReadsThem() throws {
    for (width, height) in [(1, 1), (33, 18), (96, 64), (8200, 34)] {
      let pixels = Pixels.textured(width, height, hasAlpha: true)
      let file = try folder.heic([pixels.image(hasAlpha: true)], quality: 0.9)
      let image = try #require(try CGImageSourceCreateImageAtIndex(source(file), 0, nil))
      let read = try Pixels(image)
      let theirs = try #require(try folder.libheif(file).first)
      #expect(read.psnr(pixels) > 38 && read.psnr(theirs) > 38, "\(width)x\(height)")
      if height > 1 {
        #expect(image.alphaInfo == .last)
        #expect(read.psnr(theirs, channels: 3..<4) > 60 && read.psnr(pixels, channels: 3..<4) > 42)
      }
    }
  }

  @Test func thumbnailsAreTurned() throws {
    let file = try folder.heic([Pixels.textured(64, 32).image()], orientation: .right)
    let small = try #require(
      CGImageSourceCreateThumbnailAtIndex(
        source(file), 0,
        [
          kCGImageSourceCreateThumbnailFromImageAlways: true, kCGImageSourceThumbnailMaxPixelSize: 32,
          kCGImageSourceCreateThumbnailWithTransform: true,
        ] as [CFString: Any] as CFDictionary))
    #expect(small.width == 16 && small.height == 32)
  }

  // MARK: - Files of telephones

  private func long(_ value: Int) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
  }

  private func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
    long(content.count + 8) + Array(type.utf8) + content
  }

  /// The content of the first box of a type.
  private func content(_ type: String, of file: Data) throws -> [UInt8] {
    let place = try #require(file.range(of: Data(type.utf8)))
    let size = file[place.lowerBound - 4..<place.lowerBound].reduce(0) { $0 << 8 | Int($1) }
    return Array(file[place.upperBound..<place.lowerBound - 4 + size])
  }

  /// Two tiles side by side, turned by `irot`, whose grid is in `idat`, with identifiers of 32 bits
  /// and Exif data.
  private func grid(_ tiles: [Data], width: Int, height: Int, exif: [UInt8]) throws -> Data {
    let pictures = try tiles.map { try content("mdat", of: $0) }
    let metadata = long(6) + Array("Exif".utf8) + [0, 0] + exif
    func entry(_ id: Int, _ type: String, hidden: UInt8 = 0) -> [UInt8] {
      box("infe", [3, 0, 0, hidden] + long(id) + [0, 0] + Array(type.utf8) + [0])
    }
    func build(_ start: Int) throws -> [UInt8] {
      var locations: [UInt8] = [2, 0, 0, 0, 0x44, 0] + long(4)
      var position = start
      for (id, length) in [(1, pictures[0].count), (2, pictures[1].count), (9, metadata.count)] {
        locations += long(id) + [0, 0, 0, 0, 0, 1] + long(position) + long(length)
        position += length
      }
      locations += long(70000) + [0, 1, 0, 0, 0, 1] + long(0) + long(8)
      let size = [0, UInt8(width >> 8), UInt8(width & 255), UInt8(height >> 8), UInt8(height & 255)]
      let items =
        entry(1, "hvc1", hidden: 1) + entry(2, "hvc1", hidden: 1) + entry(70000, "grid") + entry(9, "Exif")
      let references =
        box("dimg", long(70000) + [0, 2] + long(1) + long(2)) + box("cdsc", long(9) + [0, 1] + long(70000))
      let properties =
        box("hvcC", try content("hvcC", of: tiles[0])) + box("ispe", try content("ispe", of: tiles[0]))
        + box("colr", try content("colr", of: tiles[0]))
        + box("ispe", [0, 0, 0, 0] + long(width) + long(height))
        + box("irot", [3]) + box("pixi", [0, 0, 0, 0, 3, 8, 8, 8])
      let associations: [UInt8] =
        [1, 0, 0, 0] + long(3) + long(1) + [3, 0x81, 2, 3] + long(2) + [3, 0x81, 2, 3] + long(70000)
        + [4, 3, 4, 6, 0x85]
      let handler = [UInt8](repeating: 0, count: 8) + Array("pict".utf8) + [UInt8](repeating: 0, count: 13)
      let reference = box("dref", [0, 0, 0, 0] + long(1) + box("url ", [0, 0, 0, 1]))
      return box("ftyp", Array("heic".utf8) + long(0) + Array("mif1heic".utf8))
        + box(
          "meta",
          [0, 0, 0, 0] + box("hdlr", handler) + box("dinf", reference)
            + box("pitm", [1, 0, 0, 0] + long(70000))
            + box("iinf", [1, 0, 0, 0] + long(4) + items) + box("iref", [1, 0, 0, 0] + references)
            + box("iprp", box("ipco", properties) + box("ipma", associations))
            + box("idat", [0, 0, 0, 1] + size.dropFirst()) + box("iloc", locations))
    }
    let start = try build(0).count + 8
    return Data(try build(start) + box("mdat", pictures[0] + pictures[1] + metadata))
  }

  private func grid(ofTiles side: Int = 64) throws -> (file: Data, pixels: Pixels) {
    let width = 2 * side - 8
    let whole = Pixels.textured(width, side)
    let tiles = try [0, side].map { left in
      var tile = Pixels.textured(side, side)
      for y in 0..<side {
        for x in 0..<side {
          for channel in 0..<3 {
            tile.bytes[4 * (side * y + x) + channel] = UInt8(whole[min(left + x, width - 1), y][channel])
          }
        }
      }
      return try folder.heic([tile.image()], quality: 0.9)
    }
    // Little-endian: the model and an orientation that `irot` overrides.
    let exif: [UInt8] =
      [0x49, 0x49, 42, 0, 8, 0, 0, 0, 2, 0, 0x10, 1, 2, 0, 4, 0, 0, 0] + Array("Two".utf8) + [0]
      + [0x12, 1, 3, 0, 1, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0]
    return (try grid(tiles, width: width, height: side, exif: exif), whole)
  }

  /// libavcodec allocates rows of tiles whose width is not a multiple of 64 with more than their
  /// width.
  @Test(.enabled(if: isLibheifInstalled), arguments: [64, 40])
  func gridsAreReadWithTheirMetadata(side: Int) throws {
    let (file, pixels) = try grid(ofTiles: side)
    let theirs = try #require(try folder.libheif(file).first)
    #expect(theirs.width == side && theirs.height == 2 * side - 8)
    let images = try source(file)
    #expect(CGImageSourceGetCount(images) == 1)
    let read = try Pixels(try #require(CGImageSourceCreateImageAtIndex(images, 0, nil)))
    #expect(read.psnr(pixels) > 38, "\(read.psnr(pixels)) dB")
    let properties = CGImageSourceCopyPropertiesAtIndex(images, 0, nil)
    #expect(properties?[kCGImagePropertyOrientation] as? UInt32 == 6)
    let fields = properties?[kCGImagePropertyTIFFDictionary] as? NSDictionary
    #expect(fields?[kCGImagePropertyTIFFModel] as? String == "Two")
  }

  // MARK: - Damaged files

  /// Cut off anywhere, and with every byte of the structure changed.
  @Test func damagedFilesAreRefused() throws {
    let small = try folder.heic([Pixels.textured(17, 9, hasAlpha: true).image(hasAlpha: true)])
    for file in [small, try grid().file] {
      for length in 0..<file.count {
        let images = try source(file.prefix(length))
        let image = CGImageSourceCreateImageAtIndex(images, 0, nil)
        #expect(image == nil, "\(length) of \(file.count)")
        _ = CGImageSourceCopyPropertiesAtIndex(images, 0, nil)
      }
      let structure = try #require(file.range(of: Data("mdat".utf8))).upperBound
      for place in 0..<structure {
        for value in [0, 1, 127, 128, 255, file[place] ^ 1] as [UInt8] where value != file[place] {
          var changed = file
          changed[place] = value
          let images = try source(changed)
          for index in 0..<CGImageSourceGetCount(images) {
            let properties = CGImageSourceCopyPropertiesAtIndex(images, index, nil)
            if let width = properties?[kCGImagePropertyPixelWidth] as? Int { #expect(width > 0) }
          }
        }
      }
    }
  }

  /// A file of 1 KiB that claims a grid of 2^28 pixels, and tiles that are all the same bytes.
  @Test func sizesThatNoFileOfTheseBytesHas() throws {
    var (file, _) = try grid()
    let place = try #require(file.range(of: Data("idat".utf8))).upperBound
    for (rows, columns, side) in [(0, 1, 0xFFFF), (255, 255, 64), (0, 1, 0)] as [(UInt8, UInt8, UInt16)] {
      file[place + 2] = rows
      file[place + 3] = columns
      for offset in [4, 6] {
        file[place + offset] = UInt8(side >> 8)
        file[place + offset + 1] = UInt8(side & 255)
      }
      let images = try source(file)
      #expect(CGImageSourceGetStatus(images) == .statusInvalidData)
      #expect(CGImageSourceCreateImageAtIndex(images, 0, nil) == nil)
      #expect(CGImageSourceCopyPropertiesAtIndex(images, 0, nil) == nil)
    }
  }

  /// Items whose extents take no bytes of the file: with all of them, 100 KB would need 4 GB.
  @Test func extentsWithoutBytesAreRefused() throws {
    let numbers = 1...4000
    func short(_ number: Int) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 255)] }
    let type = Array("hvc1".utf8)
    var (items, locations) = ([UInt8](), [UInt8]())
    for number in numbers {
      items += box("infe", [2, 0, 0, 0] + short(number) + [0, 0] + type + [0])
      locations += short(number) + [0, 0, 0xFF, 0xFF]
    }
    let handler = [UInt8](repeating: 0, count: 8) + Array("pict".utf8) + [UInt8](repeating: 0, count: 13)
    let file = Data(
      box("ftyp", Array("heic".utf8) + long(0))
        + box(
          "meta",
          [0, 0, 0, 0] + box("hdlr", handler) + box("pitm", [0, 0, 0, 0, 0, 1])
            + box("iinf", [0, 0, 0, 0] + short(numbers.count) + items)
            + box("iloc", [0, 0, 0, 0, 0, 0] + short(numbers.count) + locations)))
    #expect(CGImageSourceGetStatus(try source(file)) == .statusInvalidData)
  }

  @Test func otherFilesOfTheSameContainer() throws {
    for (brand, isKnown) in [
      ("heic", true), ("heix", true), ("mif1", false), ("avif", false), ("isom", false),
    ] {
      let images = try source(Data(box("ftyp", Array(brand.utf8) + long(0))))
      #expect(CGImageSourceGetStatus(images) == (isKnown ? .statusInvalidData : .statusUnknownType))
      #expect(CGImageSourceGetCount(images) == 0)
    }
  }
}
