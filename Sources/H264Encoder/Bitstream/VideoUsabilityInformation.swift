/// vui_parameters() (E.1.1).
struct VideoUsabilityInformation: Equatable, Sendable {
  /// sar_width : sar_height
  struct AspectRatio: Equatable, Sendable {
    var width: UInt16
    var height: UInt16
  }

  /// colour_primaries, transfer_characteristics and matrix_coefficients (Tables E-3 to E-5).
  struct ColourDescription: Equatable, Sendable {
    var primaries: UInt8
    var transfer: UInt8
    var matrix: UInt8
  }

  struct Timing: Equatable, Sendable {
    /// A frame lasts 2 * num_units_in_tick / time_scale seconds.
    var unitsInTick: UInt32
    var timeScale: UInt32
    var fixedFrameRate: Bool
  }

  /// hrd_parameters() with one schedule.
  struct HypotheticalReferenceDecoder: Equatable, Sendable {
    /// Bits per second, rounded down to a multiple of 64.
    var bitRate: Int
    /// Bits, rounded down to a multiple of 16.
    var cpb: Int
    var constantBitRate: Bool
  }

  var aspectRatio: AspectRatio?
  /// video_format (Table E-2); 5: unspecified.
  var videoFormat: UInt8 = 5
  var fullRange = false
  var colour: ColourDescription?
  /// chroma_sample_loc_type of both fields, 0...5.
  var chromaLocation: UInt8?
  var timing: Timing?
  var hrd: HypotheticalReferenceDecoder?
  /// max_dec_frame_buffering: the exact size of the decoded picture buffer. Nil leaves
  /// bitstream_restriction out; else it says that nothing is reordered.
  var maxDecFrameBuffering: Int?

  /// Table E-1, aspect_ratio_idc 1...16.
  private static let aspectRatios: [(UInt16, UInt16)] = [
    (1, 1), (12, 11), (10, 11), (16, 11), (40, 33), (24, 11), (20, 11), (32, 11), (80, 33), (18, 11),
    (15, 11), (64, 33), (160, 99), (4, 3), (3, 2), (2, 1),
  ]

  func write(to bits: inout BitWriter) {
    bits.flag(aspectRatio != nil)
    if let aspectRatio {
      if let index = Self.aspectRatios.firstIndex(where: { $0 == (aspectRatio.width, aspectRatio.height) }) {
        bits.put(UInt32(index + 1), 8)
      } else {
        bits.put(255, 8)  // Extended_SAR
        bits.put(UInt32(aspectRatio.width), 16)
        bits.put(UInt32(aspectRatio.height), 16)
      }
    }
    bits.flag(false)  // overscan_info_present_flag

    let signalType = videoFormat != 5 || fullRange || colour != nil
    bits.flag(signalType)
    if signalType {
      bits.put(UInt32(videoFormat), 3)
      bits.flag(fullRange)
      bits.flag(colour != nil)
      if let colour {
        bits.put(UInt32(colour.primaries), 8)
        bits.put(UInt32(colour.transfer), 8)
        bits.put(UInt32(colour.matrix), 8)
      }
    }
    bits.flag(chromaLocation != nil)
    if let chromaLocation {
      bits.ue(Int(chromaLocation))
      bits.ue(Int(chromaLocation))
    }
    bits.flag(timing != nil)
    if let timing {
      bits.put(timing.unitsInTick, 32)
      bits.put(timing.timeScale, 32)
      bits.flag(timing.fixedFrameRate)
    }
    bits.flag(hrd != nil)
    if let hrd { hrd.write(to: &bits) }
    bits.flag(false)  // vcl_hrd_parameters_present_flag
    if hrd != nil { bits.flag(false) }  // low_delay_hrd_flag
    bits.flag(false)  // pic_struct_present_flag
    bits.flag(maxDecFrameBuffering != nil)
    if let maxDecFrameBuffering {
      bits.flag(true)  // motion_vectors_over_pic_boundaries_flag
      bits.ue(0)  // max_bytes_per_pic_denom: no limit
      bits.ue(0)  // max_bits_per_mb_denom: no limit
      bits.ue(15)  // log2_max_mv_length_horizontal
      bits.ue(15)  // log2_max_mv_length_vertical
      bits.ue(0)  // max_num_reorder_frames
      bits.ue(maxDecFrameBuffering)
    }
  }
}

extension VideoUsabilityInformation.HypotheticalReferenceDecoder {
  /// Lengths in bits of the removal delays and of dpb_output_delay, for those who write the SEI messages.
  static let delayLength = 24

  fileprivate func write(to bits: inout BitWriter) {
    bits.ue(0)  // cpb_cnt_minus1
    bits.put(0, 4)  // bit_rate_scale
    bits.put(0, 4)  // cpb_size_scale
    bits.ue(max(bitRate >> 6, 1) - 1)
    bits.ue(max(cpb >> 4, 1) - 1)
    bits.flag(constantBitRate)
    bits.put(UInt32(Self.delayLength - 1), 5)  // initial_cpb_removal_delay_length_minus1
    bits.put(UInt32(Self.delayLength - 1), 5)  // cpb_removal_delay_length_minus1
    bits.put(UInt32(Self.delayLength - 1), 5)  // dpb_output_delay_length_minus1
    bits.put(0, 5)  // time_offset_length
  }
}
