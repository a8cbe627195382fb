/// A sequence parameter set of HEVC: clause 7.3.2.2 and Annex E.
package struct HEVCSequenceParameterSet: Sendable {
  /// profile_tier_level() without sub-layers, as `hvcC` repeats it.
  package var general = ProfileTierLevel()
  package var videoParameterSetID = 0
  package var id = 0
  package var subLayers = 1
  package var isTemporalNested = false
  package var chromaFormat = 1
  package var hasSeparatePlanes = false
  package var bitDepthLuma = 8
  package var bitDepthChroma = 8
  package var codedWidth = 0
  package var codedHeight = 0
  package var pictureOrderLSBBits = 4
  package var maxReorderPictures = 0
  package var maxDecodedPictures = 1
  package var minCodingBlockLog2 = 3
  package var codingTreeBlockLog2 = 4
  /// In luma samples.
  package var crop = (left: 0, right: 0, top: 0, bottom: 0)
  /// The default display window, in luma samples from the cropped picture's edges; nil if there is none.
  package var displayWindow: (left: Int, right: Int, top: Int, bottom: Int)?
  package var isFieldSequence = false
  package var usability = VideoUsability()

  package struct ProfileTierLevel: Sendable {
    package var profileSpace = 0
    package var isHighTier = false
    package var profile = 0
    package var compatibility: UInt32 = 0
    /// 48 bits: progressive, interlaced, non-packed, frame-only and the constraints of the profile.
    package var constraints: UInt64 = 0
    package var level = 0

    package var isProgressiveSource: Bool { constraints >> 47 & 1 == 1 }
    package var isInterlacedSource: Bool { constraints >> 46 & 1 == 1 }
  }

  /// Of the picture that is shown.
  package var width: Int { codedWidth - crop.left - crop.right }
  package var height: Int { codedHeight - crop.top - crop.bottom }
  package var isInterlaced: Bool {
    isFieldSequence || (general.isInterlacedSource && !general.isProgressiveSource)
  }

  /// - Parameter nalUnit: The whole NAL unit, without a start code or a length before it.
  package init<Bytes: Collection<UInt8>>(nalUnit: Bytes) throws {
    guard let header = nalUnit.first, header >> 1 == 33 else { throw ParameterSetError.invalid }
    var reader = RBSPReader(nalUnit: nalUnit, headerLength: 2)
    videoParameterSetID = try reader.bits(4)
    let maxSubLayer = try reader.bits(3)
    guard maxSubLayer <= 6 else { throw ParameterSetError.invalid }
    subLayers = maxSubLayer + 1
    isTemporalNested = try reader.bit()
    try readProfileTierLevel(&reader)
    id = try reader.ue(max: 15)
    try readGeometry(&reader)
    try readCodingTools(&reader)
    if try reader.bit() {
      // It is of no use to decoding: what was read before an error counts.
      do { try readUsability(&reader) } catch {}
    }
  }

  private mutating func readProfileTierLevel(_ reader: inout RBSPReader) throws {
    general.profileSpace = try reader.bits(2)
    general.isHighTier = try reader.bit()
    general.profile = try reader.bits(5)
    general.compatibility = UInt32(try reader.bits(32))
    general.constraints = UInt64(try reader.bits(32)) << 16 | UInt64(try reader.bits(16))
    general.level = try reader.bits(8)
    var present: [(profile: Bool, level: Bool)] = []
    for _ in 1..<subLayers { present.append((try reader.bit(), try reader.bit())) }
    if subLayers > 1 { try reader.skip(2 * (9 - subLayers)) }
    for layer in present { try reader.skip((layer.profile ? 88 : 0) + (layer.level ? 8 : 0)) }
  }

  private mutating func readGeometry(_ reader: inout RBSPReader) throws {
    chromaFormat = try reader.ue(max: 3)
    if chromaFormat == 3 { hasSeparatePlanes = try reader.bit() }
    codedWidth = try reader.ue(max: 65535)
    codedHeight = try reader.ue(max: 65535)
    if try reader.bit() { crop = try readWindow(&reader) }
    guard width > 0, height > 0 else { throw ParameterSetError.invalid }
    bitDepthLuma = try reader.ue(max: 8) + 8
    bitDepthChroma = try reader.ue(max: 8) + 8
    pictureOrderLSBBits = try reader.ue(max: 12) + 4
    let hasAllSubLayers = try reader.bit()
    for _ in (hasAllSubLayers ? 0 : subLayers - 1)..<subLayers {
      maxDecodedPictures = try reader.ue(max: 16) + 1
      maxReorderPictures = try reader.ue(max: 16)
      _ = try reader.ue()
    }
  }

  /// A window's offsets in luma samples.
  private func readWindow(_ reader: inout RBSPReader) throws
    -> (left: Int, right: Int, top: Int, bottom: Int)
  {
    let chroma = hasSeparatePlanes ? 0 : chromaFormat
    let unitX = chroma == 1 || chroma == 2 ? 2 : 1
    let unitY = chroma == 1 ? 2 : 1
    return (
      try reader.ue(max: 65535) * unitX, try reader.ue(max: 65535) * unitX,
      try reader.ue(max: 65535) * unitY, try reader.ue(max: 65535) * unitY
    )
  }

  private mutating func readCodingTools(_ reader: inout RBSPReader) throws {
    minCodingBlockLog2 = try reader.ue(max: 3) + 3
    codingTreeBlockLog2 = minCodingBlockLog2 + (try reader.ue(max: 3))
    for _ in 0..<4 { _ = try reader.ue(max: 5) }
    if try reader.bit(), try reader.bit() { try Self.skipScalingLists(&reader) }
    try reader.skip(2)  // amp_enabled_flag, sample_adaptive_offset_enabled_flag
    if try reader.bit() {
      try reader.skip(8)
      _ = try reader.ue(max: 5)
      _ = try reader.ue(max: 5)
      try reader.skip(1)
    }
    try skipReferencePictureSets(&reader)
    if try reader.bit() {
      for _ in 0..<(try reader.ue(max: 32)) { try reader.skip(pictureOrderLSBBits + 1) }
    }
    try reader.skip(2)  // sps_temporal_mvp_enabled_flag, strong_intra_smoothing_enabled_flag
  }

  private static func skipScalingLists(_ reader: inout RBSPReader) throws {
    for size in 0..<4 {
      for _ in stride(from: 0, to: 6, by: size == 3 ? 3 : 1) {
        if try !reader.bit() {
          _ = try reader.ue()
        } else {
          if size > 1 { _ = try reader.se() }
          for _ in 0..<min(64, 1 << (4 + size * 2)) { _ = try reader.se() }
        }
      }
    }
  }

  /// st_ref_pic_set() for all sets: their sizes have to be known to read the next ones.
  private func skipReferencePictureSets(_ reader: inout RBSPReader) throws {
    var sizes: [Int] = []
    for index in 0..<(try reader.ue(max: 64)) {
      if index > 0, try reader.bit() {
        try reader.skip(1)  // delta_rps_sign
        _ = try reader.ue()
        var size = 0
        for _ in 0...sizes[index - 1] {
          let isUsed = try reader.bit()
          let isKept = try isUsed || reader.bit()
          if isKept { size += 1 }
        }
        guard size <= 16 else { throw ParameterSetError.invalid }
        sizes.append(size)
      } else {
        let negative = try reader.ue(max: 16)
        let positive = try reader.ue(max: 16)
        guard negative + positive <= 16 else { throw ParameterSetError.invalid }
        for _ in 0..<(negative + positive) {
          _ = try reader.ue()
          try reader.skip(1)
        }
        sizes.append(negative + positive)
      }
    }
  }

  private mutating func readUsability(_ reader: inout RBSPReader) throws {
    try usability.readAspectRatio(&reader)
    if try reader.bit() { try reader.skip(1) }  // overscan
    try usability.readVideoSignal(&reader)
    try usability.readChromaLocation(&reader)
    try reader.skip(1)  // neutral_chroma_indication_flag
    isFieldSequence = try reader.bit()
    usability.hasPictureStructure = try reader.bit()
    if try reader.bit() {
      let window = try readWindow(&reader)
      if window.left + window.right < width, window.top + window.bottom < height { displayWindow = window }
    }
    if try reader.bit() {
      let units = try reader.bits(32)
      let scale = try reader.bits(32)
      if units > 0, scale > 0 { usability.timing = (units, scale) }
    }
  }
}
