// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// The samples of a file's track by their numbers in decode order, from 0.
///
/// The file is read once, and only as far as somebody asks. A sample takes about sixteen bytes of memory, so that ten hours of
/// 60 pictures a second take some 35 MB. What is asked of it takes the work of a few hundred samples at most, whatever the
/// times in the file are.
final class SampleIndex: @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  let file: AssetFile
  let stream: MediaStream
  /// Samples lie in the file as they are handed out.
  let hasPlaces: Bool
  private let facts: AssetFacts
  let lock = Lock()
  private var demuxer: Demuxer?
  private(set) var blocks: [SampleBlock] = []
  /// Those behind the last block.
  private(set) var tail: [IndexedSample] = []
  private var latestShown = Int64.min
  private var latestSync = -1
  /// Of the last sample that was read.
  private(set) var lastDecoded = Int64.min
  private(set) var order = PresentationOrder()
  /// The earliest presentation time of each block.
  private(set) var earliestShown = LeastToEnd()
  private var formats: [CMFormatDescription]
  private var format: Int64 = 0
  /// Blocks that were unpacked last.
  private var unpacked: [(number: Int, samples: [IndexedSample])] = []
  /// Samples that were looked at, each time that they were.
  private(set) var lookups = 0
  /// Chunks that were found, in ascending order, but for short ones.
  var knownChunks: [Chunk] = []
  /// Where the file says that chunks begin, in ascending order.
  private(set) lazy var chunkStarts = file.header?.chunkStarts(of: stream.trackID) ?? []

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
  var known: Int { blocks.count * SampleBlock.samples + tail.count }

  func find(_ number: Int) -> IndexedSample? {
    guard number >= 0 else { return nil }
    while number >= known { guard readOn() else { return nil } }
    lookups += 1
    let block = number / SampleBlock.samples
    guard block < blocks.count else { return tail[number - blocks.count * SampleBlock.samples] }
    if let found = unpacked.last(where: { $0.number == block }) {
      return found.samples[number % SampleBlock.samples]
    }
    if unpacked.count >= 8 { unpacked.removeFirst() }
    lookups += SampleBlock.samples
    unpacked.append((block, blocks[block].unpacked(SampleBlock.samples)))
    return unpacked.last?.samples[number % SampleBlock.samples]
  }

  /// When a sample that is known is shown; under the lock.
  func shown(_ number: Int) -> Int64 { find(number)?.shown ?? 0 }

  /// Reads the next sample; false at the end. What cannot be read ends the track, as it does for who reads the samples.
  func readOn() -> Bool {
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
    let sample = IndexedSample(packet, hasPlaces: hasPlaces, format: format)
    tail.append(sample)
    lastDecoded = sample.decoded
    order.insert(PresentationOrder.Key(time: sample.shown, number: known - 1), time: shown)
    if tail.count == SampleBlock.samples {
      let block = SampleBlock(
        tail, from: blocks.count * SampleBlock.samples, latestBefore: latestShown, syncBefore: latestSync)
      (latestShown, latestSync) = (block.latestShown, block.latestSync)
      earliestShown.append(tail.reduce(.max) { min($0, $1.shown) }, at: blocks.count)
      blocks.append(block)
      tail.removeAll(keepingCapacity: true)
    }
    return true
  }
}
