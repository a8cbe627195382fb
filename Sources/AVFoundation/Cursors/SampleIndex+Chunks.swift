// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The chunks of a track: samples that are contiguous in the file.
extension SampleIndex {
  /// Returns the chunk that contains a sample; nil if samples of the file have no position of their
  /// own.
  func chunk(of number: Int) -> Chunk? {
    lock.withLock {
      if let known = knownChunk(of: number) { return known }
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
      var firstNumber = number
      while !isChunkStart(first.position), let before = find(firstNumber - 1), before.position >= 0,
        before.endPosition == first.position
      {
        take(before)
        (first, firstNumber) = (before, firstNumber - 1)
      }
      var end = number + 1
      var last = sample
      while let next = find(end), next.position == last.endPosition, !isChunkStart(next.position) {
        take(next)
        (last, end) = (next, end + 1)
      }
      chunk.samples = firstNumber..<end
      chunk.offset = first.position
      remember(chunk)
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

  /// Chunks with fewer samples are not cached.
  private static let shortChunk = 16

  /// The number of cached chunks that begin at or before a sample.
  private func chunks(to number: Int) -> Int {
    var (low, high) = (0, knownChunks.count)
    while low < high {
      let middle = (low + high) / 2
      if knownChunks[middle].samples.lowerBound <= number { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private func knownChunk(of number: Int) -> Chunk? {
    let count = chunks(to: number)
    guard count > 0, knownChunks[count - 1].samples.contains(number) else { return nil }
    return knownChunks[count - 1]
  }

  /// Caches a chunk, so that the search through all its samples is not repeated.
  private func remember(_ chunk: Chunk) {
    guard chunk.samples.count >= Self.shortChunk else { return }
    knownChunks.insert(chunk, at: chunks(to: chunk.samples.lowerBound))
  }
}
