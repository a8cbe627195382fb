// SPDX-License-Identifier: Apache-2.0
// Intra prediction of H.264 from an edge, written sample by sample with the p[x, y] of the
// standard.

/// 8.3.1.2.1 to 8.3.1.2.9; for n = 8 8.3.2.2.2 to 8.3.2.2.10.
package func predictFromEdge(_ mode: Int, _ n: Int, _ x: Int, _ y: Int, _ p: (Int, Int) -> Int) -> Int {
  let top = (0..<n).reduce(0) { $0 + p($1, -1) }
  let left = (0..<n).reduce(0) { $0 + p(-1, $1) }
  let shift = n == 4 ? 2 : 3
  switch mode {
  case 0: return p(x, -1)
  case 1: return p(-1, y)
  case 2: return (top + left + n) >> (shift + 1)
  case 3:
    if x == n - 1 && y == n - 1 { return (p(2 * n - 2, -1) + 3 * p(2 * n - 1, -1) + 2) >> 2 }
    return (p(x + y, -1) + 2 * p(x + y + 1, -1) + p(x + y + 2, -1) + 2) >> 2
  case 4:
    if x > y { return (p(x - y - 2, -1) + 2 * p(x - y - 1, -1) + p(x - y, -1) + 2) >> 2 }
    if x < y { return (p(-1, y - x - 2) + 2 * p(-1, y - x - 1) + p(-1, y - x) + 2) >> 2 }
    return (p(0, -1) + 2 * p(-1, -1) + p(-1, 0) + 2) >> 2
  case 5:
    let zVR = 2 * x - y
    let i = x - (y >> 1)
    if zVR >= 0 && zVR % 2 == 0 { return (p(i - 1, -1) + p(i, -1) + 1) >> 1 }
    if zVR >= 0 { return (p(i - 2, -1) + 2 * p(i - 1, -1) + p(i, -1) + 2) >> 2 }
    if zVR == -1 { return (p(-1, 0) + 2 * p(-1, -1) + p(0, -1) + 2) >> 2 }
    let j = y - 2 * x
    return (p(-1, j - 1) + 2 * p(-1, j - 2) + p(-1, j - 3) + 2) >> 2
  case 6:
    let zHD = 2 * y - x
    let i = y - (x >> 1)
    if zHD >= 0 && zHD % 2 == 0 { return (p(-1, i - 1) + p(-1, i) + 1) >> 1 }
    if zHD >= 0 { return (p(-1, i - 2) + 2 * p(-1, i - 1) + p(-1, i) + 2) >> 2 }
    if zHD == -1 { return (p(-1, 0) + 2 * p(-1, -1) + p(0, -1) + 2) >> 2 }
    let j = x - 2 * y
    return (p(j - 1, -1) + 2 * p(j - 2, -1) + p(j - 3, -1) + 2) >> 2
  case 7:
    let i = x + (y >> 1)
    if y % 2 == 0 { return (p(i, -1) + p(i + 1, -1) + 1) >> 1 }
    return (p(i, -1) + 2 * p(i + 1, -1) + p(i + 2, -1) + 2) >> 2
  case 8:
    let zHU = x + 2 * y
    let i = y + (x >> 1)
    let last = n == 4 ? 5 : 13
    if zHU > last { return p(-1, n - 1) }
    if zHU == last { return (p(-1, n - 2) + 3 * p(-1, n - 1) + 2) >> 2 }
    if zHU % 2 == 0 { return (p(-1, i) + p(-1, i + 1) + 1) >> 1 }
    return (p(-1, i) + 2 * p(-1, i + 1) + p(-1, i + 2) + 2) >> 2
  case 9: return (left + n / 2) >> shift
  case 10: return (top + n / 2) >> shift
  default: return 128
  }
}

/// Reference sample filtering for Intra_8x8 (8.3.2.2.1), its cases in its order.
///
/// - Parameters:
///   - edge: the sample above left; the row above follows it, the column to the left precedes it.
///   - available: bit 0 left, bit 1 top, bit 2 top left.
/// - Returns: the filtered samples by their distance from `edge`.
package func filteredEdge8x8(_ edge: UnsafePointer<UInt8>, available: Int) -> [Int: Int] {
  let (left, top, corner) = (available & 1 != 0, available & 2 != 0, available & 4 != 0)
  let p = { (x: Int, y: Int) in Int(y == -1 ? edge[1 + x] : edge[-1 - y]) }
  var model: [Int: Int] = [:]
  if top {
    model[1] =
      corner ? (p(-1, -1) + 2 * p(0, -1) + p(1, -1) + 2) >> 2 : (3 * p(0, -1) + p(1, -1) + 2) >> 2
    for x in 1...14 { model[1 + x] = (p(x - 1, -1) + 2 * p(x, -1) + p(x + 1, -1) + 2) >> 2 }
    model[16] = (p(14, -1) + 3 * p(15, -1) + 2) >> 2
  }
  if corner {
    if !top || !left {
      if top {
        model[0] = (3 * p(-1, -1) + p(0, -1) + 2) >> 2
      } else if left {
        model[0] = (3 * p(-1, -1) + p(-1, 0) + 2) >> 2
      } else {
        model[0] = p(-1, -1)
      }
    } else {
      model[0] = (p(0, -1) + 2 * p(-1, -1) + p(-1, 0) + 2) >> 2
    }
  }
  if left {
    model[-1] =
      corner ? (p(-1, -1) + 2 * p(-1, 0) + p(-1, 1) + 2) >> 2 : (3 * p(-1, 0) + p(-1, 1) + 2) >> 2
    for y in 1...6 { model[-1 - y] = (p(-1, y - 1) + 2 * p(-1, y) + p(-1, y + 1) + 2) >> 2 }
    model[-8] = (p(-1, 6) + 3 * p(-1, 7) + 2) >> 2
  }
  return model
}
