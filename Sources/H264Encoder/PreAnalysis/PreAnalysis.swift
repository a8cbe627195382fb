// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// How much there is to code in a picture, seen before it is coded: a histogram of what each macroblock leaves
/// after prediction, by twice the base-2 logarithm of its SATD on the half-size picture.
struct ResidualHistogram: Equatable {
  static let bins = 32
  /// Macroblocks by bin; a mean over pictures need not be whole.
  var counts = SIMD32<Float>()

  /// Moves a part of the way to another.
  mutating func approach(_ other: ResidualHistogram, by part: Float) {
    counts += (other.counts - counts) * part
  }
}

/// What the rate control knows of a picture before it is coded.
struct PreAnalysisResult {
  /// What prediction leaves: intra prediction alone for a key frame, else the better of both.
  var residual = ResidualHistogram()
  /// The mean absolute difference in place is below a camera's noise.
  var isStill = false
  /// How much of what intra prediction leaves the last picture does not predict either: 0 (still) to 1 (all new).
  var novelty = 1.0
  /// From this novelty on a picture inherits next to nothing of the one before.
  static let mostlyNew = 0.6
}

/// A look at the whole picture before it is coded, at half its size: what the best of a few vectors into the last
/// source picture leaves, and what intra prediction from the source would leave.
///
/// Threads share its rows, and change nothing of it.
final class PreAnalysis: SharedRows, @unchecked Sendable {
  private let geometry: PictureGeometry
  /// The vectors and evidence are those of all macroblocks; what the last picture left is a candidate.
  private var pictures: PreAnalysisRow
  /// What each thread has found, and what it looks with.
  private let parts: UnsafeMutablePointer<PreAnalysisRow.Part>
  private let histogram: UnsafeMutablePointer<Int32>
  private var source: SourcePicture?
  private var brightness: FadeReading?
  /// From the last picture to this one.
  private(set) var camera = CameraMotion()
  private var hasLast = false

  /// What is left after the better of both predictions.
  private var residual = ResidualHistogram()
  /// The mean absolute difference in place from the last picture.
  private var change = 0.0
  private(set) var isSceneChange = false
  /// The two pictures before were mostly new as well: a camera shakes, and what looks like another scene is the next of such
  /// pictures, from which nothing will be inherited either.
  private var isRestless: Bool { min(novelties.0, novelties.1) > PreAnalysisResult.mostlyNew }
  /// Those of the last two pictures; 0 for a scene's first.
  private var novelties = (0.0, 0.0)

  /// The mean absolute difference of the half-size pictures below which the picture stands still: a camera's noise
  /// is more.
  private static let stillness = 0.1
  private var isStill: Bool { hasLast && change < PreAnalysis.stillness }
  /// How much of what intra prediction leaves the last picture does not predict either: 0 (still) to 1 (all new).
  private var novelty = 1.0

  init(
    _ geometry: PictureGeometry, kernels: UnsafePointer<OVTKernels>, threads: Int = 1,
    memory: inout EncoderMemory
  ) {
    self.geometry = geometry
    pictures = PreAnalysisRow(geometry, kernels: kernels, memory: &memory)
    parts = memory.allocate(PreAnalysisRow.Part.self, count: threads)
    for i in 0..<threads { (parts + i).initialize(to: PreAnalysisRow.Part(memory: &memory)) }
    histogram = memory.allocate(Int32.self, count: CameraMotion.histogramCount)
    super.init(rows: geometry.heightInMbs, threads: threads)
  }

  /// Of the picture that was looked at.
  func result(isKeyFrame: Bool) -> PreAnalysisResult {
    PreAnalysisResult(residual: isKeyFrame ? intra() : residual, isStill: isStill, novelty: novelty)
  }

  /// Reads the picture's luma and compares it with the last picture that was looked at.
  ///
  /// - Parameters:
  ///   - coder: its threads share the rows; nil: there is one thread.
  ///   - brightness: gets the picture's, where it is asked for.
  func analyse(
    _ source: SourcePicture, with coder: PictureCoder? = nil, brightness: FadeReading? = nil
  ) {
    self.brightness = brightness
    pictures.advance()
    residual = ResidualHistogram()
    isSceneChange = false
    camera = CameraMotion()
    novelty = 1
    change = 0
    self.source = source
    for i in 0..<threads { parts[i].found = PreAnalysisRow.Found() }
    let rows = geometry.heightInMbs
    if let coder { coder.share(self, count: rows) } else { runAlone(rows) }
    self.source = nil
    guard hasLast else {
      residual = intra()
      hasLast = true
      return
    }
    var found = PreAnalysisRow.Found()
    for i in 0..<threads { found += parts[i].found }
    residual = found.residual
    residual.counts *= Float(geometry.macroblockCount) / Float(found.analysedCount)
    change = Double(found.difference) / Double(found.analysedCount &* 64)
    novelty = min(Double(found.sampled.residual + 1) / Double(found.sampled.intra + 1), 1)
    isSceneChange =
      found.intraCount * 2 > found.analysedCount
      && Double(found.compared.moved) > 0.9 * Double(found.compared.intra) && change > 6 && !isFlash
      && !isRestless
    novelties = isSceneChange ? (0, 0) : (novelties.1, novelty)
    if isSceneChange { return }
    camera = CameraMotion(
      vectors: pictures.vectors, evidence: pictures.evidence, width: geometry.widthInMbs,
      height: geometry.heightInMbs, histogram: histogram)
  }

  override func work(row y: Int, thread: Int) {
    guard let source else { return }
    let pictures = pictures
    pictures.halve(source, row: y)
    brightness?.read(source, macroblockRow: y)
    guard hasLast else { return }
    // A copy: threads do not write beside each other.
    var part = parts[thread]
    pictures.compare(row: y, &part, threads > 1 ? progress : nil)
    parts[thread] = part
  }

  /// What intra prediction leaves of the picture that was looked at.
  private func intra() -> ResidualHistogram { pictures.intra(&parts[0]) }

  /// Whether a step of brightness alone explains most of the change.
  private var isFlash: Bool {
    let (current, last) = (pictures.current, pictures.last)
    let area = pictures.width * pictures.height
    var total = 0
    for i in 0..<area { total &+= Int(current[i]) &- Int(last[i]) }
    let shift = Int((Double(total) / Double(area)).rounded())
    var without = 0
    var with = 0
    for i in 0..<area {
      let change = Int(current[i]) &- Int(last[i])
      without &+= abs(change &- shift)
      with &+= abs(change)
    }
    return without * 3 < with
  }
}
