import CoreMedia

/// What of a picture parameter set of HEVC is needed to read slice headers: clause 7.3.2.3.
struct HEVCPictureParameterSet: Sendable {
  var id = 0
  var sequenceID = 0
  var hasOutputFlag = false
  var extraHeaderBits = 0

  init(nalUnit: Data) throws {
    guard let header = nalUnit.first, header >> 1 & 63 == 34 else { throw ParameterSetError.invalid }
    var reader = RBSPReader(nalUnit: nalUnit, headerLength: 2)
    id = try reader.ue(max: 63)
    sequenceID = try reader.ue(max: 15)
    try reader.skip(1)  // dependent_slice_segments_enabled_flag
    hasOutputFlag = try reader.bit()
    extraHeaderBits = try reader.bits(3)
  }
}

/// The parts of the header of a picture's first slice segment in HEVC that order pictures: clause 7.3.6.
struct HEVCSliceHeader: Sendable {
  var type = 0
  var temporalID = 0
  /// 0 for B, 1 for P, 2 for I.
  var sliceType = 0
  var sequenceID = 0
  var orderLSB = 0

  var isIRAP: Bool { (16...23).contains(type) }
  var isIDR: Bool { type == 19 || type == 20 }
  var isBLA: Bool { (16...18).contains(type) }
  /// RADL and RASL pictures.
  var isLeading: Bool { (6...9).contains(type) }
  /// A picture that others of its sub-layer do not refer to.
  var isSubLayerNonReference: Bool { type <= 14 && type % 2 == 0 }

  static func isFirstSegment(_ nalUnit: Data) -> Bool {
    nalUnit.dropFirst(2).first.map { $0 & 0x80 != 0 } ?? false
  }

  init(
    nalUnit: Data, sequences: [Int: HEVCSequenceParameterSet], pictures: [Int: HEVCPictureParameterSet]
  ) throws {
    guard nalUnit.count > 2, let first = nalUnit.first, let second = nalUnit.dropFirst().first else {
      throw ParameterSetError.truncated
    }
    type = Int(first >> 1 & 63)
    temporalID = Int(second & 7) - 1
    var reader = RBSPReader(nalUnit: nalUnit.prefix(128), headerLength: 2)
    guard temporalID >= 0, try reader.bit() else { throw ParameterSetError.invalid }
    if isIRAP { try reader.skip(1) }  // no_output_of_prior_pics_flag
    guard let picture = pictures[try reader.ue(max: 63)], let sequence = sequences[picture.sequenceID] else {
      throw ParameterSetError.invalid
    }
    sequenceID = picture.sequenceID
    try reader.skip(picture.extraHeaderBits)
    sliceType = try reader.ue(max: 2)
    if picture.hasOutputFlag { try reader.skip(1) }
    if sequence.hasSeparatePlanes { try reader.skip(2) }
    if !isIDR { orderLSB = try reader.bits(sequence.pictureOrderLSBBits) }
  }
}

/// Counts the order of pictures in HEVC: clause 8.3.1.
struct HEVCPictureOrder: Sendable {
  private var previousMSB = 0
  private var previousLSB = 0

  /// The order of a picture among those since the last one that starts a sequence.
  ///
  /// - Parameter startsSequence: Whether the picture is a random access point with NoRaslOutputFlag equal to 1.
  mutating func order(of slice: HEVCSliceHeader, _ sequence: HEVCSequenceParameterSet, startsSequence: Bool)
    -> Int
  {
    let range = 1 << sequence.pictureOrderLSBBits
    var msb = previousMSB
    if startsSequence {
      msb = 0
    } else if slice.orderLSB < previousLSB, previousLSB - slice.orderLSB >= range / 2 {
      msb = previousMSB &+ range
    } else if slice.orderLSB > previousLSB, slice.orderLSB - previousLSB > range / 2 {
      msb = previousMSB &- range
    }
    if slice.temporalID == 0, !slice.isLeading, !slice.isSubLayerNonReference {
      (previousMSB, previousLSB) = (msb, slice.orderLSB)
    }
    return msb &+ slice.orderLSB
  }
}
