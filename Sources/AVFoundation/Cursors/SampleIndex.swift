// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// The samples of a file's track by their numbers in decode order, from 0.
///
/// The file is read once, and only as far as somebody asks. A sample takes about a dozen bytes of memory, so that ten hours of
/// 60 pictures a second take some 26 MB.
final class SampleIndex: @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  let file: AssetFile
  let stream: MediaStream
  /// Samples lie in the file as they are handed out.
  let hasPlaces: Bool
  private let facts: AssetFacts
  private let lock = Lock()
  private var demuxer: Demuxer?
  private var blocks: [SampleBlock] = []
  /// Those behind the last block.
  private var tail: [IndexedSample] = []
  private var latestShown = Int64.min
  private var formats: [CMFormatDescription]
  private var format: Int64 = 0
  /// Blocks that were unpacked last.
  private var unpacked: [(number: Int, samples: [IndexedSample])] = []
  /// The chunk that was asked for last.
  private var knownChunk: Chunk?
  /// Where the file says that chunks begin, in ascending order.
  private lazy var chunkStarts = file.header?.chunkStarts(of: stream.trackID) ?? []

  /// Formats that are told apart at most: a file has a few, and whatever else it says costs no memory.
  private static let mostFormats = 256

  /// Samples that follow each other in the file without a gap.
  struct Chunk {
    /// Numbers of samples.
    var samples: Range<Int>
    /// Bytes of the file.
    var offset: Int64
    var length: Int64
    var hasUniformSizes: Bool
    var hasUniformDurations: Bool
    var hasUniformFormats: Bool
  }

  /// - Returns: nil if the file cannot be read, or nobody knows what the samples are.
  init?(_ track: AVAssetTrack) {
    guard let facts = track.file.factsIfReadable, let format = track.facts.format,
      let demuxer = try? Demuxer(again: facts.demuxer)
    else { return nil }
    file = track.file
    self.facts = facts
    stream = track.facts.stream
    hasPlaces = demuxer.isMovie && !stream.isAnnexB
    formats = [format]
    demuxer.select([stream.index])
    // libavformat passes over the first of these where it looks for streams.
    if stream.isChapterText { try? demuxer.seek(stream: stream.index, to: 0) }
    self.demuxer = demuxer
  }

  /// Another reader of the same file.
  func makeDemuxer() throws -> Demuxer {
    let made = try Demuxer(again: facts.demuxer)
    made.select([stream.index])
    return made
  }

  // MARK: - Samples

  /// The sample of a number; nil if the track ends before, as far as it can be read.
  func sample(_ number: Int) -> IndexedSample? { lock.withLock { find(number) } }

  /// The number of the last sample: the file is read to its end.
  var last: Int {
    lock.withLock {
      while readOn() {}
      return known - 1
    }
  }

  /// The number nearest to one that may lie beyond either end.
  func clamped(_ number: Int) -> Int {
    lock.withLock {
      if number > 0 { _ = find(number) }
      return max(0, min(number, known - 1))
    }
  }

  func formatDescription(of sample: IndexedSample) -> CMFormatDescription {
    lock.withLock { formats[Int(sample.format)] }
  }

  /// Under the lock.
  private var known: Int { blocks.count * SampleBlock.samples + tail.count }

  private func find(_ number: Int) -> IndexedSample? {
    guard number >= 0 else { return nil }
    while number >= known { guard readOn() else { return nil } }
    let block = number / SampleBlock.samples
    guard block < blocks.count else { return tail[number - blocks.count * SampleBlock.samples] }
    if let found = unpacked.last(where: { $0.number == block }) {
      return found.samples[number % SampleBlock.samples]
    }
    if unpacked.count >= 4 { unpacked.removeFirst() }
    unpacked.append((block, blocks[block].unpacked(SampleBlock.samples)))
    return unpacked.last?.samples[number % SampleBlock.samples]
  }

  /// Reads the next sample; false at the end. What cannot be read ends the track, as it does for who reads the samples.
  private func readOn() -> Bool {
    guard let demuxer else { return false }
    guard let packet = try? demuxer.next() else {
      demuxer.suspend()
      self.demuxer = nil
      return false
    }
    if let changed = stream.makeFormatDescription(of: packet) {
      if let place = formats.firstIndex(where: { $0 == changed }) {
        format = Int64(place)
      } else if formats.count < Self.mostFormats {
        format = Int64(formats.count)
        formats.append(changed)
      }
    }
    tail.append(IndexedSample(packet, hasPlaces: hasPlaces, format: format))
    if tail.count == SampleBlock.samples {
      let block = SampleBlock(tail, latestBefore: latestShown)
      latestShown = block.latestShown
      blocks.append(block)
      tail.removeAll(keepingCapacity: true)
    }
    return true
  }

  // MARK: - Presentation order: by the time, and where that is the same by the number

  /// The latest presentation time of all samples in the blocks before the one of a number.
  private func latest(beforeBlockOf number: Int) -> Int64 {
    let block = number / SampleBlock.samples
    return block == 0 ? .min : blocks[block - 1].latestShown
  }

  /// Goes back from a sample, itself left out, block by block, while samples before may be shown later than a time.
  private func goBack(from number: Int, while isOpen: (Int64) -> Bool, _ body: (Int, IndexedSample) -> Void) {
    var place = number - 1
    while place >= 0, let sample = find(place) {
      body(place, sample)
      if place % SampleBlock.samples == 0, !isOpen(latest(beforeBlockOf: place)) { return }
      place -= 1
    }
  }

  /// The sample that is shown next after one; nil: it is the last.
  func shownAfter(_ number: Int) -> Int? {
    lock.withLock {
      guard let sample = find(number) else { return nil }
      let time = sample.shown
      var best: (time: Int64, number: Int)?
      func look(_ other: Int, _ at: IndexedSample) {
        guard (at.shown, other) > (time, number) else { return }
        if let best, (best.time, best.number) <= (at.shown, other) { return }
        best = (at.shown, other)
      }
      goBack(from: number, while: { $0 > time }, look)
      var place = number + 1
      // Nothing is shown before it is decoded.
      while let next = find(place), best.map({ next.decoded <= $0.time }) ?? true {
        look(place, next)
        place += 1
      }
      return best?.number
    }
  }

  /// The sample that is shown last before one; nil: it is the first.
  func shownBefore(_ number: Int) -> Int? {
    lock.withLock {
      guard let sample = find(number) else { return nil }
      return lastShown(before: (sample.shown, number), around: number)
    }
  }

  /// The last sample that is shown at a time or before; nil: there is none.
  func shown(at time: Int64) -> Int? {
    lock.withLock {
      let place = firstDecoded(after: time)
      return lastShown(before: (time, .max), around: place)
    }
  }

  private func lastShown(before limit: (Int64, Int), around number: Int) -> Int? {
    var best: (time: Int64, number: Int)?
    func look(_ other: Int, _ at: IndexedSample) {
      guard (at.shown, other) < limit else { return }
      if let best, (best.time, best.number) >= (at.shown, other) { return }
      best = (at.shown, other)
    }
    goBack(from: number, while: { latest in best.map { latest > $0.time } ?? true }, look)
    var place = number
    while let next = find(place), next.decoded <= limit.0 {
      look(place, next)
      place += 1
    }
    return best?.number
  }

  /// The number of the first sample that is decoded after a time, which is the count of samples if there is none.
  private func firstDecoded(after time: Int64) -> Int {
    while (tail.last?.decoded ?? blocks.last?.firstDecoded).map({ $0 <= time }) ?? true {
      guard readOn() else { break }
    }
    var (low, high) = (0, blocks.count)
    while low < high {
      let middle = (low + high) / 2
      if blocks[middle].firstDecoded <= time { low = middle + 1 } else { high = middle }
    }
    var place = max(0, low - 1) * SampleBlock.samples
    while let sample = find(place), sample.decoded <= time { place += 1 }
    return place
  }

  /// The last sample that is decoded at a time or before; nil: there is none.
  func decoded(at time: Int64) -> Int? {
    let place = lock.withLock { firstDecoded(after: time) }
    return place > 0 ? place - 1 : nil
  }

  /// The sample that is shown first of all; nil: the track has none.
  var firstShown: Int? {
    guard let first = sample(0) else { return nil }
    var (number, time) = (0, first.shown)
    var place = 1
    while let next = sample(place), next.decoded <= time {
      if next.shown < time { (number, time) = (place, next.shown) }
      place += 1
    }
    return number
  }

  /// The sample that is shown last of all; nil: the track has none.
  var lastShown: Int? { shown(at: .max) }

  /// Whether a sample before one of a number is shown after a time.
  func isAnyShown(after time: Int64, before number: Int) -> Bool {
    lock.withLock {
      guard find(number) != nil else { return false }
      if latest(beforeBlockOf: number) > time { return true }
      let start = number / SampleBlock.samples * SampleBlock.samples
      return (start..<number).contains { find($0).map { $0.shown > time } ?? false }
    }
  }

  /// Whether a sample behind one of a number is shown before a time.
  func isAnyShown(before time: Int64, behind number: Int) -> Bool {
    lock.withLock {
      var place = number + 1
      while let next = find(place), next.decoded < time {
        if next.shown < time { return true }
        place += 1
      }
      return false
    }
  }

  /// The last sync sample at or before one of a number; nil: there is none.
  func sync(before number: Int) -> Int? {
    lock.withLock {
      var place = number
      while place >= 0, let sample = find(place) {
        if sample.flags.contains(.sync) { return place }
        place -= 1
      }
      return nil
    }
  }

  // MARK: - Chunks

  /// The chunk of a sample; nil where the file's samples have no places.
  func chunk(of number: Int) -> Chunk? {
    lock.withLock {
      if let knownChunk, knownChunk.samples.contains(number) { return knownChunk }
      guard let sample = find(number), sample.position >= 0 else { return nil }
      var chunk = Chunk(
        samples: number..<number + 1, offset: sample.position, length: sample.size, hasUniformSizes: true,
        hasUniformDurations: true, hasUniformFormats: true)
      func take(_ other: IndexedSample) {
        chunk.length += other.size
        if other.size != sample.size { chunk.hasUniformSizes = false }
        if other.duration != sample.duration { chunk.hasUniformDurations = false }
        if other.format != sample.format { chunk.hasUniformFormats = false }
      }
      var first = sample
      var place = number
      while !isChunkStart(first.position), let before = find(place - 1), before.position >= 0,
        before.endPosition == first.position
      {
        take(before)
        (first, place) = (before, place - 1)
      }
      var end = number + 1
      var last = sample
      while let next = find(end), next.position == last.endPosition, !isChunkStart(next.position) {
        take(next)
        (last, end) = (next, end + 1)
      }
      chunk.samples = place..<end
      chunk.offset = first.position
      knownChunk = chunk
      return chunk
    }
  }

  private func isChunkStart(_ position: Int64) -> Bool {
    var (low, high) = (0, chunkStarts.count)
    while low < high {
      let middle = (low + high) / 2
      if chunkStarts[middle] < position { low = middle + 1 } else { high = middle }
    }
    return low < chunkStarts.count && chunkStarts[low] == position
  }
}
