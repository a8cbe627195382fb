// SPDX-License-Identifier: Apache-2.0
// Property lists as bytes.

#ifndef OVT_COREFOUNDATION_CFPROPERTYLIST_H
#define OVT_COREFOUNDATION_CFPROPERTYLIST_H

#include <CoreFoundation/CFBase.h>
#include <CoreFoundation/CFData.h>
#include <CoreFoundation/CFError.h>

OVT_HEADER_BEGIN

typedef CFIndex CFPropertyListFormat;
enum {
  kCFPropertyListOpenStepFormat = 1,
  kCFPropertyListXMLFormat_v1_0 = 100,
  kCFPropertyListBinaryFormat_v1_0 = 200
};
typedef CFOptionFlags CFPropertyListMutabilityOptions;
enum {
  kCFPropertyListImmutable = 0,
  kCFPropertyListMutableContainers = 1,
  kCFPropertyListMutableContainersAndLeaves = 2
};
// The caller owns what these two return, and an error that they give.
OVT_EXPORT CFDataRef OVT_NULLABLE CFPropertyListCreateData(
    CFAllocatorRef OVT_NULLABLE allocator, CFPropertyListRef propertyList,
    CFPropertyListFormat format, CFOptionFlags options,
    CFErrorRef OVT_NULLABLE *OVT_NULLABLE error);
OVT_EXPORT CFPropertyListRef OVT_NULLABLE CFPropertyListCreateWithData(
    CFAllocatorRef OVT_NULLABLE allocator, CFDataRef data, CFOptionFlags options,
    CFPropertyListFormat *OVT_NULLABLE format, CFErrorRef OVT_NULLABLE *OVT_NULLABLE error);

OVT_HEADER_END

#endif
