// SPDX-License-Identifier: Apache-2.0
/// hrd_parameters() of HEVC (E.2.2).
package struct HEVCHypotheticalDecoder: Equatable, Sendable {
  /// The syntax elements that all sub-layers share.
  package struct Common: Equatable, Sendable {
    /// The syntax elements that follow sub_pic_hrd_params_present_flag.
    package struct SubPicture: Equatable, Sendable {
      /// tick_divisor_minus2 + 2, 2...257.
      package var tickDivisor = 2
      /// du_cpb_removal_delay_increment_length_minus1 + 1, 1...32.
      package var removalDelayIncrementLength = 1
      /// sub_pic_cpb_params_in_pic_timing_sei_flag
      package var isInPictureTiming = false
      package var outputDelayLength = 1
      package var cpbSizeScale = 0

      package init() {}
    }

    /// nal_hrd_parameters_present_flag
    package var hasNAL = false
    /// vcl_hrd_parameters_present_flag
    package var hasVCL = false
    /// The sub-picture parameters; nil: sub_pic_hrd_params_present_flag is 0.
    package var subPicture: SubPicture?
    /// bit_rate_scale: a bit rate is `bitRateValue` * 2^(6 + scale) bits per second.
    package var bitRateScale = 0
    package var cpbSizeScale = 0
    /// initial_cpb_removal_delay_length_minus1 + 1, 1...32.
    package var initialRemovalDelayLength = 24
    /// au_cpb_removal_delay_length_minus1 + 1, 1...32.
    package var removalDelayLength = 24
    package var outputDelayLength = 24

    package init() {}

    mutating func code<Coder: SyntaxCoder>(_ c: inout Coder) {
      c.flag(&hasNAL)
      c.flag(&hasVCL)
      guard hasNAL || hasVCL else { return }
      c.optional(&subPicture, SubPicture()) {
        $0.u(&$1.tickDivisor, 8, above: 2)
        $0.u(&$1.removalDelayIncrementLength, 5, above: 1)
        $0.flag(&$1.isInPictureTiming)
        $0.u(&$1.outputDelayLength, 5, above: 1)
      }
      c.u(&bitRateScale, 4)
      c.u(&cpbSizeScale, 4)
      if var value = subPicture {
        c.u(&value.cpbSizeScale, 4)
        subPicture = value
      }
      c.u(&initialRemovalDelayLength, 5, above: 1)
      c.u(&removalDelayLength, 5, above: 1)
      c.u(&outputDelayLength, 5, above: 1)
    }
  }

  /// A delivery schedule of sub_layer_hrd_parameters() (E.2.3).
  package struct Schedule: Equatable, Sendable {
    /// bit_rate_value_minus1 + 1
    package var bitRateValue = 1
    /// cpb_size_value_minus1 + 1
    package var cpbSizeValue = 1
    /// cpb_size_du_value_minus1 + 1; only with sub-picture parameters.
    package var subPictureCPBSizeValue = 1
    /// bit_rate_du_value_minus1 + 1; only with sub-picture parameters.
    package var subPictureBitRateValue = 1
    /// cbr_flag
    package var isConstantBitRate = false

    package init() {}
  }

  /// The syntax elements of a temporal sub-layer.
  package struct SubLayer: Equatable, Sendable {
    /// fixed_pic_rate_general_flag
    package var isFixedRate = false
    /// fixed_pic_rate_within_cvs_flag, which is inferred to be 1 where fixed_pic_rate_general_flag
    /// is 1.
    package var isFixedRateWithinSequence = false
    /// elemental_duration_in_tc_minus1 + 1; only with a fixed rate.
    package var elementalDuration = 1
    /// low_delay_hrd_flag; only without a fixed rate.
    package var isLowDelay = false
    /// cpb_cnt_minus1 + 1, 1...32.
    package var scheduleCount = 1
    /// The delivery schedules of all NAL units.
    package var nal: [Schedule] = []
    /// The delivery schedules of VCL and filler data NAL units.
    package var vcl: [Schedule] = []

    package init() {}
  }

  /// The shared syntax elements; nil in structures of a video parameter set that use those of the
  /// structure before them.
  package var common: Common?
  /// The temporal sub-layers, the lowest first.
  package var subLayers: [SubLayer] = []

  package init() {}

  /// Codes the structure.
  /// - Parameters:
  ///   - c: reads or writes it.
  ///   - hasCommon: whether it contains the shared syntax elements.
  ///   - inherited: the shared syntax elements to use where it does not contain them.
  ///   - subLayerCount: the number of sub-layers.
  mutating func code<Coder: SyntaxCoder>(
    _ c: inout Coder, hasCommon: Bool, inherited: Common? = nil, subLayerCount: Int
  ) {
    if hasCommon {
      var value = common ?? Common()
      value.code(&c)
      common = value
    }
    let shared = common ?? inherited ?? Common()
    c.list(&subLayers, count: subLayerCount, SubLayer()) { $1.code(&$0, shared) }
  }
}

extension HEVCHypotheticalDecoder.SubLayer {
  fileprivate mutating func code<Coder: SyntaxCoder>(
    _ c: inout Coder, _ common: HEVCHypotheticalDecoder.Common
  ) {
    c.flag(&isFixedRate)
    if isFixedRate { isFixedRateWithinSequence = true } else { c.flag(&isFixedRateWithinSequence) }
    if isFixedRateWithinSequence {
      c.ue(&elementalDuration, 1...2048)
    } else {
      c.flag(&isLowDelay)
    }
    if !isLowDelay { c.ue(&scheduleCount, 1...32) }
    let hasSubPicture = common.subPicture != nil
    if common.hasNAL { Self.code(&nal, &c, scheduleCount, hasSubPicture) }
    if common.hasVCL { Self.code(&vcl, &c, scheduleCount, hasSubPicture) }
  }

  private static func code<Coder: SyntaxCoder>(
    _ schedules: inout [HEVCHypotheticalDecoder.Schedule], _ c: inout Coder, _ count: Int,
    _ hasSubPicture: Bool
  ) {
    c.list(&schedules, count: count, HEVCHypotheticalDecoder.Schedule()) {
      $0.ue(&$1.bitRateValue, 1...0xFFFF_FFFF)
      $0.ue(&$1.cpbSizeValue, 1...0xFFFF_FFFF)
      if hasSubPicture {
        $0.ue(&$1.subPictureCPBSizeValue, 1...0xFFFF_FFFF)
        $0.ue(&$1.subPictureBitRateValue, 1...0xFFFF_FFFF)
      }
      $0.flag(&$1.isConstantBitRate)
    }
  }
}
