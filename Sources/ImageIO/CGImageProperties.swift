// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

// Keys of what a picture's file tells of it. `CGImageSourceCopyPropertiesAtIndex` has them where the file does.

/// How a picture is to be turned: see `CGImagePropertyOrientation`. Number.
public nonisolated(unsafe) let kCGImagePropertyOrientation: CFString = "Orientation"
/// Pixels in an inch. Number.
public nonisolated(unsafe) let kCGImagePropertyDPIWidth: CFString = "DPIWidth"
/// Pixels in an inch. Number.
public nonisolated(unsafe) let kCGImagePropertyDPIHeight: CFString = "DPIHeight"
/// What the file says in the fields of TIFF: a dictionary of the keys below.
public nonisolated(unsafe) let kCGImagePropertyTIFFDictionary: CFString = "{TIFF}"
/// What the file says in the fields of Exif: a dictionary of `kCGImagePropertyExif...`.
public nonisolated(unsafe) let kCGImagePropertyExifDictionary: CFString = "{Exif}"

/// How a picture is stored: where its first row and its first column are seen.
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

/// The compression scheme. Number.
public nonisolated(unsafe) let kCGImagePropertyTIFFCompression: CFString = "Compression"
/// What sample values mean. Number.
public nonisolated(unsafe) let kCGImagePropertyTIFFPhotometricInterpretation: CFString =
  "PhotometricInterpretation"
/// String.
public nonisolated(unsafe) let kCGImagePropertyTIFFDocumentName: CFString = "DocumentName"
/// String.
public nonisolated(unsafe) let kCGImagePropertyTIFFImageDescription: CFString = "ImageDescription"
/// The camera's maker. String.
public nonisolated(unsafe) let kCGImagePropertyTIFFMake: CFString = "Make"
/// The camera. String.
public nonisolated(unsafe) let kCGImagePropertyTIFFModel: CFString = "Model"
/// See `CGImagePropertyOrientation`. Number.
public nonisolated(unsafe) let kCGImagePropertyTIFFOrientation: CFString = "Orientation"
/// Pixels in `ResolutionUnit`. Number.
public nonisolated(unsafe) let kCGImagePropertyTIFFXResolution: CFString = "XResolution"
/// Pixels in `ResolutionUnit`. Number.
public nonisolated(unsafe) let kCGImagePropertyTIFFYResolution: CFString = "YResolution"
/// 2: inch, 3: centimetre. Number.
public nonisolated(unsafe) let kCGImagePropertyTIFFResolutionUnit: CFString = "ResolutionUnit"
/// Array of numbers.
public nonisolated(unsafe) let kCGImagePropertyTIFFTransferFunction: CFString = "TransferFunction"
/// String.
public nonisolated(unsafe) let kCGImagePropertyTIFFSoftware: CFString = "Software"
/// "YYYY:MM:DD HH:MM:SS". String.
public nonisolated(unsafe) let kCGImagePropertyTIFFDateTime: CFString = "DateTime"
/// String.
public nonisolated(unsafe) let kCGImagePropertyTIFFArtist: CFString = "Artist"
/// String.
public nonisolated(unsafe) let kCGImagePropertyTIFFHostComputer: CFString = "HostComputer"
/// String.
public nonisolated(unsafe) let kCGImagePropertyTIFFCopyright: CFString = "Copyright"
/// Array of numbers.
public nonisolated(unsafe) let kCGImagePropertyTIFFWhitePoint: CFString = "WhitePoint"
/// Array of numbers.
public nonisolated(unsafe) let kCGImagePropertyTIFFPrimaryChromaticities: CFString = "PrimaryChromaticities"
/// Pixels. Number.
public nonisolated(unsafe) let kCGImagePropertyTIFFTileWidth: CFString = "TileWidth"
/// Pixels. Number.
public nonisolated(unsafe) let kCGImagePropertyTIFFTileLength: CFString = "TileLength"
