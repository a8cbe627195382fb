// SPDX-License-Identifier: Apache-2.0

/// The statistics that one pass over a stream collects for the next: for each picture its bits, its
/// QP and its residual. `bytes` serialises them, with a version and a checksum.
public struct PassStatistics: Sendable, Equatable {
  /// The statistics of one picture.
  package struct Picture: Sendable, Equatable {
    /// The index of the picture in the order of input.
    package var index: UInt64
    /// The picture type.
    package var kind: PictureForecast.Kind
    /// The bits of its access unit.
    package var bits: Int
    /// The QP that it was coded with, 0 to 51, without the offset of its type.
    package var qp: Double
    /// Its duration in seconds.
    package var duration: Double
    /// Its residual with all QP offsets of its macroblocks.
    package var residual: ResidualHistogram

    /// Creates the statistics of a picture; the properties describe the parameters.
    package init(
      index: UInt64, kind: PictureForecast.Kind, bits: Int, qp: Double, duration: Double,
      residual: ResidualHistogram
    ) {
      self.index = index
      self.kind = kind
      self.bits = bits
      self.qp = qp
      self.duration = duration
      self.residual = residual
    }
  }

  /// The width of the pictures, in luma samples.
  public let width: Int
  /// The height of the pictures, in luma samples.
  public let height: Int
  /// The pictures in decoding order.
  package private(set) var pictures: [Picture] = []

  /// Begins without pictures. The width and height are in luma samples.
  package init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }

  /// The number of pictures.
  public var count: Int { pictures.count }

  /// The sum of their durations, in seconds.
  public var seconds: Double { pictures.reduce(0) { $0 + $1.duration } }

  /// Adds the next picture in decoding order.
  package mutating func append(_ picture: Picture) { pictures.append(picture) }

  /// Returns the statistics collected so far and removes them, so that a caller that stores them
  /// elsewhere needs no memory for them here.
  package mutating func take() -> PassStatistics {
    let taken = self
    pictures.removeAll(keepingCapacity: taken.count < 1024)
    return taken
  }

  // MARK: - Bytes

  /// The statistics as a file in the format of `PassFormat`.
  public var bytes: [UInt8] {
    var checksum = PassFormat.Checksum()
    let result = PassFormat.header(width: width, height: height, count: count) + records
    checksum.add(result[...])
    return result + checksum.bytes
  }

  /// The records of the pictures, without header and checksum.
  package var records: [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(count * PassFormat.pictureSize)
    for picture in pictures { PassFormat.put(picture, to: &result) }
    return result
  }

  /// The statistics of some pictures, as if there had been no others.
  /// - Parameter frames: the indices of the pictures, in the order of input.
  public func part(_ frames: Range<Int>) -> PassStatistics {
    var part = PassStatistics(width: width, height: height)
    let wanted = UInt64(max(frames.lowerBound, 0))..<UInt64(max(frames.upperBound, 0))
    for var picture in pictures where wanted.contains(picture.index) {
      picture.index -= wanted.lowerBound
      part.append(picture)
    }
    return part
  }

  /// Appends the statistics of a pass over the pictures that follow.
  public mutating func append(_ next: PassStatistics) {
    let before = UInt64(pictures.count)
    for var picture in next.pictures {
      picture.index += before
      append(picture)
    }
  }

  /// The share of the bits that each part of a stream takes if the whole stream has the same
  /// quality.
  /// - Parameters:
  ///   - parts: the indices of each part's pictures, in the order of input.
  ///   - bits: the wanted bits of the whole stream.
  /// - Returns: a share for each part, 0 to 1.
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

  /// The bits that each part of a stream takes if the whole stream has the same quality, as far as
  /// a decoder's buffer allows. A part takes no more than the buffer lets through, and what it
  /// leaves goes to the others.
  /// - Parameters:
  ///   - parts: the indices of each part's pictures, ascending. Each part is a stream of its own,
  ///     and all but the last end with the fullness of the buffer that they began with
  ///     (`LookAheadSettings.hasFramesAfter`).
  ///   - bits: the wanted bits of the whole stream.
  ///   - buffer: the decoder's buffer, which the concatenation of the parts keeps to.
  /// - Returns: the bits of each part. Their sum is less than `bits` if the buffer lets no more
  ///   through, or if the pictures cannot use it.
  public func bits(
    of parts: [Range<Int>], all bits: Double, buffer: CodedPictureBuffer
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

  /// The bits that the whole stream takes at the highest and at the lowest QP, as far as one pass
  /// tells. A size outside that range cannot be reached.
  /// - Parameters:
  ///   - parts: the indices of each part's pictures, ascending.
  ///   - buffer: the decoder's buffer, which the concatenation of the parts keeps to; nil without a
  ///     buffer.
  /// - Returns: the range in bits.
  public func reach(of parts: [Range<Int>], buffer: CodedPictureBuffer?)
    -> ClosedRange<Double>
  {
    let streams = streams(of: parts, buffer: buffer)
    let (minimum, maximum) = (
      streams.reduce(0) { $0 + $1.bits(qp: 51) }, streams.reduce(0) { $0 + $1.bits(qp: 0) }
    )
    return min(minimum, maximum)...max(minimum, maximum)
  }

  /// The statistics of each part, with the buffer that it goes through.
  private func streams(of parts: [Range<Int>], buffer: CodedPictureBuffer?)
    -> [RemainingPass]
  {
    let state = buffer.map { BufferState($0) }
    return parts.indices.map { n in
      RemainingPass(
        part(parts[n]), buffer: state,
        end: n < parts.count - 1 ? state.map { JoinedBuffer.wanted($0, isConstant: false) } ?? 0 : 0)
    }
  }

  /// Parses statistics.
  /// - Parameter bytes: what `bytes` returned.
  /// - Throws: `VideoEncoderError.invalidConfiguration` if they are anything else.
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
