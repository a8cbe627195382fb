// SPDX-License-Identifier: Apache-2.0
// Addresses, of files above all.

#ifndef OVT_COREFOUNDATION_CFURL_H
#define OVT_COREFOUNDATION_CFURL_H

#include <CoreFoundation/CFBase.h>
#include <CoreFoundation/CFString.h>

OVT_HEADER_BEGIN

typedef const struct __CFURL *CFURLRef;
typedef CFIndex CFURLPathStyle;
enum { kCFURLPOSIXPathStyle = 0, kCFURLHFSPathStyle = 1, kCFURLWindowsPathStyle = 2 };

OVT_EXPORT CFTypeID CFURLGetTypeID(void);
// The caller owns what functions with "Create" or "Copy" in their name return.
OVT_EXPORT CFURLRef OVT_NULLABLE CFURLCreateWithFileSystemPath(
    CFAllocatorRef OVT_NULLABLE allocator, CFStringRef path, CFURLPathStyle style,
    Boolean isDirectory);
OVT_EXPORT CFURLRef OVT_NULLABLE CFURLCreateFromFileSystemRepresentation(
    CFAllocatorRef OVT_NULLABLE allocator, const UInt8 *path, CFIndex length, Boolean isDirectory);
OVT_EXPORT CFURLRef OVT_NULLABLE CFURLCreateWithString(
    CFAllocatorRef OVT_NULLABLE allocator, CFStringRef string, CFURLRef OVT_NULLABLE base);
OVT_EXPORT CFURLRef OVT_NULLABLE CFURLCreateCopyAppendingPathComponent(
    CFAllocatorRef OVT_NULLABLE allocator, CFURLRef url, CFStringRef component,
    Boolean isDirectory);
OVT_EXPORT CFURLRef OVT_NULLABLE CFURLCreateCopyDeletingLastPathComponent(
    CFAllocatorRef OVT_NULLABLE allocator, CFURLRef url);
OVT_EXPORT CFURLRef OVT_NULLABLE CFURLCopyAbsoluteURL(CFURLRef url);
OVT_EXPORT CFStringRef OVT_NULLABLE CFURLCopyFileSystemPath(CFURLRef url, CFURLPathStyle style);
OVT_EXPORT CFStringRef OVT_NULLABLE CFURLCopyPath(CFURLRef url);
OVT_EXPORT CFStringRef OVT_NULLABLE CFURLCopyScheme(CFURLRef url);
OVT_EXPORT CFStringRef OVT_NULLABLE CFURLCopyHostName(CFURLRef url);
OVT_EXPORT CFStringRef OVT_NULLABLE CFURLCopyLastPathComponent(CFURLRef url);
OVT_EXPORT CFStringRef OVT_NULLABLE CFURLCopyPathExtension(CFURLRef url);
OVT_EXPORT CFStringRef OVT_NULLABLE CFURLGetString(CFURLRef url);
OVT_EXPORT CFURLRef OVT_NULLABLE CFURLGetBaseURL(CFURLRef url);
OVT_EXPORT Boolean CFURLGetFileSystemRepresentation(
    CFURLRef url, Boolean resolveAgainstBase, UInt8 *buffer, CFIndex size);
OVT_EXPORT Boolean CFURLHasDirectoryPath(CFURLRef url);

OVT_HEADER_END

#endif
