// SPDX-License-Identifier: Apache-2.0
// Buffers of pixels in memory.

#ifndef OVT_COREVIDEO_CVPIXELBUFFER_H
#define OVT_COREVIDEO_CVPIXELBUFFER_H

#include <CoreVideo/CVImageBuffer.h>

OVT_HEADER_BEGIN

typedef CVImageBufferRef CVPixelBufferRef;

/// How a buffer is locked.
typedef CVOptionFlags CVPixelBufferLockFlags;
enum {
  /// The pixels are read only.
  kCVPixelBufferLock_ReadOnly = 0x00000001
};

/// The position of a component of a planar picture. The numbers are big-endian in memory.
typedef struct {
  int32_t offset;
  uint32_t rowBytes;
} CVPlanarComponentInfo;

typedef struct {
  CVPlanarComponentInfo componentInfo[1];
} CVPlanarPixelBufferInfo;

typedef struct {
  CVPlanarComponentInfo componentInfoY;
  CVPlanarComponentInfo componentInfoCb;
  CVPlanarComponentInfo componentInfoCr;
} CVPlanarPixelBufferInfo_YCbCrPlanar;

typedef struct {
  CVPlanarComponentInfo componentInfoY;
  CVPlanarComponentInfo componentInfoCbCr;
} CVPlanarPixelBufferInfo_YCbCrBiPlanar;

/// Called once when the memory is no longer used, from any thread.
typedef void (*CVPixelBufferReleaseBytesCallback)(void *OVT_NULLABLE releaseRefCon, const void *OVT_NULLABLE baseAddress);
/// Called once when the memory is no longer used, from any thread.
typedef void (*CVPixelBufferReleasePlanarBytesCallback)(
    void *OVT_NULLABLE releaseRefCon, const void *OVT_NULLABLE dataPtr, size_t dataSize, size_t numberOfPlanes,
    const void *OVT_NULLABLE planeAddresses[OVT_NULLABLE]);

/// Makes the caller an owner of the buffer, which it returns. `NULL` is allowed.
OVT_EXPORT CVPixelBufferRef OVT_NULLABLE CVPixelBufferRetain(CVPixelBufferRef OVT_NULLABLE texture);
/// Gives a reference up. `NULL` is allowed.
OVT_EXPORT void CVPixelBufferRelease(CVPixelBufferRef OVT_NULLABLE texture);

enum {
  kCVPixelFormatType_1Monochrome = 1,
  kCVPixelFormatType_2Indexed = 2,
  kCVPixelFormatType_4Indexed = 4,
  kCVPixelFormatType_8Indexed = 8,
  kCVPixelFormatType_1IndexedGray_WhiteIsZero = 33,
  kCVPixelFormatType_2IndexedGray_WhiteIsZero = 34,
  kCVPixelFormatType_4IndexedGray_WhiteIsZero = 36,
  kCVPixelFormatType_8IndexedGray_WhiteIsZero = 40,
  kCVPixelFormatType_16BE555 = 16,
  kCVPixelFormatType_16LE555 = 0x4C353535,  // 'L555'
  kCVPixelFormatType_16LE5551 = 0x35353531,  // '5551'
  kCVPixelFormatType_16BE565 = 0x42353635,  // 'B565'
  kCVPixelFormatType_16LE565 = 0x4C353635,  // 'L565'
  kCVPixelFormatType_24RGB = 24,
  kCVPixelFormatType_24BGR = 0x32344247,  // '24BG'
  kCVPixelFormatType_32ARGB = 32,
  kCVPixelFormatType_32BGRA = 0x42475241,  // 'BGRA'
  kCVPixelFormatType_32ABGR = 0x41424752,  // 'ABGR'
  kCVPixelFormatType_32RGBA = 0x52474241,  // 'RGBA'
  kCVPixelFormatType_64ARGB = 0x62363461,  // 'b64a'
  kCVPixelFormatType_64RGBALE = 0x6C363472,  // 'l64r'
  kCVPixelFormatType_48RGB = 0x62343872,  // 'b48r'
  kCVPixelFormatType_32AlphaGray = 0x62333261,  // 'b32a'
  kCVPixelFormatType_16Gray = 0x62313667,  // 'b16g'
  kCVPixelFormatType_30RGB = 0x5231306B,  // 'R10k'
  kCVPixelFormatType_30RGB_r210 = 0x72323130,  // 'r210'
  kCVPixelFormatType_422YpCbCr8 = 0x32767579,  // '2vuy'
  kCVPixelFormatType_4444YpCbCrA8 = 0x76343038,  // 'v408'
  kCVPixelFormatType_4444YpCbCrA8R = 0x72343038,  // 'r408'
  kCVPixelFormatType_4444AYpCbCr8 = 0x79343038,  // 'y408'
  kCVPixelFormatType_4444AYpCbCr16 = 0x79343136,  // 'y416'
  kCVPixelFormatType_4444AYpCbCrFloat = 0x7234666C,  // 'r4fl'
  kCVPixelFormatType_444YpCbCr8 = 0x76333038,  // 'v308'
  kCVPixelFormatType_422YpCbCr16 = 0x76323136,  // 'v216'
  kCVPixelFormatType_422YpCbCr10 = 0x76323130,  // 'v210'
  kCVPixelFormatType_444YpCbCr10 = 0x76343130,  // 'v410'
  kCVPixelFormatType_420YpCbCr8Planar = 0x79343230,  // 'y420'
  kCVPixelFormatType_420YpCbCr8PlanarFullRange = 0x66343230,  // 'f420'
  kCVPixelFormatType_422YpCbCr_4A_8BiPlanar = 0x61327679,  // 'a2vy'
  kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange = 0x34323076,  // '420v'
  kCVPixelFormatType_420YpCbCr8BiPlanarFullRange = 0x34323066,  // '420f'
  kCVPixelFormatType_422YpCbCr8BiPlanarVideoRange = 0x34323276,  // '422v'
  kCVPixelFormatType_422YpCbCr8BiPlanarFullRange = 0x34323266,  // '422f'
  kCVPixelFormatType_444YpCbCr8BiPlanarVideoRange = 0x34343476,  // '444v'
  kCVPixelFormatType_444YpCbCr8BiPlanarFullRange = 0x34343466,  // '444f'
  kCVPixelFormatType_422YpCbCr8_yuvs = 0x79757673,  // 'yuvs'
  kCVPixelFormatType_422YpCbCr8FullRange = 0x79757666,  // 'yuvf'
  kCVPixelFormatType_OneComponent8 = 0x4C303038,  // 'L008'
  kCVPixelFormatType_TwoComponent8 = 0x32433038,  // '2C08'
  kCVPixelFormatType_30RGBLEPackedWideGamut = 0x77333072,  // 'w30r'
  kCVPixelFormatType_ARGB2101010LEPacked = 0x6C313072,  // 'l10r'
  kCVPixelFormatType_OneComponent10 = 0x4C303130,  // 'L010'
  kCVPixelFormatType_OneComponent12 = 0x4C303132,  // 'L012'
  kCVPixelFormatType_OneComponent16 = 0x4C303136,  // 'L016'
  kCVPixelFormatType_TwoComponent16 = 0x32433136,  // '2C16'
  kCVPixelFormatType_OneComponent16Half = 0x4C303068,  // 'L00h'
  kCVPixelFormatType_OneComponent32Float = 0x4C303066,  // 'L00f'
  kCVPixelFormatType_TwoComponent16Half = 0x32433068,  // '2C0h'
  kCVPixelFormatType_TwoComponent32Float = 0x32433066,  // '2C0f'
  kCVPixelFormatType_64RGBAHalf = 0x52476841,  // 'RGhA'
  kCVPixelFormatType_128RGBAFloat = 0x52476641,  // 'RGfA'
  kCVPixelFormatType_14Bayer_GRBG = 0x67726234,  // 'grb4'
  kCVPixelFormatType_14Bayer_RGGB = 0x72676734,  // 'rgg4'
  kCVPixelFormatType_14Bayer_BGGR = 0x62676734,  // 'bgg4'
  kCVPixelFormatType_14Bayer_GBRG = 0x67627234,  // 'gbr4'
  kCVPixelFormatType_DisparityFloat16 = 0x68646973,  // 'hdis'
  kCVPixelFormatType_DisparityFloat32 = 0x66646973,  // 'fdis'
  kCVPixelFormatType_DepthFloat16 = 0x68646570,  // 'hdep'
  kCVPixelFormatType_DepthFloat32 = 0x66646570,  // 'fdep'
  kCVPixelFormatType_420YpCbCr10BiPlanarVideoRange = 0x78343230,  // 'x420'
  kCVPixelFormatType_422YpCbCr10BiPlanarVideoRange = 0x78343232,  // 'x422'
  kCVPixelFormatType_444YpCbCr10BiPlanarVideoRange = 0x78343434,  // 'x444'
  kCVPixelFormatType_420YpCbCr10BiPlanarFullRange = 0x78663230,  // 'xf20'
  kCVPixelFormatType_422YpCbCr10BiPlanarFullRange = 0x78663232,  // 'xf22'
  kCVPixelFormatType_444YpCbCr10BiPlanarFullRange = 0x78663434,  // 'xf44'
  kCVPixelFormatType_420YpCbCr8VideoRange_8A_TriPlanar = 0x76306138,  // 'v0a8'
  kCVPixelFormatType_16VersatileBayer = 0x62703136,  // 'bp16'
  kCVPixelFormatType_64RGBA_DownscaledProResRAW = 0x62703634,  // 'bp64'
  kCVPixelFormatType_422YpCbCr16BiPlanarVideoRange = 0x73763232,  // 'sv22'
  kCVPixelFormatType_444YpCbCr16BiPlanarVideoRange = 0x73763434,  // 'sv44'
  kCVPixelFormatType_444YpCbCr16VideoRange_16A_TriPlanar = 0x73346173,  // 's4as'
  kCVPixelFormatType_40ARGBLEWideGamut = 0x77343061,  // 'w40a'
  kCVPixelFormatType_40ARGBLEWideGamutPremultiplied = 0x7734306D,  // 'w40m'
  kCVPixelFormatType_96VersatileBayerPacked12 = 0x62747032,  // 'btp2'
  kCVPixelFormatType_30RGBLE_8A_BiPlanar = 0x62336138,  // 'b3a8'
  kCVPixelFormatType_Lossless_32BGRA = 0x26424741,  // '&BGA'
  kCVPixelFormatType_Lossless_64RGBAHalf = 0x26526841,  // '&RhA'
  kCVPixelFormatType_Lossless_420YpCbCr8BiPlanarVideoRange = 0x26387630,  // '&8v0'
  kCVPixelFormatType_Lossless_420YpCbCr8BiPlanarFullRange = 0x26386630,  // '&8f0'
  kCVPixelFormatType_Lossless_420YpCbCr10PackedBiPlanarVideoRange = 0x26787630,  // '&xv0'
  kCVPixelFormatType_Lossless_422YpCbCr10PackedBiPlanarVideoRange = 0x26787632,  // '&xv2'
  kCVPixelFormatType_Lossless_420YpCbCr10PackedBiPlanarFullRange = 0x26786630,  // '&xf0'
  kCVPixelFormatType_Lossless_30RGBLE_8A_BiPlanar = 0x26623338,  // '&b38'
  kCVPixelFormatType_Lossless_30RGBLEPackedWideGamut = 0x26773372,  // '&w3r'
  kCVPixelFormatType_Lossy_32BGRA = 0x2D424741,  // '-BGA'
  kCVPixelFormatType_Lossy_420YpCbCr8BiPlanarVideoRange = 0x2D387630,  // '-8v0'
  kCVPixelFormatType_Lossy_420YpCbCr8BiPlanarFullRange = 0x2D386630,  // '-8f0'
  kCVPixelFormatType_Lossy_420YpCbCr10PackedBiPlanarVideoRange = 0x2D787630,  // '-xv0'
  kCVPixelFormatType_Lossy_422YpCbCr10PackedBiPlanarVideoRange = 0x2D787632,  // '-xv2'
  kCVVersatileBayer_BayerPattern_RGGB = 0,
  kCVVersatileBayer_BayerPattern_GRBG = 1,
  kCVVersatileBayer_BayerPattern_GBRG = 2,
  kCVVersatileBayer_BayerPattern_BGGR = 3
};

OVT_EXPORT const CFStringRef kCVPixelBufferPixelFormatTypeKey;
OVT_EXPORT const CFStringRef kCVPixelBufferMemoryAllocatorKey;
OVT_EXPORT const CFStringRef kCVPixelBufferWidthKey;
OVT_EXPORT const CFStringRef kCVPixelBufferHeightKey;
OVT_EXPORT const CFStringRef kCVPixelBufferExtendedPixelsLeftKey;
OVT_EXPORT const CFStringRef kCVPixelBufferExtendedPixelsTopKey;
OVT_EXPORT const CFStringRef kCVPixelBufferExtendedPixelsRightKey;
OVT_EXPORT const CFStringRef kCVPixelBufferExtendedPixelsBottomKey;
OVT_EXPORT const CFStringRef kCVPixelBufferBytesPerRowAlignmentKey;
OVT_EXPORT const CFStringRef kCVPixelBufferCGBitmapContextCompatibilityKey;
OVT_EXPORT const CFStringRef kCVPixelBufferCGImageCompatibilityKey;
OVT_EXPORT const CFStringRef kCVPixelBufferOpenGLCompatibilityKey;
OVT_EXPORT const CFStringRef kCVPixelBufferPlaneAlignmentKey;
OVT_EXPORT const CFStringRef kCVPixelBufferIOSurfacePropertiesKey;
OVT_EXPORT const CFStringRef kCVPixelBufferOpenGLESCompatibilityKey;
OVT_EXPORT const CFStringRef kCVPixelBufferMetalCompatibilityKey;
// Programs ask for these where they draw buffers by OpenGL. There is none here, and a buffer is the
// same with them.
OVT_EXPORT const CFStringRef kCVPixelBufferIOSurfaceOpenGLTextureCompatibilityKey;
OVT_EXPORT const CFStringRef kCVPixelBufferIOSurfaceOpenGLFBOCompatibilityKey;
OVT_EXPORT const CFStringRef kCVPixelBufferIOSurfaceCoreAnimationCompatibilityKey;

/// Whether buffers in a compressed format (`kCVPixelFormatType_Lossless_`,
/// `kCVPixelFormatType_Lossy_`) can be created: never, because there is no hardware that compresses
/// memory.
OVT_EXPORT Boolean CVIsCompressedPixelFormatAvailable(OSType pixelFormatType);

/// Makes the buffer's memory accessible. Balance every call by one to
/// `CVPixelBufferUnlockBaseAddress`.
/// - Returns: `kCVReturnError` if the picture is on a surface that cannot be mapped
///   (`OVTPixelBufferCreateWithSurface`).
OVT_EXPORT CVReturn CVPixelBufferLockBaseAddress(
    CVPixelBufferRef pixelBuffer, CVPixelBufferLockFlags lockFlags);

/// Ends an access.
/// - Returns: `kCVReturnInvalidArgument` if the buffer is not locked.
OVT_EXPORT CVReturn CVPixelBufferUnlockBaseAddress(
    CVPixelBufferRef pixelBuffer, CVPixelBufferLockFlags unlockFlags);

/// The width in pixels.
OVT_EXPORT size_t CVPixelBufferGetWidth(CVPixelBufferRef pixelBuffer);

/// The height in pixels.
OVT_EXPORT size_t CVPixelBufferGetHeight(CVPixelBufferRef pixelBuffer);

/// The pixel format, one of `kCVPixelFormatType_*`.
OVT_EXPORT OSType CVPixelBufferGetPixelFormatType(CVPixelBufferRef pixelBuffer);

/// The address of the first pixel. For a planar buffer it is that of the first plane; for one that
/// wraps a program's planes, it is the address of the block that the program has named (which may
/// be NULL).
OVT_EXPORT void *OVT_NULLABLE CVPixelBufferGetBaseAddress(CVPixelBufferRef pixelBuffer);

/// The distance of two rows in bytes; for a planar buffer the size of all planes divided by the
/// height, rounded up.
OVT_EXPORT size_t CVPixelBufferGetBytesPerRow(CVPixelBufferRef pixelBuffer);

/// The size of the memory in bytes, with all planes and their padding.
OVT_EXPORT size_t CVPixelBufferGetDataSize(CVPixelBufferRef pixelBuffer);

/// Whether the buffer is planar.
OVT_EXPORT Boolean CVPixelBufferIsPlanar(CVPixelBufferRef pixelBuffer);

/// The number of planes, 0 for a buffer that is not planar.
OVT_EXPORT size_t CVPixelBufferGetPlaneCount(CVPixelBufferRef pixelBuffer);

/// The width of a plane in its own samples; 0 if there is no such plane.
///
/// Plane 0 of a buffer that is not planar is the entire picture.
OVT_EXPORT size_t CVPixelBufferGetWidthOfPlane(CVPixelBufferRef pixelBuffer, size_t planeIndex);

/// The height of a plane in its own rows, 0 if there is no such plane.
OVT_EXPORT size_t CVPixelBufferGetHeightOfPlane(CVPixelBufferRef pixelBuffer, size_t planeIndex);

/// The address of a plane's first sample; NULL if there is no such plane.
///
/// Plane 0 of a buffer that is not planar is the entire picture.
OVT_EXPORT void *OVT_NULLABLE CVPixelBufferGetBaseAddressOfPlane(
    CVPixelBufferRef pixelBuffer, size_t planeIndex);

/// The distance of two rows of a plane in bytes; 0 if there is no such plane.
OVT_EXPORT size_t CVPixelBufferGetBytesPerRowOfPlane(
    CVPixelBufferRef pixelBuffer, size_t planeIndex);

/// Gets the number of pixels around the picture on each side. Every pointer may be NULL.
OVT_EXPORT void CVPixelBufferGetExtendedPixels(
    CVPixelBufferRef pixelBuffer, size_t *OVT_NULLABLE extraColumnsOnLeft,
    size_t *OVT_NULLABLE extraColumnsOnRight, size_t *OVT_NULLABLE extraRowsOnTop,
    size_t *OVT_NULLABLE extraRowsOnBottom);

/// Creates a pixel buffer with memory of its own.
///
/// Rows are multiples of 64 bytes unless `kCVPixelBufferBytesPerRowAlignmentKey` names another
/// alignment; the memory starts at a multiple of 64; planes follow each other in one block, without
/// a gap unless `kCVPixelBufferPlaneAlignmentKey` asks for one. The values of the pixels are
/// undefined.
///
/// - Returns: `kCVReturnInvalidSize`, `kCVReturnInvalidPixelFormat`,
///   `kCVReturnInvalidPixelBufferAttributes` or `kCVReturnAllocationFailed`; the buffer is NULL
///   then.
///
/// The caller owns the object that `pixelBufferOut` receives, and releases it with `CFRelease`.
OVT_EXPORT CVReturn CVPixelBufferCreate(
    CFAllocatorRef OVT_NULLABLE allocator, size_t width, size_t height, OSType pixelFormatType,
    CFDictionaryRef OVT_NULLABLE pixelBufferAttributes,
    CVPixelBufferRef OVT_NULLABLE *pixelBufferOut);

/// The type identifier of pixel buffers.
OVT_EXPORT CFTypeID CVPixelBufferGetTypeID(void);

/// The attributes that a buffer was created with, including its size and format.
///
/// The caller owns the result, and releases it with `CFRelease`.
OVT_EXPORT CFDictionaryRef OVT_NULLABLE CVPixelBufferCopyCreationAttributes(
    CVPixelBufferRef pixelBuffer);

/// Whether a buffer meets the requirements of attributes: it has their size, one of their formats,
/// extended pixels at least as wide, and rows and planes with at least their alignment.
OVT_EXPORT Boolean CVPixelBufferIsCompatibleWithAttributes(
    CVPixelBufferRef pixelBuffer, CFDictionaryRef OVT_NULLABLE attributes);

/// Fills the extended pixels with copies of the picture's edge.
///
/// A registered format uses its own callback, if it has one.
/// - Returns: `kCVReturnError` if that callback fails.
OVT_EXPORT CVReturn CVPixelBufferFillExtendedPixels(CVPixelBufferRef pixelBuffer);

/// Merges the requirements of several users of a buffer.
///
/// Sizes must agree. Pixel formats are those that all accept, in the order of the first dictionary.
/// Extended pixels and alignments are the largest that are named. A Boolean is true if it is true
/// in any dictionary. Dictionaries are merged; of all other values the first is taken.
/// - Returns: `kCVReturnInvalidPixelBufferAttributes` if no buffer can meet all requirements;
///   `kCVReturnInvalidArgument` if an element of the array is not a dictionary.
///
/// The caller owns the object that `resolvedDictionaryOut` receives, and releases it with
/// `CFRelease`.
OVT_EXPORT CVReturn CVPixelBufferCreateResolvedAttributesDictionary(
    CFAllocatorRef OVT_NULLABLE allocator, CFArrayRef OVT_NULLABLE attributes,
    CFDictionaryRef OVT_NULLABLE *resolvedDictionaryOut);

/// Creates a pixel buffer that wraps memory with pixels in one plane.
///
/// Nothing is copied: the memory must stay valid until `releaseCallback` is called. If an error is
/// returned, it is
/// not called. The caller owns the buffer that `pixelBufferOut` receives.
/// - Returns: `kCVReturnInvalidArgument` if `bytesPerRow` is too small for a row, or the format has
///   several planes;
///   the other errors of `CVPixelBufferCreate`.
OVT_EXPORT CVReturn CVPixelBufferCreateWithBytes(
    CFAllocatorRef OVT_NULLABLE allocator, size_t width, size_t height, OSType pixelFormatType, void *baseAddress,
    size_t bytesPerRow, CVPixelBufferReleaseBytesCallback OVT_NULLABLE releaseCallback,
    void *OVT_NULLABLE releaseRefCon, CFDictionaryRef OVT_NULLABLE pixelBufferAttributes,
    CVPixelBufferRef OVT_NULLABLE *pixelBufferOut);

/// Creates a pixel buffer that wraps memory with pixels in several planes.
///
/// Nothing is copied: the memory must stay valid until `releaseCallback` is called. If an error is
/// returned, it is
/// not called. The arrays have `numberOfPlanes` elements. The caller owns the buffer that
/// `pixelBufferOut` receives.
/// - Returns: `kCVReturnInvalidArgument` for planes that do not suit the format; the other errors
///   of
///   `CVPixelBufferCreate`.
OVT_EXPORT CVReturn CVPixelBufferCreateWithPlanarBytes(
    CFAllocatorRef OVT_NULLABLE allocator, size_t width, size_t height, OSType pixelFormatType,
    void *OVT_NULLABLE dataPtr, size_t dataSize, size_t numberOfPlanes, void *OVT_NULLABLE planeBaseAddress[],
    size_t planeWidth[], size_t planeHeight[], size_t planeBytesPerRow[],
    CVPixelBufferReleasePlanarBytesCallback OVT_NULLABLE releaseCallback, void *OVT_NULLABLE releaseRefCon,
    CFDictionaryRef OVT_NULLABLE pixelBufferAttributes, CVPixelBufferRef OVT_NULLABLE *pixelBufferOut);

OVT_HEADER_END

#endif
