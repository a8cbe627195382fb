// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// An index of the samples of a file's track by their numbers in decode order, from 0.
///
/// The file is read once, as far as queries need it. A sample takes about 16 bytes of memory, so
/// that ten hours at 60 frames per second take about 35 MB. A query examines at most a few hundred
/// samples, whatever the times in the file are.
final class SampleIndex: @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  let file: AssetFile
  let stream: MediaStream
  /// Whether the bytes of samples are delivered as they are stored, so that their file positions
  /// are known.
  let hasPositions: Bool
  private let properties: AssetDescription
  let lock = Lock()
  private var demuxer: Demuxer?
  private(set) var blocks: [SampleBlock] = []
  /// The samples after the last block.
  private(set) var tail: [IndexedSample] = []
  private var latestPresentationTime = Int64.min
  private var latestSyncSample = -1
  /// The decode time of the last sample that was read.
  private(set) var lastDecodeTime = Int64.min
  private(set) var order = PresentationOrder()
  /// The earliest presentation time of each block.
  private(set) var earliestPresentationTimes = SuffixMinimum()
  private var formats: [CMFormatDescription]
  private var format: Int64 = 0
  /// The blocks that were unpacked most recently.
  private var unpacked: [(number: Int, samples: [IndexedSample])] = []
  /// The number of times that samples were examined, for tests of the cost of queries.
  private(set) var lookups = 0
  /// The cached chunks in ascending order; short chunks are not cached.
  var knownChunks: [Chunk] = []
  /// The offsets at which chunks begin according to the file, in ascending order.
  private(set) lazy var chunkStarts = file.header?.chunkStarts(of: stream.trackID) ?? []

  /// The most format descriptions that are distinguished. Files have few, and the limit bounds the
  /// memory for malformed ones.
  private static let maxFormats = 256

  /// A chunk: samples that are contiguous in the file.
  struct Chunk {
    /// The numbers of the samples.
    var samples: Range<Int>
    /// The offset in the file and the length, in bytes.
    var offset: Int64
    var length: Int64
    var hasUniformSizes: Bool
    var hasUniformDurations: Bool
    var hasUniformFormats: Bool
  }

  /// Creates an index. Nil if the file cannot be read, or no format description can be made for the
  /// track.
  init?(_ track: AVAssetTrack) {
    guard let properties = track.file.propertiesIfReadable, let format = track.properties.format,
      let demuxer = try? Demuxer(again: properties.demuxer)
    else { return nil }
    file = track.file
    self.properties = properties
    stream = track.properties.stream
    hasPositions = demuxer.isMovie && !stream.isAnnexB
    formats = [format]
    demuxer.select([stream.index])
    // libavformat skips the first sample of such a stream while it examines the streams.
    if stream.isChapterText { try? demuxer.seek(stream: stream.index, to: 0) }
    self.demuxer = demuxer
  }

  /// Opens another demuxer for the same track.
  func makeDemuxer() throws -> Demuxer {
    let made = try Demuxer(again: properties.demuxer)
    made.select([stream.index])
    return made
  }

  // MARK: - Samples

  /// Returns a sample; nil if the track, as far as it can be read, ends before it.
  func sample(_ number: Int) -> IndexedSample? { lock.withLock { find(number) } }

  /// The number of the last sample, for which the file is read to its end; -1 if there are no
  /// samples.
  var last: Int {
    lock.withLock {
      while readNext() {}
      return known - 1
    }
  }

  /// Returns the nearest number that a sample has.
  func clamped(_ number: Int) -> Int {
    lock.withLock {
      if number > 0 { _ = find(number) }
      return max(0, min(number, known - 1))
    }
  }

  func formatDescription(of sample: IndexedSample) -> CMFormatDescription {
    lock.withLock { formats[Int(sample.format)] }
  }

  /// The number of samples that have been read. The caller holds the lock.
  var known: Int { blocks.count * SampleBlock.samples + tail.count }

  func find(_ number: Int) -> IndexedSample? {
    guard number >= 0 else { return nil }
    while number >= known { guard readNext() else { return nil } }
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

  /// Returns the presentation time of a sample that has been read. The caller holds the lock.
  func presentationTime(_ number: Int) -> Int64 { find(number)?.presentationTime ?? 0 }

  /// Reads the next sample. Returns false at the end. A read error ends the track, as it does for
  /// readers of the samples.
  func readNext() -> Bool {
    guard let demuxer else { return false }
    guard let packet = try? demuxer.next() else {
      demuxer.suspend()
      self.demuxer = nil
      return false
    }
    if let changed = stream.makeFormatDescription(of: packet) {
      if let formatIndex = formats.firstIndex(where: { $0 == changed }) {
        format = Int64(formatIndex)
      } else if formats.count < Self.maxFormats {
        format = Int64(formats.count)
        formats.append(changed)
      }
    }
    let sample = IndexedSample(packet, hasPositions: hasPositions, format: format)
    tail.append(sample)
    lastDecodeTime = sample.decodeTime
    order.insert(
      PresentationOrder.Key(time: sample.presentationTime, number: known - 1), time: presentationTime)
    if tail.count == SampleBlock.samples {
      let block = SampleBlock(
        tail, from: blocks.count * SampleBlock.samples, latestBefore: latestPresentationTime,
        syncBefore: latestSyncSample)
      (latestPresentationTime, latestSyncSample) = (block.latestPresentationTime, block.latestSyncSample)
      earliestPresentationTimes.append(tail.reduce(.max) { min($0, $1.presentationTime) }, at: blocks.count)
      blocks.append(block)
      tail.removeAll(keepingCapacity: true)
    }
    return true
  }
}
