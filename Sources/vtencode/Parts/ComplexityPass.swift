// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation

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

  var end: CMTime { pictures.reduce(.negativeInfinity) { max($0, $1.time + $1.duration) } }
}

/// The quick first pass over a movie: it is encoded at constant quality, as fast as the encoder goes, and thrown away. What
/// each part took is what it needs.
///
/// A rate control that shares bits by quality gives parts of a movie bits nearly in proportion to that.
struct ComplexityPass: Sendable {
  let source: MovieSource
  let plan: EncodingPlan

  /// Of what `AverageBitRate` movies have: the shares depend little on it.
  private static let quality = 0.5

  /// - Returns: What it found, and the identifier of the encoder that the plan leads to.
  func run() throws -> (MovieComplexity, encoderID: String) {
    // With the plan's own settings, to find out which encoder takes them and that it does.
    let encoderID = try Compressor(plan, source: source) { _ in }.encoderID
    var quick = plan
    quick.quality = Self.quality
    quick.encoderID = encoderID
    quick.threads = nil
    quick.passes = 1
    quick.preset = .highSpeed
    quick.lookAheadFrames = nil
    let progress = ProgressLine(total: expectedFrames, style: plan.progress)
    defer { progress.finish() }
    let found = Found()
    let compressor = try Compressor(quick, source: source) { result in
      if let count = found.add(result) { progress.update(frames: count) }
    }
    let reader = try FrameReader(source, plan: quick)
    defer { reader.cancel() }
    var count = 0
    while count < plan.frameLimit ?? .max, let frame = try reader.next() {
      try checkInterrupt()
      try compressor.encode(frame)
      count += 1
    }
    try compressor.complete()
    let pictures = try found.pictures()
    guard pictures.count == count, count > 0 else {
      throw Failure("the encoder gave \(pictures.count) of \(count) frames; the movie cannot be split")
    }
    if let damage = reader.damage.summary {
      throw Failure(
        "'\(source.name)' is damaged, and its segments would not fit together: \(damage); encode it with vtencode "
          + "transcoding")
    }
    return (MovieComplexity(pictures: pictures), encoderID)
  }

  private func checkInterrupt() throws {
    guard Interrupt.shared.isRequested else { return }
    throw Failure("interrupted; nothing was written", status: Interrupt.shared.status)
  }

  private var expectedFrames: Int? {
    guard let expected = source.expectedFrames else { return plan.frameLimit }
    return plan.frameLimit.map { min($0, expected) } ?? expected
  }

  /// Collects what the session says about each frame.
  private final class Found: @unchecked Sendable {
    // Sendable: `lock` guards what changes.
    private let lock = Lock()
    private var list: [MovieComplexity.Picture] = []
    private var failure: Failure?

    func add(_ result: Result<CMSampleBuffer?, Failure>) -> Int? {
      lock.withLock {
        switch result {
        case .failure(let new): failure = failure ?? new
        case .success(nil): break
        case .success(let sample?):
          list.append(
            MovieComplexity.Picture(
              time: sample.presentationTimeStamp, duration: sample.duration,
              bytes: CMSampleBufferGetTotalSampleSize(sample), isKeyFrame: SampleFacts(sample).isKeyFrame))
        }
        return failure == nil ? list.count : nil
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
