// SPDX-License-Identifier: Apache-2.0
// Moments. Times are seconds since the beginning of 2001, GMT.

#ifndef OVT_COREFOUNDATION_CFDATE_H
#define OVT_COREFOUNDATION_CFDATE_H

#include <CoreFoundation/CFBase.h>

OVT_HEADER_BEGIN

typedef double CFTimeInterval;
typedef CFTimeInterval CFAbsoluteTime;
typedef const struct __CFDate *CFDateRef;

OVT_EXPORT const CFTimeInterval kCFAbsoluteTimeIntervalSince1970;
OVT_EXPORT const CFTimeInterval kCFAbsoluteTimeIntervalSince1904;

OVT_EXPORT CFAbsoluteTime CFAbsoluteTimeGetCurrent(void);
OVT_EXPORT CFTypeID CFDateGetTypeID(void);
/// The caller owns the result.
OVT_EXPORT CFDateRef OVT_NULLABLE CFDateCreate(
    CFAllocatorRef OVT_NULLABLE allocator, CFAbsoluteTime time);
OVT_EXPORT CFAbsoluteTime CFDateGetAbsoluteTime(CFDateRef date);
OVT_EXPORT CFTimeInterval CFDateGetTimeIntervalSinceDate(CFDateRef date, CFDateRef other);
OVT_EXPORT CFComparisonResult CFDateCompare(
    CFDateRef date, CFDateRef other, void *OVT_NULLABLE context);

OVT_HEADER_END

#endif
