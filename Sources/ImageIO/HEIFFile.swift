// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import VideoBitstream

/// The images in an HEIF file and where their data is (ISO/IEC 23008-12, over the boxes of ISO/IEC
/// 14496-12).
///
/// The file is not trusted. Each list that is read is stored in the file, so that it is no longer
/// than the file.
struct HEIFFile {
  /// An item: an image, a part of one, or metadata.
  struct Item {
    var type = ""
    var isHidden = false
    /// Whether its data is in this file, is not encrypted, and needs no property that is unknown.
    var isReadable = true
    /// The properties in the order in which they apply.
    var properties: [Property] = []
    fileprivate var isInItemData = false
    fileprivate var extents: [(offset: UInt64, length: UInt64)] = []
  }

  /// A property of an item.
  enum Property {
    /// `hvcC`, an HEVCDecoderConfigurationRecord.
    case configuration(Data)
    /// `colr` with code points.
    case color(ColorDescription, isFullRange: Bool)
    /// `colr` with an ICC profile.
    case profile(Data)
    /// `clap`.
    case aperture(CleanAperture)
    /// `irot`: quarter turns anticlockwise.
    case rotation(Int)
    /// `imir`.
    case mirror(exchangesSides: Bool)
    /// `auxC`: what an auxiliary image shows, a URN.
    case auxiliary(String)
    /// Any other.
    case other(type: String)
  }

  /// A reference from an item to others.
  struct Reference {
    let type: String
    let source: UInt32
    let targets: [UInt32]
  }

  private let data: Data
  private(set) var items: [UInt32: Item] = [:]
  private(set) var references: [Reference] = []
  /// The primary item, or nil if the file does not name one.
  private(set) var primary: UInt32?
  /// The items in the order of the file.
  private var order: [UInt32] = []
  /// The content of `idat`.
  private var itemData = Data()
  private var properties: [Property] = []

  /// Whether data begins as a file of HEVC images (ISO/IEC 23008-12, B.4.1).
  static func isHEIC(_ data: Data) -> Bool {
    var reader = ByteReader(data.prefix(1024))
    guard let size = try? reader.uint32(), size >= 16, let type = try? reader.bytes(4), name(type) == "ftyp",
      let content = try? reader.bytes(min(Int(size) - 8, reader.remaining)), content.count >= 8
    else { return false }
    let start = content.startIndex
    let brands = stride(from: 0, through: content.count - 4, by: 4).filter { $0 != 4 }
    return brands.contains {
      ["heic", "heix", "heim", "heis"].contains(name(content[start + $0..<start + $0 + 4]))
    }
  }

  /// Reads the structure of a file.
  /// - Throws: `SyntaxError` if it is malformed or has no images.
  init(_ data: Data) throws {
    self.data = data
    guard let meta = try Self.boxes(data).first(where: { $0.type == "meta" }) else {
      throw SyntaxError.invalid
    }
    var reader = ByteReader(meta.content)
    _ = try reader.version()
    let boxes = try Self.boxes(reader.remainder())
    guard let handler = boxes.first(where: { $0.type == "hdlr" }), handler.content.count >= 12,
      Self.name(handler.content.dropFirst(8).prefix(4)) == "pict"
    else { throw SyntaxError.invalid }
    // Items are declared before anything is said about them, whatever the order of the boxes.
    for type in ["iinf", "idat", "pitm", "iref", "iloc", "iprp"] {
      for box in boxes where box.type == type { try read(type, ByteReader(box.content)) }
    }
  }

  private mutating func read(_ type: String, _ content: ByteReader<Data>) throws {
    switch type {
    case "iinf": try readItems(content)
    case "idat":
      var reader = content
      itemData = Data(try reader.remainder())
    case "pitm":
      var reader = content
      let version = try reader.version().version
      primary = try reader.number(version == 0 ? 2 : 4)
    case "iref": try readReferences(content)
    case "iloc": try readLocations(content)
    default:
      var reader = content
      try readProperties(reader.remainder())
    }
  }

  // MARK: - What the file has

  /// The images that the file offers, in its order: not the parts, auxiliary images and thumbnails
  /// of others.
  var images: [UInt32] {
    let parts = Set(references.filter { $0.type == "dimg" }.flatMap(\.targets))
    let others = Set(references.filter { $0.type == "auxl" || $0.type == "thmb" }.map(\.source))
    return order.filter { id in
      guard let item = items[id], !item.isHidden, !others.contains(id) else { return false }
      return (item.type == "hvc1" || item.type == "grid") && (!parts.contains(id) || id == primary)
    }
  }

  /// Returns the items that an item refers to.
  func targets(of id: UInt32, _ type: String) -> [UInt32] {
    references.first { $0.type == type && $0.source == id }?.targets ?? []
  }

  /// Returns the items that refer to an item.
  func sources(of id: UInt32, _ type: String) -> [UInt32] {
    references.filter { $0.type == type && $0.targets.contains(id) }.map(\.source)
  }

  /// The length of the file in bytes.
  var length: Int { data.count }

  /// Returns the length in bytes of the data of an item, at most that of the file.
  func length(of id: UInt32) -> Int {
    let extents = items[id]?.extents ?? []
    return extents.reduce(0) { sum, extent in
      let rest = length - sum
      return sum + (extent.length == 0 ? rest : Int(min(extent.length, UInt64(rest))))
    }
  }

  /// Returns the data of an item, or nil if it is not in the file.
  func content(of id: UInt32) -> Data? {
    guard let item = items[id], item.isReadable, !item.extents.isEmpty else { return nil }
    let source = item.isInItemData ? itemData : data
    var result = Data()
    for extent in item.extents {
      // A length of 0 means everything up to the end.
      let size = UInt64(source.count)
      guard extent.offset <= size else { return nil }
      let length = extent.length == 0 ? size - extent.offset : extent.length
      // Extents that overlap would be longer than the file.
      guard length <= size - extent.offset, UInt64(result.count) + length <= size else { return nil }
      let start = source.startIndex + Int(extent.offset)
      result.append(source[start..<start + Int(length)])
    }
    return result
  }

  // MARK: - Boxes

  /// Reads consecutive boxes.
  /// - Returns: The types of the boxes and their contents, which are slices of the data.
  private static func boxes(_ data: Data) throws -> [(type: String, content: Data)] {
    var reader = ByteReader(data)
    var result: [(String, Data)] = []
    while reader.remaining > 0 {
      var size = UInt64(try reader.uint32())
      let type = name(try reader.bytes(4))
      var header: UInt64 = 8
      if size == 1 {
        size = try reader.uint64()
        header = 16
      }
      // The last box may have no size.
      if size == 0 { size = header + UInt64(reader.remaining) }
      guard size >= header, size - header <= UInt64(reader.remaining) else { throw SyntaxError.truncated }
      result.append((type, try reader.bytes(Int(size - header))))
    }
    return result
  }

  /// Returns a four-character code as text.
  fileprivate static func name(_ code: Data) -> String { String(decoding: code, as: UTF8.self) }

  // MARK: - Items

  private mutating func readItems(_ content: ByteReader<Data>) throws {
    var reader = content
    _ = try reader.number(reader.version().version == 0 ? 2 : 4)
    for box in try Self.boxes(reader.remainder()) where box.type == "infe" {
      var entry = ByteReader(box.content)
      let (version, flags) = try entry.version()
      // Version 0 and 1 have no types, and are not used for images.
      guard version >= 2 else { continue }
      let id = try entry.number(version == 2 ? 2 : 4)
      var item = Item()
      item.isReadable = try entry.uint16() == 0
      item.isHidden = flags & 1 != 0
      item.type = Self.name(try entry.bytes(4))
      if items.updateValue(item, forKey: id) == nil { order.append(id) }
    }
  }

  private mutating func readReferences(_ content: ByteReader<Data>) throws {
    var reader = content
    let size = try reader.version().version == 0 ? 2 : 4
    for box in try Self.boxes(reader.remainder()) {
      var entry = ByteReader(box.content)
      let source = try entry.number(size)
      var targets: [UInt32] = []
      for _ in 0..<(try entry.uint16()) { targets.append(try entry.number(size)) }
      references.append(Reference(type: box.type, source: source, targets: targets))
    }
  }

  private mutating func readLocations(_ content: ByteReader<Data>) throws {
    var reader = content
    let version = try reader.version().version
    guard version <= 2 else { throw SyntaxError.invalid }
    let sizes = try reader.uint16()
    func size(_ shift: Int) -> Int { Int(sizes >> shift & 15) }
    guard [12, 8, 4, 0].allSatisfy({ [0, 4, 8].contains(size($0)) }) else { throw SyntaxError.invalid }
    for _ in 0..<(try reader.number(version == 2 ? 4 : 2)) {
      let id = try reader.number(version == 2 ? 4 : 2)
      let method = version == 0 ? 0 : try reader.uint16() & 15
      let isHere = try reader.uint16() == 0
      let base = try reader.long(size(4))
      var extents: [(UInt64, UInt64)] = []
      let count = try reader.uint16()
      // Extents without an offset and a length take no bytes of the file, so that few bytes could
      // claim any number of them.
      guard count <= 1 || size(12) + size(8) > 0 else { throw SyntaxError.invalid }
      for _ in 0..<count {
        if version > 0 { _ = try reader.long(size(0)) }
        let (start, overflow) = base.addingReportingOverflow(try reader.long(size(12)))
        guard !overflow else { throw SyntaxError.invalid }
        extents.append((start, try reader.long(size(8))))
      }
      items[id]?.extents = extents
      items[id]?.isInItemData = method == 1
      if !isHere || method > 1 { items[id]?.isReadable = false }
    }
  }

  // MARK: - Properties

  private mutating func readProperties(_ content: Data) throws {
    let boxes = try Self.boxes(content)
    for box in boxes where box.type == "ipco" {
      properties = try Self.boxes(box.content).map { try Property($0.type, $0.content) }
    }
    for box in boxes where box.type == "ipma" {
      var reader = ByteReader(box.content)
      let (version, flags) = try reader.version()
      for _ in 0..<(try reader.uint32()) {
        let id = try reader.number(version == 0 ? 2 : 4)
        var associated: [Property] = []
        for _ in 0..<(try reader.uint8()) {
          let isLong = flags & 1 != 0
          let entry = isLong ? try reader.uint16() : UInt16(try reader.uint8())
          let isEssential = entry >> (isLong ? 15 : 7) == 1
          let index = Int(entry & (isLong ? 0x7FFF : 0x7F))
          // 0 means no property.
          guard index > 0 else { continue }
          guard index <= properties.count else { throw SyntaxError.invalid }
          let property = properties[index - 1]
          if case .other(let type) = property, isEssential, type != "ispe", type != "pixi" {
            items[id]?.isReadable = false
          }
          associated.append(property)
        }
        // An item has one entry, and thus 255 properties at most.
        if items[id]?.properties.isEmpty == true { items[id]?.properties = associated }
      }
    }
  }
}

extension HEIFFile.Property {
  fileprivate init(_ type: String, _ content: Data) throws {
    var reader = ByteReader(content)
    switch type {
    case "hvcC": self = .configuration(Data(content))
    case "clap":
      guard let aperture = CleanAperture([UInt8](content)) else { throw SyntaxError.invalid }
      self = .aperture(aperture)
    case "irot": self = .rotation(Int(try reader.uint8() & 3))
    case "imir": self = .mirror(exchangesSides: try reader.uint8() & 1 == 1)
    case "auxC":
      _ = try reader.version()
      self = .auxiliary(String(decoding: try reader.remainder().prefix { $0 != 0 }, as: UTF8.self))
    case "colr":
      let kind = HEIFFile.name(try reader.bytes(4))
      switch kind {
      case "prof", "rICC": self = .profile(Data(try reader.remainder()))
      case "nclx":
        let codes = [try reader.uint16(), try reader.uint16(), try reader.uint16()]
          .map { UInt8(exactly: $0) ?? ColorDescription.unspecified }
        self = .color(
          ColorDescription(primaries: codes[0], transfer: codes[1], matrix: codes[2]),
          isFullRange: try reader.uint8() >> 7 == 1)
      default: self = .other(type: type)
      }
    default: self = .other(type: type)
    }
  }
}

extension ByteReader<Data> {
  /// Reads the version and the flags of a full box.
  fileprivate mutating func version() throws(SyntaxError) -> (version: UInt8, flags: UInt32) {
    let word = try uint32()
    return (UInt8(word >> 24), word & 0xFF_FFFF)
  }

  /// Reads all bytes that are left.
  fileprivate mutating func remainder() throws(SyntaxError) -> Data { try bytes(remaining) }

  /// Reads an integer of 2 or 4 bytes.
  fileprivate mutating func number(_ size: Int) throws(SyntaxError) -> UInt32 {
    size == 2 ? UInt32(try uint16()) : try uint32()
  }

  /// Reads an integer of 0, 4 or 8 bytes.
  fileprivate mutating func long(_ size: Int) throws(SyntaxError) -> UInt64 {
    size == 0 ? 0 : size == 4 ? UInt64(try uint32()) : try uint64()
  }
}
