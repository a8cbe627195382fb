// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// What a track's index knows of one stored sample. Times are in units of the stream.
struct IndexedSample: Equatable, Sendable {
  /// When it is shown.
  var shown: Int64 = 0
  /// When it is decoded.
  var decoded: Int64 = 0
  /// 0: not known.
  var duration: Int64 = 0
  /// Bytes, as the sample is handed out.
  var size: Int64 = 0
  /// Where it begins in the file; negative: the file's samples have no place of their own.
  var position: Int64 = -1
  var flags: Flags = []
  /// Which of the formats that the index has found.
  var format: Int64 = 0

  struct Flags: OptionSet, Sendable {
    let rawValue: UInt8
    static let sync = Flags(rawValue: 1 << 0)
    /// No other sample needs it.
    static let disposable = Flags(rawValue: 1 << 1)
    /// Decoded, but not shown: an edit list cuts it away.
    static let hidden = Flags(rawValue: 1 << 2)
  }

  init() {}

  init(_ packet: MediaPacket, hasPlaces: Bool, format: Int64) {
    shown = packet.pts ?? packet.dts ?? 0
    decoded = packet.dts ?? shown
    duration = max(0, packet.duration)
    size = Int64(packet.bytes.count)
    position = hasPlaces ? packet.filePosition : -1
    if packet.isKeyFrame { flags.insert(.sync) }
    if packet.isDisposable { flags.insert(.disposable) }
    if packet.isDiscarded { flags.insert(.hidden) }
    self.format = format
  }

  /// Whether a packet that was read again is this sample.
  func isSame(as packet: MediaPacket, hasPlaces: Bool) -> Bool {
    let other = IndexedSample(packet, hasPlaces: hasPlaces, format: format)
    return shown == other.shown && decoded == other.decoded && size == other.size
      && position == other.position
  }

  /// Behind the sample in the file.
  var endPosition: Int64 { position.addingClamped(size) }
}

/// Samples that follow each other in decode order, in a few bytes each: differences from the sample before, as numbers of
/// variable length.
struct SampleBlock: Sendable {
  static let samples = 128

  private var bytes: [UInt8] = []
  var byteCount: Int { bytes.count }
  /// The decode time of the first.
  let firstDecoded: Int64
  /// The latest presentation time of these samples and of all before them.
  let latestShown: Int64
  /// The number of the last sync sample of these samples and of all before them; -1: there is none.
  let latestSync: Int

  /// - Parameters:
  ///   - samples: In decode order.
  ///   - number: Of the first.
  ///   - before: The latest presentation time of all samples before these.
  ///   - sync: The number of the last sync sample before these; -1: there is none.
  init(_ samples: [IndexedSample], from number: Int, latestBefore before: Int64, syncBefore sync: Int) {
    firstDecoded = samples.first?.decoded ?? 0
    latestShown = samples.reduce(before) { max($0, $1.shown) }
    latestSync = samples.lastIndex { $0.flags.contains(.sync) }.map { number + $0 } ?? sync
    bytes.reserveCapacity(samples.count * 10)
    var last = IndexedSample()
    for sample in samples {
      put(sample.decoded &- last.decoded)
      put(sample.shown &- sample.decoded)
      put(sample.duration &- last.duration)
      put(sample.size)
      put(sample.position &- last.endPosition)
      put(sample.format &- last.format)
      bytes.append(sample.flags.rawValue)
      last = sample
    }
    bytes.reserveCapacity(0)
  }

  /// The samples again.
  func unpacked(_ count: Int) -> [IndexedSample] {
    var samples: [IndexedSample] = []
    samples.reserveCapacity(count)
    bytes.withUnsafeBufferPointer { bytes in
      var place = 0
      func take() -> Int64 {
        var (value, shift) = (UInt64(0), UInt64(0))
        while place < bytes.count {
          let byte = bytes[place]
          place += 1
          value |= UInt64(byte & 0x7F) &<< shift
          shift += 7
          if byte < 0x80 { break }
        }
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
      }
      var last = IndexedSample()
      for _ in 0..<count {
        var sample = IndexedSample()
        sample.decoded = last.decoded &+ take()
        sample.shown = sample.decoded &+ take()
        sample.duration = last.duration &+ take()
        sample.size = take()
        sample.position = last.endPosition &+ take()
        sample.format = last.format &+ take()
        sample.flags = IndexedSample.Flags(rawValue: place < bytes.count ? bytes[place] : 0)
        place += 1
        samples.append(sample)
        last = sample
      }
    }
    return samples
  }

  /// A signed number, the nearer to zero the shorter.
  private mutating func put(_ number: Int64) {
    var rest = UInt64(bitPattern: (number &<< 1) ^ (number >> 63))
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }
}
