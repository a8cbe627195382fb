// SPDX-License-Identifier: Apache-2.0
// Sessions that convert pictures.

#ifndef OVT_VIDEOTOOLBOX_VTPIXELTRANSFERSESSION_H
#define OVT_VIDEOTOOLBOX_VTPIXELTRANSFERSESSION_H

#include <VideoToolbox/VTErrors.h>
#include <VideoToolbox/VTPixelTransferProperties.h>
#include <VideoToolbox/VTSession.h>

OVT_HEADER_BEGIN

typedef struct OpaqueVTPixelTransferSession *VTPixelTransferSessionRef;

/// Creates a pixel transfer session.
///
/// The caller owns the object that `pixelTransferSessionOut` receives, and releases it with
/// `CFRelease`.
OVT_EXPORT OSStatus VTPixelTransferSessionCreate(
    CFAllocatorRef OVT_NULLABLE allocator,
    VTPixelTransferSessionRef OVT_NULLABLE *pixelTransferSessionOut);

/// Ends a session: every further call gives `kVTInvalidSessionErr`.
OVT_EXPORT void VTPixelTransferSessionInvalidate(VTPixelTransferSessionRef session);

/// The type identifier of pixel transfer sessions.
OVT_EXPORT CFTypeID VTPixelTransferSessionGetTypeID(void);

/// Copies the picture in one buffer to another, in the other's size and pixel format.
///
/// The destination's attachments become the source's, changed by what the transfer does.
/// - Returns: `kVTPixelTransferNotSupportedErr` if there is no conversion between the two.
OVT_EXPORT OSStatus VTPixelTransferSessionTransferImage(
    VTPixelTransferSessionRef session, CVPixelBufferRef sourceBuffer,
    CVPixelBufferRef destinationBuffer);

OVT_HEADER_END

#endif
