// SPDX-License-Identifier: Apache-2.0
// Groups of buffers, each with tags, for example the pictures for both eyes.

#ifndef OVT_COREMEDIA_CMTAGGEDBUFFERGROUP_H
#define OVT_COREMEDIA_CMTAGGEDBUFFERGROUP_H

#include <CoreMedia/CMSampleBuffer.h>
#include <CoreMedia/CMTagCollection.h>
#include <CoreVideo/CVPixelBuffer.h>

OVT_HEADER_BEGIN

/// A group of buffers, each with a collection of tags. It cannot be changed.
typedef struct OpaqueCMTaggedBufferGroup *CMTaggedBufferGroupRef;

typedef CMFormatDescriptionRef CMTaggedBufferGroupFormatDescriptionRef;
typedef FourCharCode CMTaggedBufferGroupFormatType;
enum { kCMTaggedBufferGroupFormatType_TaggedBufferGroup = 0x74626772 };  // 'tbgr'

enum {
  /// A parameter is missing or wrong.
  kCMTaggedBufferGroupError_ParamErr = -15780,
  /// Memory ran out.
  kCMTaggedBufferGroupError_AllocationFailed = -15781,
  kCMTaggedBufferGroupError_InternalError = -15782
};

/// The type identifier of groups.
OVT_EXPORT CFTypeID CMTaggedBufferGroupGetTypeID(void);

/// Creates a group. `tagCollections` and `buffers` have the same number of elements; a buffer is a
/// `CVPixelBuffer` or a `CMSampleBuffer`. The collections are copied. The caller owns the object
/// that `groupOut` receives.
OVT_EXPORT OSStatus CMTaggedBufferGroupCreate(
    CFAllocatorRef OVT_NULLABLE allocator, CFArrayRef tagCollections, CFArrayRef buffers,
    CMTaggedBufferGroupRef OVT_NULLABLE *groupOut);
/// Creates a group of the buffers of several groups. The caller owns the object that `groupOut`
/// receives.
OVT_EXPORT OSStatus CMTaggedBufferGroupCreateCombined(
    CFAllocatorRef OVT_NULLABLE allocator, CFArrayRef taggedBufferGroups,
    CMTaggedBufferGroupRef OVT_NULLABLE *groupOut);

/// The number of buffers.
OVT_EXPORT CMItemCount CMTaggedBufferGroupGetCount(CMTaggedBufferGroupRef group);
/// The tags of a buffer, which belong to the group; `NULL` if there is no such index.
OVT_EXPORT CMTagCollectionRef OVT_NULLABLE CMTaggedBufferGroupGetTagCollectionAtIndex(
    CMTaggedBufferGroupRef group, CFIndex index);
/// The number of buffers that have all tags of a collection.
OVT_EXPORT CMItemCount CMTaggedBufferGroupGetNumberOfMatchesForTagCollection(
    CMTaggedBufferGroupRef group, CMTagCollectionRef tagCollection);

// MARK: - Pixel buffers, which belong to the group

/// A pixel buffer; `NULL` if there is no such index or it has a sample buffer.
OVT_EXPORT CVPixelBufferRef OVT_NULLABLE CMTaggedBufferGroupGetCVPixelBufferAtIndex(
    CMTaggedBufferGroupRef group, CFIndex index);
/// The pixel buffer that has a tag; `NULL` if not exactly one buffer has it, or that is a sample
/// buffer. `indexOut` receives its index.
OVT_EXPORT CVPixelBufferRef OVT_NULLABLE CMTaggedBufferGroupGetCVPixelBufferForTag(
    CMTaggedBufferGroupRef group, CMTag tag, CFIndex *OVT_NULLABLE indexOut);
/// The pixel buffer that has all tags of a collection; `NULL` if not exactly one buffer has them,
/// or that is a sample buffer. `indexOut` receives its index.
OVT_EXPORT CVPixelBufferRef OVT_NULLABLE CMTaggedBufferGroupGetCVPixelBufferForTagCollection(
    CMTaggedBufferGroupRef group, CMTagCollectionRef tagCollection, CFIndex *OVT_NULLABLE indexOut);

// MARK: - Sample buffers, which belong to the group

/// A sample buffer; `NULL` if there is no such index or it has a pixel buffer.
OVT_EXPORT CMSampleBufferRef OVT_NULLABLE CMTaggedBufferGroupGetCMSampleBufferAtIndex(
    CMTaggedBufferGroupRef group, CFIndex index);
/// The sample buffer that has a tag, as `CMTaggedBufferGroupGetCVPixelBufferForTag` finds one.
OVT_EXPORT CMSampleBufferRef OVT_NULLABLE CMTaggedBufferGroupGetCMSampleBufferForTag(
    CMTaggedBufferGroupRef group, CMTag tag, CFIndex *OVT_NULLABLE indexOut);
/// The sample buffer that has all tags of a collection, as
/// `CMTaggedBufferGroupGetCVPixelBufferForTagCollection` finds one.
OVT_EXPORT CMSampleBufferRef OVT_NULLABLE CMTaggedBufferGroupGetCMSampleBufferForTagCollection(
    CMTaggedBufferGroupRef group, CMTagCollectionRef tagCollection, CFIndex *OVT_NULLABLE indexOut);

// MARK: - Groups as samples

/// Creates the format description of a group. The caller owns the object that
/// `formatDescriptionOut` receives.
/// - Returns: `kCMTaggedBufferGroupError_ParamErr` for a group without buffers.
OVT_EXPORT OSStatus CMTaggedBufferGroupFormatDescriptionCreateForTaggedBufferGroup(
    CFAllocatorRef OVT_NULLABLE allocator, CMTaggedBufferGroupRef taggedBufferGroup,
    CMTaggedBufferGroupFormatDescriptionRef OVT_NULLABLE *formatDescriptionOut);
/// Whether `CMSampleBufferCreateForTaggedBufferGroup` accepts the format description for the group.
OVT_EXPORT Boolean CMTaggedBufferGroupFormatDescriptionMatchesTaggedBufferGroup(
    CMTaggedBufferGroupFormatDescriptionRef desc, CMTaggedBufferGroupRef taggedBufferGroup);
/// Creates a sample buffer with a group. The duration may be `kCMTimeInvalid`. The caller owns the
/// object that `sBufOut` receives.
/// - Returns: `kCMSampleBufferError_InvalidMediaFormat` if the format description does not match,
///   `kCMSampleBufferError_RequiredParameterMissing` for a group without buffers.
OVT_EXPORT OSStatus CMSampleBufferCreateForTaggedBufferGroup(
    CFAllocatorRef OVT_NULLABLE allocator, CMTaggedBufferGroupRef taggedBufferGroup, CMTime sbufPTS,
    CMTime sbufDuration, CMTaggedBufferGroupFormatDescriptionRef formatDescription,
    CMSampleBufferRef OVT_NULLABLE *sBufOut);
/// The group of a sample buffer, which belongs to it; `NULL` if it has none.
OVT_EXPORT CMTaggedBufferGroupRef OVT_NULLABLE CMSampleBufferGetTaggedBufferGroup(CMSampleBufferRef sbuf);

OVT_HEADER_END

#endif
