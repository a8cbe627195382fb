// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The header of a QuickTime movie in zlib's format: a `cmov` with a `dcom` that names the method, and a `cmvd` with the size and the
/// bytes of the `moov` that it stands for (QuickTime File Format, "Compressed Movie Resources").
struct CompressedMovieHeader {
  /// Of the header, once it is not compressed, as the file claims.
  private let size: Int
  private let start: Int64
  private let end: Int64

  /// An hour of pictures takes about a megabyte, and zlib makes a thousand bytes of one.
  static let largest = 64 << 20

  /// nil where libavformat would not find one either.
  init?(_ bytes: ByteWindow, _ start: Int64, _ end: Int64) {
    guard let head = bytes.read(start, 24), end - start > 24,
      head[4..<12].elementsEqual("dcomzlib".utf8), head[16..<20].elementsEqual("cmvd".utf8)
    else { return nil }
    size = MovieBox.number(head[...], 20)
    self.start = start + 24
    self.end = end
  }

  /// Bytes that it takes in memory, compressed or not.
  var room: Int { max(size, Int(end - start)) }

  /// What it is; nil where it is damaged.
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

  /// zlib's, which libavformat brings into the process for the same.
  private static let uncompress = dlsym(nil, "uncompress").map { unsafeBitCast($0, to: Uncompress.self) }
}
