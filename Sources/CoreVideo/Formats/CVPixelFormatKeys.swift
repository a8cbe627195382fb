// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

// Keys of a pixel format's description, and their values.

/// The format's name, a string.
public nonisolated(unsafe) let kCVPixelFormatName: CFString = "Name"

/// The format's code, a number.
public nonisolated(unsafe) let kCVPixelFormatConstant: CFString = "PixelFormat"

/// The code of the format as a codec, a number.
public nonisolated(unsafe) let kCVPixelFormatCodecType: CFString = "CodecType"

/// The FourCC of the format outside of Core Video, a number.
public nonisolated(unsafe) let kCVPixelFormatFourCC: CFString = "FourCC"
public nonisolated(unsafe) let kCVPixelFormatContainsAlpha: CFString = "ContainsAlpha"
public nonisolated(unsafe) let kCVPixelFormatContainsYCbCr: CFString = "ContainsYCbCr"
public nonisolated(unsafe) let kCVPixelFormatContainsRGB: CFString = "ContainsRGB"
public nonisolated(unsafe) let kCVPixelFormatContainsGrayscale: CFString = "ContainsGrayscale"
public nonisolated(unsafe) let kCVPixelFormatContainsSenselArray: CFString = "ContainsSenselArray"

/// The range of the components, one of the next three.
public nonisolated(unsafe) let kCVPixelFormatComponentRange: CFString = "ComponentRange"
public nonisolated(unsafe) let kCVPixelFormatComponentRange_VideoRange: CFString = "VideoRange"
public nonisolated(unsafe) let kCVPixelFormatComponentRange_FullRange: CFString = "FullRange"
public nonisolated(unsafe) let kCVPixelFormatComponentRange_WideRange: CFString = "WideRange"

/// An array of dictionaries, one for each plane. The keys of a single plane may be at the top level
/// instead.
public nonisolated(unsafe) let kCVPixelFormatPlanes: CFString = "Planes"

/// The width in pixels of the smallest group of pixels that fills whole bytes; 1 if absent.
public nonisolated(unsafe) let kCVPixelFormatBlockWidth: CFString = "BlockWidth"
public nonisolated(unsafe) let kCVPixelFormatBlockHeight: CFString = "BlockHeight"

/// The size of such a block in bits.
public nonisolated(unsafe) let kCVPixelFormatBitsPerBlock: CFString = "BitsPerBlock"

/// The size of a component in bits.
public nonisolated(unsafe) let kCVPixelFormatBitsPerComponent: CFString = "BitsPerComponent"

/// A row's number of blocks is a multiple of this; 1 if absent.
public nonisolated(unsafe) let kCVPixelFormatBlockHorizontalAlignment: CFString = "BlockHorizontalAlignment"
public nonisolated(unsafe) let kCVPixelFormatBlockVerticalAlignment: CFString = "BlockVerticalAlignment"

/// A block of black pixels, data; zeros if absent.
public nonisolated(unsafe) let kCVPixelFormatBlackBlock: CFString = "BlackBlock"

/// The number of pixels in a row for each sample of the plane; 1 if absent.
public nonisolated(unsafe) let kCVPixelFormatHorizontalSubsampling: CFString = "HorizontalSubsampling"
public nonisolated(unsafe) let kCVPixelFormatVerticalSubsampling: CFString = "VerticalSubsampling"

/// The `CGBitmapInfo` of a bitmap context with such pixels, a number.
public nonisolated(unsafe) let kCVPixelFormatCGBitmapInfo: CFString = "CGBitmapInfo"
public nonisolated(unsafe) let kCVPixelFormatQDCompatibility: CFString = "QDCompatibility"
public nonisolated(unsafe) let kCVPixelFormatCGBitmapContextCompatibility: CFString =
  "CGBitmapContextCompatibility"
public nonisolated(unsafe) let kCVPixelFormatCGImageCompatibility: CFString = "CGImageCompatibility"

/// The callback that fills the extended pixels of a registered format: data, the bytes of a
/// `CVFillExtendedPixelsCallBackData`.
public nonisolated(unsafe) let kCVPixelFormatFillExtendedPixelsCallback: CFString =
  "FillExtendedPixelsCallback"
