// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreMedia
import Foundation

/// What has been found out about the times of a file, to be shared by all who read it.
struct TimeFacts: Sendable {
  /// What is subtracted from all times, so that the file begins at zero.
  var origin: (value: Int64, base: AVRational)?
  /// Streams whose presentation times follow from picture order counts, and how far decoding runs ahead.
  var ordered: [Int: (kind: PictureOrderTimes.Kind, depth: Int)] = [:]
  /// The first presentation time of each stream that was looked at, before `origin`.
  var starts: [Int: Int64] = [:]

  /// The origin in units of a stream.
  func shift(_ timeBase: AVRational) -> Int64 {
    origin.map { av_rescale_q($0.value, $0.base, timeBase) } ?? 0
  }
}

/// Makes the times of packets right: jumps joined, missing ones filled in. Packets go through in the file's order;
/// some are held until more is known.
struct StreamTimes {
  private let streams: [MediaStream]
  private var continuity: TimeContinuity?
  private var ordered: [Int: PictureOrderTimes] = [:]
  /// Packets from before the first one with a decode time (video) or a presentation time (sound), by stream.
  private var undated: [Int: [MediaPacket]] = [:]
  private var dated: Set<Int> = []
  /// nil where one was given out.
  private var ready: [MediaPacket?] = []
  private var readIndex = 0

  init(_ streams: [MediaStream], _ facts: TimeFacts, continuity: TimeContinuity?) {
    self.streams = streams
    self.continuity = continuity
    for (index, fact) in facts.ordered where index < streams.count {
      ordered[index] = PictureOrderTimes(fact.kind, stream: streams[index], depth: fact.depth)
    }
  }

  /// Times jump somewhere in what was read.
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

  /// What can be given out.
  var waiting: [MediaPacket] { ready[readIndex...].compactMap(\.self) }

  mutating func add(_ packet: MediaPacket) {
    let stream = streams[packet.streamIndex]
    if stream.kind == .video || stream.kind == .audio {
      continuity?.correct(packet, timeBase: stream.timeBase)
    }
    if let times = ordered[packet.streamIndex] {
      for packet in times.add(packet, packet.place) { addOrdered(packet) }
    } else {
      addOrdered(packet)
    }
  }

  /// The file has come to its end.
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

  /// Gives the first packets of a stream the times that the container does not tell (Matroska knows no decode times,
  /// and libavformat finds them only when it has seen how deep the stream reorders; and it has no times below zero).
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
      // Without a later time: from zero on.
      var time = known ?? packets.reduce(Int64(0)) { $0.addingClamped(max(step, $1.duration)) }
      for packet in packets.reversed() {
        time = time.subtractingClamped(packet.duration > 0 ? packet.duration : step)
        packet.pointer.pointee.pts = time
        if packet.dts == nil { packet.pointer.pointee.dts = time }
      }
    } else {
      // Without a later decode time: as late as the earliest presentation allows.
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
