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

  /// Gives what was learnt so far, and forgets it: who keeps it elsewhere needs no memory for it here.
  package mutating func take() -> PassStatistics {
    let taken = self
    pictures.removeAll(keepingCapacity: taken.count < 1024)
    return taken
  }

  // MARK: - Bytes

  /// Everything, as `PassFormat` has it.
  public var bytes: [UInt8] {
    var checksum = PassFormat.Checksum()
    let result = PassFormat.header(width: width, height: height, count: count) + records
    checksum.add(result[...])
    return result + checksum.bytes
  }

  /// The pictures alone.
  package var records: [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(count * PassFormat.pictureSize)
    for picture in pictures { PassFormat.put(picture, to: &result) }
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
  ///     what they found (`H264EncoderConfiguration.hasFramesAfter`).
  ///   - bits: of the whole, as it is to be.
  ///   - buffer: the decoder's, which the stream that is joined from the parts keeps to.
  /// - Returns: Bits of each part; less than `bits` in all if the buffer carries no more, or the pictures can not use it.
  public func bits(
    of parts: [Range<Int>], all bits: Double, buffer: H264EncoderConfiguration.LookAhead.Buffer
  )
    -> [Double]
  {
    let streams = streams(of: parts, buffer: buffer)
    func all(_ qp: Double) -> Double { streams.reduce(0) { $0 + $1.bits(qp: qp) } }
    var (low, high) = (0.0, 51.0)
    for _ in 0..<30 {
      let middle = (low + high) / 2
      if all(middle) > bits { low = middle } else { high = middle }
    }
    return streams.map { $0.bits(qp: high) }
  }

  /// What the whole takes at the coarsest quality and at the finest, as far as one pass tells: a rate outside cannot be had.
  /// - Parameters:
  ///   - parts: numbers of their pictures, ascending.
  ///   - buffer: the decoder's, which the stream that is joined from the parts keeps to; nil if there is none.
  /// - Returns: Bits.
  public func reach(of parts: [Range<Int>], buffer: H264EncoderConfiguration.LookAhead.Buffer?)
    -> ClosedRange<Double>
  {
    let streams = streams(of: parts, buffer: buffer)
    let (least, most) = (
      streams.reduce(0) { $0 + $1.bits(qp: 51) }, streams.reduce(0) { $0 + $1.bits(qp: 0) }
    )
    return min(least, most)...max(least, most)
  }

  private func streams(of parts: [Range<Int>], buffer: H264EncoderConfiguration.LookAhead.Buffer?)
    -> [RemainingPass]
  {
    let state = buffer.map { BufferState($0) }
    return parts.indices.map { n in
      RemainingPass(
        part(parts[n]), buffer: state,
        end: n < parts.count - 1 ? state.map { JoinedBuffer.wanted($0, isConstant: false) } ?? 0 : 0)
    }
  }

  /// - Parameter bytes: what `bytes` gave.
  /// - Throws: `H264EncoderError.invalidConfiguration` if this is not what `bytes` gave.
  public init(bytes: [UInt8]) throws {
    let stored = try StoredPass(size: bytes.count) { offset, count in
      Array(bytes[min(offset, bytes.count)..<min(offset + count, bytes.count)])
    }
    self.init(width: stored.width, height: stored.height)
    pictures.reserveCapacity(stored.count)
    var cursor = stored.cursor()
    while let picture = cursor.next() { pictures.append(picture) }
  }
}
