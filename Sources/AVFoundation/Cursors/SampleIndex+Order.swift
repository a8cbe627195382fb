// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Queries by presentation order: by presentation time, and by number where times are equal.
extension SampleIndex {
  private typealias Key = PresentationOrder.Key

  /// The latest presentation time of all samples before the block that contains a sample.
  private func latest(beforeBlockOf number: Int) -> Int64 {
    let block = number / SampleBlock.samples
    return block == 0 ? .min : blocks[block - 1].latestPresentationTime
  }

  /// Returns the next sample in presentation order; nil for the last one.
  func presentedAfter(_ number: Int) -> Int? {
    lock.withLock {
      guard let sample = find(number) else { return nil }
      let key = Key(time: sample.presentationTime, number: number)
      return next(order.next(after: key, time: presentationTime), after: key)
    }
  }

  /// Returns the first sample after a key in presentation order, reading on in the file where a
  /// sample that has not been read yet could precede the known one.
  private func next(_ known: Key?, after key: Key) -> Int? {
    var best = known
    // The presentation time of a sample is not before its decode time.
    while best.map({ lastDecodeTime <= $0.time }) ?? true, readNext() {
      let added = Key(time: presentationTime(self.known - 1), number: self.known - 1)
      if added > key, best.map({ added < $0 }) ?? true { best = added }
    }
    return best?.number
  }

  /// Returns the previous sample in presentation order; nil for the first one.
  func presentedBefore(_ number: Int) -> Int? {
    lock.withLock {
      guard let sample = find(number) else { return nil }
      return lastPresented(before: Key(time: sample.presentationTime, number: number))
    }
  }

  /// Returns the last sample that is presented at a time or before; nil if there is none.
  func sample(presentedAt time: Int64) -> Int? {
    lock.withLock { lastPresented(before: Key(time: time, number: .max)) }
  }

  private func lastPresented(before limit: Key) -> Int? {
    while lastDecodeTime <= limit.time, readNext() {}
    return order.last(before: limit, time: presentationTime)?.number
  }

  /// The sample that is presented first; nil if the track has no samples.
  var firstPresented: Int? {
    lock.withLock { next(order.first, after: Key(time: .min, number: -1)) }
  }

  /// The sample that is presented last; nil if the track has no samples.
  var lastPresented: Int? { sample(presentedAt: .max) }

  /// Returns the number of the first sample that is decoded after a time; the number of samples if
  /// there is none.
  private func sampleIndex(decodedAfter time: Int64) -> Int {
    while lastDecodeTime <= time, readNext() {}
    var (low, high) = (0, blocks.count)
    while low < high {
      let middle = (low + high) / 2
      if blocks[middle].firstDecodeTime <= time { low = middle + 1 } else { high = middle }
    }
    var sampleNumber = max(0, low - 1) * SampleBlock.samples
    while sampleNumber < known, let sample = find(sampleNumber), sample.decodeTime <= time {
      sampleNumber += 1
    }
    return sampleNumber
  }

  /// Returns the last sample that is decoded at a time or before; nil if there is none.
  func sample(decodedAt time: Int64) -> Int? {
    let sampleNumber = lock.withLock { sampleIndex(decodedAfter: time) }
    return sampleNumber > 0 ? sampleNumber - 1 : nil
  }

  /// Whether a sample with a lower number is presented after a time.
  func isAnyPresented(after time: Int64, before number: Int) -> Bool {
    lock.withLock {
      guard find(number) != nil else { return false }
      if latest(beforeBlockOf: number) > time { return true }
      let start = number / SampleBlock.samples * SampleBlock.samples
      return (start..<number).contains { presentationTime($0) > time }
    }
  }

  /// Whether a sample with a higher number is presented before a time.
  func isAnyPresented(before time: Int64, following number: Int) -> Bool {
    lock.withLock {
      guard find(number) != nil else { return false }
      let block = number / SampleBlock.samples
      let end = min(known, (block + 1) * SampleBlock.samples)
      if (number + 1..<max(number + 1, end)).contains(where: { presentationTime($0) < time }) { return true }
      if let minimum = earliestPresentationTimes.minimum(from: block + 1), minimum < time { return true }
      if block < blocks.count, tail.contains(where: { $0.presentationTime < time }) { return true }
      // The presentation time of a sample is not before its decode time.
      while lastDecodeTime < time, readNext() { if presentationTime(known - 1) < time { return true } }
      return false
    }
  }

  /// Returns the last sync sample at or before a sample; nil if there is none.
  func sync(before number: Int) -> Int? {
    lock.withLock {
      guard find(number) != nil else { return nil }
      let block = number / SampleBlock.samples
      let start = block * SampleBlock.samples
      for sampleNumber in stride(from: number, through: start, by: -1) {
        if find(sampleNumber)?.flags.contains(.sync) == true { return sampleNumber }
      }
      guard block > 0, case let latest = blocks[block - 1].latestSyncSample, latest >= 0 else { return nil }
      return latest
    }
  }
}
