// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The header of a QuickTime movie that zlib has compressed: a `cmov` box with a `dcom` box, which
/// names the method, and a `cmvd` box with the size and the compressed bytes of the `moov` box
/// (QuickTime File Format, "Compressed Movie Resources").
struct CompressedMovieHeader {
  /// Size in bytes of the `moov` box after decompression, as the file says.
  private let size: Int
  private let start: Int64
  private let end: Int64

  /// The largest size that is accepted, in bytes. An hour of pictures takes about one megabyte;
  /// zlib's ratio of up to 1000 : 1 would let a small file claim any size.
  static let largest = 64 << 20

  /// Reads the boxes in the content of a `cmov` box, which extends from `start` to `end` in the
  /// file; nil where libavformat would not find a compressed header either.
  init?(_ bytes: ByteWindow, _ start: Int64, _ end: Int64) {
    guard let head = bytes.read(start, 24), end - start > 24,
      head[4..<12].elementsEqual("dcomzlib".utf8), head[16..<20].elementsEqual("cmvd".utf8)
    else { return nil }
    size = MovieBox.number(head[...], 20)
    self.start = start + 24
    self.end = end
  }

  /// The larger one of the sizes before and after decompression, in bytes.
  var room: Int { max(size, Int(end - start)) }

  /// Decompresses the `moov` box; nil where it is damaged or too large.
  func content(_ bytes: ByteWindow) -> [UInt8]? {
    guard room <= Self.largest, let packed = bytes.read(start, Int(end - start)),
      let uncompress = Self.uncompress
    else { return nil }
    var content = [UInt8](repeating: 0, count: size)
    var length = CUnsignedLong(size)
    guard uncompress(&content, &length, packed, CUnsignedLong(packed.count)) == 0 else { return nil }
    return Array(content.prefix(Int(length)))
  }

  private typealias Uncompress =
    @convention(c) (
      UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<CUnsignedLong>, UnsafePointer<UInt8>, CUnsignedLong
    ) -> CInt

  /// zlib's function. libavformat loads zlib into the process for the same purpose.
  private static let uncompress = dlsym(nil, "uncompress").map { unsafeBitCast($0, to: Uncompress.self) }
}
