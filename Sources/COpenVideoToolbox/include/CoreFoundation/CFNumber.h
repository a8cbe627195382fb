// SPDX-License-Identifier: Apache-2.0
// Numbers and booleans.

#ifndef OVT_COREFOUNDATION_CFNUMBER_H
#define OVT_COREFOUNDATION_CFNUMBER_H

#include <CoreFoundation/CFBase.h>

OVT_HEADER_BEGIN

typedef const struct __CFBoolean *CFBooleanRef;
typedef const struct __CFNumber *CFNumberRef;

OVT_EXPORT const CFBooleanRef kCFBooleanTrue;
OVT_EXPORT const CFBooleanRef kCFBooleanFalse;
OVT_EXPORT CFTypeID CFBooleanGetTypeID(void);
OVT_EXPORT Boolean CFBooleanGetValue(CFBooleanRef boolean);

/// The kind of a number, or the kind that it is to be read as.
typedef CFIndex CFNumberType;
enum {
  kCFNumberSInt8Type = 1,
  kCFNumberSInt16Type = 2,
  kCFNumberSInt32Type = 3,
  kCFNumberSInt64Type = 4,
  kCFNumberFloat32Type = 5,
  kCFNumberFloat64Type = 6,
  kCFNumberCharType = 7,
  kCFNumberShortType = 8,
  kCFNumberIntType = 9,
  kCFNumberLongType = 10,
  kCFNumberLongLongType = 11,
  kCFNumberFloatType = 12,
  kCFNumberDoubleType = 13,
  kCFNumberCFIndexType = 14,
  kCFNumberNSIntegerType = 15,
  kCFNumberCGFloatType = 16,
  kCFNumberMaxType = 16
};

OVT_EXPORT CFTypeID CFNumberGetTypeID(void);
/// The number at an address. The caller owns the result.
OVT_EXPORT CFNumberRef OVT_NULLABLE CFNumberCreate(
    CFAllocatorRef OVT_NULLABLE allocator, CFNumberType type, const void *value);
OVT_EXPORT CFNumberType CFNumberGetType(CFNumberRef number);
OVT_EXPORT CFIndex CFNumberGetByteSize(CFNumberRef number);
OVT_EXPORT Boolean CFNumberIsFloatType(CFNumberRef number);
/// Writes a number to an address in another form; false if something was lost.
OVT_EXPORT Boolean CFNumberGetValue(CFNumberRef number, CFNumberType type, void *value);
OVT_EXPORT CFComparisonResult CFNumberCompare(
    CFNumberRef first, CFNumberRef second, void *OVT_NULLABLE context);

OVT_HEADER_END

#endif
