// SPDX-License-Identifier: Apache-2.0

/// How the statistics of a pass lie in a file, in little-endian order: a header with their number, a record for each
/// picture, a checksum of all that.
package enum PassFormat {
  static let magic = Array("OVT H.264 pass".utf8)
  static let version: UInt64 = 1
  /// Numbers of pictures are below: parts that are joined count on from what was read.
  static let mostPictures: UInt64 = 1 << 40
  /// Bytes of a picture: index, kind, bits, QP, duration, and the histogram in 1/256 macroblocks.
  static let pictureSize = 8 + 1 + 8 + 8 + 8 + 4 * ResidualHistogram.bins
  static let headerSize = magic.count + 8 * 4
  static let checksumSize = 8

  /// What comes before the records.
  package static func header(width: Int, height: Int, count: Int) -> [UInt8] {
    var bytes = magic
    for value in [version, UInt64(width), UInt64(height), UInt64(count)] { put(value, to: &bytes) }
    return bytes
  }

  static func put(_ picture: PassStatistics.Picture, to bytes: inout [UInt8]) {
    put(picture.index, to: &bytes)
    put(UInt64(picture.kind.rawValue), 1, to: &bytes)
    put(UInt64(max(picture.bits, 0)), to: &bytes)
    put(picture.qp.bitPattern, to: &bytes)
    put(picture.duration.bitPattern, to: &bytes)
    for bin in 0..<ResidualHistogram.bins {
      put(UInt64(max(min(picture.residual.counts[bin] * 256, 4e9), 0)), 4, to: &bytes)
    }
  }

  static func put(_ value: UInt64, _ count: Int = 8, to bytes: inout [UInt8]) {
    for i in 0..<count { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * UInt64(i)))) }
  }

  /// - Parameter bytes: the first `headerSize` of a file, or all there are.
  /// - Parameter size: of the file.
  static func header(_ bytes: [UInt8], size: Int) throws -> (width: Int, height: Int, count: Int) {
    guard size >= headerSize + checksumSize, bytes.count >= headerSize, bytes.starts(with: magic) else {
      throw refusal("are not of this encoder")
    }
    var at = magic.count
    guard number(bytes[...], &at) == version else { throw refusal("are of another version") }
    let (width, height) = (number(bytes[...], &at), number(bytes[...], &at))
    let count = number(bytes[...], &at)
    let room = UInt64(size - headerSize - checksumSize)
    guard width <= 1 << 16, height <= 1 << 16, room % UInt64(pictureSize) == 0,
      count == room / UInt64(pictureSize)
    else { throw refusal("are cut short") }
    return (Int(width), Int(height), Int(count))
  }

  /// - Parameter bytes: of one record.
  static func picture(_ bytes: ArraySlice<UInt8>) throws -> PassStatistics.Picture {
    var at = bytes.startIndex
    let index = number(bytes, &at)
    let kind = PictureForecast.Kind(rawValue: Int(number(bytes, &at, 1)))
    let bits = number(bytes, &at)
    let qp = Double(bitPattern: number(bytes, &at))
    let duration = Double(bitPattern: number(bytes, &at))
    var residual = ResidualHistogram()
    for bin in 0..<ResidualHistogram.bins { residual.counts[bin] = Float(number(bytes, &at, 4)) / 256 }
    guard let kind, index < mostPictures, bits < 1 << 40, (0...51).contains(qp), duration > 0, duration < 1e5
    else { throw refusal("are damaged") }
    return PassStatistics.Picture(
      index: index, kind: kind, bits: Int(bits), qp: qp, duration: duration, residual: residual)
  }

  static func number(_ bytes: ArraySlice<UInt8>, _ at: inout Int, _ count: Int = 8) -> UInt64 {
    var value: UInt64 = 0
    for i in 0..<count { value |= UInt64(bytes[at + i]) << (8 * UInt64(i)) }
    at += count
    return value
  }

  static func refusal(_ text: String) -> H264EncoderError {
    .invalidConfiguration("The statistics of the pass \(text).")
  }

  /// FNV-1a, 64 bits, over what comes piece by piece.
  package struct Checksum {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    package init() {}

    package mutating func add(_ bytes: ArraySlice<UInt8>) {
      var hash = value
      for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
      value = hash
    }

    /// As it lies behind the records.
    package var bytes: [UInt8] {
      var result: [UInt8] = []
      put(value, to: &result)
      return result
    }
  }
}
