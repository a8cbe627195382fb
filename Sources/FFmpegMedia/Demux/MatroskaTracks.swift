// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import CFFmpeg
import Foundation

/// Properties of a Matroska file's tracks that libavformat does not expose (RFC 9559, 5.1.4):
/// encryption without a key identifier, and cropping; and the unit of its times.
struct MatroskaTracks {
  fileprivate struct Track {
    var type = 0
    var isEncrypted = false
    /// Pixels to be cropped, in the order left, top, right, bottom.
    var crop = [0, 0, 0, 0]
    var display = (width: 0, height: 0, unit: 0)
  }

  private enum ID {
    static let header: UInt64 = 0x1A45_DFA3
    static let segment: UInt64 = 0x1853_8067
    static let cluster: UInt64 = 0x1F43_B675
    static let info: UInt64 = 0x1549_A966
    static let timestampScale: UInt64 = 0x2AD7B1
    static let tracks: UInt64 = 0x1654_AE6B
    static let seekHead: UInt64 = 0x114D_9B74
    static let seek: UInt64 = 0x4DBB
    static let seekID: UInt64 = 0x53AB
    static let seekPosition: UInt64 = 0x53AC
    static let entry: UInt64 = 0xAE
    static let type: UInt64 = 0x83
    static let video: UInt64 = 0xE0
    static let encodings: UInt64 = 0x6D80
    static let encoding: UInt64 = 0x6240
    static let encodingType: UInt64 = 0x5033
    /// Left, top, right, bottom.
    static let crop: [UInt64] = [0x54CC, 0x54BB, 0x54DD, 0x54AA]
    static let displayWidth: UInt64 = 0x54B0
    static let displayHeight: UInt64 = 0x54BA
    static let displayUnit: UInt64 = 0x54B2
  }

  private let bytes: ByteWindow
  private var tracks: [Track] = []
  /// The nanoseconds of a tick of the segment (RFC 9559, 5.1.2.9).
  private(set) var timestampScale: Int64 = 1_000_000
  /// Elements that may still be parsed, which bounds the work for a malicious file.
  private var budget = 1 << 14

  init(_ reader: any MediaByteReader) {
    bytes = ByteWindow(reader)
    // The largest possible length stands for an unknown one.
    let end = min(reader.length ?? 1 << 62, 1 << 62)
    forEach(in: 0..<end) { reader, id, body in
      guard id == ID.segment else { return id == ID.header }
      reader.readSegment(body)
      return false
    }
  }

  /// Reads the elements before the first cluster, and then the ones to which a SeekHead refers (RFC
  /// 9559, 5.1.1).
  private mutating func readSegment(_ segment: Range<Int64>) {
    var isFound = false
    var lists: [Range<Int64>] = []
    forEach(in: segment) { reader, id, body in
      if id == ID.seekHead { lists.append(body) }
      if id == ID.info {
        reader.forEach(in: body) { reader, id, body in
          if id == ID.timestampScale, let scale = reader.integer(body), scale > 0 {
            reader.timestampScale = Int64(clamping: scale)
          }
          return true
        }
      }
      if id == ID.tracks {
        isFound = true
        reader.forEach(in: body) { $0.readEntry($1, $2) }
      }
      return id != ID.cluster && id != ID.tracks
    }
    var known: Set<Int64> = []
    while !isFound, !lists.isEmpty {
      for (wanted, offset) in seekEntries(in: lists.removeFirst()) where !isFound {
        let position = segment.lowerBound.addingClamped(offset)
        // A SeekHead may refer to itself, or to another one.
        guard [ID.tracks, ID.seekHead].contains(wanted), segment.contains(position),
          known.insert(position).inserted
        else { continue }
        forEach(in: position..<segment.upperBound) { reader, id, body in
          guard id == wanted else { return false }
          if id == ID.seekHead {
            lists.append(body)
          } else {
            isFound = true
            reader.forEach(in: body) { $0.readEntry($1, $2) }
          }
          return false
        }
      }
    }
  }

  /// The elements to which a SeekHead refers, with their offsets in bytes from the beginning of the
  /// segment's content.
  private mutating func seekEntries(in list: Range<Int64>) -> [(id: UInt64, offset: Int64)] {
    var found: [(id: UInt64, offset: Int64)] = []
    forEach(in: list) { reader, id, body in
      guard id == ID.seek else { return true }
      var (wanted, offset): (UInt64?, UInt64?) = (nil, nil)
      reader.forEach(in: body) { reader, id, body in
        if id == ID.seekID { wanted = reader.integer(body) }
        if id == ID.seekPosition { offset = reader.integer(body) }
        return true
      }
      if let wanted, let offset { found.append((wanted, Int64(clamping: offset))) }
      return true
    }
    return found
  }

  /// Returns the streams of the file, in its order, with the properties that were found.
  func describe(_ streams: [MediaStream]) -> [MediaStream] {
    // Track types of video, audio and subtitles. libavformat makes streams of them in the order of
    // their entries.
    func ofType(_ type: Int) -> [Track] { tracks.filter { $0.type == type } }
    var counts: [MediaStream.Kind: Int] = [:]
    return streams.map { stream in
      let own: [Track]
      switch stream.kind {
      case .video: own = ofType(1)
      case .audio: own = ofType(2)
      case .subtitle: own = ofType(0x11)
      case .data: return stream
      }
      let position = counts[stream.kind, default: 0]
      counts[stream.kind] = position + 1
      // If libavformat has left out tracks, it is not known which streams belong to which entries.
      let count = streams.count { $0.kind == stream.kind }
      guard own.count == count, position < own.count else { return stream }
      return own[position].describe(stream)
    }
  }

  private mutating func readEntry(_ id: UInt64, _ body: Range<Int64>) -> Bool {
    guard id == ID.entry else { return true }
    var track = Track()
    forEach(in: body) { reader, id, body in
      switch id {
      case ID.type: track.type = reader.number(body)
      case ID.encodings:
        reader.forEach(in: body) { reader, id, body in
          guard id == ID.encoding else { return true }
          reader.forEach(in: body) { reader, id, body in
            // 0: compressed, 1: encrypted.
            if id == ID.encodingType, reader.number(body) == 1 { track.isEncrypted = true }
            return true
          }
          return true
        }
      case ID.video:
        reader.forEach(in: body) { reader, id, body in
          if let side = ID.crop.firstIndex(of: id) { track.crop[side] = reader.number(body) }
          if id == ID.displayWidth { track.display.width = reader.number(body) }
          if id == ID.displayHeight { track.display.height = reader.number(body) }
          if id == ID.displayUnit { track.display.unit = reader.number(body) }
          return true
        }
      default: break
      }
      return true
    }
    tracks.append(track)
    return true
  }

  // MARK: Elements

  /// Calls `body` with the identifier and the content's range of each element in a part of the
  /// file, until it returns false.
  private mutating func forEach(
    in range: Range<Int64>, _ body: (inout MatroskaTracks, UInt64, Range<Int64>) -> Bool
  ) {
    var at = range.lowerBound
    while at < range.upperBound, budget > 0 {
      budget -= 1
      guard let (id, idLength) = variable(at, keepsMarker: true),
        let (size, sizeLength) = variable(at + idLength, keepsMarker: false)
      else { return }
      let start = at + idLength + sizeLength
      // All ones: the size is not known, as of a segment that was streamed live (RFC 8794, 6.2).
      let isUnknown = size == UInt64(1) << (7 * UInt64(sizeLength)) - 1
      let end = isUnknown ? range.upperBound : start.addingClamped(Int64(clamping: size))
      guard start <= range.upperBound else { return }
      guard body(&self, id, start..<max(start, min(end, range.upperBound))) else { return }
      at = end
    }
  }

  /// Reads a variable-size integer (RFC 8794, 4): an element's identifier keeps the length marker,
  /// a size does not.
  private func variable(_ at: Int64, keepsMarker: Bool) -> (UInt64, length: Int64)? {
    guard let first = bytes.read(at, 1)?.first, first > 0 else { return nil }
    let length = first.leadingZeroBitCount + 1
    guard let all = bytes.read(at, length) else { return nil }
    let value = all.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let marker = UInt64(1) << UInt64(7 * length)
    return (keepsMarker ? value : value & (marker - 1), Int64(length))
  }

  /// Reads an unsigned integer; 0 if it has more than four bytes, which no valid value here needs.
  private func number(_ body: Range<Int64>) -> Int {
    guard body.count <= 4, let value = integer(body) else { return 0 }
    return Int(value)
  }

  /// Reads an unsigned integer of one to eight bytes; nil for other lengths, and where reading
  /// fails.
  private func integer(_ body: Range<Int64>) -> UInt64? {
    guard (1...8).contains(body.count), let all = bytes.read(body.lowerBound, body.count) else { return nil }
    return all.reduce(0) { $0 << 8 | UInt64($1) }
  }
}

extension MatroskaTracks.Track {
  fileprivate func describe(_ stream: MediaStream) -> MediaStream {
    var stream = stream
    if isEncrypted { stream.isProtected = true }
    let (width, height) = (stream.codec.pointer.pointee.width, stream.codec.pointer.pointee.height)
    guard stream.kind == .video, crop.contains(where: { $0 > 0 }),
      let aperture = CleanAperture(
        ofWidth: width, height: height, left: crop[0], top: crop[1], right: crop[2], bottom: crop[3])
    else { return stream }
    stream.cleanAperture = aperture
    // The display size is that of the cropped picture; without one, pixels are square. libavformat
    // takes it for the size of the whole picture. Of the units 0 to 3 (pixels, centimetres, inches,
    // aspect ratio) only the ratio of the sides is used.
    var aspect = AVRational(num: 1, den: 1)
    if display.width > 0, display.height > 0, display.unit <= 3 {
      av_reduce(
        &aspect.num, &aspect.den, Int64(display.width) * Int64(aperture.height.numerator),
        Int64(display.height) * Int64(aperture.width.numerator), Int64(Int32.max))
    }
    stream.sampleAspectRatio = aspect
    return stream
  }
}
