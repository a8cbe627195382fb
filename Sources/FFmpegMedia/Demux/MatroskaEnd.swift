// SPDX-License-Identifier: Apache-2.0

/// The end of a Matroska or WebM file that does not state its duration: a recording that a browser
/// has made, or one that was interrupted. It follows from the blocks of the last cluster (RFC 9559,
/// 5.1.3), which is found from the end of the file, so that only a small part of the file is read.
struct MatroskaEnd {
  private enum ID {
    static let cluster: UInt64 = 0x1F43_B675
    static let timestamp: UInt64 = 0xE7
    static let simpleBlock: UInt64 = 0xA3
    static let blockGroup: UInt64 = 0xA0
    static let block: UInt64 = 0xA1
    static let blockDuration: UInt64 = 0x9B
  }

  /// The times of a track, in ticks of the segment.
  private struct Track {
    var last = Int64.min
    var previous: Int64?
    /// The duration that the last block states; nil: it states none.
    var duration: Int64?

    /// When the last block ends. A block that states no duration is taken to last as long as the
    /// one before it.
    var end: Int64 {
      let step = previous.map { last.subtractingClamped($0) } ?? 0
      return last.addingClamped(max(duration ?? step, 0))
    }
  }

  /// The bytes at the end of a local file that are searched for clusters, in turn. Of other sources
  /// the first number alone are read.
  private static let windows = [1 << 20, 1 << 25]
  /// The most elements that are read, which bounds the work for a malicious file.
  private static let mostElements = 1 << 20

  private var bytes: [UInt8] = []
  /// The elements that may still be read.
  private var budget = mostElements
  private let interruption: MediaInterruption

  /// Returns when the file ends, in ticks of the segment (TimestampScale); nil if no cluster with a
  /// block is found near the end of the file.
  /// - Parameters:
  ///   - reader: gives the file's bytes. Its length must be known.
  ///   - interruption: ends the search when it is set.
  static func ticks(_ reader: any MediaByteReader, interruption: MediaInterruption) -> Int64? {
    guard let length = reader.length, length > 0 else { return nil }
    var search = MatroskaEnd(interruption: interruption)
    for window in reader is LocalFileReader ? windows : [windows[0]] {
      let count = Int(min(Int64(window), length))
      guard !interruption.isSet, search.read(reader, last: count, of: length) else { return nil }
      if let end = search.end() { return end }
      if Int64(count) == length { return nil }
    }
    return nil
  }

  private init(interruption: MediaInterruption) { self.interruption = interruption }

  /// Reads the last `count` bytes of a file of `length` bytes.
  /// - Returns: whether all of them could be read.
  private mutating func read(_ reader: any MediaByteReader, last count: Int, of length: Int64) -> Bool {
    bytes = [UInt8](repeating: 0, count: count)
    let filled = bytes.withUnsafeMutableBytes { buffer in
      var filled = 0
      while filled < count {
        let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
        let more = (try? reader.read(at: length - Int64(count - filled), into: rest)) ?? 0
        guard more > 0 else { break }
        filled += more
      }
      return filled
    }
    return filled == count
  }

  /// When the last block of the last cluster ends, in ticks; nil if there is none. Where a track
  /// has one block in that cluster, the cluster before it says how long a block lasts.
  private mutating func end() -> Int64? {
    var tracks: [UInt64: Track] = [:]
    var at = bytes.count - 4
    while at >= 0, budget > 0 {
      if bytes[at] == 0x1F, bytes[at + 1] == 0x43, bytes[at + 2] == 0xB6, bytes[at + 3] == 0x75,
        let (_, sizeLength) = variable(at + 4, keepsMarker: false)
      {
        let found = readCluster(from: at + 4 + sizeLength)
        if !tracks.isEmpty, !found.isEmpty {
          for (number, earlier) in found where tracks[number]?.previous == nil {
            if let last = tracks[number]?.last, earlier.last < last {
              tracks[number]?.previous = earlier.last
            }
          }
          break
        }
        tracks = found
        if !tracks.isEmpty, tracks.values.allSatisfy({ $0.previous != nil || $0.duration != nil }) { break }
      }
      at -= 1
    }
    return tracks.values.map(\.end).max()
  }

  /// The times of each track in a cluster; empty if these bytes are not those of a cluster, whose
  /// timestamp precedes its blocks, or if it has no block.
  /// - Parameter start: where the content of the cluster begins.
  private mutating func readCluster(from start: Int) -> [UInt64: Track] {
    var timestamp: Int64?
    var tracks: [UInt64: Track] = [:]
    func record(_ search: MatroskaEnd, _ body: Range<Int>, duration: Int64?) {
      guard let timestamp, let (track, length) = search.variable(body.lowerBound, keepsMarker: false),
        body.lowerBound + length + 2 <= min(body.upperBound, search.bytes.count)
      else { return }
      let at = body.lowerBound + length
      let offset = Int16(bitPattern: UInt16(search.bytes[at]) << 8 | UInt16(search.bytes[at + 1]))
      let time = timestamp.addingClamped(Int64(offset))
      var known = tracks[track] ?? Track()
      // B pictures are stored after a picture that is shown later.
      if time > known.last {
        known.previous = known.last == .min ? nil : known.last
        known.last = time
        known.duration = duration
      } else if time < known.last, time > known.previous ?? .min {
        known.previous = time
      }
      tracks[track] = known
    }
    forEach(in: start..<bytes.count) { search, id, body in
      switch id {
      case ID.timestamp:
        timestamp = search.integer(body)
        return timestamp != nil
      case ID.simpleBlock: record(search, body, duration: nil)
      case ID.blockGroup:
        var (block, duration): (Range<Int>?, Int64?) = (nil, nil)
        search.forEach(in: body) { search, id, body in
          if id == ID.block { block = body }
          if id == ID.blockDuration { duration = search.integer(body) }
          return true
        }
        if let block { record(search, block, duration: duration) }
      case ID.cluster: return false
      default: break
      }
      // Blocks without a timestamp before them are other data that looks like a cluster.
      return timestamp != nil || id != ID.simpleBlock && id != ID.blockGroup
    }
    return tracks
  }

  /// Calls `body` with the identifier and the content's range of each element, until it returns
  /// false. The last element may be cut off by the end of the file.
  private mutating func forEach(
    in range: Range<Int>, _ body: (inout MatroskaEnd, UInt64, Range<Int>) -> Bool
  ) {
    var at = range.lowerBound
    while at < range.upperBound, budget > 0 {
      budget -= 1
      if budget & 0xFFF == 0, interruption.isSet { budget = 0 }
      guard let (id, idLength) = variable(at, keepsMarker: true),
        let (size, sizeLength) = variable(at + idLength, keepsMarker: false)
      else { return }
      let start = at + idLength + sizeLength
      guard start <= range.upperBound else { return }
      let end = min(start.addingClamped(Int(clamping: size)), range.upperBound)
      guard body(&self, id, start..<end) else { return }
      at = end
    }
  }

  /// Reads a variable-size integer (RFC 8794, 4): an element's identifier keeps the length marker,
  /// a size does not.
  private func variable(_ at: Int, keepsMarker: Bool) -> (UInt64, length: Int)? {
    guard at >= 0, at < bytes.count, bytes[at] > 0 else { return nil }
    let length = bytes[at].leadingZeroBitCount + 1
    guard at + length <= bytes.count else { return nil }
    let value = bytes[at..<at + length].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let marker = UInt64(1) << UInt64(7 * length)
    return (keepsMarker ? value : value & (marker - 1), length)
  }

  /// Reads an unsigned integer of one to eight bytes; nil for other lengths.
  private func integer(_ body: Range<Int>) -> Int64? {
    guard (1...8).contains(body.count) else { return nil }
    return Int64(clamping: bytes[body].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
  }
}
