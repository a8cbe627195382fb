// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import VideoBitstream

/// The NAL units of one picture, or of both fields of a frame, and what they say of it.
struct AccessUnit: Sendable {
  private(set) var units: [NALUnit] = []
  private(set) var hasSlice = false
  /// What its first slice says; nil if there is none that can be read.
  var picture: Picture?

  struct Picture: Sendable {
    /// Decoding can begin here.
    var isSync = false
    /// Needs no other picture.
    var isIntra = false
    /// Others may need it.
    var isReference = true
    /// All pictures before it are output before it, and its order counts anew.
    var startsSequence = false
    var order = 0
    /// Of the sequence parameter set.
    var sequenceID = 0
    /// How many pictures may come before one in decoding order and after it in output order.
    var maxReorder = 0
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

/// Puts NAL units together to access units.
protocol AccessUnitSplitter: Sendable {
  /// Adds a NAL unit; returns an access unit that it shows to be complete.
  mutating func append(_ unit: NALUnit) -> AccessUnit?
  /// The last access unit.
  mutating func finish() -> AccessUnit?
}

/// A frame's duration from the units of a tick and the ticks of a second; nil if there is none.
func frameDuration(_ tick: VideoTicks?, ticks: Int) -> CMTime? {
  guard let tick, tick.isValid, let scale = Int32(exactly: tick.timeScale) else { return nil }
  let duration = CMTime(value: Int64(tick.unitsInTick) * Int64(ticks), timescale: scale)
  // Nonsense, such as 1000 frames a second and more or less than one in a minute, is not believed.
  return duration.seconds >= 0.001 && duration.seconds <= 60 ? duration : nil
}

/// H.264: clause 7.4.1.2.
struct H264AccessUnitSplitter: AccessUnitSplitter {
  private var sequences: [Int: H264SequenceParameterSet] = [:]
  private var pictures: [Int: H264PictureParameterSet] = [:]
  private var order = H264PictureOrder()
  private var current = AccessUnit()
  /// NAL units that may belong to the next access unit.
  private var next: [NALUnit] = []
  private var lastSlice: H264SliceHeader?
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
      // Without parameter sets: the slice with the first macroblock begins a picture.
      isFirst = !next.isEmpty || unit.data.dropFirst().first.map { $0 & 0x80 != 0 } ?? false
    }
    guard isFirst else {
      current.append(unit)
      if let slice { note(slice, isFirst: false) }
      return nil
    }
    if let slice, let lastSlice, current.hasSlice, !isSecondField, slice.isSecondField(of: lastSlice) {
      current.append(next + [unit])
      next = []
      isSecondField = true
      note(slice, isFirst: true)
      return nil
    }
    let complete = current.hasSlice ? current : nil
    current = AccessUnit(units: (complete == nil ? current.units : []) + next + [unit])
    next = []
    isSecondField = false
    lastSlice = nil
    if let slice { note(slice, isFirst: true) }
    return complete
  }

  /// Adds what a slice says to the picture.
  private mutating func note(_ slice: H264SliceHeader, isFirst: Bool) {
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

/// HEVC: clause 7.4.2.4.
struct HEVCAccessUnitSplitter: AccessUnitSplitter {
  private var sequences: [Int: HEVCSequenceParameterSet] = [:]
  private var pictures: [Int: HEVCPictureParameterSet] = [:]
  private var order = HEVCPictureOrder()
  private var current = AccessUnit()
  private var next: [NALUnit] = []
  /// Nothing came yet, or the end of a sequence: the next random access point starts one.
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
    // Pictures of other layers are left with that of the base layer.
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
    note(unit)
    return complete
  }

  private mutating func note(_ unit: NALUnit) {
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
