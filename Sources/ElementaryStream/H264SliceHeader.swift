import CoreMedia

/// What of a picture parameter set of H.264 is needed to read slice headers: clause 7.3.2.2.
struct H264PictureParameterSet: Sendable {
  var id = 0
  var sequenceID = 0
  var hasBottomFieldOrder = false
  var defaultReferences = (list0: 1, list1: 1)
  var isWeighted = false
  var weightedBipredIDC = 0
  var hasRedundantPictures = false

  init(nalUnit: Data) throws {
    guard let header = nalUnit.first, header & 31 == 8 else { throw ParameterSetError.invalid }
    var reader = RBSPReader(nalUnit: nalUnit, headerLength: 1)
    id = try reader.ue(max: 255)
    sequenceID = try reader.ue(max: 31)
    try reader.skip(1)  // entropy_coding_mode_flag
    hasBottomFieldOrder = try reader.bit()
    try Self.skipSliceGroups(&reader)
    defaultReferences = (try reader.ue(max: 31) + 1, try reader.ue(max: 31) + 1)
    isWeighted = try reader.bit()
    weightedBipredIDC = try reader.bits(2)
    for _ in 0..<3 { _ = try reader.se() }
    try reader.skip(2)  // deblocking_filter_control_present_flag, constrained_intra_pred_flag
    hasRedundantPictures = try reader.bit()
  }

  private static func skipSliceGroups(_ reader: inout RBSPReader) throws {
    let groups = try reader.ue(max: 7) + 1
    guard groups > 1 else { return }
    switch try reader.ue(max: 6) {
    case 0: for _ in 0..<groups { _ = try reader.ue() }
    case 2:
      for _ in 0..<(groups - 1) {
        _ = try reader.ue()
        _ = try reader.ue()
      }
    case 3, 4, 5:
      try reader.skip(1)
      _ = try reader.ue()
    case 6:
      let count = try reader.ue() + 1
      let bits = groups > 4 ? 3 : groups > 2 ? 2 : 1
      guard count <= reader.bitsLeft / bits else { throw ParameterSetError.truncated }
      try reader.skip(count * bits)
    default: break
    }
  }
}

/// The parts of a slice header of H.264 that tell pictures apart and order them: clause 7.3.3.
struct H264SliceHeader: Sendable {
  var isIDR = false
  var referenceIDC = 0
  var sliceType = 0
  var pictureID = 0
  var sequenceID = 0
  var frameNum = 0
  var isField = false
  var isBottomField = false
  var idrPictureID = 0
  var orderLSB = 0
  var deltaBottom = 0
  var delta = (0, 0)
  var redundantCount = 0
  /// memory_management_control_operation 5: all earlier pictures are output, and counting begins anew.
  var resetsOrder = false

  var isIntra: Bool { sliceType % 5 == 2 || sliceType % 5 == 4 }

  init(
    nalUnit: Data, sequences: [Int: H264SequenceParameterSet], pictures: [Int: H264PictureParameterSet]
  ) throws {
    guard let header = nalUnit.first else { throw ParameterSetError.truncated }
    // A slice header is short: there is no need to take the emulation prevention out of the whole slice.
    var reader = RBSPReader(nalUnit: nalUnit.prefix(512), headerLength: 1)
    isIDR = header & 31 == 5
    referenceIDC = Int(header >> 5 & 3)
    _ = try reader.ue()  // first_mb_in_slice
    sliceType = try reader.ue(max: 9)
    pictureID = try reader.ue(max: 255)
    guard let picture = pictures[pictureID], let sequence = sequences[picture.sequenceID] else {
      throw ParameterSetError.invalid
    }
    sequenceID = picture.sequenceID
    if sequence.hasSeparatePlanes { try reader.skip(2) }
    frameNum = try reader.bits(sequence.frameNumBits)
    if !sequence.isFrameOnly {
      isField = try reader.bit()
      if isField { isBottomField = try reader.bit() }
    }
    if isIDR { idrPictureID = try reader.ue(max: 65535) }
    if sequence.pictureOrderType == 0 {
      orderLSB = try reader.bits(sequence.pictureOrderLSBBits)
      if picture.hasBottomFieldOrder, !isField { deltaBottom = try reader.se() }
    } else if sequence.pictureOrderType == 1, !sequence.deltaPictureOrderAlwaysZero {
      delta.0 = try reader.se()
      if picture.hasBottomFieldOrder, !isField { delta.1 = try reader.se() }
    }
    if picture.hasRedundantPictures { redundantCount = try reader.ue(max: 127) }
    if referenceIDC > 0, !isIDR {
      // Data that is cut or damaged here is still a picture of that order.
      resetsOrder = (try? readMarking(&reader, sequence, picture)) ?? false
    }
  }

  /// Whether the marking of reference pictures resets the order; reads all that stands before it.
  private func readMarking(
    _ reader: inout RBSPReader, _ sequence: H264SequenceParameterSet, _ picture: H264PictureParameterSet
  ) throws -> Bool {
    let kind = sliceType % 5  // P, B, I, SP, SI
    if kind == 1 { try reader.skip(1) }  // direct_spatial_mv_pred_flag
    var references = [picture.defaultReferences.list0, picture.defaultReferences.list1]
    if kind == 0 || kind == 1 || kind == 3, try reader.bit() {
      references[0] = try reader.ue(max: 31) + 1
      if kind == 1 { references[1] = try reader.ue(max: 31) + 1 }
    }
    let lists = kind == 1 ? 2 : kind == 2 || kind == 4 ? 0 : 1
    for _ in 0..<lists where try reader.bit() {
      while try reader.ue(max: 3) != 3 { _ = try reader.ue() }
    }
    if picture.isWeighted && lists == 1 || picture.weightedBipredIDC == 1 && kind == 1 {
      let hasChroma = sequence.chromaFormat != 0 && !sequence.hasSeparatePlanes
      _ = try reader.ue()
      if hasChroma { _ = try reader.ue() }
      for list in 0..<lists {
        for _ in 0..<references[list] {
          if try reader.bit() { for _ in 0..<2 { _ = try reader.se() } }
          if hasChroma, try reader.bit() { for _ in 0..<4 { _ = try reader.se() } }
        }
      }
    }
    guard try reader.bit() else { return false }
    var resets = false
    while true {
      let operation = try reader.ue(max: 6)
      if operation == 0 { return resets }
      if operation == 5 { resets = true }
      if operation == 1 || operation == 3 { _ = try reader.ue() }
      if operation == 2 { _ = try reader.ue() }
      if operation == 3 || operation == 6 { _ = try reader.ue() }
      if operation == 4 { _ = try reader.ue() }
    }
  }

  /// Whether a slice begins another picture than this one: clause 7.4.1.2.4.
  func isFirst(after previous: H264SliceHeader) -> Bool {
    frameNum != previous.frameNum || pictureID != previous.pictureID || sequenceID != previous.sequenceID
      || isField != previous.isField || isBottomField != previous.isBottomField
      || (referenceIDC == 0) != (previous.referenceIDC == 0) || isIDR != previous.isIDR
      || isIDR && idrPictureID != previous.idrPictureID || orderLSB != previous.orderLSB
      || deltaBottom != previous.deltaBottom || delta != previous.delta
  }

  /// Whether a slice begins the second field of the frame that this field begins.
  func isSecondField(of first: H264SliceHeader) -> Bool {
    isField && first.isField && isBottomField != first.isBottomField && frameNum == first.frameNum && !isIDR
      && (first.referenceIDC > 0 || referenceIDC == 0) && !first.resetsOrder
  }
}
