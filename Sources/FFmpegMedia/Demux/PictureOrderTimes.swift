// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreMedia
import Foundation
import VideoBitstream

/// Where a coded picture stands in the order of presentation, as its slice header tells.
struct PicturePlace: Sendable {
  /// The picture order count.
  var order: Int
  /// Counts before and after cannot be compared.
  var startsSequence: Bool
}

/// Reads the picture order counts of an H.264 or HEVC stream, packet by packet.
final class PictureOrderReader {
  private let parser: UnsafeMutablePointer<AVCodecParserContext>
  private var coder: UnsafeMutablePointer<AVCodecContext>?
  private let codec: NALCodec
  private let isAnnexB: Bool
  private let lengthSize: Int

  /// - Returns: nil if the codec has no such counts.
  init?(_ stream: MediaStream) {
    let id = stream.codec.codecID
    guard id == AV_CODEC_ID_H264 || id == AV_CODEC_ID_HEVC, let parser = av_parser_init(Int32(id.rawValue))
    else { return nil }
    self.parser = parser
    parser.pointee.flags |= PARSER_FLAG_COMPLETE_FRAMES
    codec = id == AV_CODEC_ID_HEVC ? .hevc : .h264
    isAnnexB = stream.isAnnexB
    let record = stream.codec.extradata
    let sizeAt = codec == .hevc ? 21 : 4
    lengthSize = record.count > sizeAt ? Int(record[sizeAt] & 3) + 1 : 4
    coder = avcodec_alloc_context3(nil)
    guard let coder, avcodec_parameters_to_context(coder, stream.codec.pointer) >= 0 else { return nil }
  }

  deinit {
    av_parser_close(parser)
    avcodec_free_context(&coder)
  }

  /// - Parameter packet: As the container holds it.
  func place(of packet: MediaPacket) -> PicturePlace? {
    let bytes = UnsafeRawBufferPointer(packet.bytes)
    guard bytes.count > 0, let base = packet.pointer.pointee.data else { return nil }
    var output: UnsafeMutablePointer<UInt8>?
    var outputSize: Int32 = 0
    let none = ovt_av_nopts_value()
    av_parser_parse2(
      parser, coder, &output, &outputSize, base, packet.pointer.pointee.size, none, none, 0)
    return PicturePlace(order: Int(parser.pointee.output_picture_number), startsSequence: resets(bytes))
  }

  /// Whether an IDR or BLA picture is among the NAL units.
  private func resets(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var found = false
    func look(_ range: Range<Int>) -> Bool {
      if codec.closesReferences(codec.unitType(bytes[range.lowerBound])) { found = true }
      return !found
    }
    if isAnnexB {
      ByteStream.forEachUnit(in: bytes) { _ = look($0) }
    } else if LengthPrefix.isValid(lengthSize) {
      LengthPrefix.forEachUnit(in: bytes, lengthSize: lengthSize, look)
    }
    return found
  }
}

/// Gives the pictures of a stream the presentation times that its container has not, or has in decode order.
///
/// Packets go in and come out in decode order; they are held until it is known how many pictures come between.
final class PictureOrderTimes {
  enum Kind: Sendable {
    /// The container's times are those of a clock that ticks with each packet: a picture takes the tick of its rank.
    case ticks
    /// Some packets have their presentation time; the others are counted from these.
    case anchors
  }

  private struct Entry {
    /// nil once it was given out.
    var packet: MediaPacket?
    let order: Int
    /// The container's time, in decode order (`ticks`), or the picture's own, if it has one (`anchors`).
    let time: Int64?
  }

  private let kind: Kind
  private let step: Int64
  /// How far decode times run ahead of presentation times, in pictures.
  private let depth: Int
  private let frameRate: AVRational
  private let timeBase: AVRational
  /// No picture waits for more than this many later ones.
  private let horizon: Int
  /// The pictures of the sequence in decode order, the oldest ones cut off.
  private var sequence: [Entry] = []
  private var emitted = 0
  /// Times of the pictures before the sequence, the latest last.
  private var past: [Int64] = []
  private var lastTick: Int64?

  init(_ kind: Kind, stream: MediaStream, depth: Int) {
    self.kind = kind
    self.depth = depth
    timeBase = stream.timeBase
    frameRate = stream.averageFrameRate
    horizon = kind == .ticks ? 17 : 64
    step =
      frameRate.num > 0 && frameRate.den > 0
      ? max(1, av_rescale_q(1, AVRational(num: frameRate.den, den: frameRate.num), stream.timeBase)) : 1
  }

  func add(_ packet: MediaPacket, _ place: PicturePlace?) -> [MediaPacket] {
    var out: [MediaPacket] = []
    let settled = sequence.dropLast(16).map(\.order).max() ?? Int.min
    let order = place?.order ?? (sequence.map(\.order).max() ?? -1) + 1
    if place?.startsSequence == true || order < settled { out = finish() }
    sequence.append(Entry(packet: packet, order: order, time: time(of: packet)))
    while sequence.count - emitted > horizon, let packet = emit() { out.append(packet) }
    let old = min(emitted, sequence.count - 3 * horizon)
    if old > 0 {
      past = (past + sequence.prefix(old).compactMap(\.time)).suffix(32)
      sequence.removeFirst(old)
      emitted -= old
    }
    return out
  }

  /// What is still held: the end of a sequence, or of the stream.
  func finish() -> [MediaPacket] {
    var out: [MediaPacket] = []
    while emitted < sequence.count, let packet = emit() { out.append(packet) }
    past = (past + sequence.compactMap(\.time)).suffix(32)
    sequence = []
    emitted = 0
    return out
  }

  private func time(of packet: MediaPacket) -> Int64? {
    guard kind == .ticks else { return packet.pts }
    let duration = packet.duration > 0 ? packet.duration : step
    var tick = packet.dts ?? packet.pts ?? lastTick.map { $0.addingClamped(duration) } ?? 0
    if let lastTick, tick <= lastTick { tick = lastTick.addingClamped(1) }
    lastTick = tick
    return tick
  }

  private func rank(_ index: Int) -> Int {
    let order = sequence[index].order
    var rank = 0
    for (other, entry) in sequence.enumerated() {
      if entry.order < order || (entry.order == order && other < index) { rank += 1 }
    }
    return rank
  }

  private func emit() -> MediaPacket? {
    let entry = sequence[emitted]
    guard let packet = entry.packet else { return nil }
    sequence[emitted].packet = nil
    let rank = rank(emitted)
    switch kind {
    case .ticks:
      let shown = tick(rank)
      packet.pointer.pointee.pts = shown
      packet.pointer.pointee.dts = min(shown, tick(emitted - depth))
    case .anchors:
      if entry.time == nil, let shown = counted(rank) { packet.pointer.pointee.pts = shown }
    }
    emitted += 1
    return packet
  }

  /// The tick at a place of the sequence; places below zero are before it.
  private func tick(_ place: Int) -> Int64 {
    let first = sequence.first?.time ?? 0
    if place >= 0 {
      let last = sequence.count - 1
      let tick = sequence[min(place, last)].time ?? first
      return place > last ? tick.addingClamped(step.multipliedClamped(by: Int64(place - last))) : tick
    }
    if past.count + place >= 0 { return past[past.count + place] }
    return (past.first ?? first).subtractingClamped(
      step.multipliedClamped(by: Int64(-place - past.count)))
  }

  /// The time of a rank, counted from the nearest picture that has one.
  private func counted(_ rank: Int) -> Int64? {
    var best: (distance: Int, time: Int64)?
    for (index, entry) in sequence.enumerated() {
      guard let time = entry.time else { continue }
      let distance = rank - self.rank(index)
      if best.map({ abs(distance) < abs($0.distance) }) ?? true { best = (distance, time) }
    }
    guard let best else { return nil }
    guard frameRate.num > 0, frameRate.den > 0 else {
      return best.time.addingClamped(step.multipliedClamped(by: Int64(best.distance)))
    }
    return best.time.addingClamped(
      av_rescale_q(Int64(best.distance), AVRational(num: frameRate.den, den: frameRate.num), timeBase))
  }
}
