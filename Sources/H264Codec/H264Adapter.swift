// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import EncoderAdapter
import H264Encoder

/// A stream of H.264 by `H264Encoder`.
typealias H264Adapter = EngineAdapter<H264Encoder>

extension EngineAdapter<H264Encoder> {
  /// Makes the encoder.
  /// - Parameters:
  ///   - configuration: the configuration of the session.
  ///   - looksAhead: whether the stream is coded with a look-ahead; with zero latency otherwise.
  /// - Throws: `CodecError` if the encoder does not support the configuration, or the statistics
  ///   of the previous pass cannot be read.
  convenience init(_ configuration: VideoEncoderConfiguration, looksAhead: Bool) throws(CodecError) {
    try self.init(configuration, size: configuration.codedSize, looksAhead: looksAhead)
  }
}

extension H264Encoder: PictureEngine {
  /// Bits per second that the level of a call allows at least. A rate that follows a network may
  /// rise; if the level only allowed the first rate, it would have to change, with a key frame.
  /// Level 3 allows this rate, and every decoder in use decodes level 3.
  private static let levelBitRate = 10_000_000

  package static func make(
    _ configuration: VideoEncoderConfiguration, looksAhead: Bool, statistics: StoredPass?
  ) throws -> H264Encoder {
    let converted = try converted(configuration, looksAhead: looksAhead, statistics)
    guard let statistics else { return try H264Encoder(configuration: converted) }
    return try H264Encoder(configuration: converted, pass: statistics)
  }

  private static func converted(
    _ configuration: VideoEncoderConfiguration, looksAhead: Bool, _ statistics: StoredPass?
  ) throws(CodecError) -> H264EncoderConfiguration {
    guard looksAhead else {
      var converted = try H264EncoderConfiguration(configuration)
      converted.levelBitRate = levelBitRate
      return converted
    }
    var converted = try H264EncoderConfiguration(lookingAhead: configuration)
    converted.makePart(of: configuration, seconds: statistics?.seconds)
    return converted
  }

  package func converted(
    _ new: VideoEncoderConfiguration, from old: VideoEncoderConfiguration, looksAhead: Bool,
    statistics: StoredPass?
  ) throws(CodecError) -> H264EncoderConfiguration {
    var converted = try Self.converted(new, looksAhead: looksAhead, statistics)
    // A stream of key frames alone has no use for more than one.
    if new.asksForReferences(as: old), !looksAhead || new.isIntraOnly == old.isIntraOnly {
      converted.keepReferences(of: configuration)
    }
    return converted
  }

  package var streamSets: ParameterSets {
    let sets = parameterSets
    return ParameterSets(sps: [sets.sequence], pps: sets.pictures)
  }

  package var codedSize: (width: Int, height: Int) { (configuration.width, configuration.height) }
  package var longTermSlots: Int { configuration.lowLatency.longTermReferences }

  package func encode(
    _ picture: InputPicture, _ request: EngineRequest, output: (consuming EngineFrame) -> Void
  ) throws {
    var options = H264FrameOptions()
    options.isKeyFrame = request.isKeyFrame
    // Without loss there is one QP.
    options.qp = configuration.isLossless ? nil : request.qp
    options.duration = request.duration
    options.isReference = request.isReference
    options.temporalLayer = request.temporalLayer
    options.budgetShare = request.budgetShare
    options.longTermSlot = request.longTermSlot
    if let slot = request.reference { options.references = .longTerm([slot]) }
    try encode(SourcePicture(picture), options: options) { output(EngineFrame($0)) }
  }

  package func flush(output: (consuming EngineFrame) -> Void) {
    flush { (frame: consuming H264EncodedFrame) in output(EngineFrame(frame)) }
  }

  package func complete(through index: UInt64, output: (consuming EngineFrame) -> Void) {
    complete(through: index) { (frame: consuming H264EncodedFrame) in output(EngineFrame(frame)) }
  }
}

extension EngineFrame {
  /// Takes over a frame of the encoder, whose memory goes back to its pool.
  init(_ coded: consuming H264EncodedFrame) {
    let properties = coded.properties
    var known = CompressedFrame.Properties()
    known.isKeyFrame = properties.isKeyFrame
    known.isIntra = properties.isKeyFrame
    known.isOpenGOP = properties.isOpenGOP
    known.isReference = properties.isReference
    known.temporalLayer = properties.temporalLayer
    known.averageQP = properties.averageQP
    known.highestQP = properties.highestQP
    known.fillerBytes = properties.fillerBytes
    known.meanSquaredError = properties.meanSquaredError.map {
      (y: $0.luma, cb: $0.cb, cr: $0.cr)
    }
    let count = coded.byteCount
    var data: CompressedData?
    if let memory = coded.takeMemory() { data = CompressedData(memory, count: count) }
    self.init(
      index: properties.index, longTermSlot: properties.longTermSlot, properties: known, data: data)
  }
}
