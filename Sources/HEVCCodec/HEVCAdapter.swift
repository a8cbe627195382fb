// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import EncoderAdapter
import HEVCEncoder

extension HEVCEncoder: ReferenceKeeping {}

/// A stream of HEVC by `HEVCEncoder`: pictures in, frames out, and the configuration between them.
final class HEVCAdapter: SynchronousVideoEncoder {
  /// The configuration of the stream.
  private var configuration: VideoEncoderConfiguration
  /// The encoder.
  let engine: HEVCEncoder
  private var planner: LowLatencyPlanner
  /// Enlarges pictures to the coded size.
  private let padding: PicturePadding
  /// The parameter sets, until the first frame has been output.
  private var parameterSets: ParameterSets?
  /// The encoder's index of the next picture.
  private var nextIndex: UInt64 = 0
  /// The presentation time of the last picture, in units of the timescale.
  private var lastTime: Int64?

  /// The longest time between key frames of a file in seconds where a session leaves it to the
  /// encoder, so that players can seek.
  private static let usualKeyFrameSeconds = 10.0

  /// A configuration with the intervals of key frames that hold where a session names none. A call
  /// has no key frames that nobody asks for.
  private static func withKeyFrames(_ configuration: VideoEncoderConfiguration) -> VideoEncoderConfiguration {
    var result = configuration
    if result.lowLatency == nil, result.maxKeyFrameInterval == 0, result.maxKeyFrameIntervalDuration == 0 {
      result.maxKeyFrameIntervalDuration = usualKeyFrameSeconds
    }
    return result
  }

  /// Makes the encoder.
  /// - Parameter configuration: the configuration of the session.
  /// - Throws: `CodecError` if the encoder does not support the configuration.
  init(_ configuration: VideoEncoderConfiguration) throws(CodecError) {
    self.configuration = configuration
    padding = PicturePadding(configuration.codedSize)
    let converted = try HEVCEncoderConfiguration(configuration)
    do { engine = try HEVCEncoder(configuration: converted) } catch { throw CodecError(engine: error) }
    planner = LowLatencyPlanner(
      configuration.lowLatency, longTermReferences: converted.lowLatency.longTermReferences)
    let sets = engine.parameterSets
    parameterSets = ParameterSets(vps: [sets.video], sps: [sets.sequence], pps: sets.pictures)
  }

  /// Frames are output in the order in which they come.
  var reorderingDepth: Int { 0 }

  // MARK: - Pictures

  /// Encodes a picture, as the protocol says.
  func encode(
    _ picture: InputPicture, request: FrameRequest, output: (consuming CompressedFrame) -> Void
  ) throws(CodecError) {
    guard picture.format == configuration.format else {
      throw .invalidConfiguration("a picture of another format")
    }
    let source = try SourcePicture(padding.pad(picture, of: configuration))
    let plan = planner.plan(
      at: picture.presentationTime, index: nextIndex, isKeyFrame: request.forcesKeyFrame,
      duration: duration(of: picture), request, in: Self.withKeyFrames(configuration), engine)
    var options = HEVCFrameOptions()
    options.isKeyFrame = plan.isKeyFrame
    options.isReference = plan.isReference
    options.temporalLayer = plan.temporalLayer
    options.budgetShare = plan.budgetShare
    options.longTermSlot = plan.longTermSlot
    options.duration = plan.duration
    options.qp = request.baseQP
    if let slot = plan.reference { options.references = .longTerm([slot]) }
    do {
      give(try engine.encode(source, options: options), at: picture.presentationTime, to: output)
    } catch { throw CodecError(engine: error) }
    nextIndex += 1
    lastTime = picture.presentationTime
  }

  /// No frames are held.
  func flush(output: (consuming CompressedFrame) -> Void) {}

  /// Seconds since the last picture, for key frames and the rate control; nil if unknown.
  private func duration(of picture: InputPicture) -> Double? {
    let ticks = lastTime.map { picture.presentationTime - $0 } ?? picture.duration
    guard ticks > 0 else { return nil }
    return Double(ticks) / Double(configuration.timescale)
  }

  /// Outputs a frame with what is known of it. A dropped frame has no data and no facts.
  private func give(
    _ coded: consuming HEVCEncodedFrame, at time: Int64, to output: (consuming CompressedFrame) -> Void
  ) {
    let properties = coded.properties
    var frame = CompressedFrame(presentationTime: time, data: CompressedData(coded))
    if !properties.isDropped {
      frame.properties.isKeyFrame = properties.isKeyFrame
      frame.properties.isIntra = properties.isKeyFrame
      frame.properties.isReference = properties.isReference
      frame.properties.temporalLayer = properties.temporalLayer
      frame.properties.averageQP = properties.averageQP
      frame.properties.highestQP = properties.highestQP
      frame.properties.meanSquaredError = properties.meanSquaredError.map {
        (y: $0.luma, cb: $0.cb, cr: $0.cr)
      }
      frame.header = parameterSets.map { .parameterSets($0) }
      parameterSets = nil
    }
    planner.finish(
      index: properties.index, longTermSlot: properties.longTermSlot, isDropped: properties.isDropped,
      &frame)
    output(frame)
  }

  // MARK: - Reconfiguration

  /// Applies a configuration, or asks for a new stream where it cannot change within one.
  func reconfigure(_ new: VideoEncoderConfiguration) throws(CodecError) -> Reconfiguration {
    guard new != configuration else { return .applied }
    do {
      try engine.reconfigure(HEVCEncoderConfiguration(new))
    } catch {
      switch error as? HEVCEncoderError {
      // A new stream may have another level.
      case .fixedInStream, .levelExceeded: return .needsNewStream
      default: throw error as? CodecError ?? CodecError(engine: error)
      }
    }
    if let lowLatency = new.lowLatency { planner.change(to: lowLatency) }
    configuration = new
    return .applied
  }
}

extension CompressedData {
  /// The encoder's memory, which goes back to its pool; nil if the frame was dropped.
  init?(_ frame: consuming HEVCEncodedFrame) {
    let count = frame.byteCount
    guard let memory = frame.takeMemory() else { return nil }
    self.init(memory, count: count)
  }
}
