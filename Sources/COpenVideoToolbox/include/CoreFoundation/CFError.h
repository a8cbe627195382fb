// SPDX-License-Identifier: Apache-2.0
// Errors as objects.

#ifndef OVT_COREFOUNDATION_CFERROR_H
#define OVT_COREFOUNDATION_CFERROR_H

#include <CoreFoundation/CFBase.h>
#include <CoreFoundation/CFDictionary.h>

OVT_HEADER_BEGIN

typedef struct __CFError *CFErrorRef;
typedef CFStringRef CFErrorDomain;

OVT_EXPORT const CFErrorDomain kCFErrorDomainPOSIX;
OVT_EXPORT const CFErrorDomain kCFErrorDomainOSStatus;
OVT_EXPORT const CFErrorDomain kCFErrorDomainMach;
OVT_EXPORT const CFErrorDomain kCFErrorDomainCocoa;
OVT_EXPORT const CFStringRef kCFErrorLocalizedDescriptionKey;
OVT_EXPORT const CFStringRef kCFErrorLocalizedFailureReasonKey;
OVT_EXPORT const CFStringRef kCFErrorUnderlyingErrorKey;

OVT_EXPORT CFTypeID CFErrorGetTypeID(void);
// The caller owns what functions with "Create" or "Copy" in their name return.
OVT_EXPORT CFErrorRef OVT_NULLABLE CFErrorCreate(
    CFAllocatorRef OVT_NULLABLE allocator, CFErrorDomain domain, CFIndex code,
    CFDictionaryRef OVT_NULLABLE userInfo);
OVT_EXPORT CFErrorDomain CFErrorGetDomain(CFErrorRef error);
OVT_EXPORT CFIndex CFErrorGetCode(CFErrorRef error);
OVT_EXPORT CFDictionaryRef OVT_NULLABLE CFErrorCopyUserInfo(CFErrorRef error);
OVT_EXPORT CFStringRef OVT_NULLABLE CFErrorCopyDescription(CFErrorRef error);
OVT_EXPORT CFStringRef OVT_NULLABLE CFErrorCopyFailureReason(CFErrorRef error);

OVT_HEADER_END

#endif
