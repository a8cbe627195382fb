// SPDX-License-Identifier: Apache-2.0
/// Finds pictures that have grown darker or brighter than those they refer to, and the weights that make up for it.
///
/// Contrast tells the weight, the mean brightness the offset: neither changes where things only move. Whether they hold
/// for the picture as a whole is seen in the means of large blocks.
struct FadeDetector {
  /// Of a colour component: samples' mean and standard deviation.
  struct Level {
    var mean = 0.0
    var deviation = 0.0
  }

  private struct Picture {
    var luma = Level()
    var cb = Level()
    var cr = Level()
    var isKnown = false
  }

  /// Mean change of a block below which there is nothing to make up for, and the part of it that weights may leave.
  private static let leastChange = 0.4
  static let mostLeft = 0.5
  /// Below this deviation contrast says nothing.
  private static let leastDeviation = 2.0

  /// For who reads one picture at a time.
  let reading: FadeReading
  private let columns: Int
  private let rows: Int
  private let slots: Int
  /// Samples of a block that are read.
  private let samples: Int
  private let pictures: UnsafeMutablePointer<Picture>
  /// Sums of the blocks' samples, for each slot.
  private let blocks: UnsafeMutablePointer<UInt32>

  /// - Parameter pictures: slots for pictures that may be referred to; one more is the picture being coded.
  init(_ geometry: PictureGeometry, pictures count: Int, memory: inout EncoderMemory) {
    reading = FadeReading(geometry, memory: &memory)
    (columns, rows, samples) = (reading.columns, reading.rows, reading.samples)
    slots = count
    pictures = memory.allocate(Picture.self, count: count + 1)
    for i in 0...count { (pictures + i).initialize(to: Picture()) }
    blocks = memory.allocate(UInt32.self, count: (count + 1) * columns * rows)
  }

  /// Takes over what was read of the picture to be coded.
  func take(_ reading: FadeReading) {
    (blocks + slots * columns * rows).update(from: reading.blocks, count: columns * rows)
    let levels = reading.levels
    pictures[slots] = Picture(luma: levels.luma, cb: levels.cb, cr: levels.cr, isKnown: true)
  }

  static func level(_ sum: UInt64, _ squares: UInt64, _ count: Int) -> Level {
    let mean = Double(sum) / Double(max(count, 1))
    let variance = Double(squares) / Double(max(count, 1)) - mean * mean
    return Level(mean: mean, deviation: max(variance, 0).squareRoot())
  }

  /// The picture that was read is now the one in a slot.
  func store(slot: Int) {
    pictures[slot] = pictures[slots]
    let count = columns * rows
    (blocks + slot * count).update(from: blocks + slots * count, count: count)
  }

  /// Sets the weights of the picture that was read against the one in a slot.
  func find(slot: Int, shift: Int32, _ weight: inout PredictionWeight) {
    weight.setDefault(shift: shift)
    let (now, then) = (pictures[slots], pictures[slot])
    guard then.isKnown, let luma = FadeDetector.component(now.luma, then.luma, shift),
      Self.holds(
        luma, shift, blocks + slots * columns * rows, blocks + slot * columns * rows, count: columns * rows,
        samples: samples)
    else { return }
    weight.luma = luma
    if let cb = FadeDetector.component(now.cb, then.cb, shift) { weight.cb = cb }
    if let cr = FadeDetector.component(now.cr, then.cr, shift) { weight.cr = cr }
    weight.update()
  }

  /// The shift that suits the picture's weights against the one in a slot: 6, or 5 where it grows much brighter.
  func shift(slot: Int) -> Int32 {
    let (now, then) = (pictures[slots].luma, pictures[slot].luma)
    return now.deviation > 1.9 * then.deviation ? 5 : 6
  }

  static func component(_ now: Level, _ then: Level, _ shift: Int32) -> PredictionWeight.Component? {
    let one = Double(1 << shift)
    var gain = 1.0
    if then.deviation >= leastDeviation {
      gain = now.deviation / then.deviation
    } else if now.deviation > 2 * leastDeviation {
      return nil
    }
    let weight = (gain * one).rounded()
    guard weight >= one / 4, weight <= 127 else { return nil }
    let offset = (now.mean - weight / one * then.mean).rounded()
    guard abs(offset) <= 127 else { return nil }
    return PredictionWeight.Component(weight: Int32(weight), offset: Int32(offset))
  }

  /// Of the means of blocks of a picture that was read, predicted from two: sums of errors.
  struct PairErrors {
    /// By each of both alone, and by their mean.
    var alone = 0.0
    var mean = 0.0
    /// By their mean weighted by distance.
    var implicit = 0.0
    /// The first two with weights and offsets.
    var weightedAlone = 0.0
    var weightedMean = 0.0
    /// Whether there is an error of the mean to make up for.
    var meanMatters = false
  }

  /// - Parameters:
  ///   - a: slot and weight of the first.
  ///   - b: those of the second.
  ///   - share: of the second, 0...1, by distance.
  func errors(
    _ a: (slot: Int, weight: PredictionWeight), _ b: (slot: Int, weight: PredictionWeight), share: Double
  ) -> PairErrors? {
    guard pictures[a.slot].isKnown, pictures[b.slot].isKnown else { return nil }
    let count = columns * rows
    let now = blocks + slots * count
    let (first, second) = (blocks + a.slot * count, blocks + b.slot * count)
    let one = Double(1 << a.weight.shift)
    func weigh(_ c: PredictionWeight.Component, _ mean: Double) -> Double {
      Double(c.weight) / one * mean + Double(c.offset)
    }
    var sum = PairErrors()
    for i in 0..<count {
      let n = Double(now[i]) / Double(samples)
      let p = Double(first[i]) / Double(samples)
      let q = Double(second[i]) / Double(samples)
      sum.alone += abs(n - p) + abs(n - q)
      sum.mean += abs(n - (p + q) / 2)
      sum.implicit += abs(n - p * (1 - share) - q * share)
      let (u, v) = (weigh(a.weight.luma, p), weigh(b.weight.luma, q))
      sum.weightedAlone += abs(n - u) + abs(n - v)
      sum.weightedMean += abs(n - (u + v) / 2)
    }
    sum.meanMatters = sum.mean > FadeDetector.leastChange * Double(count)
    return sum
  }

  /// Whether the means of blocks follow, of which there are sums of so many samples.
  static func holds(
    _ luma: PredictionWeight.Component, _ shift: Int32, _ now: UnsafePointer<UInt32>,
    _ then: UnsafePointer<UInt32>, count: Int, samples: Int
  ) -> Bool {
    let samples = Double(samples)
    let gain = Double(luma.weight) / Double(1 << shift)
    var without = 0.0
    var with = 0.0
    for i in 0..<count {
      let (a, b) = (Double(now[i]) / samples, Double(then[i]) / samples)
      without += abs(a - b)
      with += abs(a - b * gain - Double(luma.offset))
    }
    return without > FadeDetector.leastChange * Double(count) && with < FadeDetector.mostLeft * without
  }
}
