// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Adds to a movie's boxes what libavformat does not write: metadata, alternate groups, track
/// references, languages, sizes and sample descriptions. Applied to the index of a finished file,
/// and to the header of one in fragments.
struct MuxerCompletion {
  let tracks: [MuxerTrack]
  let options: Muxer.Options
  let isQuickTime: Bool

  /// Whether there is anything to add.
  var isNeeded: Bool {
    !options.items.isEmpty || tracks.contains { $0.needsCompletion }
      || (options.isFragmented && options.durationHint > 0)
  }

  func apply(to movie: inout MovieBox) throws {
    let writer = MovieMetadataWriter(isQuickTime: isQuickTime)
    writer.write(options.items, into: &movie)
    movie.setLanguageTags(tracks)
    let indices = movie.children.indices.filter { movie.children[$0].type == "trak" }
    for (index, track) in zip(indices, tracks) {
      writer.write(track.items, into: &movie.children[index])
      try setHeader(of: &movie.children[index], track)
      setReferences(of: &movie.children[index], track)
      addToDescription(of: &movie.children[index], track)
      if track.isText, !options.isFragmented { try MuxerTextSamples.compact(&movie.children[index]) }
      if track.kind == .text { setHandler("text", of: &movie.children[index]) }
      if let description = track.sampleDescription {
        try setDescription(description, of: &movie.children[index])
      }
    }
    if options.isFragmented, options.durationHint > 0 {
      let scale = movie["mvhd"].map { $0.number($0.bytes.first == 1 ? 20 : 12) } ?? 0
      let duration = options.durationHint * Double(scale)
      guard let index = movie.children.firstIndex(where: { $0.type == "mvex" }), duration < 9e18 else {
        return
      }
      let header = MovieBox(type: "mehd", bytes: [1, 0, 0, 0] + MovieBox.bytes(Int(duration), count: 8))
      let rest = MovieBox.parse(movie.children[index].bytes[...])?.filter { $0.type != "mehd" } ?? []
      movie.children[index].bytes = header.serialized + rest.flatMap(\.serialized)
    }
  }

  /// Sets the alternate group and the display size in the track header (ISO/IEC 14496-12, 8.3.2).
  private func setHeader(of box: inout MovieBox, _ track: MuxerTrack) throws {
    let natural = track.naturalSize ?? track.cleanSize
    guard track.alternateGroup != nil || natural != nil,
      let index = box.children.firstIndex(where: { $0.type == "tkhd" })
    else { return }
    let wide = box.children[index].bytes.first == 1
    let group = wide ? 46 : 34
    let size = wide ? 88 : 76
    guard box.children[index].bytes.count >= size + 8 else {
      throw MediaFileError(.damaged, "the written movie has a short track header")
    }
    func set(_ bytes: [UInt8], _ at: Int) {
      box.children[index].bytes.replaceSubrange(at..<at + bytes.count, with: bytes)
    }
    if let number = track.alternateGroup { set(MovieBox.bytes(Int(number), count: 2), group) }
    if let natural {
      set(MovieBox.bytes(natural.width) + MovieBox.bytes(natural.height), size)
    }
  }

  /// Sets the handler type of a track (ISO/IEC 14496-12, 8.4.3): libavformat writes that of
  /// subtitles for all timed text.
  private func setHandler(_ type: String, of box: inout MovieBox) {
    guard let media = box.children.firstIndex(where: { $0.type == "mdia" }),
      let index = box.children[media].children.firstIndex(where: { $0.type == "hdlr" }),
      box.children[media].children[index].bytes.count >= 12
    else { return }
    // After version, flags and QuickTime's component type.
    box.children[media].children[index].bytes.replaceSubrange(8..<12, with: Array(type.utf8))
  }

  /// Replaces the sample entry that libavformat has written for timed metadata, and sets the
  /// matching media header (QuickTime File Format, "Timed Metadata Media"; ISO/IEC 14496-12, 8.5.2
  /// and 12.3).
  private func setDescription(_ description: [UInt8], of box: inout MovieBox) throws {
    guard let media = box.children.firstIndex(where: { $0.type == "mdia" }),
      let index = box.children[media].children.firstIndex(where: { $0.type == "minf" }),
      var list = box.find("mdia", "minf", "stbl", "stsd"), list.bytes.count >= 12
    else { throw MediaFileError(.damaged, "the written movie has no sample description") }
    let first = list.number(8)
    guard first >= 8, 8 + first <= list.bytes.count else {
      throw MediaFileError(.damaged, "the written movie's sample description is cut off")
    }
    list.bytes.replaceSubrange(8..<8 + first, with: description)
    box.replace(["mdia", "minf", "stbl", "stsd"], with: list)
    setHandler("meta", of: &box)
    // QuickTime's base media information header: graphics mode "dither copy" (0x40), operation
    // color grey, balance 0.
    let general = MovieBox(
      type: "gmin",
      bytes: [0, 0, 0, 0, 0, 0x40, 0x80, 0, 0x80, 0, 0x80, 0, 0, 0, 0, 0])
    let header =
      isQuickTime
      ? MovieBox(type: "gmhd", bytes: general.serialized) : MovieBox(type: "nmhd", bytes: [0, 0, 0, 0])
    box.children[media].children[index].children.removeAll {
      ["gmhd", "nmhd", "sthd"].contains($0.type)
    }
    box.children[media].children[index].children.insert(header, at: 0)
  }

  /// Sets the references to other tracks (ISO/IEC 14496-12, 8.3.3).
  private func setReferences(of box: inout MovieBox, _ track: MuxerTrack) {
    guard !track.references.isEmpty else { return }
    var bytes: [UInt8] = []
    for (type, numbers) in track.references.sorted(by: { $0.key < $1.key }) {
      let list = numbers.flatMap { MovieBox.bytes($0 + 1) }
      bytes += MovieBox.bytes(8 + list.count) + Array(type.utf8) + list
    }
    box.children.removeAll { $0.type == "tref" }
    let index = box.children.firstIndex { $0.type == "mdia" } ?? box.children.count
    box.children.insert(MovieBox(type: "tref", bytes: bytes), at: index)
  }

  /// Adds the clean aperture (ISO/IEC 14496-12, 12.1.4), the further layers of an HEVC stream and
  /// the boxes of spatial video to the first sample entry of a track; libavformat cannot write
  /// them.
  private func addToDescription(of box: inout MovieBox, _ track: MuxerTrack) {
    guard track.cleanAperture != nil || track.spatial != nil || track.layerConfiguration != nil,
      var list = box.find("mdia", "minf", "stbl", "stsd")
    else { return }
    let size = list.number(8)
    guard size >= 86, size + 8 <= list.bytes.count,
      let parts = MovieBox.parse(list.bytes[(8 + 86)..<(8 + size)])
    else { return }
    func has(_ type: String) -> Bool { parts.contains { $0.type == type } }
    var added: [UInt8] = []
    if let layers = track.layerConfiguration, !has("lhvC") {
      added += MovieBox(type: "lhvC", bytes: [UInt8](layers)).serialized
    }
    if let aperture = track.cleanAperture, !has("clap") {
      added += MovieBox(type: "clap", bytes: aperture.bytes).serialized
      // The track header has the size of the clean aperture. Readers that derive the pixel aspect
      // ratio from it and the coded size would get a wrong one.
      if !has("pasp") {
        added += MovieBox(type: "pasp", bytes: MovieBox.bytes(1) + MovieBox.bytes(1)).serialized
      }
    }
    if let spatial = track.spatial, !has("vexu"), !has("hfov") { added += spatial.boxes }
    guard !added.isEmpty else { return }
    list.bytes.insert(contentsOf: added, at: 8 + size)
    list.bytes.replaceSubrange(8..<12, with: MovieBox.bytes(size + added.count))
    box.replace(["mdia", "minf", "stbl", "stsd"], with: list)
  }

  /// Returns the header of a movie in fragments with all additions; other bytes are returned
  /// unchanged.
  func completed(header: [UInt8]) throws -> [UInt8] {
    guard isNeeded, var boxes = MovieBox.parse(header[...]),
      let index = boxes.firstIndex(where: { $0.type == "moov" })
    else { return header }
    try apply(to: &boxes[index])
    return boxes.flatMap(\.serialized)
  }
}
