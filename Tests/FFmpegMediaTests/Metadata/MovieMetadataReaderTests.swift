// SPDX-License-Identifier: Apache-2.0
@testable import FFmpegMedia
import Foundation
import Testing

/// Boxes of metadata that ask for much more than they are.
@Suite struct MovieMetadataReaderTests {
  private static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
    let size = UInt32(content.count + 8)
    return (0..<4).map { UInt8(truncatingIfNeeded: size >> (24 - 8 * UInt32($0))) }
      + type.unicodeScalars.map { UInt8($0.value) } + content
  }

  private static func meta(key: [UInt8], entries: Int) -> [UInt8] {
    let handler = box("hdlr", [UInt8](repeating: 0, count: 8) + Array("mdta".utf8) + [0, 0, 0, 0])
    let keys = box("keys", [0, 0, 0, 0, 0, 0, 0, 1] + box("mdta", key))
    let data = box("data", [0, 0, 0, 1, 0, 0, 0, 0, 0x61])
    let entry = box("\0\0\0\u{1}", data)
    return handler + keys + box("ilst", (0..<entries).flatMap { _ in entry })
  }

  @Test func aKeyHasALength() {
    for (length, count) in [(0, 0), (1, 3), (1024, 3), (1025, 0), (1 << 20, 0)] {
      var limit = 100
      let items = MovieMetadataReader.items(
        ofMeta: Self.meta(key: [UInt8](repeating: 0x61, count: length), entries: 3)[...], limit: &limit)
      #expect(items.count == count && limit == 100 - count, "\(length)")
    }
  }

  @Test func aFileHasSoManyItems() {
    var limit = 10
    let meta = Self.meta(key: [0x61], entries: 8)[...]
    #expect(MovieMetadataReader.items(ofMeta: meta, limit: &limit).count == 8)
    #expect(MovieMetadataReader.items(ofMeta: meta, limit: &limit).count == 2 && limit == 0)
    // 4,096 boxes of 4,096 empty texts.
    let texts = Self.box("\u{A9}nam", [UInt8](repeating: 0, count: 4 * 4096))
    let flood = (0..<4096).flatMap { _ in texts }
    limit = MovieMetadataReader.maxItems
    #expect(MovieMetadataReader.items(ofUserData: flood[...], limit: &limit).count == 4096 && limit == 0)
  }

  /// Metadata that was read can be written again.
  @Test func oldTextsDoNotGrow() {
    var limit = 10
    let bytes = [UInt8](repeating: 0xFF, count: 40_000)
    let size = [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)]
    for language in [[UInt8(0), 0], [0x55, 0xC4]] {
      let items = MovieMetadataReader.items(
        ofUserData: Self.box("\u{A9}nam", size + language + bytes)[...], limit: &limit)
      #expect(
        items.allSatisfy { $0.bytes.count <= 65_535 && String(validating: $0.bytes, as: UTF8.self) != nil })
    }
  }
}
