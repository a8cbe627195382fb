// SPDX-License-Identifier: Apache-2.0

/// Adds metadata items to the `moov` box or to a `trak` box, besides those that libavformat has
/// written.
struct MovieMetadataWriter {
  /// Whether the file is QuickTime's, whose `meta` box has no version and flags.
  let isQuickTime: Bool

  private typealias Item = MovieMetadataItem

  func write(_ items: [MovieMetadataItem], into box: inout MovieBox) {
    let named = items.filter { $0.keySpace == .quickTimeMetadata }
    if !named.isEmpty {
      box.children.removeAll { $0.type == "meta" }
      box.children.append(MovieBox(type: "meta", bytes: metadata(named)))
    }
    let others = items.filter { $0.keySpace != .quickTimeMetadata }
    guard !others.isEmpty else { return }
    let index = box.children.firstIndex { $0.type == "udta" } ?? box.children.count
    if index == box.children.count { box.children.append(MovieBox(type: "udta")) }
    box.children[index].bytes = userData(box.children[index].bytes, adding: others)
  }

  private func box(_ code: [UInt8], _ content: [UInt8]) -> [UInt8] {
    MovieBox.bytes(content.count + 8) + code + content
  }

  private func box(_ type: String, _ content: [UInt8]) -> [UInt8] { box(Array(type.utf8), content) }

  private func handler(_ type: String, by maker: String = "") -> [UInt8] {
    // Version and flags, component type, subtype, manufacturer, flags, mask, name.
    box(
      "hdlr",
      [UInt8](repeating: 0, count: 8) + Array(type.utf8)
        + (maker.isEmpty ? [0, 0, 0, 0] : Array(maker.utf8)) + [UInt8](repeating: 0, count: 9))
  }

  private func data(_ item: MovieMetadataItem) -> [UInt8] {
    let country = item.country.map { Array($0.utf8) } ?? []
    let locale = item.language == nil ? [0, 0] : MovieBox.bytes(Item.pack(item.language), count: 2)
    return box(
      "data", MovieBox.bytes(item.type) + (country.count == 2 ? country : [0, 0]) + locale + item.bytes)
  }

  /// Groups items by their keys, in the order in which the keys occur first.
  private func grouped<Key: Hashable>(
    _ items: [MovieMetadataItem], by key: (MovieMetadataItem) -> Key?
  ) -> [(key: Key, items: [MovieMetadataItem])] {
    var groups: [(key: Key, items: [MovieMetadataItem])] = []
    for item in items {
      guard let key = key(item) else { continue }
      if let index = groups.firstIndex(where: { $0.key == key }) {
        groups[index].items.append(item)
      } else {
        groups.append((key, [item]))
      }
    }
    return groups
  }

  /// The content of a `meta` box with names as keys.
  private func metadata(_ items: [MovieMetadataItem]) -> [UInt8] {
    let groups = grouped(items) { $0.key }
    let keys = groups.flatMap { box("mdta", Array($0.key.utf8)) }
    var list: [UInt8] = []
    for (index, group) in groups.enumerated() {
      list += box(MovieBox.bytes(index + 1), group.items.flatMap(data))
    }
    return (isQuickTime ? [] : [0, 0, 0, 0]) + handler("mdta")
      + box("keys", [0, 0, 0, 0] + MovieBox.bytes(groups.count) + keys) + box("ilst", list)
  }

  /// The content of a `udta` box to which items are added. Existing boxes with an item's key are
  /// replaced.
  private func userData(_ old: [UInt8], adding items: [MovieMetadataItem]) -> [UInt8] {
    var boxes = MovieMetadataReader.boxes(old[...]).map { (code: Array($0.code), content: Array($0.content)) }
    let texts = grouped(items.filter { $0.keySpace == .quickTimeUserData || $0.keySpace == .isoUserData }) {
      $0.code
    }
    for (code, items) in texts {
      boxes.removeAll { $0.code == code }
      for group in items where group.keySpace == .isoUserData {
        boxes.append(
          (code, [0, 0, 0, 0] + MovieBox.bytes(Item.pack(group.language), count: 2) + group.bytes + [0]))
      }
      let own = items.filter { $0.keySpace == .quickTimeUserData }
      guard !own.isEmpty else { continue }
      boxes.append(
        (
          code,
          own.flatMap {
            MovieBox.bytes($0.bytes.count, count: 2) + MovieBox.bytes(Item.pack($0.language), count: 2)
              + $0.bytes
          }
        ))
    }
    let listed = items.filter { $0.keySpace == .iTunes || $0.keySpace == .iTunesLong }
    if !listed.isEmpty {
      let meta = Array("meta".utf8)
      let before = boxes.first { $0.code == meta }?.content ?? []
      boxes.removeAll { $0.code == meta }
      boxes.append((meta, list(before, adding: listed)))
    }
    return boxes.flatMap { box($0.code, $0.content) }
  }

  /// The content of a `meta` box with the iTunes list.
  private func list(_ old: [UInt8], adding items: [MovieMetadataItem]) -> [UInt8] {
    let (found, handlerType) = MovieMetadataReader.contents(ofMeta: old[...])
    var entries =
      handlerType == "mdir"
      ? found.first { $0.type == "ilst" }.map { MovieMetadataReader.boxes($0.content) }?.map {
        (code: Array($0.code), content: Array($0.content))
      } ?? [] : []
    for (code, items) in grouped(items.filter { $0.keySpace == .iTunes }, by: { $0.code }) {
      entries.removeAll { $0.code == code }
      entries.append((code, items.flatMap(data)))
    }
    for (key, items) in grouped(items.filter { $0.keySpace == .iTunesLong }, by: { $0.key }) {
      // The key is "DOMAIN.NAME", of which both may contain dots. iTunes' own domain is the usual
      // one.
      let own = "com.apple.iTunes"
      let split =
        key.hasPrefix(own + ".") ? key.index(key.startIndex, offsetBy: own.count) : key.lastIndex(of: ".")
      guard let split else { continue }
      let (mean, name) = (key[..<split], key[key.index(after: split)...])
      entries.append(
        (
          Array("----".utf8),
          box("mean", [0, 0, 0, 0] + Array(mean.utf8)) + box("name", [0, 0, 0, 0] + Array(name.utf8))
            + items.flatMap(data)
        ))
    }
    return [0, 0, 0, 0] + handler("mdir", by: "appl")
      + box("ilst", entries.flatMap { box($0.code, $0.content) })
  }
}
