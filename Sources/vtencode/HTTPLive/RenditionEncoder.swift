// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import VideoToolbox

/// Encodes the pictures of a run in a further size and at a further bit rate.
final class RenditionEncoder: @unchecked Sendable {
  // Sendable: one thread calls `encode` and `finish`; the queue and the counter have their locks.
  let samples: OutputQueue
  private let plan: EncodingPlan
  private let compressor: Compressor
  private let adapter: PictureAdapter
  private let counter = SampleCounter()

  /// - Parameters:
  ///   - plan: the settings of the rendition.
  ///   - source: the movie.
  ///   - first: the settings with which the pictures are read.
  ///   - queueCapacity: the number of samples that may wait for the output.
  /// - Throws: a `Failure` if no session takes the settings.
  init(_ plan: EncodingPlan, source: MovieSource, readAs first: EncodingPlan, queueCapacity: Int) throws {
    self.plan = plan
    let samples = OutputQueue(capacity: queueCapacity)
    self.samples = samples
    // The pictures have been fitted into the first rendition, in square samples and with its tones.
    var fit = PictureFit(stretchedTo: plan.width, plan.height)
    fit.scaling = plan.fit.scaling ?? first.fit.scaling
    adapter = PictureAdapter(fit, pixelFormat: plan.pixelFormat.type, mapsTones: false)
    compressor = try Compressor(plan, source: source) { [counter] result in
      switch result {
      case .success(let sample?):
        counter.add(sample, isVerbose: false)
        _ = samples.push(sample)
      case .success(nil): counter.addDropped()
      case .failure(let failure): samples.end(failure)
      }
    }
  }

  /// Scales and encodes a picture.
  func encode(_ frame: Frame) throws {
    let picture = try adapter.adapt(frame.pixelBuffer)
    try compressor.encode(Frame(pixelBuffer: picture, time: frame.time, duration: frame.duration))
  }

  /// Waits for the encoder, and ends the samples.
  func finish() throws {
    try compressor.complete()
    samples.end()
  }

  var report: RenditionReport {
    let run = counter.report(seconds: 0, plan: plan, written: OutputReport(), encoderID: compressor.encoderID)
    return RenditionReport(
      width: plan.width, height: plan.height, frames: run.frames, keyFrames: run.keyFrames,
      bitsPerSecond: run.bitRate, targetBitsPerSecond: plan.quality == nil ? plan.bitRate : nil)
  }
}

/// The results of a further rendition, for the summary.
struct RenditionReport: Sendable, Encodable {
  var width: Int
  var height: Int
  var frames: Int
  var keyFrames: Int
  var bitsPerSecond: Double
  var targetBitsPerSecond: Int?

  var summary: String {
    let target = targetBitsPerSecond.map { ", target \(TextFormat.bitRate(Double($0)))" } ?? ""
    return
      "\(width)x\(height), \(TextFormat.plural(frames, "frame")), \(TextFormat.bitRate(bitsPerSecond))\(target)"
  }
}
