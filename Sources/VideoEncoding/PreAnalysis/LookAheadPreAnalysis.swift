// SPDX-License-Identifier: Apache-2.0
import CVideoKernels

/// The pre-analysis of pictures for the look-ahead, at half size, row by row. Idle threads take
/// part in it; the result does not depend on their number.
package final class LookAheadPreAnalysis: RowTask, @unchecked Sendable {
  /// The work on each row.
  private enum Task {
    /// Nothing: no rows are open.
    case none
    /// A picture is copied and halved, and gets its costs of intra prediction and its activity.
    case intra(QueuedPicture, SourcePicture, strength: Double)
    /// A picture gets its vectors and costs of prediction from another one.
    case inter(QueuedPicture, from: LowResolutionPicture)
    /// A picture gets its costs of prediction from the pictures that it will refer to.
    case references(
      QueuedPicture, a: (lowResolution: LowResolutionPicture, before: Int),
      b: (lowResolution: LowResolutionPicture, after: Int)?)
    /// Blocks of a picture are compared with another one.
    case match(
      QueuedPicture, with: SourcePicture, step: Int, UnsafeMutablePointer<SIMD2<Int16>>,
      UnsafeMutablePointer<SIMD2<Int16>>?, sign: Int)
  }

  /// The size of the pictures.
  private let geometry: PictureGeometry
  /// The functions that compare and predict samples.
  private let kernels: UnsafePointer<OVTVideoKernels>
  /// One element per thread.
  private let analyses: [LowResolutionAnalysis]
  /// One element per thread.
  private let matchSearches: [ExactMatchSearch]
  /// The exact matches of each row, written by `match`.
  private let matches: UnsafeMutablePointer<ExactMatches>
  /// The sum of the costs of each row.
  private let sums: UnsafeMutablePointer<Int>
  /// Owns the memory of `analyses` and `sums`.
  private let memory: EncoderMemory
  /// The current work on the rows.
  private var task = Task.none
  /// Is given when there are rows to do. The code that codes pictures with the same threads gives
  /// it too.
  package let signal = Signal()

  /// Whether the brightness of pictures is read, for weighted prediction.
  private let readsBrightness: Bool

  /// Allocates the memory of the analysis.
  /// - Parameters:
  ///   - geometry: the size of the pictures.
  ///   - kernels: the functions that compare and predict samples.
  ///   - threads: the number of threads that may take part.
  ///   - readsBrightness: whether the brightness of pictures is read, for weighted prediction.
  package init(
    _ geometry: PictureGeometry, kernels: UnsafePointer<OVTVideoKernels>, threads: Int,
    readsBrightness: Bool = true
  ) {
    self.readsBrightness = readsBrightness
    self.geometry = geometry
    self.kernels = kernels
    var memory = EncoderMemory()
    var analyses: [LowResolutionAnalysis] = []
    var matchSearches: [ExactMatchSearch] = []
    for _ in 0..<threads {
      analyses.append(LowResolutionAnalysis(geometry, kernels: kernels, memory: &memory))
      matchSearches.append(ExactMatchSearch(kernels: kernels, memory: &memory))
    }
    self.analyses = analyses
    self.matchSearches = matchSearches
    matches = memory.allocate(ExactMatches.self, count: geometry.heightInMbs)
    sums = memory.allocate(Int.self, count: geometry.heightInMbs)
    self.memory = memory
    super.init(rows: geometry.heightInMbs, threads: threads)
  }

  /// Copies and halves a picture, and fills in its costs of intra prediction and its QP offsets by
  /// activity.
  /// - Parameters:
  ///   - picture: gets the copy and the results.
  ///   - source: the caller's picture.
  ///   - strength: `LookAheadSettings.adaptiveQuantisation`, 0 to 2.
  package func analyse(_ picture: QueuedPicture, _ source: SourcePicture, strength: Double) {
    picture.prepare(for: source)
    picture.intraCost = run(.intra(picture, source, strength: strength))
  }

  /// Fills in the vectors of a picture and its costs of prediction from `reference`.
  func estimateMotion(_ picture: QueuedPicture, from reference: LowResolutionPicture) {
    picture.interCost = run(.inter(picture, from: reference))
  }

  /// Fills in the costs, vectors and lists of prediction from the pictures that a picture will
  /// refer to (`QueuedPicture.costs`).
  /// - Parameters:
  ///   - picture: the picture.
  ///   - a: the reference picture of list 0, and by how many pictures it is earlier in output
  ///     order.
  ///   - b: the reference picture of list 1, and by how many pictures it is later; nil for P
  ///     pictures.
  /// - Returns: the sum of the costs.
  @discardableResult func estimateReferenceCosts(
    _ picture: QueuedPicture, to a: (lowResolution: LowResolutionPicture, before: Int),
    _ b: (lowResolution: LowResolutionPicture, after: Int)?
  ) -> Int {
    run(.references(picture, a: a, b: b))
  }

  /// Counts the blocks of a source picture that another one predicts exactly.
  /// - Parameters:
  ///   - picture: the picture.
  ///   - other: the other picture.
  ///   - step: one of so many macroblocks in each direction is looked at.
  ///   - vectors: the vectors of each macroblock, in full samples, that lead to `other`.
  ///   - others: vectors to add to them; nil: none.
  ///   - sign: -1 where they lead into the opposite direction, otherwise 1.
  func match(
    _ picture: QueuedPicture, with other: QueuedPicture, step: Int,
    _ vectors: UnsafeMutablePointer<SIMD2<Int16>>, _ others: UnsafeMutablePointer<SIMD2<Int16>>? = nil,
    sign: Int
  ) -> ExactMatches {
    matches.update(repeating: ExactMatches(), count: geometry.heightInMbs)
    _ = run(.match(picture, with: other.source, step: step, vectors, others, sign: sign))
    var all = ExactMatches()
    for y in 0..<geometry.heightInMbs { all += matches[y] }
    return all
  }

  /// The sum over every fourth macroblock of the cost of the better of intra prediction and
  /// prediction from another picture.
  func sample(_ picture: QueuedPicture, from reference: LowResolutionPicture) -> Int {
    analyses[0].sample(picture, from: reference)
  }

  /// Runs a task on all rows.
  /// - Returns: the sum of the rows' costs.
  private func run(_ task: Task) -> Int {
    let rows = geometry.heightInMbs
    // No thread works on a row of the last task, or gets one before `open`.
    self.task = task
    if threads == 1 {
      runAlone(rows)
    } else {
      open(rows)
      signal.notify()
      _ = help(thread: 0)
      close()
    }
    self.task = .none
    var sum = 0
    for y in 0..<rows { sum &+= sums[y] }
    return sum
  }

  /// Works on a row for the present task.
  /// - Parameters:
  ///   - i: the number of the row in the order in which threads take them; tasks that search for
  ///     vectors count from the last row.
  ///   - thread: the index of the thread.
  package override func work(row i: Int, thread: Int) {
    let analysis = analyses[thread]
    let progress = threads > 1 ? progress : nil
    // Vectors are searched from the last macroblock to the first, while coding goes from the first
    // to the last. So content that enters the picture from the right or from below is followed too.
    let y = geometry.heightInMbs &- 1 &- i
    switch task {
    case .none: break
    case .intra(let picture, let source, let strength):
      picture.take(source, row: i)
      picture.lowResolution.fill(picture.source, row: i)
      // The caller's picture is read: the next row, which this reads as well, is not copied yet.
      if readsBrightness { picture.brightnessMeasurement.read(source, macroblockRow: i) }
      if let progress {
        progress.setCoded(row: i, 1)
        if i > 0 { RowProgress.wait { progress.coded(row: i &- 1) > 0 } }
      }
      sums[i] = analysis.intra(picture, row: i)
      ActivityQuantisation.analyse(picture, geometry, kernels: kernels, strength: strength, row: i)
    case .inter(let picture, let reference):
      sums[y] = analysis.inter(picture, from: reference, row: y, progress)
    case .references(let picture, let a, let b):
      sums[y] = analysis.estimateReferenceCosts(picture, to: a, b, row: y, progress)
    case .match(let picture, let other, let step, let vectors, let others, let sign):
      sums[y] = 0
      guard y % step == step / 2 else { break }
      for x in stride(from: step / 2, to: geometry.widthInMbs, by: step) {
        let m = y &* geometry.widthInMbs &+ x
        let vector = vectors[m] &+ (others?[m] ?? .zero)
        matches[y] += matchSearches[thread].compare(
          picture.source, x: x, y: y, with: other,
          guess: SIMD2(Int(vector.x) &* sign, Int(vector.y) &* sign))
      }
    }
  }
}
