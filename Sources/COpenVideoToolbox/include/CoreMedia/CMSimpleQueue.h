// SPDX-License-Identifier: Apache-2.0
// A queue of pointers for one thread that adds and one that takes.

#ifndef OVT_COREMEDIA_CMSIMPLEQUEUE_H
#define OVT_COREMEDIA_CMSIMPLEQUEUE_H

#include <CoreMedia/CMBase.h>

OVT_HEADER_BEGIN

typedef struct opaqueCMSimpleQueue *CMSimpleQueueRef;

enum {
  /// Memory ran out.
  kCMSimpleQueueError_AllocationFailed = -12770,
  /// A parameter that is needed is missing.
  kCMSimpleQueueError_RequiredParameterMissing = -12771,
  /// The capacity is negative or does not fit 32 bits.
  kCMSimpleQueueError_ParameterOutOfRange = -12772,
  /// There is no room for another element.
  kCMSimpleQueueError_QueueIsFull = -12773
};

/// Creates a queue for `capacity` elements.
///
/// The caller owns the object that `queueOut` receives, and releases it with `CFRelease`.
OVT_EXPORT OSStatus CMSimpleQueueCreate(
    CFAllocatorRef OVT_NULLABLE allocator, int32_t capacity,
    CMSimpleQueueRef OVT_NULLABLE *queueOut);

/// The type identifier of simple queues.
OVT_EXPORT CFTypeID CMSimpleQueueGetTypeID(void);

/// Adds an element at the end.
OVT_EXPORT OSStatus CMSimpleQueueEnqueue(CMSimpleQueueRef queue, const void *element);

/// Removes and returns the first element; NULL if there is none.
OVT_EXPORT const void *OVT_NULLABLE CMSimpleQueueDequeue(CMSimpleQueueRef queue);

/// Returns the first element without removing it; NULL if there is none.
OVT_EXPORT const void *OVT_NULLABLE CMSimpleQueueGetHead(CMSimpleQueueRef queue);

/// Removes all elements.
OVT_EXPORT OSStatus CMSimpleQueueReset(CMSimpleQueueRef queue);

/// The largest number of elements.
OVT_EXPORT int32_t CMSimpleQueueGetCapacity(CMSimpleQueueRef queue);

/// The number of elements.
OVT_EXPORT int32_t CMSimpleQueueGetCount(CMSimpleQueueRef queue);

/// How full the queue is, from 0 to 1.
#define CMSimpleQueueGetFullness(queue)                                                                      \
  (CMSimpleQueueGetCapacity(queue)                                                                           \
       ? (float)CMSimpleQueueGetCount(queue) / (float)CMSimpleQueueGetCapacity(queue)                        \
       : (float)0)

OVT_HEADER_END

#endif
