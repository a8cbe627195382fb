// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import VideoBitstream

/// Converts a byte stream (Annex B) that arrives in pieces into sample buffers, one for each
/// picture in decoding order.
///
/// Presentation times follow from the output order of the stream and a constant frame duration,
/// that of the options or of the stream. Pictures before the first parameter sets are dropped, and
/// so is all that cannot be parsed. The only errors are NAL units that are too long for their
/// length field and access units that do not end.
public struct ElementaryStreamParser {
  /// Options of the conversion.
  public struct Options: Sendable {
    /// The size of the length before each NAL unit in bytes: 1, 2 or 4.
    public var lengthSize = 4
    /// Whether parameter sets also stay in the samples. The format description contains them in any
    /// case.
    public var keepsParameterSets = false
    /// The duration of each frame; nil: that of the stream's VUI, or 1/25 second without one.
    public var frameDuration: CMTime?
    /// The presentation time of the first frame.
    public var startTime = CMTime.zero
    /// The most frames that precede a frame in decoding order and follow it in output order; nil:
    /// the value of the stream. A sample buffer is returned once its index in output order is
    /// certain. With 0, which requires a stream without B pictures, that is at once.
    public var maxReorderFrames: Int?

    /// Creates options with their defaults.
    public init() {}
  }

  /// The largest size of an incomplete NAL unit in bytes. Tests lower it.
  var maxUnitSize = 1 << 28
  /// The largest size of an incomplete access unit in bytes, where each NAL unit counts `unitCost`
  /// more. Tests lower it.
  var maxAccessUnitSize = 1 << 28
  /// The memory in bytes that a NAL unit takes at most besides its bytes: the value and the header
  /// of its storage.
  static let unitCost = 96

  /// The most bytes of format descriptions that may be created at once. Beyond it
  /// `descriptionShare` more bytes are allowed for each byte of the stream. This limits streams in
  /// which a few bytes cause a new description of many parameter sets. Tests lower it.
  var maxDescriptionSize = 1 << 24
  static let descriptionShare = 64

  /// The codec of the stream.
  public let codec: ElementaryStreamCodec
  /// The format description of the last sample buffer; nil before the first.
  public private(set) var formatDescription: CMFormatDescription?

  private let options: Options
  private var parser = AnnexBParser()
  private var splitter: any AccessUnitSplitter
  /// The size in bytes of the NAL units of the incomplete access unit (`cost`).
  private var waiting = 0
  private var parameterSets: ParameterSetStore
  /// The format descriptions of the present parameter sets by the identifier of the active sequence
  /// parameter set, which may change with each picture. The value is nil where there are too few
  /// parameter sets.
  private var descriptions: [Int?: CMFormatDescription?] = [:]
  /// The last format descriptions with the parameter sets that they contain, the newest first: a
  /// stream may return to earlier parameter sets.
  private var recent: [(sets: [Data], description: CMFormatDescription)] = []
  /// Whether the parameter sets of the last sync sample are in no format description, so that they
  /// stay in the samples.
  private var isDescriptionOld = false
  /// The size in bytes of the format descriptions that were created, less the allowance for the
  /// bytes of the stream.
  private var descriptionSize = 0
  /// Finds the index of each frame in output order.
  private var order = OutputOrder<Frame>()
  /// The number of frames so far, in decoding order.
  private var decodeIndex = 0
  /// The number of frame durations by which decode times precede presentation times; nil before the
  /// first frame.
  private var decodeLead: Int?
  /// The duration of a frame; nil while it is unknown.
  private var duration: CMTime?

  /// A picture whose index in output order is not certain yet.
  private struct Frame {
    let data: CMBlockBuffer
    let size: Int
    let format: CMFormatDescription
    let picture: AccessUnit.Picture?
    let decodeIndex: Int
  }

  /// Creates a parser at the start of a stream.
  ///
  /// - Parameters:
  ///   - codec: the codec of the stream.
  ///   - options: options of the conversion.
  /// - Throws: `ElementaryStreamError.invalidLengthSize`.
  public init(codec: ElementaryStreamCodec, options: Options = Options()) throws {
    try AnnexB.check(lengthSize: options.lengthSize)
    self.codec = codec
    self.options = options
    parameterSets = ParameterSetStore(codec: codec)
    splitter = codec == .h264 ? H264AccessUnitSplitter() : HEVCAccessUnitSplitter()
  }

  /// Adds bytes of any number, and returns the sample buffers that are complete now.
  ///
  /// - Parameter bytes: the next bytes of the stream.
  /// - Returns: sample buffers in decoding order.
  /// - Throws: `ElementaryStreamError.unitTooLong` or `accessUnitTooLong`. What is too long is
  ///   dropped, with all other results of the same call, so an untrusted stream should be added in
  ///   small pieces. Parsing continues with the next call.
  public mutating func append(_ bytes: Data) throws -> [CMSampleBuffer] {
    var samples: [CMSampleBuffer] = []
    for unit in parser.append(bytes) { try append(NALUnit(codec: codec, data: unit), to: &samples) }
    let pending = parser.pendingCount
    if pending > maxUnitSize {
      parser = AnnexBParser()
      throw ElementaryStreamError.unitTooLong(pending)
    }
    return samples
  }

  /// Returns the remaining sample buffers at the end of the stream, in decoding order.
  ///
  /// - Throws: as `append(_:)`.
  public mutating func finish() throws -> [CMSampleBuffer] {
    var samples: [CMSampleBuffer] = []
    for unit in parser.finish() { try append(NALUnit(codec: codec, data: unit), to: &samples) }
    waiting = 0
    if let last = splitter.finish() { try append(last, to: &samples) }
    for (frame, outputIndex) in order.finish() { samples.append(try sample(frame, outputIndex: outputIndex)) }
    return samples
  }

  /// Adds a NAL unit.
  private mutating func append(_ unit: NALUnit, to samples: inout [CMSampleBuffer]) throws {
    guard unit.type != nil else { return }
    descriptionSize = max(0, descriptionSize - unit.data.count * Self.descriptionShare)
    waiting += Self.cost(unit)
    if let complete = splitter.append(unit) {
      for unit in complete.units { waiting -= Self.cost(unit) }
      try append(complete, to: &samples)
    }
    // An access unit does not end before the next slice, so NAL units of other types can accumulate
    // without limit.
    if waiting > maxAccessUnitSize {
      let size = waiting
      waiting = 0
      _ = splitter.finish()
      throw ElementaryStreamError.accessUnitTooLong(size)
    }
  }

  /// The memory in bytes that a NAL unit takes at most.
  private static func cost(_ unit: NALUnit) -> Int { unit.data.count + unitCost }

  /// Converts a complete access unit.
  private mutating func append(_ access: AccessUnit, to samples: inout [CMSampleBuffer]) throws {
    let (changed, isComplete) = parameterSets.add(access.units)
    if changed { descriptions.removeAll() }
    let sizeBefore = descriptionSize
    // Within a coded video sequence the format description cannot change, so parameter sets that
    // change there stay in the samples.
    var keepsSets = options.keepsParameterSets || changed
    if formatDescription == nil || access.picture?.isSync == true,
      let description = description(of: access.picture?.sequenceID)
    {
      formatDescription = description
      isDescriptionOld = false
      keepsSets = options.keepsParameterSets || !isComplete
    } else if access.picture?.isSync == true {
      isDescriptionOld = true
    }
    keepsSets = keepsSets || isDescriptionOld
    guard let format = formatDescription else { return }
    let units = keepsSets ? access.units : access.units.filter { !$0.isParameterSet }
    let (data, size) = try Self.blockBuffer(units, lengthSize: options.lengthSize)
    let frame = Frame(
      data: data, size: size, format: format, picture: access.picture, decodeIndex: decodeIndex)
    decodeIndex += 1
    let maxReorder = min(max(0, options.maxReorderFrames ?? access.picture?.maxReorder ?? 0), 1 << 16)
    if decodeLead == nil { decodeLead = maxReorder }
    if duration == nil { duration = options.frameDuration ?? access.picture?.frameDuration }
    // A frame that waits keeps the format description that was created for it in memory.
    let ready = order.add(
      frame, size: size + descriptionSize - sizeBefore, order: access.picture?.order,
      startsSequence: access.picture?.startsSequence ?? true, maxReorder: maxReorder)
    for (frame, outputIndex) in ready { samples.append(try sample(frame, outputIndex: outputIndex)) }
  }

  /// Returns the format description of the present parameter sets. Nil if there are too few of
  /// them, or if descriptions would take too much memory; the parameter sets then stay in the
  /// samples.
  private mutating func description(of sequenceID: Int?) -> CMFormatDescription? {
    if let known = descriptions[sequenceID] { return known }
    let sets = parameterSets.sorted(sequenceID: sequenceID)
    var made: CMFormatDescription?
    if let index = recent.firstIndex(where: { $0.sets == sets }) {
      let found = recent.remove(at: index)
      recent.insert(found, at: 0)
      made = found.description
    } else {
      // The description holds the parameter sets twice, as configuration record and at fixed
      // addresses, and other properties besides.
      let size = 2 * sets.reduce(0) { $0 + $1.count } + 4096
      guard descriptionSize + size <= maxDescriptionSize else { return nil }
      made = ParameterSetStore.formatDescription(codec, sets, lengthSize: options.lengthSize)
      if let made {
        descriptionSize += size
        recent.insert((sets, made), at: 0)
        if recent.count > 4 { recent.removeLast() }
      }
    }
    descriptions.updateValue(made, forKey: sequenceID)
    return made
  }

  private func sample(_ frame: Frame, outputIndex: Int) throws -> CMSampleBuffer {
    let duration = duration ?? CMTime(value: 1, timescale: 25)
    func time(_ index: Int) -> CMTime {
      options.startTime + CMTimeMultiply(duration, multiplier: Int32(clamping: index))
    }
    // The presentation time is not before the decode time, even if a stream reorders more frames
    // than it first declared.
    let decode = min(frame.decodeIndex - (decodeLead ?? 0), outputIndex)
    let sample = try CMSampleBuffer(
      dataBuffer: frame.data, formatDescription: frame.format, numSamples: 1,
      sampleTimings: [
        CMSampleTimingInfo(
          duration: duration, presentationTimeStamp: time(outputIndex), decodeTimeStamp: time(decode))
      ], sampleSizes: [frame.size])
    if let picture = frame.picture {
      if !picture.isSync { sample.sampleAttachments[0][.notSync] = true }
      sample.sampleAttachments[0][.dependsOnOthers] = !picture.isIntra
      sample.sampleAttachments[0][.isDependedOnByOthers] = picture.isReference
    } else {
      sample.sampleAttachments[0][.notSync] = true
    }
    return sample
  }

  /// Returns a buffer with length-prefixed NAL units, and its size in bytes.
  private static func blockBuffer(_ units: [NALUnit], lengthSize: Int) throws -> (CMBlockBuffer, Int) {
    var size = 0
    for unit in units {
      guard LengthPrefix.fits(unit.data.count, lengthSize: lengthSize) else {
        throw ElementaryStreamError.unitTooLong(unit.data.count)
      }
      size += lengthSize + unit.data.count
    }
    let buffer = try CMBlockBuffer(length: size, flags: .assureMemoryNow)
    try buffer.withUnsafeMutableBytes { bytes in
      var position = 0
      for unit in units {
        if let base = bytes.baseAddress {
          LengthPrefix.write(unit.data.count, lengthSize: lengthSize, to: base + position)
        }
        position += lengthSize
        unit.data.copyBytes(
          to: UnsafeMutableRawBufferPointer(rebasing: bytes[position..<position + unit.data.count]))
        position += unit.data.count
      }
    }
    return (buffer, size)
  }
}

/// The present parameter sets of a stream.
struct ParameterSetStore {
  /// The largest parameter set in bytes that a format description can hold.
  static let largestSet = 65_535
  /// The most bytes of all parameter sets together: more than a stream needs.
  static let maxBytes = 1 << 17

  let codec: ElementaryStreamCodec
  /// The parameter sets by nal_unit_type and identifier.
  private var sets: [Key: Data] = [:]
  /// The size of all parameter sets in bytes.
  private(set) var byteCount = 0

  private struct Key: Hashable {
    let type: Int
    let id: Int
  }

  init(codec: ElementaryStreamCodec) { self.codec = codec }

  /// Adds the parameter sets among NAL units. Where they exceed `maxBytes`, the largest are
  /// dropped, which may include a new one.
  /// - Parameter units: NAL units of any type.
  /// - Returns: whether any parameter set is new or differs from the one before, and whether all of
  ///   them are stored.
  mutating func add(_ units: [NALUnit]) -> (isChanged: Bool, isComplete: Bool) {
    var changed = false
    var isComplete = true
    for unit in units where unit.isParameterSet {
      guard let type = unit.type, let id = try? identifier(unit, type) else { continue }
      guard unit.data.count <= Self.largestSet else {
        isComplete = false
        continue
      }
      let key = Key(type: type, id: id)
      if sets[key] != unit.data {
        byteCount += unit.data.count - (sets.updateValue(unit.data, forKey: key)?.count ?? 0)
        changed = true
      }
      while byteCount > Self.maxBytes, let largest = sets.max(by: { $0.value.count < $1.value.count }) {
        byteCount -= largest.value.count
        sets[largest.key] = nil
        isComplete = false
      }
    }
    return (changed, isComplete)
  }

  /// Returns the identifier of a parameter set.
  private func identifier(_ unit: NALUnit, _ type: Int) throws -> Int {
    switch (codec, type) {
    case (.h264, 7): return try H264SequenceParameterSet(nalUnit: unit.data).id
    case (.h264, 8): return try H264PictureParameterSet(nalUnit: unit.data).id
    case (.h264, 13):
      let (id, failure) = BitReader.read(unit.data, headerLength: 1) { ($0.ue(max: 31), $0.failure) }
      if let failure { throw failure }
      return id
    case (.hevc, 32): return Int(unit.data.dropFirst(2).first.map { $0 >> 4 } ?? 0)
    case (.hevc, 33): return try HEVCSequenceParameterSet(nalUnit: unit.data).id
    case (.hevc, 34): return try HEVCPictureParameterSet(nalUnit: unit.data).id
    default: throw SyntaxError.invalid
    }
  }

  /// Returns all parameter sets in the order of a format description.
  ///
  /// - Parameter sequenceID: the identifier of the active sequence parameter set, which comes first
  ///   among those of its type, since the description's dimensions follow from it.
  func sorted(sequenceID: Int?) -> [Data] {
    let sequenceType = codec == .h264 ? 7 : 33
    return sets.sorted { a, b in
      func rank(_ key: Key) -> (Int, Int, Int) {
        (key.type, key.type == sequenceType && key.id == sequenceID ? 0 : 1, key.id)
      }
      return rank(a.key) < rank(b.key)
    }.map(\.value)
  }

  /// Creates a format description from sorted parameter sets; nil if there are too few of them.
  static func formatDescription(
    _ codec: ElementaryStreamCodec, _ sorted: [Data], lengthSize: Int
  ) -> CMFormatDescription? {
    switch codec {
    case .h264: try? CMFormatDescription(h264ParameterSets: sorted, nalUnitHeaderLength: lengthSize)
    case .hevc: try? CMFormatDescription(hevcParameterSets: sorted, nalUnitHeaderLength: lengthSize)
    }
  }
}
