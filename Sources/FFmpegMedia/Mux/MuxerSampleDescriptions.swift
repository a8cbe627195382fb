// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import Foundation

/// The sample entries of a track whose format changes. libavformat writes one for each track; the
/// others are added to the finished file (ISO/IEC 14496-12, 8.5.2 and 8.7.4).
struct MuxerSampleDescriptions {
  /// The sample entries as serialized boxes; the first one is that of the track's beginning.
  private(set) var entries: [[UInt8]]
  /// From which sample on which entry is valid, both as indexes from 0.
  private var changes: [(sample: Int, entry: Int)] = []

  /// - Parameter first: The sample entry of the track's first format.
  init(first: [UInt8]) { entries = [first] }

  /// Records that a sample entry is valid from a sample on.
  /// - Parameters:
  ///   - entry: The serialized box.
  ///   - sample: The sample's index in the track.
  mutating func change(to entry: [UInt8], at sample: Int) {
    let index = entries.firstIndex(of: entry) ?? entries.count
    if index == entries.count { entries.append(entry) }
    if changes.last?.sample == sample { changes.removeLast() }
    guard index != changes.last?.entry ?? 0 else { return }
    changes.append((sample, index))
  }

  /// The sample entry of a track as libavformat writes it.
  /// - Parameters:
  ///   - track: The track.
  ///   - container: The container.
  /// - Throws: `MediaFileError` if libavformat cannot write it.
  static func entry(of track: MuxerTrack, container: MuxerContainer) throws -> [UInt8] {
    let header = [UInt8](try initialization(of: track, container: container))
    guard let movie = MovieBox.parse(header[...])?.first(where: { $0.type == "moov" }),
      let list = movie.find("trak", "mdia", "minf", "stbl", "stsd"), list.bytes.count > 16
    else { throw MediaFileError(.unsupportedFormat, "the new format cannot be described") }
    return Array(list.bytes[8...])
  }

  /// The header of a movie in fragments that has only this track.
  /// - Parameters:
  ///   - track: The track.
  ///   - container: The container.
  /// - Throws: `MediaFileError` if libavformat cannot write it.
  static func initialization(of track: MuxerTrack, container: MuxerContainer) throws -> Data {
    var track = track
    track.references = [:]
    let muxer = try Muxer(segmentsOf: container, tracks: [track], options: Muxer.Options())
    defer { muxer.cancel() }
    let sample = Muxer.Sample(track: 0, pts: 0, dts: 0, duration: 1, isSync: true)
    var bytes = [UInt8](repeating: 0, count: 16)
    // The sample is an access unit delimiter.
    if track.holdsByteStreams, !track.extradata.isEmpty {
      bytes.replaceSubrange(0..<6, with: [0, 0, 0, 1, 9, 0x10])
    }
    try bytes.withUnsafeBytes { try muxer.write(sample, bytes: $0) }
    try muxer.cutFragment()
    return muxer.takeInitialization()
  }

  // MARK: - Into the file

  /// Adds the sample entries to the index of a finished movie.
  /// - Parameters:
  ///   - tracks: The sample entries by track index.
  ///   - movie: The `moov` box.
  /// - Throws: `MediaFileError` if the index is damaged.
  static func write(_ tracks: [Int: MuxerSampleDescriptions], into movie: inout MovieBox) throws {
    var index = 0
    for child in movie.children.indices where movie.children[child].type == "trak" {
      if let descriptions = tracks[index] { try descriptions.apply(to: &movie.children[child]) }
      index += 1
    }
  }

  /// Adds the sample entries, and splits chunks so that all samples of a chunk have the same entry.
  private func apply(to track: inout MovieBox) throws {
    guard !changes.isEmpty else { return }
    let wide = track.find("mdia", "minf", "stbl", "co64") != nil
    guard let table = track.find("mdia", "minf", "stbl"), var list = table["stsd"],
      var chunks = table["stsc"],
      let sizes = table["stsz"], var offsets = table[wide ? "co64" : "stco"]
    else { throw MediaFileError(.damaged, "the written movie has no sample table") }
    list.bytes = Array(list.bytes[..<4]) + MovieBox.bytes(entries.count) + list.bytes[8...]
    list.bytes += entries.dropFirst().flatMap { $0 }

    let width = wide ? 8 : 4
    let equalSize = sizes.number(4)
    var sample = 0
    var change = 0
    var entry = 0
    var made: [(offset: Int, count: Int, entry: Int)] = []
    var run = -1
    for chunk in 0..<offsets.number(4) {
      while run + 1 < chunks.number(4), chunks.number(8 + 12 * (run + 1)) <= chunk + 1 { run += 1 }
      var offset = offsets.number(8 + width * chunk, count: width)
      for position in 0..<chunks.number(8 + 12 * run + 4) {
        var isNew = position == 0
        while change < changes.count, changes[change].sample <= sample {
          entry = changes[change].entry
          change += 1
          isNew = true
        }
        if isNew { made.append((offset, 0, entry)) }
        made[made.count - 1].count += 1
        offset += equalSize > 0 ? equalSize : sizes.number(12 + 4 * sample)
        sample += 1
      }
    }
    guard sample == sizes.number(8) else {
      throw MediaFileError(.damaged, "the written movie's sample table does not fit")
    }
    offsets.bytes = Array(offsets.bytes[..<4]) + MovieBox.bytes(made.count)
    for chunk in made { offsets.bytes += MovieBox.bytes(chunk.offset, count: width) }
    var runs: [UInt8] = []
    var runCount = 0
    for (index, chunk) in made.enumerated() {
      if index > 0, made[index - 1].count == chunk.count, made[index - 1].entry == chunk.entry { continue }
      runs += MovieBox.bytes(index + 1) + MovieBox.bytes(chunk.count) + MovieBox.bytes(chunk.entry + 1)
      runCount += 1
    }
    chunks.bytes = Array(chunks.bytes[..<4]) + MovieBox.bytes(runCount) + runs
    for box in [list, chunks, offsets] { track.replace(["mdia", "minf", "stbl", box.type], with: box) }
  }
}
