// SPDX-License-Identifier: Apache-2.0
/// Finds the place of each picture in output order: the one of least order goes first as soon as more wait than may
/// be reordered. Items come out in the order in which they came in.
struct OutputOrder<Item> {
  /// How many items wait at most, and what they may take in all, in bytes: one with a late order holds back all that
  /// come after it.
  static var mostWaiting: Int { 1024 }
  static var mostWaitingSize: Int { 64 << 20 }

  /// Their identifiers are consecutive; `nextID` is that of the next.
  private var waiting: [(item: Item, size: Int, place: Int?)] = []
  private var waitingSize = 0
  private var unplaced: [(order: Int, id: Int)] = []
  private var nextID = 0
  private var nextPlace = 0

  /// Adds an item; returns those whose place is known now.
  ///
  /// - Parameters:
  ///   - size: What it takes, in bytes.
  ///   - order: Among the items since the last that starts a sequence; nil if unknown.
  ///   - startsSequence: All items before it go before it.
  mutating func add(_ item: Item, size: Int, order: Int?, startsSequence: Bool, maxReorder: Int) -> [(
    item: Item, place: Int
  )] {
    if startsSequence || order == nil { placeAll() }
    waiting.append((item, size, nil))
    waitingSize += size
    unplaced.append((order ?? 0, nextID))
    nextID += 1
    while unplaced.count > max(0, maxReorder) { placeLeast() }
    // An item that is placed too early is better than one that is kept for ever.
    let isFull = waiting.count > Self.mostWaiting || waitingSize > Self.mostWaitingSize
    if order == nil || isFull { placeAll() }
    return take()
  }

  /// All that is left.
  mutating func finish() -> [(item: Item, place: Int)] {
    placeAll()
    return take()
  }

  private mutating func placeAll() {
    while !unplaced.isEmpty { placeLeast() }
  }

  private mutating func placeLeast() {
    guard let index = unplaced.indices.min(by: { unplaced[$0].order < unplaced[$1].order }) else { return }
    let id = unplaced.remove(at: index).id
    waiting[id - (nextID - waiting.count)].place = nextPlace
    nextPlace += 1
  }

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
