// SPDX-License-Identifier: Apache-2.0
import Foundation
import H264Encoder
import Synchronization
import VideoToolbox

/// The results of the analysis of a movie: its pictures in presentation order.
struct MovieComplexity: Sendable {
  struct Picture: Sendable {
    var time: CMTime
    var duration: CMTime
    /// The bytes of the picture when it was encoded at constant quality.
    var bytes: Int
    /// Whether the encoder made it a key frame, as it does at a scene cut.
    var isKeyFrame: Bool
  }

  var pictures: [Picture]
  /// The encoder's statistics of a first pass over all pictures; nil if they cannot be divided
  /// among segments.
  var statistics: PassStatistics?

  /// The average bit rate of the analysis, in bits a second.
  var bitRate: Double {
    let seconds = pictures.first.map { (end - $0.time).seconds } ?? 0
    return seconds > 0 ? Double(pictures.reduce(0) { $0 + $1.bytes }) * 8 / seconds : 0
  }

  var end: CMTime { pictures.reduce(.negativeInfinity) { max($0, $1.time + $1.duration) } }
}

/// A fast first pass that finds how complex the parts of a movie are: the movie is encoded at
/// constant quality with fast settings, and the stream is discarded. The bytes that a part took
/// measure its complexity.
///
/// A rate control that aims at equal quality distributes bits to parts nearly in proportion to
/// this.
struct ComplexityPass: Sendable {
  let source: MovieSource
  let plan: EncodingPlan
  /// The advice for a movie that cannot be split, as the end of an error message.
  var advice = "encode it with vtencode transcoding"
  /// The folder in which the encoder's statistics are stored for the time of the analysis.
  var parent = FileManager.default.temporaryDirectory.path

  /// The quality to begin with if the number of bits per sample is usual.
  private static let defaultQuality = 0.5
  /// The largest ratio between the bit rates of the analysis and the movie, either way. At a rate
  /// further off, the proportions between parts would differ: parts with little motion take next to
  /// nothing at a low rate.
  static let maxRateRatio = 2.0
  /// The effort, 0 to 9, for an encoder without a first pass of its own.
  private static let effort = 2

  /// Analyses the movie, a second time if the first analysis was too far from its bit rate.
  /// - Returns: the complexity, and the identifier of the encoder that the plan's settings lead to.
  /// - Throws: a `Failure` if the movie cannot be read or encoded, or is damaged.
  func run() throws -> (MovieComplexity, encoderID: String) {
    let (encoderID, learns) = try trial()
    var quick = plan
    quick.encoderID = encoderID
    quick.threads = nil
    quick.passes = 1
    // The complexity of parts does not depend on the limits of the stream.
    quick.isConstantBitRate = false
    quick.maximumRate = nil
    quick.bufferSeconds = nil
    quick.writesBufferTiming = false
    // An encoder of several passes has a fast first pass that uses the tools on which the
    // complexity depends.
    if !learns {
      quick.preset = .highSpeed
      quick.effort = min(plan.effort ?? Self.effort, Self.effort)
      quick.isEffortHint = true
    }
    quick.quality = plan.quality ?? guess()
    var found = try measure(quick)
    if plan.quality == nil, found.bitRate > 0 {
      let ratio = found.bitRate / Double(plan.bitRate)
      if max(ratio, 1 / ratio) > Self.maxRateRatio {
        quick.quality = Self.quality((quick.quality ?? Self.defaultQuality), changedBy: log2(ratio))
        found = try measure(quick)
      }
    }
    return (found, encoderID)
  }

  /// Creates a session with the plan's own settings.
  /// - Returns: the identifier of its encoder, and whether it encodes in several passes.
  /// - Throws: a `Failure` if no encoder takes the settings, or if segments share a
  ///   decoder's buffer and the encoder cannot join them (`EncoderFeature.joinedBuffers`).
  private func trial() throws -> (encoderID: String, learns: Bool) {
    var segment = plan
    segment.hasFramesBefore = true
    segment.hasFramesAfter = true
    return (
      try Compressor(segment, source: source) { _ in }.encoderID,
      encoderMakesPasses(plan.codec.type, encoderID: plan.encoderID)
    )
  }

  /// Estimates the quality from the bits per sample; 0.1 bit per sample corresponds to the usual
  /// quality.
  private func guess() -> Double {
    let samples = Double(plan.width * plan.height) * max(plan.frameRate, 1)
    return Self.quality(Self.defaultQuality, changedBy: log2(0.1 * samples / Double(max(plan.bitRate, 1))))
  }

  /// Lowers a quality so that the rate is halved so many times. Six QP steps halve the rate, and
  /// the quality scale of 1 covers about 36 QP steps.
  private static func quality(_ quality: Double, changedBy halvings: Double) -> Double {
    min(max(quality - halvings * 6 / 36, 0.1), 0.95)
  }

  private func measure(_ quick: EncodingPlan) throws -> MovieComplexity {
    let spans = AnalysisSpan.spans(of: source, plan: plan)
    guard spans.count > 1, let found = try? measure(quick, spans) else {
      try Interrupt.shared.check()
      // The error about a faulty movie should concern the whole movie. The analysis also fails if a
      // movie's pictures begin after the end of the first span.
      return try measure(quick, [.whole])
    }
    return found
  }

  /// Analyses all spans, as many at a time as there are processors.
  private func measure(_ quick: EncodingPlan, _ spans: [AnalysisSpan]) throws -> MovieComplexity {
    try ResourceLimits.check(
      decoded: (source.width, source.height), encoded: (quick.width, quick.height), isDeep: source.isDeep,
      times: min(spans.count, ProcessInfo.processInfo.activeProcessorCount))
    let progress = ProgressLine(total: expectedFrames, style: plan.progress)
    defer { progress.finish() }
    var each = quick
    // With one thread per encoder, a span's result does not depend on the others.
    if spans.count > 1 { each.threads = 1 }
    let ready = each
    let found = spans.map { SpanResults(since: $0.start) }
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
    // Spans that had not begun when another failed have no result, but the failure is thrown first.
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
    throw Failure("the encoder has statistics of \(learned) of \(complexity.pictures.count) frames")
  }

  /// Analyses a span.
  /// - Parameter progress: is called for each picture whose result is used.
  /// - Returns: the encoder's statistics of these pictures; nil if the encoder does not store them
  ///   picture by picture.
  /// - Throws: a `Failure` if the movie cannot be read or encoded, or is damaged.
  private func measure(
    _ span: AnalysisSpan, _ quick: EncodingPlan, _ found: SpanResults,
    progress: @escaping @Sendable () -> Void
  ) throws -> PassStatistics? {
    let folder = try ScratchFolder(in: parent)
    let statisticsURL = folder.url("statistics")
    var storage: VTMultiPassStorage?
    VTMultiPassStorageCreate(
      allocator: kCFAllocatorDefault, fileURL: statisticsURL as CFURL, timeRange: .invalid, options: nil,
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
    // The statistics of libx264 and libx265 describe the whole movie and cannot be divided.
    let statistics = (try? Data(contentsOf: statisticsURL)).flatMap {
      try? PassStatistics(bytes: [UInt8]($0))
    }
    return statistics?.count == count ? statistics?.part(before..<count) : nil
  }

  private var expectedFrames: Int? {
    guard let expected = source.expectedFrames else { return plan.frameLimit }
    return plan.frameLimit.map { min($0, expected) } ?? expected
  }

  /// Collects the session's results for the pictures of a span that count.
  private final class SpanResults: @unchecked Sendable {
    // Sendable: `lock` guards the mutable state.
    private let start: CMTime
    private let lock = Lock()
    private var list: [MovieComplexity.Picture] = []
    private var failure: Failure?

    init(since start: CMTime) { self.start = start }

    /// Adds a result.
    /// - Returns: whether it is a picture that counts.
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
              bytes: CMSampleBufferGetTotalSampleSize(sample), isKeyFrame: SampleAttributes(sample).isKeyFrame
            ))
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
