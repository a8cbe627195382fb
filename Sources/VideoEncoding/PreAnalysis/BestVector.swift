// SPDX-License-Identifier: Apache-2.0
/// The best vector so far of a block of a half-size picture, and the search for it within bounds.
/// The caller gives the cost as a function of the vector, and the unit of vectors with it.
struct BestVector {
  /// The cost of the best vector.
  private(set) var cost: Int
  /// The horizontal component of the best vector.
  private(set) var x = 0
  /// The vertical component of the best vector.
  private(set) var y = 0
  /// The smallest components that are allowed.
  private let minimum: (x: Int, y: Int)
  /// The largest components that are allowed.
  private let maximum: (x: Int, y: Int)

  /// Begins with the zero vector.
  ///
  /// - Parameters:
  ///   - cost: the cost of the zero vector.
  ///   - minimum: the smallest components that are allowed.
  ///   - maximum: the largest components that are allowed.
  @inline(__always) init(cost: Int, minimum: (x: Int, y: Int), maximum: (x: Int, y: Int)) {
    self.cost = cost
    self.minimum = minimum
    self.maximum = maximum
  }

  /// Tries a vector, clamped to the bounds.
  ///
  /// - Parameters:
  ///   - vx: the horizontal component.
  ///   - vy: the vertical component.
  ///   - costAt: returns the cost of a vector.
  @inline(__always) mutating func tryVector(
    _ vx: Int, _ vy: Int, _ costAt: (_ x: Int, _ y: Int) -> Int
  ) {
    let cx = min(max(vx, minimum.x), maximum.x)
    let cy = min(max(vy, minimum.y), maximum.y)
    if cx == x && cy == y { return }
    let cost = costAt(cx, cy)
    if cost < self.cost { (self.cost, x, y) = (cost, cx, cy) }
  }

  /// Searches by diamonds around the best vector: up to three rounds with each step size, which is
  /// halved down to 1.
  ///
  /// - Parameters:
  ///   - first: the first step size.
  ///   - lastRounds: the most rounds with the step size 1.
  ///   - costAt: returns the cost of a vector.
  @inline(__always) mutating func diamondSearch(
    from first: Int, lastRounds: Int = 3, _ costAt: (_ x: Int, _ y: Int) -> Int
  ) {
    var step = first
    while step > 0 {
      var rounds = step == 1 ? lastRounds : 3
      while rounds > 0 {
        let (cx, cy) = (x, y)
        tryVector(cx &- step, cy, costAt)
        tryVector(cx &+ step, cy, costAt)
        tryVector(cx, cy &- step, costAt)
        tryVector(cx, cy &+ step, costAt)
        if x == cx && y == cy { break }
        rounds &-= 1
      }
      step >>= 1
    }
  }
}
