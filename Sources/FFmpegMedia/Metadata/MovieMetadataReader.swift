// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Reads the metadata items in a movie's `meta` and `udta` boxes. Damaged items are skipped.
enum MovieMetadataReader {
  /// Most children that are read of a box, which bounds the work for a malicious file.
  private static let limit = 4096
  /// Most items that are read of a file.
  static let maxItems = 4096
  /// Longest key, and longest text in user data, whose size field has 16 bits, in bytes.
  private static let longestKey = 1024
  private static let longestText = Int(UInt16.max)
  /// Largest `meta` or `udta` box that is read, in bytes.
  static let sizeLimit = 1 << 26

  struct Box {
    var code: ArraySlice<UInt8>
    var content: ArraySlice<UInt8>
    var type: String { MovieMetadataItem.text(code) }
  }

  /// Splits bytes into consecutive boxes, up to the first one that does not fit.
  static func boxes(_ bytes: ArraySlice<UInt8>) -> [Box] {
    var found: [Box] = []
    var rest = bytes
    while rest.count >= 8, found.count < limit {
      let size = MovieBox.number(rest, rest.startIndex)
      guard size >= 8, size <= rest.count else { break }
      let start = rest.startIndex
      found.append(Box(code: rest[start + 4..<start + 8], content: rest[start + 8..<start + size]))
      rest = rest[(start + size)...]
    }
    return found
  }

  // MARK: - meta

  /// The children of a `meta` box and its handler type. The box has a version and flags in ISO
  /// files, but not in QuickTime's.
  static func contents(ofMeta bytes: ArraySlice<UInt8>) -> (boxes: [Box], handler: String) {
    let isPlain = bytes.dropFirst(4).prefix(4).elementsEqual("hdlr".utf8)
    let found = boxes(isPlain ? bytes : bytes.dropFirst(4))
    let handler = found.first { $0.type == "hdlr" }.map {
      MovieMetadataItem.text($0.content.dropFirst(8).prefix(4))
    }
    return (found, handler ?? "")
  }

  /// The items of a `meta` box.
  /// - Parameters:
  ///   - bytes: The content of the box.
  ///   - limit: The number of items that may still be read of the file; reduced by those found.
  static func items(ofMeta bytes: ArraySlice<UInt8>, limit: inout Int) -> [MovieMetadataItem] {
    let (found, handler) = contents(ofMeta: bytes)
    guard let list = found.first(where: { $0.type == "ilst" }) else { return [] }
    switch handler {
    case "mdta":
      let keys = (found.first { $0.type == "keys" }.map { boxes($0.content.dropFirst(8)) } ?? []).map { key in
        key.type == "mdta" && (1...longestKey).contains(key.content.count)
          ? String(decoding: key.content, as: UTF8.self) : nil
      }
      return boxes(list.content).flatMap { entry -> [MovieMetadataItem] in
        let index = MovieBox.number(entry.code, entry.code.startIndex)
        guard index >= 1, index <= keys.count, let key = keys[index - 1] else { return [] }
        return values(of: entry, .quickTimeMetadata, key, limit: &limit)
      }
    case "mdir":
      return boxes(list.content).flatMap { entry -> [MovieMetadataItem] in
        guard entry.type == "----" else { return values(of: entry, .iTunes, entry.type, limit: &limit) }
        func text(_ type: String) -> String? {
          boxes(entry.content).first { $0.type == type }.map { $0.content.dropFirst(4) }.flatMap {
            (1...longestKey).contains($0.count) ? String(decoding: $0, as: UTF8.self) : nil
          }
        }
        guard let mean = text("mean"), let name = text("name") else { return [] }
        return values(of: entry, .iTunesLong, "\(mean).\(name)", limit: &limit)
      }
    default: return []
    }
  }

  private static func values(
    of entry: Box, _ space: MovieMetadataItem.KeySpace, _ key: String, limit: inout Int
  ) -> [MovieMetadataItem] {
    boxes(entry.content).compactMap { box in
      guard limit > 0, box.type == "data", box.content.count >= 8 else { return nil }
      let start = box.content.startIndex
      let type = MovieBox.number(box.content, start)
      // The first byte names the set of types: QuickTime's well-known types are set 0.
      guard type >> 24 == 0 else { return nil }
      limit -= 1
      let country = box.content[start + 4..<start + 6]
      return MovieMetadataItem(
        keySpace: space, key: key, type: type,
        language: MovieMetadataItem.language(MovieBox.number(box.content, start + 6, count: 2)),
        country: country.allSatisfy { (0x41...0x5A).contains($0) }
          ? String(decoding: country, as: UTF8.self) : nil,
        bytes: Array(box.content.dropFirst(8)))
    }
  }

  // MARK: - udta

  static func items(ofUserData bytes: ArraySlice<UInt8>, limit: inout Int) -> [MovieMetadataItem] {
    boxes(bytes).flatMap { box -> [MovieMetadataItem] in
      if box.code.first == 0xA9 { return texts(of: box, limit: &limit) }
      if box.type == "meta" { return items(ofMeta: box.content, limit: &limit) }
      guard limit > 0, MovieMetadataItem.isoTexts.contains(box.type), box.content.count > 6 else { return [] }
      limit -= 1
      let start = box.content.startIndex
      return [
        MovieMetadataItem(
          keySpace: .isoUserData, key: box.type, type: 1,
          language: MovieMetadataItem.language(MovieBox.number(box.content, start + 4, count: 2)),
          bytes: utf8(box.content.dropFirst(6)))
      ]
    }
  }

  /// The texts of one kind in several languages, each with its size, language and characters.
  private static func texts(of box: Box, limit: inout Int) -> [MovieMetadataItem] {
    var items: [MovieMetadataItem] = []
    var rest = box.content
    while rest.count >= 4, limit > 0 {
      let size = MovieBox.number(rest, rest.startIndex, count: 2)
      let language = MovieBox.number(rest, rest.startIndex + 2, count: 2)
      guard size <= rest.count - 4 else { break }
      let text = utf8(rest.dropFirst(4).prefix(size), isOld: language < 0x400)
      rest = rest.dropFirst(4 + size)
      limit -= 1
      // Converted to UTF-8, a text may be too long for its size field when it is written again.
      guard text.count <= longestText else { continue }
      items.append(
        MovieMetadataItem(
          keySpace: .quickTimeUserData, key: box.type, type: 1,
          language: MovieMetadataItem.language(language), bytes: text))
    }
    return items
  }

  /// Converts text to UTF-8 and removes a terminating zero. UTF-16 begins with a byte order mark;
  /// text that is not UTF-8 is Mac OS Roman if its language code is a Macintosh one.
  private static func utf8(_ bytes: ArraySlice<UInt8>, isOld: Bool = false) -> [UInt8] {
    let data = Data(bytes)
    if bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE]),
      let text = String(data: data, encoding: .utf16)
    {
      return Array(text.utf8).trimmedZero
    }
    if String(validating: bytes, as: UTF8.self) == nil, isOld,
      let text = String(data: data, encoding: .macOSRoman)
    {
      return Array(text.utf8).trimmedZero
    }
    return Array(String(decoding: bytes, as: UTF8.self).utf8).trimmedZero
  }
}

extension [UInt8] {
  fileprivate var trimmedZero: [UInt8] { last == 0 ? dropLast() : self }
}
