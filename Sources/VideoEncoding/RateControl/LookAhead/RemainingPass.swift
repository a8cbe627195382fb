// SPDX-License-Identifier: Apache-2.0

/// The bits that the rest of a stream takes at each QP, by the statistics of a previous pass.
///
/// With a decoder's buffer, the next pictures are simulated one by one (`near`); of the pictures
/// after them only sums are kept, of their bits and of the bits that the buffer lets through at
/// each QP.
struct RemainingPass {
  /// The bits of the pictures not coded yet, by QP without the offset of their type; with a buffer,
  /// of those after `near`. They are sorted by how far they are extrapolated: element n of a QP has
  /// those of pictures whose QP in the pass was `n - 3` times `farSteps` lower. The bits of a
  /// picture between two of these distances are shared out among both.
  private var distances = [SIMD8<Double>](repeating: SIMD8(), count: 52)
  /// The part of these bits that the buffer lets through, by QP.
  private var carriedBits = [Double](repeating: 0, count: 52)
  /// The duration in seconds of the pictures not coded yet.
  private(set) var seconds: Double
  /// The duration in seconds of the pictures that `distances` is the sum of.
  private var farSeconds: Double
  /// The buffer of the pictures after `near`, before the first of them; nil without a buffer.
  private var farBuffer: BufferSimulation?
  /// The number of pictures in the pass.
  private let count: Int
  /// The number of pictures coded so far.
  private var next = 0
  /// The pictures not coded yet.
  private var uncodedPictures: PassCursor
  /// The pictures after `near`.
  private var farPictures: PassCursor
  /// The next pictures, where there is a buffer and the pictures are coded one by one; otherwise
  /// empty.
  private var near = PassWindow()
  /// The bits of the pictures coded so far, and their bits by the previous pass, as far as they are
  /// not extrapolated: sums that decay.
  private var taken = 1.0
  private var expected = 1.0
  /// The mean bits of a picture in the previous pass.
  private var meanBits = 1.0
  /// The base-2 logarithm of the factor by which pictures take more bits than the model expects
  /// where their QP is `farSteps` above that of the previous pass. Where it is as much lower, they
  /// take fewer by the same factor: bits change less with the QP than in the model.
  private var flatness = 0.0
  /// The factors that follow from `flatness`, for the elements of `distances`.
  private var factors = SIMD8<Double>(repeating: 1)

  /// Reads the whole pass.
  /// - Parameters:
  ///   - pass: the statistics of the previous pass.
  ///   - buffer: the decoder's buffer at the start of the stream; nil without one.
  ///   - end: the bits that have to be in the buffer at the end of the stream.
  ///   - isFollowed: whether the pictures will be coded, and recorded one by one.
  init(_ pass: any PassSource, buffer: BufferState? = nil, end: Double = 0, isFollowed: Bool = false) {
    count = pass.count
    uncodedPictures = pass.cursor()
    farPictures = uncodedPictures
    seconds = pass.seconds
    farSeconds = seconds
    farBuffer = buffer.map { BufferSimulation($0, end: end) }
    var total = 0.0
    var all = uncodedPictures
    var course = QPCourse()
    while let picture = all.next() {
      add(picture, 1)
      total += Double(picture.bits)
      if isFollowed && buffer == nil { course.add(picture) }
    }
    setFlatness(course.slope * Self.farSteps)
    // A few pictures of hardly any bits say nothing about the rest.
    meanBits = max(total / Double(max(count, 1)), 1)
    taken = max(meanBits * Self.initialWeight, 1)
    expected = taken
    farSeconds = seconds
    farBuffer?.restart()
    guard isFollowed, farBuffer != nil else { return }
    while near.count < PassWindow.capacity, let picture = farPictures.next() { approach(picture) }
  }

  /// Adds the next picture in decoding order to the sums (`sign` 1) or removes it from them (-1).
  /// The simulated buffer moves on in both cases.
  private mutating func add(_ picture: PassStatistics.Picture, _ sign: Double) {
    let passQP = knownQP(of: picture)
    Self.forEachQP(picture) { qp, own in
      distances[qp] += sign * Self.distances(own, from: passQP, to: Double(qp))
      if let taken = farBuffer?.take(own, qp: qp, seconds: picture.duration, left: farSeconds) {
        carriedBits[qp] += sign * taken
      }
    }
    farSeconds -= picture.duration
  }

  /// Moves a picture from the sums to `near`.
  private mutating func approach(_ picture: PassStatistics.Picture) {
    add(picture, -1)
    var row = [Double](repeating: 0, count: 52)
    Self.forEachQP(picture) { row[$0] = $1 }
    near.append(.init(kind: picture.kind, seconds: picture.duration)) { row[$0] }
  }

  /// Calls `body` with every QP from 0 to 51 and the picture's bits at it. The result is that of
  /// `bits(_:qp:)`, with less work: hours of pictures are read before the first one is coded.
  private static func forEachQP(_ picture: PassStatistics.Picture, _ body: (Int, Double) -> Void) {
    let offset = LookAheadRateControl.offsets[picture.kind.rawValue]
    let then = BitModel.units(picture.residual, qp: min(max(picture.qp + offset, 0), 51))
    let scale = Double(picture.bits) / then
    let part = offset - offset.rounded(.down)
    var at = Int(offset.rounded(.down))
    var below = BitModel.units(picture.residual, at)
    for qp in 0..<52 {
      at += 1
      let above = BitModel.units(picture.residual, at)
      body(qp, scale * (below + (above - below) * part))
      below = above
    }
  }

  /// Bits that a picture takes at a QP without the offset of its type, scaled from what it took in
  /// the pass.
  static func bits(_ picture: PassStatistics.Picture, qp: Double) -> Double {
    let offset = LookAheadRateControl.offsets[picture.kind.rawValue]
    let then = BitModel.units(picture.residual, qp: min(max(picture.qp + offset, 0), 51))
    return Double(picture.bits) * BitModel.units(picture.residual, qp: min(max(qp + offset, 0), 51)) / then
  }

  /// The bits of the pictures after `near` at a QP, as far as the buffer lets them through.
  /// - Parameters:
  ///   - qp: the QP, 0 to 51.
  ///   - fullness: the bits in the buffer before these pictures. What exceeds the fullness that the
  ///     QP would have left is let through as well. Nil: no more than that.
  private func farBits(_ qp: Int, fullness: Double?) -> Double {
    let all = corrected(distances[qp])
    guard let farBuffer else { return all }
    let saved = fullness.map { max($0 - farBuffer.held(qp), 0) } ?? 0
    return min(all, carriedBits[qp] + saved)
  }

  /// How far the bits of a picture at a QP are extrapolated from those that it took in the pass, in
  /// `farSteps`: -3 to 3.
  /// - Parameter passQP: `knownQP(of:)`; nil counts as the same QP.
  @inline(__always)
  private static func distance(from passQP: Double?, to qp: Double) -> Double {
    guard let passQP else { return 0 }
    return min(max((qp - min(max(passQP, 0), 51)) / farSteps, -3), 3)
  }

  /// The QP that a picture had in the pass; nil where its bits tell nothing of how bits change with
  /// the QP: the picture has no residual, or a buffer limits what pictures take.
  private func knownQP(of picture: PassStatistics.Picture) -> Double? {
    guard farBuffer == nil else { return nil }
    let qp = picture.qp + LookAheadRateControl.offsets[picture.kind.rawValue]
    let units = BitModel.units(picture.residual, qp: min(max(qp, 0), 51))
    let isInformative =
      BitModel.informativeness(picture.residual, units: units) > BitModel.leastInformativeness
    return isInformative ? picture.qp : nil
  }

  /// A number of bits, distributed among the elements of `distances`.
  @inline(__always)
  private static func distances(_ bits: Double, from passQP: Double?, to qp: Double) -> SIMD8<Double> {
    let place = distance(from: passQP, to: qp) + 3
    let low = min(Int(place), 5)
    let part = place - Double(low)
    var result = SIMD8<Double>()
    result[low] = bits * (1 - part)
    result[low + 1] = bits * part
    return result
  }

  /// The QP steps within which the model of bits is trusted.
  private static let farSteps = 6.0

  /// Corrects bits by what the pictures so far took.
  /// - Parameter bits: the bits of pictures by the model, as in `distances`.
  private func corrected(_ bits: SIMD8<Double>) -> Double {
    taken / expected * (bits * factors).sum()
  }

  /// The bits of the whole stream at a QP from 0 to 51; for instances that are not followed picture
  /// by picture.
  func bits(qp: Double) -> Double {
    let low = min(max(Int(qp), 0), 51)
    let (a, b) = (
      farBits(low, fullness: nil), farBits(min(low + 1, 51), fullness: nil)
    )
    return a + (b - a) * (qp - Double(low))
  }

  /// Whether all pictures of the pass have been coded.
  var isFinished: Bool { next >= count }

  /// The QP at which the rest of the stream takes a number of bits.
  /// - Parameters:
  ///   - wanted: the bits.
  ///   - buffer: the state of the buffer before the next picture; nil without a buffer.
  /// - Returns: the QP, 0 to 51, without the offset of the picture type, and whether that takes all
  ///   bits that the buffer lets through.
  func plan(bits wanted: Double, buffer: BufferState? = nil) -> (qp: Double, needsAllBufferBits: Bool) {
    guard wanted.isFinite else { return (wanted == .infinity ? 0 : 51, false) }
    guard let farBuffer, let buffer else {
      // Includes `near`: the buffer may have been removed by a new configuration.
      func free(_ qp: Int) -> Double {
        (0..<near.count).reduce(corrected(distances[qp])) {
          $0 + near.bits($1, qp: Double(qp)) * taken / expected
        }
      }
      return (Self.qp(wanted, free), false)
    }
    func all(_ qp: Int) -> Double {
      var rest = BufferSimulation(buffer, held: buffer.fullness, end: farBuffer.end)
      var sum = 0.0
      var left = seconds
      for n in 0..<near.count {
        let picture = near[n]
        let own = near.bits(n, qp: Double(qp)) * taken / expected
        sum += rest.take(own, qp: 0, seconds: picture.seconds, left: left)
        left -= picture.seconds
      }
      return sum + farBits(qp, fullness: rest.held(0))
    }
    // Below some QP the buffer lets nothing more through. The highest QP that takes nearly all of
    // it is enough.
    let maximum = all(0) * Self.nearlyAll
    return (Self.qp(min(wanted, maximum), all), wanted >= maximum)
  }

  /// The QP at which the whole stream takes a number of bits.
  func qp(bits wanted: Double) -> Double { plan(bits: wanted).qp }

  /// The bits of one of the next pictures by the previous pass, and whether it was an intra picture
  /// there.
  /// - Parameters:
  ///   - n: the index of the picture, counted from the next one.
  ///   - qp: the QP without the offset of its type.
  /// - Returns: nil where the pass does not reach that far, or the pictures are not followed.
  func expected(_ n: Int, qp: Double) -> (bits: Double, isIntra: Bool)? {
    guard n < near.count else { return nil }
    return (near.bits(n, qp: min(max(qp, 0), 51)), near[n].kind == .intra)
  }

  /// The QP at which a function that falls with the QP takes a value, interpolated between whole
  /// QPs.
  private static func qp(_ wanted: Double, _ all: (Int) -> Double) -> Double {
    var low = 0
    var high = 51
    if all(low) <= wanted { return 0 }
    if all(high) >= wanted { return 51 }
    while high - low > 1 {
      let middle = (low + high) / 2
      if all(middle) > wanted { low = middle } else { high = middle }
    }
    let part = (all(low) - wanted) / max(all(low) - all(high), 1e-9)
    return Double(low) + min(max(part, 0), 1)
  }

  /// The share of all bits that the buffer lets through which counts as all of them.
  private static let nearlyAll = 0.995
  /// The range of `flatness`.
  private static let mostFlatness = 1.5
  /// How much of an error a picture of mean size corrects.
  private static let learning = 0.1
  /// The initial weight of the previous pass in `taken` and `expected`, in pictures of mean size.
  private static let initialWeight = 4.0

  /// Moves on after the next picture was coded.
  /// - Parameters:
  ///   - bits: the bits of its access unit.
  ///   - qp: the QP that it was coded with, without the offset of its type.
  ///   - isIntra: whether it is an intra picture.
  mutating func record(bits: Double, qp: Double, isIntra: Bool) {
    guard let picture = uncodedPictures.next() else {
      next = count
      return
    }
    next += 1
    if farBuffer == nil {
      add(picture, -1)
    } else {
      near.removeFirst()
      if let picture = farPictures.next() { approach(picture) }
    }
    seconds -= picture.duration
    // The sums decay: recent pictures count more than the first ones.
    let planned = max(Self.bits(picture, qp: qp), 1)
    // The first picture of a part is an intra picture, even where it was none in the pass.
    guard farBuffer == nil || isIntra == (picture.kind == .intra) else { return }
    let distance = Self.distance(from: knownQP(of: picture), to: qp)
    let near = max(1 - abs(distance), 0)
    let exact = near * near
    taken = taken * (1 - 0.01 * exact) + bits * exact
    expected = expected * (1 - 0.01 * exact) + planned * exact
    // The error of an extrapolation tells how fast bits change with the QP.
    let error = log2Approx(max(bits, 1) / (planned * taken / expected)) - flatness * distance
    let size = min(planned / meanBits, 1)
    let weight = Self.learning * size * size
    let change = weight * min(max(error, -2), 2) * distance / max(distance * distance, 1)
    setFlatness(flatness + change)
  }

  private mutating func setFlatness(_ wanted: Double) {
    flatness = min(max(wanted, -Self.mostFlatness), Self.mostFlatness)
    for n in 0..<7 { factors[n] = exp2Approx(flatness * Double(n - 3)) }
  }
}
