// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import Foundation
import H264Encoder

/// A stream of H.264 with a look-ahead: for files, and for streams that may wait for a look-ahead.
final class LookAheadAdapter: SynchronousVideoEncoder {
  /// The configuration of the stream.
  private var configuration: VideoEncoderConfiguration
  private let engine: H264Encoder
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
  /// The duration in seconds of the part of a stream that this pass encodes; nil: it encodes all of
  /// it.
  private var partSeconds: Double?
  /// The statistics of the previous pass.
  private var known: StoredPass?
  /// Where the statistics of this pass are written.
  private var spool: PassSpool?

  /// Makes the encoder.
  /// - Parameter configuration: the configuration of the session.
  /// - Throws: `CodecError` if the encoder does not support the configuration, or the statistics
  ///   of the previous pass cannot be read.
  init(_ configuration: VideoEncoderConfiguration) throws(CodecError) {
    self.configuration = configuration
    padding = PicturePadding(configuration.codedSize)
    var converted = try H264EncoderConfiguration(lookingAhead: configuration)
    do {
      if let pass = configuration.pass, pass.readsStatistics {
        let statistics = try Self.statistics(pass)
        known = statistics
        if pass.part != nil { partSeconds = statistics.seconds }
        converted.makePart(of: configuration, seconds: partSeconds)
        engine = try H264Encoder(configuration: converted, pass: statistics)
      } else {
        converted.makePart(of: configuration, seconds: nil)
        engine = try H264Encoder(configuration: converted)
      }
      if let pass = configuration.pass, pass.writesStatistics {
        engine.keepsStatistics = true
        spool = try PassSpool(beside: pass.statisticsPath)
      }
    } catch let error as CodecError {
      throw error
    } catch {
      throw CodecError(engine: error)
    }
    let sets = engine.parameterSets
    parameterSets = ParameterSets(sps: [sets.sequence], pps: sets.pictures)
    reorderingDepth = engine.reorderingDepth
  }

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
  private func spoolStatistics() throws(CodecError) {
    if let known, known.hasFailed {
      throw .malfunction("the statistics of the first pass cannot be read any more")
    }
    guard let spool, engine.statistics.count > 0 else { return }
    try spool.append(engine.takeStatistics())
  }

  /// The number of frames that can be output before one that is shown earlier.
  let reorderingDepth: Int

  /// Whether another pass would give a better result; nil before the end of a pass that may be the
  /// last.
  private(set) var wantsAnotherPass: Bool?

  /// Encodes a picture, as the protocol says.
  func encode(
    _ picture: InputPicture, request: FrameRequest, output: (consuming CompressedFrame) -> Void
  ) throws(CodecError) {
    guard picture.format == configuration.format else {
      throw .invalidConfiguration("a picture of another format")
    }
    if !request.acknowledgedTokens.isEmpty || request.forcesLongTermRefresh {
      throw .unsupported("long-term references are for the low-latency mode")
    }
    let source = try SourcePicture(padding.pad(picture, of: configuration))
    var wish = H264FrameOptions()
    wish.isKeyFrame = request.forcesKeyFrame || wasFlushed
    wish.qp = request.baseQP
    wish.duration = duration(of: picture)
    times[nextIndex] = picture.presentationTime
    if nextIndex == 0 {
      engine.begin(at: Double(picture.presentationTime) / Double(configuration.timescale))
    }
    do {
      try engine.encode(source, options: wish) { give($0, to: output) }
    } catch {
      times[nextIndex] = nil
      throw CodecError(engine: error)
    }
    nextIndex += 1
    lastTime = picture.presentationTime
    wasFlushed = false
    try spoolStatistics()
  }

  /// Outputs all frames that are held, and completes the statistics of the pass.
  func flush(output: (consuming CompressedFrame) -> Void) throws(CodecError) {
    if engine.heldFrameCount > 0 { wasFlushed = true }
    engine.flush { give($0, to: output) }
    guard engine.bufferMiss == 0 else {
      throw .malfunction(
        "the decoder's buffer misses what was agreed upon at the end by \(Int(engine.bufferMiss)) bits")
    }
    try spoolStatistics()
    guard let pass = configuration.pass, let spool else { return }
    // As the engine counts them.
    let stream = engine.configuration
    try spool.store(at: pass.statisticsPath, width: stream.width, height: stream.height)
    guard pass.mayBeLast, let rate = configuration.rate.targetRate else { return }
    wantsAnotherPass = try Self.statistics(pass).isImprovable(rate: Double(rate))
  }

  /// Outputs the frames that are shown no later than a time, in units of the timescale.
  func complete(
    through presentationTime: Int64, output: (consuming CompressedFrame) -> Void
  ) throws(CodecError) {
    guard let last = times.filter({ $0.value <= presentationTime }).map(\.key).max() else { return }
    engine.complete(through: last) { give($0, to: output) }
  }

  /// Applies a configuration, or asks for a new stream where it cannot change within one.
  func reconfigure(_ new: VideoEncoderConfiguration) throws(CodecError) -> Reconfiguration {
    guard new != configuration else { return .applied }
    // Without a delay another mode may be the one for it.
    guard H264Codec.looksAhead(new) else { return try newStream(new) }
    var converted = try H264EncoderConfiguration(lookingAhead: new)
    // A stream of key frames alone has no use for more than one.
    if new.asksForReferences(as: configuration), new.isIntraOnly == configuration.isIntraOnly {
      converted.keepReferences(of: engine.configuration)
    }
    converted.makePart(of: new, seconds: partSeconds)
    do {
      try engine.reconfigure(converted)
    } catch {
      switch error as? H264EncoderError {
      // A new stream may have another level.
      case .fixedInStream, .levelExceeded: return try newStream(new)
      default: throw CodecError(engine: error)
      }
    }
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

  /// Seconds since the last picture, for key frames and the rate control; nil if unknown.
  private func duration(of picture: InputPicture) -> Double? {
    let ticks = lastTime.map { picture.presentationTime - $0 } ?? picture.duration
    guard ticks > 0 else { return nil }
    return Double(ticks) / Double(configuration.timescale)
  }

  private func give(_ coded: consuming H264EncodedFrame, to output: (consuming CompressedFrame) -> Void) {
    let facts = coded.facts
    let time = times.removeValue(forKey: facts.index) ?? 0
    var frame = CompressedFrame(presentationTime: time, data: CompressedData(coded))
    frame.facts.isKeyFrame = facts.isKeyFrame
    frame.facts.isIntra = facts.isKeyFrame
    frame.facts.isOpenGOP = facts.isOpenGOP
    frame.facts.isReference = facts.isReference
    frame.facts.averageQP = facts.averageQP
    frame.facts.highestQP = facts.highestQP
    frame.facts.fillerBytes = facts.fillerBytes
    frame.facts.meanSquaredError = facts.meanSquaredError.map { (y: $0.luma, cb: $0.cb, cr: $0.cr) }
    frame.header = parameterSets.map { .parameterSets($0) }
    parameterSets = nil
    output(frame)
  }
}
