// SPDX-License-Identifier: Apache-2.0
// Attachments of any object that bears them.

#ifndef OVT_COREMEDIA_CMATTACHMENT_H
#define OVT_COREMEDIA_CMATTACHMENT_H

#include <CoreMedia/CMBase.h>

OVT_HEADER_BEGIN

/// A sample buffer, a block buffer or a pixel buffer.
typedef CFTypeRef CMAttachmentBearerRef;
typedef uint32_t CMAttachmentMode;

enum {
  /// Not copied.
  kCMAttachmentMode_ShouldNotPropagate = 0,
  /// Copied.
  kCMAttachmentMode_ShouldPropagate = 1
};

/// Attaches a value, instead of one that may be there under the same key. No value removes it.
OVT_EXPORT void CMSetAttachment(
    CMAttachmentBearerRef target, CFStringRef key, CFTypeRef OVT_NULLABLE value,
    CMAttachmentMode attachmentMode);

/// The value attached under a key, and its mode.
///
/// The result is not retained for the caller.
OVT_EXPORT CFTypeRef OVT_NULLABLE CMGetAttachment(
    CMAttachmentBearerRef target, CFStringRef key,
    CMAttachmentMode *OVT_NULLABLE attachmentModeOut);

/// Removes the value attached under a key.
OVT_EXPORT void CMRemoveAttachment(CMAttachmentBearerRef target, CFStringRef key);

/// Removes all attachments.
OVT_EXPORT void CMRemoveAllAttachments(CMAttachmentBearerRef target);

/// A dictionary of the attachments of one mode, or NULL if there are none.
///
/// The caller owns the result, and releases it with `CFRelease`.
OVT_EXPORT CFDictionaryRef OVT_NULLABLE CMCopyDictionaryOfAttachments(
    CFAllocatorRef OVT_NULLABLE allocator, CMAttachmentBearerRef target,
    CMAttachmentMode attachmentMode);

/// Attaches all values of a dictionary.
OVT_EXPORT void CMSetAttachments(
    CMAttachmentBearerRef target, CFDictionaryRef theAttachments, CMAttachmentMode attachmentMode);

/// Copies the attachments that are to be propagated from one object to another.
OVT_EXPORT void CMPropagateAttachments(
    CMAttachmentBearerRef source, CMAttachmentBearerRef destination);

OVT_HEADER_END

#endif
