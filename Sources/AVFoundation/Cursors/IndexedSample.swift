// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// The entry of a track's index for one stored sample. Times are in units of the stream.
struct IndexedSample: Equatable, Sendable {
  /// The presentation time.
  var presentationTime: Int64 = 0
  /// The decode time.
  var decodeTime: Int64 = 0
  /// The duration; 0 if it is not known.
  var duration: Int64 = 0
  /// The size in bytes of the sample as it is delivered.
  var size: Int64 = 0
  /// The offset of the sample in the file in bytes; negative if samples of the file have no
  /// position of their own.
  var position: Int64 = -1
  var flags: Flags = []
  /// The index of the format description in the list of the sample index.
  var format: Int64 = 0

  struct Flags: OptionSet, Sendable {
    let rawValue: UInt8
    static let sync = Flags(rawValue: 1 << 0)
    /// No other sample depends on this one.
    static let disposable = Flags(rawValue: 1 << 1)
    /// The sample is decoded but not presented, because an edit list excludes it.
    static let hidden = Flags(rawValue: 1 << 2)
  }

  init() {}

  init(_ packet: MediaPacket, hasPositions: Bool, format: Int64) {
    presentationTime = packet.pts ?? packet.dts ?? 0
    decodeTime = packet.dts ?? presentationTime
    duration = max(0, packet.duration)
    size = Int64(packet.bytes.count)
    position = hasPositions ? packet.filePosition : -1
    if packet.isKeyFrame { flags.insert(.sync) }
    if packet.isDisposable { flags.insert(.disposable) }
    if packet.isDiscarded { flags.insert(.hidden) }
    self.format = format
  }

  /// Whether a packet that was read again is this sample.
  func isSame(as packet: MediaPacket, hasPositions: Bool) -> Bool {
    let other = IndexedSample(packet, hasPositions: hasPositions, format: format)
    return presentationTime == other.presentationTime && decodeTime == other.decodeTime && size == other.size
      && position == other.position
  }

  /// The offset in the file of the first byte after the sample.
  var endPosition: Int64 { position.addingClamped(size) }
}

/// A block of samples that are consecutive in decode order. Each takes a few bytes: differences
/// from the sample before it are stored as integers of variable length.
struct SampleBlock: Sendable {
  static let samples = 128

  private var bytes: [UInt8] = []
  var byteCount: Int { bytes.count }
  /// The decode time of the first sample.
  let firstDecodeTime: Int64
  /// The latest presentation time of these samples and of all before them.
  let latestPresentationTime: Int64
  /// The number of the last sync sample among these samples and all before them; -1 if there is
  /// none.
  let latestSyncSample: Int

  /// Creates a block.
  /// - Parameters:
  ///   - samples: The samples in decode order.
  ///   - number: The number of the first sample.
  ///   - before: The latest presentation time of all samples before these.
  ///   - sync: The number of the last sync sample before these; -1 if there is none.
  init(_ samples: [IndexedSample], from number: Int, latestBefore before: Int64, syncBefore sync: Int) {
    firstDecodeTime = samples.first?.decodeTime ?? 0
    latestPresentationTime = samples.reduce(before) { max($0, $1.presentationTime) }
    latestSyncSample = samples.lastIndex { $0.flags.contains(.sync) }.map { number + $0 } ?? sync
    bytes.reserveCapacity(samples.count * 10)
    var last = IndexedSample()
    for sample in samples {
      put(sample.decodeTime &- last.decodeTime)
      put(sample.presentationTime &- sample.decodeTime)
      put(sample.duration &- last.duration)
      put(sample.size)
      put(sample.position &- last.endPosition)
      put(sample.format &- last.format)
      bytes.append(sample.flags.rawValue)
      last = sample
    }
    bytes.reserveCapacity(0)
  }

  /// Returns the samples.
  func unpacked(_ count: Int) -> [IndexedSample] {
    var samples: [IndexedSample] = []
    samples.reserveCapacity(count)
    bytes.withUnsafeBufferPointer { bytes in
      var byteIndex = 0
      func take() -> Int64 {
        var (value, shift) = (UInt64(0), UInt64(0))
        while byteIndex < bytes.count {
          let byte = bytes[byteIndex]
          byteIndex += 1
          value |= UInt64(byte & 0x7F) &<< shift
          shift += 7
          if byte < 0x80 { break }
        }
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
      }
      var last = IndexedSample()
      for _ in 0..<count {
        var sample = IndexedSample()
        sample.decodeTime = last.decodeTime &+ take()
        sample.presentationTime = sample.decodeTime &+ take()
        sample.duration = last.duration &+ take()
        sample.size = take()
        sample.position = last.endPosition &+ take()
        sample.format = last.format &+ take()
        sample.flags = IndexedSample.Flags(rawValue: byteIndex < bytes.count ? bytes[byteIndex] : 0)
        byteIndex += 1
        samples.append(sample)
        last = sample
      }
    }
    return samples
  }

  /// Appends a signed integer of variable length: zigzag encoding, with seven bits in each byte,
  /// the lowest first.
  private mutating func put(_ number: Int64) {
    var rest = UInt64(bitPattern: (number &<< 1) ^ (number >> 63))
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }
}
