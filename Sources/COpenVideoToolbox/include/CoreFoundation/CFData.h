// SPDX-License-Identifier: Apache-2.0
// Bytes.

#ifndef OVT_COREFOUNDATION_CFDATA_H
#define OVT_COREFOUNDATION_CFDATA_H

#include <CoreFoundation/CFBase.h>

OVT_HEADER_BEGIN

typedef const struct __CFData *CFDataRef;
typedef struct __CFData *CFMutableDataRef;

OVT_EXPORT CFTypeID CFDataGetTypeID(void);
// The caller owns what these five return.
OVT_EXPORT CFDataRef OVT_NULLABLE CFDataCreate(
    CFAllocatorRef OVT_NULLABLE allocator, const UInt8 *OVT_NULLABLE bytes, CFIndex length);
OVT_EXPORT CFDataRef OVT_NULLABLE CFDataCreateWithBytesNoCopy(
    CFAllocatorRef OVT_NULLABLE allocator, const UInt8 *OVT_NULLABLE bytes, CFIndex length,
    CFAllocatorRef OVT_NULLABLE deallocator);
OVT_EXPORT CFDataRef OVT_NULLABLE CFDataCreateCopy(
    CFAllocatorRef OVT_NULLABLE allocator, CFDataRef data);
OVT_EXPORT CFMutableDataRef OVT_NULLABLE CFDataCreateMutable(
    CFAllocatorRef OVT_NULLABLE allocator, CFIndex capacity);
OVT_EXPORT CFMutableDataRef OVT_NULLABLE CFDataCreateMutableCopy(
    CFAllocatorRef OVT_NULLABLE allocator, CFIndex capacity, CFDataRef data);
OVT_EXPORT CFIndex CFDataGetLength(CFDataRef data);
/// The bytes, which the object keeps.
OVT_EXPORT const UInt8 *OVT_NULLABLE CFDataGetBytePtr(CFDataRef data);
OVT_EXPORT UInt8 *OVT_NULLABLE CFDataGetMutableBytePtr(CFMutableDataRef data);
OVT_EXPORT void CFDataGetBytes(CFDataRef data, CFRange range, UInt8 *buffer);
OVT_EXPORT void CFDataSetLength(CFMutableDataRef data, CFIndex length);
OVT_EXPORT void CFDataIncreaseLength(CFMutableDataRef data, CFIndex extraLength);
OVT_EXPORT void CFDataAppendBytes(CFMutableDataRef data, const UInt8 *bytes, CFIndex length);
OVT_EXPORT void CFDataReplaceBytes(
    CFMutableDataRef data, CFRange range, const UInt8 *bytes, CFIndex length);
OVT_EXPORT void CFDataDeleteBytes(CFMutableDataRef data, CFRange range);

OVT_HEADER_END

#endif
