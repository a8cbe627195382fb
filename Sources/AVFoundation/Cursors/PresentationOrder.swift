// SPDX-License-Identifier: Apache-2.0

/// The numbers of samples in presentation order.
///
/// Inserting a sample and finding the next one take O(log n) comparisons whatever the times are,
/// since a file may declare any times. Only the numbers are stored, in leaves of up to 512; callers
/// provide the times.
struct PresentationOrder {
  /// Samples are ordered by presentation time, and those with equal times by number.
  struct Key: Comparable {
    /// The presentation time of the sample.
    var time: Int64
    var number: Int

    static func < (a: Key, b: Key) -> Bool { (a.time, a.number) < (b.time, b.number) }
  }

  private struct Leaf {
    var first: Key
    var numbers: [UInt32]
  }

  private var leaves: [Leaf] = []
  /// The sample that is presented last; nil if there is none.
  private(set) var last: Key?

  private static let maximum = 512

  /// The sample that is presented first; nil if there is none.
  var first: Key? { leaves.first?.first }

  /// Inserts a sample.
  /// - Parameters:
  ///   - key: The key of the sample. A sample whose number is not below 2^32 is ignored.
  ///   - time: Returns the presentation time of the sample with a given number.
  mutating func insert(_ key: Key, time: (Int) -> Int64) {
    guard let number = UInt32(exactly: key.number) else { return }
    if let last, key < last {
      let leaf = max(0, self.leaf(of: key))
      let position = leaves[leaf].first > key ? 0 : self.position(of: key, in: leaf, time)
      leaves[leaf].numbers.insert(number, at: position)
      if position == 0 { leaves[leaf].first = key }
      split(leaf, time)
    } else {
      last = key
      if let end = leaves.indices.last, leaves[end].numbers.count < Self.maximum {
        leaves[end].numbers.append(number)
      } else {
        leaves.append(Leaf(first: key, numbers: [number]))
      }
    }
  }

  private mutating func split(_ leaf: Int, _ time: (Int) -> Int64) {
    let numbers = leaves[leaf].numbers
    guard numbers.count > Self.maximum else { return }
    let upper = Array(numbers[(numbers.count / 2)...])
    leaves[leaf].numbers = Array(numbers[..<(numbers.count / 2)])
    leaves.insert(Leaf(first: key(upper[0], time), numbers: upper), at: leaf + 1)
  }

  /// Returns the first sample after a key in presentation order; nil if there is none.
  func next(after key: Key, time: (Int) -> Int64) -> Key? {
    let leaf = leaf(of: key)
    guard leaf >= 0 else { return first }
    var position = position(of: key, in: leaf, time)
    let numbers = leaves[leaf].numbers
    if position < numbers.count, self.key(numbers[position], time) == key { position += 1 }
    if position < numbers.count { return self.key(numbers[position], time) }
    return leaf + 1 < leaves.count ? leaves[leaf + 1].first : nil
  }

  /// Returns the last sample before a key in presentation order; nil if there is none.
  func last(before key: Key, time: (Int) -> Int64) -> Key? {
    let leaf = leaf(of: key)
    guard leaf >= 0 else { return nil }
    let position = position(of: key, in: leaf, time)
    if position > 0 { return self.key(leaves[leaf].numbers[position - 1], time) }
    return leaf > 0 ? leaves[leaf - 1].numbers.last.map { self.key($0, time) } : nil
  }

  private func key(_ number: UInt32, _ time: (Int) -> Int64) -> Key {
    Key(time: time(Int(number)), number: Int(number))
  }

  /// The last leaf that does not begin after a key; -1 if all do.
  private func leaf(of key: Key) -> Int {
    var (low, high) = (0, leaves.count)
    while low < high {
      let middle = (low + high) / 2
      if leaves[middle].first <= key { low = middle + 1 } else { high = middle }
    }
    return low - 1
  }

  /// The index in a leaf of the first sample that is not before a key.
  private func position(of key: Key, in leaf: Int, _ time: (Int) -> Int64) -> Int {
    let numbers = leaves[leaf].numbers
    var (low, high) = (0, numbers.count)
    // In most files the sample is near the end of the last leaf.
    var step = 1
    while high - step > low, leaf == leaves.count - 1 {
      if self.key(numbers[high - step], time) < key {
        low = high - step + 1
        break
      }
      high -= step
      step *= 2
    }
    while low < high {
      let middle = (low + high) / 2
      if self.key(numbers[middle], time) < key { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// Finds the minimum of the values from a position to the end of a growing sequence.
struct SuffixMinimum {
  /// The positions, in ascending order, whose values are less than all values after them.
  private var kept: [(position: Int, value: Int64)] = []

  /// Appends the value of the next position.
  mutating func append(_ value: Int64, at position: Int) {
    while let last = kept.last, last.value >= value { kept.removeLast() }
    kept.append((position, value))
  }

  /// Returns the minimum of the values from a position on; nil if there are none.
  func minimum(from position: Int) -> Int64? {
    var (low, high) = (0, kept.count)
    while low < high {
      let middle = (low + high) / 2
      if kept[middle].position < position { low = middle + 1 } else { high = middle }
    }
    return low < kept.count ? kept[low].value : nil
  }
}
