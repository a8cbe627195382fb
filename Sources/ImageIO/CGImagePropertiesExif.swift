// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

// Fields of Exif 2.32 (JEITA CP-3451), which is what the values mean.

/// Seconds. Number.
public nonisolated(unsafe) let kCGImagePropertyExifExposureTime: CFString = "ExposureTime"
/// Number.
public nonisolated(unsafe) let kCGImagePropertyExifFNumber: CFString = "FNumber"
/// Number.
public nonisolated(unsafe) let kCGImagePropertyExifExposureProgram: CFString = "ExposureProgram"
/// String.
public nonisolated(unsafe) let kCGImagePropertyExifSpectralSensitivity: CFString = "SpectralSensitivity"
/// Array of numbers.
public nonisolated(unsafe) let kCGImagePropertyExifISOSpeedRatings: CFString = "ISOSpeedRatings"
/// Bytes, as an array of numbers.
public nonisolated(unsafe) let kCGImagePropertyExifOECF: CFString = "OECF"
/// Number.
public nonisolated(unsafe) let kCGImagePropertyExifSensitivityType: CFString = "SensitivityType"
/// Number.
public nonisolated(unsafe) let kCGImagePropertyExifStandardOutputSensitivity: CFString =
  "StandardOutputSensitivity"
/// Number.
public nonisolated(unsafe) let kCGImagePropertyExifRecommendedExposureIndex: CFString =
  "RecommendedExposureIndex"
/// Number.
public nonisolated(unsafe) let kCGImagePropertyExifISOSpeed: CFString = "ISOSpeed"
/// Number.
public nonisolated(unsafe) let kCGImagePropertyExifISOSpeedLatitudeyyy: CFString = "ISOSpeedLatitudeyyy"
/// Number.
public nonisolated(unsafe) let kCGImagePropertyExifISOSpeedLatitudezzz: CFString = "ISOSpeedLatitudezzz"
/// Array of numbers, "0232" as 2, 3, 2 without leading zeros.
public nonisolated(unsafe) let kCGImagePropertyExifVersion: CFString = "ExifVersion"
/// When the picture was taken. String.
public nonisolated(unsafe) let kCGImagePropertyExifDateTimeOriginal: CFString = "DateTimeOriginal"
/// String.
public nonisolated(unsafe) let kCGImagePropertyExifDateTimeDigitized: CFString = "DateTimeDigitized"
/// Hours from UTC of `DateTime`. String.
public nonisolated(unsafe) let kCGImagePropertyExifOffsetTime: CFString = "OffsetTime"
/// String.
public nonisolated(unsafe) let kCGImagePropertyExifOffsetTimeOriginal: CFString = "OffsetTimeOriginal"
/// String.
public nonisolated(unsafe) let kCGImagePropertyExifOffsetTimeDigitized: CFString = "OffsetTimeDigitized"
/// Array of numbers.
public nonisolated(unsafe) let kCGImagePropertyExifComponentsConfiguration: CFString =
  "ComponentsConfiguration"
/// Number.
public nonisolated(unsafe) let kCGImagePropertyExifCompressedBitsPerPixel: CFString =
  "CompressedBitsPerPixel"
/// Number.
public nonisolated(unsafe) let kCGImagePropertyExifShutterSpeedValue: CFString = "ShutterSpeedValue"
/// Number.
public nonisolated(unsafe) let kCGImagePropertyExifApertureValue: CFString = "ApertureValue"
/// Number.
public nonisolated(unsafe) let kCGImagePropertyExifBrightnessValue: CFString = "BrightnessValue"
/// Number.
public nonisolated(unsafe) let kCGImagePropertyExifExposureBiasValue: CFString = "ExposureBiasValue"
/// Number.
public nonisolated(unsafe) let kCGImagePropertyExifMaxApertureValue: CFString = "MaxApertureValue"
/// Metres. Number.
public nonisolated(unsafe) let kCGImagePropertyExifSubjectDistance: CFString = "SubjectDistance"
/// Number.
public nonisolated(unsafe) let kCGImagePropertyExifMeteringMode: CFString = "MeteringMode"
/// Number.
public nonisolated(unsafe) let kCGImagePropertyExifLightSource: CFString = "LightSource"
/// Number.
public nonisolated(unsafe) let kCGImagePropertyExifFlash: CFString = "Flash"
/// Millimetres. Number.
public nonisolated(unsafe) let kCGImagePropertyExifFocalLength: CFString = "FocalLength"
/// Array of numbers.
public nonisolated(unsafe) let kCGImagePropertyExifSubjectArea: CFString = "SubjectArea"
/// Bytes of a maker's own; not read.
public nonisolated(unsafe) let kCGImagePropertyExifMakerNote: CFString = "MakerNote"
/// String.
public nonisolated(unsafe) let kCGImagePropertyExifUserComment: CFString = "UserComment"
/// String.
public nonisolated(unsafe) let kCGImagePropertyExifSubsecTime: CFString = "SubsecTime"
/// String.
public nonisolated(unsafe) let kCGImagePropertyExifSubsecTimeOriginal: CFString = "SubsecTimeOriginal"
/// String.
public nonisolated(unsafe) let kCGImagePropertyExifSubsecTimeDigitized: CFString = "SubsecTimeDigitized"
/// Array of numbers.
public nonisolated(unsafe) let kCGImagePropertyExifFlashPixVersion: CFString = "FlashPixVersion"
/// 1: sRGB. Number.
public nonisolated(unsafe) let kCGImagePropertyExifColorSpace: CFString = "ColorSpace"
/// Pixels. Number.
public nonisolated(unsafe) let kCGImagePropertyExifPixelXDimension: CFString = "PixelXDimension"
/// Pixels. Number.
public nonisolated(unsafe) let kCGImagePropertyExifPixelYDimension: CFString = "PixelYDimension"
/// String.
public nonisolated(unsafe) let kCGImagePropertyExifRelatedSoundFile: CFString = "RelatedSoundFile"
/// Number.
public nonisolated(unsafe) let kCGImagePropertyExifFlashEnergy: CFString = "FlashEnergy"
/// Bytes, as an array of numbers.
public nonisolated(unsafe) let kCGImagePropertyExifSpatialFrequencyResponse: CFString =
  "SpatialFrequencyResponse"
/// Number.
public nonisolated(unsafe) let kCGImagePropertyExifFocalPlaneXResolution: CFString = "FocalPlaneXResolution"
/// Number.
public nonisolated(unsafe) let kCGImagePropertyExifFocalPlaneYResolution: CFString = "FocalPlaneYResolution"
/// Number.
public nonisolated(unsafe) let kCGImagePropertyExifFocalPlaneResolutionUnit: CFString =
  "FocalPlaneResolutionUnit"
/// Array of numbers.
public nonisolated(unsafe) let kCGImagePropertyExifSubjectLocation: CFString = "SubjectLocation"
/// Number.
public nonisolated(unsafe) let kCGImagePropertyExifExposureIndex: CFString = "ExposureIndex"
/// Number.
public nonisolated(unsafe) let kCGImagePropertyExifSensingMethod: CFString = "SensingMethod"
/// Number.
public nonisolated(unsafe) let kCGImagePropertyExifFileSource: CFString = "FileSource"
/// Number.
public nonisolated(unsafe) let kCGImagePropertyExifSceneType: CFString = "SceneType"
/// Bytes, as an array of numbers.
public nonisolated(unsafe) let kCGImagePropertyExifCFAPattern: CFString = "CFAPattern"
/// Number.
public nonisolated(unsafe) let kCGImagePropertyExifCustomRendered: CFString = "CustomRendered"
/// Number.
public nonisolated(unsafe) let kCGImagePropertyExifExposureMode: CFString = "ExposureMode"
/// Number.
public nonisolated(unsafe) let kCGImagePropertyExifWhiteBalance: CFString = "WhiteBalance"
/// Number.
public nonisolated(unsafe) let kCGImagePropertyExifDigitalZoomRatio: CFString = "DigitalZoomRatio"
/// Millimetres. Number.
public nonisolated(unsafe) let kCGImagePropertyExifFocalLenIn35mmFilm: CFString = "FocalLenIn35mmFilm"
/// Number.
public nonisolated(unsafe) let kCGImagePropertyExifSceneCaptureType: CFString = "SceneCaptureType"
/// Number.
public nonisolated(unsafe) let kCGImagePropertyExifGainControl: CFString = "GainControl"
/// Number.
public nonisolated(unsafe) let kCGImagePropertyExifContrast: CFString = "Contrast"
/// Number.
public nonisolated(unsafe) let kCGImagePropertyExifSaturation: CFString = "Saturation"
/// Number.
public nonisolated(unsafe) let kCGImagePropertyExifSharpness: CFString = "Sharpness"
/// Bytes, as an array of numbers.
public nonisolated(unsafe) let kCGImagePropertyExifDeviceSettingDescription: CFString =
  "DeviceSettingDescription"
/// Number.
public nonisolated(unsafe) let kCGImagePropertyExifSubjectDistRange: CFString = "SubjectDistRange"
/// String.
public nonisolated(unsafe) let kCGImagePropertyExifImageUniqueID: CFString = "ImageUniqueID"
/// String.
public nonisolated(unsafe) let kCGImagePropertyExifCameraOwnerName: CFString = "CameraOwnerName"
/// String.
public nonisolated(unsafe) let kCGImagePropertyExifBodySerialNumber: CFString = "BodySerialNumber"
/// Array of numbers.
public nonisolated(unsafe) let kCGImagePropertyExifLensSpecification: CFString = "LensSpecification"
/// String.
public nonisolated(unsafe) let kCGImagePropertyExifLensMake: CFString = "LensMake"
/// String.
public nonisolated(unsafe) let kCGImagePropertyExifLensModel: CFString = "LensModel"
/// String.
public nonisolated(unsafe) let kCGImagePropertyExifLensSerialNumber: CFString = "LensSerialNumber"
/// Number.
public nonisolated(unsafe) let kCGImagePropertyExifCompositeImage: CFString = "CompositeImage"
/// Array of numbers.
public nonisolated(unsafe) let kCGImagePropertyExifSourceImageNumberOfCompositeImage: CFString =
  "SourceImageNumberOfCompositeImage"
/// Bytes, as an array of numbers.
public nonisolated(unsafe) let kCGImagePropertyExifSourceExposureTimesOfCompositeImage: CFString =
  "SourceExposureTimesOfCompositeImage"
/// Number.
public nonisolated(unsafe) let kCGImagePropertyExifGamma: CFString = "Gamma"
