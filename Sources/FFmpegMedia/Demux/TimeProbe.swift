// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreMedia

/// Examines the first packets of a file for what is wrong with its times.
struct TimeProbe {
  let streams: [MediaStream]
  /// Whether the file is a movie. Its time line is defined by edit lists and kept, unless a picture
  /// is presented before zero.
  let isMovie: Bool
  /// Whether the packets come at the pace at which they are made.
  var isLive = false

  /// Limits of the probe: packets of each video stream, packets in all, and bytes in all.
  var pictures: Int { isLive ? 16 : 48 }
  static let packets = 600
  static let bytes = 16 << 20

  /// Whether files of this kind may need corrections.
  var isWorthwhile: Bool {
    !isMovie || streams.contains { $0.kind == .video && ($0.startTime < 0 || Self.hasOrder($0)) }
  }

  /// Whether enough packets were read. Checked only for every 16th packet.
  /// - Parameters:
  ///   - packets: The packets read so far.
  ///   - unreadable: Indexes of streams of which no packets can be read.
  func isEnough(_ packets: [MediaPacket], without unreadable: Set<Int>) -> Bool {
    guard packets.count % 16 == 0 else { return false }
    return streams.filter { $0.kind == .video && !unreadable.contains($0.index) }.allSatisfy { stream in
      packets.count { $0.streamIndex == stream.index } >= pictures
    } && packets.count >= pictures
  }

  static func hasOrder(_ stream: MediaStream) -> Bool {
    stream.codec.codecID == AV_CODEC_ID_H264 || stream.codec.codecID == AV_CODEC_ID_HEVC
  }

  /// For each stream index, how far pictures are reordered, in frames, for the streams with picture
  /// order counts.
  func depths(_ packets: [MediaPacket]) -> [Int: Int] {
    var result: [Int: Int] = [:]
    for stream in streams where stream.kind == .video && Self.hasOrder(stream) {
      let positions = packets.filter { $0.streamIndex == stream.index }.compactMap(\.outputPosition)
      result[stream.index] = Self.depth(Self.ranks(positions))
    }
    return result
  }

  private static func ranks(_ positions: [OutputPosition]) -> [Int] {
    ElementaryStreamIndex.presentationRanks(
      positions.map { (order: $0.order, startsSequence: $0.startsSequence) })
  }

  private static func depth(_ ranks: [Int]) -> Int {
    ranks.enumerated().reduce(0) { max($0, $1.offset - $1.element) }
  }

  /// The streams whose presentation times must be computed from picture order counts, by index.
  func ordered(_ packets: [MediaPacket]) -> [Int: (kind: PictureOrderTimes.Kind, depth: Int)] {
    var result: [Int: (kind: PictureOrderTimes.Kind, depth: Int)] = [:]
    for stream in streams where stream.kind == .video && Self.hasOrder(stream) {
      let own = packets.filter { $0.streamIndex == stream.index && !$0.bytes.isEmpty }
      let positions = own.compactMap(\.outputPosition)
      guard own.count > 1, positions.count == own.count else { continue }
      let depth = Self.depth(Self.ranks(positions))
      let times = own.map(\.pts)
      let known = times.compactMap { $0 }
      // Only a container that knows presentation times stores them in an order other than that of
      // decoding.
      let isInDecodeOrder = zip(known, known.dropFirst()).allSatisfy { $0 <= $1 }
      if known.count < times.count, !isInDecodeOrder || (depth == 0 && !known.isEmpty) {
        result[stream.index] = (.anchors, depth)
      } else if known.count < times.count || (depth > 0 && isInDecodeOrder && !hasEdits(own)) {
        result[stream.index] = (.ticks, max(depth, stream.reorderDepth))
      }
    }
    return result
  }

  /// Whether an edit list removes some of the packets: their times say nothing about those of the
  /// others.
  private func hasEdits(_ packets: [MediaPacket]) -> Bool { packets.contains { $0.isDiscarded } }

  /// The time that is to become zero (nil: times are kept), and the first presentation time of each
  /// stream.
  /// - Parameter packets: Packets with corrected times.
  func origin(_ packets: [MediaPacket]) -> (origin: (value: Int64, base: AVRational)?, starts: [Int: Int64]) {
    var starts: [Int: Int64] = [:]
    for packet in packets where !packet.isDiscarded {
      guard let pts = packet.pts else { continue }
      let stream = streams[packet.streamIndex]
      // Audio that the decoder has to drop at the beginning is not presented.
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
