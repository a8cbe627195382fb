// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import Foundation
import VideoBitstream

/// The index of a raw H.264 or HEVC byte stream, which has neither timestamps nor a sample table.
///
/// Building it reads the whole stream, and records the position and the picture order count of each
/// access unit. From these follow the presentation order and, with the frame rate, all times. It is
/// immutable and shared by all demuxers of the file.
final class ElementaryStreamIndex: Sendable {
  /// An access unit: `size` bytes at `offset` in the file.
  struct Entry: Sendable {
    var offset: Int64
    var size: Int
    var isKeyFrame: Bool
    /// The picture's index in presentation order, from 0.
    var rank: Int
  }

  let units: [Entry]
  let isHEVC: Bool
  var nalCodec: NALCodec { isHEVC ? .hevc : .h264 }
  /// The largest difference between a picture's index in decoding order and its rank, in frames.
  let reorderDepth: Int
  /// The parameter sets before the first picture, for the format description.
  let parameterSets: [Data]
  /// Whether later parameter sets only repeat these, so that samples need not keep them.
  let dropsParameterSets: Bool

  /// The largest accepted access unit in bytes. No level of either standard allows nearly as many.
  private static let largestUnit = 1 << 28

  /// The values that the scan records for an access unit before the presentation order is known.
  private struct Picture {
    var offset: Int64
    var size: Int
    var order: Int
    var isKeyFrame: Bool
    var startsSequence: Bool
    var field: AVPictureStructure
  }

  /// Reads a freshly opened stream to its end.
  /// - Parameters:
  ///   - context: The file.
  ///   - stream: Its only stream.
  /// - Throws: `MediaFileError` if reading fails or the stream contains no picture.
  init(scanning context: UnsafeMutablePointer<AVFormatContext>, stream: UnsafeMutablePointer<AVStream>) throws
  {
    guard let parameters = stream.pointee.codecpar else {
      throw MediaFileError(.noStreams, "the stream has no codec parameters")
    }
    let codec = parameters.pointee.codec_id
    let isHEVC = codec == AV_CODEC_ID_HEVC
    let nalCodec: NALCodec = isHEVC ? .hevc : .h264
    guard let parser = av_parser_init(Int32(codec.rawValue)) else {
      throw MediaFileError(.unsupportedFormat, "libavcodec was built without a parser for \(codec)")
    }
    defer { av_parser_close(parser) }
    parser.pointee.flags |= PARSER_FLAG_COMPLETE_FRAMES
    var coder = avcodec_alloc_context3(nil)
    defer { avcodec_free_context(&coder) }
    guard let coder, avcodec_parameters_to_context(coder, parameters) >= 0,
      var packet = Optional(av_packet_alloc()),
      packet != nil
    else { throw MediaFileError(.outOfMemory, "out of memory") }
    defer { av_packet_free(&packet) }

    var pictures: [Picture] = []
    var sets = ParameterSetCollector(codec: nalCodec)
    // The offset of the first packet: libavformat skips data at the beginning, such as an ID3 tag.
    var begin: Int64 = 0
    var offset: Int64?
    while true {
      let code = av_read_frame(context, packet)
      if code == ovt_averror_eof() { break }
      guard code >= 0 else { throw MediaFileError.libav(code, "reading the elementary stream failed") }
      defer { av_packet_unref(packet) }
      guard let packet, let data = packet.pointee.data else { continue }
      let bytes = UnsafeRawBufferPointer(start: data, count: Int(packet.pointee.size))
      let position = offset ?? max(0, packet.pointee.pos)
      if offset == nil { begin = position }
      offset = position.addingClamped(Int64(bytes.count))

      let (hasSlice, resets) = sets.add(bytes)
      var output: UnsafeMutablePointer<UInt8>?
      var outputSize: Int32 = 0
      av_parser_parse2(
        parser, coder, &output, &outputSize, data, packet.pointee.size, ovt_av_nopts_value(),
        ovt_av_nopts_value(), 0)

      if !hasSlice {
        // Parameter sets, SEI messages or filler data without a slice belong to the preceding
        // access unit, or to the first one.
        if !pictures.isEmpty { pictures[pictures.count - 1].size += bytes.count }
      } else {
        let start = pictures.isEmpty ? begin : position
        let picture = Picture(
          offset: start, size: Int(position - start) + bytes.count,
          order: Int(parser.pointee.output_picture_number),
          isKeyFrame: packet.pointee.flags & AV_PKT_FLAG_KEY != 0 || resets,
          startsSequence: resets, field: parser.pointee.picture_structure)
        Self.append(picture, to: &pictures, pairsFields: !isHEVC)
      }
      guard pictures.last?.size ?? 0 <= ElementaryStreamIndex.largestUnit else {
        throw MediaFileError(
          .damaged, "the stream has an access unit of more than \(ElementaryStreamIndex.largestUnit) bytes",
          code: ovt_averror_invaliddata())
      }
    }
    guard !pictures.isEmpty else {
      throw MediaFileError(.damaged, "the stream contains no picture", code: ovt_averror_invaliddata())
    }

    let ranks = ElementaryStreamIndex.presentationRanks(
      pictures.map { (order: $0.order, startsSequence: $0.startsSequence) })
    units = zip(pictures, ranks).map {
      Entry(offset: $0.offset, size: $0.size, isKeyFrame: $0.isKeyFrame, rank: $1)
    }
    reorderDepth = ranks.enumerated().reduce(0) { max($0, $1.offset - $1.element) }
    parameterSets = ElementaryStreamIndex.inStandardOrder(sets.header, nalCodec)
    dropsParameterSets =
      sets.repeatsOnly && ElementaryStreamIndex.identifiersDiffer(sets.header, nalCodec)
    self.isHEVC = isHEVC
  }

  /// Adds a picture in decoding order.
  /// - Parameters:
  ///   - picture: A frame or a field.
  ///   - pictures: The pictures before it.
  ///   - pairsFields: Whether the second field of a frame joins the first one.
  private static func append(_ picture: Picture, to pictures: inout [Picture], pairsFields: Bool) {
    guard pairsFields, let last = pictures.last, last.field.isField, picture.field.isField,
      last.field != picture.field
    else { return pictures.append(picture) }
    pictures[pictures.count - 1].size += picture.size
    pictures[pictures.count - 1].field = AV_PICTURE_STRUCTURE_FRAME
    pictures[pictures.count - 1].order = min(last.order, picture.order)
  }

  /// Converts picture order counts, in decoding order, to indexes in presentation order.
  /// - Parameter pictures: For each picture its order count, and whether counts before it cannot be
  ///   compared with those after it (IDR, BLA).
  static func presentationRanks(_ pictures: [(order: Int, startsSequence: Bool)]) -> [Int] {
    var ranks = [Int](repeating: 0, count: pictures.count)
    var begin = 0
    func close(_ end: Int) {
      let sorted = (begin..<end).sorted { (pictures[$0].order, $0) < (pictures[$1].order, $1) }
      for (position, index) in sorted.enumerated() { ranks[index] = begin + position }
      begin = end
    }
    // The decoded picture buffer holds at most 16 frames (H.264, A.3.1), so that no picture is
    // output later than that. One that seems to precede a picture that much older shows that the
    // counts were reset (memory_management_control_operation 5).
    var outputOrder = Int.min
    for (index, picture) in pictures.enumerated() {
      if index - begin > 16 { outputOrder = max(outputOrder, pictures[index - 17].order) }
      if index > begin, picture.startsSequence || picture.order < outputOrder {
        close(index)
        outputOrder = Int.min
      }
    }
    close(pictures.count)
    return ranks
  }

  private static func inStandardOrder(_ sets: [Data], _ codec: NALCodec) -> [Data] {
    codec.parameterSetTypes.flatMap { type in
      sets.filter { $0.first.map { codec.unitType($0) } == type }
    }
  }

  /// Whether no two parameter sets of one type have the same identifier, so that none replaces
  /// another one during the stream.
  private static func identifiersDiffer(_ sets: [Data], _ codec: NALCodec) -> Bool {
    struct Key: Hashable {
      var type: UInt8
      var id: Int
    }
    var seen: Set<Key> = []
    for set in sets {
      guard let type = set.first.map({ codec.unitType($0) }),
        let id = codec.parameterSetIdentifier(set, type: type)
      else { return false }
      if !seen.insert(Key(type: type, id: id)).inserted { return false }
    }
    return true
  }
}

extension AVPictureStructure {
  fileprivate var isField: Bool {
    self == AV_PICTURE_STRUCTURE_TOP_FIELD || self == AV_PICTURE_STRUCTURE_BOTTOM_FIELD
  }
}

/// Collects the parameter sets of an elementary stream.
private struct ParameterSetCollector {
  let codec: NALCodec
  /// The sets up to the first slice; nil before it.
  private var setsBeforeSlice: [Data]?
  private var sets: [Data] = []
  private var known: Set<[UInt8]> = []
  /// Whether all parameter sets after the first slice repeat earlier ones.
  private(set) var repeatsOnly = true

  init(codec: NALCodec) { self.codec = codec }

  /// The sets before the first slice, or all sets of a stream without slices.
  var header: [Data] { setsBeforeSlice ?? sets }

  /// Takes the parameter sets from a packet.
  /// - Parameter bytes: A byte stream of NAL units with start codes.
  /// - Returns: Whether the packet has a slice, and whether no later picture refers to pictures
  ///   before it.
  mutating func add(_ bytes: UnsafeRawBufferPointer) -> (hasSlice: Bool, resets: Bool) {
    var (hasSlice, resets) = (false, false)
    ByteStream.forEachUnit(in: bytes) { range in
      let type = codec.unitType(bytes[range.lowerBound])
      if codec.isParameterSet(type) {
        add([UInt8](bytes[range]))
      } else if codec.isSlice(type) {
        hasSlice = true
        if codec.closesReferences(type) { resets = true }
      }
    }
    if hasSlice, setsBeforeSlice == nil { setsBeforeSlice = sets }
    return (hasSlice, resets)
  }

  private mutating func add(_ unit: [UInt8]) {
    guard !known.contains(unit) else { return }
    if known.count < NALCodec.maxParameterSets { known.insert(unit) }
    if setsBeforeSlice != nil { repeatsOnly = false }
    if sets.count < NALCodec.maxParameterSets {
      sets.append(Data(unit))
    } else {
      repeatsOnly = false
    }
  }
}
