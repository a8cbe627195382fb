// SPDX-License-Identifier: Apache-2.0
/// A box of an ISO base media file or a QuickTime movie in memory, with its content or its child
/// boxes.
struct MovieBox {
  var type: String
  /// Content of a box that is not parsed for child boxes.
  var bytes: [UInt8] = []
  var children: [MovieBox] = []

  /// Types of the boxes whose children are parsed.
  private static let containers: Set<String> = ["moov", "trak", "mdia", "minf", "stbl"]

  /// Parses consecutive boxes; nil if their sizes do not add up to the number of bytes.
  static func parse(_ bytes: ArraySlice<UInt8>) -> [MovieBox]? {
    var boxes: [MovieBox] = []
    var rest = bytes
    while !rest.isEmpty {
      guard rest.count >= 8 else { return nil }
      let size = number(rest, rest.startIndex)
      guard size >= 8, size <= rest.count else { return nil }
      let type = String(decoding: rest[rest.startIndex + 4..<rest.startIndex + 8], as: UTF8.self)
      let content = rest[rest.startIndex + 8..<rest.startIndex + size]
      if containers.contains(type) {
        guard let children = parse(content) else { return nil }
        boxes.append(MovieBox(type: type, children: children))
      } else {
        boxes.append(MovieBox(type: type, bytes: Array(content)))
      }
      rest = rest[(rest.startIndex + size)...]
    }
    return boxes
  }

  /// The box with its header and children.
  var serialized: [UInt8] {
    let content = Self.containers.contains(type) ? children.flatMap(\.serialized) : bytes
    return Self.bytes(content.count + 8) + Array(type.utf8) + content
  }

  subscript(_ type: String) -> MovieBox? { children.first { $0.type == type } }

  /// The box at a path of types below this box; nil if there is none.
  func find(_ path: String...) -> MovieBox? {
    path.reduce(MovieBox?.some(self)) { box, type in box?[type] }
  }

  /// Replaces the box at a path of types below this box, if there is one.
  mutating func replace(_ path: ArraySlice<String>, with box: MovieBox) {
    guard let first = path.first, let index = children.firstIndex(where: { $0.type == first }) else { return }
    if path.count == 1 {
      children[index] = box
    } else {
      children[index].replace(path.dropFirst(), with: box)
    }
  }

  // MARK: - Numbers, big-endian; 0 beyond the end

  static func number(_ bytes: ArraySlice<UInt8>, _ at: Int, count: Int = 4) -> Int {
    guard at >= bytes.startIndex, at + count <= bytes.endIndex else { return 0 }
    return bytes[at..<at + count].reduce(0) { $0 << 8 | Int($1) }
  }

  func number(_ at: Int, count: Int = 4) -> Int { Self.number(bytes[...], at, count: count) }

  static func bytes(_ number: Int, count: Int = 4) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * (count - 1 - $0))) }
  }
}
