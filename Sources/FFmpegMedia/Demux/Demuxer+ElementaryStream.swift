// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreMedia
import Foundation
import VideoBitstream

/// The access units of an elementary stream, which has no container.
extension Demuxer {
  func readUnit(_ index: ElementaryStreamIndex) throws -> MediaPacket? {
    guard nextUnit < index.units.count, selected.contains(0) else { return nil }
    if file == nil, source == nil {
      guard let opened = FileHandle(forReadingAtPath: Demuxer.path(url)) else {
        throw MediaFileError(
          .notFound, "\(Demuxer.name(url)) cannot be opened any more", code: ovt_averror(ENOENT))
      }
      file = opened
    }
    let unit = index.units[nextUnit]
    guard let bytes = try read(unit), bytes.count == unit.size else {
      throw MediaFileError(.damaged, "\(Demuxer.name(url)) has become shorter since it was opened")
    }
    let known = index.dropsParameterSets ? index.parameterSets : []
    let converted = bytes.withUnsafeBytes {
      index.nalCodec.lengthPrefixed($0, dropping: known)
    }
    guard let packet = converted else {
      throw MediaFileError(
        .damaged, "\(Demuxer.name(url)) has no access unit at byte \(unit.offset) any more",
        code: ovt_averror_invaliddata())
    }
    packet.pointer.pointee.stream_index = 0
    packet.pointer.pointee.pts = Int64(unit.rank)
    packet.pointer.pointee.dts = Int64(nextUnit - index.reorderDepth)
    packet.pointer.pointee.duration = 1
    packet.pointer.pointee.pos = unit.offset
    if unit.isKeyFrame { packet.pointer.pointee.flags |= AV_PKT_FLAG_KEY }
    nextUnit += 1
    return packet
  }

  func read(_ unit: ElementaryStreamIndex.Entry) throws -> Data? {
    if let source {
      let io = try self.io ?? ByteSourceIO(source.makeReader())
      if self.io == nil { interruption.attach(io.reader) }
      self.io = io
      var bytes = Data(count: unit.size)
      var filled = 0
      while filled < unit.size {
        let count = try bytes.withUnsafeMutableBytes {
          try io.reader.read(
            at: unit.offset + Int64(filled), into: UnsafeMutableRawBufferPointer(rebasing: $0[filled...]))
        }
        guard count > 0 else { return nil }
        filled += count
      }
      return bytes
    }
    try file?.seek(toOffset: UInt64(unit.offset))
    return try file?.read(upToCount: unit.size)
  }
}
