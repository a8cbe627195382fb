// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreMedia
import Foundation
import VideoBitstream

/// The position of a coded picture in output order, from its slice header.
struct OutputPosition: Sendable {
  /// The picture order count (H.264, 8.2.1; H.265, 8.3.1).
  var order: Int
  /// Whether this is an IDR or BLA picture: order counts before it and after it cannot be compared.
  var startsSequence: Bool
}

/// Reads the picture order counts of an H.264 or HEVC stream, packet by packet.
final class PictureOrderReader {
  private let parser: UnsafeMutablePointer<AVCodecParserContext>
  private var coder: UnsafeMutablePointer<AVCodecContext>?
  private let codec: NALCodec
  private let isAnnexB: Bool
  private let lengthSize: Int

  /// Makes a reader with the stream's parameter sets.
  /// - Returns: nil if the codec is neither H.264 nor HEVC, or if memory runs out.
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

  /// Parses the slice header of a picture; nil for an empty packet. Packets must come in decoding
  /// order.
  /// - Parameter packet: The packet as the container stores it.
  func outputPosition(of packet: MediaPacket) -> OutputPosition? {
    let bytes = UnsafeRawBufferPointer(packet.bytes)
    guard bytes.count > 0, let base = packet.pointer.pointee.data else { return nil }
    var output: UnsafeMutablePointer<UInt8>?
    var outputSize: Int32 = 0
    let none = ovt_av_nopts_value()
    av_parser_parse2(
      parser, coder, &output, &outputSize, base, packet.pointer.pointee.size, none, none, 0)
    return OutputPosition(order: Int(parser.pointee.output_picture_number), startsSequence: resets(bytes))
  }

  /// Whether an IDR or BLA picture is among the NAL units.
  private func resets(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var found = false
    func readUnit(_ range: Range<Int>) -> Bool {
      if codec.closesReferences(codec.unitType(bytes[range.lowerBound])) { found = true }
      return !found
    }
    if isAnnexB {
      ByteStream.forEachUnit(in: bytes) { _ = readUnit($0) }
    } else if LengthPrefix.isValid(lengthSize) {
      LengthPrefix.forEachUnit(in: bytes, lengthSize: lengthSize, readUnit)
    }
    return found
  }
}

/// Computes the presentation times of a stream whose container has none, or has them in decoding
/// order.
///
/// Packets are added and returned in decoding order. They are held until enough later pictures are
/// known to tell the position of each in output order.
final class PictureOrderTimes {
  enum Kind: Sendable {
    /// The container's times are those of a clock that advances with each packet: the picture of
    /// output position N is presented at the Nth time.
    case ticks
    /// Some packets have a presentation time; those of the others are counted from these by the
    /// frame rate.
    case anchors
  }

  private struct Entry {
    /// nil once the packet was returned.
    var packet: MediaPacket?
    let order: Int
    /// The container's time, in decoding order (`ticks`), or the picture's own presentation time,
    /// if it has one (`anchors`).
    let time: Int64?
  }

  private let kind: Kind
  private let step: Int64
  /// The number of pictures by which decode times must precede presentation times.
  private let depth: Int
  private let frameRate: AVRational
  private let timeBase: AVRational
  /// The number of later pictures after which a picture's output position is taken as final.
  private let horizon: Int
  /// The pictures since the last IDR or BLA picture, in decoding order, without the oldest ones.
  private var sequence: [Entry] = []
  private var emitted = 0
  /// Up to 32 times of the pictures before `sequence`, the latest one last.
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

  func add(_ packet: MediaPacket, _ position: OutputPosition?) -> [MediaPacket] {
    var out: [MediaPacket] = []
    let outputOrder = sequence.dropLast(16).map(\.order).max() ?? Int.min
    let order = position?.order ?? (sequence.map(\.order).max() ?? -1) + 1
    if position?.startsSequence == true || order < outputOrder { out = finish() }
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

  /// Returns all packets that are held, at the end of a sequence or of the stream.
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
      let presentationTime = tick(rank)
      packet.pointer.pointee.pts = presentationTime
      packet.pointer.pointee.dts = min(presentationTime, tick(emitted - depth))
    case .anchors:
      if entry.time == nil, let presentationTime = counted(rank) {
        packet.pointer.pointee.pts = presentationTime
      }
    }
    emitted += 1
    return packet
  }

  /// The time at a position of the sequence. Positions below zero are before it, those beyond its
  /// end are extrapolated.
  private func tick(_ position: Int) -> Int64 {
    let first = sequence.first?.time ?? 0
    if position >= 0 {
      let last = sequence.count - 1
      let tick = sequence[min(position, last)].time ?? first
      return position > last ? tick.addingClamped(step.multipliedClamped(by: Int64(position - last))) : tick
    }
    if past.count + position >= 0 { return past[past.count + position] }
    return (past.first ?? first).subtractingClamped(
      step.multipliedClamped(by: Int64(-position - past.count)))
  }

  /// The presentation time of an output position, counted from the nearest picture that has a time;
  /// nil if none has.
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
