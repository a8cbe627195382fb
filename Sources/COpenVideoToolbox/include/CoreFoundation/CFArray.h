// SPDX-License-Identifier: Apache-2.0
// Lists.

#ifndef OVT_COREFOUNDATION_CFARRAY_H
#define OVT_COREFOUNDATION_CFARRAY_H

#include <CoreFoundation/CFBase.h>

OVT_HEADER_BEGIN

typedef const struct __CFArray *CFArrayRef;
typedef struct __CFArray *CFMutableArrayRef;

typedef const void *(*CFArrayRetainCallBack)(CFAllocatorRef OVT_NULLABLE allocator, const void *value);
typedef void (*CFArrayReleaseCallBack)(CFAllocatorRef OVT_NULLABLE allocator, const void *value);
typedef CFStringRef OVT_NULLABLE (*CFArrayCopyDescriptionCallBack)(const void *OVT_NULLABLE value);
typedef Boolean (*CFArrayEqualCallBack)(const void *first, const void *second);
typedef void (*CFArrayApplierFunction)(const void *OVT_NULLABLE value, void *OVT_NULLABLE context);

typedef struct {
  CFIndex version;
  CFArrayRetainCallBack OVT_NULLABLE retain;
  CFArrayReleaseCallBack OVT_NULLABLE release;
  CFArrayCopyDescriptionCallBack OVT_NULLABLE copyDescription;
  CFArrayEqualCallBack OVT_NULLABLE equal;
} CFArrayCallBacks;

/// For arrays of objects, which the array retains.
OVT_EXPORT const CFArrayCallBacks kCFTypeArrayCallBacks;

OVT_EXPORT CFTypeID CFArrayGetTypeID(void);
// The caller owns what these four return.
OVT_EXPORT CFArrayRef OVT_NULLABLE CFArrayCreate(
    CFAllocatorRef OVT_NULLABLE allocator, const void *OVT_NULLABLE *OVT_NULLABLE values,
    CFIndex count, const CFArrayCallBacks *OVT_NULLABLE callBacks);
OVT_EXPORT CFArrayRef OVT_NULLABLE CFArrayCreateCopy(
    CFAllocatorRef OVT_NULLABLE allocator, CFArrayRef array);
OVT_EXPORT CFMutableArrayRef OVT_NULLABLE CFArrayCreateMutable(
    CFAllocatorRef OVT_NULLABLE allocator, CFIndex capacity,
    const CFArrayCallBacks *OVT_NULLABLE callBacks);
OVT_EXPORT CFMutableArrayRef OVT_NULLABLE CFArrayCreateMutableCopy(
    CFAllocatorRef OVT_NULLABLE allocator, CFIndex capacity, CFArrayRef array);

OVT_EXPORT CFIndex CFArrayGetCount(CFArrayRef array);
OVT_EXPORT CFIndex CFArrayGetCountOfValue(
    CFArrayRef array, CFRange range, const void *OVT_NULLABLE value);
OVT_EXPORT Boolean CFArrayContainsValue(
    CFArrayRef array, CFRange range, const void *OVT_NULLABLE value);
/// The value at an index below the count. The array keeps it.
OVT_EXPORT const void *OVT_NULLABLE CFArrayGetValueAtIndex(CFArrayRef array, CFIndex index);
OVT_EXPORT void CFArrayGetValues(CFArrayRef array, CFRange range, const void *OVT_NULLABLE *values);
OVT_EXPORT void CFArrayApplyFunction(
    CFArrayRef array, CFRange range, CFArrayApplierFunction applier, void *OVT_NULLABLE context);
OVT_EXPORT CFIndex CFArrayGetFirstIndexOfValue(
    CFArrayRef array, CFRange range, const void *OVT_NULLABLE value);
OVT_EXPORT CFIndex CFArrayGetLastIndexOfValue(
    CFArrayRef array, CFRange range, const void *OVT_NULLABLE value);

OVT_EXPORT void CFArrayAppendValue(CFMutableArrayRef array, const void *OVT_NULLABLE value);
OVT_EXPORT void CFArrayAppendArray(CFMutableArrayRef array, CFArrayRef other, CFRange range);
OVT_EXPORT void CFArrayInsertValueAtIndex(
    CFMutableArrayRef array, CFIndex index, const void *OVT_NULLABLE value);
OVT_EXPORT void CFArraySetValueAtIndex(
    CFMutableArrayRef array, CFIndex index, const void *OVT_NULLABLE value);
OVT_EXPORT void CFArrayRemoveValueAtIndex(CFMutableArrayRef array, CFIndex index);
OVT_EXPORT void CFArrayRemoveAllValues(CFMutableArrayRef array);
OVT_EXPORT void CFArrayExchangeValuesAtIndices(
    CFMutableArrayRef array, CFIndex first, CFIndex second);
OVT_EXPORT void CFArraySortValues(
    CFMutableArrayRef array, CFRange range, CFComparatorFunction comparator,
    void *OVT_NULLABLE context);

OVT_HEADER_END

#endif
