// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import EncoderAdapter
import H264Encoder

extension H264Encoder: ReferenceKeeping {}

/// The mode with zero latency, whose layers, key frames and long-term references a
/// `LowLatencyPlanner` decides.
final class LowLatencyMode: H264Mode {
  let engine: H264Encoder
  var looksAhead: Bool { false }
  var wantsAnotherPass: Bool? { nil }
  private var planner: LowLatencyPlanner

  /// Makes the encoder.
  /// - Parameter configuration: the configuration of the session.
  /// - Throws: `CodecError` if the encoder does not support the configuration.
  init(_ configuration: VideoEncoderConfiguration) throws(CodecError) {
    let converted = try Self.converted(configuration)
    do { engine = try H264Encoder(configuration: converted) } catch { throw CodecError(engine: error) }
    planner = LowLatencyPlanner(
      configuration.lowLatency, longTermReferences: converted.lowLatency.longTermReferences)
  }

  // MARK: - Configuration

  /// Bits per second that the level allows at least. A rate that follows a network may rise; if the
  /// level only allowed the first rate, it would have to change, with a key frame. Level 3 allows
  /// this rate, and every decoder in use decodes level 3.
  private static let levelBitRate = 10_000_000

  /// The encoder's configuration for that of a session.
  private static func converted(_ configuration: VideoEncoderConfiguration) throws(CodecError)
    -> H264EncoderConfiguration
  {
    var converted = try H264EncoderConfiguration(configuration)
    converted.levelBitRate = levelBitRate
    return converted
  }

  func converted(
    _ new: VideoEncoderConfiguration, from old: VideoEncoderConfiguration
  ) throws(CodecError) -> H264EncoderConfiguration {
    var converted = try Self.converted(new)
    if new.asksForReferences(as: old) { converted.keepReferences(of: engine.configuration) }
    return converted
  }

  func change(to new: VideoEncoderConfiguration) {
    if let lowLatency = new.lowLatency { planner.change(to: lowLatency) }
  }

  // MARK: - Pictures

  func complete(
    _ options: inout H264FrameOptions, at time: Int64, index: UInt64, _ request: FrameRequest,
    in configuration: VideoEncoderConfiguration
  ) throws(CodecError) {
    let frame = planner.plan(
      at: time, index: index, isKeyFrame: options.isKeyFrame, duration: options.duration, request,
      in: configuration, engine)
    options.isKeyFrame = frame.isKeyFrame
    options.isReference = frame.isReference
    options.temporalLayer = frame.temporalLayer
    options.budgetShare = frame.budgetShare
    options.longTermSlot = frame.longTermSlot
    options.duration = frame.duration
    if let slot = frame.reference { options.references = .longTerm([slot]) }
  }

  func record(_ properties: H264FrameProperties, _ frame: inout CompressedFrame) {
    planner.finish(
      index: properties.index, longTermSlot: properties.longTermSlot, isDropped: properties.isDropped,
      &frame)
  }

  func collectStatistics() {}
  func finish(_ configuration: VideoEncoderConfiguration) {}
}
