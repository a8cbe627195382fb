// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

// Keys of the fields of Exif 2.32 (CIPA DC-008, JEITA CP-3451), which defines their values.

/// The exposure time in seconds (number).
public nonisolated(unsafe) let kCGImagePropertyExifExposureTime: CFString = "ExposureTime"
/// The f-number of the lens (number).
public nonisolated(unsafe) let kCGImagePropertyExifFNumber: CFString = "FNumber"
/// The program that set the exposure (number).
public nonisolated(unsafe) let kCGImagePropertyExifExposureProgram: CFString = "ExposureProgram"
/// The spectral sensitivity of each channel (string).
public nonisolated(unsafe) let kCGImagePropertyExifSpectralSensitivity: CFString = "SpectralSensitivity"
/// The ISO speed ratings (array of numbers).
public nonisolated(unsafe) let kCGImagePropertyExifISOSpeedRatings: CFString = "ISOSpeedRatings"
/// The opto-electronic conversion function, as bytes (array of numbers).
public nonisolated(unsafe) let kCGImagePropertyExifOECF: CFString = "OECF"
/// Which of the sensitivity values below `ISOSpeedRatings` contains (number).
public nonisolated(unsafe) let kCGImagePropertyExifSensitivityType: CFString = "SensitivityType"
/// The standard output sensitivity (number).
public nonisolated(unsafe) let kCGImagePropertyExifStandardOutputSensitivity: CFString =
  "StandardOutputSensitivity"
/// The recommended exposure index (number).
public nonisolated(unsafe) let kCGImagePropertyExifRecommendedExposureIndex: CFString =
  "RecommendedExposureIndex"
/// The ISO speed (number).
public nonisolated(unsafe) let kCGImagePropertyExifISOSpeed: CFString = "ISOSpeed"
/// The ISO speed latitude yyy (number).
public nonisolated(unsafe) let kCGImagePropertyExifISOSpeedLatitudeyyy: CFString = "ISOSpeedLatitudeyyy"
/// The ISO speed latitude zzz (number).
public nonisolated(unsafe) let kCGImagePropertyExifISOSpeedLatitudezzz: CFString = "ISOSpeedLatitudezzz"
/// The digits of the Exif version without leading zeros (array of numbers): "0232" becomes 2, 3, 2.
public nonisolated(unsafe) let kCGImagePropertyExifVersion: CFString = "ExifVersion"
/// The date and time when the image was taken (string).
public nonisolated(unsafe) let kCGImagePropertyExifDateTimeOriginal: CFString = "DateTimeOriginal"
/// The date and time when the image was digitized (string).
public nonisolated(unsafe) let kCGImagePropertyExifDateTimeDigitized: CFString = "DateTimeDigitized"
/// The offset of `DateTime` from UTC, as "+HH:MM" or "-HH:MM" (string).
public nonisolated(unsafe) let kCGImagePropertyExifOffsetTime: CFString = "OffsetTime"
/// The offset of `DateTimeOriginal` from UTC (string).
public nonisolated(unsafe) let kCGImagePropertyExifOffsetTimeOriginal: CFString = "OffsetTimeOriginal"
/// The offset of `DateTimeDigitized` from UTC (string).
public nonisolated(unsafe) let kCGImagePropertyExifOffsetTimeDigitized: CFString = "OffsetTimeDigitized"
/// The meaning of each component (array of numbers).
public nonisolated(unsafe) let kCGImagePropertyExifComponentsConfiguration: CFString =
  "ComponentsConfiguration"
/// The compressed size in bits per pixel (number).
public nonisolated(unsafe) let kCGImagePropertyExifCompressedBitsPerPixel: CFString =
  "CompressedBitsPerPixel"
/// The shutter speed as an APEX value (number).
public nonisolated(unsafe) let kCGImagePropertyExifShutterSpeedValue: CFString = "ShutterSpeedValue"
/// The aperture as an APEX value (number).
public nonisolated(unsafe) let kCGImagePropertyExifApertureValue: CFString = "ApertureValue"
/// The brightness as an APEX value (number).
public nonisolated(unsafe) let kCGImagePropertyExifBrightnessValue: CFString = "BrightnessValue"
/// The exposure bias as an APEX value (number).
public nonisolated(unsafe) let kCGImagePropertyExifExposureBiasValue: CFString = "ExposureBiasValue"
/// The largest aperture of the lens as an APEX value (number).
public nonisolated(unsafe) let kCGImagePropertyExifMaxApertureValue: CFString = "MaxApertureValue"
/// The distance to the subject in meters (number).
public nonisolated(unsafe) let kCGImagePropertyExifSubjectDistance: CFString = "SubjectDistance"
/// The metering mode (number).
public nonisolated(unsafe) let kCGImagePropertyExifMeteringMode: CFString = "MeteringMode"
/// The kind of light source (number).
public nonisolated(unsafe) let kCGImagePropertyExifLightSource: CFString = "LightSource"
/// The state of the flash (number, a bit field).
public nonisolated(unsafe) let kCGImagePropertyExifFlash: CFString = "Flash"
/// The focal length of the lens in millimeters (number).
public nonisolated(unsafe) let kCGImagePropertyExifFocalLength: CFString = "FocalLength"
/// The location and area of the main subject in pixels (array of numbers).
public nonisolated(unsafe) let kCGImagePropertyExifSubjectArea: CFString = "SubjectArea"
/// Data in the manufacturer's own format. It is not read.
public nonisolated(unsafe) let kCGImagePropertyExifMakerNote: CFString = "MakerNote"
/// A comment by the user (string).
public nonisolated(unsafe) let kCGImagePropertyExifUserComment: CFString = "UserComment"
/// The fraction of a second of `DateTime` (string of digits).
public nonisolated(unsafe) let kCGImagePropertyExifSubsecTime: CFString = "SubsecTime"
/// The fraction of a second of `DateTimeOriginal` (string of digits).
public nonisolated(unsafe) let kCGImagePropertyExifSubsecTimeOriginal: CFString = "SubsecTimeOriginal"
/// The fraction of a second of `DateTimeDigitized` (string of digits).
public nonisolated(unsafe) let kCGImagePropertyExifSubsecTimeDigitized: CFString = "SubsecTimeDigitized"
/// The digits of the FlashPix version without leading zeros (array of numbers).
public nonisolated(unsafe) let kCGImagePropertyExifFlashPixVersion: CFString = "FlashPixVersion"
/// The color space (number): 1 for sRGB, 65535 for uncalibrated.
public nonisolated(unsafe) let kCGImagePropertyExifColorSpace: CFString = "ColorSpace"
/// The width of the image in pixels (number).
public nonisolated(unsafe) let kCGImagePropertyExifPixelXDimension: CFString = "PixelXDimension"
/// The height of the image in pixels (number).
public nonisolated(unsafe) let kCGImagePropertyExifPixelYDimension: CFString = "PixelYDimension"
/// The name of an audio file that belongs to the image (string).
public nonisolated(unsafe) let kCGImagePropertyExifRelatedSoundFile: CFString = "RelatedSoundFile"
/// The energy of the flash in beam candle power seconds (number).
public nonisolated(unsafe) let kCGImagePropertyExifFlashEnergy: CFString = "FlashEnergy"
/// The spatial frequency response, as bytes (array of numbers).
public nonisolated(unsafe) let kCGImagePropertyExifSpatialFrequencyResponse: CFString =
  "SpatialFrequencyResponse"
/// The horizontal resolution of the focal plane in pixels per `FocalPlaneResolutionUnit` (number).
public nonisolated(unsafe) let kCGImagePropertyExifFocalPlaneXResolution: CFString = "FocalPlaneXResolution"
/// The vertical resolution of the focal plane in pixels per `FocalPlaneResolutionUnit` (number).
public nonisolated(unsafe) let kCGImagePropertyExifFocalPlaneYResolution: CFString = "FocalPlaneYResolution"
/// The unit of the focal plane's resolution (number): 2 for inches, 3 for centimeters.
public nonisolated(unsafe) let kCGImagePropertyExifFocalPlaneResolutionUnit: CFString =
  "FocalPlaneResolutionUnit"
/// The location of the main subject in pixels (array of two numbers, x and y).
public nonisolated(unsafe) let kCGImagePropertyExifSubjectLocation: CFString = "SubjectLocation"
/// The exposure index (number).
public nonisolated(unsafe) let kCGImagePropertyExifExposureIndex: CFString = "ExposureIndex"
/// The kind of image sensor (number).
public nonisolated(unsafe) let kCGImagePropertyExifSensingMethod: CFString = "SensingMethod"
/// The source of the image (number): 3 for a digital still camera.
public nonisolated(unsafe) let kCGImagePropertyExifFileSource: CFString = "FileSource"
/// The type of the scene (number): 1 for a directly photographed image.
public nonisolated(unsafe) let kCGImagePropertyExifSceneType: CFString = "SceneType"
/// The color filter array pattern, as bytes (array of numbers).
public nonisolated(unsafe) let kCGImagePropertyExifCFAPattern: CFString = "CFAPattern"
/// Whether the image was specially processed (number): 0 for no, 1 for yes.
public nonisolated(unsafe) let kCGImagePropertyExifCustomRendered: CFString = "CustomRendered"
/// The exposure mode (number).
public nonisolated(unsafe) let kCGImagePropertyExifExposureMode: CFString = "ExposureMode"
/// The white balance mode (number): 0 for automatic, 1 for manual.
public nonisolated(unsafe) let kCGImagePropertyExifWhiteBalance: CFString = "WhiteBalance"
/// The digital zoom ratio (number).
public nonisolated(unsafe) let kCGImagePropertyExifDigitalZoomRatio: CFString = "DigitalZoomRatio"
/// The equivalent focal length of 35 mm film in millimeters (number).
public nonisolated(unsafe) let kCGImagePropertyExifFocalLenIn35mmFilm: CFString = "FocalLenIn35mmFilm"
/// The kind of scene (number).
public nonisolated(unsafe) let kCGImagePropertyExifSceneCaptureType: CFString = "SceneCaptureType"
/// The degree of gain adjustment (number).
public nonisolated(unsafe) let kCGImagePropertyExifGainControl: CFString = "GainControl"
/// The contrast setting (number).
public nonisolated(unsafe) let kCGImagePropertyExifContrast: CFString = "Contrast"
/// The saturation setting (number).
public nonisolated(unsafe) let kCGImagePropertyExifSaturation: CFString = "Saturation"
/// The sharpness setting (number).
public nonisolated(unsafe) let kCGImagePropertyExifSharpness: CFString = "Sharpness"
/// The settings of the device, as bytes (array of numbers).
public nonisolated(unsafe) let kCGImagePropertyExifDeviceSettingDescription: CFString =
  "DeviceSettingDescription"
/// The range of the distance to the subject (number).
public nonisolated(unsafe) let kCGImagePropertyExifSubjectDistRange: CFString = "SubjectDistRange"
/// An identifier of the image, 32 hexadecimal digits (string).
public nonisolated(unsafe) let kCGImagePropertyExifImageUniqueID: CFString = "ImageUniqueID"
/// The owner of the camera (string).
public nonisolated(unsafe) let kCGImagePropertyExifCameraOwnerName: CFString = "CameraOwnerName"
/// The serial number of the camera (string).
public nonisolated(unsafe) let kCGImagePropertyExifBodySerialNumber: CFString = "BodySerialNumber"
/// The minimum and maximum focal length in millimeters, and the smallest f-number at each (array of
/// four numbers).
public nonisolated(unsafe) let kCGImagePropertyExifLensSpecification: CFString = "LensSpecification"
/// The manufacturer of the lens (string).
public nonisolated(unsafe) let kCGImagePropertyExifLensMake: CFString = "LensMake"
/// The model of the lens (string).
public nonisolated(unsafe) let kCGImagePropertyExifLensModel: CFString = "LensModel"
/// The serial number of the lens (string).
public nonisolated(unsafe) let kCGImagePropertyExifLensSerialNumber: CFString = "LensSerialNumber"
/// Whether the image is composed of several images (number).
public nonisolated(unsafe) let kCGImagePropertyExifCompositeImage: CFString = "CompositeImage"
/// The number of source images of a composite image, and of those used (array of two numbers).
public nonisolated(unsafe) let kCGImagePropertyExifSourceImageNumberOfCompositeImage: CFString =
  "SourceImageNumberOfCompositeImage"
/// The exposure times of a composite image's source images, as bytes (array of numbers).
public nonisolated(unsafe) let kCGImagePropertyExifSourceExposureTimesOfCompositeImage: CFString =
  "SourceExposureTimesOfCompositeImage"
/// The gamma exponent (number).
public nonisolated(unsafe) let kCGImagePropertyExifGamma: CFString = "Gamma"
