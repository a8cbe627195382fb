// SPDX-License-Identifier: Apache-2.0
/// seq_parameter_set_data() of H.264 (7.3.2.1.1).
package struct H264SequenceParameterSet: Equatable, Sendable {
  /// The syntax elements of pic_order_cnt_type 1, where order follows from frame_num and a cycle of
  /// offsets.
  package struct OrderCycle: Equatable, Sendable {
    /// delta_pic_order_always_zero_flag
    package var isDeltaAlwaysZero = false
    /// offset_for_non_ref_pic
    package var offsetForNonReference = 0
    package var offsetForTopToBottom = 0
    /// offset_for_ref_frame of each frame of the cycle, at most 255.
    package var offsetsForReferenceFrames: [Int] = []

    package init() {}
  }

  package var profileIDC = 66
  /// The eight bits that follow profile_idc: constraint_set0_flag in the highest.
  package var constraintFlags = 0
  package var levelIDC = 10
  /// seq_parameter_set_id, 0...31.
  package var id = 0
  /// chroma_format_idc: 0 grey, 1 4:2:0, 2 4:2:2, 3 4:4:4.
  package var chromaFormat = 1
  /// separate_colour_plane_flag, 4:4:4 only.
  package var hasSeparatePlanes = false
  /// bit_depth_luma_minus8 + 8, 8...14.
  package var bitDepthLuma = 8
  /// bit_depth_chroma_minus8 + 8, 8...14.
  package var bitDepthChroma = 8
  /// qpprime_y_zero_transform_bypass_flag
  package var isLosslessAtZero = false
  package var scalingLists: H264ScalingLists?
  /// log2_max_frame_num_minus4 + 4, 4...16.
  package var log2MaxFrameNum = 4
  /// pic_order_cnt_type. 0: by low bits in slice headers; 1: by a cycle of offsets; 2: output order
  /// is decoding order.
  package var pictureOrderCountType = 0
  /// log2_max_pic_order_cnt_lsb_minus4 + 4, 4...16, with pic_order_cnt_type 0.
  package var log2MaxPictureOrderCountLSB = 4
  /// The offsets of pic_order_cnt_type 1.
  package var orderCycle = OrderCycle()
  /// max_num_ref_frames, 0...16
  package var maxReferenceFrames = 0
  /// gaps_in_frame_num_value_allowed_flag
  package var gapsInFrameNumAllowed = false
  package var widthInMbs = 1
  /// pic_height_in_map_units_minus1 + 1: the macroblock rows of a frame, or of a field unless
  /// `isFrameOnly`.
  package var heightInMapUnits = 1
  /// frame_mbs_only_flag
  package var isFrameOnly = true
  /// mb_adaptive_frame_field_flag
  package var isMacroblockAdaptive = false
  /// direct_8x8_inference_flag
  package var direct8x8Inference = true
  /// The frame cropping offsets in units of `cropUnit`; nil: no cropping.
  package var cropping: CropOffsets?
  /// vui_parameters(); nil: not present.
  package var vui: H264VideoUsability?

  package init() {}

  /// Creates a parameter set for progressive video with 8 bits: 4:4:4 in the High 4:4:4 Predictive
  /// profile, 4:2:0 in all others.
  ///
  /// - Parameters:
  ///   - profile: the profile.
  ///   - level: the level.
  ///   - width: the width in luma samples, even at 4:2:0.
  ///   - height: the height in luma samples, even at 4:2:0.
  package init(profile: H264Profile, level: H264Level, width: Int, height: Int) {
    profileIDC = profile.profileIDC
    constraintFlags = profile.constraintFlags
    levelIDC = Int(level.number)
    if profile == .high444Predictive { chromaFormat = 3 }
    // Level 1b is level_idc 9 in the High profiles, else 11 with constraint_set3_flag.
    if level.number == 9 && !profile.allowsTransform8x8 {
      constraintFlags |= 0b0001_0000
      levelIDC = 11
    }
    log2MaxFrameNum = 8
    pictureOrderCountType = 2
    log2MaxPictureOrderCountLSB = 8
    maxReferenceFrames = 1
    widthInMbs = (width + 15) / 16
    heightInMapUnits = (height + 15) / 16
    let right = (widthInMbs * 16 - width) / cropUnit.x
    let bottom = (heightInMapUnits * 16 - height) / cropUnit.y
    if right > 0 || bottom > 0 { cropping = CropOffsets(left: 0, right: right, top: 0, bottom: bottom) }
  }

  // MARK: - What follows from it

  /// Whether the parameter set contains chroma format, bit depths and scaling lists.
  package var hasChromaFormat: Bool { H264Profile.idcsWithChromaFormat.contains(profileIDC) }
  /// ChromaArrayType
  package var chromaArrayType: Int { hasSeparatePlanes ? 0 : chromaFormat }
  /// The number of macroblock rows of a frame.
  package var heightInMbs: Int { heightInMapUnits * (isFrameOnly ? 1 : 2) }
  /// The width before cropping, in luma samples.
  package var codedWidth: Int { widthInMbs * 16 }
  package var codedHeight: Int { heightInMbs * 16 }
  /// The size of a unit of `cropping` in luma samples (CropUnitX, CropUnitY).
  package var cropUnit: (x: Int, y: Int) {
    (
      chromaArrayType == 1 || chromaArrayType == 2 ? 2 : 1,
      (chromaArrayType == 1 ? 2 : 1) * (isFrameOnly ? 1 : 2)
    )
  }
  /// The width after cropping, in luma samples.
  package var width: Int { codedWidth - (cropping.map { $0.left + $0.right } ?? 0) * cropUnit.x }
  /// The height after cropping, in luma samples.
  package var height: Int { codedHeight - (cropping.map { $0.top + $0.bottom } ?? 0) * cropUnit.y }

  /// The level; nil if Table A-1 has none with this number.
  package var level: H264Level? {
    let is1b = levelIDC == 11 && constraintFlags & 0x10 != 0 && [66, 77, 88].contains(profileIDC)
    return H264Level.numbered(is1b ? 9 : levelIDC)
  }

  // MARK: - Syntax

  /// Reads a parameter set.
  /// - Parameter nalUnit: the NAL unit with its header, without start code or length.
  /// - Throws: `SyntaxError` if it is invalid, or truncated before the VUI parameters.
  package init<Bytes: Collection<UInt8>>(nalUnit: Bytes) throws(SyntaxError) {
    guard let header = nalUnit.first.flatMap(H264NALUnitHeader.init(byte:)),
      header.type == .sequenceParameterSet
    else { throw .invalid }
    var set = Self()
    let failure = BitReader.read(nalUnit, headerLength: 1) { reader in
      set.code(&reader)
      return reader.failure
    }
    // Decoding does not need the VUI parameters, so an error in them keeps those read before it.
    if let failure, set.vui == nil { throw failure }
    guard set.width > 0, set.height > 0 else { throw .invalid }
    self = set
  }

  /// Writes the raw byte sequence payload, trailing bits included.
  package func write(to bits: inout BitWriter) {
    var set = self
    set.code(&bits)
    bits.trailingBits()
    bits.flush()
  }

  /// The NAL unit with header, nal_ref_idc 3 and emulation prevention bytes.
  package var nalUnit: [UInt8] {
    EmulationPrevention.adding(
      header: [H264NALUnitHeader(refIDC: 3, type: .sequenceParameterSet).byte],
      payload: BitWriter.bytes { write(to: &$0) })
  }

  mutating func code<Coder: SyntaxCoder>(_ c: inout Coder) {
    c.u(&profileIDC, 8)
    c.u(&constraintFlags, 8)
    c.u(&levelIDC, 8)
    c.ue(&id, 0...31)
    if hasChromaFormat { codeChromaFormat(&c) }
    c.ue(&log2MaxFrameNum, 4...16)
    codePictureOrder(&c)
    c.ue(&maxReferenceFrames, 0...16)
    c.flag(&gapsInFrameNumAllowed)
    // No level allows 4096 macroblocks (65536 samples) in a row or column.
    c.ue(&widthInMbs, 1...4096)
    c.ue(&heightInMapUnits, 1...4096)
    c.flag(&isFrameOnly)
    if !isFrameOnly { c.flag(&isMacroblockAdaptive) }
    c.flag(&direct8x8Inference)
    c.optional(&cropping, CropOffsets()) { $1.code(&$0) }
    var hasUsability = vui != nil
    c.flag(&hasUsability)
    guard hasUsability, c.failure == nil else { return }
    var usability = vui ?? H264VideoUsability()
    usability.code(&c)
    vui = usability
  }

  private mutating func codeChromaFormat<Coder: SyntaxCoder>(_ c: inout Coder) {
    c.ue(&chromaFormat, 0...3)
    if chromaFormat == 3 { c.flag(&hasSeparatePlanes) }
    c.ue(&bitDepthLuma, 8...14)
    c.ue(&bitDepthChroma, 8...14)
    c.flag(&isLosslessAtZero)
    let count = chromaFormat == 3 ? 12 : 8
    c.optional(&scalingLists, H264ScalingLists()) { $1.code(&$0, count: count) }
  }

  private mutating func codePictureOrder<Coder: SyntaxCoder>(_ c: inout Coder) {
    c.ue(&pictureOrderCountType, 0...2)
    if pictureOrderCountType == 0 {
      c.ue(&log2MaxPictureOrderCountLSB, 4...16)
    } else if pictureOrderCountType == 1 {
      c.flag(&orderCycle.isDeltaAlwaysZero)
      c.se(&orderCycle.offsetForNonReference)
      c.se(&orderCycle.offsetForTopToBottom)
      var count = orderCycle.offsetsForReferenceFrames.count
      c.ue(&count, 0...255)
      c.list(&orderCycle.offsetsForReferenceFrames, count: count, 0) { $0.se(&$1) }
    }
  }
}

/// Offsets of a window from the edges of a picture. Their unit depends on the structure that has
/// them.
package struct CropOffsets: Equatable, Sendable {
  package var left = 0
  package var right = 0
  package var top = 0
  package var bottom = 0

  package init(left: Int = 0, right: Int = 0, top: Int = 0, bottom: Int = 0) {
    self.left = left
    self.right = right
    self.top = top
    self.bottom = bottom
  }

  /// Returns the offsets in luma samples.
  /// - Parameter unit: the size of their unit in luma samples.
  package func scaled(by unit: (x: Int, y: Int)) -> CropOffsets {
    CropOffsets(left: left * unit.x, right: right * unit.x, top: top * unit.y, bottom: bottom * unit.y)
  }

  mutating func code<Coder: SyntaxCoder>(_ c: inout Coder) {
    c.ue(&left, 0...65535)
    c.ue(&right, 0...65535)
    c.ue(&top, 0...65535)
    c.ue(&bottom, 0...65535)
  }
}
