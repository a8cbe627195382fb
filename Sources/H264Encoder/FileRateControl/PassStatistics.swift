// SPDX-License-Identifier: Apache-2.0

/// What one pass over a stream learns for the next: for each picture what it took at which QP, and what prediction left
/// of it. `bytes` keeps it in a file, with a version and a checksum.
public struct PassStatistics: Sendable, Equatable {
  struct Picture: Sendable, Equatable {
    var index: UInt64
    var kind: PictureForecast.Kind
    /// Bits that it took, at this QP without the offset of its kind.
    var bits: Int
    var qp: Double
    var duration: Double
    /// With all offsets.
    var residual: ResidualHistogram
  }

  /// Of the pictures, in luma samples.
  public let width: Int
  public let height: Int
  /// In decoding order.
  private(set) var pictures: [Picture] = []

  init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }

  /// Pictures that the pass had.
  public var count: Int { pictures.count }

  /// Seconds that they are shown.
  public var seconds: Double { pictures.reduce(0) { $0 + $1.duration } }

  mutating func append(_ picture: Picture) { pictures.append(picture) }

  // MARK: - Bytes

  private static let magic = Array("OVT H.264 pass".utf8)
  private static let version: UInt64 = 1
  /// Numbers of pictures are below: parts that are joined count on from what was read.
  private static let mostPictures: UInt64 = 1 << 40
  /// Of a picture: index, kind, bits, QP, duration, and the histogram in 1/256 macroblocks.
  private static let pictureSize = 8 + 1 + 8 + 8 + 8 + 4 * ResidualHistogram.bins
  static let headerSize = magic.count + 8 * 4
  static let checksumSize = 8

  /// Everything, in little-endian order.
  public var bytes: [UInt8] {
    var result = Self.magic
    result.reserveCapacity(Self.headerSize + pictures.count * Self.pictureSize + Self.checksumSize)
    func put(_ value: UInt64, _ count: Int = 8) {
      for i in 0..<count { result.append(UInt8(truncatingIfNeeded: value >> (8 * UInt64(i)))) }
    }
    for value in [Self.version, UInt64(width), UInt64(height), UInt64(pictures.count)] { put(value) }
    for picture in pictures {
      put(picture.index)
      put(UInt64(picture.kind.rawValue), 1)
      put(UInt64(max(picture.bits, 0)))
      put(picture.qp.bitPattern)
      put(picture.duration.bitPattern)
      for bin in 0..<ResidualHistogram.bins {
        put(UInt64(max(min(picture.residual.counts[bin] * 256, 4e9), 0)), 4)
      }
    }
    put(Self.checksum(result[...]))
    return result
  }

  /// Those of some of the pictures, as if there had been no others.
  /// - Parameter frames: their numbers, in the order of input.
  public func part(_ frames: Range<Int>) -> PassStatistics {
    var part = PassStatistics(width: width, height: height)
    let wanted = UInt64(max(frames.lowerBound, 0))..<UInt64(max(frames.upperBound, 0))
    for var picture in pictures where wanted.contains(picture.index) {
      picture.index -= wanted.lowerBound
      part.append(picture)
    }
    return part
  }

  /// Adds what a pass over the pictures that follow has learnt.
  public mutating func append(_ next: PassStatistics) {
    let before = UInt64(pictures.count)
    for var picture in next.pictures {
      picture.index += before
      append(picture)
    }
  }

  /// How the bits of the whole divide among parts, if all have the same quality.
  /// - Parameters:
  ///   - parts: numbers of their pictures, in the order of input.
  ///   - bits: of the whole, as it is to be.
  /// - Returns: Of each part, its share: 0 to 1.
  public func shares(of parts: [Range<Int>], bits: Double) -> [Double] {
    let qp = RemainingPass(self).qp(bits: bits)
    var wanted = [Double](repeating: 0, count: parts.count)
    let order = parts.indices.sorted { parts[$0].lowerBound < parts[$1].lowerBound }
    var at = 0
    for picture in pictures.sorted(by: { $0.index < $1.index }) {
      while at < order.count, UInt64(max(parts[order[at]].upperBound, 0)) <= picture.index { at += 1 }
      guard at < order.count else { break }
      guard UInt64(max(parts[order[at]].lowerBound, 0)) <= picture.index else { continue }
      wanted[order[at]] += RemainingPass.bits(picture, qp: qp)
    }
    let all = max(wanted.reduce(0, +), 1e-9)
    return wanted.map { $0 / all }
  }

  /// What parts take of the bits of the whole, if all have the same quality as far as a decoder's buffer lets them: a part takes
  /// no more than the buffer carries, and what it leaves goes to the others.
  /// - Parameters:
  ///   - parts: numbers of their pictures, ascending; each is a stream by itself, and all but the last leave in the buffer
  ///     what they found (`LookAheadConfiguration.hasFramesAfter`).
  ///   - bits: of the whole, as it is to be.
  ///   - buffer: the decoder's, which the stream that is joined from the parts keeps to.
  /// - Returns: Bits of each part; less than `bits` in all if the buffer carries no more, or the pictures can not use it.
  public func bits(of parts: [Range<Int>], all bits: Double, buffer: LookAheadConfiguration.Buffer)
    -> [Double]
  {
    let state = BufferState(buffer)
    let streams = parts.indices.map { n in
      RemainingPass(
        part(parts[n]), buffer: state,
        end: n < parts.count - 1 ? JoinedBuffer.wanted(state, isConstant: false) : 0)
    }
    func all(_ qp: Double) -> Double { streams.reduce(0) { $0 + $1.bits(qp: qp) } }
    var (low, high) = (0.0, 51.0)
    for _ in 0..<30 {
      let middle = (low + high) / 2
      if all(middle) > bits { low = middle } else { high = middle }
    }
    return streams.map { $0.bits(qp: high) }
  }

  /// - Parameter bytes: what `bytes` gave.
  /// - Throws: `EncoderError.invalidConfiguration` if this is not what `bytes` gave.
  public init(bytes: [UInt8]) throws {
    func refuse(_ text: String) -> EncoderError {
      .invalidConfiguration("The statistics of the pass \(text).")
    }
    guard bytes.count >= Self.headerSize + Self.checksumSize, bytes.starts(with: Self.magic) else {
      throw refuse("are not of this encoder")
    }
    var at = Self.magic.count
    func take(_ count: Int = 8) -> UInt64 {
      var value: UInt64 = 0
      for i in 0..<count { value |= UInt64(bytes[at + i]) << (8 * UInt64(i)) }
      at += count
      return value
    }
    guard take() == Self.version else { throw refuse("are of another version") }
    let size = (take(), take())
    let count = take()
    let room = UInt64(bytes.count - Self.headerSize - Self.checksumSize)
    guard size.0 <= 1 << 16, size.1 <= 1 << 16, room % UInt64(Self.pictureSize) == 0,
      count == room / UInt64(Self.pictureSize)
    else { throw refuse("are cut short") }
    let end = bytes.count - Self.checksumSize
    let begin = at
    at = end
    guard take() == Self.checksum(bytes[..<end]) else { throw refuse("are damaged") }
    at = begin
    width = Int(size.0)
    height = Int(size.1)
    pictures.reserveCapacity(Int(count))
    for _ in 0..<count {
      let index = take()
      let kind = PictureForecast.Kind(rawValue: Int(take(1)))
      let bits = take()
      let qp = Double(bitPattern: take())
      let duration = Double(bitPattern: take())
      var residual = ResidualHistogram()
      for bin in 0..<ResidualHistogram.bins { residual.counts[bin] = Float(take(4)) / 256 }
      guard let kind, index < Self.mostPictures, bits < 1 << 40, (0...51).contains(qp), duration > 0,
        duration < 1e5
      else {
        throw refuse("are damaged")
      }
      pictures.append(
        Picture(
          index: index, kind: kind, bits: Int(bits), qp: qp, duration: duration, residual: residual))
    }
  }

  /// FNV-1a, 64 bits.
  static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    return hash
  }
}
