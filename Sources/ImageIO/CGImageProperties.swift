// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

// Keys of the properties of an image. `CGImageSourceCopyPropertiesAtIndex` returns those that the
// file contains.

/// The orientation of the image, the raw value of a `CGImagePropertyOrientation` (number).
public nonisolated(unsafe) let kCGImagePropertyOrientation: CFString = "Orientation"
/// The horizontal resolution in pixels per inch (number).
public nonisolated(unsafe) let kCGImagePropertyDPIWidth: CFString = "DPIWidth"
/// The vertical resolution in pixels per inch (number).
public nonisolated(unsafe) let kCGImagePropertyDPIHeight: CFString = "DPIHeight"
/// The TIFF fields of the file, a dictionary with the keys `kCGImagePropertyTIFF...`.
public nonisolated(unsafe) let kCGImagePropertyTIFFDictionary: CFString = "{TIFF}"
/// The Exif fields of the file, a dictionary with the keys `kCGImagePropertyExif...`.
public nonisolated(unsafe) let kCGImagePropertyExifDictionary: CFString = "{Exif}"

/// The orientation of a stored image: the sides of the displayed image on which its first row and
/// its first column are (TIFF 6.0, Orientation).
public enum CGImagePropertyOrientation: UInt32, Sendable {
  /// Row 0 is the top, column 0 the left side.
  case up = 1
  /// Row 0 is the top, column 0 the right side.
  case upMirrored = 2
  /// Row 0 is the bottom, column 0 the right side.
  case down = 3
  /// Row 0 is the bottom, column 0 the left side.
  case downMirrored = 4
  /// Row 0 is the left side, column 0 the top.
  case leftMirrored = 5
  /// Row 0 is the right side, column 0 the top.
  case right = 6
  /// Row 0 is the right side, column 0 the bottom.
  case rightMirrored = 7
  /// Row 0 is the left side, column 0 the bottom.
  case left = 8
}

// MARK: - TIFF

/// The compression scheme (number).
public nonisolated(unsafe) let kCGImagePropertyTIFFCompression: CFString = "Compression"
/// The color space of the sample values (number).
public nonisolated(unsafe) let kCGImagePropertyTIFFPhotometricInterpretation: CFString =
  "PhotometricInterpretation"
/// The name of the document (string).
public nonisolated(unsafe) let kCGImagePropertyTIFFDocumentName: CFString = "DocumentName"
/// The description of the image (string).
public nonisolated(unsafe) let kCGImagePropertyTIFFImageDescription: CFString = "ImageDescription"
/// The manufacturer of the camera (string).
public nonisolated(unsafe) let kCGImagePropertyTIFFMake: CFString = "Make"
/// The model of the camera (string).
public nonisolated(unsafe) let kCGImagePropertyTIFFModel: CFString = "Model"
/// The orientation, the raw value of a `CGImagePropertyOrientation` (number).
public nonisolated(unsafe) let kCGImagePropertyTIFFOrientation: CFString = "Orientation"
/// The horizontal resolution in pixels per `ResolutionUnit` (number).
public nonisolated(unsafe) let kCGImagePropertyTIFFXResolution: CFString = "XResolution"
/// The vertical resolution in pixels per `ResolutionUnit` (number).
public nonisolated(unsafe) let kCGImagePropertyTIFFYResolution: CFString = "YResolution"
/// The unit of the resolution (number): 2 for inches, 3 for centimeters.
public nonisolated(unsafe) let kCGImagePropertyTIFFResolutionUnit: CFString = "ResolutionUnit"
/// The transfer function, as a table (array of numbers).
public nonisolated(unsafe) let kCGImagePropertyTIFFTransferFunction: CFString = "TransferFunction"
/// The name and version of the software that created the image (string).
public nonisolated(unsafe) let kCGImagePropertyTIFFSoftware: CFString = "Software"
/// The date and time of the last change, as "YYYY:MM:DD HH:MM:SS" (string).
public nonisolated(unsafe) let kCGImagePropertyTIFFDateTime: CFString = "DateTime"
/// The creator of the image (string).
public nonisolated(unsafe) let kCGImagePropertyTIFFArtist: CFString = "Artist"
/// The computer that created the image (string).
public nonisolated(unsafe) let kCGImagePropertyTIFFHostComputer: CFString = "HostComputer"
/// The copyright notice (string).
public nonisolated(unsafe) let kCGImagePropertyTIFFCopyright: CFString = "Copyright"
/// The chromaticity of the white point (array of two numbers, x and y).
public nonisolated(unsafe) let kCGImagePropertyTIFFWhitePoint: CFString = "WhitePoint"
/// The chromaticities of the primaries (array of six numbers, x and y of red, green and blue).
public nonisolated(unsafe) let kCGImagePropertyTIFFPrimaryChromaticities: CFString = "PrimaryChromaticities"
/// The width of a tile in pixels (number).
public nonisolated(unsafe) let kCGImagePropertyTIFFTileWidth: CFString = "TileWidth"
/// The height of a tile in pixels (number).
public nonisolated(unsafe) let kCGImagePropertyTIFFTileLength: CFString = "TileLength"
