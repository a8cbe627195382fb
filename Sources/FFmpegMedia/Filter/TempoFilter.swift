// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import Foundation

/// Changes the speed of audio and preserves its pitch, by overlapping similar pieces of the
/// waveform (libavfilter's `atempo`; WSOLA of Verhelst and Roelands, ICASSP 1993). Not thread-safe.
package final class TempoFilter {
  private let graph: FilterGraph
  private let channels: Int
  private let sampleRate: Int
  /// The number of input frames so far.
  private var fed: Int64 = 0

  /// The supported tempos.
  package static let range = 1.0 / 64...64.0

  /// Creates a filter.
  /// - Parameters:
  ///   - tempo: Seconds of input per second of output.
  ///   - channels: The number of channels.
  ///   - sampleRate: Frames per second.
  /// - Throws: `MediaFileError` of the kind `unsupportedFormat` if the tempo is not in `range` or
  ///   libavfilter is missing.
  package init(tempo: Double, channels: Int, sampleRate: Int) throws {
    guard Self.range.contains(tempo) else {
      throw MediaFileError(.unsupportedFormat, "audio cannot be played \(tempo) times as fast")
    }
    self.channels = channels
    self.sampleRate = sampleRate
    let model = try FilterFrame(nil, frames: 0, channels: channels, sampleRate: sampleRate, time: 0)
    graph = try FilterGraph(
      Self.description(tempo), for: model.pointer,
      timeBase: AVRational(num: 1, den: Int32(clamping: sampleRate)))
  }

  /// The description of the filter chain: several equal steps, because `atempo` drops samples above
  /// 2 and does not accept less than 1/2.
  static func description(_ tempo: Double) -> String {
    let steps = max(1, Int(abs(log2(tempo)).rounded(.up)))
    let step = min(2, max(0.5, pow(tempo, 1 / Double(steps))))
    return [String](repeating: "atempo=\(step)", count: steps).joined(separator: ",")
      + ",aformat=sample_fmts=flt"
  }

  /// Converts interleaved samples.
  /// - Parameter samples: The samples of whole frames.
  /// - Returns: The output that is complete, interleaved.
  /// - Throws: `MediaFileError`.
  package func convert(_ samples: [Float]) throws -> [Float] {
    let frames = samples.count / channels
    guard frames > 0 else { return [] }
    let frame = try samples.withUnsafeBufferPointer {
      try FilterFrame($0, frames: frames, channels: channels, sampleRate: sampleRate, time: fed)
    }
    fed = fed &+ Int64(frames)
    try graph.push(frame.pointer)
    return try receive()
  }

  /// Ends the input and returns the remaining output.
  /// - Throws: `MediaFileError`.
  package func finish() throws -> [Float] {
    try graph.finish()
    return try receive()
  }

  /// Returns the output that the filter has completed since the last call.
  private func receive() throws -> [Float] {
    var samples: [Float] = []
    let frame = try FilterFrame()
    while try graph.pull(into: frame.pointer) {
      defer { av_frame_unref(frame.pointer) }
      let count = Int(frame.pointer.pointee.nb_samples) * channels
      guard let data = frame.pointer.pointee.data.0 else { continue }
      data.withMemoryRebound(to: Float.self, capacity: count) {
        samples.append(contentsOf: UnsafeBufferPointer(start: $0, count: count))
      }
    }
    return samples
  }
}
