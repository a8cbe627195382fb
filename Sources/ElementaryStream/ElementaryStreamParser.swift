// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import VideoBitstream

/// Turns a byte stream of Annex B, as it comes, into sample buffers, one for each picture in decoding order.
///
/// Times are counted from the frame rate that the stream or the options say, in the order that the stream says.
/// Pictures before the first parameter sets are dropped, as is all that cannot be understood; nothing in a stream
/// makes the parser fail but a NAL unit that is too long for the length before it, and an access unit without end.
public struct ElementaryStreamParser {
  /// How sample buffers are made.
  public struct Options: Sendable {
    /// The size of the length before each NAL unit in bytes: 1, 2 or 4.
    public var lengthSize = 4
    /// Whether parameter sets stay in the samples. In the format description they are in any case.
    public var keepsParameterSets = false
    /// The duration of each frame; nil for what the stream says, or else a 25th of a second.
    public var frameDuration: CMTime?
    /// The presentation time of the first frame.
    public var startTime = CMTime.zero
    /// How many frames may come before one in decoding order and after it in output order; nil for what the stream
    /// says. A sample buffer is returned once its place is sure: with 0, which only a stream without B pictures
    /// allows, without delay.
    public var maxReorderFrames: Int?

    public init() {}
  }

  /// The largest NAL unit that is waited for, in bytes. Tests lower it.
  var maxUnitSize = 1 << 28
  /// The largest access unit that is waited for, in bytes, with `unitCost` more for each of its NAL units. Tests lower it.
  var maxAccessUnitSize = 1 << 28
  /// What a NAL unit takes beside its bytes, at most: as a value, and the head of its memory.
  static let unitCost = 96

  /// What format descriptions may take that come at once, in bytes; beyond it, `descriptionShare` for each
  /// byte of the stream. A few bytes may have a new one made of many. Tests lower it.
  var maxDescriptionSize = 1 << 24
  static let descriptionShare = 64

  /// The codec of the stream.
  public let codec: ElementaryStreamCodec
  /// The format of the last sample buffer that was made.
  public private(set) var formatDescription: CMFormatDescription?

  private let options: Options
  private var parser = AnnexBParser()
  private var splitter: any AccessUnitSplitter
  /// What the NAL units take that belong to no complete access unit yet.
  private var waiting = 0
  private var parameterSets: ParameterSetStore
  /// Format descriptions of the parameter sets as they are now, by the sequence parameter set that is in use: a stream
  /// may change it with each picture. Nil where there are not enough.
  private var descriptions: [Int?: CMFormatDescription?] = [:]
  /// The last ones with the sets that they were made of, the newest first: a stream may go back to what it
  /// had.
  private var recent: [(sets: [Data], description: CMFormatDescription)] = []
  /// The sets of the last sync sample are in no description.
  private var isDescriptionOld = false
  /// What format descriptions take that were made, less what the stream had them for.
  private var descriptionSize = 0
  private var order = OutputOrder<Frame>()
  private var decodeIndex = 0
  private var decodeLead: Int?
  private var duration: CMTime?

  /// A picture whose place in output order is not sure yet.
  private struct Frame {
    let data: CMBlockBuffer
    let size: Int
    let format: CMFormatDescription
    let picture: AccessUnit.Picture?
    let decodeIndex: Int
  }

  /// - Throws: `ElementaryStreamError.invalidLengthSize`.
  public init(codec: ElementaryStreamCodec, options: Options = Options()) throws {
    try AnnexB.check(lengthSize: options.lengthSize)
    self.codec = codec
    self.options = options
    parameterSets = ParameterSetStore(codec: codec)
    splitter = codec == .h264 ? H264AccessUnitSplitter() : HEVCAccessUnitSplitter()
  }

  /// Adds bytes, as many as there are, and returns the sample buffers that are complete now.
  ///
  /// - Throws: `ElementaryStreamError.unitTooLong`, `accessUnitTooLong`. What is too long is dropped, and so is what else came
  ///   of the same bytes: a stream that nobody vouches for is given in pieces. The next bytes are taken as before.
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

  /// Returns the last sample buffers.
  public mutating func finish() throws -> [CMSampleBuffer] {
    var samples: [CMSampleBuffer] = []
    for unit in parser.finish() { try append(NALUnit(codec: codec, data: unit), to: &samples) }
    waiting = 0
    if let last = splitter.finish() { try append(last, to: &samples) }
    for (frame, place) in order.finish() { samples.append(try sample(frame, place: place)) }
    return samples
  }

  private mutating func append(_ unit: NALUnit, to samples: inout [CMSampleBuffer]) throws {
    guard unit.type != nil else { return }
    descriptionSize = max(0, descriptionSize - unit.data.count * Self.descriptionShare)
    waiting += Self.cost(unit)
    if let complete = splitter.append(unit) {
      for unit in complete.units { waiting -= Self.cost(unit) }
      try append(complete, to: &samples)
    }
    // Units that are no slices may come for ever.
    if waiting > maxAccessUnitSize {
      let size = waiting
      waiting = 0
      _ = splitter.finish()
      throw ElementaryStreamError.accessUnitTooLong(size)
    }
  }

  private static func cost(_ unit: NALUnit) -> Int { unit.data.count + unitCost }

  private mutating func append(_ access: AccessUnit, to samples: inout [CMSampleBuffer]) throws {
    let (changed, isComplete) = parameterSets.add(access.units)
    if changed { descriptions.removeAll() }
    let sizeBefore = descriptionSize
    // A decoder cannot begin anew within a sequence: there, parameter sets that change are for it to find.
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
    // What waits keeps the description that was made for it.
    let ready = order.add(
      frame, size: size + descriptionSize - sizeBefore, order: access.picture?.order,
      startsSequence: access.picture?.startsSequence ?? true, maxReorder: maxReorder)
    for (frame, place) in ready { samples.append(try sample(frame, place: place)) }
  }

  /// Nil if there are not enough sets, or descriptions take too much: the sets then stay in the samples.
  private mutating func description(of sequenceID: Int?) -> CMFormatDescription? {
    if let known = descriptions[sequenceID] { return known }
    let sets = parameterSets.sorted(sequenceID: sequenceID)
    var made: CMFormatDescription?
    if let index = recent.firstIndex(where: { $0.sets == sets }) {
      let found = recent.remove(at: index)
      recent.insert(found, at: 0)
      made = found.description
    } else {
      // As a record and at an address that stays, beside all that is said of the pictures.
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

  private func sample(_ frame: Frame, place: Int) throws -> CMSampleBuffer {
    let duration = duration ?? CMTime(value: 1, timescale: 25)
    func time(_ index: Int) -> CMTime {
      options.startTime + CMTimeMultiply(duration, multiplier: Int32(clamping: index))
    }
    // Shown no sooner than decoded, even where a stream reorders more than it said at first.
    let decode = min(frame.decodeIndex - (decodeLead ?? 0), place)
    let sample = try CMSampleBuffer(
      dataBuffer: frame.data, formatDescription: frame.format, numSamples: 1,
      sampleTimings: [
        CMSampleTimingInfo(
          duration: duration, presentationTimeStamp: time(place), decodeTimeStamp: time(decode))
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

  /// NAL units with their length before them, written to their place at once.
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

/// The parameter sets of a stream as they are now.
struct ParameterSetStore {
  /// What a format description can hold of one, and what is kept of all, in bytes: more than a stream needs.
  static let largestSet = 65_535
  static let mostBytes = 1 << 17

  let codec: ElementaryStreamCodec
  /// By type and identifier.
  private var sets: [Key: Data] = [:]
  /// Of all sets.
  private(set) var byteCount = 0

  private struct Key: Hashable {
    let type: Int
    let id: Int
  }

  init(codec: ElementaryStreamCodec) { self.codec = codec }

  /// Adds the parameter sets among NAL units; returns whether any was new or different, and whether all of
  /// them are kept. Where they are too many, the largest is dropped, which may be the new one.
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
      while byteCount > Self.mostBytes, let largest = sets.max(by: { $0.value.count < $1.value.count }) {
        byteCount -= largest.value.count
        sets[largest.key] = nil
        isComplete = false
      }
    }
    return (changed, isComplete)
  }

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

  /// All parameter sets, in the order in which a format description has them.
  ///
  /// - Parameter sequenceID: Of the sequence parameter set that is in use, which a description is made from.
  func sorted(sequenceID: Int?) -> [Data] {
    let sequenceType = codec == .h264 ? 7 : 33
    return sets.sorted { a, b in
      func rank(_ key: Key) -> (Int, Int, Int) {
        (key.type, key.type == sequenceType && key.id == sequenceID ? 0 : 1, key.id)
      }
      return rank(a.key) < rank(b.key)
    }.map(\.value)
  }

  /// A format description with sorted parameter sets; nil if there are not enough.
  static func formatDescription(
    _ codec: ElementaryStreamCodec, _ sorted: [Data], lengthSize: Int
  ) -> CMFormatDescription? {
    switch codec {
    case .h264: try? CMFormatDescription(h264ParameterSets: sorted, nalUnitHeaderLength: lengthSize)
    case .hevc: try? CMFormatDescription(hevcParameterSets: sorted, nalUnitHeaderLength: lengthSize)
    }
  }
}
