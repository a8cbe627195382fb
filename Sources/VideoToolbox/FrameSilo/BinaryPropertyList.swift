// SPDX-License-Identifier: Apache-2.0
/// Validates a binary property list from an untrusted file before Foundation parses it. The format
/// has sets and keys that are not strings, which no property list may contain: Foundation ends the
/// process at a set. An object may also be an element of many containers at a time, so that a small
/// file can expand to more values than memory can hold.
struct BinaryPropertyList {
  private let bytes: UnsafeRawBufferPointer
  /// The number of objects.
  private let count: Int
  /// The index of the top-level object.
  private let top: Int
  /// The byte offset of the offset table, which follows the objects.
  private let table: Int
  /// The size of an entry of the offset table, in bytes.
  private let offsetSize: Int
  /// The size of an object reference in a container, in bytes.
  private let referenceSize: Int

  /// The deepest nesting of containers: parsers fail at some hundreds.
  static let maximumDepth = 64
  /// The largest number of values after expansion, where an object counts once for each container
  /// that has it, and the largest number of bytes of all strings and data.
  static let maximumValues = 1 << 20
  static let maximumContent = 64 << 20

  private static let header: StaticString = "bplist00"
  private static let trailerSize = 32

  /// Whether every object is a Boolean, a number, a date, data, a string, an array or a dictionary
  /// with strings as keys, and lies within the bytes, and the expanded list keeps the limits.
  /// - Parameter bytes: The file's or the record's content.
  static func holdsOnlyValues(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let list = BinaryPropertyList(bytes) else { return false }
    // Objects that overlap in the file would make the check quadratic. A valid list has fewer
    // dictionary entries than bytes.
    var pairs = bytes.count
    guard list.count <= maximumValues, (0..<list.count).allSatisfy({ list.isValue($0, &pairs) }) else {
      return false
    }
    var known = [Int: ExpandedSize]()
    return list.expandedSize(list.top, 0, &known) != nil
  }

  /// The expanded size of an object, including everything that it contains.
  private struct ExpandedSize {
    var values = 1
    var content = 0
    /// The depth of nested containers.
    var height = 0

    /// The sum with a contained object; nil where it exceeds a limit.
    func adding(_ inner: ExpandedSize) -> ExpandedSize? {
      let sum = ExpandedSize(
        values: values + inner.values, content: content + inner.content,
        height: max(height, inner.height + 1))
      let isLittle =
        sum.values <= maximumValues && sum.content <= maximumContent && sum.height <= maximumDepth
      return isLittle ? sum : nil
    }
  }

  /// Computes the expanded size of an object. Each object is visited once.
  /// - Parameters:
  ///   - object: The index of the object.
  ///   - depth: The number of containers around it.
  ///   - known: The sizes that were computed before, by object.
  /// - Returns: Nil where a limit is exceeded, or an object contains itself.
  private func expandedSize(_ object: Int, _ depth: Int, _ known: inout [Int: ExpandedSize]) -> ExpandedSize?
  {
    if let weight = known[object] { return weight }
    guard depth <= Self.maximumDepth, let offset = offset(object) else { return nil }
    var weight = ExpandedSize()
    let kind = bytes[offset] >> 4
    guard kind >= 4, let (count, start) = extent(offset) else { return weight }
    switch kind {
    case 10, 13:
      let references = kind == 13 ? 2 * count : count
      for i in 0..<references {
        guard let inner = integer(at: start + i * referenceSize, size: referenceSize, before: table),
          let inside = expandedSize(inner, depth + 1, &known), let sum = weight.adding(inside)
        else { return nil }
        weight = sum
      }
    default: weight.content = kind == 6 ? 2 * count : count
    }
    known[object] = weight
    return weight
  }

  /// Reads the header and the trailer; nil if they are not those of a binary property list.
  private init?(_ bytes: UnsafeRawBufferPointer) {
    let headerSize = Self.header.utf8CodeUnitCount
    guard bytes.count >= headerSize + Self.trailerSize + 1,
      (0..<headerSize).allSatisfy({ bytes[$0] == Self.header.utf8Start[$0] })
    else { return nil }
    self.bytes = bytes
    let trailer = bytes.count - Self.trailerSize
    offsetSize = Int(bytes[trailer + 6])
    referenceSize = Int(bytes[trailer + 7])
    func word(_ at: Int) -> Int? {
      Int(exactly: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self)))
    }
    guard (1...8).contains(offsetSize), (1...8).contains(referenceSize), let count = word(trailer + 8),
      let top = word(trailer + 16), top < count, let table = word(trailer + 24), table >= headerSize,
      table <= trailer, count > 0,
      count <= (trailer - table) / offsetSize
    else { return nil }
    self.count = count
    self.top = top
    self.table = table
  }

  /// Reads a big-endian integer of up to eight bytes; nil where it does not end before `end`, or
  /// exceeds `Int`.
  private func integer(at offset: Int, size: Int, before end: Int) -> Int? {
    guard offset >= 0, offset <= end - size else { return nil }
    var value: UInt64 = 0
    for i in 0..<size { value = value << 8 | UInt64(bytes[offset + i]) }
    return Int(exactly: value)
  }

  /// The byte offset of an object; nil if there is no such object.
  private func offset(_ object: Int) -> Int? {
    guard object < count,
      let offset = integer(
        at: table + object * offsetSize, size: offsetSize, before: bytes.count - Self.trailerSize),
      offset < table
    else { return nil }
    return offset
  }

  /// The type of an object: the upper four bits of its marker byte.
  private func kind(_ object: Int) -> UInt8? { offset(object).map { bytes[$0] >> 4 } }

  /// The number of elements (bytes, characters, references or entries) of the object at an offset,
  /// and the offset of the first.
  private func extent(_ offset: Int) -> (count: Int, start: Int)? {
    let low = Int(bytes[offset] & 15)
    if low != 15 { return (low, offset + 1) }
    guard offset + 1 < table, bytes[offset + 1] >> 4 == 1, bytes[offset + 1] & 15 <= 3 else { return nil }
    let size = 1 << Int(bytes[offset + 1] & 15)
    guard let count = integer(at: offset + 2, size: size, before: table) else { return nil }
    return (count, offset + 2 + size)
  }

  /// Whether an object has a valid type and lies within the bytes. `pairsLeft` is reduced by the
  /// number of its dictionary entries.
  private func isValue(_ object: Int, _ pairsLeft: inout Int) -> Bool {
    guard let offset = offset(object) else { return false }
    let marker = bytes[offset]
    switch marker >> 4 {
    case 0: return marker == 8 || marker == 9
    case 1: return marker & 15 <= 4 && fits(1 << Int(marker & 15), 1, at: offset + 1)
    case 2: return marker & 15 <= 3 && fits(1 << Int(marker & 15), 1, at: offset + 1)
    case 3: return marker == 0x33 && fits(8, 1, at: offset + 1)
    case 4, 5: return extent(offset).map { fits($0.count, 1, at: $0.start) } ?? false
    case 6: return extent(offset).map { fits($0.count, 2, at: $0.start) } ?? false
    case 10:
      guard let (items, start) = extent(offset) else { return false }
      return fits(items, referenceSize, at: start)
    case 13:
      guard let (pairs, start) = extent(offset), fits(pairs, 2 * referenceSize, at: start) else {
        return false
      }
      pairsLeft -= pairs
      guard pairsLeft >= 0 else { return false }
      return (0..<pairs).allSatisfy { i in
        guard let key = integer(at: start + i * referenceSize, size: referenceSize, before: table),
          let kind = kind(key)
        else { return false }
        return kind == 5 || kind == 6
      }
    default: return false
    }
  }

  /// Whether elements of a size in bytes lie before the offset table.
  private func fits(_ count: Int, _ size: Int, at start: Int) -> Bool {
    start <= table && count <= (table - start) / size
  }
}
