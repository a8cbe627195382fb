// SPDX-License-Identifier: Apache-2.0

/// The next pictures of a stream whose first pass is known, where they go through a decoder's buffer: what each would take at
/// each QP. It is short enough to run it through the buffer for every picture anew, from what that holds.
struct UpcomingPassPictures {
  /// Pictures; some 16 s.
  static let capacity = 400

  struct Picture {
    var kind: PictureForecast.Kind
    var seconds: Double
  }

  private var pictures: [Picture] = []
  /// Of each, bits at each QP of 0 to 51.
  private var rows: [Float] = []
  /// The first of `pictures`; those before it are gone.
  private var first = 0

  private static let qps = 52

  var count: Int { pictures.count - first }

  mutating func append(_ picture: Picture, _ bits: (Int) -> Double) {
    pictures.append(picture)
    for qp in 0..<Self.qps { rows.append(Float(bits(qp))) }
  }

  mutating func removeFirst() {
    guard count > 0 else { return }
    first += 1
    guard first >= Self.capacity else { return }
    pictures.removeFirst(first)
    rows.removeFirst(first * Self.qps)
    first = 0
  }

  subscript(n: Int) -> Picture { pictures[first + n] }

  /// What one would take, by the pass before.
  /// - Parameter qp: 0 to 51.
  func bits(_ n: Int, qp: Double) -> Double {
    let low = min(max(Int(qp), 0), Self.qps - 2)
    let at = (first + n) * Self.qps + low
    let (a, b) = (Double(rows[at]), Double(rows[at + 1]))
    return a + (b - a) * (min(qp, Double(Self.qps - 1)) - Double(low))
  }
}
