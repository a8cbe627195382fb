// SPDX-License-Identifier: Apache-2.0
/// Detects fades: finds the explicit weights and offsets (8.4.2.3) that make up for a change of
/// brightness between a picture and its reference pictures.
///
/// The weight is the ratio of the pictures' standard deviations and the offset follows from their
/// means, since motion changes neither. The weights are used only if they also remove more than
/// half of the change of the means of blocks of 32x32 luma samples.
package struct FadeDetector {
  /// Mean and standard deviation of the samples of one colour component, 0 to 255.
  package struct BrightnessStatistics: BitwiseCopyable {
    package var mean = 0.0
    var deviation = 0.0
  }

  /// The statistics of a picture; `isKnown` is false until one was stored.
  private struct Picture {
    var luma = BrightnessStatistics()
    var cb = BrightnessStatistics()
    var cr = BrightnessStatistics()
    var isKnown = false
  }

  /// The mean absolute change of the blocks' means, in sample values, below which a picture gets no
  /// weights.
  private static let minChange = 0.4
  /// The largest share of the change that may be left after weighting, 0 to 1. Weights that leave
  /// more are not used.
  package static let maxResidualRatio = 0.5
  /// The least standard deviation of a reference from which a ratio of deviations gives a reliable
  /// weight.
  private static let minDeviation = 2.0

  /// The reading of encoders that analyse one picture at a time.
  package let reading: BrightnessMeasurement
  /// Blocks in a row.
  private let columns: Int
  /// Rows of blocks.
  private let rows: Int
  /// The number of reference pictures whose statistics are kept. The entry at this index is the
  /// current picture's.
  private let slots: Int
  /// Luma samples of a block that are read (every fourth row).
  private let samples: Int
  /// Statistics of the reference pictures, by slot, then those of the current picture.
  private let pictures: UnsafeMutablePointer<Picture>
  /// Sums of the luma samples of each block, `columns * rows` for each slot, in raster order.
  private let blocks: UnsafeMutablePointer<UInt32>

  /// Allocates the statistics.
  ///
  /// - Parameters:
  ///   - geometry: the pictures' size.
  ///   - count: the number of reference pictures that are kept.
  ///   - memory: owns the statistics.
  package init(_ geometry: PictureGeometry, pictures count: Int, memory: inout EncoderMemory) {
    reading = BrightnessMeasurement(geometry, memory: &memory)
    (columns, rows, samples) = (reading.columns, reading.rows, reading.samples)
    slots = count
    pictures = memory.allocate(Picture.self, count: count + 1)
    for i in 0...count { (pictures + i).initialize(to: Picture()) }
    blocks = memory.allocate(UInt32.self, count: (count + 1) * columns * rows)
  }

  /// Makes a reading the statistics of the current picture.
  ///
  /// - Parameter reading: the reading of the picture, all of whose rows have been read.
  package func take(_ reading: BrightnessMeasurement) {
    (blocks + slots * columns * rows).update(from: reading.blocks, count: columns * rows)
    let levels = reading.levels
    pictures[slots] = Picture(luma: levels.luma, cb: levels.cb, cr: levels.cr, isKnown: true)
  }

  /// Computes mean and standard deviation of samples.
  ///
  /// - Parameters:
  ///   - sum: the sum of the samples.
  ///   - squares: the sum of the samples' squares.
  ///   - count: the number of samples.
  /// - Returns: both; zero for no samples.
  package static func level(_ sum: UInt64, _ squares: UInt64, _ count: Int) -> BrightnessStatistics {
    let mean = Double(sum) / Double(max(count, 1))
    let variance = Double(squares) / Double(max(count, 1)) - mean * mean
    return BrightnessStatistics(mean: mean, deviation: max(variance, 0).squareRoot())
  }

  /// Keeps the statistics of the current picture as those of the reference picture in a slot.
  ///
  /// - Parameter slot: the slot, 0 up to the number of reference pictures less 1.
  package func store(slot: Int) {
    pictures[slot] = pictures[slots]
    let count = columns * rows
    (blocks + slot * count).update(from: blocks + slots * count, count: count)
  }

  /// Finds the weights that predict the current picture from a reference picture.
  ///
  /// - Parameters:
  ///   - slot: the slot of the reference picture.
  ///   - shift: luma_log2_weight_denom and chroma_log2_weight_denom.
  ///   - weight: receives the weights; the default ones where none are found.
  package func find(slot: Int, shift: Int32, _ weight: inout PredictionWeight) {
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

  /// Chooses luma_log2_weight_denom for the current picture: 6, or 5 where contrast nearly doubles,
  /// since a weight is 127 at most.
  ///
  /// - Parameter slot: the slot of the reference picture.
  /// - Returns: 5 or 6.
  package func shift(slot: Int) -> Int32 {
    let (now, then) = (pictures[slots].luma, pictures[slot].luma)
    return now.deviation > 1.9 * then.deviation ? 5 : 6
  }

  /// Computes weight and offset of one colour component.
  ///
  /// - Parameters:
  ///   - now: mean and deviation in the current picture.
  ///   - then: mean and deviation in the reference picture.
  ///   - shift: the base-2 logarithm of the weight's denominator.
  /// - Returns: weight and offset; nil where they are out of range (the weight below a quarter or
  ///   above 127), or where the reference has no contrast but the current picture has.
  package static func component(_ now: BrightnessStatistics, _ then: BrightnessStatistics, _ shift: Int32)
    -> PredictionWeight.Component?
  {
    let one = Double(1 << shift)
    var gain = 1.0
    if then.deviation >= minDeviation {
      gain = now.deviation / then.deviation
    } else if now.deviation > 2 * minDeviation {
      return nil
    }
    let weight = (gain * one).rounded()
    guard weight >= one / 4, weight <= 127 else { return nil }
    let offset = (now.mean - weight / one * then.mean).rounded()
    guard abs(offset) <= 127 else { return nil }
    return PredictionWeight.Component(weight: Int32(weight), offset: Int32(offset))
  }

  /// Sums of absolute differences, in sample values, between the blocks' means in the current
  /// picture and their prediction from two reference pictures.
  package struct PairErrors {
    /// The error of both predictions from one reference, added up.
    package var alone = 0.0
    /// The error of the average of both references.
    package var mean = 0.0
    /// The error of implicit weighted prediction, which weighs by distance in time (8.4.2.3.1).
    package var implicit = 0.0
    /// The error of both predictions from one weighted reference, added up.
    package var weightedAlone = 0.0
    /// The error of the average of both weighted references.
    package var weightedMean = 0.0
    /// Whether the average leaves an error that is large enough to be worth weights
    /// (`minChange`).
    package var meanMatters = false
  }

  /// Compares the ways to predict the current picture from two reference pictures.
  ///
  /// - Parameters:
  ///   - a: slot and weights of the first reference picture.
  ///   - b: slot and weights of the second reference picture.
  ///   - secondWeight: the implicit weight of the second reference picture, from 0 to 1.
  /// - Returns: the errors; nil if the statistics of either reference picture are not known.
  package func errors(
    _ a: (slot: Int, weight: PredictionWeight), _ b: (slot: Int, weight: PredictionWeight),
    secondWeight: Double
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
      sum.implicit += abs(n - p * (1 - secondWeight) - q * secondWeight)
      let (u, v) = (weigh(a.weight.luma, p), weigh(b.weight.luma, q))
      sum.weightedAlone += abs(n - u) + abs(n - v)
      sum.weightedMean += abs(n - (u + v) / 2)
    }
    sum.meanMatters = sum.mean > FadeDetector.minChange * Double(count)
    return sum
  }

  /// Tests whether a luma weight explains most of the change of the blocks' means.
  ///
  /// - Parameters:
  ///   - luma: weight and offset.
  ///   - shift: the base-2 logarithm of the weight's denominator.
  ///   - now: sums of the blocks' samples in the current picture.
  ///   - then: sums of the blocks' samples in the reference picture.
  ///   - count: the number of blocks.
  ///   - samples: the number of samples in each sum.
  /// - Returns: whether there is a change that matters, and the weight leaves less than
  ///   `maxResidualRatio` of it.
  package static func holds(
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
    return without > FadeDetector.minChange * Double(count) && with < FadeDetector.maxResidualRatio * without
  }
}
