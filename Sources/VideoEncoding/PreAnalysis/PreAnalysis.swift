// SPDX-License-Identifier: Apache-2.0
import CVideoKernels

/// The residual of a picture as estimated before it is coded: a histogram of the energy that
/// prediction leaves in each macroblock. The bin is twice the base-2 logarithm of the SATD on the
/// half-size picture.
package struct ResidualHistogram: Equatable, BitwiseCopyable {
  /// The number of bins.
  package static let bins = 32
  /// The number of macroblocks in each bin; not an integer in a mean over pictures.
  package var counts = SIMD32<Float>()

  /// Creates a histogram without macroblocks.
  package init() {}

  /// Moves a part of the way to another histogram.
  /// - Parameters:
  ///   - other: the other histogram.
  ///   - part: 0 (no change) to 1 (equal to `other`).
  mutating func approach(_ other: ResidualHistogram, by part: Float) {
    counts += (other.counts - counts) * part
  }
}

/// The results of the pre-analysis of a picture for the rate control.
package struct PreAnalysisResult {
  /// The residual: after intra prediction for a key frame, otherwise after the better of intra and
  /// inter prediction for each macroblock.
  package var residual = ResidualHistogram()
  /// Whether the mean absolute difference from the last picture is below a camera's noise.
  package var isStill = false
  /// How new the picture is: the residual after the better prediction over the residual after intra
  /// prediction, 0 (the last picture predicts it exactly) to 1 (the last picture does not help).
  var novelty = 1.0
  /// The estimated bits of each macroblock row, in units of `BitModel` at a typical QP; valid until
  /// the next picture is analysed. Nil if there is no estimate.
  package var rowUnits: UnsafePointer<Float>?

  /// Creates the result for a picture of which nothing is known.
  /// - Parameters:
  ///   - residual: the residual.
  ///   - isStill: whether the picture is static.
  ///   - novelty: how new the picture is.
  package init(residual: ResidualHistogram = ResidualHistogram(), isStill: Bool = false, novelty: Double = 1)
  {
    self.residual = residual
    self.isStill = isStill
    self.novelty = novelty
  }

  /// The novelty from which on the last picture predicts next to nothing of a picture.
  static let mostlyNew = 0.6
}

/// The pre-analysis of a picture for low-latency encoding, on its luma at half size: for each
/// macroblock the SATD after motion compensation from the last source picture, with the best of a
/// few vectors, and the SATD after intra prediction from the source picture itself.
///
/// Threads share the rows of macroblocks; the result does not depend on their number.
package final class PreAnalysis: RowTask, @unchecked Sendable {
  /// The size of the pictures.
  private let geometry: PictureGeometry
  /// The half-size pictures with the vectors and the evidence of all macroblocks. The vector that
  /// the last picture left is a candidate of the search.
  private var pictures: PreAnalysisRow
  /// One element per thread: its results and its scratch memory.
  private let parts: UnsafeMutablePointer<PreAnalysisRow.Part>
  /// Scratch memory of `CameraMotion`, `CameraMotion.histogramCount` elements.
  private let histogram: UnsafeMutablePointer<Int32>
  /// The units of each row of macroblocks (`PreAnalysisResult.rowUnits`).
  private let rowUnits: UnsafeMutablePointer<Float>
  /// The QP at which rows are compared.
  private static let typicalQP = 30
  /// The picture that is being analysed.
  private var source: SourcePicture?
  /// Where the brightness of the picture is stored, if it is asked for.
  private var brightness: BrightnessMeasurement?
  /// The motion of the camera from the last picture to this one.
  package private(set) var camera = CameraMotion()
  /// Whether a picture has been analysed before.
  private var hasLast = false

  /// The residual after the better of both predictions.
  private var residual = ResidualHistogram()
  /// The mean absolute difference of the half-size samples from those of the last picture.
  private var change = 0.0
  /// Whether a new scene begins with the picture.
  package private(set) var isSceneChange = false
  /// Whether the two pictures before were mostly new as well, as when a camera shakes. What looks
  /// like a scene cut is then one more of them, and the pictures that follow will not refer to it
  /// much either.
  private var isMostlyNewForLong: Bool { min(novelties.0, novelties.1) > PreAnalysisResult.mostlyNew }
  /// The novelty of the last two pictures, the older one first; 0 where a scene began.
  private var novelties = (0.0, 0.0)

  /// The mean absolute difference of the half-size samples below which the picture is static: a
  /// camera's noise is more.
  private static let stillness = 0.1
  /// Whether the picture is static.
  private var isStill: Bool { hasLast && change < PreAnalysis.stillness }
  /// How new the picture is (`PreAnalysisResult.novelty`).
  private var novelty = 1.0

  /// Allocates the memory of the analysis.
  /// - Parameters:
  ///   - geometry: the size of the pictures.
  ///   - kernels: the functions that compare samples.
  ///   - threads: the number of threads that share the rows.
  ///   - memory: owns the allocated memory.
  package init(
    _ geometry: PictureGeometry, kernels: UnsafePointer<OVTVideoKernels>, threads: Int = 1,
    memory: inout EncoderMemory
  ) {
    self.geometry = geometry
    pictures = PreAnalysisRow(geometry, kernels: kernels, memory: &memory)
    parts = memory.allocate(PreAnalysisRow.Part.self, count: threads)
    for i in 0..<threads { (parts + i).initialize(to: PreAnalysisRow.Part(memory: &memory)) }
    histogram = memory.allocate(Int32.self, count: CameraMotion.histogramCount)
    rowUnits = memory.allocate(Float.self, count: geometry.heightInMbs)
    super.init(rows: geometry.heightInMbs, threads: threads)
  }

  /// The result for the picture that was analysed last.
  /// - Parameter isKeyFrame: whether it is coded as a key frame, so that only intra prediction
  ///   counts.
  package func result(isKeyFrame: Bool) -> PreAnalysisResult {
    var result = PreAnalysisResult(
      residual: isKeyFrame ? intra() : residual, isStill: isStill, novelty: novelty)
    result.rowUnits = UnsafePointer(rowUnits)
    return result
  }

  /// Analyses a picture and compares it with the picture that was analysed before it.
  /// - Parameters:
  ///   - source: the picture, of which the luma is read.
  ///   - sharing: lets other threads take part; nil: the calling thread does all of them.
  ///   - brightness: gets the brightness of the picture; nil where it is not needed.
  package func analyse(
    _ source: SourcePicture, with sharing: (any RowSharing)? = nil, brightness: BrightnessMeasurement? = nil
  ) {
    self.brightness = brightness
    pictures.advance()
    residual = ResidualHistogram()
    isSceneChange = false
    camera = CameraMotion()
    novelty = 1
    change = 0
    self.source = source
    for i in 0..<threads { parts[i].found = PreAnalysisRow.Sums() }
    let rows = geometry.heightInMbs
    if let sharing { sharing.share(self, count: rows) } else { runAlone(rows) }
    self.source = nil
    guard hasLast else {
      residual = intra()
      hasLast = true
      return
    }
    var found = PreAnalysisRow.Sums()
    for i in 0..<threads { found += parts[i].found }
    residual = found.residual
    residual.counts *= Float(geometry.macroblockCount) / Float(found.analysedCount)
    change = Double(found.difference) / Double(found.analysedCount &* 64)
    novelty = min(Double(found.sampled.residual + 1) / Double(found.sampled.intra + 1), 1)
    isSceneChange =
      found.intraCount * 2 > found.analysedCount
      && Double(found.compared.moved) > 0.9 * Double(found.compared.intra) && change > 6 && !isFlash
      && !isMostlyNewForLong
    novelties = isSceneChange ? (0, 0) : (novelties.1, novelty)
    if isSceneChange { return }
    camera = CameraMotion(
      vectors: pictures.vectors, evidence: pictures.evidence, width: geometry.widthInMbs,
      height: geometry.heightInMbs, histogram: histogram)
  }

  /// Halves a row of macroblocks and compares it with the last picture.
  package override func work(row y: Int, thread: Int) {
    guard let source else { return }
    let pictures = pictures
    pictures.halve(source, row: y)
    brightness?.read(source, macroblockRow: y)
    guard hasLast else { return }
    // A copy, so that threads do not write to the same cache lines.
    var part = parts[thread]
    var row = part.found.residual
    pictures.compare(row: y, &part, threads > 1 ? progress : nil)
    parts[thread] = part
    row.counts = part.found.residual.counts - row.counts
    rowUnits[y] = Float(BitModel.units(row, PreAnalysis.typicalQP))
  }

  /// The residual after intra prediction of the picture that was analysed last; its rows are
  /// compared by that, too.
  private func intra() -> ResidualHistogram {
    var all = ResidualHistogram()
    for y in 0..<geometry.heightInMbs {
      let row = pictures.intra(row: y, &parts[0])
      rowUnits[y] = Float(BitModel.units(row, PreAnalysis.typicalQP))
      all += row
    }
    return all
  }

  /// Whether most of the change is a step of brightness, the same for all samples.
  private var isFlash: Bool {
    let (current, last) = (pictures.current, pictures.last)
    let (width, height) = (current.width, current.height)
    var total = 0
    for y in 0..<height {
      let (a, b) = (current.luma + y &* current.stride, last.luma + y &* last.stride)
      for x in 0..<width { total &+= Int(a[x]) &- Int(b[x]) }
    }
    let shift = Int((Double(total) / Double(width * height)).rounded())
    var without = 0
    var with = 0
    for y in 0..<height {
      let (a, b) = (current.luma + y &* current.stride, last.luma + y &* last.stride)
      for x in 0..<width {
        let change = Int(a[x]) &- Int(b[x])
        without &+= abs(change &- shift)
        with &+= abs(change)
      }
    }
    return without * 3 < with
  }
}
