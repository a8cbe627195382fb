// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreMedia

/// Looks at the first packets of a file for what is wrong with its times.
struct TimeProbe {
  let streams: [MediaStream]
  /// A movie's time line is what its edit lists say: it is left alone, unless a picture comes before zero.
  let isMovie: Bool

  /// Packets of each video stream to look at, and packets and bytes in all.
  static let pictures = 48
  static let packets = 600
  static let bytes = 16 << 20

  /// True if files of this kind may need a look.
  var isWorthwhile: Bool {
    !isMovie || streams.contains { $0.kind == .video && ($0.startTime < 0 || Self.hasOrder($0)) }
  }

  /// Whether enough pictures were read.
  /// - Parameter unreadable: Streams that no packets come of.
  func isEnough(_ packets: [MediaPacket], without unreadable: Set<Int>) -> Bool {
    guard packets.count % 16 == 0 else { return false }
    return streams.filter { $0.kind == .video && !unreadable.contains($0.index) }.allSatisfy { stream in
      packets.count { $0.streamIndex == stream.index } >= Self.pictures
    } && packets.count >= Self.pictures
  }

  static func hasOrder(_ stream: MediaStream) -> Bool {
    stream.codec.codecID == AV_CODEC_ID_H264 || stream.codec.codecID == AV_CODEC_ID_HEVC
  }

  /// How far pictures are reordered, of the streams whose order is known.
  func depths(_ packets: [MediaPacket]) -> [Int: Int] {
    var result: [Int: Int] = [:]
    for stream in streams where stream.kind == .video && Self.hasOrder(stream) {
      let places = packets.filter { $0.streamIndex == stream.index }.compactMap(\.place)
      result[stream.index] = Self.depth(Self.ranks(places))
    }
    return result
  }

  private static func ranks(_ places: [PicturePlace]) -> [Int] {
    ElementaryStreamIndex.presentationRanks(
      places.map { (order: $0.order, startsSequence: $0.startsSequence) })
  }

  private static func depth(_ ranks: [Int]) -> Int {
    ranks.enumerated().reduce(0) { max($0, $1.offset - $1.element) }
  }

  /// The streams that need picture order counts.
  func ordered(_ packets: [MediaPacket]) -> [Int: (kind: PictureOrderTimes.Kind, depth: Int)] {
    var result: [Int: (kind: PictureOrderTimes.Kind, depth: Int)] = [:]
    for stream in streams where stream.kind == .video && Self.hasOrder(stream) {
      let own = packets.filter { $0.streamIndex == stream.index && !$0.bytes.isEmpty }
      let places = own.compactMap(\.place)
      guard own.count > 1, places.count == own.count else { continue }
      let depth = Self.depth(Self.ranks(places))
      let times = own.map(\.pts)
      let known = times.compactMap { $0 }
      // Anything else than decode order shows that the container knows presentation times.
      let isInDecodeOrder = zip(known, known.dropFirst()).allSatisfy { $0 <= $1 }
      if known.count < times.count, !isInDecodeOrder || (depth == 0 && !known.isEmpty) {
        result[stream.index] = (.anchors, depth)
      } else if known.count < times.count || (depth > 0 && isInDecodeOrder && !hasEdits(own)) {
        result[stream.index] = (.ticks, max(depth, stream.reorderDepth))
      }
    }
    return result
  }

  /// Packets that an edit list cuts away say nothing about the others.
  private func hasEdits(_ packets: [MediaPacket]) -> Bool { packets.contains { $0.isDiscarded } }

  /// The time that is to become zero, and where each stream begins.
  /// - Parameter packets: With their times made right.
  func origin(_ packets: [MediaPacket]) -> (origin: (value: Int64, base: AVRational)?, starts: [Int: Int64]) {
    var starts: [Int: Int64] = [:]
    for packet in packets where !packet.isDiscarded {
      guard let pts = packet.pts else { continue }
      let stream = streams[packet.streamIndex]
      // What a decoder has to drop at the beginning is not heard.
      var time = pts
      let rate = stream.codec.pointer.pointee.sample_rate
      if stream.kind == .audio, rate > 0, packet.skippedAudio.start > 0 {
        time = time.addingClamped(
          av_rescale_q(Int64(packet.skippedAudio.start), AVRational(num: 1, den: rate), stream.timeBase))
      }
      starts[packet.streamIndex] = min(starts[packet.streamIndex] ?? time, time)
    }
    var first: (value: Int64, base: AVRational)?
    for stream in streams where stream.kind == .video || (stream.kind == .audio && !isMovie) {
      guard let start = starts[stream.index] else { continue }
      if first.map({ av_compare_ts(start, stream.timeBase, $0.value, $0.base) < 0 }) ?? true {
        first = (start, stream.timeBase)
      }
    }
    guard let first, first.value != 0, !isMovie || first.value < 0 else { return (nil, starts) }
    return (first, starts)
  }
}
