// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import VideoBitstream

/// The NAL units of one picture, or of both fields of a frame, and the properties of the picture.
struct AccessUnit: Sendable {
  /// The NAL units in decoding order.
  private(set) var units: [NALUnit] = []
  /// Whether one of the units is a slice.
  private(set) var hasSlice = false
  /// The properties of the picture by its slice headers; nil if the first slice cannot be parsed.
  var picture: Picture?

  /// The properties of a picture that its slice headers and parameter sets give.
  struct Picture: Sendable {
    /// Whether decoding can begin with the picture: IDR in H.264, IRAP in HEVC.
    var isSync = false
    /// Whether the picture can be decoded without any other picture.
    var isIntra = false
    /// Whether other pictures may refer to it.
    var isReference = true
    /// Whether all earlier pictures in decoding order are output before it, and the order count
    /// starts again.
    var startsSequence = false
    /// The picture order count, relative to the last picture with `startsSequence`.
    var order = 0
    /// The identifier of its sequence parameter set.
    var sequenceID = 0
    /// The most pictures that precede a picture in decoding order and follow it in output order.
    var maxReorder = 0
    /// The duration of a frame by the VUI; nil if the stream has none.
    var frameDuration: CMTime?
  }

  init() {}

  init(units: [NALUnit]) {
    self.units = units
    hasSlice = units.contains(where: \.isSlice)
  }

  mutating func append(_ unit: NALUnit) {
    units.append(unit)
    hasSlice = hasSlice || unit.isSlice
  }

  mutating func append(_ more: [NALUnit]) {
    for unit in more { append(unit) }
  }
}

/// Divides a sequence of NAL units into access units.
protocol AccessUnitSplitter: Sendable {
  /// Adds a NAL unit. Returns the access unit before it if the NAL unit shows that it is complete.
  mutating func append(_ unit: NALUnit) -> AccessUnit?
  /// Returns the last access unit at the end of the stream; nil if it has no slice.
  mutating func finish() -> AccessUnit?
}

/// Returns the duration of a frame.
/// - Parameters:
///   - tick: the clock tick; nil or an invalid one gives nil.
///   - ticks: the number of clock ticks in a frame.
/// - Returns: nil also if the duration is not within 0.001 to 60 seconds.
func frameDuration(_ tick: VideoTicks?, ticks: Int) -> CMTime? {
  guard let tick, tick.isValid, let scale = Int32(exactly: tick.timeScale) else { return nil }
  let duration = CMTime(value: Int64(tick.unitsInTick) * Int64(ticks), timescale: scale)
  // More than 1000 frames a second, or less than one a minute, is considered an error of the
  // stream.
  return duration.seconds >= 0.001 && duration.seconds <= 60 ? duration : nil
}

/// Divides H.264 streams into access units (7.4.1.2).
struct H264AccessUnitSplitter: AccessUnitSplitter {
  /// The sequence parameter sets by their identifiers.
  private var sequences: [Int: H264SequenceParameterSet] = [:]
  /// The picture parameter sets by their identifiers.
  private var pictures: [Int: H264PictureParameterSet] = [:]
  private var order = H264PictureOrder()
  private var current = AccessUnit()
  /// The NAL units behind the last slice that belong to the next access unit if a new picture
  /// follows.
  private var next: [NALUnit] = []
  /// The last slice header that was parsed in the current access unit.
  private var lastSlice: H264SliceHeader?
  /// Whether `current` contains the second field of its frame.
  private var isSecondField = false

  mutating func append(_ unit: NALUnit) -> AccessUnit? {
    guard let first = unit.data.first else { return nil }
    let type = H264NALUnitType(rawValue: first & 31)
    if type == .sequenceParameterSet, let set = try? H264SequenceParameterSet(nalUnit: unit.data) {
      sequences[set.id] = set
    }
    if type == .pictureParameterSet, let set = try? H264PictureParameterSet(nalUnit: unit.data) {
      pictures[set.id] = set
    }
    if type.hasSliceHeader { return appendSlice(unit) }
    if current.hasSlice, !next.isEmpty || type.beginsAccessUnit {
      next.append(unit)
    } else {
      current.append(unit)
    }
    return nil
  }

  /// Adds a slice, and returns the access unit before it if the slice begins a new one.
  private mutating func appendSlice(_ unit: NALUnit) -> AccessUnit? {
    let slice = try? H264SliceHeader(nalUnit: unit.data, sequences: sequences, pictures: pictures)
    if let slice, slice.redundantPictureCount > 0, current.hasSlice {
      current.append(next + [unit])
      next = []
      return nil
    }
    let isFirst: Bool
    if !current.hasSlice {
      isFirst = true
    } else if let slice, let lastSlice {
      isFirst = !next.isEmpty || slice.isFirst(after: lastSlice)
    } else {
      // Without parameter sets, a slice begins a picture if first_mb_in_slice is 0, which is a
      // single 1 bit.
      isFirst = !next.isEmpty || unit.data.dropFirst().first.map { $0 & 0x80 != 0 } ?? false
    }
    guard isFirst else {
      current.append(unit)
      if let slice { add(slice, isFirst: false) }
      return nil
    }
    if let slice, let lastSlice, current.hasSlice, !isSecondField, slice.isSecondField(of: lastSlice) {
      current.append(next + [unit])
      next = []
      isSecondField = true
      add(slice, isFirst: true)
      return nil
    }
    let complete = current.hasSlice ? current : nil
    current = AccessUnit(units: (complete == nil ? current.units : []) + next + [unit])
    next = []
    isSecondField = false
    lastSlice = nil
    if let slice { add(slice, isFirst: true) }
    return complete
  }

  /// Adds the properties of a slice to those of the picture.
  /// - Parameters:
  ///   - slice: the slice header.
  ///   - isFirst: whether it is the first slice of a frame or field.
  private mutating func add(_ slice: H264SliceHeader, isFirst: Bool) {
    guard let sequenceID = pictures[slice.pictureParameterSetID]?.sequenceParameterSetID,
      let sequence = sequences[sequenceID]
    else { return }
    lastSlice = slice
    if !isFirst {
      if !slice.isIntra { current.picture?.isIntra = false }
      return
    }
    let count = order.order(of: slice, sequence)
    if isSecondField, var picture = current.picture {
      picture.isIntra = picture.isIntra && slice.isIntra
      picture.isReference = picture.isReference || slice.refIDC > 0
      if slice.resetsOrder {
        picture.startsSequence = true
        picture.order = 0
      } else {
        picture.order = min(picture.order, count)
      }
      current.picture = picture
      return
    }
    current.picture = AccessUnit.Picture(
      isSync: slice.isIDR, isIntra: slice.isIntra, isReference: slice.refIDC > 0,
      startsSequence: slice.isIDR || slice.resetsOrder, order: count, sequenceID: sequenceID,
      maxReorder: sequence.maxReorderFrames,
      frameDuration: frameDuration(sequence.vui?.timing?.ticks, ticks: 2))
  }

  mutating func finish() -> AccessUnit? {
    current.append(next)
    defer {
      current = AccessUnit()
      next = []
      lastSlice = nil
    }
    return current.hasSlice ? current : nil
  }
}

/// Divides HEVC streams into access units (7.4.2.4).
struct HEVCAccessUnitSplitter: AccessUnitSplitter {
  /// The sequence parameter sets by their identifiers.
  private var sequences: [Int: HEVCSequenceParameterSet] = [:]
  /// The picture parameter sets by their identifiers.
  private var pictures: [Int: HEVCPictureParameterSet] = [:]
  private var order = HEVCPictureOrder()
  private var current = AccessUnit()
  private var next: [NALUnit] = []
  /// Whether the next IRAP picture starts a coded video sequence: at the start of the stream and
  /// after an end-of-sequence NAL unit.
  private var isAtStart = true

  mutating func append(_ unit: NALUnit) -> AccessUnit? {
    guard let number = unit.type else { return nil }
    let type = HEVCNALUnitType(rawValue: UInt8(number))
    if type == .sequenceParameterSet, let set = try? HEVCSequenceParameterSet(nalUnit: unit.data) {
      sequences[set.id] = set
    }
    if type == .pictureParameterSet, let set = try? HEVCPictureParameterSet(nalUnit: unit.data) {
      pictures[set.id] = set
    }
    guard type.isSlice else {
      if current.hasSlice, type.beginsAccessUnit || !next.isEmpty {
        next.append(unit)
      } else {
        current.append(unit)
      }
      if type == .endOfSequence || type == .endOfBitstream { isAtStart = true }
      return nil
    }
    // The pictures of other layers belong to the access unit of the base layer.
    let isBaseLayer =
      unit.data.dropFirst().first.map { $0 >> 3 == 0 } == true && unit.data.first.map { $0 & 1 == 0 } == true
    guard !current.hasSlice || (isBaseLayer && (HEVCSliceHeader.isFirstSegment(unit.data) || !next.isEmpty))
    else {
      current.append(unit)
      return nil
    }
    let complete = current.hasSlice ? current : nil
    current = AccessUnit(units: (complete == nil ? current.units : []) + next + [unit])
    next = []
    add(unit)
    return complete
  }

  private mutating func add(_ unit: NALUnit) {
    guard let slice = try? HEVCSliceHeader(nalUnit: unit.data, sequences: sequences, pictures: pictures),
      slice.isFirstInPicture,
      let sequenceID = pictures[slice.pictureParameterSetID]?.sequenceParameterSetID,
      let sequence = sequences[sequenceID]
    else { return }
    let type = slice.nal.type
    let starts = type.closesReferences || type.isIRAP && isAtStart
    isAtStart = isAtStart && !type.isIRAP
    current.picture = AccessUnit.Picture(
      isSync: type.isIRAP, isIntra: type.isIRAP || slice.isIntra,
      isReference: !(type.isSubLayerNonReference && Int(slice.nal.temporalID) == sequence.subLayerCount - 1),
      startsSequence: starts, order: order.order(of: slice, sequence, startsSequence: starts),
      sequenceID: sequenceID, maxReorder: sequence.ordering.highest.maxReorderPictures,
      frameDuration: frameDuration(sequence.vui?.timing?.ticks, ticks: 1))
  }

  mutating func finish() -> AccessUnit? {
    current.append(next)
    defer {
      current = AccessUnit()
      next = []
      isAtStart = true
    }
    return current.hasSlice ? current : nil
  }
}
