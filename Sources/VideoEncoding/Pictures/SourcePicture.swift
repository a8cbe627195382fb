// SPDX-License-Identifier: Apache-2.0
/// A picture to encode: progressive, 4:2:0 or 4:4:4, 8 bits per sample. Its samples stay in the
/// caller's memory, which must be valid and unchanged until `encode` returns: no copy is made.
public struct SourcePicture {
  /// The layout of the chroma samples in memory.
  public enum Chroma {
    /// Cb and Cr interleaved (NV12, `420v`; NV24, `444v`): the address of the first Cb sample, and
    /// the bytes from one row to the next.
    case interleaved(UnsafePointer<UInt8>, bytesPerRow: Int)
    /// Two planes (I420, `y420`; I444): their addresses, and the bytes from one row to the next.
    case planar(cb: UnsafePointer<UInt8>, cbBytesPerRow: Int, cr: UnsafePointer<UInt8>, crBytesPerRow: Int)
  }

  /// The width in luma samples. It must equal that of the configuration.
  public let width: Int
  /// The height in luma samples. It must equal that of the configuration.
  public let height: Int
  /// The address of the first luma sample.
  public let luma: UnsafePointer<UInt8>
  /// The bytes from one row of luma to the next, at least `width`.
  public let lumaBytesPerRow: Int
  /// The chroma samples.
  public let chroma: Chroma
  /// Whether there are as many samples of Cb and of Cr as of luma (4:4:4); otherwise half as many
  /// in each direction (4:2:0). It must be as the encoder's profile has it.
  public let hasFullChroma: Bool

  /// Describes a picture in memory.
  /// - Parameters:
  ///   - width: the width in luma samples.
  ///   - height: the height in luma samples.
  ///   - luma: the address of the first luma sample.
  ///   - lumaBytesPerRow: the bytes from one row of luma to the next.
  ///   - chroma: the chroma samples.
  ///   - hasFullChroma: whether there are as many of them as of luma.
  public init(
    width: Int, height: Int, luma: UnsafePointer<UInt8>, lumaBytesPerRow: Int, chroma: Chroma,
    hasFullChroma: Bool = false
  ) {
    self.width = width
    self.height = height
    self.luma = luma
    self.lumaBytesPerRow = lumaBytesPerRow
    self.chroma = chroma
    self.hasFullChroma = hasFullChroma
  }

  /// Whether the strides are large enough for the size, and no offset computed from them overflows.
  package var isConsistent: Bool {
    let largest = Int(Int32.max)
    guard width > 0, height > 0, width <= largest, (width...largest).contains(lumaBytesPerRow) else {
      return false
    }
    switch chroma {
    case .interleaved(_, let bytesPerRow):
      let least = hasFullChroma ? 2 * width : width
      return least <= bytesPerRow && bytesPerRow <= largest
    case .planar(_, let cb, _, let cr):
      let range = (hasFullChroma ? width : width / 2)...largest
      return range.contains(cb) && range.contains(cr)
    }
  }
}
