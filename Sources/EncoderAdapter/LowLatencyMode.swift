// SPDX-License-Identifier: Apache-2.0
import CodecInterface

/// The mode with zero latency, whose layers, key frames and long-term references a
/// `LowLatencyPlanner` decides.
package final class LowLatencyMode<Engine: PictureEngine>: EngineMode {
  package let engine: Engine
  package var looksAhead: Bool { false }
  package var wantsAnotherPass: Bool? { nil }
  private var planner: LowLatencyPlanner

  /// Makes the encoder.
  /// - Parameter configuration: the configuration of the session.
  /// - Throws: `CodecError` if the encoder does not support the configuration.
  package init(_ configuration: VideoEncoderConfiguration) throws(CodecError) {
    do {
      engine = try Engine.make(configuration, looksAhead: false, statistics: nil)
    } catch {
      throw error as? CodecError ?? CodecError(engine: error)
    }
    planner = LowLatencyPlanner(configuration.lowLatency, longTermReferences: engine.longTermSlots)
  }

  /// The most seconds between key frames of a stream without look-ahead that is not a call, where a
  /// session names no interval. A call has only requested key frames.
  private static var defaultKeyFrameSeconds: Double { 10 }

  package func converted(
    _ new: VideoEncoderConfiguration, from old: VideoEncoderConfiguration
  ) throws(CodecError) -> Engine.Configuration {
    try engine.converted(new, from: old, looksAhead: false, statistics: nil)
  }

  package func change(to new: VideoEncoderConfiguration) {
    if let lowLatency = new.lowLatency { planner.change(to: lowLatency) }
  }

  package func complete(
    _ wanted: inout EngineRequest, at time: Int64, index: UInt64, _ request: FrameRequest,
    in configuration: VideoEncoderConfiguration
  ) throws(CodecError) {
    var configuration = configuration
    if configuration.lowLatency == nil, configuration.maxKeyFrameInterval == 0,
      configuration.maxKeyFrameIntervalDuration == 0
    {
      configuration.maxKeyFrameIntervalDuration = Self.defaultKeyFrameSeconds
    }
    let frame = planner.plan(
      at: time, index: index, isKeyFrame: wanted.isKeyFrame, duration: wanted.duration, request,
      in: configuration, engine)
    wanted.isKeyFrame = frame.isKeyFrame
    wanted.isReference = frame.isReference
    wanted.temporalLayer = frame.temporalLayer
    wanted.budgetShare = frame.budgetShare
    wanted.longTermSlot = frame.longTermSlot
    wanted.duration = frame.duration
    wanted.reference = frame.reference
  }

  package func record(
    index: UInt64, longTermSlot: Int?, isDropped: Bool, _ frame: inout CompressedFrame
  ) {
    planner.finish(index: index, longTermSlot: longTermSlot, isDropped: isDropped, &frame)
  }

  package func collectStatistics() {}
  package func finish(_ configuration: VideoEncoderConfiguration) {}
}
