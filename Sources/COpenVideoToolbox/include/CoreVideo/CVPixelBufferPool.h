// SPDX-License-Identifier: Apache-2.0
// Pools of pixel buffers, which use memory again.

#ifndef OVT_COREVIDEO_CVPIXELBUFFERPOOL_H
#define OVT_COREVIDEO_CVPIXELBUFFERPOOL_H

#include <CoreVideo/CVPixelBuffer.h>

OVT_HEADER_BEGIN

typedef struct __CVPixelBufferPool *CVPixelBufferPoolRef;

typedef CVOptionFlags CVPixelBufferPoolFlushFlags;
enum {
  /// Free all buffers that are not in use, also those that are not older than the maximum age.
  kCVPixelBufferPoolFlushExcessBuffers = 1
};

/// Makes the caller an owner of the pool, which it returns. `NULL` is allowed.
OVT_EXPORT CVPixelBufferPoolRef OVT_NULLABLE CVPixelBufferPoolRetain(
    CVPixelBufferPoolRef OVT_NULLABLE pixelBufferPool);
/// Gives a reference up. `NULL` is allowed.
OVT_EXPORT void CVPixelBufferPoolRelease(CVPixelBufferPoolRef OVT_NULLABLE pixelBufferPool);

/// The number of buffers that the pool keeps regardless of age, a number.
OVT_EXPORT const CFStringRef kCVPixelBufferPoolMinimumBufferCountKey;
/// The time in seconds for which an unused buffer is kept, a number; 0 keeps it forever.
OVT_EXPORT const CFStringRef kCVPixelBufferPoolMaximumBufferAgeKey;
/// In the auxiliary attributes of a single creation: the number of buffers of the pool at which no
/// new one is created, a number.
OVT_EXPORT const CFStringRef kCVPixelBufferPoolAllocationThresholdKey;
/// Posted by a pool when a buffer is released after a creation has failed because of
/// `kCVPixelBufferPoolAllocationThresholdKey`.
OVT_EXPORT const CFStringRef kCVPixelBufferPoolFreeBufferNotification;

/// The type identifier of pools.
OVT_EXPORT CFTypeID CVPixelBufferPoolGetTypeID(void);

/// Creates a pool of buffers with the given attributes, which must have a width, a height and a
/// pixel format (the first known one, if it is a list).
///
/// - Returns: `kCVReturnInvalidPoolAttributes`, `kCVReturnInvalidPixelBufferAttributes`,
///   `kCVReturnInvalidPixelFormat` or `kCVReturnInvalidSize`; the pool is NULL then.
///
/// The caller owns the object that `poolOut` receives, and releases it with `CFRelease`.
OVT_EXPORT CVReturn CVPixelBufferPoolCreate(
    CFAllocatorRef OVT_NULLABLE allocator, CFDictionaryRef OVT_NULLABLE poolAttributes,
    CFDictionaryRef OVT_NULLABLE pixelBufferAttributes, CVPixelBufferPoolRef OVT_NULLABLE *poolOut);

/// The attributes that the pool was made with.
///
/// The result is not retained for the caller.
OVT_EXPORT CFDictionaryRef OVT_NULLABLE CVPixelBufferPoolGetAttributes(CVPixelBufferPoolRef pool);

/// The attributes of the pool's buffers.
///
/// The result is not retained for the caller.
OVT_EXPORT CFDictionaryRef OVT_NULLABLE CVPixelBufferPoolGetPixelBufferAttributes(
    CVPixelBufferPoolRef pool);

/// Creates a buffer of the pool. It has no attachments except those of the pool's attributes; the
/// values of its pixels are undefined.
/// - Returns: `kCVReturnAllocationFailed` if there is no memory; the buffer is NULL then.
///
/// The caller owns the object that `pixelBufferOut` receives, and releases it with `CFRelease`.
OVT_EXPORT CVReturn CVPixelBufferPoolCreatePixelBuffer(
    CFAllocatorRef OVT_NULLABLE allocator, CVPixelBufferPoolRef pixelBufferPool,
    CVPixelBufferRef OVT_NULLABLE *pixelBufferOut);

/// Creates a buffer of the pool, unless the pool has too many.
///
/// - `auxAttributes`: may hold `kCVPixelBufferPoolAllocationThresholdKey`.
/// - Returns: `kCVReturnWouldExceedAllocationThreshold` if no buffer is unused and the pool has as
///   many as the threshold; `kCVReturnInvalidPixelBufferAttributes`; `kCVReturnAllocationFailed`.
///
/// The caller owns the object that `pixelBufferOut` receives, and releases it with `CFRelease`.
OVT_EXPORT CVReturn CVPixelBufferPoolCreatePixelBufferWithAuxAttributes(
    CFAllocatorRef OVT_NULLABLE allocator, CVPixelBufferPoolRef pixelBufferPool,
    CFDictionaryRef OVT_NULLABLE auxAttributes, CVPixelBufferRef OVT_NULLABLE *pixelBufferOut);

/// Frees the unused buffers that are too old, or with `excessBuffers` all unused ones.
OVT_EXPORT void CVPixelBufferPoolFlush(
    CVPixelBufferPoolRef pool, CVPixelBufferPoolFlushFlags options);

OVT_HEADER_END

#endif
