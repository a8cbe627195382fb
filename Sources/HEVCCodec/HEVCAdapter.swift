// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import EncoderAdapter
import HEVCEncoder

/// A stream of HEVC by `HEVCEncoder`.
typealias HEVCAdapter = EngineAdapter<HEVCEncoder>

extension EngineAdapter<HEVCEncoder> {
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

extension HEVCEncoder: PictureEngine {
  package static func make(
    _ configuration: VideoEncoderConfiguration, looksAhead: Bool, statistics: StoredPass?
  ) throws -> HEVCEncoder {
    let converted = try converted(configuration, looksAhead: looksAhead, statistics)
    guard let statistics else { return try HEVCEncoder(configuration: converted) }
    return try HEVCEncoder(configuration: converted, pass: statistics)
  }

  private static func converted(
    _ configuration: VideoEncoderConfiguration, looksAhead: Bool, _ statistics: StoredPass?
  ) throws(CodecError) -> HEVCEncoderConfiguration {
    guard looksAhead else { return try HEVCEncoderConfiguration(configuration) }
    var converted = try HEVCEncoderConfiguration(lookingAhead: configuration)
    converted.makePart(of: configuration, seconds: statistics?.seconds)
    return converted
  }

  package func converted(
    _ new: VideoEncoderConfiguration, from old: VideoEncoderConfiguration, looksAhead: Bool,
    statistics: StoredPass?
  ) throws(CodecError) -> HEVCEncoderConfiguration {
    try Self.converted(new, looksAhead: looksAhead, statistics)
  }

  package var streamSets: ParameterSets {
    let sets = parameterSets
    return ParameterSets(vps: [sets.video], sps: [sets.sequence], pps: sets.pictures)
  }

  package var codedSize: (width: Int, height: Int) { (configuration.width, configuration.height) }
  package var longTermSlots: Int { configuration.lowLatency.longTermReferences }

  package func encode(
    _ picture: InputPicture, _ request: EngineRequest, output: (consuming EngineFrame) -> Void
  ) throws {
    var options = HEVCFrameOptions()
    options.isKeyFrame = request.isKeyFrame
    options.qp = request.qp
    options.duration = request.duration
    options.isReference = request.isReference
    options.temporalLayer = request.temporalLayer
    options.budgetShare = request.budgetShare
    options.longTermSlot = request.longTermSlot
    if let slot = request.reference { options.references = .longTerm([slot]) }
    try encode(HEVCSource(picture), options: options) { output(EngineFrame($0)) }
  }

  package func flush(output: (consuming EngineFrame) -> Void) {
    flush { (frame: consuming HEVCEncodedFrame) in output(EngineFrame(frame)) }
  }

  package func complete(through index: UInt64, output: (consuming EngineFrame) -> Void) {
    complete(through: index) { (frame: consuming HEVCEncodedFrame) in output(EngineFrame(frame)) }
  }
}

extension HEVCSource {
  /// Describes the same memory for the encoder.
  /// - Parameter picture: a picture in memory, 4:2:0, with 8 bits, or with 10 bits in two planes.
  /// - Throws: `CodecError` for other formats, or if a plane is missing.
  init(_ picture: InputPicture) throws(CodecError) {
    guard picture.format == .p010VideoRange || picture.format == .p010FullRange else {
      self = .eightBits(try SourcePicture(picture))
      return
    }
    let planes = try picture.planes()
    guard let chroma = planes.second else { throw .invalidConfiguration("a plane is missing") }
    self = .tenBits(
      TenBitPicture(
        width: picture.width, height: picture.height, alignment: .upper,
        luma: planes.first.baseAddress, lumaBytesPerRow: planes.first.bytesPerRow,
        chroma: .interleaved(chroma.baseAddress, bytesPerRow: chroma.bytesPerRow)))
  }
}

extension EngineFrame {
  /// Takes over a frame of the encoder, whose memory goes back to its pool.
  init(_ coded: consuming HEVCEncodedFrame) {
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
