// SPDX-License-Identifier: Apache-2.0
// Universally unique identifiers.

#ifndef OVT_COREFOUNDATION_CFUUID_H
#define OVT_COREFOUNDATION_CFUUID_H

#include <CoreFoundation/CFBase.h>
#include <CoreFoundation/CFString.h>

OVT_HEADER_BEGIN

typedef const struct __CFUUID *CFUUIDRef;
typedef struct {
  UInt8 byte0, byte1, byte2, byte3, byte4, byte5, byte6, byte7;
  UInt8 byte8, byte9, byte10, byte11, byte12, byte13, byte14, byte15;
} CFUUIDBytes;
OVT_EXPORT CFTypeID CFUUIDGetTypeID(void);
// The caller owns what these return.
OVT_EXPORT CFUUIDRef OVT_NULLABLE CFUUIDCreate(CFAllocatorRef OVT_NULLABLE allocator);
OVT_EXPORT CFUUIDRef OVT_NULLABLE CFUUIDCreateFromString(
    CFAllocatorRef OVT_NULLABLE allocator, CFStringRef string);
OVT_EXPORT CFStringRef OVT_NULLABLE CFUUIDCreateString(
    CFAllocatorRef OVT_NULLABLE allocator, CFUUIDRef uuid);
OVT_EXPORT CFUUIDBytes CFUUIDGetUUIDBytes(CFUUIDRef uuid);

OVT_HEADER_END

#endif
