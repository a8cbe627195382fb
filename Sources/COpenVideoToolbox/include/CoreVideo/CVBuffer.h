// SPDX-License-Identifier: Apache-2.0
// Buffers with attachments.

#ifndef OVT_COREVIDEO_CVBUFFER_H
#define OVT_COREVIDEO_CVBUFFER_H

#include <CoreVideo/CVBase.h>

OVT_HEADER_BEGIN

/// A buffer of pixels with attachments. The type identifier is that of `CVPixelBufferGetTypeID`.
typedef struct __CVBuffer *CVBufferRef;

/// Whether an attachment is copied when attachments are propagated to another buffer.
typedef uint32_t CVAttachmentMode;
enum { kCVAttachmentMode_ShouldNotPropagate = 0, kCVAttachmentMode_ShouldPropagate = 1 };

/// Makes the caller an owner of the buffer, which it returns. `NULL` is allowed.
OVT_EXPORT CVBufferRef OVT_NULLABLE CVBufferRetain(CVBufferRef OVT_NULLABLE buffer);
/// Gives a reference up. `NULL` is allowed.
OVT_EXPORT void CVBufferRelease(CVBufferRef OVT_NULLABLE buffer);

/// In a buffer's attributes: the propagating attachments of the new buffer, a dictionary.
OVT_EXPORT const CFStringRef kCVBufferPropagatedAttachmentsKey;
/// In a buffer's attributes: the attachments of the new buffer that do not propagate, a dictionary.
OVT_EXPORT const CFStringRef kCVBufferNonPropagatedAttachmentsKey;
/// When the frame is shown in its movie: a dictionary of the next two.
OVT_EXPORT const CFStringRef kCVBufferMovieTimeKey;
OVT_EXPORT const CFStringRef kCVBufferTimeValueKey;
OVT_EXPORT const CFStringRef kCVBufferTimeScaleKey;

/// Attaches a value to a buffer, replacing an earlier one of the same key.
OVT_EXPORT void CVBufferSetAttachment(
    CVBufferRef buffer, CFStringRef key, CFTypeRef value, CVAttachmentMode attachmentMode);

/// The value attached under a key, or NULL. It stays valid as long as it is attached.
///
/// The result is not retained for the caller.
OVT_EXPORT CFTypeRef OVT_NULLABLE CVBufferGetAttachment(
    CVBufferRef buffer, CFStringRef key, CVAttachmentMode *OVT_NULLABLE attachmentMode);

/// The value attached under a key, or NULL.
///
/// The caller owns the result, and releases it with `CFRelease`.
OVT_EXPORT CFTypeRef OVT_NULLABLE CVBufferCopyAttachment(
    CVBufferRef buffer, CFStringRef key, CVAttachmentMode *OVT_NULLABLE attachmentMode);

/// Whether something is attached under a key.
OVT_EXPORT Boolean CVBufferHasAttachment(CVBufferRef buffer, CFStringRef key);

/// Detaches the value of a key, if there is one.
OVT_EXPORT void CVBufferRemoveAttachment(CVBufferRef buffer, CFStringRef key);

/// Detaches everything.
OVT_EXPORT void CVBufferRemoveAllAttachments(CVBufferRef buffer);

/// All attachments of a mode, or NULL if there are none.
///
/// The caller owns the result, and releases it with `CFRelease`.
OVT_EXPORT CFDictionaryRef OVT_NULLABLE CVBufferCopyAttachments(
    CVBufferRef buffer, CVAttachmentMode attachmentMode);

/// Attaches every entry of a dictionary.
OVT_EXPORT void CVBufferSetAttachments(
    CVBufferRef buffer, CFDictionaryRef theAttachments, CVAttachmentMode attachmentMode);

/// Copies the attachments that propagate from one buffer to another.
OVT_EXPORT void CVBufferPropagateAttachments(
    CVBufferRef sourceBuffer, CVBufferRef destinationBuffer);

/// All attachments of a mode, or `NULL` if there are none.
///
/// The result is not retained for the caller: it stays valid until the buffer's attachments are
/// asked for again.
/// `CVBufferCopyAttachments` returns one that the caller owns.
OVT_EXPORT CFDictionaryRef OVT_NULLABLE CVBufferGetAttachments(
    CVBufferRef buffer, CVAttachmentMode attachmentMode);

OVT_HEADER_END

#endif
