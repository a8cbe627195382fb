// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import CoreMedia

// The tags of collections: reading, changing and storing them.

public typealias TagFilter = @convention(c) (C_CMTag, UnsafeMutableRawPointer?) -> UInt8

// MARK: - Reading

/// Copies tags to a buffer of C, followed by invalid ones.
/// - Parameter choose: Whether a tag is copied; it is asked once for each.
private func copy(
  _ tagCollection: OpaquePointer?, _ buffer: UnsafeMutablePointer<C_CMTag>?, _ count: Int,
  _ copied: UnsafeMutablePointer<Int>?, _ choose: (Tag) -> Bool
) -> Int32 {
  copied?.pointee = 0
  guard let collection = FromC.object(tagCollection, TagCollection.self), let buffer, count >= 0 else {
    return TagError.parameter
  }
  let chosen = collection.tags.filter(choose)
  let fitting = min(chosen.count, count)
  for index in 0..<fitting { buffer[index] = chosen[index].c }
  for index in fitting..<count { buffer[index] = Tag.invalid.c }
  copied?.pointee = fitting
  return fitting == chosen.count ? 0 : TagError.exhausted
}

@c @implementation
public func CMTagCollectionGetTags(
  _ tagCollection: OpaquePointer?, _ tagBuffer: UnsafeMutablePointer<C_CMTag>?, _ tagBufferCount: Int,
  _ numberOfTagsCopied: UnsafeMutablePointer<Int>?
) -> Int32 {
  copy(tagCollection, tagBuffer, tagBufferCount, numberOfTagsCopied) { _ in true }
}

@c @implementation
public func CMTagCollectionGetTagsWithCategory(
  _ tagCollection: OpaquePointer?, _ category: UInt32, _ tagBuffer: UnsafeMutablePointer<C_CMTag>?,
  _ tagBufferCount: Int, _ numberOfTagsCopied: UnsafeMutablePointer<Int>?
) -> Int32 {
  copy(tagCollection, tagBuffer, tagBufferCount, numberOfTagsCopied) { $0.category == category }
}

@c @implementation
public func CMTagCollectionGetTagsWithFilterFunction(
  _ tagCollection: OpaquePointer?, _ tagBuffer: UnsafeMutablePointer<C_CMTag>?, _ tagBufferCount: Int,
  _ numberOfTagsCopied: UnsafeMutablePointer<Int>?, _ filter: TagFilter?,
  _ context: UnsafeMutableRawPointer?
) -> Int32 {
  guard let filter else {
    numberOfTagsCopied?.pointee = 0
    return TagError.parameter
  }
  return copy(tagCollection, tagBuffer, tagBufferCount, numberOfTagsCopied) { filter($0.c, context) != 0 }
}

@c @implementation
public func CMTagCollectionCountTagsWithFilterFunction(
  _ tagCollection: OpaquePointer?, _ filterApplier: TagFilter?, _ context: UnsafeMutableRawPointer?
) -> Int {
  guard let collection = FromC.object(tagCollection, TagCollection.self), let filterApplier else { return 0 }
  return collection.tags.count { filterApplier($0.c, context) != 0 }
}

@c @implementation
public func CMTagCollectionApply(
  _ tagCollection: OpaquePointer?, _ applier: (@convention(c) (C_CMTag, UnsafeMutableRawPointer?) -> Void)?,
  _ context: UnsafeMutableRawPointer?
) {
  guard let collection = FromC.object(tagCollection, TagCollection.self), let applier else { return }
  for tag in collection.tags { applier(tag.c, context) }
}

@c @implementation
public func CMTagCollectionApplyUntil(
  _ tagCollection: OpaquePointer?, _ applier: TagFilter?, _ context: UnsafeMutableRawPointer?
) -> C_CMTag {
  guard let collection = FromC.object(tagCollection, TagCollection.self), let applier else {
    return Tag.invalid.c
  }
  return (collection.tags.first { applier($0.c, context) != 0 } ?? .invalid).c
}

// MARK: - Changing

@c @implementation
public func CMTagCollectionAddTag(_ tagCollection: OpaquePointer?, _ tagToAdd: C_CMTag) -> Int32 {
  guard let collection = FromC.object(tagCollection, TagCollection.self) else {
    return TagError.parameter
  }
  return collection.add(CollectionOfOne(Tag(tagToAdd)))
}

@c @implementation
public func CMTagCollectionRemoveTag(_ tagCollection: OpaquePointer?, _ tagToRemove: C_CMTag) -> Int32 {
  let tag = Tag(tagToRemove)
  guard let collection = FromC.object(tagCollection, TagCollection.self),
    let count = collection.remove(where: { $0 == tag })
  else { return TagError.parameter }
  return count > 0 ? 0 : TagError.notFound
}

@c @implementation
public func CMTagCollectionRemoveAllTags(_ tagCollection: OpaquePointer?) -> Int32 {
  guard let collection = FromC.object(tagCollection, TagCollection.self),
    collection.remove(where: { _ in true }) != nil
  else { return TagError.parameter }
  return 0
}

@c @implementation
public func CMTagCollectionRemoveAllTagsOfCategory(_ tagCollection: OpaquePointer?, _ category: UInt32)
  -> Int32
{
  guard let collection = FromC.object(tagCollection, TagCollection.self),
    collection.remove(where: { $0.category == category }) != nil
  else { return TagError.parameter }
  return 0
}

@c @implementation
public func CMTagCollectionAddTagsFromCollection(
  _ tagCollection: OpaquePointer?, _ collectionWithTagsToAdd: OpaquePointer?
) -> Int32 {
  guard let collection = FromC.object(tagCollection, TagCollection.self),
    let added = FromC.object(collectionWithTagsToAdd, TagCollection.self)
  else { return TagError.parameter }
  return collection.add(added.tags)
}

@c @implementation
public func CMTagCollectionAddTagsFromArray(
  _ tagCollection: OpaquePointer?, _ tags: UnsafeMutablePointer<C_CMTag>?, _ tagCount: Int
) -> Int32 {
  guard let collection = FromC.object(tagCollection, TagCollection.self),
    let added = COpenVideoToolboxFunctions.tags(tags.map { UnsafePointer($0) }, count: tagCount)
  else { return TagError.parameter }
  return collection.add(added)
}

// MARK: - Storing

@c @implementation
public func CMTagCollectionCopyAsDictionary(_ tagCollection: OpaquePointer?, _ allocator: OpaquePointer?)
  -> OpaquePointer?
{
  guard let collection = FromC.object(tagCollection, TagCollection.self), let key = TagKey.tags else {
    return nil
  }
  let list = NSMutableArray()
  for tag in collection.tags { list.add(tag.dictionary) }
  let result = NSMutableDictionary()
  result.setObject(list, forKey: key)
  return ToC.retained(result as NSDictionary)
}

@c @implementation
public func CMTagCollectionCreateFromDictionary(
  _ dict: OpaquePointer?, _ allocator: OpaquePointer?,
  _ newCollectionOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  newCollectionOut?.pointee = nil
  guard let newCollectionOut, dict != nil else { return TagError.parameter }
  guard let dictionary = FromC.dictionary(dict), let key = TagKey.tags,
    let list = dictionary.object(forKey: key) as? NSArray
  else { return TagError.dictionary }
  var tags: [Tag] = []
  for entry in list {
    guard let tag = (entry as? NSDictionary).flatMap({ Tag($0) }) else {
      return TagError.dictionary
    }
    tags.append(tag)
  }
  return give(tags, to: newCollectionOut)
}

/// The data of a collection: big-endian numbers of 32 bits, `magic`, `version` and the number of
/// tags; then 16 bytes for each tag, category, type and value.
private enum TagData {
  static let magic: UInt32 = 0x6F74_6167  // 'otag'
  static let version: UInt32 = 1
  static let headerSize = 12
  static let tagSize = 16
}

@c @implementation
public func CMTagCollectionCopyAsData(_ tagCollection: OpaquePointer?, _ allocator: OpaquePointer?)
  -> OpaquePointer?
{
  guard let collection = FromC.object(tagCollection, TagCollection.self),
    let count = UInt32(exactly: collection.tags.count)
  else { return nil }
  var bytes: [UInt8] = []
  bytes.reserveCapacity(TagData.headerSize + TagData.tagSize * collection.tags.count)
  func append(_ value: some FixedWidthInteger) {
    withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
  }
  append(TagData.magic)
  append(TagData.version)
  append(count)
  for tag in collection.tags {
    append(tag.category)
    append(tag.type)
    append(tag.bits)
  }
  return ToC.retained(NSData(bytes: bytes, length: bytes.count))
}

@c @implementation
public func CMTagCollectionCreateFromData(
  _ data: OpaquePointer?, _ allocator: OpaquePointer?,
  _ newCollectionOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  newCollectionOut?.pointee = nil
  guard let newCollectionOut, let data = FromC.object(data, NSData.self) else {
    return TagError.parameter
  }
  let bytes = UnsafeRawBufferPointer(start: data.bytes, count: data.length)
  func number<Value: FixedWidthInteger>(at offset: Int, _ type: Value.Type) -> Value {
    Value(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: type))
  }
  guard bytes.count >= TagData.headerSize, number(at: 0, UInt32.self) == TagData.magic else {
    return TagError.data
  }
  guard number(at: 4, UInt32.self) == TagData.version else {
    return TagError.dataVersion
  }
  let count = Int(number(at: 8, UInt32.self))
  guard bytes.count == TagData.headerSize + count * TagData.tagSize else {
    return TagError.data
  }
  let tags = (0..<count).map { index -> Tag in
    let start = TagData.headerSize + index * TagData.tagSize
    return Tag(
      category: number(at: start, UInt32.self), type: number(at: start + 4, UInt32.self),
      bits: number(at: start + 8, UInt64.self))
  }
  guard tags.allSatisfy(\.isValid) else { return TagError.data }
  return give(tags, to: newCollectionOut)
}
