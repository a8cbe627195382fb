/// A command of ref_pic_list_modification() for list 0 (7.3.3.1).
enum ReferenceListModification: Equatable, Sendable {
  /// modification_of_pic_nums_idc 0 or 1: the short-term picture `difference` below (negative) or above
  /// the prediction of its PicNum; not 0.
  case shortTerm(difference: Int)
  /// modification_of_pic_nums_idc 2
  case longTerm(pictureNumber: Int)
}

/// memory_management_control_operation (7.4.3.3).
enum MemoryManagement: Equatable, Sendable {
  /// 1: a short-term picture becomes unused; its PicNum is the current one's minus `difference` (from 1).
  case removeShortTerm(difference: Int)
  /// 2
  case removeLongTerm(pictureNumber: Int)
  /// 3: a short-term picture becomes the long-term one with this index.
  case makeLongTerm(difference: Int, index: Int)
  /// 4: max_long_term_frame_idx_plus1
  case longTermLimit(Int)
  /// 5: all pictures become unused.
  case removeAll
  /// 6: the current picture becomes the long-term one with this index.
  case currentIsLongTerm(index: Int)
}

/// dec_ref_pic_marking() (7.3.3.3).
enum ReferenceMarking: Equatable, Sendable {
  /// IDR pictures: long_term_reference_flag.
  case idr(longTerm: Bool)
  case slidingWindow
  /// Taken from `SliceHeader.memoryManagement`, in order.
  case adaptive
}

/// disable_deblocking_filter_idc and the offsets.
struct DeblockingParameters: Equatable, Sendable {
  /// 0 on, 1 off, 2 on but not across slices.
  var disableIDC = 0
  /// slice_alpha_c0_offset_div2 and slice_beta_offset_div2, -6...6.
  var alphaOffset = 0
  var betaOffset = 0
}

/// slice_header() (7.3.3) of I and P slices of a frame.
struct SliceHeader: Equatable, Sendable {
  var firstMacroblock = 0
  /// P if true, else I.
  var isP = false
  /// All slices of the picture are of this type: slice_type 5...9.
  var wholePicture = true
  var frameNum = 0
  /// Nil if the picture is not IDR.
  var idrPictureID: Int?
  /// pic_order_cnt_lsb, for type 0.
  var pictureOrderCountLSB = 0
  /// num_ref_idx_l0_active_minus1 + 1, P only.
  var activeReferences = 1
  var modifications: [ReferenceListModification] = []
  /// Written if nal_ref_idc is not 0.
  var marking = ReferenceMarking.slidingWindow
  var memoryManagement: [MemoryManagement] = []
  /// cabac_init_idc 0...2, P with CABAC only.
  var cabacInitIDC = 0
  /// SliceQP_Y
  var qp = 26
  var deblocking = DeblockingParameters()

  /// Writes the header. Slice data follow it.
  func write(to bits: inout BitWriter, sps: SequenceParameterSet, pps: PictureParameterSet, refIDC: UInt8) {
    bits.ue(firstMacroblock)
    bits.ue((isP ? 0 : 2) + (wholePicture ? 5 : 0))
    bits.ue(pps.id)
    bits.put(UInt32(truncatingIfNeeded: frameNum & ((1 << sps.log2MaxFrameNum) - 1)), sps.log2MaxFrameNum)
    if let idrPictureID { bits.ue(idrPictureID) }
    if sps.pictureOrderCountType == 0 {
      let length = sps.log2MaxPictureOrderCountLSB
      bits.put(UInt32(truncatingIfNeeded: pictureOrderCountLSB & ((1 << length) - 1)), length)
    }
    if isP {
      let overrides = activeReferences != pps.defaultActiveReferences
      bits.flag(overrides)
      if overrides { bits.ue(activeReferences - 1) }
      writeModifications(to: &bits)
    }
    if refIDC != 0 { writeMarking(to: &bits) }
    if isP && pps.cabac { bits.ue(cabacInitIDC) }
    bits.se(qp - pps.initialQP)
    if pps.deblockingControlPresent {
      bits.ue(deblocking.disableIDC)
      if deblocking.disableIDC != 1 {
        bits.se(deblocking.alphaOffset)
        bits.se(deblocking.betaOffset)
      }
    }
  }

  private func writeModifications(to bits: inout BitWriter) {
    bits.flag(!modifications.isEmpty)
    if modifications.isEmpty { return }
    for modification in modifications {
      switch modification {
      case .shortTerm(let difference):
        bits.ue(difference < 0 ? 0 : 1)
        bits.ue(abs(difference) - 1)
      case .longTerm(let pictureNumber):
        bits.ue(2)
        bits.ue(pictureNumber)
      }
    }
    bits.ue(3)
  }

  private func writeMarking(to bits: inout BitWriter) {
    switch marking {
    case .idr(let longTerm):
      bits.flag(false)  // no_output_of_prior_pics_flag
      bits.flag(longTerm)
    case .slidingWindow:
      bits.flag(false)
    case .adaptive:
      bits.flag(true)
      for operation in memoryManagement {
        switch operation {
        case .removeShortTerm(let difference):
          bits.ue(1)
          bits.ue(difference - 1)
        case .removeLongTerm(let pictureNumber):
          bits.ue(2)
          bits.ue(pictureNumber)
        case .makeLongTerm(let difference, let index):
          bits.ue(3)
          bits.ue(difference - 1)
          bits.ue(index)
        case .longTermLimit(let limit):
          bits.ue(4)
          bits.ue(limit)
        case .removeAll:
          bits.ue(5)
        case .currentIsLongTerm(let index):
          bits.ue(6)
          bits.ue(index)
        }
      }
      bits.ue(0)
    }
  }
}
