// SPDX-License-Identifier: Apache-2.0
// Values without an order, each once.

#ifndef OVT_COREFOUNDATION_CFSET_H
#define OVT_COREFOUNDATION_CFSET_H

#include <CoreFoundation/CFBase.h>

OVT_HEADER_BEGIN

typedef const struct __CFSet *CFSetRef;
typedef struct __CFSet *CFMutableSetRef;
typedef void (*CFSetApplierFunction)(const void *OVT_NULLABLE value, void *OVT_NULLABLE context);
typedef struct {
  CFIndex version;
  const void *OVT_NULLABLE (*OVT_NULLABLE retain)(CFAllocatorRef OVT_NULLABLE allocator, const void *OVT_NULLABLE value);
  void (*OVT_NULLABLE release)(CFAllocatorRef OVT_NULLABLE allocator, const void *OVT_NULLABLE value);
  CFStringRef OVT_NULLABLE (*OVT_NULLABLE copyDescription)(const void *OVT_NULLABLE value);
  Boolean (*OVT_NULLABLE equal)(const void *OVT_NULLABLE first, const void *OVT_NULLABLE second);
  CFHashCode (*OVT_NULLABLE hash)(const void *OVT_NULLABLE value);
} CFSetCallBacks;
/// For sets of objects, which the set retains.
OVT_EXPORT const CFSetCallBacks kCFTypeSetCallBacks;

OVT_EXPORT CFTypeID CFSetGetTypeID(void);
// The caller owns what these three return.
OVT_EXPORT CFSetRef OVT_NULLABLE CFSetCreate(
    CFAllocatorRef OVT_NULLABLE allocator, const void *OVT_NULLABLE *OVT_NULLABLE values,
    CFIndex count, const CFSetCallBacks *OVT_NULLABLE callBacks);
OVT_EXPORT CFSetRef OVT_NULLABLE CFSetCreateCopy(
    CFAllocatorRef OVT_NULLABLE allocator, CFSetRef set);
OVT_EXPORT CFMutableSetRef OVT_NULLABLE CFSetCreateMutable(
    CFAllocatorRef OVT_NULLABLE allocator, CFIndex capacity,
    const CFSetCallBacks *OVT_NULLABLE callBacks);
OVT_EXPORT CFIndex CFSetGetCount(CFSetRef set);
OVT_EXPORT Boolean CFSetContainsValue(CFSetRef set, const void *OVT_NULLABLE value);
OVT_EXPORT const void *OVT_NULLABLE CFSetGetValue(CFSetRef set, const void *OVT_NULLABLE value);
OVT_EXPORT void CFSetGetValues(CFSetRef set, const void *OVT_NULLABLE *values);
OVT_EXPORT void CFSetApplyFunction(
    CFSetRef set, CFSetApplierFunction applier, void *OVT_NULLABLE context);
OVT_EXPORT void CFSetAddValue(CFMutableSetRef set, const void *OVT_NULLABLE value);
OVT_EXPORT void CFSetSetValue(CFMutableSetRef set, const void *OVT_NULLABLE value);
OVT_EXPORT void CFSetRemoveValue(CFMutableSetRef set, const void *OVT_NULLABLE value);
OVT_EXPORT void CFSetRemoveAllValues(CFMutableSetRef set);

OVT_HEADER_END

#endif
