// SPDX-License-Identifier: Apache-2.0
/// Finds the place of each picture in output order: the one of least order goes first as soon as more wait than may
/// be reordered. Items come out in the order in which they came in.
struct OutputOrder<Item> {
  private var waiting: [(item: Item, id: Int, place: Int?)] = []
  private var unplaced: [(order: Int, id: Int)] = []
  private var nextID = 0
  private var nextPlace = 0

  /// Adds an item; returns those whose place is known now.
  ///
  /// - Parameters:
  ///   - order: Among the items since the last that starts a sequence; nil if unknown.
  ///   - startsSequence: All items before it go before it.
  mutating func add(_ item: Item, order: Int?, startsSequence: Bool, maxReorder: Int) -> [(
    item: Item, place: Int
  )] {
    if startsSequence || order == nil { placeAll() }
    waiting.append((item, nextID, nil))
    unplaced.append((order ?? 0, nextID))
    nextID += 1
    while unplaced.count > max(0, maxReorder) { placeLeast() }
    if order == nil { placeAll() }
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
    if let position = waiting.firstIndex(where: { $0.id == id }) { waiting[position].place = nextPlace }
    nextPlace += 1
  }

  private mutating func take() -> [(item: Item, place: Int)] {
    var ready: [(item: Item, place: Int)] = []
    while let first = waiting.first, let place = first.place {
      ready.append((first.item, place))
      waiting.removeFirst()
    }
    return ready
  }
}
