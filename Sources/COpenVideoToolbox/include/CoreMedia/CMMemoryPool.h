// SPDX-License-Identifier: Apache-2.0
// Memory that is used again for blocks of about the same size.

#ifndef OVT_COREMEDIA_CMMEMORYPOOL_H
#define OVT_COREMEDIA_CMMEMORYPOOL_H

#include <CoreMedia/CMBase.h>

OVT_HEADER_BEGIN

typedef struct OpaqueCMMemoryPool *CMMemoryPoolRef;

enum {
  /// Memory ran out.
  kCMMemoryPoolError_AllocationFailed = -15490,
  /// A parameter is wrong.
  kCMMemoryPoolError_InvalidParameter = -15491
};

/// The time in seconds for which unused memory stays in the pool (number; 0.5 by default).
OVT_EXPORT const CFStringRef kCMMemoryPoolOption_AgeOutPeriod;

/// The type identifier of memory pools.
OVT_EXPORT CFTypeID CMMemoryPoolGetTypeID(void);

/// Creates a memory pool; see `kCMMemoryPoolOption_AgeOutPeriod`.
///
/// The caller owns the result, and releases it with `CFRelease`.
OVT_EXPORT CMMemoryPoolRef OVT_NULLABLE CMMemoryPoolCreate(CFDictionaryRef OVT_NULLABLE options);

/// Gives all memory that waits in the pool back to the system.
OVT_EXPORT void CMMemoryPoolFlush(CMMemoryPoolRef pool);

/// Stops keeping memory: what waits and what comes back later goes to the system at once.
OVT_EXPORT void CMMemoryPoolInvalidate(CMMemoryPoolRef pool);

OVT_HEADER_END

#endif
