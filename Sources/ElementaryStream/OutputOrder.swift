// SPDX-License-Identifier: Apache-2.0
/// Finds the index of each picture in output order: the picture with the lowest picture order count
/// gets the next index as soon as more pictures wait than may be reordered. Items are returned in
/// the order in which they were added.
struct OutputOrder<Item> {
  /// The most items that wait. The limit, and that of their size, is needed since an item whose
  /// index is found late holds back all items after it.
  static var maxWaitingPackets: Int { 1024 }
  /// The most bytes of all items that wait.
  static var maxWaitingSize: Int { 64 << 20 }

  /// The items that were not returned yet, in the order in which they were added. Their identifiers
  /// are consecutive; `nextID` is that of the next item. `outputIndex` is nil while it is unknown.
  private var waiting: [(item: Item, size: Int, outputIndex: Int?)] = []
  /// The size in bytes of all waiting items.
  private var waitingSize = 0
  /// The items without an index, with their order and identifier.
  private var unassigned: [(order: Int, id: Int)] = []
  private var nextID = 0
  /// The next index in output order, from 0.
  private var nextOutputIndex = 0

  /// Adds an item, and returns the items whose index in output order is known now and that no
  /// item without one precedes.
  ///
  /// - Parameters:
  ///   - item: the item.
  ///   - size: its size in bytes.
  ///   - order: its picture order count since the last item that starts a sequence; nil if unknown.
  ///   - startsSequence: whether all items before it are output before it.
  ///   - maxReorder: the most items that precede an item in decoding order and follow it in output
  ///     order.
  mutating func add(_ item: Item, size: Int, order: Int?, startsSequence: Bool, maxReorder: Int) -> [(
    item: Item, outputIndex: Int
  )] {
    if startsSequence || order == nil { assignAll() }
    waiting.append((item, size, nil))
    waitingSize += size
    unassigned.append((order ?? 0, nextID))
    nextID += 1
    while unassigned.count > max(0, maxReorder) { assignLowest() }
    // Where too many items wait, indices that are too low are accepted.
    let isFull = waiting.count > Self.maxWaitingPackets || waitingSize > Self.maxWaitingSize
    if order == nil || isFull { assignAll() }
    return removeReady()
  }

  /// Returns all remaining items at the end of the stream.
  mutating func finish() -> [(item: Item, outputIndex: Int)] {
    assignAll()
    return removeReady()
  }

  /// Gives all waiting items an index, by their picture order counts.
  private mutating func assignAll() {
    while !unassigned.isEmpty { assignLowest() }
  }

  /// Gives the item with the lowest picture order count the next index.
  private mutating func assignLowest() {
    guard let index = unassigned.indices.min(by: { unassigned[$0].order < unassigned[$1].order }) else {
      return
    }
    let id = unassigned.remove(at: index).id
    waiting[id - (nextID - waiting.count)].outputIndex = nextOutputIndex
    nextOutputIndex += 1
  }

  /// Removes and returns the items in front that have an index.
  private mutating func removeReady() -> [(item: Item, outputIndex: Int)] {
    var ready: [(item: Item, outputIndex: Int)] = []
    for entry in waiting {
      guard let outputIndex = entry.outputIndex else { break }
      ready.append((entry.item, outputIndex))
      waitingSize -= entry.size
    }
    waiting.removeFirst(ready.count)
    return ready
  }
}
