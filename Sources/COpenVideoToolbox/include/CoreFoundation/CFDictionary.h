// SPDX-License-Identifier: Apache-2.0
// Values by keys.

#ifndef OVT_COREFOUNDATION_CFDICTIONARY_H
#define OVT_COREFOUNDATION_CFDICTIONARY_H

#include <CoreFoundation/CFBase.h>

OVT_HEADER_BEGIN

typedef const struct __CFDictionary *CFDictionaryRef;
typedef struct __CFDictionary *CFMutableDictionaryRef;

typedef const void *(*CFDictionaryRetainCallBack)(CFAllocatorRef OVT_NULLABLE allocator, const void *value);
typedef void (*CFDictionaryReleaseCallBack)(CFAllocatorRef OVT_NULLABLE allocator, const void *value);
typedef CFStringRef OVT_NULLABLE (*CFDictionaryCopyDescriptionCallBack)(const void *OVT_NULLABLE value);
typedef Boolean (*CFDictionaryEqualCallBack)(const void *first, const void *second);
typedef CFHashCode (*CFDictionaryHashCallBack)(const void *value);
typedef void (*CFDictionaryApplierFunction)(const void *OVT_NULLABLE key, const void *OVT_NULLABLE value, void *OVT_NULLABLE context);

typedef struct {
  CFIndex version;
  CFDictionaryRetainCallBack OVT_NULLABLE retain;
  CFDictionaryReleaseCallBack OVT_NULLABLE release;
  CFDictionaryCopyDescriptionCallBack OVT_NULLABLE copyDescription;
  CFDictionaryEqualCallBack OVT_NULLABLE equal;
  CFDictionaryHashCallBack OVT_NULLABLE hash;
} CFDictionaryKeyCallBacks;

typedef struct {
  CFIndex version;
  CFDictionaryRetainCallBack OVT_NULLABLE retain;
  CFDictionaryReleaseCallBack OVT_NULLABLE release;
  CFDictionaryCopyDescriptionCallBack OVT_NULLABLE copyDescription;
  CFDictionaryEqualCallBack OVT_NULLABLE equal;
} CFDictionaryValueCallBacks;

/// For dictionaries whose keys are objects, which the dictionary retains.
OVT_EXPORT const CFDictionaryKeyCallBacks kCFTypeDictionaryKeyCallBacks;
/// For dictionaries whose keys are strings, which the dictionary copies.
OVT_EXPORT const CFDictionaryKeyCallBacks kCFCopyStringDictionaryKeyCallBacks;
/// For dictionaries whose values are objects, which the dictionary retains.
OVT_EXPORT const CFDictionaryValueCallBacks kCFTypeDictionaryValueCallBacks;

OVT_EXPORT CFTypeID CFDictionaryGetTypeID(void);
// The caller owns what these four return.
/// With `kCFTypeDictionary...CallBacks`, entries whose key or value is `NULL` are left out.
OVT_EXPORT CFDictionaryRef OVT_NULLABLE CFDictionaryCreate(
    CFAllocatorRef OVT_NULLABLE allocator, const void *OVT_NULLABLE *OVT_NULLABLE keys,
    const void *OVT_NULLABLE *OVT_NULLABLE values, CFIndex count,
    const CFDictionaryKeyCallBacks *OVT_NULLABLE keyCallBacks,
    const CFDictionaryValueCallBacks *OVT_NULLABLE valueCallBacks);
OVT_EXPORT CFDictionaryRef OVT_NULLABLE CFDictionaryCreateCopy(
    CFAllocatorRef OVT_NULLABLE allocator, CFDictionaryRef dictionary);
OVT_EXPORT CFMutableDictionaryRef OVT_NULLABLE CFDictionaryCreateMutable(
    CFAllocatorRef OVT_NULLABLE allocator, CFIndex capacity,
    const CFDictionaryKeyCallBacks *OVT_NULLABLE keyCallBacks,
    const CFDictionaryValueCallBacks *OVT_NULLABLE valueCallBacks);
OVT_EXPORT CFMutableDictionaryRef OVT_NULLABLE CFDictionaryCreateMutableCopy(
    CFAllocatorRef OVT_NULLABLE allocator, CFIndex capacity, CFDictionaryRef dictionary);

OVT_EXPORT CFIndex CFDictionaryGetCount(CFDictionaryRef dictionary);
OVT_EXPORT CFIndex CFDictionaryGetCountOfKey(
    CFDictionaryRef dictionary, const void *OVT_NULLABLE key);
OVT_EXPORT CFIndex CFDictionaryGetCountOfValue(
    CFDictionaryRef dictionary, const void *OVT_NULLABLE value);
OVT_EXPORT Boolean CFDictionaryContainsKey(
    CFDictionaryRef dictionary, const void *OVT_NULLABLE key);
OVT_EXPORT Boolean CFDictionaryContainsValue(
    CFDictionaryRef dictionary, const void *OVT_NULLABLE value);
/// The value of a key, or `NULL`. The dictionary keeps it.
OVT_EXPORT const void *OVT_NULLABLE CFDictionaryGetValue(
    CFDictionaryRef dictionary, const void *OVT_NULLABLE key);
OVT_EXPORT Boolean CFDictionaryGetValueIfPresent(
    CFDictionaryRef dictionary, const void *OVT_NULLABLE key,
    const void *OVT_NULLABLE *OVT_NULLABLE value);
OVT_EXPORT void CFDictionaryGetKeysAndValues(
    CFDictionaryRef dictionary, const void *OVT_NULLABLE *OVT_NULLABLE keys,
    const void *OVT_NULLABLE *OVT_NULLABLE values);
OVT_EXPORT void CFDictionaryApplyFunction(
    CFDictionaryRef dictionary, CFDictionaryApplierFunction applier, void *OVT_NULLABLE context);

OVT_EXPORT void CFDictionaryAddValue(
    CFMutableDictionaryRef dictionary, const void *OVT_NULLABLE key,
    const void *OVT_NULLABLE value);
OVT_EXPORT void CFDictionarySetValue(
    CFMutableDictionaryRef dictionary, const void *OVT_NULLABLE key,
    const void *OVT_NULLABLE value);
OVT_EXPORT void CFDictionaryReplaceValue(
    CFMutableDictionaryRef dictionary, const void *OVT_NULLABLE key,
    const void *OVT_NULLABLE value);
OVT_EXPORT void CFDictionaryRemoveValue(
    CFMutableDictionaryRef dictionary, const void *OVT_NULLABLE key);
OVT_EXPORT void CFDictionaryRemoveAllValues(CFMutableDictionaryRef dictionary);

OVT_HEADER_END

#endif
