// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

// Extensions that describe stereo views, projections, a camera's lenses and its log curve. A description keeps them as
// any other extension; nothing here makes them from a stream.

// MARK: - Colour

/// Number.
public nonisolated(unsafe) let kCMFormatDescriptionExtension_BitsPerComponent: CFString = "BitsPerComponent"
/// One of `kCMFormatDescriptionLogTransferFunction_`.
public nonisolated(unsafe) let kCMFormatDescriptionExtension_LogTransferFunction: CFString =
  "LogTransferFunction"
/// The curve of Apple Log.
public nonisolated(unsafe) let kCMFormatDescriptionLogTransferFunction_AppleLog: CFString =
  "com.apple.rec2020.apple-log"
/// The light around the display: 8 bytes, as in the SEI message of that name.
public nonisolated(unsafe) let kCMFormatDescriptionExtension_AmbientViewingEnvironment: CFString =
  "AmbientViewingEnvironment"
/// The colours that the pictures use: bytes as in the SEI message of that name.
public nonisolated(unsafe) let kCMFormatDescriptionExtension_ContentColorVolume: CFString =
  "ContentColorVolume"

// MARK: - Stereo views

/// Boolean.
public nonisolated(unsafe) let kCMFormatDescriptionExtension_HasLeftStereoEyeView: CFString =
  "HasLeftStereoEyeView"
/// Boolean.
public nonisolated(unsafe) let kCMFormatDescriptionExtension_HasRightStereoEyeView: CFString =
  "HasRightStereoEyeView"
/// More views than those of the two eyes. Boolean.
public nonisolated(unsafe) let kCMFormatDescriptionExtension_HasAdditionalViews: CFString =
  "HasAdditionalViews"
/// The eye whose view is shown where only one is. One of `kCMFormatDescriptionHeroEye_`.
public nonisolated(unsafe) let kCMFormatDescriptionExtension_HeroEye: CFString = "HeroEye"
/// The left eye.
public nonisolated(unsafe) let kCMFormatDescriptionHeroEye_Left: CFString = "Left"
/// The right eye.
public nonisolated(unsafe) let kCMFormatDescriptionHeroEye_Right: CFString = "Right"
/// Distance between the lenses' centres, in micrometres. Number.
public nonisolated(unsafe) let kCMFormatDescriptionExtension_StereoCameraBaseline: CFString =
  "StereoCameraBaseline"
/// Shift of the views against each other, -10000 to 10000 for -1 to 1 of the width. Number.
public nonisolated(unsafe) let kCMFormatDescriptionExtension_HorizontalDisparityAdjustment: CFString =
  "HorizontalDisparityAdjustment"
/// In thousandths of a degree. Number.
public nonisolated(unsafe) let kCMFormatDescriptionExtension_HorizontalFieldOfView: CFString =
  "HorizontalFieldOfView"
/// How two views share a picture. One of `kCMFormatDescriptionViewPackingKind_`.
public nonisolated(unsafe) let kCMFormatDescriptionExtension_ViewPackingKind: CFString = "ViewPackingKind"
/// Left and right halves.
public nonisolated(unsafe) let kCMFormatDescriptionViewPackingKind_SideBySide: CFString = "SideBySide"
/// Upper and lower halves.
public nonisolated(unsafe) let kCMFormatDescriptionViewPackingKind_OverUnder: CFString = "OverUnder"

// MARK: - Projection

/// How a picture covers the sphere around the viewer. One of `kCMFormatDescriptionProjectionKind_`.
public nonisolated(unsafe) let kCMFormatDescriptionExtension_ProjectionKind: CFString = "ProjectionKind"
/// Flat, as of an ordinary lens.
public nonisolated(unsafe) let kCMFormatDescriptionProjectionKind_Rectilinear: CFString = "Rectilinear"
/// All around: 360 degrees.
public nonisolated(unsafe) let kCMFormatDescriptionProjectionKind_Equirectangular: CFString =
  "Equirectangular"
/// In front: 180 degrees.
public nonisolated(unsafe) let kCMFormatDescriptionProjectionKind_HalfEquirectangular: CFString =
  "HalfEquirectangular"
/// By the calibration of a wide lens.
public nonisolated(unsafe) let kCMFormatDescriptionProjectionKind_ParametricImmersive: CFString =
  "ParametricImmersive"
/// Apple's own format.
public nonisolated(unsafe) let kCMFormatDescriptionProjectionKind_AppleImmersiveVideo: CFString =
  "AppleImmersiveVideo"
/// The projection was found in tags of another kind. Boolean.
public nonisolated(unsafe) let kCMFormatDescriptionExtension_ConvertedFromExternalSphericalTags: CFString =
  "ConvertedFromExternalSphericalTags"

// MARK: - A camera's lenses

/// The calibration of each lens. Array of dictionaries of the keys below.
public nonisolated(unsafe) let kCMFormatDescriptionExtension_CameraCalibrationDataLensCollection: CFString =
  "CameraCalibrationDataLensCollection"
/// One of `kCMFormatDescriptionCameraCalibrationLensAlgorithmKind_`.
public nonisolated(unsafe) let kCMFormatDescriptionCameraCalibration_LensAlgorithmKind: CFString =
  "LensAlgorithmKind"
/// One of `kCMFormatDescriptionCameraCalibrationLensDomain_`.
public nonisolated(unsafe) let kCMFormatDescriptionCameraCalibration_LensDomain: CFString = "LensDomain"
/// Number.
public nonisolated(unsafe) let kCMFormatDescriptionCameraCalibration_LensIdentifier: CFString =
  "LensIdentifier"
/// One of `kCMFormatDescriptionCameraCalibrationLensRole_`.
public nonisolated(unsafe) let kCMFormatDescriptionCameraCalibration_LensRole: CFString = "LensRole"
/// Array of numbers.
public nonisolated(unsafe) let kCMFormatDescriptionCameraCalibration_LensDistortions: CFString =
  "LensDistortions"
/// Array of three numbers.
public nonisolated(unsafe) let kCMFormatDescriptionCameraCalibration_LensFrameAdjustmentsPolynomialX:
  CFString = "LensFrameAdjustmentsPolynomialX"
/// Array of three numbers.
public nonisolated(unsafe) let kCMFormatDescriptionCameraCalibration_LensFrameAdjustmentsPolynomialY:
  CFString = "LensFrameAdjustmentsPolynomialY"
/// In degrees. Number.
public nonisolated(unsafe) let kCMFormatDescriptionCameraCalibration_RadialAngleLimit: CFString =
  "RadialAngleLimit"
/// Nine numbers, row by row.
public nonisolated(unsafe) let kCMFormatDescriptionCameraCalibration_IntrinsicMatrix: CFString =
  "IntrinsicMatrix"
/// Number.
public nonisolated(unsafe) let kCMFormatDescriptionCameraCalibration_IntrinsicMatrixProjectionOffset:
  CFString = "IntrinsicMatrixProjectionOffset"
/// The size that the matrix is for. Dictionary.
public nonisolated(unsafe) let kCMFormatDescriptionCameraCalibration_IntrinsicMatrixReferenceDimensions:
  CFString = "IntrinsicMatrixReferenceDimensions"
/// One of `kCMFormatDescriptionCameraCalibrationExtrinsicOriginSource_`.
public nonisolated(unsafe) let kCMFormatDescriptionCameraCalibration_ExtrinsicOriginSource: CFString =
  "ExtrinsicOriginSource"
/// Three numbers.
public nonisolated(unsafe) let kCMFormatDescriptionCameraCalibration_ExtrinsicOrientationQuaternion:
  CFString = "ExtrinsicOrientationQuaternion"
/// A lens by its parameters.
public nonisolated(unsafe) let kCMFormatDescriptionCameraCalibrationLensAlgorithmKind_ParametricLens:
  CFString = "ParametricLens"
/// A lens for colour.
public nonisolated(unsafe) let kCMFormatDescriptionCameraCalibrationLensDomain_Color: CFString = "Color"
/// The only lens.
public nonisolated(unsafe) let kCMFormatDescriptionCameraCalibrationLensRole_Mono: CFString = "Mono"
/// The left eye's lens.
public nonisolated(unsafe) let kCMFormatDescriptionCameraCalibrationLensRole_Left: CFString = "Left"
/// The right eye's lens.
public nonisolated(unsafe) let kCMFormatDescriptionCameraCalibrationLensRole_Right: CFString = "Right"
/// The middle between the lenses.
public nonisolated(unsafe)
  let kCMFormatDescriptionCameraCalibrationExtrinsicOriginSource_StereoCameraSystemBaseline: CFString =
    "StereoCameraSystemBaseline"
