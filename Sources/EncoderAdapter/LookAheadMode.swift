// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import VideoEncoding

/// The mode with a look-ahead, for files and for streams that may wait: keeps the statistics of
/// passes.
package final class LookAheadMode<Engine: PictureEngine>: EngineMode {
  package let engine: Engine
  package var looksAhead: Bool { true }
  package private(set) var wantsAnotherPass: Bool?
  /// The statistics of the previous pass.
  private let known: StoredPass?
  /// Where the statistics of this pass are written.
  private let writer: PassStatisticsWriter?

  /// Makes the encoder.
  /// - Parameter configuration: the configuration of the session.
  /// - Throws: `CodecError` if the encoder does not support the configuration, or the statistics
  ///   of the previous pass cannot be read.
  package init(_ configuration: VideoEncoderConfiguration) throws(CodecError) {
    let pass = configuration.pass
    if let pass, pass.readsStatistics { known = try Self.statistics(pass) } else { known = nil }
    do {
      engine = try Engine.make(configuration, looksAhead: true, statistics: known)
    } catch {
      throw error as? CodecError ?? CodecError(engine: error)
    }
    if let pass, pass.writesStatistics {
      engine.keepsStatistics = true
      writer = try PassStatisticsWriter(beside: pass.statisticsPath)
    } else {
      writer = nil
    }
  }

  package func converted(
    _ new: VideoEncoderConfiguration, from old: VideoEncoderConfiguration
  ) throws(CodecError) -> Engine.Configuration {
    try engine.converted(new, from: old, looksAhead: true, statistics: known)
  }

  package func change(to new: VideoEncoderConfiguration) {}

  package func complete(
    _ wanted: inout EngineRequest, at time: Int64, index: UInt64, _ request: FrameRequest,
    in configuration: VideoEncoderConfiguration
  ) throws(CodecError) {
    if !request.acknowledgedTokens.isEmpty || request.forcesLongTermRefresh {
      throw .unsupported("long-term references are for the low-latency mode")
    }
  }

  package func record(
    index: UInt64, longTermSlot: Int?, isDropped: Bool, _ frame: inout CompressedFrame
  ) {}

  // MARK: - Passes

  /// The statistics of a pass that has ended, of all frames or of those of its part.
  private static func statistics(_ pass: EncodingPass) throws(CodecError) -> StoredPass {
    let file = try PassFile(pass.statisticsPath)
    let statistics: StoredPass
    do {
      statistics = try StoredPass(size: file.size, frames: pass.part?.frames) { file.read($0, $1) }
    } catch {
      throw .badData("\(error)")
    }
    if let part = pass.part, statistics.count != part.frames.count {
      throw .badData("the first pass has not seen all frames of the part")
    }
    return statistics
  }

  /// Writes the statistics collected so far to the disk, and checks that those of the previous pass
  /// can still be read.
  package func collectStatistics() throws(CodecError) {
    if let known, known.hasFailed {
      throw .malfunction("the statistics of the first pass cannot be read any more")
    }
    guard let writer, engine.statistics.count > 0 else { return }
    try writer.append(engine.takeStatistics())
  }

  /// Completes the statistics of the pass.
  /// - Throws: `CodecError.malfunction` if they cannot be written, or if the decoder's buffer is
  ///   not as full as the next stream expects.
  package func finish(_ configuration: VideoEncoderConfiguration) throws(CodecError) {
    guard engine.bufferMiss == 0 else {
      throw .malfunction(
        "the decoder's buffer misses what was agreed upon at the end by \(Int(engine.bufferMiss)) bits")
    }
    try collectStatistics()
    guard let pass = configuration.pass, let writer else { return }
    // As the engine counts them.
    let size = engine.codedSize
    try writer.store(at: pass.statisticsPath, width: size.width, height: size.height)
    guard pass.mayBeLast, let rate = configuration.rate.targetRate else { return }
    wantsAnotherPass = try Self.statistics(pass).isImprovable(rate: Double(rate))
  }
}
