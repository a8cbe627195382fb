// SPDX-License-Identifier: Apache-2.0
// The properties of sessions that convert and rotate pictures.

#ifndef OVT_VIDEOTOOLBOX_VTPIXELTRANSFERPROPERTIES_H
#define OVT_VIDEOTOOLBOX_VTPIXELTRANSFERPROPERTIES_H

#include <VideoToolbox/VTBase.h>

OVT_HEADER_BEGIN

/// How the source fits into the destination: one of the `kVTScalingMode_` constants.
OVT_EXPORT const CFStringRef kVTPixelTransferPropertyKey_ScalingMode;
/// The whole source fills the whole destination, whatever becomes of its shape. The default.
OVT_EXPORT const CFStringRef kVTScalingMode_Normal;
/// The source's clean aperture fills the destination.
OVT_EXPORT const CFStringRef kVTScalingMode_CropSourceToCleanAperture;
/// The source's clean aperture keeps its shape and lies inside the destination's, between black
/// bars.
OVT_EXPORT const CFStringRef kVTScalingMode_Letterbox;
/// The source's clean aperture keeps its shape and covers the destination; what reaches beyond is
/// cut off.
OVT_EXPORT const CFStringRef kVTScalingMode_Trim;
/// The part of the destination that is to be seen: a dictionary as in
/// `kCVImageBufferCleanApertureKey`. It is
/// attached to the destination.
OVT_EXPORT const CFStringRef kVTPixelTransferPropertyKey_DestinationCleanAperture;
/// The shape of the destination's pixels: a dictionary as in `kCVImageBufferPixelAspectRatioKey`.
/// It is attached to the
/// destination.
OVT_EXPORT const CFStringRef kVTPixelTransferPropertyKey_DestinationPixelAspectRatio;
/// How a picture gets smaller: one of the `kVTDownsamplingMode_` constants.
OVT_EXPORT const CFStringRef kVTPixelTransferPropertyKey_DownsamplingMode;
/// Takes the nearest sample.
OVT_EXPORT const CFStringRef kVTDownsamplingMode_Decimate;
/// Takes the mean of the samples.
OVT_EXPORT const CFStringRef kVTDownsamplingMode_Average;
/// The colour primaries to convert to: a value of `kCVImageBufferColorPrimariesKey`.
OVT_EXPORT const CFStringRef kVTPixelTransferPropertyKey_DestinationColorPrimaries;
/// The transfer function to convert to: a value of `kCVImageBufferTransferFunctionKey`.
OVT_EXPORT const CFStringRef kVTPixelTransferPropertyKey_DestinationTransferFunction;
/// An ICC profile to convert to. There is no colour management here: sessions do not support it.
OVT_EXPORT const CFStringRef kVTPixelTransferPropertyKey_DestinationICCProfile;
/// The matrix to convert to, for YCbCr destinations: a value of `kCVImageBufferYCbCrMatrixKey`.
OVT_EXPORT const CFStringRef kVTPixelTransferPropertyKey_DestinationYCbCrMatrix;
/// Whether speed matters more than quality. Boolean.
OVT_EXPORT const CFStringRef kVTPixelTransferPropertyKey_RealTime;
/// How far to turn: one of the `kVTRotation_` constants.
OVT_EXPORT const CFStringRef kVTPixelRotationPropertyKey_Rotation;
/// No rotation. The default.
OVT_EXPORT const CFStringRef kVTRotation_0;
/// A quarter turn to the right.
OVT_EXPORT const CFStringRef kVTRotation_CW90;
/// Half a turn.
OVT_EXPORT const CFStringRef kVTRotation_180;
/// A quarter turn to the left.
OVT_EXPORT const CFStringRef kVTRotation_CCW90;
/// Whether to swap left and right, after the rotation. Boolean.
OVT_EXPORT const CFStringRef kVTPixelRotationPropertyKey_FlipHorizontalOrientation;
/// Whether to swap top and bottom, after the rotation. Boolean.
OVT_EXPORT const CFStringRef kVTPixelRotationPropertyKey_FlipVerticalOrientation;

OVT_HEADER_END

#endif
