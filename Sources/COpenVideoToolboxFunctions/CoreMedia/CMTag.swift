// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import CoreMedia

// MARK: - Values

@c @implementation
public func CMTagGetValueDataType(_ tag: C_CMTag) -> UInt32 { tag.dataType }

@c @implementation
public func CMTagHasSInt64Value(_ tag: C_CMTag) -> UInt8 { tag.dataType == Tag.DataType.int64 ? 1 : 0 }

@c @implementation
public func CMTagGetSInt64Value(_ tag: C_CMTag) -> Int64 { Int64(bitPattern: tag.value) }

@c @implementation
public func CMTagHasFloat64Value(_ tag: C_CMTag) -> UInt8 { tag.dataType == Tag.DataType.float64 ? 1 : 0 }

@c @implementation
public func CMTagGetFloat64Value(_ tag: C_CMTag) -> Double { Double(bitPattern: tag.value) }

@c @implementation
public func CMTagHasOSTypeValue(_ tag: C_CMTag) -> UInt8 { tag.dataType == Tag.DataType.osType ? 1 : 0 }

@c @implementation
public func CMTagGetOSTypeValue(_ tag: C_CMTag) -> UInt32 { UInt32(truncatingIfNeeded: tag.value) }

@c @implementation
public func CMTagHasFlagsValue(_ tag: C_CMTag) -> UInt8 { tag.dataType == Tag.DataType.flags ? 1 : 0 }

@c @implementation
public func CMTagGetFlagsValue(_ tag: C_CMTag) -> UInt64 { tag.value }

// MARK: - Making tags

@c @implementation
public func CMTagMakeWithSInt64Value(_ category: UInt32, _ value: Int64) -> C_CMTag {
  C_CMTag(category: category, dataType: Tag.DataType.int64, value: UInt64(bitPattern: value))
}

@c @implementation
public func CMTagMakeWithFloat64Value(_ category: UInt32, _ value: Double) -> C_CMTag {
  C_CMTag(category: category, dataType: Tag.DataType.float64, value: value.bitPattern)
}

@c @implementation
public func CMTagMakeWithOSTypeValue(_ category: UInt32, _ value: UInt32) -> C_CMTag {
  C_CMTag(category: category, dataType: Tag.DataType.osType, value: UInt64(value))
}

@c @implementation
public func CMTagMakeWithFlagsValue(_ category: UInt32, _ flagsForTag: UInt64) -> C_CMTag {
  C_CMTag(category: category, dataType: Tag.DataType.flags, value: flagsForTag)
}

// MARK: - Comparing tags

@c @implementation
public func CMTagEqualToTag(_ tag1: C_CMTag, _ tag2: C_CMTag) -> UInt8 { Tag(tag1) == Tag(tag2) ? 1 : 0 }

@c @implementation
public func CMTagCompare(_ tag1: C_CMTag, _ tag2: C_CMTag) -> Int {
  let (a, b) = (Tag(tag1), Tag(tag2))
  return a < b ? -1 : b < a ? 1 : 0
}

@c @implementation
public func CMTagHash(_ tag: C_CMTag) -> UInt { UInt(truncatingIfNeeded: Tag(tag).hash) }

@c @implementation
public func CMTagCopyDescription(_ allocator: OpaquePointer?, _ tag: C_CMTag) -> OpaquePointer? {
  ToC.retained(NSString(string: Tag(tag).description))
}

// MARK: - Dictionaries

/// The keys of the dictionaries of tags and collections.
enum TagKey {
  static var category: NSString? { FromC.object(COpenVideoToolbox.kCMTagCategoryKey, NSString.self) }
  static var type: NSString? { FromC.object(COpenVideoToolbox.kCMTagDataTypeKey, NSString.self) }
  static var value: NSString? { FromC.object(COpenVideoToolbox.kCMTagValueKey, NSString.self) }
  static var tags: NSString? { FromC.object(COpenVideoToolbox.kCMTagCollectionTagsArrayKey, NSString.self) }
}

extension Tag {
  /// The tag as a dictionary.
  var dictionary: NSDictionary {
    let result = NSMutableDictionary()
    if let key = TagKey.category { result.setObject(NSNumber(value: category), forKey: key) }
    if let key = TagKey.type { result.setObject(NSNumber(value: type), forKey: key) }
    if let key = TagKey.value { result.setObject(NSNumber(value: Int64(bitPattern: bits)), forKey: key) }
    return result
  }

  /// The tag of a dictionary; nil for one that is not a tag's.
  init?(_ dictionary: NSDictionary) {
    func number(_ key: NSString?) -> NSNumber? { key.flatMap { dictionary.object(forKey: $0) } as? NSNumber }
    guard let category = number(TagKey.category).flatMap({ UInt32(exactly: $0.int64Value) }),
      let type = number(TagKey.type).flatMap({ UInt32(exactly: $0.int64Value) }),
      let value = number(TagKey.value)
    else { return nil }
    self.init(category: category, type: type, bits: UInt64(bitPattern: value.int64Value))
    guard isValid else { return nil }
  }
}

@c @implementation
public func CMTagCopyAsDictionary(_ tag: C_CMTag, _ allocator: OpaquePointer?) -> OpaquePointer? {
  ToC.retained(Tag(tag).dictionary)
}

@c @implementation
public func CMTagMakeFromDictionary(_ dict: OpaquePointer?) -> C_CMTag {
  (FromC.dictionary(dict).flatMap { Tag($0) } ?? .invalid).c
}
