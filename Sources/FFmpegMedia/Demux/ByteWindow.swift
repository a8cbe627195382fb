// SPDX-License-Identifier: Apache-2.0

/// Reads small pieces at arbitrary positions of a byte reader through a buffer of at least 4 KiB.
final class ByteWindow {
  private let reader: any MediaByteReader
  private var buffer: [UInt8] = []
  private var start: Int64 = 0
  private static let size = 4096

  init(_ reader: any MediaByteReader) { self.reader = reader }

  /// Reads `count` bytes at an offset from the beginning of the file.
  /// - Returns: nil beyond the end of the file, and where reading fails.
  func read(_ position: Int64, _ count: Int) -> [UInt8]? {
    guard position >= 0, position < Int64.max - Int64(count) else { return nil }
    if position < start || position + Int64(count) > start + Int64(buffer.count) {
      fill(position, max(Self.size, count), atLeast: count)
    }
    let offset = Int(position - start)
    guard offset + count <= buffer.count else { return nil }
    return Array(buffer[offset..<offset + count])
  }

  private func fill(_ position: Int64, _ size: Int, atLeast count: Int) {
    var fresh = [UInt8](repeating: 0, count: size)
    var filled = 0
    while filled < count {
      let read = fresh.withUnsafeMutableBytes { bytes in
        (try? reader.read(
          at: position + Int64(filled), into: UnsafeMutableRawBufferPointer(rebasing: bytes[filled...]))) ?? 0
      }
      guard read > 0 else { break }
      filled += read
    }
    fresh.removeLast(size - filled)
    (buffer, start) = (fresh, position)
  }

  /// Offsets, from the beginning of the file, at which one of the four-character codes occurs in
  /// the range from `start` to `end`.
  func positions(of types: [String], _ start: Int64, _ end: Int64) -> [Int64] {
    var found: [Int64] = []
    var at = start
    while at + 4 <= end {
      let size = Int(min(1 << 16, end - at))
      fill(at, size, atLeast: size)
      guard buffer.count >= 4 else { break }
      for type in types.map({ Array($0.utf8) }) {
        var rest = buffer[...]
        while let hit = rest.firstIndex(of: type[0]) {
          if buffer[hit...].starts(with: type) { found.append(at + Int64(hit)) }
          rest = buffer[(hit + 1)...]
        }
      }
      at += Int64(buffer.count - 3)
      if buffer.count < size { break }
    }
    return found
  }
}
