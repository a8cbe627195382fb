// SPDX-License-Identifier: Apache-2.0
/// The best vector that was tried for a block of a half-size picture, within bounds, by a cost that the caller has.
struct BestVector {
  private(set) var cost: Int
  private(set) var x = 0
  private(set) var y = 0
  private let least: (x: Int, y: Int)
  private let most: (x: Int, y: Int)

  /// - Parameter cost: of no motion, which is the first to be tried.
  @inline(__always) init(cost: Int, least: (x: Int, y: Int), most: (x: Int, y: Int)) {
    self.cost = cost
    self.least = least
    self.most = most
  }

  @inline(__always) mutating func attempt(_ vx: Int, _ vy: Int, _ costAt: (_ x: Int, _ y: Int) -> Int) {
    let cx = min(max(vx, least.x), most.x)
    let cy = min(max(vy, least.y), most.y)
    if cx == x && cy == y { return }
    let cost = costAt(cx, cy)
    if cost < self.cost { (self.cost, x, y) = (cost, cx, cy) }
  }

  /// Descends by diamonds of halving steps, three of a size at most.
  @inline(__always) mutating func descend(from first: Int, _ costAt: (_ x: Int, _ y: Int) -> Int) {
    var step = first
    while step > 0 {
      var rounds = 3
      while rounds > 0 {
        let (cx, cy) = (x, y)
        attempt(cx &- step, cy, costAt)
        attempt(cx &+ step, cy, costAt)
        attempt(cx, cy &- step, costAt)
        attempt(cx, cy &+ step, costAt)
        if x == cx && y == cy { break }
        rounds &-= 1
      }
      step >>= 1
    }
  }
}
