// SPDX-License-Identifier: Apache-2.0
// Sessions that rotate pictures.

#ifndef OVT_VIDEOTOOLBOX_VTPIXELROTATIONSESSION_H
#define OVT_VIDEOTOOLBOX_VTPIXELROTATIONSESSION_H

#include <VideoToolbox/VTErrors.h>
#include <VideoToolbox/VTPixelTransferProperties.h>
#include <VideoToolbox/VTSession.h>

OVT_HEADER_BEGIN

typedef struct OpaqueVTPixelRotationSession *VTPixelRotationSessionRef;

/// Creates a pixel rotation session.
///
/// The caller owns the object that `pixelRotationSessionOut` receives, and releases it with
/// `CFRelease`.
OVT_EXPORT OSStatus VTPixelRotationSessionCreate(
    CFAllocatorRef OVT_NULLABLE allocator,
    VTPixelRotationSessionRef OVT_NULLABLE *pixelRotationSessionOut);

/// Ends a session: every further call gives `kVTInvalidSessionErr`.
OVT_EXPORT void VTPixelRotationSessionInvalidate(VTPixelRotationSessionRef session);

/// The type identifier of pixel rotation sessions.
OVT_EXPORT CFTypeID VTPixelRotationSessionGetTypeID(void);

/// Turns the picture in one buffer into another, as the session's properties say.
/// - Returns: `kVTParameterErr` if the destination does not have the turned picture's sides,
///   `kVTImageRotationNotSupportedErr` if pictures of its pixel format cannot be turned.
OVT_EXPORT OSStatus VTPixelRotationSessionRotateImage(
    VTPixelRotationSessionRef session, CVPixelBufferRef sourceBuffer,
    CVPixelBufferRef destinationBuffer);

OVT_HEADER_END

#endif
