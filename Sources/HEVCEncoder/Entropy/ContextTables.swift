// SPDX-License-Identifier: Apache-2.0
import VideoBitstream

/// The context variables of CABAC and how they begin (9.3.2.2, tables 9-5 to 9-37).
enum Contexts {
  // The first ctxIdx of each syntax element, in one numbering for all of them.
  static let saoMerge = 0
  static let saoType = 1
  static let splitCU = 2
  static let skip = 5
  static let predictionMode = 8
  static let partMode = 9
  static let previousIntraMode = 13
  static let chromaMode = 14
  static let rootCBF = 15
  static let mergeFlag = 16
  static let mergeIndex = 17
  static let referenceIndex = 18
  static let vectorPredictor = 20
  static let splitTransform = 21
  static let lumaCBF = 24
  static let chromaCBF = 26
  static let differenceGreater0 = 30
  static let differenceGreater1 = 31
  static let qpDelta = 32
  static let transformSkip = 34
  static let lastX = 36
  static let lastY = 54
  static let codedGroup = 72
  static let significant = 76
  static let greater1 = 118
  static let greater2 = 142
  static let interPrediction = 148
  static let count = 153

  /// initValue of each context variable, for initType 0 (I slices). Elements that I slices do not
  /// have hold 154.
  static let intra: [UInt8] = [
    153, 200,  // SAO
    139, 141, 157,  // split_cu_flag
    154, 154, 154,  // cu_skip_flag
    154,  // pred_mode_flag
    184, 154, 154, 154,  // part_mode
    184, 63,  // prev_intra_luma_pred_flag, intra_chroma_pred_mode
    154, 154, 154, 154, 154, 154,  // inter prediction
    153, 138, 138,  // split_transform_flag
    111, 141, 94, 138, 182, 154,  // cbf_luma, cbf_cb and cbf_cr
    154, 154,  // mvd
    154, 154,  // cu_qp_delta_abs
    139, 139,  // transform_skip_flag
    110, 110, 124, 125, 140, 153, 125, 127, 140, 109, 111, 143, 127, 111, 79, 108, 123, 63,
    110, 110, 124, 125, 140, 153, 125, 127, 140, 109, 111, 143, 127, 111, 79, 108, 123, 63,
    91, 171, 134, 141,  // coded_sub_block_flag
    111, 111, 125, 110, 110, 94, 124, 108, 124, 107, 125, 141, 179, 153, 125, 107, 125, 141, 179,
    153, 125, 107, 125, 141, 179, 153, 125, 140, 139, 182, 182, 152, 136, 152, 136, 153, 136, 139,
    111, 136, 139, 111,  // sig_coeff_flag
    140, 92, 137, 138, 140, 152, 138, 139, 153, 74, 149, 92, 139, 107, 122, 152, 140, 179, 166, 182,
    140, 227, 122, 197,  // coeff_abs_level_greater1_flag
    138, 153, 136, 167, 152, 152,  // coeff_abs_level_greater2_flag
    154, 154, 154, 154, 154,  // inter_pred_idc
  ]

  /// initValue of each context variable, for initType 1 (P slices).
  static let predicted: [UInt8] = [
    153, 185,
    107, 139, 126,
    197, 185, 201,
    149,
    154, 139, 154, 154,
    154, 152,
    79, 110, 122, 153, 153, 168,
    124, 138, 94,
    153, 111, 149, 107, 167, 154,
    140, 198,
    154, 154,
    139, 139,
    125, 110, 94, 110, 95, 79, 125, 111, 110, 78, 110, 111, 111, 95, 94, 108, 123, 108,
    125, 110, 94, 110, 95, 79, 125, 111, 110, 78, 110, 111, 111, 95, 94, 108, 123, 108,
    121, 140, 61, 154,
    155, 154, 139, 153, 139, 123, 123, 63, 153, 166, 183, 140, 136, 153, 154, 166, 183, 140, 136,
    153, 154, 166, 183, 140, 136, 153, 154, 170, 153, 123, 123, 107, 121, 107, 121, 167, 151, 183,
    140, 151, 183, 140,
    154, 196, 196, 167, 154, 152, 167, 182, 182, 134, 149, 136, 153, 121, 136, 137, 169, 194, 166,
    167, 154, 167, 137, 182,
    107, 167, 91, 122, 107, 167,
    95, 79, 63, 31, 31,
  ]

  /// initValue of each context variable, for initType 2 (B slices).
  static let bidirectional: [UInt8] = [
    153, 160,
    107, 139, 126,
    197, 185, 201,
    134,
    154, 139, 154, 154,
    183, 152,
    79, 154, 137, 153, 153, 168,
    224, 167, 122,
    153, 111, 149, 92, 167, 154,
    169, 198,
    154, 154,
    139, 139,
    125, 110, 124, 110, 95, 94, 125, 111, 111, 79, 125, 126, 111, 111, 79, 108, 123, 93,
    125, 110, 124, 110, 95, 94, 125, 111, 111, 79, 125, 126, 111, 111, 79, 108, 123, 93,
    121, 140, 61, 154,
    170, 154, 139, 153, 139, 123, 123, 63, 124, 166, 183, 140, 136, 153, 154, 166, 183, 140, 136,
    153, 154, 166, 183, 140, 136, 153, 154, 170, 153, 138, 138, 122, 121, 122, 121, 167, 151, 183,
    140, 151, 183, 140,
    154, 196, 167, 167, 154, 152, 167, 182, 182, 134, 149, 136, 153, 121, 136, 122, 169, 208, 166,
    167, 154, 152, 167, 182,
    107, 167, 91, 107, 107, 167,
    95, 79, 63, 31, 31,
  ]

  /// Sets all context variables as they are at the start of a slice (9.3.2.2).
  /// - Parameters:
  ///   - contexts: receives pStateIdx << 1 | valMPS of each.
  ///   - kind: slice_type.
  ///   - qp: SliceQpY, 0...51.
  static func reset(_ contexts: UnsafeMutablePointer<UInt8>, _ kind: HEVCSliceKind, qp: Int) {
    let values =
      switch kind {
      case .i: intra
      case .p: predicted
      case .b: bidirectional
      }
    for i in 0..<count {
      let value = Int(values[i])
      let slope = (value >> 4) * 5 - 45
      let offset = ((value & 15) << 3) - 16
      let state = min(max(((slope * qp) >> 4) + offset, 1), 126)
      contexts[i] = UInt8(state <= 63 ? (63 - state) << 1 : (state - 64) << 1 | 1)
    }
  }
}
