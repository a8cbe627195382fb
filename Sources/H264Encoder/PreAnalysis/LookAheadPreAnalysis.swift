// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// What the look-ahead finds in a picture at half its size, row by row: threads that have nothing better to do take part, and
/// change nothing of it.
final class LookAheadPreAnalysis: SharedRows, @unchecked Sendable {
  private enum Task {
    case none
    case intra(QueuedPicture, SourcePicture, strength: Double)
    case inter(QueuedPicture, from: LowResolutionPicture)
    case references(
      QueuedPicture, a: (half: LowResolutionPicture, before: Int),
      b: (half: LowResolutionPicture, after: Int)?)
  }

  private let geometry: PictureGeometry
  private let kernels: UnsafePointer<OVTKernels>
  /// One for each thread.
  private let analyses: [LowResolutionAnalysis]
  /// What each row adds to the picture's cost.
  private let sums: UnsafeMutablePointer<Int>
  private let memory: EncoderMemory
  private var task = Task.none
  /// Given when there is something to do; what pictures are coded by the same threads give it too.
  let signal = Signal()

  /// Whether weights are looked for.
  private let readsBrightness: Bool

  init(
    _ geometry: PictureGeometry, kernels: UnsafePointer<OVTKernels>, threads: Int,
    readsBrightness: Bool = true
  ) {
    self.readsBrightness = readsBrightness
    self.geometry = geometry
    self.kernels = kernels
    var memory = EncoderMemory()
    var analyses: [LowResolutionAnalysis] = []
    for _ in 0..<threads {
      analyses.append(LowResolutionAnalysis(geometry, kernels: kernels, memory: &memory))
    }
    self.analyses = analyses
    sums = memory.allocate(Int.self, count: geometry.heightInMbs)
    self.memory = memory
    super.init(rows: geometry.heightInMbs, threads: threads)
  }

  /// Copies and halves a picture, and fills in the costs of intra prediction and what activity makes of it.
  func analyse(_ picture: QueuedPicture, _ source: SourcePicture, strength: Double) {
    picture.prepare(for: source)
    picture.intraCost = run(.intra(picture, source, strength: strength))
  }

  /// Fills in the costs of prediction from `reference`, and the vectors.
  func estimateMotion(_ picture: QueuedPicture, from reference: LowResolutionPicture) {
    picture.interCost = run(.inter(picture, from: reference))
  }

  /// Fills in costs, vectors and lists of prediction from the pictures that a picture will refer to (`QueuedPicture.costs`):
  /// one so many pictures before it, and one so many after it, if any.
  /// - Returns: the sum of the costs.
  @discardableResult func estimateReferenceCosts(
    _ picture: QueuedPicture, to a: (half: LowResolutionPicture, before: Int),
    _ b: (half: LowResolutionPicture, after: Int)?
  ) -> Int {
    run(.references(picture, a: a, b: b))
  }

  /// Of every fourth macroblock: what the better of intra prediction and prediction from another picture would leave.
  func sample(_ picture: QueuedPicture, from reference: LowResolutionPicture) -> Int {
    analyses[0].sample(picture, from: reference)
  }

  private func run(_ task: Task) -> Int {
    let rows = geometry.heightInMbs
    // No thread has a row of the last one, or gets one before there is any.
    self.task = task
    if threads == 1 {
      runAlone(rows)
    } else {
      open(rows)
      signal.give()
      _ = help(thread: 0)
      close()
    }
    self.task = .none
    var sum = 0
    for y in 0..<rows { sum &+= sums[y] }
    return sum
  }

  override func work(row i: Int, thread: Int) {
    let analysis = analyses[thread]
    let progress = threads > 1 ? progress : nil
    // Motion is looked for from the last macroblock to the first, so that content that comes in from the right or below is
    // followed too: the coding itself goes the other way.
    let y = geometry.heightInMbs &- 1 &- i
    switch task {
    case .none: break
    case .intra(let picture, let source, let strength):
      picture.take(source, row: i)
      picture.half.fill(picture.source, row: i)
      // Of the caller's picture: the next row is not copied yet.
      if readsBrightness { picture.brightnessRead.read(source, macroblockRow: i) }
      if let progress {
        progress.setCoded(row: i, 1)
        if i > 0 { RowProgress.wait { progress.coded(row: i &- 1) > 0 } }
      }
      sums[i] = analysis.intra(picture, row: i)
      LocalActivity.analyse(picture, geometry, kernels: kernels, strength: strength, row: i)
    case .inter(let picture, let reference):
      sums[y] = analysis.inter(picture, from: reference, row: y, progress)
    case .references(let picture, let a, let b):
      sums[y] = analysis.estimateReferenceCosts(picture, to: a, b, row: y, progress)
    }
  }
}
