// SPDX-License-Identifier: Apache-2.0

/// The file format of the statistics of a pass. All numbers are little-endian: a header with the
/// number of pictures, a record per picture, and a checksum of both.
package enum PassFormat {
  /// The bytes that the file begins with.
  package static let magic = Array("OVT H.264 pass".utf8)
  /// The version of the format.
  package static let version: UInt64 = 1
  /// The indices of pictures are below this number, so that indices of parts that are joined cannot
  /// overflow.
  package static let maxPictures: UInt64 = 1 << 40
  /// The bytes of a picture's record: index, picture type, bits, QP, duration in seconds, and the
  /// bins of the histogram in 1/256 macroblocks.
  package static let pictureSize = 8 + 1 + 8 + 8 + 8 + 4 * ResidualHistogram.bins
  /// The bytes of the header.
  package static let headerSize = magic.count + 8 * 4
  /// The bytes of the checksum.
  package static let checksumSize = 8

  /// The bytes before the records.
  /// - Parameters:
  ///   - width: the width of the pictures, in luma samples.
  ///   - height: their height, in luma samples.
  ///   - count: the number of pictures.
  package static func header(width: Int, height: Int, count: Int) -> [UInt8] {
    var bytes = magic
    for value in [version, UInt64(width), UInt64(height), UInt64(count)] { put(value, to: &bytes) }
    return bytes
  }

  /// Appends the record of a picture.
  package static func put(_ picture: PassStatistics.Picture, to bytes: inout [UInt8]) {
    put(picture.index, to: &bytes)
    put(UInt64(picture.kind.rawValue), 1, to: &bytes)
    put(UInt64(max(picture.bits, 0)), to: &bytes)
    put(picture.qp.bitPattern, to: &bytes)
    put(picture.duration.bitPattern, to: &bytes)
    for bin in 0..<ResidualHistogram.bins {
      put(UInt64(max(min(picture.residual.counts[bin] * 256, 4e9), 0)), 4, to: &bytes)
    }
  }

  /// Appends the `count` low bytes of a number.
  package static func put(_ value: UInt64, _ count: Int = 8, to bytes: inout [UInt8]) {
    for i in 0..<count { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * UInt64(i)))) }
  }

  /// Parses the header of a file.
  /// - Parameters:
  ///   - bytes: the first `headerSize` bytes of the file, or all if there are fewer.
  ///   - size: the size of the file in bytes.
  /// - Returns: the size of the pictures in luma samples, and their number.
  /// - Throws: `VideoEncoderError.invalidConfiguration` if the header is not valid, or does not fit
  ///   the size of the file.
  package static func header(_ bytes: [UInt8], size: Int) throws -> (width: Int, height: Int, count: Int) {
    guard size >= headerSize + checksumSize, bytes.count >= headerSize, bytes.starts(with: magic) else {
      throw invalidStatistics("are not of this encoder")
    }
    var at = magic.count
    guard number(bytes[...], &at) == version else { throw invalidStatistics("are of another version") }
    let (width, height) = (number(bytes[...], &at), number(bytes[...], &at))
    let count = number(bytes[...], &at)
    let room = UInt64(size - headerSize - checksumSize)
    guard width <= 1 << 16, height <= 1 << 16, room % UInt64(pictureSize) == 0,
      count == room / UInt64(pictureSize)
    else { throw invalidStatistics("are cut short") }
    return (Int(width), Int(height), Int(count))
  }

  /// Parses a picture.
  /// - Parameter bytes: the bytes of one record.
  /// - Throws: `VideoEncoderError.invalidConfiguration` if a value is out of range.
  package static func picture(_ bytes: ArraySlice<UInt8>) throws -> PassStatistics.Picture {
    var at = bytes.startIndex
    let index = number(bytes, &at)
    let kind = PictureForecast.Kind(rawValue: Int(number(bytes, &at, 1)))
    let bits = number(bytes, &at)
    let qp = Double(bitPattern: number(bytes, &at))
    let duration = Double(bitPattern: number(bytes, &at))
    var residual = ResidualHistogram()
    for bin in 0..<ResidualHistogram.bins { residual.counts[bin] = Float(number(bytes, &at, 4)) / 256 }
    guard let kind, index < maxPictures, bits < 1 << 40, (0...51).contains(qp), duration > 0, duration < 1e5
    else { throw invalidStatistics("are damaged") }
    return PassStatistics.Picture(
      index: index, kind: kind, bits: Int(bits), qp: qp, duration: duration, residual: residual)
  }

  /// Reads a number of `count` bytes at an index, which moves on by as many.
  package static func number(_ bytes: ArraySlice<UInt8>, _ at: inout Int, _ count: Int = 8) -> UInt64 {
    var value: UInt64 = 0
    for i in 0..<count { value |= UInt64(bytes[at + i]) << (8 * UInt64(i)) }
    at += count
    return value
  }

  /// The error that says what is wrong with the statistics.
  package static func invalidStatistics(_ text: String) -> VideoEncoderError {
    .invalidConfiguration("The statistics of the pass \(text).")
  }

  /// The 64-bit FNV-1a hash of bytes that are added piece by piece.
  package struct Checksum {
    /// The hash of the bytes so far; initially the offset basis of FNV-1a.
    package private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    /// The hash of no bytes.
    package init() {}

    /// Adds bytes to the hash.
    package mutating func add(_ bytes: ArraySlice<UInt8>) {
      var hash = value
      for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
      value = hash
    }

    /// The hash as it is stored after the records.
    package var bytes: [UInt8] {
      var result: [UInt8] = []
      put(value, to: &result)
      return result
    }
  }
}
