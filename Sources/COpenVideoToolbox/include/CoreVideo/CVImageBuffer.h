// SPDX-License-Identifier: Apache-2.0
// Buffers that hold an image, and the keys of its attachments.

#ifndef OVT_COREVIDEO_CVIMAGEBUFFER_H
#define OVT_COREVIDEO_CVIMAGEBUFFER_H

#include <CoreGraphics/CGGeometry.h>
#include <CoreVideo/CVBuffer.h>

OVT_HEADER_BEGIN

typedef CVBufferRef CVImageBufferRef;
/// A colour space of Core Graphics. It is an object, for `CFRetain` and `CFRelease`.
typedef struct CGColorSpace *CGColorSpaceRef;

/// A `CGColorSpace`.
OVT_EXPORT const CFStringRef kCVImageBufferCGColorSpaceKey;
/// The clean aperture, the part of the picture to be shown: a dictionary of the next four keys,
/// numbers in pixels. The offsets are those of its centre from the picture's centre.
OVT_EXPORT const CFStringRef kCVImageBufferCleanApertureKey;
OVT_EXPORT const CFStringRef kCVImageBufferCleanApertureWidthKey;
OVT_EXPORT const CFStringRef kCVImageBufferCleanApertureHeightKey;
OVT_EXPORT const CFStringRef kCVImageBufferCleanApertureHorizontalOffsetKey;
OVT_EXPORT const CFStringRef kCVImageBufferCleanApertureVerticalOffsetKey;
/// A clean aperture that takes precedence over `kCVImageBufferCleanApertureKey`.
OVT_EXPORT const CFStringRef kCVImageBufferPreferredCleanApertureKey;
/// 1 for a progressive picture, 2 for an interlaced one.
OVT_EXPORT const CFStringRef kCVImageBufferFieldCountKey;
/// The order of the fields, one of the next four values.
OVT_EXPORT const CFStringRef kCVImageBufferFieldDetailKey;
OVT_EXPORT const CFStringRef kCVImageBufferFieldDetailTemporalTopFirst;
OVT_EXPORT const CFStringRef kCVImageBufferFieldDetailTemporalBottomFirst;
OVT_EXPORT const CFStringRef kCVImageBufferFieldDetailSpatialFirstLineEarly;
OVT_EXPORT const CFStringRef kCVImageBufferFieldDetailSpatialFirstLineLate;
/// The shape of a pixel: a dictionary of the next two, numbers.
OVT_EXPORT const CFStringRef kCVImageBufferPixelAspectRatioKey;
OVT_EXPORT const CFStringRef kCVImageBufferPixelAspectRatioHorizontalSpacingKey;
OVT_EXPORT const CFStringRef kCVImageBufferPixelAspectRatioVerticalSpacingKey;
/// The size to be shown at, in square pixels: a dictionary of the next two, numbers.
OVT_EXPORT const CFStringRef kCVImageBufferDisplayDimensionsKey;
OVT_EXPORT const CFStringRef kCVImageBufferDisplayWidthKey;
OVT_EXPORT const CFStringRef kCVImageBufferDisplayHeightKey;
/// The gamma of `kCVImageBufferTransferFunction_UseGamma`, a number.
OVT_EXPORT const CFStringRef kCVImageBufferGammaLevelKey;
/// An ICC profile, data.
OVT_EXPORT const CFStringRef kCVImageBufferICCProfileKey;
/// The conversion from RGB to YCbCr, one of `kCVImageBufferYCbCrMatrix_*`.
OVT_EXPORT const CFStringRef kCVImageBufferYCbCrMatrixKey;
OVT_EXPORT const CFStringRef kCVImageBufferYCbCrMatrix_ITU_R_709_2;
OVT_EXPORT const CFStringRef kCVImageBufferYCbCrMatrix_ITU_R_601_4;
OVT_EXPORT const CFStringRef kCVImageBufferYCbCrMatrix_SMPTE_240M_1995;
OVT_EXPORT const CFStringRef kCVImageBufferYCbCrMatrix_DCI_P3;
OVT_EXPORT const CFStringRef kCVImageBufferYCbCrMatrix_P3_D65;
OVT_EXPORT const CFStringRef kCVImageBufferYCbCrMatrix_ITU_R_2020;
/// The colour primaries, one of `kCVImageBufferColorPrimaries_*`.
OVT_EXPORT const CFStringRef kCVImageBufferColorPrimariesKey;
OVT_EXPORT const CFStringRef kCVImageBufferColorPrimaries_ITU_R_709_2;
OVT_EXPORT const CFStringRef kCVImageBufferColorPrimaries_EBU_3213;
OVT_EXPORT const CFStringRef kCVImageBufferColorPrimaries_SMPTE_C;
OVT_EXPORT const CFStringRef kCVImageBufferColorPrimaries_P22;
OVT_EXPORT const CFStringRef kCVImageBufferColorPrimaries_DCI_P3;
OVT_EXPORT const CFStringRef kCVImageBufferColorPrimaries_P3_D65;
OVT_EXPORT const CFStringRef kCVImageBufferColorPrimaries_ITU_R_2020;
/// The transfer function, one of `kCVImageBufferTransferFunction_*`.
OVT_EXPORT const CFStringRef kCVImageBufferTransferFunctionKey;
OVT_EXPORT const CFStringRef kCVImageBufferTransferFunction_ITU_R_709_2;
OVT_EXPORT const CFStringRef kCVImageBufferTransferFunction_SMPTE_240M_1995;
OVT_EXPORT const CFStringRef kCVImageBufferTransferFunction_UseGamma;
OVT_EXPORT const CFStringRef kCVImageBufferTransferFunction_sRGB;
OVT_EXPORT const CFStringRef kCVImageBufferTransferFunction_ITU_R_2020;
OVT_EXPORT const CFStringRef kCVImageBufferTransferFunction_SMPTE_ST_428_1;
OVT_EXPORT const CFStringRef kCVImageBufferTransferFunction_SMPTE_ST_2084_PQ;
OVT_EXPORT const CFStringRef kCVImageBufferTransferFunction_ITU_R_2100_HLG;
OVT_EXPORT const CFStringRef kCVImageBufferTransferFunction_Linear;
/// The position of chroma samples relative to luma samples, one of
/// `kCVImageBufferChromaLocation_*`: in the top field, and in progressive pictures.
OVT_EXPORT const CFStringRef kCVImageBufferChromaLocationTopFieldKey;
OVT_EXPORT const CFStringRef kCVImageBufferChromaLocationBottomFieldKey;
OVT_EXPORT const CFStringRef kCVImageBufferChromaLocation_Left;
OVT_EXPORT const CFStringRef kCVImageBufferChromaLocation_Center;
OVT_EXPORT const CFStringRef kCVImageBufferChromaLocation_TopLeft;
OVT_EXPORT const CFStringRef kCVImageBufferChromaLocation_Top;
OVT_EXPORT const CFStringRef kCVImageBufferChromaLocation_BottomLeft;
OVT_EXPORT const CFStringRef kCVImageBufferChromaLocation_Bottom;
OVT_EXPORT const CFStringRef kCVImageBufferChromaLocation_DV420;
/// The chroma subsampling before a conversion to 4:2:2 by replication of samples.
OVT_EXPORT const CFStringRef kCVImageBufferChromaSubsamplingKey;
OVT_EXPORT const CFStringRef kCVImageBufferChromaSubsampling_420;
OVT_EXPORT const CFStringRef kCVImageBufferChromaSubsampling_422;
OVT_EXPORT const CFStringRef kCVImageBufferChromaSubsampling_411;
/// Whether alpha is opaque everywhere. Boolean.
OVT_EXPORT const CFStringRef kCVImageBufferAlphaChannelIsOpaque;
/// Whether colours are multiplied by alpha, one of the next two values.
OVT_EXPORT const CFStringRef kCVImageBufferAlphaChannelModeKey;
OVT_EXPORT const CFStringRef kCVImageBufferAlphaChannelMode_StraightAlpha;
OVT_EXPORT const CFStringRef kCVImageBufferAlphaChannelMode_PremultipliedAlpha;
/// The payload of the mastering display colour volume SEI message, 24 bytes of data.
OVT_EXPORT const CFStringRef kCVImageBufferMasteringDisplayColorVolumeKey;
/// The payload of the content light level SEI message, 4 bytes of data.
OVT_EXPORT const CFStringRef kCVImageBufferContentLightLevelInfoKey;
/// The payload of the ambient viewing environment SEI message, 8 bytes of data.
OVT_EXPORT const CFStringRef kCVImageBufferAmbientViewingEnvironmentKey;

/// The size of the picture in pixels, without regard to its clean aperture.
OVT_EXPORT CGSize CVImageBufferGetEncodedSize(CVImageBufferRef imageBuffer);

/// The size at which to show the picture, in square pixels: its attached display dimensions, or
/// else its clean aperture stretched by its pixel aspect ratio.
OVT_EXPORT CGSize CVImageBufferGetDisplaySize(CVImageBufferRef imageBuffer);

/// The part of the picture to be shown, in pixels; the origin is at the lower left.
OVT_EXPORT CGRect CVImageBufferGetCleanRect(CVImageBufferRef imageBuffer);

/// Whether the first row of memory is the top of the picture: always.
OVT_EXPORT Boolean CVImageBufferIsFlipped(CVImageBufferRef imageBuffer);

/// The code point of a matrix, 2 if the string is NULL or not one of `kCVImageBufferYCbCrMatrix_*`.
OVT_EXPORT int32_t CVYCbCrMatrixGetIntegerCodePointForString(
    CFStringRef OVT_NULLABLE yCbCrMatrixString);

/// The code point of primaries, 2 if the string is NULL or not one of
/// `kCVImageBufferColorPrimaries_*`.
OVT_EXPORT int32_t CVColorPrimariesGetIntegerCodePointForString(
    CFStringRef OVT_NULLABLE colorPrimariesString);

/// The code point of a transfer function, 2 if the string is NULL or not one of
/// `kCVImageBufferTransferFunction_*`.
OVT_EXPORT int32_t CVTransferFunctionGetIntegerCodePointForString(
    CFStringRef OVT_NULLABLE transferFunctionString);

/// The name of a matrix, NULL if it has none.
///
/// The result is not retained for the caller.
OVT_EXPORT CFStringRef OVT_NULLABLE CVYCbCrMatrixGetStringForIntegerCodePoint(
    int32_t yCbCrMatrixCodePoint);

/// The name of primaries, NULL if they have none.
///
/// The result is not retained for the caller.
OVT_EXPORT CFStringRef OVT_NULLABLE CVColorPrimariesGetStringForIntegerCodePoint(
    int32_t colorPrimariesCodePoint);

/// The name of a transfer function, NULL if it has none.
///
/// The result is not retained for the caller.
OVT_EXPORT CFStringRef OVT_NULLABLE CVTransferFunctionGetStringForIntegerCodePoint(
    int32_t transferFunctionCodePoint);

/// The colour space that an image's attachments describe, or `NULL` if they do not. The caller owns
/// the result.
OVT_EXPORT CGColorSpaceRef OVT_NULLABLE CVImageBufferCreateColorSpaceFromAttachments(
    CFDictionaryRef attachments);
/// The colour space that is attached to an image, or that its attachments describe. The result is
/// not retained for
/// the caller.
OVT_EXPORT CGColorSpaceRef OVT_NULLABLE CVImageBufferGetColorSpace(CVImageBufferRef imageBuffer);

OVT_HEADER_END

#endif
