// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import VideoEncoding

/// A stream of an encoder of this package: pictures in, frames out, and the configuration between
/// them. An `EngineMode` contains the code that differs between the encoder's modes.
package final class EngineAdapter<Engine: PictureEngine>: SynchronousVideoEncoder {
  /// The configuration of the stream.
  private var configuration: VideoEncoderConfiguration
  /// The code that differs between the encoder's modes.
  private let mode: any EngineMode<Engine>
  /// The encoder.
  package let engine: Engine
  /// Enlarges pictures to the coded size.
  private let padding: PicturePadding
  /// The parameter sets, until the first frame has been output.
  private var parameterSets: ParameterSets?
  /// The presentation times of the frames that the encoder holds, by index, in units of the
  /// timescale.
  private var times: [UInt64: Int64] = [:]
  /// The encoder's index of the next picture.
  private var nextIndex: UInt64 = 0
  /// The presentation time of the last picture, in units of the timescale.
  private var lastTime: Int64?
  /// Whether the last flush output frames, so that the next picture has to be a key frame.
  private var wasFlushed = false

  /// Makes the encoder.
  /// - Parameters:
  ///   - configuration: the configuration of the session.
  ///   - size: the size at which the encoder codes the pictures.
  ///   - looksAhead: whether the stream is coded with a look-ahead; with zero latency otherwise.
  /// - Throws: `CodecError` if the encoder does not support the configuration, or the statistics
  ///   of the previous pass cannot be read.
  package init(
    _ configuration: VideoEncoderConfiguration, size: CodedPictureSize, looksAhead: Bool
  ) throws(CodecError) {
    self.configuration = configuration
    padding = PicturePadding(size)
    mode =
      looksAhead ? try LookAheadMode<Engine>(configuration) : try LowLatencyMode<Engine>(configuration)
    engine = mode.engine
    reorderingDepth = engine.reorderingDepth
    parameterSets = engine.streamSets
  }

  /// The number of frames that can be output before one that is shown earlier.
  package let reorderingDepth: Int

  /// Whether another pass would give a better result; nil before the end of a pass that may be the
  /// last.
  package var wantsAnotherPass: Bool? { mode.wantsAnotherPass }

  // MARK: - Pictures

  /// Encodes a picture, as the protocol says.
  package func encode(
    _ picture: InputPicture, request: FrameRequest, output: (consuming CompressedFrame) -> Void
  ) throws(CodecError) {
    guard picture.format == configuration.format else {
      throw .invalidConfiguration("a picture of another format")
    }
    let padded = try padding.pad(picture, of: configuration)
    var wanted = EngineRequest()
    wanted.isKeyFrame = request.forcesKeyFrame || wasFlushed
    wanted.qp = request.baseQP
    wanted.duration = duration(of: picture)
    try mode.complete(
      &wanted, at: picture.presentationTime, index: nextIndex, request, in: configuration)
    times[nextIndex] = picture.presentationTime
    if nextIndex == 0 {
      engine.begin(at: Double(picture.presentationTime) / Double(configuration.timescale))
    }
    do {
      try engine.encode(padded, wanted) { give($0, to: output) }
    } catch {
      times[nextIndex] = nil
      throw error as? CodecError ?? CodecError(engine: error)
    }
    nextIndex += 1
    lastTime = picture.presentationTime
    wasFlushed = false
    try mode.collectStatistics()
  }

  /// Outputs all frames that are held, and completes the statistics of the pass.
  package func flush(output: (consuming CompressedFrame) -> Void) throws(CodecError) {
    if engine.heldFrameCount > 0 { wasFlushed = true }
    engine.flush { give($0, to: output) }
    try mode.finish(configuration)
  }

  /// Outputs the frames that are shown no later than a time, in units of the timescale.
  package func complete(
    through presentationTime: Int64, output: (consuming CompressedFrame) -> Void
  ) throws(CodecError) {
    guard let last = times.filter({ $0.value <= presentationTime }).map(\.key).max() else { return }
    engine.complete(through: last) { give($0, to: output) }
  }

  /// Seconds since the last picture, for key frames and the rate control; nil if unknown.
  private func duration(of picture: InputPicture) -> Double? {
    let ticks = lastTime.map { picture.presentationTime - $0 } ?? picture.duration
    guard ticks > 0 else { return nil }
    return Double(ticks) / Double(configuration.timescale)
  }

  /// Outputs a frame with its properties. A dropped frame has neither data nor properties.
  private func give(_ coded: consuming EngineFrame, to output: (consuming CompressedFrame) -> Void) {
    let (index, slot, properties) = (coded.index, coded.longTermSlot, coded.properties)
    let time = times.removeValue(forKey: index) ?? 0
    let data = coded.data.take()
    let isDropped = data == nil
    var frame = CompressedFrame(presentationTime: time, data: data)
    if !isDropped {
      frame.properties = properties
      frame.header = parameterSets.map { .parameterSets($0) }
      parameterSets = nil
    }
    mode.record(index: index, longTermSlot: slot, isDropped: isDropped, &frame)
    output(frame)
  }

  // MARK: - Reconfiguration

  /// Applies a configuration, or asks for a new stream where it cannot change within one.
  package func reconfigure(_ new: VideoEncoderConfiguration) throws(CodecError) -> Reconfiguration {
    guard new != configuration else { return .applied }
    // Streams that may wait need another mode than those that may not.
    guard new.looksAhead == mode.looksAhead else { return try newStream(new) }
    let converted = try mode.converted(new, from: configuration)
    do {
      try engine.reconfigure(converted)
    } catch {
      switch error as? VideoEncoderError {
      // A new stream may have another level.
      case .fixedInStream, .levelExceeded: return try newStream(new)
      default: throw CodecError(engine: error)
      }
    }
    mode.change(to: new)
    configuration = new
    return .applied
  }

  /// Asks for a new stream, except within a pass: its statistics describe one stream, and only
  /// those of the last one would be left.
  private func newStream(_ new: VideoEncoderConfiguration) throws(CodecError) -> Reconfiguration {
    if new.pass != nil, new.pass == configuration.pass, nextIndex > 0 {
      throw .invalidConfiguration("this cannot change in the middle of a pass")
    }
    return .needsNewStream
  }
}

/// The part of an `EngineAdapter` that differs between the modes of an encoder.
package protocol EngineMode<Engine>: AnyObject {
  associatedtype Engine: PictureEngine

  /// The encoder, which the mode has made.
  var engine: Engine { get }
  /// Whether the stream is coded with a look-ahead.
  var looksAhead: Bool { get }
  /// Whether another pass would give a better result; nil before the end of a pass that may be the
  /// last.
  var wantsAnotherPass: Bool? { get }

  /// Converts a configuration to which the running stream is to change.
  /// - Parameters:
  ///   - new: the configuration.
  ///   - old: the present configuration.
  /// - Throws: `CodecError` if the encoder does not support it.
  func converted(
    _ new: VideoEncoderConfiguration, from old: VideoEncoderConfiguration
  ) throws(CodecError) -> Engine.Configuration

  /// Records a configuration that the encoder has taken.
  func change(to new: VideoEncoderConfiguration)

  /// Completes what is asked of the next picture.
  /// - Parameters:
  ///   - wanted: key frame, QP and duration as the session has asked for them; receives the rest.
  ///   - time: the presentation time of the picture, in units of the timescale.
  ///   - index: the encoder's index of the picture.
  ///   - request: what the session has asked for.
  ///   - configuration: the configuration of the stream.
  /// - Throws: `CodecError.unsupported` for a request that the mode does not support.
  func complete(
    _ wanted: inout EngineRequest, at time: Int64, index: UInt64, _ request: FrameRequest,
    in configuration: VideoEncoderConfiguration
  ) throws(CodecError)

  /// Records a frame that was coded or dropped.
  /// - Parameters:
  ///   - index: the encoder's index of the picture.
  ///   - longTermSlot: the long-term slot that it is kept in; nil: none.
  ///   - isDropped: whether the rate control dropped it.
  ///   - frame: receives what only this mode knows.
  func record(index: UInt64, longTermSlot: Int?, isDropped: Bool, _ frame: inout CompressedFrame)

  /// Writes the statistics that a pass has collected so far.
  func collectStatistics() throws(CodecError)

  /// Completes a stream or a part of it after all frames have been output.
  func finish(_ configuration: VideoEncoderConfiguration) throws(CodecError)
}
