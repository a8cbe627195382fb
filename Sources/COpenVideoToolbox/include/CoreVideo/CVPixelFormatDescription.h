// SPDX-License-Identifier: Apache-2.0
// Descriptions of the pixel formats.

#ifndef OVT_COREVIDEO_CVPIXELFORMATDESCRIPTION_H
#define OVT_COREVIDEO_CVPIXELFORMATDESCRIPTION_H

#include <CoreVideo/CVPixelBuffer.h>

OVT_HEADER_BEGIN

/// Fills the extended pixels of a buffer in a registered format; returns false if that fails.
typedef Boolean (*CVFillExtendedPixelsCallBack)(CVPixelBufferRef pixelBuffer, void *OVT_NULLABLE refCon);
/// The value of `kCVPixelFormatFillExtendedPixelsCallback`, as the bytes of a `CFData`.
typedef struct {
  /// 0.
  CFIndex version;
  CVFillExtendedPixelsCallBack OVT_NULLABLE fillCallBack;
  void *OVT_NULLABLE refCon;
} CVFillExtendedPixelsCallBackData;

/// The format's name, a string.
OVT_EXPORT const CFStringRef kCVPixelFormatName;
/// The format's code, a number.
OVT_EXPORT const CFStringRef kCVPixelFormatConstant;
/// The code of the format as a codec, a number.
OVT_EXPORT const CFStringRef kCVPixelFormatCodecType;
/// The FourCC of the format outside of Core Video, a number.
OVT_EXPORT const CFStringRef kCVPixelFormatFourCC;
OVT_EXPORT const CFStringRef kCVPixelFormatContainsAlpha;
OVT_EXPORT const CFStringRef kCVPixelFormatContainsYCbCr;
OVT_EXPORT const CFStringRef kCVPixelFormatContainsRGB;
OVT_EXPORT const CFStringRef kCVPixelFormatContainsGrayscale;
OVT_EXPORT const CFStringRef kCVPixelFormatContainsSenselArray;
/// The range of the components, one of the next three.
OVT_EXPORT const CFStringRef kCVPixelFormatComponentRange;
OVT_EXPORT const CFStringRef kCVPixelFormatComponentRange_VideoRange;
OVT_EXPORT const CFStringRef kCVPixelFormatComponentRange_FullRange;
OVT_EXPORT const CFStringRef kCVPixelFormatComponentRange_WideRange;
/// An array of dictionaries, one for each plane. The keys of a single plane may be at the top level
/// instead.
OVT_EXPORT const CFStringRef kCVPixelFormatPlanes;
/// The width in pixels of the smallest group of pixels that fills whole bytes; 1 if absent.
OVT_EXPORT const CFStringRef kCVPixelFormatBlockWidth;
OVT_EXPORT const CFStringRef kCVPixelFormatBlockHeight;
/// The size of such a block in bits.
OVT_EXPORT const CFStringRef kCVPixelFormatBitsPerBlock;
/// The size of a component in bits.
OVT_EXPORT const CFStringRef kCVPixelFormatBitsPerComponent;
/// A row's number of blocks is a multiple of this; 1 if absent.
OVT_EXPORT const CFStringRef kCVPixelFormatBlockHorizontalAlignment;
OVT_EXPORT const CFStringRef kCVPixelFormatBlockVerticalAlignment;
/// A block of black pixels, data; zeros if absent.
OVT_EXPORT const CFStringRef kCVPixelFormatBlackBlock;
/// The number of pixels in a row for each sample of the plane; 1 if absent.
OVT_EXPORT const CFStringRef kCVPixelFormatHorizontalSubsampling;
OVT_EXPORT const CFStringRef kCVPixelFormatVerticalSubsampling;
/// The `CGBitmapInfo` of a bitmap context with such pixels, a number.
OVT_EXPORT const CFStringRef kCVPixelFormatCGBitmapInfo;
OVT_EXPORT const CFStringRef kCVPixelFormatQDCompatibility;
OVT_EXPORT const CFStringRef kCVPixelFormatCGBitmapContextCompatibility;
OVT_EXPORT const CFStringRef kCVPixelFormatCGImageCompatibility;
/// The callback that fills the extended pixels of a registered format: data, the bytes of a
/// `CVFillExtendedPixelsCallBackData`.
OVT_EXPORT const CFStringRef kCVPixelFormatFillExtendedPixelsCallback;

/// Gets the description of a pixel format; NULL if the format is unknown.
///
/// The caller owns the result, and releases it with `CFRelease`.
OVT_EXPORT CFDictionaryRef OVT_NULLABLE CVPixelFormatDescriptionCreateWithPixelFormatType(
    CFAllocatorRef OVT_NULLABLE allocator, OSType pixelFormat);

/// The codes of all known formats, numbers.
///
/// The caller owns the result, and releases it with `CFRelease`.
OVT_EXPORT CFArrayRef OVT_NULLABLE CVPixelFormatDescriptionArrayCreateWithAllPixelFormatTypes(
    CFAllocatorRef OVT_NULLABLE allocator);

/// Registers a pixel format, so that buffers can be created in it.
///
/// The description has the keys `kCVPixelFormat*`; it needs at least `kCVPixelFormatBitsPerBlock`,
/// for every plane. An invalid description, or one of a built-in format, changes nothing.
OVT_EXPORT void CVPixelFormatDescriptionRegisterDescriptionWithPixelFormatType(
    CFDictionaryRef description, OSType pixelFormat);

OVT_HEADER_END

#endif
