// SPDX-License-Identifier: Apache-2.0
import Foundation
import H264Encoder
import Synchronization
import VideoToolbox

/// What the analysis found out of a movie, picture by picture in the order in which they are shown.
struct MovieComplexity: Sendable {
  struct Picture: Sendable {
    var time: CMTime
    var duration: CMTime
    /// That it took at constant quality.
    var bytes: Int
    /// The encoder began anew with it, as at a cut.
    var isKeyFrame: Bool
  }

  var pictures: [Picture]
  /// What the encoder has learnt, where it tells the parts of a movie apart in it: a first pass over each.
  var statistics: PassStatistics?

  /// Bits a second.
  var bitRate: Double {
    let seconds = pictures.first.map { (end - $0.time).seconds } ?? 0
    return seconds > 0 ? Double(pictures.reduce(0) { $0 + $1.bytes }) * 8 / seconds : 0
  }

  var end: CMTime { pictures.reduce(.negativeInfinity) { max($0, $1.time + $1.duration) } }
}

/// The quick first pass over a movie: it is encoded at constant quality, as fast as the encoder goes, and thrown away. What
/// each part took is what it needs.
///
/// A rate control that shares bits by quality gives parts of a movie bits nearly in proportion to that.
struct ComplexityPass: Sendable {
  let source: MovieSource
  let plan: EncodingPlan
  /// What to do with a movie that cannot be split.
  var advice = "encode it with vtencode transcoding"
  /// The folder beside which what the encoder learns is kept.
  var parent = FileManager.default.temporaryDirectory.path

  /// Where nothing is known: good, as the property's scale goes.
  private static let usualQuality = 0.5
  /// How far the analysis's rate may be from the movie's, as a factor: at another rate the parts would share otherwise,
  /// since what moves little needs next to nothing at a low one.
  private static let nearEnough = 2.0
  /// Of 0 to 9, where the encoder has no first pass of its own.
  private static let effort = 2

  /// - Returns: What it found, and the identifier of the encoder that the plan leads to.
  func run() throws -> (MovieComplexity, encoderID: String) {
    let (encoderID, learns) = try trial()
    var quick = plan
    quick.encoderID = encoderID
    quick.threads = nil
    quick.passes = 1
    // What parts need does not depend on what they may have.
    quick.isConstantBitRate = false
    quick.maximumRate = nil
    quick.bufferSeconds = nil
    quick.writesBufferTiming = false
    // An encoder of several passes has a quick first one, with the tools that decide what a part needs.
    if !learns {
      quick.preset = .highSpeed
      quick.effort = min(plan.effort ?? Self.effort, Self.effort)
      quick.isEffortHint = true
    }
    quick.quality = plan.quality ?? guess()
    var found = try measure(quick)
    if plan.quality == nil, found.bitRate > 0 {
      let ratio = found.bitRate / Double(plan.bitRate)
      if max(ratio, 1 / ratio) > Self.nearEnough {
        quick.quality = Self.quality((quick.quality ?? Self.usualQuality), changedBy: log2(ratio))
        found = try measure(quick)
      }
    }
    return (found, encoderID)
  }

  /// The encoder that the plan's own settings lead to, and whether it learns from a pass; an error where it does not take
  /// them.
  private func trial() throws -> (encoderID: String, learns: Bool) {
    var segment = plan
    segment.hasFramesBefore = true
    segment.hasFramesAfter = true
    return (
      try Compressor(segment, source: source) { _ in }.encoderID,
      encoderMakesPasses(plan.codec.type, encoderID: plan.encoderID)
    )
  }

  /// From the bits that a picture element has: a tenth of a bit is what good pictures take.
  private func guess() -> Double {
    let samples = Double(plan.width * plan.height) * max(plan.frameRate, 1)
    return Self.quality(Self.usualQuality, changedBy: log2(0.1 * samples / Double(max(plan.bitRate, 1))))
  }

  /// A step of the quantiser of 6 halves the rate, and the scale of qualities has some 36 for 1.
  private static func quality(_ quality: Double, changedBy halvings: Double) -> Double {
    min(max(quality - halvings * 6 / 36, 0.1), 0.95)
  }

  private func measure(_ quick: EncodingPlan) throws -> MovieComplexity {
    let spans = AnalysisSpan.spans(of: source, plan: plan)
    guard spans.count > 1, let found = try? measure(quick, spans) else {
      try Interrupt.shared.check()
      // What is wrong with a movie is told of the whole; and one may begin later than where a span ends.
      return try measure(quick, [.whole])
    }
    return found
  }

  /// All spans, as many at a time as there are processors.
  private func measure(_ quick: EncodingPlan, _ spans: [AnalysisSpan]) throws -> MovieComplexity {
    try ResourceLimits.check(
      decoded: (source.width, source.height), encoded: (quick.width, quick.height), isDeep: source.isDeep,
      times: min(spans.count, ProcessInfo.processInfo.activeProcessorCount))
    let progress = ProgressLine(total: expectedFrames, style: plan.progress)
    defer { progress.finish() }
    var each = quick
    // What one has is the same whatever the others do.
    if spans.count > 1 { each.threads = 1 }
    let ready = each
    let found = spans.map { Found(since: $0.start) }
    let count = Mutex(0)
    let results = Mutex([Result<PassStatistics?, any Error>?](repeating: nil, count: spans.count))
    DispatchQueue.concurrentPerform(iterations: spans.count) { index in
      let hasFailed = results.withLock { $0.contains { if case .failure? = $0 { true } else { false } } }
      guard !hasFailed else { return }
      let result = Result<PassStatistics?, any Error> {
        try measure(spans[index], ready, found[index]) {
          let all = count.withLock {
            $0 += 1
            return $0
          }
          progress.update(frames: all)
        }
      }
      results.withLock { $0[index] = result }
    }
    var complexity = MovieComplexity(pictures: [])
    // One that had not begun when another failed has no result: the failure is thrown first.
    let all = results.withLock { $0 }
    let statistics = try all.compactMap { $0 }.map { try $0.get() }
    for (found, learned) in zip(found, statistics) {
      let pictures = try found.pictures()
      let before = complexity.pictures.count
      complexity.pictures += pictures
      guard let learned, before == 0 || complexity.statistics != nil else {
        complexity.statistics = nil
        continue
      }
      if before == 0 { complexity.statistics = learned } else { complexity.statistics?.append(learned) }
    }
    guard let learned = complexity.statistics?.count, learned != complexity.pictures.count else {
      return complexity
    }
    throw Failure("the encoder has learnt of \(learned) of \(complexity.pictures.count) frames")
  }

  /// - Parameter progress: called for each picture that counts.
  /// - Returns: What the encoder has learnt of these, where it tells pictures apart.
  private func measure(
    _ span: AnalysisSpan, _ quick: EncodingPlan, _ found: Found, progress: @escaping @Sendable () -> Void
  ) throws -> PassStatistics? {
    let folder = try ScratchFolder(in: parent)
    let place = folder.url("statistics")
    var storage: VTMultiPassStorage?
    VTMultiPassStorageCreate(
      allocator: kCFAllocatorDefault, fileURL: place as CFURL, timeRange: .invalid, options: nil,
      multiPassStorageOut: &storage)
    defer { if let storage { VTMultiPassStorageClose(storage) } }
    let compressor = try Compressor(quick, source: source, storage: storage) { result in
      if found.add(result) { progress() }
    }
    if compressor.makesPasses { try compressor.beginPass(isLast: false) }
    var ranged = quick
    ranged.range = span.range
    let reader = try FrameReader(source, plan: ranged)
    defer { reader.cancel() }
    var before = 0
    var count = 0
    while count < plan.frameLimit ?? .max, let frame = try reader.next() {
      try Interrupt.shared.check()
      try compressor.encode(frame)
      count += 1
      if frame.time < span.start { before += 1 }
    }
    if compressor.makesPasses { _ = try compressor.endPass() } else { try compressor.complete() }
    let kept = try found.pictures().count
    guard kept == count - before, kept > 0 else {
      throw Failure("the encoder gave \(kept) of \(count - before) frames; the movie cannot be split")
    }
    if let damage = reader.damage.summary {
      throw Failure(
        "'\(source.name)' is damaged, and its segments would not fit together: \(damage); \(advice)")
    }
    // Those of libx264 and libx265 are of the whole movie.
    let statistics = (try? Data(contentsOf: place)).flatMap { try? PassStatistics(bytes: [UInt8]($0)) }
    return statistics?.count == count ? statistics?.part(before..<count) : nil
  }

  private var expectedFrames: Int? {
    guard let expected = source.expectedFrames else { return plan.frameLimit }
    return plan.frameLimit.map { min($0, expected) } ?? expected
  }

  /// Collects what the session says about each frame that is kept.
  private final class Found: @unchecked Sendable {
    // Sendable: `lock` guards what changes.
    private let start: CMTime
    private let lock = Lock()
    private var list: [MovieComplexity.Picture] = []
    private var failure: Failure?

    init(since start: CMTime) { self.start = start }

    /// - Returns: Whether there is one picture more.
    func add(_ result: Result<CMSampleBuffer?, Failure>) -> Bool {
      lock.withLock {
        switch result {
        case .failure(let new):
          failure = failure ?? new
          return false
        case .success(nil): return false
        case .success(let sample?):
          guard sample.presentationTimeStamp >= start else { return false }
          list.append(
            MovieComplexity.Picture(
              time: sample.presentationTimeStamp, duration: sample.duration,
              bytes: CMSampleBufferGetTotalSampleSize(sample), isKeyFrame: SampleFacts(sample).isKeyFrame))
          return failure == nil
        }
      }
    }

    func pictures() throws -> [MovieComplexity.Picture] {
      try lock.withLock {
        if let failure { throw failure }
        return list.sorted { $0.time < $1.time }
      }
    }
  }
}
