// SPDX-License-Identifier: Apache-2.0
import CHEVCKernels
import CVideoKernels
import VideoEncoding

/// A picture to encode, with 8 or 10 bits per sample. Either can be coded with either depth:
/// samples of 8 bits are multiplied by four, those of 10 bits rounded.
public enum HEVCSource {
  /// A picture with 8 bits per sample.
  case eightBits(SourcePicture)
  /// A picture with 10 bits per sample.
  case tenBits(TenBitPicture)

  /// The width in luma samples.
  var width: Int {
    switch self {
    case .eightBits(let picture): picture.width
    case .tenBits(let picture): picture.width
    }
  }

  /// The height in luma samples.
  var height: Int {
    switch self {
    case .eightBits(let picture): picture.height
    case .tenBits(let picture): picture.height
    }
  }

  /// Whether the strides are large enough for the size, and no offset computed from them overflows.
  var isConsistent: Bool {
    switch self {
    case .eightBits(let picture): picture.isConsistent
    case .tenBits(let picture): picture.isConsistent
    }
  }
}

/// A picture to encode: progressive, 4:2:0, 10 bits per sample, which takes two bytes, the least
/// significant first. Its samples stay in the caller's memory, which must be valid and unchanged
/// until `encode` returns; they may be at any address.
public struct TenBitPicture {
  /// Where the ten bits of a sample are.
  public enum Alignment: Sendable {
    /// In the upper bits of sixteen, as in `x420` and P010; the lower ones are ignored.
    case upper
    /// In the lower bits of sixteen, the others of which are zero.
    case lower
  }

  /// The layout of the chroma samples in memory.
  public enum Chroma {
    /// Cb and Cr interleaved: the address of the first Cb sample, and the bytes from one row to the
    /// next.
    case interleaved(UnsafeRawPointer, bytesPerRow: Int)
    /// Two planes: their addresses, and the bytes from one row to the next.
    case planar(cb: UnsafeRawPointer, cbBytesPerRow: Int, cr: UnsafeRawPointer, crBytesPerRow: Int)
  }

  /// The width in luma samples. It must equal that of the configuration.
  public let width: Int
  /// The height in luma samples. It must equal that of the configuration.
  public let height: Int
  /// Where the ten bits of a sample are.
  public let alignment: Alignment
  /// The address of the first luma sample.
  public let luma: UnsafeRawPointer
  /// The bytes from one row of luma to the next, at least twice `width`.
  public let lumaBytesPerRow: Int
  /// The chroma samples.
  public let chroma: Chroma

  /// Describes a picture in memory.
  /// - Parameters:
  ///   - width: the width in luma samples.
  ///   - height: the height in luma samples.
  ///   - alignment: where the ten bits of a sample are.
  ///   - luma: the address of the first luma sample.
  ///   - lumaBytesPerRow: the bytes from one row of luma to the next.
  ///   - chroma: the chroma samples.
  public init(
    width: Int, height: Int, alignment: Alignment, luma: UnsafeRawPointer, lumaBytesPerRow: Int,
    chroma: Chroma
  ) {
    (self.width, self.height, self.alignment) = (width, height, alignment)
    (self.luma, self.lumaBytesPerRow, self.chroma) = (luma, lumaBytesPerRow, chroma)
  }

  /// The bits below those of a sample.
  fileprivate var shift: Int32 { alignment == .upper ? 6 : 0 }

  fileprivate var isConsistent: Bool {
    let largest = Int(Int32.max)
    guard width > 0, height > 0, width <= largest / 2, (2 * width...largest).contains(lumaBytesPerRow)
    else { return false }
    switch chroma {
    case .interleaved(_, let bytesPerRow): return (2 * width...largest).contains(bytesPerRow)
    case .planar(_, let cb, _, let cr):
      return (width...largest).contains(cb) && (width...largest).contains(cr)
    }
  }
}

// MARK: - Rows as they are coded

extension UInt8 {
  static func copyLuma(_ source: HEVCSource, row: Int, to luma: UnsafeMutablePointer<UInt8>) {
    switch source {
    case .eightBits(let picture):
      luma.update(from: picture.luma + row * picture.lumaBytesPerRow, count: picture.width)
    case .tenBits(let picture):
      ovt_hevc_narrow_row(
        luma, picture.luma + row * picture.lumaBytesPerRow, Int32(picture.width), picture.shift)
    }
  }

  static func copyChroma(
    _ source: HEVCSource, row: Int, cb: UnsafeMutablePointer<UInt8>, cr: UnsafeMutablePointer<UInt8>,
    _ kernels: UnsafePointer<OVTVideoKernels>
  ) {
    let width = source.width / 2
    switch source {
    case .eightBits(let picture):
      switch picture.chroma {
      case .interleaved(let pairs, let bytesPerRow):
        kernels.pointee.deinterleaveRow(cb, cr, pairs + row * bytesPerRow, Int32(width))
      case .planar(let sourceCb, let cbBytesPerRow, let sourceCr, let crBytesPerRow):
        cb.update(from: sourceCb + row * cbBytesPerRow, count: width)
        cr.update(from: sourceCr + row * crBytesPerRow, count: width)
      }
    case .tenBits(let picture):
      switch picture.chroma {
      case .interleaved(let pairs, let bytesPerRow):
        ovt_hevc_narrow_split_row(cb, cr, pairs + row * bytesPerRow, Int32(width), picture.shift)
      case .planar(let sourceCb, let cbBytesPerRow, let sourceCr, let crBytesPerRow):
        ovt_hevc_narrow_row(cb, sourceCb + row * cbBytesPerRow, Int32(width), picture.shift)
        ovt_hevc_narrow_row(cr, sourceCr + row * crBytesPerRow, Int32(width), picture.shift)
      }
    }
  }

  static func squaredError(
    _ a: UnsafePointer<UInt8>, _ b: UnsafePointer<UInt8>, count: Int,
    _ kernels: UnsafePointer<OVTVideoKernels>
  ) -> UInt64 {
    kernels.pointee.ssdRow(a, b, Int32(count))
  }
}

extension UInt16 {
  static func copyLuma(_ source: HEVCSource, row: Int, to luma: UnsafeMutablePointer<UInt16>) {
    switch source {
    case .eightBits(let picture):
      ovt_hevc_widen_row(luma, picture.luma + row * picture.lumaBytesPerRow, Int32(picture.width))
    case .tenBits(let picture):
      ovt_hevc_row16(
        luma, picture.luma + row * picture.lumaBytesPerRow, Int32(picture.width), picture.shift)
    }
  }

  static func copyChroma(
    _ source: HEVCSource, row: Int, cb: UnsafeMutablePointer<UInt16>, cr: UnsafeMutablePointer<UInt16>,
    _: UnsafePointer<OVTVideoKernels>
  ) {
    let width = Int32(source.width / 2)
    switch source {
    case .eightBits(let picture):
      switch picture.chroma {
      case .interleaved(let pairs, let bytesPerRow):
        ovt_hevc_widen_split_row(cb, cr, pairs + row * bytesPerRow, width)
      case .planar(let sourceCb, let cbBytesPerRow, let sourceCr, let crBytesPerRow):
        ovt_hevc_widen_row(cb, sourceCb + row * cbBytesPerRow, width)
        ovt_hevc_widen_row(cr, sourceCr + row * crBytesPerRow, width)
      }
    case .tenBits(let picture):
      switch picture.chroma {
      case .interleaved(let pairs, let bytesPerRow):
        ovt_hevc_split_row16(cb, cr, pairs + row * bytesPerRow, width, picture.shift)
      case .planar(let sourceCb, let cbBytesPerRow, let sourceCr, let crBytesPerRow):
        ovt_hevc_row16(cb, sourceCb + row * cbBytesPerRow, width, picture.shift)
        ovt_hevc_row16(cr, sourceCr + row * crBytesPerRow, width, picture.shift)
      }
    }
  }

  static func squaredError(
    _ a: UnsafePointer<UInt16>, _ b: UnsafePointer<UInt16>, count: Int,
    _: UnsafePointer<OVTVideoKernels>
  ) -> UInt64 {
    ovt_hevc_ssd_row16(a, b, Int32(count))
  }
}

/// The source pictures with 8 bits per sample, for the pre-analysis.
struct EightBitView: ~Copyable {
  private var memory = EncoderMemory()
  private var luma: UnsafeMutablePointer<UInt8>?

  /// The picture itself, or one with 8 bits in memory that is valid until the next call.
  mutating func picture(_ source: HEVCSource, kernels: UnsafePointer<OVTVideoKernels>) -> SourcePicture {
    if case .eightBits(let picture) = source { return picture }
    let (width, height) = (source.width, source.height)
    let luma = luma ?? memory.allocate(UInt8.self, count: width * height * 3 / 2)
    self.luma = luma
    let cb = luma + width * height
    let cr = cb + width / 2 * (height / 2)
    for row in 0..<height { UInt8.copyLuma(source, row: row, to: luma + row * width) }
    for row in 0..<height / 2 {
      let at = row * (width / 2)
      UInt8.copyChroma(source, row: row, cb: cb + at, cr: cr + at, kernels)
    }
    return SourcePicture(
      width: width, height: height, luma: luma, lumaBytesPerRow: width,
      chroma: .planar(cb: cb, cbBytesPerRow: width / 2, cr: cr, crBytesPerRow: width / 2))
  }
}
