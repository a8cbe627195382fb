// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import CoreMedia

// The creation of tag collections and questions to them.

/// The tags of an array of C; nil if it is missing or its size is negative.
func tags(_ array: UnsafePointer<C_CMTag>?, count: Int) -> [Tag]? {
  guard count > 0 else { return count == 0 ? [] : nil }
  return array.map { UnsafeBufferPointer(start: $0, count: count).map { Tag($0) } }
}

/// Gives C a collection, or the error that its tags mean.
func give(
  _ tags: [Tag], to out: UnsafeMutablePointer<OpaquePointer?>, isMutable: Bool = false, capacity: Int = 0
) -> Int32 {
  guard tags.allSatisfy(\.isValid) else { return TagError.invalidTag }
  out.pointee = ToC.retained(TagCollection(tags, isMutable: isMutable, capacity: capacity))
  return 0
}

@c @implementation
public func CMTagCollectionGetTypeID() -> UInt { TagCollection.cfTypeID }

// MARK: - Creating collections

@c @implementation
public func CMTagCollectionCreate(
  _ allocator: OpaquePointer?, _ tags: UnsafePointer<C_CMTag>?, _ tagCount: Int,
  _ newCollectionOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  newCollectionOut?.pointee = nil
  guard let newCollectionOut, let tags = COpenVideoToolboxFunctions.tags(tags, count: tagCount) else {
    return TagError.parameter
  }
  return give(tags, to: newCollectionOut)
}

@c @implementation
public func CMTagCollectionCreateMutable(
  _ allocator: OpaquePointer?, _ capacity: Int,
  _ newMutableCollectionOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  newMutableCollectionOut?.pointee = nil
  guard let newMutableCollectionOut, capacity >= 0 else { return TagError.parameter }
  return give([], to: newMutableCollectionOut, isMutable: true, capacity: capacity)
}

@c @implementation
public func CMTagCollectionCreateCopy(
  _ tagCollection: OpaquePointer?, _ allocator: OpaquePointer?,
  _ newCollectionCopyOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  newCollectionCopyOut?.pointee = nil
  guard let newCollectionCopyOut, let collection = FromC.object(tagCollection, TagCollection.self) else {
    return TagError.parameter
  }
  return give(collection.tags, to: newCollectionCopyOut)
}

@c @implementation
public func CMTagCollectionCreateMutableCopy(
  _ tagCollection: OpaquePointer?, _ allocator: OpaquePointer?,
  _ newMutableCollectionCopyOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  newMutableCollectionCopyOut?.pointee = nil
  guard let newMutableCollectionCopyOut, let collection = FromC.object(tagCollection, TagCollection.self)
  else { return TagError.parameter }
  return give(collection.tags, to: newMutableCollectionCopyOut, isMutable: true)
}

@c @implementation
public func CMTagCollectionCopyTagsOfCategories(
  _ allocator: OpaquePointer?, _ tagCollection: OpaquePointer?, _ categories: UnsafePointer<UInt32>?,
  _ categoriesCount: Int, _ collectionWithTagsOfCategories: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  collectionWithTagsOfCategories?.pointee = nil
  guard let collectionWithTagsOfCategories, categoriesCount >= 0, categories != nil || categoriesCount == 0,
    let collection = FromC.object(tagCollection, TagCollection.self)
  else { return TagError.parameter }
  let wanted = Set(UnsafeBufferPointer(start: categories, count: categoriesCount))
  return give(
    collection.tags.filter { wanted.contains($0.category) }, to: collectionWithTagsOfCategories)
}

// MARK: - Sets

/// Combines two collections, of which null counts as empty.
/// - Parameter choose: The tags of the result, from those of the two.
private func combine(
  _ first: OpaquePointer?, _ second: OpaquePointer?, _ out: UnsafeMutablePointer<OpaquePointer?>?,
  _ choose: (TagCollection, TagCollection) -> [Tag]
) -> Int32 {
  out?.pointee = nil
  guard let out, let first = FromC.optionalObject(first, TagCollection.self),
    let second = FromC.optionalObject(second, TagCollection.self)
  else { return TagError.parameter }
  return give(choose(first ?? TagCollection([]), second ?? TagCollection([])), to: out)
}

@c @implementation
public func CMTagCollectionCreateIntersection(
  _ tagCollection1: OpaquePointer?, _ tagCollection2: OpaquePointer?,
  _ tagCollectionOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  combine(tagCollection1, tagCollection2, tagCollectionOut) { a, b in a.tags.filter(b.contains) }
}

@c @implementation
public func CMTagCollectionCreateUnion(
  _ tagCollection1: OpaquePointer?, _ tagCollection2: OpaquePointer?,
  _ tagCollectionOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  combine(tagCollection1, tagCollection2, tagCollectionOut) { a, b in a.tags + b.tags }
}

@c @implementation
public func CMTagCollectionCreateDifference(
  _ tagCollectionMinuend: OpaquePointer?, _ tagCollectionSubtrahend: OpaquePointer?,
  _ tagCollectionOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  combine(tagCollectionMinuend, tagCollectionSubtrahend, tagCollectionOut) { a, b in
    a.tags.filter { !b.contains($0) }
  }
}

@c @implementation
public func CMTagCollectionCreateExclusiveOr(
  _ tagCollection1: OpaquePointer?, _ tagCollection2: OpaquePointer?,
  _ tagCollectionOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  combine(tagCollection1, tagCollection2, tagCollectionOut) { a, b in
    a.tags.filter { !b.contains($0) } + b.tags.filter { !a.contains($0) }
  }
}

// MARK: - Questions

@c @implementation
public func CMTagCollectionCopyDescription(_ allocator: OpaquePointer?, _ tagCollection: OpaquePointer?)
  -> OpaquePointer?
{
  guard let collection = FromC.object(tagCollection, TagCollection.self) else { return nil }
  return ToC.retained(NSString(string: collection.cfDescription))
}

@c @implementation
public func CMTagCollectionGetCount(_ tagCollection: OpaquePointer?) -> Int {
  FromC.object(tagCollection, TagCollection.self)?.tags.count ?? 0
}

@c @implementation
public func CMTagCollectionIsEmpty(_ tagCollection: OpaquePointer?) -> UInt8 {
  CMTagCollectionGetCount(tagCollection) == 0 ? 1 : 0
}

@c @implementation
public func CMTagCollectionContainsTag(_ tagCollection: OpaquePointer?, _ tag: C_CMTag) -> UInt8 {
  FromC.object(tagCollection, TagCollection.self)?.contains(Tag(tag)) == true ? 1 : 0
}

@c @implementation
public func CMTagCollectionContainsTagsOfCollection(
  _ tagCollection: OpaquePointer?, _ containedTagCollection: OpaquePointer?
) -> UInt8 {
  guard let collection = FromC.object(tagCollection, TagCollection.self),
    let contained = FromC.object(containedTagCollection, TagCollection.self)
  else { return 0 }
  return contained.tags.allSatisfy(collection.contains) ? 1 : 0
}

@c @implementation
public func CMTagCollectionContainsSpecifiedTags(
  _ tagCollection: OpaquePointer?, _ containedTags: UnsafePointer<C_CMTag>?, _ containedTagCount: Int
) -> UInt8 {
  guard let collection = FromC.object(tagCollection, TagCollection.self),
    let contained = tags(containedTags, count: containedTagCount)
  else { return 0 }
  return contained.allSatisfy(collection.contains) ? 1 : 0
}

@c @implementation
public func CMTagCollectionContainsCategory(_ tagCollection: OpaquePointer?, _ category: UInt32) -> UInt8 {
  CMTagCollectionGetCountOfCategory(tagCollection, category) > 0 ? 1 : 0
}

@c @implementation
public func CMTagCollectionGetCountOfCategory(_ tagCollection: OpaquePointer?, _ category: UInt32) -> Int {
  FromC.object(tagCollection, TagCollection.self)?.tags.count { $0.category == category } ?? 0
}
