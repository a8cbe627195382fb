// SPDX-License-Identifier: Apache-2.0
import Foundation
import ImageIO
import Testing

/// The metadata of image files, compared with ffmpeg and ffprobe.
@Suite final class ExifTests {
  private let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("exif-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  @discardableResult private func run(_ arguments: [String]) throws -> Data {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return data
  }

  // MARK: - Exif data by hand

  private struct Field {
    var tag: UInt16
    var type: UInt16
    var count: Int
    var bytes: [UInt8]
  }

  /// A file of TIFF with one directory, and one of Exif after it.
  private struct Writer {
    let isBig: Bool
    func word(_ value: Int) -> [UInt8] {
      let bytes = [UInt8(value >> 8 & 255), UInt8(value & 255)]
      return isBig ? bytes : bytes.reversed()
    }
    func long(_ value: Int) -> [UInt8] {
      let bytes = (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
      return isBig ? bytes : bytes.reversed()
    }
    func text(_ tag: UInt16, _ text: String) -> Field {
      Field(tag: tag, type: 2, count: text.utf8.count + 1, bytes: Array(text.utf8) + [0])
    }
    func short(_ tag: UInt16, _ values: Int...) -> Field {
      Field(tag: tag, type: 3, count: values.count, bytes: values.flatMap(word))
    }
    func ratio(_ tag: UInt16, _ pairs: (Int, Int)..., isSigned: Bool = false) -> Field {
      Field(
        tag: tag, type: isSigned ? 10 : 5, count: pairs.count,
        bytes: pairs.flatMap { long($0.0) + long($0.1) })
    }
    func directory(_ fields: [Field], at start: Int) -> [UInt8] {
      var table = word(fields.count)
      var rest: [UInt8] = []
      let behind = start + 2 + 12 * fields.count + 4
      for field in fields {
        table += word(Int(field.tag)) + word(Int(field.type)) + long(field.count)
        if field.bytes.count <= 4 {
          table += field.bytes + [UInt8](repeating: 0, count: 4 - field.bytes.count)
        } else {
          table += long(behind + rest.count)
          rest += field.bytes + (field.bytes.count % 2 == 1 ? [0] : [])
        }
      }
      return table + long(0) + rest
    }
    func file(_ fields: [Field], exif: [Field]) -> [UInt8] {
      let head = (isBig ? [0x4D, 0x4D] : [0x49, 0x49]) + word(42) + long(8)
      func whole(_ place: Int) -> [UInt8] {
        directory(fields + [Field(tag: 0x8769, type: 4, count: 1, bytes: long(place))], at: 8)
      }
      let place = 8 + whole(0).count
      return head + whole(place) + directory(exif, at: place)
    }
  }

  private func typical(_ writer: Writer, orientation: Int = 6) -> [UInt8] {
    writer.file(
      [
        writer.text(0x10F, "Maker of cameras"), writer.text(0x110, "One"), writer.short(0x112, orientation),
        writer.ratio(0x11A, (300, 1)), writer.ratio(0x11B, (150, 1)), writer.short(0x128, 2),
        writer.text(0x132, "2026:01:02 03:04:05"),
      ],
      exif: [
        writer.ratio(0x829A, (1, 250)), writer.ratio(0x829D, (28, 10)), writer.short(0x8827, 400),
        Field(tag: 0x9000, type: 7, count: 4, bytes: Array("0232".utf8)),
        writer.text(0x9003, "2026:01:02 03:04:05"), writer.ratio(0x9204, (-1, 3), isSigned: true),
        writer.ratio(0xA432, (24, 1), (70, 1), (28, 10), (28, 10)), writer.text(0xA434, "24-70"),
      ])
  }

  /// A picture whose quarters differ, 24x16.
  private func picture(_ name: String) throws -> URL {
    let url = folder.appendingPathComponent(name)
    let boxes = [("red", 0, 0), ("green", 12, 0), ("blue", 0, 8), ("white", 12, 8)].map {
      "drawbox=x=\($0.1):y=\($0.2):w=12:h=8:color=\($0.0):t=fill"
    }
    try run([
      "ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "color=black:size=24x16", "-vf",
      boxes.joined(separator: ",") + (name.hasSuffix("png") ? "" : ",format=yuvj444p"), "-frames:v", "1",
      "-q:v",
      "1", url.path,
    ])
    return url
  }

  private func add(_ exif: [UInt8], toJPEG url: URL) throws -> Data {
    let file = try Data(contentsOf: url)
    let content = Array("Exif".utf8) + [0, 0] + exif
    let head: [UInt8] = [0xFF, 0xE1, UInt8((content.count + 2) >> 8), UInt8((content.count + 2) & 255)]
    return file.prefix(2) + Data(head + content) + file.dropFirst(2)
  }

  private func add(_ exif: [UInt8], toPNG url: URL) throws -> Data {
    let file = try Data(contentsOf: url)
    func long(_ value: UInt32) -> [UInt8] {
      (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
    }
    let body = Array("eXIf".utf8) + exif
    // CRC-32 (ISO 3309), bit by bit.
    var crc = UInt32.max
    for byte in body {
      crc ^= UInt32(byte)
      for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
    }
    // After the header, which has 13 bytes.
    let chunk = long(UInt32(exif.count)) + body + long(~crc)
    return file.prefix(33) + Data(chunk) + file.dropFirst(33)
  }

  private func properties(_ data: Data) throws -> [CFString: Any] {
    let source = try #require(CGImageSourceCreateWithData(data as CFData, nil))
    let found = try #require(CGImageSourceCopyPropertiesAtIndex(source, 0, nil))
    return found as? [CFString: Any] ?? [:]
  }

  // MARK: - Tests

  @Test(arguments: [true, false]) func fieldsOfJPEGAndPNGAreRead(isBig: Bool) throws {
    let exif = typical(Writer(isBig: isBig))
    for data in [
      try add(exif, toJPEG: try picture("a.jpg")), try add(exif, toPNG: try picture("a.png")),
    ] {
      let all = try properties(data)
      #expect(all[kCGImagePropertyOrientation] as? UInt32 == CGImagePropertyOrientation.right.rawValue)
      #expect(all[kCGImagePropertyPixelWidth] as? Int == 24 && all[kCGImagePropertyPixelHeight] as? Int == 16)
      #expect(
        all[kCGImagePropertyDPIWidth] as? Double == 300 && all[kCGImagePropertyDPIHeight] as? Double == 150)
      let tiff = try #require(all[kCGImagePropertyTIFFDictionary] as? NSDictionary)
      #expect(tiff[kCGImagePropertyTIFFMake] as? String == "Maker of cameras")
      #expect(tiff[kCGImagePropertyTIFFModel] as? String == "One")
      #expect(tiff[kCGImagePropertyTIFFOrientation] as? Int == 6)
      #expect(tiff[kCGImagePropertyTIFFDateTime] as? String == "2026:01:02 03:04:05")
      let own = try #require(all[kCGImagePropertyExifDictionary] as? NSDictionary)
      #expect(own[kCGImagePropertyExifExposureTime] as? Double == 0.004)
      #expect(own[kCGImagePropertyExifFNumber] as? Double == 2.8)
      #expect(own[kCGImagePropertyExifISOSpeedRatings] as? [Int] == [400])
      #expect(own[kCGImagePropertyExifVersion] as? [Int] == [2, 3, 2])
      #expect(own[kCGImagePropertyExifExposureBiasValue] as? Double == -1.0 / 3)
      #expect(own[kCGImagePropertyExifLensSpecification] as? [Double] == [24, 70, 2.8, 2.8])
      #expect(own[kCGImagePropertyExifLensModel] as? String == "24-70")
    }
    // ffprobe reads the same from the JPEG file.
    let url = folder.appendingPathComponent("b.jpg")
    try add(exif, toJPEG: try picture("a.jpg")).write(to: url)
    let tags = String(
      decoding: try run([
        "ffprobe", "-v", "error", "-show_frames", "-show_entries", "frame_tags", "-of", "default=nw=1",
        url.path,
      ]), as: UTF8.self)
    for line in [
      "TAG:Make=Maker of cameras", "TAG:Orientation=    6", "TAG:LensModel=24-70", "TAG:0xA434=24-70",
    ]
    where tags.contains(String(line.prefix { $0 != "=" })) {
      #expect(tags.contains(line), "\(tags)")
    }
    #expect(tags.contains("Maker of cameras"))
  }

  @Test func aFileWithoutExifHasNone() throws {
    for name in ["a.jpg", "a.png"] {
      let all = try properties(try Data(contentsOf: try picture(name)))
      #expect(all[kCGImagePropertyOrientation] == nil && all[kCGImagePropertyTIFFDictionary] == nil)
      #expect(all[kCGImagePropertyExifDictionary] == nil && all[kCGImagePropertyPixelWidth] as? Int == 24)
    }
  }

  /// As ffmpeg, which turns pictures by themselves.
  @Test(arguments: 1...8) func thumbnailsAreTurned(orientation: Int) throws {
    let data = try add(typical(Writer(isBig: true), orientation: orientation), toJPEG: try picture("a.jpg"))
    let url = folder.appendingPathComponent("turned.jpg")
    try data.write(to: url)
    let expected = [UInt8](
      try run(["ffmpeg", "-v", "error", "-i", url.path, "-f", "rawvideo", "-pix_fmt", "rgba", "-"]))
    let source = try #require(CGImageSourceCreateWithData(data as CFData, nil))
    func thumbnail(_ turns: Bool) throws -> CGImage {
      try #require(
        CGImageSourceCreateThumbnailAtIndex(
          source, 0,
          [
            kCGImageSourceCreateThumbnailFromImageAlways: true,
            kCGImageSourceCreateThumbnailWithTransform: turns, kCGImageSourceThumbnailMaxPixelSize: 24,
          ] as [CFString: Any] as CFDictionary))
    }
    let plain = try thumbnail(false)
    #expect(plain.width == 24 && plain.height == 16)
    let turned = try thumbnail(true)
    #expect(turned.width == (orientation >= 5 ? 16 : 24) && turned.height == (orientation >= 5 ? 24 : 16))
    let bytes = try #require(turned.dataProvider?.data as Data?)
    // The middle of each quarter: edges are the codec's affair.
    for (x, y) in [(1, 1), (3, 1), (1, 3), (3, 3)] {
      let (column, row) = (x * turned.width / 4, y * turned.height / 4)
      let mine = (0..<3).map { Int(bytes[row * turned.bytesPerRow + 4 * column + $0]) }
      let theirs = (0..<3).map { Int(expected[4 * (row * turned.width + column) + $0]) }
      #expect(zip(mine, theirs).allSatisfy { abs($0 - $1) <= 12 }, "\(orientation): \(mine) \(theirs)")
    }
  }

  /// Cut off anywhere, with fields that lead out of it, and with types, counts and places of all
  /// kinds.
  @Test func damagedExifIsLeftOut() throws {
    let whole = typical(Writer(isBig: false))
    let url = try picture("a.jpg")
    for length in 0...whole.count {
      let all = try properties(try add(Array(whole.prefix(length)), toJPEG: url))
      #expect(all[kCGImagePropertyPixelWidth] as? Int == 24)
    }
    for place in whole.indices {
      for value in [0, 1, 127, 128, 255] as [UInt8] {
        var changed = whole
        changed[place] = value
        let all = try properties(try add(changed, toJPEG: url))
        if let orientation = all[kCGImagePropertyOrientation] as? Int {
          #expect((1...8).contains(orientation))
        }
      }
    }
  }
}
