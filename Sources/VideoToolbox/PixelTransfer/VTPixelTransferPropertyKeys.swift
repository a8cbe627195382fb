// SPDX-License-Identifier: Apache-2.0
import CoreMedia

// Properties of a pixel transfer session, and of the conversion at the end of a decompression
// session (`kVTDecompressionPropertyKey_PixelTransferProperties`).

/// How the source fits into the destination: one of the `kVTScalingMode_` constants.
public nonisolated(unsafe) let kVTPixelTransferPropertyKey_ScalingMode: CFString = "ScalingMode"
/// The whole source fills the whole destination, whatever becomes of its shape. The default.
public nonisolated(unsafe) let kVTScalingMode_Normal: CFString = "Normal"
/// The source's clean aperture fills the destination.
public nonisolated(unsafe) let kVTScalingMode_CropSourceToCleanAperture: CFString =
  "CropSourceToCleanAperture"
/// The source's clean aperture keeps its shape and lies inside the destination's, between black
/// bars.
public nonisolated(unsafe) let kVTScalingMode_Letterbox: CFString = "Letterbox"
/// The source's clean aperture keeps its shape and covers the destination; what reaches beyond is
/// cut off.
public nonisolated(unsafe) let kVTScalingMode_Trim: CFString = "Trim"

/// The part of the destination that is to be seen: a dictionary as in
/// `kCVImageBufferCleanApertureKey`. It is attached to the destination.
public nonisolated(unsafe) let kVTPixelTransferPropertyKey_DestinationCleanAperture: CFString =
  "DestinationCleanAperture"
/// The shape of the destination's pixels: a dictionary as in `kCVImageBufferPixelAspectRatioKey`.
/// It is attached to the destination.
public nonisolated(unsafe) let kVTPixelTransferPropertyKey_DestinationPixelAspectRatio: CFString =
  "DestinationPixelAspectRatio"

/// How a picture gets smaller: one of the `kVTDownsamplingMode_` constants.
public nonisolated(unsafe) let kVTPixelTransferPropertyKey_DownsamplingMode: CFString = "DownsamplingMode"
/// Takes the nearest sample.
public nonisolated(unsafe) let kVTDownsamplingMode_Decimate: CFString = "Decimate"
/// Takes the mean of the samples.
public nonisolated(unsafe) let kVTDownsamplingMode_Average: CFString = "Average"

/// The colour primaries to convert to: a value of `kCVImageBufferColorPrimariesKey`.
public nonisolated(unsafe) let kVTPixelTransferPropertyKey_DestinationColorPrimaries: CFString =
  "DestinationColorPrimaries"
/// The transfer function to convert to: a value of `kCVImageBufferTransferFunctionKey`.
public nonisolated(unsafe) let kVTPixelTransferPropertyKey_DestinationTransferFunction: CFString =
  "DestinationTransferFunction"
/// An ICC profile to convert to. There is no colour management here: sessions do not support it.
public nonisolated(unsafe) let kVTPixelTransferPropertyKey_DestinationICCProfile: CFString =
  "DestinationICCProfile"
/// The matrix to convert to, for YCbCr destinations: a value of `kCVImageBufferYCbCrMatrixKey`.
public nonisolated(unsafe) let kVTPixelTransferPropertyKey_DestinationYCbCrMatrix: CFString =
  "DestinationYCbCrMatrix"

/// Whether speed matters more than quality. Boolean.
public nonisolated(unsafe) let kVTPixelTransferPropertyKey_RealTime: CFString = "RealTime"

// Properties of a pixel rotation session.

/// How far to turn: one of the `kVTRotation_` constants.
public nonisolated(unsafe) let kVTPixelRotationPropertyKey_Rotation: CFString = "Rotation"
/// No rotation. The default.
public nonisolated(unsafe) let kVTRotation_0: CFString = "0"
/// A quarter turn to the right.
public nonisolated(unsafe) let kVTRotation_CW90: CFString = "CW90"
/// Half a turn.
public nonisolated(unsafe) let kVTRotation_180: CFString = "180"
/// A quarter turn to the left.
public nonisolated(unsafe) let kVTRotation_CCW90: CFString = "CCW90"
/// Whether to swap left and right, after the rotation. Boolean.
public nonisolated(unsafe) let kVTPixelRotationPropertyKey_FlipHorizontalOrientation: CFString =
  "FlipHorizontalOrientation"
/// Whether to swap top and bottom, after the rotation. Boolean.
public nonisolated(unsafe) let kVTPixelRotationPropertyKey_FlipVerticalOrientation: CFString =
  "FlipVerticalOrientation"

/// Whether pixel transfer goes through ColorSync: 0, which there is none of.
public let VT_SUPPORT_COLORSYNC_PIXEL_TRANSFER: Int32 = 0
