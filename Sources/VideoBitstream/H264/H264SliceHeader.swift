// SPDX-License-Identifier: Apache-2.0
/// slice_type modulo 5 (Table 7-6).
package enum H264SliceKind: Int, Sendable {
  case p, b, i, sp, si

  package var isIntra: Bool { self == .i || self == .si }
  package var isP: Bool { self == .p || self == .sp }
}

/// slice_header() of H.264 (7.3.3).
package struct H264SliceHeader: Equatable, Sendable {
  /// The deblocking filter: disable_deblocking_filter_idc and the offsets.
  package struct Deblocking: Equatable, Sendable {
    /// disable_deblocking_filter_idc. 0: on; 1: off; 2: on, but not across slices.
    package var disableIDC = 0
    /// slice_alpha_c0_offset_div2, -6...6.
    package var alphaOffset = 0
    /// slice_beta_offset_div2, -6...6.
    package var betaOffset = 0

    package init(disableIDC: Int = 0, alphaOffset: Int = 0, betaOffset: Int = 0) {
      self.disableIDC = disableIDC
      self.alphaOffset = alphaOffset
      self.betaOffset = betaOffset
    }
  }

  /// nal_ref_idc of the NAL unit, 0...3.
  package var refIDC = 0
  /// Whether nal_unit_type is 5.
  package var isIDR = false

  /// first_mb_in_slice
  package var firstMacroblock = 0
  /// slice_type modulo 5.
  package var kind = H264SliceKind.i
  /// Whether all slices of the picture have this type: slice_type is 5...9.
  package var isOnlyKind = true
  /// pic_parameter_set_id
  package var pictureParameterSetID = 0
  /// colour_plane_id; only with separate colour planes.
  package var colorPlane = 0
  /// frame_num
  package var frameNum = 0
  /// field_pic_flag
  package var isField = false
  /// bottom_field_flag
  package var isBottomField = false
  /// idr_pic_id; only in IDR pictures.
  package var idrPictureID = 0
  /// pic_order_cnt_lsb, with pic_order_cnt_type 0.
  package var pictureOrderCountLSB = 0
  /// delta_pic_order_cnt_bottom, with pic_order_cnt_type 0.
  package var deltaPictureOrderBottom = 0
  /// delta_pic_order_cnt[0], with pic_order_cnt_type 1.
  package var deltaPictureOrder = 0
  /// delta_pic_order_cnt[1], with pic_order_cnt_type 1.
  package var deltaPictureOrder1 = 0
  /// redundant_pic_cnt
  package var redundantPictureCount = 0
  /// direct_spatial_mv_pred_flag; only in B slices.
  package var usesSpatialDirect = false
  /// num_ref_idx_l0_active_minus1 + 1, 1...32, in P, SP and B slices.
  package var activeReferences = 1
  /// num_ref_idx_l1_active_minus1 + 1, 1...32, in B slices.
  package var activeReferencesL1 = 1
  /// The modifications of reference list 0 (7.3.3.1).
  package var modifications: [H264ReferenceListModification] = []
  /// The modifications of reference list 1 (7.3.3.1).
  package var modificationsL1: [H264ReferenceListModification] = []
  /// pred_weight_table(); nil where the slice has none.
  package var weights: H264PredictionWeights?
  /// no_output_of_prior_pics_flag; only in IDR pictures.
  package var discardsPriorPictures = false
  /// long_term_reference_flag; only in IDR pictures.
  package var isLongTerm = false
  /// The memory management operations of a reference picture that is not an IDR picture; nil:
  /// sliding window marking (8.2.5.3).
  package var memoryManagement: [H264MemoryManagement]?
  /// cabac_init_idc, 0...2; only with CABAC, and not in I and SI slices.
  package var cabacInitIDC = 0
  /// SliceQP_Y, coded as slice_qp_delta.
  package var qp = 26
  /// QS_Y, coded as slice_qs_delta; only in SP and SI slices.
  package var qs = 26
  /// sp_for_switch_flag
  package var isSwitching = false
  /// The deblocking filter; only present where the picture parameter set says so.
  package var deblocking = Deblocking()
  /// slice_group_change_cycle
  package var sliceGroupChangeCycle = 0

  package init() {}

  /// Whether the slice is an I or SI slice.
  package var isIntra: Bool { kind.isIntra }
  /// Whether the slice is a P slice.
  package var isP: Bool { kind == .p }
  /// Whether the slice has memory_management_control_operation 5: all earlier pictures are output
  /// first, and frame_num and picture order count start at 0 again.
  package var resetsOrder: Bool { memoryManagement?.contains(.removeAll) ?? false }

  /// Reads the header of a NAL unit of type 1, 2 or 5. Damage after the syntax elements that order
  /// pictures is ignored.
  ///
  /// - Parameters:
  ///   - nalUnit: the NAL unit with its header, without start code or length.
  ///   - sequences: the sequence parameter sets by their identifiers.
  ///   - pictures: the picture parameter sets by their identifiers.
  /// - Throws: `SyntaxError` if the header is invalid or truncated, or names a parameter set that
  ///   is missing.
  package init<Bytes: Collection<UInt8>>(
    nalUnit: Bytes, sequences: [Int: H264SequenceParameterSet], pictures: [Int: H264PictureParameterSet]
  ) throws(SyntaxError) {
    guard let first = nalUnit.first else { throw .truncated }
    var header = Self()
    header.refIDC = Int(first >> 5 & 3)
    header.isIDR = first & 31 == H264NALUnitType.idrSlice.rawValue
    let failure = BitReader.read(nalUnit, headerLength: 1) { reader -> SyntaxError? in
      header.codeStart(&reader)
      if let failure = reader.failure { return failure }
      guard let pps = pictures[header.pictureParameterSetID],
        let sps = sequences[pps.sequenceParameterSetID]
      else { return .invalid }
      header.codeOrder(&reader, sps, pps)
      let failure = reader.failure
      // A slice that is truncated or damaged after this point is still a picture in that order.
      header.codeReferences(&reader, sps, pps)
      if reader.failure != nil { header.memoryManagement = nil }
      header.codeQuantisation(&reader, sps, pps)
      return failure
    }
    if let failure { throw failure }
    self = header
  }

  /// Writes the header, without byte alignment; slice data follow it.
  /// - Parameters:
  ///   - bits: receives the header.
  ///   - sps: the sequence parameter set of `pps`.
  ///   - pps: the picture parameter set that the slice refers to.
  package func write(
    to bits: inout BitWriter, sps: H264SequenceParameterSet, pps: H264PictureParameterSet
  ) {
    var header = self
    header.pictureParameterSetID = pps.id
    header.codeStart(&bits)
    header.codeOrder(&bits, sps, pps)
    header.codeReferences(&bits, sps, pps)
    header.codeQuantisation(&bits, sps, pps)
  }

  // MARK: - Syntax

  /// Codes the syntax elements up to pic_parameter_set_id, which need no parameter sets.
  private mutating func codeStart<Coder: SyntaxCoder>(_ c: inout Coder) {
    c.ue(&firstMacroblock)
    var type = kind.rawValue + (isOnlyKind ? 5 : 0)
    c.ue(&type, 0...9)
    if Coder.isReading {
      isOnlyKind = type >= 5
      kind = H264SliceKind(rawValue: type % 5) ?? .i
    }
    c.ue(&pictureParameterSetID, 0...255)
  }

  /// Codes the syntax elements that distinguish and order pictures.
  private mutating func codeOrder<Coder: SyntaxCoder>(
    _ c: inout Coder, _ sps: H264SequenceParameterSet, _ pps: H264PictureParameterSet
  ) {
    if sps.hasSeparatePlanes { c.u(&colorPlane, 2) }
    c.u(&frameNum, sps.log2MaxFrameNum)
    if !sps.isFrameOnly {
      c.flag(&isField)
      if isField { c.flag(&isBottomField) }
    }
    if isIDR { c.ue(&idrPictureID, 0...65535) }
    if sps.pictureOrderCountType == 0 {
      c.u(&pictureOrderCountLSB, sps.log2MaxPictureOrderCountLSB)
      if pps.hasBottomFieldOrder, !isField { c.se(&deltaPictureOrderBottom) }
    } else if sps.pictureOrderCountType == 1, !sps.orderCycle.isDeltaAlwaysZero {
      c.se(&deltaPictureOrder)
      if pps.hasBottomFieldOrder, !isField { c.se(&deltaPictureOrder1) }
    }
    if pps.hasRedundantPictures { c.ue(&redundantPictureCount, 0...127) }
  }

  /// Codes reference lists, weights and marking.
  private mutating func codeReferences<Coder: SyntaxCoder>(
    _ c: inout Coder, _ sps: H264SequenceParameterSet, _ pps: H264PictureParameterSet
  ) {
    if kind == .b { c.flag(&usesSpatialDirect) }
    if !kind.isIntra {
      codeActiveReferences(&c, pps)
      H264ReferenceListModification.code(&modifications, &c)
      if kind == .b { H264ReferenceListModification.code(&modificationsL1, &c) }
      if kind == .b ? pps.weightedBipredIDC == 1 : pps.hasWeightedPrediction {
        var table = weights ?? H264PredictionWeights()
        table.code(
          &c, hasChroma: sps.chromaArrayType != 0, references: activeReferences,
          referencesL1: kind == .b ? activeReferencesL1 : 0)
        weights = table
      }
    }
    guard refIDC != 0 else { return }
    if isIDR {
      c.flag(&discardsPriorPictures)
      c.flag(&isLongTerm)
    } else {
      c.optional(&memoryManagement, []) { H264MemoryManagement.code(&$1, &$0) }
    }
  }

  /// Codes num_ref_idx_active_override_flag and what follows it.
  private mutating func codeActiveReferences<Coder: SyntaxCoder>(
    _ c: inout Coder, _ pps: H264PictureParameterSet
  ) {
    var overrides =
      activeReferences != pps.defaultActiveReferences
      || kind == .b && activeReferencesL1 != pps.defaultActiveReferencesL1
    c.flag(&overrides)
    if overrides {
      c.ue(&activeReferences, 1...32)
      if kind == .b { c.ue(&activeReferencesL1, 1...32) }
    } else {
      activeReferences = pps.defaultActiveReferences
      if kind == .b { activeReferencesL1 = pps.defaultActiveReferencesL1 }
    }
  }

  /// Codes the syntax elements after dec_ref_pic_marking().
  private mutating func codeQuantisation<Coder: SyntaxCoder>(
    _ c: inout Coder, _ sps: H264SequenceParameterSet, _ pps: H264PictureParameterSet
  ) {
    if pps.cabac, !kind.isIntra { c.ue(&cabacInitIDC, 0...2) }
    c.se(&qp, -36...51, above: pps.initialQP)
    if kind == .sp || kind == .si {
      if kind == .sp { c.flag(&isSwitching) }
      c.se(&qs, 0...51, above: pps.initialQS)
    }
    if pps.deblockingControlPresent {
      c.ue(&deblocking.disableIDC, 0...2)
      if deblocking.disableIDC != 1 {
        c.se(&deblocking.alphaOffset, -6...6)
        c.se(&deblocking.betaOffset, -6...6)
      }
    }
    if case .changing(_, _, let rate) = pps.sliceGroups?.map {
      // Ceil(Log2(PicSizeInMapUnits / SliceGroupChangeRate + 1)) bits.
      let cycles = (sps.widthInMbs * sps.heightInMapUnits + rate - 1) / rate
      c.u(&sliceGroupChangeCycle, Int.bitWidth - cycles.leadingZeroBitCount)
    }
  }
}

extension H264SliceHeader {
  /// Whether a slice belongs to another primary coded picture than the slice before it (7.4.1.2.4).
  package func isFirst(after previous: H264SliceHeader) -> Bool {
    frameNum != previous.frameNum || pictureParameterSetID != previous.pictureParameterSetID
      || isField != previous.isField || isBottomField != previous.isBottomField
      || (refIDC == 0) != (previous.refIDC == 0) || isIDR != previous.isIDR
      || isIDR && idrPictureID != previous.idrPictureID
      || pictureOrderCountLSB != previous.pictureOrderCountLSB
      || deltaPictureOrderBottom != previous.deltaPictureOrderBottom
      || deltaPictureOrder != previous.deltaPictureOrder || deltaPictureOrder1 != previous.deltaPictureOrder1
  }

  /// Whether a slice belongs to the second field of the frame whose first field has the header
  /// `first`.
  package func isSecondField(of first: H264SliceHeader) -> Bool {
    isField && first.isField && isBottomField != first.isBottomField && frameNum == first.frameNum && !isIDR
      && (first.refIDC > 0 || refIDC == 0) && !first.resetsOrder
  }
}
