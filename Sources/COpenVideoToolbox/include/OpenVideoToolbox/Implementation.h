// SPDX-License-Identifier: Apache-2.0
// For the Swift files that implement the functions of the headers, not for programs: what Swift
// cannot name.

#ifndef OVT_OPENVIDEOTOOLBOX_IMPLEMENTATION_H
#define OVT_OPENVIDEOTOOLBOX_IMPLEMENTATION_H

#include <CoreFoundation/CoreFoundation.h>
#include <CoreMedia/CoreMedia.h>

// Foundation's own functions, where the library has some of the same name.
const void *OVTRealRetain(const void *object);
void OVTRealRelease(const void *object);
CFTypeID OVTRealGetTypeID(const void *object);
uint8_t OVTRealEqual(const void *first, const void *second);
CFHashCode OVTRealHash(const void *object);
CFStringRef OVTRealCopyDescription(const void *object);
CFAllocatorRef OVTRealGetAllocator(const void *object);

/// Whether an object's class is known not to be of this package.
bool OVTIsKnownFoundation(const void *object);
/// Remembers that the class of an object is not of this package.
void OVTNoteFoundation(const void *object);

/// Writes to the standard error stream.
void OVTWriteError(const char *text);

// Allocators of Core Foundation.
CFAllocatorRef OVTAllocatorNull(void);
CFAllocatorRef OVTAllocatorOfSystem(void);
CFAllocatorRef OVTAllocatorMalloc(void);
void *OVTAllocatorAllocate(CFAllocatorRef allocator, CFIndex size);
void OVTAllocatorDeallocate(CFAllocatorRef allocator, void *block);

/// An array of Core Foundation with objects of this package, which the caller owns.
CFArrayRef OVTArrayCreate(const void *const *objects, CFIndex count);

// Timers of libdispatch.
void OVTDispatchRetain(void *object);
void OVTDispatchRelease(void *object);
bool OVTDispatchSourceIsCancelled(void *source);
/// Makes a timer fire once, `delay` nanoseconds from now; `INT64_MAX` for never.
void OVTDispatchSourceSchedule(void *source, int64_t delay);

// Blocks: objects with a function that takes the block first.
/// A block that lives on; `OVTBlockRelease` gives it up.
void *OVTBlockCopy(const void *block);
void OVTBlockRelease(const void *block);
void OVTBlockCallCompressionOutput(const void *block, OSStatus status, uint32_t flags, CMSampleBufferRef sample);
void OVTBlockCallDecompressionOutput(
    const void *block, OSStatus status, uint32_t flags, CVImageBufferRef image, CMTime time, CMTime duration);
OSStatus OVTBlockCallSample(const void *block, CMSampleBufferRef sample);
void OVTBlockCallInvalidated(const void *block, CMSampleBufferRef sample);
OSStatus OVTBlockCallSampleAndIndex(const void *block, CMSampleBufferRef sample, CFIndex index);
void OVTBlockCallMultiImageOutput(
    const void *block, OSStatus status, uint32_t flags, CVImageBufferRef image, CMTaggedBufferGroupRef group, CMTime time,
    CMTime duration);
CMTime OVTBlockCallGetTime(const void *block, CMBufferRef buffer);
Boolean OVTBlockCallGetBoolean(const void *block, CMBufferRef buffer);
CFComparisonResult OVTBlockCallCompare(const void *block, CMBufferRef first, CMBufferRef second);
size_t OVTBlockCallGetSize(const void *block, CMBufferRef buffer);
OSStatus OVTBlockCallValidation(const void *block, CMBufferQueueRef queue, CMBufferRef buffer);
void OVTBlockCallTrigger(const void *block, CMBufferQueueTriggerToken token);

/// The fields of `CMBufferHandlers`, which is declared where the compiler knows blocks.
typedef struct {
  unsigned long version;
  const void *getDecodeTimeStamp;
  const void *getPresentationTimeStamp;
  const void *getDuration;
  const void *isDataReady;
  const void *compare;
  CFStringRef dataBecameReadyNotification;
  const void *getSize;
} OVTBufferHandlers;

#endif
