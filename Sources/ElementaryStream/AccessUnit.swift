import CoreMedia

/// The NAL units of one picture, or of both fields of a frame, and what they say of it.
struct AccessUnit: Sendable {
  var units: [NALUnit] = []
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

  var hasSlice: Bool { units.contains(where: \.isSlice) }
}

/// Puts NAL units together to access units.
protocol AccessUnitSplitter: Sendable {
  /// Adds a NAL unit; returns an access unit that it shows to be complete.
  mutating func append(_ unit: NALUnit) -> AccessUnit?
  /// The last access unit.
  mutating func finish() -> AccessUnit?
}

/// A frame's duration from the units of a tick and the ticks of a second; nil if there is none.
func frameDuration(_ timing: (unitsInTick: Int, timeScale: Int)?, ticks: Int) -> CMTime? {
  guard let timing, let scale = Int32(exactly: timing.timeScale) else { return nil }
  let duration = CMTime(value: Int64(timing.unitsInTick) * Int64(ticks), timescale: scale)
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
    guard let type = unit.type else { return nil }
    if type == 7, let set = try? H264SequenceParameterSet(nalUnit: unit.data) { sequences[set.id] = set }
    if type == 8, let set = try? H264PictureParameterSet(nalUnit: unit.data) { pictures[set.id] = set }
    // Types 1, 2 and 5 begin with a slice header; 3 and 4 are more of the same slice.
    if type == 1 || type == 2 || type == 5 { return appendSlice(unit) }
    if current.hasSlice, !next.isEmpty || (6...9).contains(type) || (14...18).contains(type) {
      next.append(unit)
    } else {
      current.units.append(unit)
    }
    return nil
  }

  private mutating func appendSlice(_ unit: NALUnit) -> AccessUnit? {
    let slice = try? H264SliceHeader(nalUnit: unit.data, sequences: sequences, pictures: pictures)
    if let slice, slice.redundantCount > 0, current.hasSlice {
      current.units += next + [unit]
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
      current.units.append(unit)
      if let slice { note(slice, isFirst: false) }
      return nil
    }
    if let slice, let lastSlice, current.hasSlice, !isSecondField, slice.isSecondField(of: lastSlice) {
      current.units += next + [unit]
      next = []
      isSecondField = true
      note(slice, isFirst: true)
      return nil
    }
    let complete = current.hasSlice ? current : nil
    current.units = (complete == nil ? current.units : []) + next + [unit]
    current.picture = nil
    next = []
    isSecondField = false
    lastSlice = nil
    if let slice { note(slice, isFirst: true) }
    return complete
  }

  /// Adds what a slice says to the picture.
  private mutating func note(_ slice: H264SliceHeader, isFirst: Bool) {
    guard let sequence = sequences[slice.sequenceID] else { return }
    lastSlice = slice
    if !isFirst {
      if !slice.isIntra { current.picture?.isIntra = false }
      return
    }
    let count = order.order(of: slice, sequence)
    if isSecondField, var picture = current.picture {
      picture.isIntra = picture.isIntra && slice.isIntra
      picture.isReference = picture.isReference || slice.referenceIDC > 0
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
      isSync: slice.isIDR, isIntra: slice.isIntra, isReference: slice.referenceIDC > 0,
      startsSequence: slice.isIDR || slice.resetsOrder, order: count, sequenceID: slice.sequenceID,
      maxReorder: sequence.maxReorder, frameDuration: frameDuration(sequence.usability.timing, ticks: 2))
  }

  mutating func finish() -> AccessUnit? {
    current.units += next
    defer {
      current = AccessUnit()
      next = []
      lastSlice = nil
    }
    return current.hasSlice ? current : nil
  }
}

extension H264SequenceParameterSet {
  /// How many frames may come before one in decoding order and after it in output order.
  fileprivate var maxReorder: Int {
    if let said = usability.maxReorderFrames { return said }
    // Pictures in decoding order, and profiles without B pictures or with I pictures only.
    if pictureOrderType == 2 || profile == 66 || profile == 44 { return 0 }
    if constraints & 0x10 != 0, [86, 100, 110, 122, 244].contains(profile) { return 0 }
    let units = codedWidth / 16 * (codedHeight / 16)
    return min(16, (Self.decodedPictureBuffer[level] ?? 184_320) / max(units, 1))
  }

  /// Table A-1: MaxDpbMbs by level_idc.
  private static let decodedPictureBuffer: [Int: Int] = [
    9: 396, 10: 396, 11: 900, 12: 2376, 13: 2376, 20: 2376, 21: 4752, 22: 8100, 30: 8100, 31: 18000,
    32: 20480,
    40: 32768, 41: 32768, 42: 34816, 50: 110_400, 51: 184_320, 52: 184_320, 60: 696_320, 61: 696_320,
    62: 696_320,
  ]
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
    guard let type = unit.type else { return nil }
    if type == 33, let set = try? HEVCSequenceParameterSet(nalUnit: unit.data) { sequences[set.id] = set }
    if type == 34, let set = try? HEVCPictureParameterSet(nalUnit: unit.data) { pictures[set.id] = set }
    guard type < 32 else {
      let begins =
        (32...35).contains(type) || type == 39 || (41...44).contains(type) || (48...55).contains(type)
      if current.hasSlice, begins || !next.isEmpty {
        next.append(unit)
      } else {
        current.units.append(unit)
      }
      if type == 36 || type == 37 { isAtStart = true }
      return nil
    }
    // Pictures of other layers are left with that of the base layer.
    let isBaseLayer =
      unit.data.dropFirst().first.map { $0 >> 3 == 0 } == true && unit.data.first.map { $0 & 1 == 0 } == true
    guard !current.hasSlice || (isBaseLayer && (HEVCSliceHeader.isFirstSegment(unit.data) || !next.isEmpty))
    else {
      current.units.append(unit)
      return nil
    }
    let complete = current.hasSlice ? current : nil
    current.units = (complete == nil ? current.units : []) + next + [unit]
    current.picture = nil
    next = []
    note(unit)
    return complete
  }

  private mutating func note(_ unit: NALUnit) {
    guard let slice = try? HEVCSliceHeader(nalUnit: unit.data, sequences: sequences, pictures: pictures),
      let sequence = sequences[slice.sequenceID]
    else { return }
    let starts = slice.isIDR || slice.isBLA || slice.isIRAP && isAtStart
    isAtStart = isAtStart && !slice.isIRAP
    current.picture = AccessUnit.Picture(
      isSync: slice.isIRAP, isIntra: slice.isIRAP || slice.sliceType == 2,
      isReference: !(slice.isSubLayerNonReference && slice.temporalID == sequence.subLayers - 1),
      startsSequence: starts, order: order.order(of: slice, sequence, startsSequence: starts),
      sequenceID: slice.sequenceID, maxReorder: sequence.maxReorderPictures,
      frameDuration: frameDuration(sequence.usability.timing, ticks: 1))
  }

  mutating func finish() -> AccessUnit? {
    current.units += next
    defer {
      current = AccessUnit()
      next = []
      isAtStart = true
    }
    return current.hasSlice ? current : nil
  }
}
