// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The index of a finished movie file (`moov` box), read to be changed and written back.
struct MuxerIndex {
  private let file: MuxerFile
  private let start: Int64
  private let size: Int
  var movie: MovieBox

  private static let damaged = MediaFileError(.damaged, "the written movie cannot be read back")

  init(of file: MuxerFile) throws {
    self.file = file
    var at: Int64 = 0
    var found: (start: Int64, size: Int)?
    while found == nil, let head = file.read(at: at, count: 16) ?? file.read(at: at, count: 8) {
      var size = Int64(MovieBox.number(head[...], 0))
      if size == 1 { size = Int64(MovieBox.number(head[...], 8, count: 8)) }
      guard size >= 8, size <= file.size - at else { break }
      if head[4..<8].elementsEqual("moov".utf8) { found = (at, Int(size)) }
      at += size
    }
    guard let found, let bytes = file.read(at: found.start, count: found.size),
      let movie = MovieBox.parse(bytes[...])?.first
    else { throw Self.damaged }
    (start, size) = found
    self.movie = movie
  }

  /// Writes the index back. If it has grown, everything after it in the file is moved, and the
  /// chunk offsets are corrected.
  func commit() throws {
    var movie = movie
    var growth = movie.serialized.count - size
    // A smaller index is filled up with a `free` box. If the gap is smaller than a box header, the
    // rest moves by some bytes.
    var filler: [UInt8] = []
    if growth < 0 {
      filler = MovieBox(type: "free", bytes: [UInt8](repeating: 0, count: max(0, -growth - 8))).serialized
      growth += filler.count
    }
    let end = start + Int64(size)
    let tail = file.size - end
    if tail > 0, growth != 0 {
      for child in movie.children.indices where movie.children[child].type == "trak" {
        try Self.move(&movie.children[child], from: Int(end), by: growth)
      }
      try moveTail(tail, from: end, by: growth)
    }
    try file.write(movie.serialized + filler, at: start)
  }

  /// Moves the end of the file back by `growth` bytes, beginning with its last block so that
  /// nothing is overwritten before it was moved.
  private func moveTail(_ tail: Int64, from start: Int64, by growth: Int) throws {
    guard growth > 0 else { throw Self.damaged }
    var moved: Int64 = 0
    while moved < tail {
      let count = min(tail - moved, 1 << 20)
      let at = start + tail - moved - count
      guard let block = file.read(at: at, count: Int(count)) else { throw Self.damaged }
      try file.write(block, at: at + Int64(growth))
      moved += count
    }
  }

  /// Adds `growth` to the offsets of a track's chunks that begin at `position` or after it.
  private static func move(_ track: inout MovieBox, from position: Int, by growth: Int) throws {
    for (type, width) in [("stco", 4), ("co64", 8)] {
      guard var offsets = track.find("mdia", "minf", "stbl", type) else { continue }
      var moved: [UInt8] = []
      for chunk in 0..<offsets.number(4) {
        let offset = offsets.number(8 + width * chunk, count: width)
        let new = offset >= position ? offset + growth : offset
        guard width == 8 || new <= UInt32.max else {
          throw MediaFileError(.unsupportedFormat, "the movie is too large for its index")
        }
        moved += MovieBox.bytes(new, count: width)
      }
      offsets.bytes = Array(offsets.bytes[..<8]) + moved
      track.replace(["mdia", "minf", "stbl", type], with: offsets)
    }
  }
}

extension MovieBox {
  /// Writes the extended language tags of tracks (`elng`; ISO/IEC 14496-12, 8.4.6).
  mutating func setLanguageTags(_ tracks: [MuxerTrack]) {
    let indices = children.indices.filter { children[$0].type == "trak" }
    for (index, track) in zip(indices, tracks) {
      guard let tag = track.languageTag, var media = children[index]["mdia"],
        let header = media.children.firstIndex(where: { $0.type == "mdhd" })
      else { continue }
      let bytes = [0, 0, 0, 0] + Array(tag.utf8).filter { $0 != 0 } + [0]
      media.children.removeAll { $0.type == "elng" }
      media.children.insert(MovieBox(type: "elng", bytes: bytes), at: header + 1)
      children[index].replace(["mdia"], with: media)
    }
  }
}
