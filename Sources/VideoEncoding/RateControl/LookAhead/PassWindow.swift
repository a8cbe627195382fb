// SPDX-License-Identifier: Apache-2.0

/// The next pictures of a stream that a previous pass has coded, with the bits that each would take
/// at each QP. The list is short enough to simulate the decoder's buffer over all of it for every
/// picture that is planned.
struct PassWindow {
  /// The most pictures that the list holds: 16 s at 25 pictures per second.
  static let capacity = 400

  /// A picture of the list.
  struct Picture {
    /// The type that the picture had in the previous pass.
    var kind: PictureForecast.Kind
    /// Its duration in seconds.
    var seconds: Double
  }

  /// The pictures in decoding order; those before index `first` have been removed.
  private var pictures: [Picture] = []
  /// For each of `pictures` its bits at each QP from 0 to 51.
  private var rows: [Float] = []
  /// The index in `pictures` of the next picture.
  private var first = 0

  /// The number of QP values.
  private static let qps = 52

  /// The number of pictures in the list.
  var count: Int { pictures.count - first }

  /// Appends a picture.
  /// - Parameters:
  ///   - picture: the picture.
  ///   - bits: gives its bits at a QP from 0 to 51.
  mutating func append(_ picture: Picture, _ bits: (Int) -> Double) {
    pictures.append(picture)
    for qp in 0..<Self.qps { rows.append(Float(bits(qp))) }
  }

  /// Removes the first picture, if there is one.
  mutating func removeFirst() {
    guard count > 0 else { return }
    first += 1
    guard first >= Self.capacity else { return }
    pictures.removeFirst(first)
    rows.removeFirst(first * Self.qps)
    first = 0
  }

  /// The picture at an index, counted from the next one.
  subscript(n: Int) -> Picture { pictures[first + n] }

  /// Bits that a picture takes by the previous pass, interpolated between whole QP values.
  /// - Parameters:
  ///   - n: the index of the picture, counted from the next one.
  ///   - qp: the QP, 0 to 51, without the offset of the picture's type.
  func bits(_ n: Int, qp: Double) -> Double {
    let low = min(max(Int(qp), 0), Self.qps - 2)
    let at = (first + n) * Self.qps + low
    let (a, b) = (Double(rows[at]), Double(rows[at + 1]))
    return a + (b - a) * (min(qp, Double(Self.qps - 1)) - Double(low))
  }
}
