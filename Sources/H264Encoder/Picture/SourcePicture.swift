// SPDX-License-Identifier: Apache-2.0
/// A picture to encode: progressive 4:2:0, 8 bit, in the caller's memory, which must stay valid and
/// unchanged until `encode` returns. Nothing is copied beforehand: macroblocks are fetched from it.
public struct SourcePicture {
  /// How the chroma samples lie in memory.
  public enum Chroma {
    /// Cb and Cr interleaved (NV12, `420v`): the address of the first Cb and the bytes from row to row.
    case interleaved(UnsafePointer<UInt8>, bytesPerRow: Int)
    /// Two planes (I420, `y420`): their addresses and bytes from row to row.
    case planar(cb: UnsafePointer<UInt8>, cbBytesPerRow: Int, cr: UnsafePointer<UInt8>, crBytesPerRow: Int)
  }

  /// Width and height in luma samples. They must equal the configuration's.
  public let width: Int
  public let height: Int
  /// The first luma sample, and the bytes from one row to the next (at least `width`).
  public let luma: UnsafePointer<UInt8>
  public let lumaBytesPerRow: Int
  public let chroma: Chroma

  public init(
    width: Int, height: Int, luma: UnsafePointer<UInt8>, lumaBytesPerRow: Int, chroma: Chroma
  ) {
    self.width = width
    self.height = height
    self.luma = luma
    self.lumaBytesPerRow = lumaBytesPerRow
    self.chroma = chroma
  }

  /// Whether the strides can hold the size, and no address computed from them overflows.
  var isConsistent: Bool {
    let largest = Int(Int32.max)
    guard width > 0, height > 0, width <= largest, (width...largest).contains(lumaBytesPerRow) else {
      return false
    }
    switch chroma {
    case .interleaved(_, let bytesPerRow): return (width...largest).contains(bytesPerRow)
    case .planar(_, let cb, _, let cr):
      let range = width / 2...largest
      return range.contains(cb) && range.contains(cr)
    }
  }
}
