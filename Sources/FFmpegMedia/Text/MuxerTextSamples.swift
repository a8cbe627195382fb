// SPDX-License-Identifier: Apache-2.0

/// Removes samples of duration 0 from a text track's sample table (ISO/IEC 14496-12, 8.6.1.2 and
/// 8.7). libavformat ends each text with such an empty sample, which players would list as a
/// chapter. Empty samples with a duration stay: they are how a track shows nothing during a gap.
enum MuxerTextSamples {
  static func compact(_ track: inout MovieBox) throws {
    let wide = track.find("mdia", "minf", "stbl", "co64") != nil
    let width = wide ? 8 : 4
    guard let table = track.find("mdia", "minf", "stbl"), var times = table["stts"],
      var chunks = table["stsc"],
      var sizes = table["stsz"], var offsets = table[wide ? "co64" : "stco"], table["ctts"] == nil,
      table["stss"] == nil
    else { return }
    let count = sizes.number(8)
    var durations: [Int] = []
    for entry in 0..<times.number(4) {
      let run = times.number(8 + 8 * entry)
      guard run <= count - durations.count else { throw damaged }
      durations += repeatElement(times.number(12 + 8 * entry), count: run)
    }
    guard durations.count == count else { throw damaged }
    guard durations.contains(0) else { return }

    let equalSize = sizes.number(4)
    var kept: [(offset: Int, size: Int, duration: Int)] = []
    var sample = 0
    var run = -1
    for chunk in 0..<offsets.number(4) {
      while run + 1 < chunks.number(4), chunks.number(8 + 12 * (run + 1)) <= chunk + 1 { run += 1 }
      var offset = offsets.number(8 + width * chunk, count: width)
      for _ in 0..<chunks.number(12 + 12 * run) {
        guard sample < count else { throw damaged }
        let size = equalSize > 0 ? equalSize : sizes.number(12 + 4 * sample)
        if durations[sample] > 0 { kept.append((offset, size, durations[sample])) }
        offset += size
        sample += 1
      }
    }
    guard sample == count else { throw damaged }

    var runs: [(count: Int, duration: Int)] = []
    for sample in kept {
      if runs.last?.duration == sample.duration {
        runs[runs.count - 1].count += 1
      } else {
        runs.append((1, sample.duration))
      }
    }
    func fill(_ box: inout MovieBox, _ count: Int, _ content: [UInt8]) {
      box.bytes = Array(box.bytes[..<4]) + MovieBox.bytes(count) + content
    }
    fill(&times, runs.count, runs.flatMap { MovieBox.bytes($0.count) + MovieBox.bytes($0.duration) })
    // Each sample gets a chunk of its own.
    fill(&chunks, 1, MovieBox.bytes(1) + MovieBox.bytes(1) + MovieBox.bytes(1))
    fill(&offsets, kept.count, kept.flatMap { MovieBox.bytes($0.offset, count: width) })
    sizes.bytes =
      Array(sizes.bytes[..<4]) + MovieBox.bytes(0) + MovieBox.bytes(kept.count)
      + kept.flatMap { MovieBox.bytes($0.size) }
    for box in [times, chunks, sizes, offsets] {
      track.replace(["mdia", "minf", "stbl", box.type], with: box)
    }
  }

  private static let damaged = MediaFileError(.damaged, "the written movie's sample table does not fit")
}
