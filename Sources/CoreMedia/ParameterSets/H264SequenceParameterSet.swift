/// A sequence parameter set of H.264: clause 7.3.2.1.1 and Annex E.
package struct H264SequenceParameterSet: Sendable {
  package var profile = 0
  package var constraints = 0
  package var level = 0
  package var id = 0
  package var chromaFormat = 1
  package var hasSeparatePlanes = false
  package var bitDepthLuma = 8
  package var bitDepthChroma = 8
  package var frameNumBits = 4
  package var pictureOrderType = 0
  package var pictureOrderLSBBits = 4
  package var deltaPictureOrderAlwaysZero = false
  package var offsetForNonReference = 0
  package var offsetForTopToBottom = 0
  package var offsetsForReferenceFrames: [Int] = []
  package var maxReferenceFrames = 0
  package var allowsFrameNumGaps = false
  package var codedWidth = 0
  package var codedHeight = 0
  package var isFrameOnly = true
  /// In luma samples.
  package var crop = (left: 0, right: 0, top: 0, bottom: 0)
  package var usability = VideoUsability()

  /// Of the picture that is shown.
  package var width: Int { codedWidth - crop.left - crop.right }
  package var height: Int { codedHeight - crop.top - crop.bottom }

  /// The profiles whose parameter sets say the chroma format and more.
  package static let highProfiles: Set<Int> = [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135]

  /// - Parameter nalUnit: The whole NAL unit, without a start code or a length before it.
  package init<Bytes: Collection<UInt8>>(nalUnit: Bytes) throws {
    guard let header = nalUnit.first, header & 0x80 == 0, header & 0x1F == 7 else {
      throw ParameterSetError.invalid
    }
    var reader = RBSPReader(nalUnit: nalUnit, headerLength: 1)
    profile = try reader.bits(8)
    constraints = try reader.bits(8)
    level = try reader.bits(8)
    id = try reader.ue(max: 31)
    if Self.highProfiles.contains(profile) { try readHighProfile(&reader) }
    frameNumBits = try reader.ue(max: 12) + 4
    try readPictureOrder(&reader)
    maxReferenceFrames = try reader.ue(max: 16)
    allowsFrameNumGaps = try reader.bit()
    try readGeometry(&reader)
    if try reader.bit() {
      // It is of no use to decoding: what was read before an error counts.
      do { try readUsability(&reader) } catch {}
    }
  }

  private mutating func readHighProfile(_ reader: inout RBSPReader) throws {
    chromaFormat = try reader.ue(max: 3)
    if chromaFormat == 3 { hasSeparatePlanes = try reader.bit() }
    bitDepthLuma = try reader.ue(max: 6) + 8
    bitDepthChroma = try reader.ue(max: 6) + 8
    try reader.skip(1)  // qpprime_y_zero_transform_bypass_flag
    guard try reader.bit() else { return }
    for index in 0..<(chromaFormat == 3 ? 12 : 8) where try reader.bit() {
      try Self.skipScalingList(&reader, count: index < 6 ? 16 : 64)
    }
  }

  /// scaling_list(): the list ends where the next scale becomes 0.
  private static func skipScalingList(_ reader: inout RBSPReader, count: Int) throws {
    var last = 8
    for _ in 0..<count {
      let next = (last + (try reader.se())) & 0xFF
      if next == 0 { return }
      last = next
    }
  }

  private mutating func readPictureOrder(_ reader: inout RBSPReader) throws {
    pictureOrderType = try reader.ue(max: 2)
    if pictureOrderType == 0 {
      pictureOrderLSBBits = try reader.ue(max: 12) + 4
    } else if pictureOrderType == 1 {
      deltaPictureOrderAlwaysZero = try reader.bit()
      offsetForNonReference = try reader.se()
      offsetForTopToBottom = try reader.se()
      for _ in 0..<(try reader.ue(max: 255)) { offsetsForReferenceFrames.append(try reader.se()) }
    }
  }

  private mutating func readGeometry(_ reader: inout RBSPReader) throws {
    // 4096 macroblocks, 65536 samples, are more than any level allows.
    codedWidth = (try reader.ue(max: 4095) + 1) * 16
    let mapUnits = try reader.ue(max: 4095) + 1
    isFrameOnly = try reader.bit()
    codedHeight = mapUnits * (isFrameOnly ? 16 : 32)
    if !isFrameOnly { try reader.skip(1) }  // mb_adaptive_frame_field_flag
    try reader.skip(1)  // direct_8x8_inference_flag
    guard try reader.bit() else { return }
    let chroma = hasSeparatePlanes ? 0 : chromaFormat
    let unitX = chroma == 1 || chroma == 2 ? 2 : 1
    let unitY = (chroma == 1 ? 2 : 1) * (isFrameOnly ? 1 : 2)
    crop.left = try reader.ue(max: 65535) * unitX
    crop.right = try reader.ue(max: 65535) * unitX
    crop.top = try reader.ue(max: 65535) * unitY
    crop.bottom = try reader.ue(max: 65535) * unitY
    guard width > 0, height > 0 else { throw ParameterSetError.invalid }
  }

  private mutating func readUsability(_ reader: inout RBSPReader) throws {
    try usability.readAspectRatio(&reader)
    if try reader.bit() { try reader.skip(1) }  // overscan
    try usability.readVideoSignal(&reader)
    try usability.readChromaLocation(&reader)
    if try reader.bit() {
      let units = try reader.bits(32)
      let scale = try reader.bits(32)
      if units > 0, scale > 0 { usability.timing = (units, scale) }
      try reader.skip(1)  // fixed_frame_rate_flag
    }
    let hasNALTiming = try reader.bit()
    if hasNALTiming { try Self.skipHypotheticalDecoder(&reader) }
    let hasVCLTiming = try reader.bit()
    if hasVCLTiming { try Self.skipHypotheticalDecoder(&reader) }
    if hasNALTiming || hasVCLTiming { try reader.skip(1) }  // low_delay_hrd_flag
    usability.hasPictureStructure = try reader.bit()
    if try reader.bit() {
      try reader.skip(1)  // motion_vectors_over_pic_boundaries_flag
      for _ in 0..<4 { _ = try reader.ue() }
      usability.maxReorderFrames = try reader.ue(max: 16)
      usability.maxDecodeFrameBuffering = try reader.ue(max: 16)
    }
  }

  private static func skipHypotheticalDecoder(_ reader: inout RBSPReader) throws {
    let count = try reader.ue(max: 31) + 1
    try reader.skip(8)
    for _ in 0..<count {
      _ = try reader.ue()
      _ = try reader.ue()
      try reader.skip(1)
    }
    try reader.skip(20)
  }
}
