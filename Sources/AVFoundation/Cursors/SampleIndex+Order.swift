// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Samples in the order in which they are shown: by the time, and where that is the same by the number.
extension SampleIndex {
  private typealias Key = PresentationOrder.Key

  /// The latest presentation time of all samples in the blocks before the one of a number.
  private func latest(beforeBlockOf number: Int) -> Int64 {
    let block = number / SampleBlock.samples
    return block == 0 ? .min : blocks[block - 1].latestShown
  }

  /// The sample that is shown next after one; nil: it is the last.
  func shownAfter(_ number: Int) -> Int? {
    lock.withLock {
      guard let sample = find(number) else { return nil }
      let key = Key(time: sample.shown, number: number)
      return next(order.next(after: key, time: shown), after: key)
    }
  }

  /// The sample that is shown next after a key, of those that are known and of those that are not yet.
  private func next(_ known: Key?, after key: Key) -> Int? {
    var best = known
    // Nothing is shown before it is decoded.
    while best.map({ lastDecoded <= $0.time }) ?? true, readOn() {
      let added = Key(time: shown(self.known - 1), number: self.known - 1)
      if added > key, best.map({ added < $0 }) ?? true { best = added }
    }
    return best?.number
  }

  /// The sample that is shown last before one; nil: it is the first.
  func shownBefore(_ number: Int) -> Int? {
    lock.withLock {
      guard let sample = find(number) else { return nil }
      return lastShown(before: Key(time: sample.shown, number: number))
    }
  }

  /// The last sample that is shown at a time or before; nil: there is none.
  func shown(at time: Int64) -> Int? {
    lock.withLock { lastShown(before: Key(time: time, number: .max)) }
  }

  private func lastShown(before limit: Key) -> Int? {
    while lastDecoded <= limit.time, readOn() {}
    return order.last(before: limit, time: shown)?.number
  }

  /// The sample that is shown first of all; nil: the track has none.
  var firstShown: Int? {
    lock.withLock { next(order.first, after: Key(time: .min, number: -1)) }
  }

  /// The sample that is shown last of all; nil: the track has none.
  var lastShown: Int? { shown(at: .max) }

  /// The number of the first sample that is decoded after a time, which is the count of samples if there is none.
  private func firstDecoded(after time: Int64) -> Int {
    while lastDecoded <= time, readOn() {}
    var (low, high) = (0, blocks.count)
    while low < high {
      let middle = (low + high) / 2
      if blocks[middle].firstDecoded <= time { low = middle + 1 } else { high = middle }
    }
    var place = max(0, low - 1) * SampleBlock.samples
    while place < known, let sample = find(place), sample.decoded <= time { place += 1 }
    return place
  }

  /// The last sample that is decoded at a time or before; nil: there is none.
  func decoded(at time: Int64) -> Int? {
    let place = lock.withLock { firstDecoded(after: time) }
    return place > 0 ? place - 1 : nil
  }

  /// Whether a sample before one of a number is shown after a time.
  func isAnyShown(after time: Int64, before number: Int) -> Bool {
    lock.withLock {
      guard find(number) != nil else { return false }
      if latest(beforeBlockOf: number) > time { return true }
      let start = number / SampleBlock.samples * SampleBlock.samples
      return (start..<number).contains { shown($0) > time }
    }
  }

  /// Whether a sample behind one of a number is shown before a time.
  func isAnyShown(before time: Int64, behind number: Int) -> Bool {
    lock.withLock {
      guard find(number) != nil else { return false }
      let block = number / SampleBlock.samples
      let end = min(known, (block + 1) * SampleBlock.samples)
      if (number + 1..<max(number + 1, end)).contains(where: { shown($0) < time }) { return true }
      if let least = earliestShown.least(from: block + 1), least < time { return true }
      if block < blocks.count, tail.contains(where: { $0.shown < time }) { return true }
      // Nothing is shown before it is decoded.
      while lastDecoded < time, readOn() { if shown(known - 1) < time { return true } }
      return false
    }
  }

  /// The last sync sample at or before one of a number; nil: there is none.
  func sync(before number: Int) -> Int? {
    lock.withLock {
      guard find(number) != nil else { return nil }
      let block = number / SampleBlock.samples
      let start = block * SampleBlock.samples
      for place in stride(from: number, through: start, by: -1) {
        if find(place)?.flags.contains(.sync) == true { return place }
      }
      guard block > 0, case let latest = blocks[block - 1].latestSync, latest >= 0 else { return nil }
      return latest
    }
  }
}
