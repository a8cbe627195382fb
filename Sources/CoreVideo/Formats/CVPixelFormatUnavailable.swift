// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

// Formats that have a code, but whose layout is not public: compressed formats of Apple's devices,
// and a camera's. Buffers and pools in such a format cannot be created
// (`kCVReturnInvalidPixelFormat`), as on an Apple device without support for it;
// `CVIsCompressedPixelFormatAvailable` returns false for all of them.

public let kCVPixelFormatType_40ARGBLEWideGamut: OSType = 0x77343061  // 'w40a'
public let kCVPixelFormatType_40ARGBLEWideGamutPremultiplied: OSType = 0x7734306D  // 'w40m'
public let kCVPixelFormatType_96VersatileBayerPacked12: OSType = 0x62747032  // 'btp2'
public let kCVPixelFormatType_30RGBLE_8A_BiPlanar: OSType = 0x62336138  // 'b3a8'
public let kCVPixelFormatType_Lossless_32BGRA: OSType = 0x26424741  // '&BGA'
public let kCVPixelFormatType_Lossless_64RGBAHalf: OSType = 0x26526841  // '&RhA'
public let kCVPixelFormatType_Lossless_420YpCbCr8BiPlanarVideoRange: OSType = 0x26387630  // '&8v0'
public let kCVPixelFormatType_Lossless_420YpCbCr8BiPlanarFullRange: OSType = 0x26386630  // '&8f0'
public let kCVPixelFormatType_Lossless_420YpCbCr10PackedBiPlanarVideoRange: OSType = 0x26787630  // '&xv0'
public let kCVPixelFormatType_Lossless_422YpCbCr10PackedBiPlanarVideoRange: OSType = 0x26787632  // '&xv2'
public let kCVPixelFormatType_Lossless_420YpCbCr10PackedBiPlanarFullRange: OSType = 0x26786630  // '&xf0'
public let kCVPixelFormatType_Lossless_30RGBLE_8A_BiPlanar: OSType = 0x26623338  // '&b38'
public let kCVPixelFormatType_Lossless_30RGBLEPackedWideGamut: OSType = 0x26773372  // '&w3r'
public let kCVPixelFormatType_Lossy_32BGRA: OSType = 0x2D424741  // '-BGA'
public let kCVPixelFormatType_Lossy_420YpCbCr8BiPlanarVideoRange: OSType = 0x2D387630  // '-8v0'
public let kCVPixelFormatType_Lossy_420YpCbCr8BiPlanarFullRange: OSType = 0x2D386630  // '-8f0'
public let kCVPixelFormatType_Lossy_420YpCbCr10PackedBiPlanarVideoRange: OSType = 0x2D787630  // '-xv0'
public let kCVPixelFormatType_Lossy_422YpCbCr10PackedBiPlanarVideoRange: OSType = 0x2D787632  // '-xv2'

/// Whether buffers in a compressed format (`kCVPixelFormatType_Lossless_`,
/// `kCVPixelFormatType_Lossy_`) can be created: never, because there is no hardware that compresses
/// memory.
@discardableResult
public func CVIsCompressedPixelFormatAvailable(_ pixelFormatType: OSType) -> Bool { false }

// MARK: - The order of a Bayer sensor's colours

public var kCVVersatileBayer_BayerPattern_RGGB: Int { 0 }
public var kCVVersatileBayer_BayerPattern_GRBG: Int { 1 }
public var kCVVersatileBayer_BayerPattern_GBRG: Int { 2 }
public var kCVVersatileBayer_BayerPattern_BGGR: Int { 3 }
