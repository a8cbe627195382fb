// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

// Extensions that describe stereo views, projections, the lenses of a camera and its log curve. A
// description stores them like any other extension; none of them is derived from a stream.

// MARK: - Colour

/// The number of bits of a component (number).
public nonisolated(unsafe) let kCMFormatDescriptionExtension_BitsPerComponent: CFString = "BitsPerComponent"
/// The log curve: one of `kCMFormatDescriptionLogTransferFunction_*`.
public nonisolated(unsafe) let kCMFormatDescriptionExtension_LogTransferFunction: CFString =
  "LogTransferFunction"
/// The curve of Apple Log.
public nonisolated(unsafe) let kCMFormatDescriptionLogTransferFunction_AppleLog: CFString =
  "com.apple.rec2020.apple-log"
/// The ambient viewing environment: 8 bytes, as in the SEI message of that name.
public nonisolated(unsafe) let kCMFormatDescriptionExtension_AmbientViewingEnvironment: CFString =
  "AmbientViewingEnvironment"
/// The colours that the content uses: data as in the SEI message of that name.
public nonisolated(unsafe) let kCMFormatDescriptionExtension_ContentColorVolume: CFString =
  "ContentColorVolume"

// MARK: - Stereo views

/// Whether there is a view for the left eye (Boolean).
public nonisolated(unsafe) let kCMFormatDescriptionExtension_HasLeftStereoEyeView: CFString =
  "HasLeftStereoEyeView"
/// Whether there is a view for the right eye (Boolean).
public nonisolated(unsafe) let kCMFormatDescriptionExtension_HasRightStereoEyeView: CFString =
  "HasRightStereoEyeView"
/// Whether there are further views (Boolean).
public nonisolated(unsafe) let kCMFormatDescriptionExtension_HasAdditionalViews: CFString =
  "HasAdditionalViews"
/// The eye whose view is shown where only one view is: one of `kCMFormatDescriptionHeroEye_*`.
public nonisolated(unsafe) let kCMFormatDescriptionExtension_HeroEye: CFString = "HeroEye"
/// The left eye.
public nonisolated(unsafe) let kCMFormatDescriptionHeroEye_Left: CFString = "Left"
/// The right eye.
public nonisolated(unsafe) let kCMFormatDescriptionHeroEye_Right: CFString = "Right"
/// The distance between the centres of the lenses in micrometres (number).
public nonisolated(unsafe) let kCMFormatDescriptionExtension_StereoCameraBaseline: CFString =
  "StereoCameraBaseline"
/// The horizontal shift of the views against each other: -10000 to 10000 for -1 to 1 times the
/// width (number).
public nonisolated(unsafe) let kCMFormatDescriptionExtension_HorizontalDisparityAdjustment: CFString =
  "HorizontalDisparityAdjustment"
/// The horizontal field of view in thousandths of a degree (number).
public nonisolated(unsafe) let kCMFormatDescriptionExtension_HorizontalFieldOfView: CFString =
  "HorizontalFieldOfView"
/// The arrangement of two views in a picture: one of `kCMFormatDescriptionViewPackingKind_*`.
public nonisolated(unsafe) let kCMFormatDescriptionExtension_ViewPackingKind: CFString = "ViewPackingKind"
/// The views are in the left and right halves.
public nonisolated(unsafe) let kCMFormatDescriptionViewPackingKind_SideBySide: CFString = "SideBySide"
/// The views are in the upper and lower halves.
public nonisolated(unsafe) let kCMFormatDescriptionViewPackingKind_OverUnder: CFString = "OverUnder"

// MARK: - Projection

/// The projection of a picture onto the sphere around the viewer: one of
/// `kCMFormatDescriptionProjectionKind_*`.
public nonisolated(unsafe) let kCMFormatDescriptionExtension_ProjectionKind: CFString = "ProjectionKind"
/// A flat projection, as of an ordinary lens.
public nonisolated(unsafe) let kCMFormatDescriptionProjectionKind_Rectilinear: CFString = "Rectilinear"
/// An equirectangular projection of 360 degrees.
public nonisolated(unsafe) let kCMFormatDescriptionProjectionKind_Equirectangular: CFString =
  "Equirectangular"
/// An equirectangular projection of 180 degrees.
public nonisolated(unsafe) let kCMFormatDescriptionProjectionKind_HalfEquirectangular: CFString =
  "HalfEquirectangular"
/// A projection given by the calibration of a wide-angle lens.
public nonisolated(unsafe) let kCMFormatDescriptionProjectionKind_ParametricImmersive: CFString =
  "ParametricImmersive"
/// Apple Immersive Video.
public nonisolated(unsafe) let kCMFormatDescriptionProjectionKind_AppleImmersiveVideo: CFString =
  "AppleImmersiveVideo"
/// Whether the projection was derived from metadata of another format (Boolean).
public nonisolated(unsafe) let kCMFormatDescriptionExtension_ConvertedFromExternalSphericalTags: CFString =
  "ConvertedFromExternalSphericalTags"

// MARK: - A camera's lenses

/// The calibration of each lens: an array of dictionaries with the keys below.
public nonisolated(unsafe) let kCMFormatDescriptionExtension_CameraCalibrationDataLensCollection: CFString =
  "CameraCalibrationDataLensCollection"
/// The model of the lens: one of `kCMFormatDescriptionCameraCalibrationLensAlgorithmKind_*`.
public nonisolated(unsafe) let kCMFormatDescriptionCameraCalibration_LensAlgorithmKind: CFString =
  "LensAlgorithmKind"
/// The domain of the lens: one of `kCMFormatDescriptionCameraCalibrationLensDomain_*`.
public nonisolated(unsafe) let kCMFormatDescriptionCameraCalibration_LensDomain: CFString = "LensDomain"
/// The identifier of the lens (number).
public nonisolated(unsafe) let kCMFormatDescriptionCameraCalibration_LensIdentifier: CFString =
  "LensIdentifier"
/// The role of the lens: one of `kCMFormatDescriptionCameraCalibrationLensRole_*`.
public nonisolated(unsafe) let kCMFormatDescriptionCameraCalibration_LensRole: CFString = "LensRole"
/// The distortion coefficients of the lens (array of numbers).
public nonisolated(unsafe) let kCMFormatDescriptionCameraCalibration_LensDistortions: CFString =
  "LensDistortions"
/// The coefficients of the horizontal frame adjustment (array of three numbers).
public nonisolated(unsafe) let kCMFormatDescriptionCameraCalibration_LensFrameAdjustmentsPolynomialX:
  CFString = "LensFrameAdjustmentsPolynomialX"
/// The coefficients of the vertical frame adjustment (array of three numbers).
public nonisolated(unsafe) let kCMFormatDescriptionCameraCalibration_LensFrameAdjustmentsPolynomialY:
  CFString = "LensFrameAdjustmentsPolynomialY"
/// The largest angle from the optical axis in degrees (number).
public nonisolated(unsafe) let kCMFormatDescriptionCameraCalibration_RadialAngleLimit: CFString =
  "RadialAngleLimit"
/// The intrinsic matrix of the camera: nine numbers, row by row.
public nonisolated(unsafe) let kCMFormatDescriptionCameraCalibration_IntrinsicMatrix: CFString =
  "IntrinsicMatrix"
/// The projection offset of the intrinsic matrix (number).
public nonisolated(unsafe) let kCMFormatDescriptionCameraCalibration_IntrinsicMatrixProjectionOffset:
  CFString = "IntrinsicMatrixProjectionOffset"
/// The dimensions that the intrinsic matrix refers to (dictionary).
public nonisolated(unsafe) let kCMFormatDescriptionCameraCalibration_IntrinsicMatrixReferenceDimensions:
  CFString = "IntrinsicMatrixReferenceDimensions"
/// The origin of the extrinsic parameters: one of
/// `kCMFormatDescriptionCameraCalibrationExtrinsicOriginSource_*`.
public nonisolated(unsafe) let kCMFormatDescriptionCameraCalibration_ExtrinsicOriginSource: CFString =
  "ExtrinsicOriginSource"
/// The orientation of the camera as a quaternion (three numbers).
public nonisolated(unsafe) let kCMFormatDescriptionCameraCalibration_ExtrinsicOrientationQuaternion:
  CFString = "ExtrinsicOrientationQuaternion"
/// The lens is described by parameters.
public nonisolated(unsafe) let kCMFormatDescriptionCameraCalibrationLensAlgorithmKind_ParametricLens:
  CFString = "ParametricLens"
/// The lens is used for colour pictures.
public nonisolated(unsafe) let kCMFormatDescriptionCameraCalibrationLensDomain_Color: CFString = "Color"
/// The lens is the only one.
public nonisolated(unsafe) let kCMFormatDescriptionCameraCalibrationLensRole_Mono: CFString = "Mono"
/// The lens is that of the left eye.
public nonisolated(unsafe) let kCMFormatDescriptionCameraCalibrationLensRole_Left: CFString = "Left"
/// The lens is that of the right eye.
public nonisolated(unsafe) let kCMFormatDescriptionCameraCalibrationLensRole_Right: CFString = "Right"
/// The origin is the midpoint between the lenses.
public nonisolated(unsafe)
  let kCMFormatDescriptionCameraCalibrationExtrinsicOriginSource_StereoCameraSystemBaseline: CFString =
    "StereoCameraSystemBaseline"
