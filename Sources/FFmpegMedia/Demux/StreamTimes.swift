// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreMedia
import Foundation

/// The corrections of a file's times, shared by all demuxers of the file.
struct TimeCorrections: Sendable {
  /// The time that is subtracted from all times, so that the file begins at zero; nil: nothing.
  var origin: (value: Int64, base: AVRational)?
  /// For each stream index, how presentation times follow from picture order counts, and by how
  /// many pictures decode times must precede them. Other streams keep their times.
  var ordered: [Int: (kind: PictureOrderTimes.Kind, depth: Int)] = [:]
  /// For each stream that was probed, by its index, its first presentation time, before `origin` is
  /// subtracted.
  var starts: [Int: Int64] = [:]

  /// The origin in units of a time base.
  func shift(_ timeBase: AVRational) -> Int64 {
    origin.map { av_rescale_q($0.value, $0.base, timeBase) } ?? 0
  }
}

/// Corrects the times of packets: joins discontinuities and fills in missing times. Packets are
/// added in the file's order; some are held until later ones are known.
struct StreamTimes {
  private let streams: [MediaStream]
  private var continuity: TimeContinuity?
  private var ordered: [Int: PictureOrderTimes] = [:]
  /// For each stream index, the packets before the first one with a decode time (video) or a
  /// presentation time (audio).
  private var undated: [Int: [MediaPacket]] = [:]
  private var dated: Set<Int> = []
  /// The packets to be returned; nil where one was returned already.
  private var ready: [MediaPacket?] = []
  private var readIndex = 0

  init(_ streams: [MediaStream], _ properties: TimeCorrections, continuity: TimeContinuity?) {
    self.streams = streams
    self.continuity = continuity
    for (index, entry) in properties.ordered where index < streams.count {
      ordered[index] = PictureOrderTimes(entry.kind, stream: streams[index], depth: entry.depth)
    }
  }

  /// Whether a discontinuity was found in the packets so far.
  var isBroken: Bool { continuity?.isBroken ?? false }

  mutating func next() -> MediaPacket? {
    guard readIndex < ready.count else {
      ready.removeAll(keepingCapacity: true)
      readIndex = 0
      return nil
    }
    defer {
      ready[readIndex] = nil
      readIndex += 1
    }
    return ready[readIndex]
  }

  /// The corrected packets that `next()` has not returned yet.
  var waiting: [MediaPacket] { ready[readIndex...].compactMap(\.self) }

  mutating func add(_ packet: MediaPacket) {
    let stream = streams[packet.streamIndex]
    if stream.kind == .video || stream.kind == .audio {
      continuity?.correct(packet, timeBase: stream.timeBase)
    }
    if let times = ordered[packet.streamIndex] {
      for packet in times.add(packet, packet.outputPosition) { addOrdered(packet) }
    } else {
      addOrdered(packet)
    }
  }

  /// Ends the input: all packets that are held get their times.
  mutating func finish() {
    for index in ordered.keys.sorted() {
      for packet in ordered[index]?.finish() ?? [] { addOrdered(packet) }
    }
    for index in undated.keys.sorted() { date(index, before: nil) }
  }

  private mutating func addOrdered(_ packet: MediaPacket) {
    let index = packet.streamIndex
    let kind = streams[index].kind
    guard !dated.contains(index), kind == .video || kind == .audio else { return ready.append(packet) }
    let time = kind == .video ? packet.dts : packet.pts
    if let time {
      date(index, before: time)
      ready.append(packet)
    } else if undated[index, default: []].count < 32 {
      undated[index, default: []].append(packet)
    } else {
      date(index, before: nil)
      ready.append(packet)
    }
  }

  /// Sets the times of the first packets of a stream that the container does not store. Matroska
  /// stores no decode times, and libavformat computes them only after it has seen how far the
  /// stream is reordered; nor does it store times below zero.
  /// - Parameters:
  ///   - index: The stream's index.
  ///   - known: The time of the first packet that has one, in units of the time base; nil if none
  ///     has.
  private mutating func date(_ index: Int, before known: Int64?) {
    dated.insert(index)
    guard let packets = undated.removeValue(forKey: index), !packets.isEmpty else { return }
    let stream = streams[index]
    let rate = stream.averageFrameRate
    let frame =
      rate.num > 0 && rate.den > 0
      ? av_rescale_q(1, AVRational(num: rate.den, den: rate.num), stream.timeBase) : 0
    let step = max(1, packets.first { $0.duration > 0 }?.duration ?? frame)
    if stream.kind == .audio {
      // Without a later time, audio begins at zero.
      var time = known ?? packets.reduce(Int64(0)) { $0.addingClamped(max(step, $1.duration)) }
      for packet in packets.reversed() {
        time = time.subtractingClamped(packet.duration > 0 ? packet.duration : step)
        packet.pointer.pointee.pts = time
        if packet.dts == nil { packet.pointer.pointee.dts = time }
      }
    } else {
      // Without a later decode time, decoding is as late as the earliest presentation allows.
      var time =
        known
        ?? (packets.enumerated().compactMap { item in
          item.element.pts.map {
            $0.addingClamped(step.multipliedClamped(by: Int64(packets.count - item.offset)))
          }
        }.min() ?? 0)
      for packet in packets.reversed() {
        time = time.subtractingClamped(step)
        if let pts = packet.pts { time = min(time, pts) }
        packet.pointer.pointee.dts = time
      }
    }
    ready += packets.map { $0 }
  }
}
