// SPDX-License-Identifier: Apache-2.0
// Sets of tags.

#ifndef OVT_COREMEDIA_CMTAGCOLLECTION_H
#define OVT_COREMEDIA_CMTAGCOLLECTION_H

#include <CoreMedia/CMTag.h>

OVT_HEADER_BEGIN

/// A set of tags: none is in it twice, and their order means nothing.
typedef const struct OpaqueCMTagCollection *CMTagCollectionRef;
/// A set of tags that can be changed. It may be used as a `CMTagCollectionRef`. Who changes it must
/// keep other threads from using it meanwhile.
typedef struct OpaqueCMTagCollection *CMMutableTagCollectionRef;

/// Called with each tag of a collection.
typedef void (*CMTagCollectionApplierFunction)(CMTag tag, void *OVT_NULLABLE context);
/// Says whether a tag is one of those that are looked for.
typedef Boolean (*CMTagCollectionTagFilterFunction)(CMTag tag, void *OVT_NULLABLE context);

enum {
  /// A parameter is missing or wrong, or the collection cannot be changed.
  kCMTagCollectionError_ParamErr = -15740,
  /// Memory ran out.
  kCMTagCollectionError_AllocationFailed = -15741,
  kCMTagCollectionError_InternalError = -15742,
  /// The tag is not valid.
  kCMTagCollectionError_InvalidTag = -15743,
  /// The dictionary is not that of a collection.
  kCMTagCollectionError_InvalidTagCollectionDictionary = -15744,
  /// The data is not that of a collection.
  kCMTagCollectionError_InvalidTagCollectionData = -15745,
  /// The collection does not contain the tag.
  kCMTagCollectionError_TagNotFound = -15746,
  /// The data is of a version that is not known.
  kCMTagCollectionError_InvalidTagCollectionDataVersion = -15747,
  /// The buffer has no room for all tags, or the collection none for another.
  kCMTagCollectionError_ExhaustedBufferSize = -15748,
  kCMTagCollectionError_NotYetImplemented = -15749
};

/// In the dictionary of a collection: an array of the dictionaries of its tags.
OVT_EXPORT const CFStringRef kCMTagCollectionTagsArrayKey;

/// The type identifier of tag collections.
OVT_EXPORT CFTypeID CMTagCollectionGetTypeID(void);

// MARK: - Creating collections

/// Creates a collection of `tagCount` tags. `tags` may be `NULL` if there are none. The caller owns
/// the object that `newCollectionOut` receives.
/// - Returns: `kCMTagCollectionError_InvalidTag` if one of the tags is not valid.
OVT_EXPORT OSStatus CMTagCollectionCreate(
    CFAllocatorRef OVT_NULLABLE allocator, const CMTag *OVT_NULLABLE tags, CMItemCount tagCount,
    CMTagCollectionRef OVT_NULLABLE *newCollectionOut);

/// Creates an empty collection that can be changed. `capacity` is the number of tags that it holds
/// at most, 0 for as many as come. The caller owns the object that `newMutableCollectionOut`
/// receives.
OVT_EXPORT OSStatus CMTagCollectionCreateMutable(
    CFAllocatorRef OVT_NULLABLE allocator, CFIndex capacity,
    CMMutableTagCollectionRef OVT_NULLABLE *newMutableCollectionOut);

/// Creates a copy that cannot be changed. The caller owns the object that `newCollectionCopyOut`
/// receives.
OVT_EXPORT OSStatus CMTagCollectionCreateCopy(
    CMTagCollectionRef tagCollection, CFAllocatorRef OVT_NULLABLE allocator,
    CMTagCollectionRef OVT_NULLABLE *newCollectionCopyOut);

/// Creates a copy that can be changed, with room for as many tags as come. The caller owns the
/// object that `newMutableCollectionCopyOut` receives.
OVT_EXPORT OSStatus CMTagCollectionCreateMutableCopy(
    CMTagCollectionRef tagCollection, CFAllocatorRef OVT_NULLABLE allocator,
    CMMutableTagCollectionRef OVT_NULLABLE *newMutableCollectionCopyOut);

/// Creates a collection of the tags of some categories. The caller owns the object that
/// `collectionWithTagsOfCategories` receives.
OVT_EXPORT OSStatus CMTagCollectionCopyTagsOfCategories(
    CFAllocatorRef OVT_NULLABLE allocator, CMTagCollectionRef tagCollection, const CMTagCategory *categories,
    CMItemCount categoriesCount, CMTagCollectionRef OVT_NULLABLE *collectionWithTagsOfCategories);

// MARK: - Sets

// `NULL` counts as an empty collection. The caller owns the object that the last pointer receives.

/// Creates a collection of the tags that are in both.
OVT_EXPORT OSStatus CMTagCollectionCreateIntersection(
    CMTagCollectionRef OVT_NULLABLE tagCollection1, CMTagCollectionRef OVT_NULLABLE tagCollection2,
    CMTagCollectionRef OVT_NULLABLE *tagCollectionOut);
/// Creates a collection of the tags that are in either.
OVT_EXPORT OSStatus CMTagCollectionCreateUnion(
    CMTagCollectionRef OVT_NULLABLE tagCollection1, CMTagCollectionRef OVT_NULLABLE tagCollection2,
    CMTagCollectionRef OVT_NULLABLE *tagCollectionOut);
/// Creates a collection of the tags that are in the first and not in the second.
OVT_EXPORT OSStatus CMTagCollectionCreateDifference(
    CMTagCollectionRef OVT_NULLABLE tagCollectionMinuend,
    CMTagCollectionRef OVT_NULLABLE tagCollectionSubtrahend, CMTagCollectionRef OVT_NULLABLE *tagCollectionOut);
/// Creates a collection of the tags that are in one of the two only.
OVT_EXPORT OSStatus CMTagCollectionCreateExclusiveOr(
    CMTagCollectionRef OVT_NULLABLE tagCollection1, CMTagCollectionRef OVT_NULLABLE tagCollection2,
    CMTagCollectionRef OVT_NULLABLE *tagCollectionOut);

// MARK: - Questions

/// A collection in words, for debugging. The caller owns the result.
OVT_EXPORT CFStringRef OVT_NULLABLE CMTagCollectionCopyDescription(
    CFAllocatorRef OVT_NULLABLE allocator, CMTagCollectionRef OVT_NULLABLE tagCollection);

/// The number of tags.
OVT_EXPORT CMItemCount CMTagCollectionGetCount(CMTagCollectionRef tagCollection);
/// Whether there are no tags.
OVT_EXPORT Boolean CMTagCollectionIsEmpty(CMTagCollectionRef tagCollection);
/// Whether a tag is in a collection.
OVT_EXPORT Boolean CMTagCollectionContainsTag(CMTagCollectionRef tagCollection, CMTag tag);
/// Whether all tags of a collection are in another.
OVT_EXPORT Boolean CMTagCollectionContainsTagsOfCollection(
    CMTagCollectionRef tagCollection, CMTagCollectionRef containedTagCollection);
/// Whether all of some tags are in a collection, which is so if there are none.
OVT_EXPORT Boolean CMTagCollectionContainsSpecifiedTags(
    CMTagCollectionRef tagCollection, const CMTag *containedTags, CMItemCount containedTagCount);
/// Whether a tag of a category is in a collection.
OVT_EXPORT Boolean CMTagCollectionContainsCategory(CMTagCollectionRef tagCollection, CMTagCategory category);
/// The number of tags of a category.
OVT_EXPORT CMItemCount CMTagCollectionGetCountOfCategory(
    CMTagCollectionRef tagCollection, CMTagCategory category);

/// Copies the tags into a buffer. Where it has more room, `kCMTagInvalid` follows.
/// - Returns: `kCMTagCollectionError_ExhaustedBufferSize` if it has less; it is full then.
OVT_EXPORT OSStatus CMTagCollectionGetTags(
    CMTagCollectionRef tagCollection, CMTag *tagBuffer, CMItemCount tagBufferCount,
    CMItemCount *OVT_NULLABLE numberOfTagsCopied);
/// Copies the tags of a category into a buffer, as `CMTagCollectionGetTags` does.
OVT_EXPORT OSStatus CMTagCollectionGetTagsWithCategory(
    CMTagCollectionRef tagCollection, CMTagCategory category, CMTag *tagBuffer, CMItemCount tagBufferCount,
    CMItemCount *OVT_NULLABLE numberOfTagsCopied);
/// Copies the tags that a function chooses into a buffer, as `CMTagCollectionGetTags` does.
OVT_EXPORT OSStatus CMTagCollectionGetTagsWithFilterFunction(
    CMTagCollectionRef tagCollection, CMTag *tagBuffer, CMItemCount tagBufferCount,
    CMItemCount *OVT_NULLABLE numberOfTagsCopied, CMTagCollectionTagFilterFunction filter,
    void *OVT_NULLABLE context);
/// The number of tags that a function chooses.
OVT_EXPORT CMItemCount CMTagCollectionCountTagsWithFilterFunction(
    CMTagCollectionRef tagCollection, CMTagCollectionTagFilterFunction filterApplier,
    void *OVT_NULLABLE context);

/// Calls a function with each tag.
OVT_EXPORT void CMTagCollectionApply(
    CMTagCollectionRef tagCollection, CMTagCollectionApplierFunction applier, void *OVT_NULLABLE context);
/// Calls a function with one tag after the other until it returns true, and returns that tag;
/// `kCMTagInvalid` if there is none.
OVT_EXPORT CMTag CMTagCollectionApplyUntil(
    CMTagCollectionRef tagCollection, CMTagCollectionTagFilterFunction applier, void *OVT_NULLABLE context);

// MARK: - Changes

// They return `kCMTagCollectionError_ParamErr` for a collection that cannot be changed.

/// Adds a tag, unless it is there.
/// - Returns: `kCMTagCollectionError_InvalidTag` for a tag that is not valid,
///   `kCMTagCollectionError_ExhaustedBufferSize` if the collection holds as many as it can.
OVT_EXPORT OSStatus CMTagCollectionAddTag(CMMutableTagCollectionRef tagCollection, CMTag tagToAdd);
/// Removes a tag.
/// - Returns: `kCMTagCollectionError_TagNotFound` if it is not there.
OVT_EXPORT OSStatus CMTagCollectionRemoveTag(CMMutableTagCollectionRef tagCollection, CMTag tagToRemove);
/// Removes all tags.
OVT_EXPORT OSStatus CMTagCollectionRemoveAllTags(CMMutableTagCollectionRef tagCollection);
/// Removes the tags of a category.
OVT_EXPORT OSStatus CMTagCollectionRemoveAllTagsOfCategory(
    CMMutableTagCollectionRef tagCollection, CMTagCategory category);
/// Adds the tags of another collection; all, or none if there is an error.
OVT_EXPORT OSStatus CMTagCollectionAddTagsFromCollection(
    CMMutableTagCollectionRef tagCollection, CMTagCollectionRef collectionWithTagsToAdd);
/// Adds `tagCount` tags; all, or none if there is an error.
OVT_EXPORT OSStatus CMTagCollectionAddTagsFromArray(
    CMMutableTagCollectionRef tagCollection, CMTag *tags, CMItemCount tagCount);

// MARK: - Storing collections

/// A collection as a dictionary (`kCMTagCollectionTagsArrayKey`). The caller owns the result.
OVT_EXPORT CFDictionaryRef OVT_NULLABLE CMTagCollectionCopyAsDictionary(
    CMTagCollectionRef tagCollection, CFAllocatorRef OVT_NULLABLE allocator);
/// Creates a collection from such a dictionary. The caller owns the object that `newCollectionOut`
/// receives.
/// - Returns: `kCMTagCollectionError_InvalidTagCollectionDictionary` for another dictionary.
OVT_EXPORT OSStatus CMTagCollectionCreateFromDictionary(
    CFDictionaryRef dict, CFAllocatorRef OVT_NULLABLE allocator,
    CMTagCollectionRef OVT_NULLABLE *newCollectionOut);
/// A collection as data of this package's own format, which is the same on all machines. The caller
/// owns the result.
OVT_EXPORT CFDataRef OVT_NULLABLE CMTagCollectionCopyAsData(
    CMTagCollectionRef tagCollection, CFAllocatorRef OVT_NULLABLE allocator);
/// Creates a collection from such data. The caller owns the object that `newCollectionOut`
/// receives.
/// - Returns: `kCMTagCollectionError_InvalidTagCollectionData` for other data,
///   `kCMTagCollectionError_InvalidTagCollectionDataVersion` for that of a later version.
OVT_EXPORT OSStatus CMTagCollectionCreateFromData(
    CFDataRef data, CFAllocatorRef OVT_NULLABLE allocator, CMTagCollectionRef OVT_NULLABLE *newCollectionOut);

OVT_HEADER_END

#endif
