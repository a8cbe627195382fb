// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import EncoderAdapter
import H264Encoder

/// The mode with a look-ahead, for files and for streams that may wait: keeps the statistics of
/// passes.
final class LookAheadMode: H264Mode {
  let engine: H264Encoder
  var looksAhead: Bool { true }
  private(set) var wantsAnotherPass: Bool?
  /// The duration in seconds of the part of a stream that this pass encodes; nil: it encodes all of
  /// it.
  private let partSeconds: Double?
  /// The statistics of the previous pass.
  private let known: StoredPass?
  /// Where the statistics of this pass are written.
  private let writer: PassStatisticsWriter?

  /// Makes the encoder.
  /// - Parameter configuration: the configuration of the session.
  /// - Throws: `CodecError` if the encoder does not support the configuration, or the statistics
  ///   of the previous pass cannot be read.
  init(_ configuration: VideoEncoderConfiguration) throws(CodecError) {
    let pass = configuration.pass
    var converted = try H264EncoderConfiguration(lookingAhead: configuration)
    if let pass, pass.readsStatistics { known = try Self.statistics(pass) } else { known = nil }
    partSeconds = pass?.part != nil ? known?.seconds : nil
    converted.makePart(of: configuration, seconds: partSeconds)
    do {
      if let known {
        engine = try H264Encoder(configuration: converted, pass: known)
      } else {
        engine = try H264Encoder(configuration: converted)
      }
    } catch {
      throw CodecError(engine: error)
    }
    if let pass, pass.writesStatistics {
      engine.keepsStatistics = true
      writer = try PassStatisticsWriter(beside: pass.statisticsPath)
    } else {
      writer = nil
    }
  }

  func converted(
    _ new: VideoEncoderConfiguration, from old: VideoEncoderConfiguration
  ) throws(CodecError) -> H264EncoderConfiguration {
    var converted = try H264EncoderConfiguration(lookingAhead: new)
    // A stream of key frames alone has no use for more than one.
    if new.asksForReferences(as: old), new.isIntraOnly == old.isIntraOnly {
      converted.keepReferences(of: engine.configuration)
    }
    converted.makePart(of: new, seconds: partSeconds)
    return converted
  }

  func change(to new: VideoEncoderConfiguration) {}

  func complete(
    _ options: inout H264FrameOptions, at time: Int64, index: UInt64, _ request: FrameRequest,
    in configuration: VideoEncoderConfiguration
  ) throws(CodecError) {
    if !request.acknowledgedTokens.isEmpty || request.forcesLongTermRefresh {
      throw .unsupported("long-term references are for the low-latency mode")
    }
  }

  func record(_ properties: H264FrameProperties, _ frame: inout CompressedFrame) {}

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
  func collectStatistics() throws(CodecError) {
    if let known, known.hasFailed {
      throw .malfunction("the statistics of the first pass cannot be read any more")
    }
    guard let writer, engine.statistics.count > 0 else { return }
    try writer.append(engine.takeStatistics())
  }

  /// Completes the statistics of the pass.
  /// - Throws: `CodecError.malfunction` if they cannot be written, or if the decoder's buffer is
  ///   not as full as the next stream expects.
  func finish(_ configuration: VideoEncoderConfiguration) throws(CodecError) {
    guard engine.bufferMiss == 0 else {
      throw .malfunction(
        "the decoder's buffer misses what was agreed upon at the end by \(Int(engine.bufferMiss)) bits")
    }
    try collectStatistics()
    guard let pass = configuration.pass, let writer else { return }
    // As the engine counts them.
    let stream = engine.configuration
    try writer.store(at: pass.statisticsPath, width: stream.width, height: stream.height)
    guard pass.mayBeLast, let rate = configuration.rate.targetRate else { return }
    wantsAnotherPass = try Self.statistics(pass).isImprovable(rate: Double(rate))
  }
}
