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

#endif
