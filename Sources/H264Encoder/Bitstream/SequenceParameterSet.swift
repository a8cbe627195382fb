/// A profile and the constraint_set flags that say it (A.2).
enum Profile: Sendable {
  case constrainedBaseline, main, constrainedHigh, high

  var profileIDC: UInt8 {
    switch self {
    case .constrainedBaseline: 66
    case .main: 77
    case .constrainedHigh, .high: 100
    }
  }

  /// constraint_set0_flag in the highest bit ... constraint_set5_flag; the last two bits are zero.
  var constraintFlags: UInt8 {
    switch self {
    case .constrainedBaseline: 0b1100_0000
    case .main: 0b0100_0000
    case .constrainedHigh: 0b0000_1100
    case .high: 0
    }
  }

  var allowsCABAC: Bool { self != .constrainedBaseline }
  var allowsTransform8x8: Bool { self == .high || self == .constrainedHigh }
  /// level_prefix above 15 (CAVLC) is for the High profiles only: elsewhere a level stays within
  /// -2063...2063.
  var allowsLongLevels: Bool { allowsTransform8x8 }
  /// cpbBrNalFactor (A.3.1, Table A-2): bits for each unit of MaxBR and MaxCPB.
  var nalFactor: Int { allowsTransform8x8 ? 1500 : 1200 }
}

/// seq_parameter_set_data() (7.3.2.1.1) for progressive 4:2:0 video of 8 bits.
struct SequenceParameterSet: Equatable, Sendable {
  var profile: Profile = .high
  var level: Level
  var id = 0
  /// 4...16
  var log2MaxFrameNum = 8
  /// 0, or 2: output order is decoding order.
  var pictureOrderCountType = 2
  /// 4...16, for type 0.
  var log2MaxPictureOrderCountLSB = 8
  var maxReferenceFrames = 1
  var gapsInFrameNumAllowed = false
  /// Luma samples, both even.
  var width: Int
  var height: Int
  var vui: VideoUsabilityInformation? = nil

  var widthInMbs: Int { (width + 15) / 16 }
  var heightInMbs: Int { (height + 15) / 16 }

  init(level: Level, width: Int, height: Int) {
    self.level = level
    self.width = width
    self.height = height
  }

  /// profile_idc, the constraint_set flags and level_idc, as the parameter set (and avcC) hold them.
  var profileAndLevel: (profileIDC: UInt8, constraintFlags: UInt8, levelIDC: UInt8) {
    var flags = profile.constraintFlags
    var levelIDC = level.number
    // Level 1b is level_idc 9 in the High profiles, else 11 with constraint_set3_flag.
    if level.number == 9 && !profile.allowsTransform8x8 {
      flags |= 0b0001_0000
      levelIDC = 11
    }
    return (profile.profileIDC, flags, levelIDC)
  }

  /// Writes the payload, trailing bits included.
  func write(to bits: inout BitWriter) {
    let (profileIDC, flags, levelIDC) = profileAndLevel
    bits.put(UInt32(profileIDC), 8)
    bits.put(UInt32(flags), 8)
    bits.put(UInt32(levelIDC), 8)
    bits.ue(id)
    if profile.allowsTransform8x8 {
      bits.ue(1)  // chroma_format_idc: 4:2:0
      bits.ue(0)  // bit_depth_luma_minus8
      bits.ue(0)  // bit_depth_chroma_minus8
      bits.flag(false)  // qpprime_y_zero_transform_bypass_flag
      bits.flag(false)  // seq_scaling_matrix_present_flag
    }
    bits.ue(log2MaxFrameNum - 4)
    bits.ue(pictureOrderCountType)
    if pictureOrderCountType == 0 { bits.ue(log2MaxPictureOrderCountLSB - 4) }
    bits.ue(maxReferenceFrames)
    bits.flag(gapsInFrameNumAllowed)
    bits.ue(widthInMbs - 1)
    bits.ue(heightInMbs - 1)
    bits.flag(true)  // frame_mbs_only_flag
    bits.flag(true)  // direct_8x8_inference_flag
    let cropRight = (widthInMbs * 16 - width) / 2
    let cropBottom = (heightInMbs * 16 - height) / 2
    let crops = cropRight > 0 || cropBottom > 0
    bits.flag(crops)
    if crops {
      bits.ue(0)
      bits.ue(cropRight)
      bits.ue(0)
      bits.ue(cropBottom)
    }
    bits.flag(vui != nil)
    vui?.write(to: &bits)
    bits.trailingBits()
    bits.flush()
  }
}
