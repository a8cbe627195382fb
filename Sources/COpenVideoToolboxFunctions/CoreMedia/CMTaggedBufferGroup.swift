// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import CoreMedia

@c @implementation
public func CMTaggedBufferGroupGetTypeID() -> UInt { TaggedBufferGroup.cfTypeID }

// MARK: - Creating groups

@c @implementation
public func CMTaggedBufferGroupCreate(
  _ allocator: OpaquePointer?, _ tagCollections: OpaquePointer?, _ buffers: OpaquePointer?,
  _ groupOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  groupOut?.pointee = nil
  guard let groupOut, let collections = FromC.objects(tagCollections, TagCollection.self),
    let buffers = FromC.objects(buffers, AnyObject.self), collections.count == buffers.count
  else { return TagError.groupParameter }
  var members: [TaggedBufferGroup.Member] = []
  for (collection, buffer) in zip(collections, buffers) {
    let tags = TagCollection(collection.tags)
    switch buffer {
    case let picture as CVBuffer: members.append(.init(tags: tags, buffer: .pixelBuffer(picture)))
    case let sample as CMSampleBuffer: members.append(.init(tags: tags, buffer: .sampleBuffer(sample)))
    default: return TagError.groupParameter
    }
  }
  groupOut.pointee = ToC.retained(TaggedBufferGroup(members))
  return 0
}

@c @implementation
public func CMTaggedBufferGroupCreateCombined(
  _ allocator: OpaquePointer?, _ taggedBufferGroups: OpaquePointer?,
  _ groupOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  groupOut?.pointee = nil
  guard let groupOut, let groups = FromC.objects(taggedBufferGroups, TaggedBufferGroup.self) else {
    return TagError.groupParameter
  }
  groupOut.pointee = ToC.retained(TaggedBufferGroup(groups.flatMap(\.members)))
  return 0
}

// MARK: - Members

@c @implementation
public func CMTaggedBufferGroupGetCount(_ group: OpaquePointer?) -> Int {
  FromC.object(group, TaggedBufferGroup.self)?.members.count ?? 0
}

/// The member at an index; nil if there is no group or no such index.
private func member(_ group: OpaquePointer?, _ index: Int) -> TaggedBufferGroup.Member? {
  guard let group = FromC.object(group, TaggedBufferGroup.self), group.members.indices.contains(index) else {
    return nil
  }
  return group.members[index]
}

/// The only member of which something is true.
private func member(
  _ group: OpaquePointer?, _ indexOut: UnsafeMutablePointer<Int>?, _ isChosen: (TagCollection) -> Bool,
  _ isOfKind: (TaggedBufferGroup.Member) -> Bool
) -> TaggedBufferGroup.Member? {
  guard let group = FromC.object(group, TaggedBufferGroup.self),
    let index = group.onlyIndex(where: { isChosen($0.tags) }), isOfKind(group.members[index])
  else { return nil }
  indexOut?.pointee = index
  return group.members[index]
}

@c @implementation
public func CMTaggedBufferGroupGetTagCollectionAtIndex(_ group: OpaquePointer?, _ index: Int)
  -> OpaquePointer?
{
  ToC.unretained(member(group, index)?.tags)
}

@c @implementation
public func CMTaggedBufferGroupGetNumberOfMatchesForTagCollection(
  _ group: OpaquePointer?, _ tagCollection: OpaquePointer?
) -> Int {
  guard let group = FromC.object(group, TaggedBufferGroup.self),
    let collection = FromC.object(tagCollection, TagCollection.self)
  else { return 0 }
  return group.members.count { collection.tags.allSatisfy($0.tags.contains) }
}

@c @implementation
public func CMTaggedBufferGroupGetCVPixelBufferAtIndex(_ group: OpaquePointer?, _ index: Int)
  -> OpaquePointer?
{
  ToC.unretained(member(group, index)?.pixelBuffer)
}

@c @implementation
public func CMTaggedBufferGroupGetCVPixelBufferForTag(
  _ group: OpaquePointer?, _ tag: C_CMTag, _ indexOut: UnsafeMutablePointer<Int>?
) -> OpaquePointer? {
  ToC.unretained(
    member(group, indexOut, { $0.contains(Tag(tag)) }, { $0.pixelBuffer != nil })?.pixelBuffer)
}

@c @implementation
public func CMTaggedBufferGroupGetCVPixelBufferForTagCollection(
  _ group: OpaquePointer?, _ tagCollection: OpaquePointer?, _ indexOut: UnsafeMutablePointer<Int>?
) -> OpaquePointer? {
  guard let collection = FromC.object(tagCollection, TagCollection.self) else { return nil }
  return ToC.unretained(
    member(group, indexOut, { collection.tags.allSatisfy($0.contains) }, { $0.pixelBuffer != nil })?
      .pixelBuffer)
}

@c @implementation
public func CMTaggedBufferGroupGetCMSampleBufferAtIndex(_ group: OpaquePointer?, _ index: Int)
  -> OpaquePointer?
{
  ToC.unretained(member(group, index)?.sampleBuffer)
}

@c @implementation
public func CMTaggedBufferGroupGetCMSampleBufferForTag(
  _ group: OpaquePointer?, _ tag: C_CMTag, _ indexOut: UnsafeMutablePointer<Int>?
) -> OpaquePointer? {
  ToC.unretained(
    member(group, indexOut, { $0.contains(Tag(tag)) }, { $0.sampleBuffer != nil })?.sampleBuffer)
}

@c @implementation
public func CMTaggedBufferGroupGetCMSampleBufferForTagCollection(
  _ group: OpaquePointer?, _ tagCollection: OpaquePointer?, _ indexOut: UnsafeMutablePointer<Int>?
) -> OpaquePointer? {
  guard let collection = FromC.object(tagCollection, TagCollection.self) else { return nil }
  return ToC.unretained(
    member(group, indexOut, { collection.tags.allSatisfy($0.contains) }, { $0.sampleBuffer != nil })?
      .sampleBuffer)
}

// MARK: - Groups as samples

/// The name under which a sample buffer's group is kept.
private let keptName = "tagged buffer group"

@c @implementation
public func CMTaggedBufferGroupFormatDescriptionCreateForTaggedBufferGroup(
  _ allocator: OpaquePointer?, _ taggedBufferGroup: OpaquePointer?,
  _ formatDescriptionOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  formatDescriptionOut?.pointee = nil
  guard let formatDescriptionOut, let group = FromC.object(taggedBufferGroup, TaggedBufferGroup.self),
    let description = try? CMFormatDescription(taggedBuffers: group.buffers)
  else { return TagError.groupParameter }
  formatDescriptionOut.pointee = ToC.retained(description)
  return 0
}

@c @implementation
public func CMTaggedBufferGroupFormatDescriptionMatchesTaggedBufferGroup(
  _ desc: OpaquePointer?, _ taggedBufferGroup: OpaquePointer?
) -> UInt8 {
  guard let description = FromC.object(desc, CMFormatDescription.self),
    let group = FromC.object(taggedBufferGroup, TaggedBufferGroup.self)
  else { return 0 }
  return description.mediaType == .taggedBufferGroup && !group.members.isEmpty ? 1 : 0
}

@c @implementation
public func CMSampleBufferCreateForTaggedBufferGroup(
  _ allocator: OpaquePointer?, _ taggedBufferGroup: OpaquePointer?, _ sbufPTS: C_CMTime,
  _ sbufDuration: C_CMTime, _ formatDescription: OpaquePointer?,
  _ sBufOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  sBufOut?.pointee = nil
  guard let sBufOut, let group = FromC.object(taggedBufferGroup, TaggedBufferGroup.self),
    let description = FromC.object(formatDescription, CMFormatDescription.self), !group.members.isEmpty
  else { return CoreMedia.kCMSampleBufferError_RequiredParameterMissing }
  guard
    let sample = try? CMSampleBuffer(
      taggedBuffers: group.buffers, presentationTimeStamp: FromC.value(sbufPTS),
      duration: FromC.value(sbufDuration), formatDescription: description)
  else { return CoreMedia.kCMSampleBufferError_InvalidMediaFormat }
  // So that the sample buffer has the group itself, and not one that is equal.
  KeptObjects.shared.replace(group, of: sample, keptName)
  sBufOut.pointee = ToC.retained(sample)
  return 0
}

@c @implementation
public func CMSampleBufferGetTaggedBufferGroup(_ sbuf: OpaquePointer?) -> OpaquePointer? {
  guard let sample = FromC.object(sbuf, CMSampleBuffer.self), let buffers = sample.taggedBuffers else {
    return nil
  }
  return ToC.kept(by: sample, keptName) { TaggedBufferGroup(buffers) }
}

// MARK: - Format descriptions of several views

@c @implementation
public func CMVideoFormatDescriptionCopyTagCollectionArray(
  _ formatDescription: OpaquePointer?, _ tagCollectionsOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  tagCollectionsOut?.pointee = nil
  guard let tagCollectionsOut, let description = FromC.object(formatDescription, CMFormatDescription.self)
  else { return CoreMedia.kCMFormatDescriptionError_InvalidParameter }
  guard let collections = description.tagCollections else {
    return CoreMedia.kCMFormatDescriptionError_ValueNotAvailable
  }
  tagCollectionsOut.pointee = ToC.array(collections.map { TagCollection($0.map { Tag($0) }) })
  return 0
}
