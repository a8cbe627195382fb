// SPDX-License-Identifier: Apache-2.0
/// pic_parameter_set_rbsp() of H.264 (7.3.2.2).
package struct H264PictureParameterSet: Equatable, Sendable {
  /// pic_parameter_set_id, 0...255.
  package var id = 0
  /// seq_parameter_set_id, 0...31.
  package var sequenceParameterSetID = 0
  /// entropy_coding_mode_flag
  package var cabac = true
  /// bottom_field_pic_order_in_frame_present_flag
  package var hasBottomFieldOrder = false
  /// The slice groups; nil: one slice group.
  package var sliceGroups: H264SliceGroups?
  /// num_ref_idx_l0_default_active_minus1 + 1, 1...32.
  package var defaultActiveReferences = 1
  /// num_ref_idx_l1_default_active_minus1 + 1, 1...32.
  package var defaultActiveReferencesL1 = 1
  /// weighted_pred_flag: whether P and SP slices have explicit weights.
  package var hasWeightedPrediction = false
  /// weighted_bipred_idc: the weights of B slices. 0: none; 1: explicit; 2: implicit, by distance
  /// in time.
  package var weightedBipredIDC = 0
  /// 26 + pic_init_qp_minus26, down to -36 with more than eight bits.
  package var initialQP = 26
  /// 26 + pic_init_qs_minus26, 0...51.
  package var initialQS = 26
  /// chroma_qp_index_offset, -12...12.
  package var chromaQPOffset = 0
  /// deblocking_filter_control_present_flag
  package var deblockingControlPresent = true
  package var constrainedIntraPrediction = false
  /// redundant_pic_cnt_present_flag
  package var hasRedundantPictures = false
  /// The syntax elements of High profiles; nil: no 8x8 transform, flat scaling lists, and one
  /// offset for both chroma planes.
  package var high: High?

  package struct High: Equatable, Sendable {
    /// transform_8x8_mode_flag
    package var transform8x8 = false
    package var scalingLists: H264ScalingLists?
    /// second_chroma_qp_index_offset, the offset of Cr, -12...12.
    package var secondChromaQPOffset = 0

    package init(transform8x8: Bool = false, secondChromaQPOffset: Int = 0) {
      self.transform8x8 = transform8x8
      self.secondChromaQPOffset = secondChromaQPOffset
    }
  }

  package init() {}

  package var transform8x8: Bool { high?.transform8x8 ?? false }

  /// Reads a parameter set.
  /// - Parameters:
  ///   - nalUnit: the NAL unit with its header, without start code or length.
  ///   - chromaFormat: chroma_format_idc of the sequence parameter set, which the number of scaling
  ///     lists depends on.
  /// - Throws: `SyntaxError` if it is invalid or truncated.
  package init<Bytes: Collection<UInt8>>(nalUnit: Bytes, chromaFormat: Int = 1) throws(SyntaxError) {
    guard let header = nalUnit.first, header & 31 == H264NALUnitType.pictureParameterSet.rawValue else {
      throw .invalid
    }
    var set = Self()
    let failure = BitReader.read(nalUnit, headerLength: 1) { reader -> SyntaxError? in
      set.codeBase(&reader)
      let failure = reader.failure
      // Damage in the syntax elements of High profiles is ignored: the parameter set still serves
      // to distinguish pictures.
      if failure == nil { set.codeHigh(&reader, chromaFormat: chromaFormat) }
      return failure
    }
    if let failure { throw failure }
    self = set
  }

  /// Writes the raw byte sequence payload, trailing bits included.
  /// - Parameters:
  ///   - bits: receives the payload.
  ///   - chromaFormat: chroma_format_idc of the sequence parameter set.
  package func write(to bits: inout BitWriter, chromaFormat: Int = 1) {
    var set = self
    set.codeBase(&bits)
    set.codeHigh(&bits, chromaFormat: chromaFormat)
    bits.trailingBits()
    bits.flush()
  }

  /// Returns the NAL unit with header, nal_ref_idc 3 and emulation prevention bytes.
  /// - Parameter chromaFormat: chroma_format_idc of the sequence parameter set.
  package func nalUnit(chromaFormat: Int = 1) -> [UInt8] {
    EmulationPrevention.adding(
      header: [H264NALUnitHeader(refIDC: 3, type: .pictureParameterSet).byte],
      payload: BitWriter.bytes { write(to: &$0, chromaFormat: chromaFormat) })
  }

  private mutating func codeBase<Coder: SyntaxCoder>(_ c: inout Coder) {
    c.ue(&id, 0...255)
    c.ue(&sequenceParameterSetID, 0...31)
    c.flag(&cabac)
    c.flag(&hasBottomFieldOrder)
    H264SliceGroups.code(&sliceGroups, &c)
    c.ue(&defaultActiveReferences, 1...32)
    c.ue(&defaultActiveReferencesL1, 1...32)
    c.flag(&hasWeightedPrediction)
    c.u(&weightedBipredIDC, 2)
    c.se(&initialQP, -36...51, above: 26)
    c.se(&initialQS, 0...51, above: 26)
    c.se(&chromaQPOffset, -12...12)
    c.flag(&deblockingControlPresent)
    c.flag(&constrainedIntraPrediction)
    c.flag(&hasRedundantPictures)
  }

  private mutating func codeHigh<Coder: SyntaxCoder>(_ c: inout Coder, chromaFormat: Int) {
    var hasHigh = high != nil
    c.moreData(&hasHigh)
    guard hasHigh else { return }
    var content = high ?? High()
    c.flag(&content.transform8x8)
    let count = 6 + (content.transform8x8 ? (chromaFormat == 3 ? 6 : 2) : 0)
    c.optional(&content.scalingLists, H264ScalingLists()) { $1.code(&$0, count: count) }
    c.se(&content.secondChromaQPOffset, -12...12)
    if c.failure == nil { high = content }
  }
}

/// The slice groups of a picture parameter set, which the Baseline and Extended profiles have.
package struct H264SliceGroups: Equatable, Sendable {
  /// slice_group_map_type and the syntax elements that it needs.
  package enum Map: Equatable, Sendable {
    /// 0: run_length_minus1 + 1 of each slice group.
    case interleaved(runs: [Int])
    /// 1: dispersed, without further syntax elements.
    case dispersed
    /// 2: top_left and bottom_right of each slice group but the last.
    case foreground([Rectangle])
    /// 3, 4 or 5 (`type`): slice_group_change_direction_flag and slice_group_change_rate_minus1 +
    /// 1.
    case changing(type: Int, isReversed: Bool, rate: Int)
    /// 6: slice_group_id of each map unit.
    case explicit([UInt8])
  }

  /// A rectangle of macroblocks.
  package struct Rectangle: Equatable, Sendable {
    package var topLeft = 0
    package var bottomRight = 0

    package init(topLeft: Int = 0, bottomRight: Int = 0) {
      self.topLeft = topLeft
      self.bottomRight = bottomRight
    }
  }

  /// num_slice_groups_minus1 + 1, 2...8.
  package var count: Int
  package var map: Map

  package init(count: Int, map: Map) {
    self.count = count
    self.map = map
  }

  /// The most map units of a picture: the macroblocks that level 6.2 allows.
  package static let maxMapUnits = 139_264

  static func code<Coder: SyntaxCoder>(_ groups: inout H264SliceGroups?, _ c: inout Coder) {
    var count = groups?.count ?? 1
    c.ue(&count, 1...8)
    guard count > 1, c.failure == nil else { return }
    var value = groups ?? H264SliceGroups(count: count, map: .dispersed)
    value.map.code(&c, count: count)
    if c.failure == nil { groups = H264SliceGroups(count: count, map: value.map) }
  }
}

extension H264SliceGroups.Map {
  private var type: Int {
    switch self {
    case .interleaved: 0
    case .dispersed: 1
    case .foreground: 2
    case .changing(let type, _, _): type
    case .explicit: 6
    }
  }

  fileprivate mutating func code<Coder: SyntaxCoder>(_ c: inout Coder, count: Int) {
    var type = self.type
    c.ue(&type, 0...6)
    switch type {
    case 0:
      var runs: [Int] = if case .interleaved(let runs) = self { runs } else { [] }
      c.list(&runs, count: count, 1) { $0.ue(&$1, 1...H264SliceGroups.maxMapUnits) }
      self = .interleaved(runs: runs)
    case 1: self = .dispersed
    case 2:
      var rectangles: [H264SliceGroups.Rectangle] = if case .foreground(let list) = self { list } else { [] }
      c.list(&rectangles, count: count - 1, H264SliceGroups.Rectangle()) {
        $0.ue(&$1.topLeft, 0...H264SliceGroups.maxMapUnits)
        $0.ue(&$1.bottomRight, 0...H264SliceGroups.maxMapUnits)
      }
      self = .foreground(rectangles)
    case 3, 4, 5:
      var (isReversed, rate) = (false, 1)
      if case .changing(_, let reversed, let changeRate) = self {
        (isReversed, rate) = (reversed, changeRate)
      }
      c.flag(&isReversed)
      c.ue(&rate, 1...H264SliceGroups.maxMapUnits)
      self = .changing(type: type, isReversed: isReversed, rate: rate)
    default:
      var units: [UInt8] = if case .explicit(let units) = self { units } else { [] }
      var size = units.count
      c.ue(&size, 1...H264SliceGroups.maxMapUnits)
      let length = count > 4 ? 3 : count > 2 ? 2 : 1
      c.list(&units, count: size, 0) {
        var group = Int($1)
        $0.u(&group, length)
        $1 = UInt8(truncatingIfNeeded: group)
      }
      self = .explicit(units)
    }
  }
}
