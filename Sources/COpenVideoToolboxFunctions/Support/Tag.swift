// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import CoreMedia

/// The errors of tag collections and of groups, which the headers declare.
enum TagError {
  static let parameter = Int32(kCMTagCollectionError_ParamErr)
  static let invalidTag = Int32(kCMTagCollectionError_InvalidTag)
  static let dictionary = Int32(kCMTagCollectionError_InvalidTagCollectionDictionary)
  static let data = Int32(kCMTagCollectionError_InvalidTagCollectionData)
  static let dataVersion = Int32(kCMTagCollectionError_InvalidTagCollectionDataVersion)
  static let notFound = Int32(kCMTagCollectionError_TagNotFound)
  static let exhausted = Int32(kCMTagCollectionError_ExhaustedBufferSize)
  static let groupParameter = Int32(kCMTaggedBufferGroupError_ParamErr)
}

/// A tag of C, with the fields of its structure: `kCMTagDataType_` codes, and the bits of a value
/// of that type.
struct Tag: Hashable, Comparable, Sendable {
  let category: UInt32
  let type: UInt32
  let bits: UInt64

  /// The codes of the types of values (`kCMTagDataType_`).
  enum DataType {
    static let invalid: UInt32 = 0
    static let int64: UInt32 = 2
    static let float64: UInt32 = 3
    static let osType: UInt32 = 5
    static let flags: UInt32 = 7
  }

  static let invalid = Tag(category: 0, type: DataType.invalid, bits: 0)

  init(category: UInt32, type: UInt32, bits: UInt64) {
    (self.category, self.type, self.bits) = (category, type, bits)
  }

  init(_ tag: C_CMTag) { self.init(category: tag.category, type: tag.dataType, bits: tag.value) }

  init(_ tag: CMTag) {
    let (type, bits): (UInt32, UInt64) =
      switch tag.rawTagValue {
      case .int64(let value): (DataType.int64, UInt64(bitPattern: value))
      case .float64(let value): (DataType.float64, value.bitPattern)
      case .osType(let value): (DataType.osType, UInt64(value))
      case .flags(let value): (DataType.flags, value)
      }
    self.init(category: tag.rawCategory, type: type, bits: bits)
  }

  var c: C_CMTag { C_CMTag(category: category, dataType: type, value: bits) }

  var isValid: Bool { type != DataType.invalid }

  /// The module's tag; nil for a tag whose type is not known.
  var tag: CMTag? {
    let value: CMTag.Value
    switch type {
    case DataType.int64: value = .int64(Int64(bitPattern: bits))
    case DataType.float64: value = .float64(Float64(bitPattern: bits))
    case DataType.osType: value = .osType(UInt32(truncatingIfNeeded: bits))
    case DataType.flags: value = .flags(bits)
    default: return nil
    }
    return CMTag(rawCategory: category, rawTagValue: value)
  }

  /// A number that is greater for a greater value of the tag's type.
  private var rank: UInt64 {
    let sign: UInt64 = 1 << 63
    switch type {
    case DataType.int64: return bits ^ sign
    // The order of IEEE 754, clause 5.10: negative numbers have the reverse order of their bits.
    case DataType.float64: return bits & sign != 0 ? ~bits : bits | sign
    default: return bits
    }
  }

  static func < (a: Tag, b: Tag) -> Bool {
    if a.category != b.category { return a.category < b.category }
    if a.type != b.type { return a.type < b.type }
    return a.rank < b.rank
  }

  var description: String {
    tag?.description ?? "{category:\(category), type:\(type), value:\(bits)}"
  }
}

/// A set of tags of C.
final class TagCollection: CFRuntimeObject, @unchecked Sendable {
  // Sendable: a collection that can be changed must not be used by other threads meanwhile, which
  // is for the program to see to; others are not changed.
  static let cfTypeID = CFRuntimeRegister("CMTagCollection")

  /// In ascending order, each once.
  private(set) var tags: [Tag]
  let isMutable: Bool
  /// The number of tags that it holds at most; 0 for as many as come.
  let capacity: Int

  /// - Parameter tags: In any order.
  init(_ tags: some Sequence<Tag>, isMutable: Bool = false, capacity: Int = 0) {
    self.tags = Self.set(tags)
    self.isMutable = isMutable
    self.capacity = capacity
  }

  private static func set(_ tags: some Sequence<Tag>) -> [Tag] {
    var result: [Tag] = []
    for tag in tags.sorted() where tag != result.last { result.append(tag) }
    return result
  }

  /// Whether a tag is in the collection.
  func contains(_ tag: Tag) -> Bool {
    var (low, high) = (0, tags.count)
    while low < high {
      let middle = (low + high) / 2
      if tags[middle] < tag { low = middle + 1 } else { high = middle }
    }
    return low < tags.count && tags[low] == tag
  }

  /// Adds tags: all, or none if there is an error.
  func add(_ added: some Sequence<Tag>) -> Int32 {
    guard isMutable else { return TagError.parameter }
    let all = Self.set(tags + added)
    guard all.allSatisfy(\.isValid) else { return TagError.invalidTag }
    guard capacity == 0 || all.count <= capacity else {
      return TagError.exhausted
    }
    tags = all
    return 0
  }

  /// Removes the tags that a closure chooses.
  /// - Returns: The number of tags that were removed; nil if the collection cannot be changed.
  func remove(where isRemoved: (Tag) -> Bool) -> Int? {
    guard isMutable else { return nil }
    let count = tags.count
    tags.removeAll(where: isRemoved)
    return count - tags.count
  }

  func cfIsEqual(to other: AnyObject) -> Bool {
    (other as? TagCollection).map { tags == $0.tags } ?? false
  }

  var cfHash: UInt { tags.first.map { UInt(truncatingIfNeeded: $0.hash) } ?? 0 }

  var cfDescription: String { "CMTagCollection{\(tags.map(\.description).joined(separator: ", "))}" }
}

extension Tag {
  /// A number that is the same for equal tags, in every run of a program.
  var hash: UInt64 {
    // Odd constants of random bits, so that tags that differ in one field differ in the result.
    var result = UInt64(category) &* 0x9E37_79B9_7F4A_7C15
    result = (result ^ UInt64(type)) &* 0xC2B2_AE3D_27D4_EB4F
    result = (result ^ bits) &* 0x1656_67B1_9E37_79F9
    return result ^ result >> 32
  }
}
