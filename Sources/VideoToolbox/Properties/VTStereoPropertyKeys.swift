// SPDX-License-Identifier: Apache-2.0
import CoreMedia

// Keys and values for features that no encoder of this package has: stereo views, projections,
// alpha. Each session answers `kVTPropertyNotSupportedErr` to such a key and `kVTParameterErr` to
// such a value, as Apple's sessions do for features that they lack.

// MARK: - Alpha and HDR

/// Whether a codec with alpha keeps it. Boolean.
public nonisolated(unsafe) let kVTCompressionPropertyKey_PreserveAlphaChannel: CFString =
  "kVTCodecPropertyKey_PreserveAlphaChannel"

/// HDR metadata that preserves the appearance of the SDR range.
public nonisolated(unsafe) let kVTHDRMetadataInsertionMode_RequestSDRRangePreservation: CFString =
  "HDRMetadataInsertionMode_RequestSDRRangePreservation"

// MARK: - Profiles

/// HEVC 4:2:2 with 10 bits, level by the encoder.
public nonisolated(unsafe) let kVTProfileLevel_HEVC_Main42210_AutoLevel: CFString = "HEVC_Main42210_AutoLevel"
/// HEVC grey with 8 bits, level by the encoder.
public nonisolated(unsafe) let kVTProfileLevel_HEVC_Monochrome_AutoLevel: CFString =
  "HEVC_Monochrome_AutoLevel"
/// HEVC grey with 10 bits, level by the encoder.
public nonisolated(unsafe) let kVTProfileLevel_HEVC_Monochrome10_AutoLevel: CFString =
  "HEVC_Monochrome10_AutoLevel"

// MARK: - Several views in one stream (MV-HEVC)

/// The `nuh_layer_id` of each view. Array of numbers.
public nonisolated(unsafe) let kVTCompressionPropertyKey_MVHEVCVideoLayerIDs: CFString = "MVHEVCVideoLayerIDs"
/// The view identifier of each layer. Array of numbers.
public nonisolated(unsafe) let kVTCompressionPropertyKey_MVHEVCViewIDs: CFString = "MVHEVCViewIDs"
/// The left and the right eye's view identifiers. Array of two numbers.
public nonisolated(unsafe) let kVTCompressionPropertyKey_MVHEVCLeftAndRightViewIDs: CFString =
  "MVHEVCLeftAndRightViewIDs"
/// Whether the stream has a view for the left eye. Boolean.
public nonisolated(unsafe) let kVTCompressionPropertyKey_HasLeftStereoEyeView: CFString =
  "HasLeftStereoEyeView"
/// Whether the stream has a view for the right eye. Boolean.
public nonisolated(unsafe) let kVTCompressionPropertyKey_HasRightStereoEyeView: CFString =
  "HasRightStereoEyeView"
/// The eye whose view is shown where only one is. One of `kVTHeroEye_`.
public nonisolated(unsafe) let kVTCompressionPropertyKey_HeroEye: CFString = "HeroEye"
/// The left eye.
public nonisolated(unsafe) let kVTHeroEye_Left: CFString = "Left"
/// The right eye.
public nonisolated(unsafe) let kVTHeroEye_Right: CFString = "Right"

// MARK: - Projection and camera

/// How a picture covers the sphere around the viewer. One of `kVTProjectionKind_`.
public nonisolated(unsafe) let kVTCompressionPropertyKey_ProjectionKind: CFString = "ProjectionKind"
/// A rectilinear projection.
public nonisolated(unsafe) let kVTProjectionKind_Rectilinear: CFString = "Rectilinear"
/// An equirectangular projection of 360 degrees.
public nonisolated(unsafe) let kVTProjectionKind_Equirectangular: CFString = "Equirectangular"
/// An equirectangular projection of the front 180 degrees.
public nonisolated(unsafe) let kVTProjectionKind_HalfEquirectangular: CFString = "HalfEquirectangular"
/// A parametric projection that is described by the lens calibration.
public nonisolated(unsafe) let kVTProjectionKind_ParametricImmersive: CFString = "ParametricImmersive"
/// How two views share a picture. One of `kVTViewPackingKind_`.
public nonisolated(unsafe) let kVTCompressionPropertyKey_ViewPackingKind: CFString = "ViewPackingKind"
/// The views are side by side in the left and the right half of the picture.
public nonisolated(unsafe) let kVTViewPackingKind_SideBySide: CFString = "SideBySide"
/// Upper and lower halves.
public nonisolated(unsafe) let kVTViewPackingKind_OverUnder: CFString = "OverUnder"
/// Distance between the lenses' centres, in micrometres. Number.
public nonisolated(unsafe) let kVTCompressionPropertyKey_StereoCameraBaseline: CFString =
  "StereoCameraBaseline"
/// Shift of the views against each other, -10000 to 10000 for -1 to 1 of the width. Number.
public nonisolated(unsafe) let kVTCompressionPropertyKey_HorizontalDisparityAdjustment: CFString =
  "HorizontalDisparityAdjustment"
/// In thousandths of a degree. Number.
public nonisolated(unsafe) let kVTCompressionPropertyKey_HorizontalFieldOfView: CFString =
  "HorizontalFieldOfView"
/// The calibration of each lens. Array of dictionaries of the keys below.
public nonisolated(unsafe) let kVTCompressionPropertyKey_CameraCalibrationDataLensCollection: CFString =
  "CameraCalibrationDataLensCollection"
/// One of `kVTCameraCalibrationLensAlgorithmKind_`.
public nonisolated(unsafe) let kVTCompressionPropertyCameraCalibrationKey_LensAlgorithmKind: CFString =
  "LensAlgorithmKind"
/// One of `kVTCameraCalibrationLensDomain_`.
public nonisolated(unsafe) let kVTCompressionPropertyCameraCalibrationKey_LensDomain: CFString = "LensDomain"
/// Number.
public nonisolated(unsafe) let kVTCompressionPropertyCameraCalibrationKey_LensIdentifier: CFString =
  "LensIdentifier"
/// One of `kVTCameraCalibrationLensRole_`.
public nonisolated(unsafe) let kVTCompressionPropertyCameraCalibrationKey_LensRole: CFString = "LensRole"
/// Array of numbers.
public nonisolated(unsafe) let kVTCompressionPropertyCameraCalibrationKey_LensDistortions: CFString =
  "LensDistortions"
/// Array of three numbers.
public nonisolated(unsafe) let kVTCompressionPropertyCameraCalibrationKey_LensFrameAdjustmentsPolynomialX:
  CFString = "LensFrameAdjustmentsPolynomialX"
/// Array of three numbers.
public nonisolated(unsafe) let kVTCompressionPropertyCameraCalibrationKey_LensFrameAdjustmentsPolynomialY:
  CFString = "LensFrameAdjustmentsPolynomialY"
/// In degrees. Number.
public nonisolated(unsafe) let kVTCompressionPropertyCameraCalibrationKey_RadialAngleLimit: CFString =
  "RadialAngleLimit"
/// Nine numbers, row by row.
public nonisolated(unsafe) let kVTCompressionPropertyCameraCalibrationKey_IntrinsicMatrix: CFString =
  "IntrinsicMatrix"
/// Number.
public nonisolated(unsafe) let kVTCompressionPropertyCameraCalibrationKey_IntrinsicMatrixProjectionOffset:
  CFString = "IntrinsicMatrixProjectionOffset"
/// The size that the matrix is for. Dictionary.
public nonisolated(unsafe) let kVTCompressionPropertyCameraCalibrationKey_IntrinsicMatrixReferenceDimensions:
  CFString = "IntrinsicMatrixReferenceDimensions"
/// One of `kVTCameraCalibrationExtrinsicOriginSource_`.
public nonisolated(unsafe) let kVTCompressionPropertyCameraCalibrationKey_ExtrinsicOriginSource: CFString =
  "ExtrinsicOriginSource"
/// Three numbers.
public nonisolated(unsafe) let kVTCompressionPropertyCameraCalibrationKey_ExtrinsicOrientationQuaternion:
  CFString = "ExtrinsicOrientationQuaternion"
/// A lens by its parameters.
public nonisolated(unsafe) let kVTCameraCalibrationLensAlgorithmKind_ParametricLens: CFString =
  "ParametricLens"
/// A lens for colour.
public nonisolated(unsafe) let kVTCameraCalibrationLensDomain_Color: CFString = "Color"
/// The only lens.
public nonisolated(unsafe) let kVTCameraCalibrationLensRole_Mono: CFString = "Mono"
/// The left eye's lens.
public nonisolated(unsafe) let kVTCameraCalibrationLensRole_Left: CFString = "Left"
/// The right eye's lens.
public nonisolated(unsafe) let kVTCameraCalibrationLensRole_Right: CFString = "Right"
/// The middle between the lenses.
public nonisolated(unsafe) let kVTCameraCalibrationExtrinsicOriginSource_StereoCameraSystemBaseline:
  CFString = "StereoCameraSystemBaseline"

// MARK: - Whether this machine does it

/// Whether there is an encoder of MV-HEVC: no.
public func VTIsStereoMVHEVCEncodeSupported() -> Bool { false }
/// Returns whether a decoder outputs all views of MV-HEVC, which is false. The base view is decoded
/// like other HEVC.
public func VTIsStereoMVHEVCDecodeSupported() -> Bool { false }
