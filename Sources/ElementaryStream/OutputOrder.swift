// SPDX-License-Identifier: Apache-2.0
/// Finds the place of each picture in output order: the picture of the lowest order gets the next
/// place as soon as more pictures wait than may be reordered. Items are returned in the order in
/// which they were added.
struct OutputOrder<Item> {
  /// The most items that wait. The limit, and that of their size, is needed since an item whose
  /// place is late holds back all items after it.
  static var maxWaitingPackets: Int { 1024 }
  /// The most bytes of all items that wait.
  static var maxWaitingSize: Int { 64 << 20 }

  /// The items that were not returned yet, in the order in which they were added. Their identifiers
  /// are consecutive; `nextID` is that of the next item. `place` is nil while it is unknown.
  private var waiting: [(item: Item, size: Int, place: Int?)] = []
  /// The size in bytes of all waiting items.
  private var waitingSize = 0
  /// The items without a place, with their order and identifier.
  private var unplaced: [(order: Int, id: Int)] = []
  private var nextID = 0
  /// The next place in output order, from 0.
  private var nextPlace = 0

  /// Adds an item, and returns the items whose place is known now and that no item without a place
  /// precedes.
  ///
  /// - Parameters:
  ///   - item: the item.
  ///   - size: its size in bytes.
  ///   - order: its picture order count since the last item that starts a sequence; nil if unknown.
  ///   - startsSequence: whether all items before it are output before it.
  ///   - maxReorder: the most items that precede an item in decoding order and follow it in output
  ///     order.
  mutating func add(_ item: Item, size: Int, order: Int?, startsSequence: Bool, maxReorder: Int) -> [(
    item: Item, place: Int
  )] {
    if startsSequence || order == nil { placeAll() }
    waiting.append((item, size, nil))
    waitingSize += size
    unplaced.append((order ?? 0, nextID))
    nextID += 1
    while unplaced.count > max(0, maxReorder) { placeLeast() }
    // Where too many items wait, places that are too early are accepted.
    let isFull = waiting.count > Self.maxWaitingPackets || waitingSize > Self.maxWaitingSize
    if order == nil || isFull { placeAll() }
    return take()
  }

  /// Returns all remaining items at the end of the stream.
  mutating func finish() -> [(item: Item, place: Int)] {
    placeAll()
    return take()
  }

  /// Gives all waiting items a place, by their order.
  private mutating func placeAll() {
    while !unplaced.isEmpty { placeLeast() }
  }

  /// Gives the item of the lowest order the next place.
  private mutating func placeLeast() {
    guard let index = unplaced.indices.min(by: { unplaced[$0].order < unplaced[$1].order }) else { return }
    let id = unplaced.remove(at: index).id
    waiting[id - (nextID - waiting.count)].place = nextPlace
    nextPlace += 1
  }

  /// Removes and returns the items in front that have a place.
  private mutating func take() -> [(item: Item, place: Int)] {
    var ready: [(item: Item, place: Int)] = []
    for entry in waiting {
      guard let place = entry.place else { break }
      ready.append((entry.item, place))
      waitingSize -= entry.size
    }
    waiting.removeFirst(ready.count)
    return ready
  }
}
