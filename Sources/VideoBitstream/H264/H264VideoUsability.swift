// SPDX-License-Identifier: Apache-2.0
/// vui_parameters() of H.264 (E.1.1).
package struct H264VideoUsability: Equatable, Sendable {
  /// The syntax elements that follow bitstream_restriction_flag.
  package struct Restriction: Equatable, Sendable {
    package var motionVectorsOverPictureBoundaries = true
    /// max_bytes_per_pic_denom, 0...16; 0: no limit.
    package var maxBytesPerPictureDenominator = 0
    /// max_bits_per_mb_denom, 0...16; 0: no limit.
    package var maxBitsPerMacroblockDenominator = 0
    /// log2_max_mv_length_horizontal, in quarter luma samples.
    package var log2MaxHorizontalMotion = 15
    /// log2_max_mv_length_vertical, in quarter luma samples.
    package var log2MaxVerticalMotion = 15
    /// max_num_reorder_frames, 0...16
    package var maxReorderFrames = 0
    /// max_dec_frame_buffering, 0...16: the exact size of the decoded picture buffer.
    package var maxDecFrameBuffering = 0

    package init() {}

    mutating func code<Coder: SyntaxCoder>(_ c: inout Coder) {
      c.flag(&motionVectorsOverPictureBoundaries)
      c.ue(&maxBytesPerPictureDenominator)
      c.ue(&maxBitsPerMacroblockDenominator)
      c.ue(&log2MaxHorizontalMotion)
      c.ue(&log2MaxVerticalMotion)
      c.ue(&maxReorderFrames, 0...16)
      c.ue(&maxDecFrameBuffering, 0...16)
    }
  }

  package var appearance = VideoAppearance()
  package var timing: Timing?
  package var nalHRD: H264HypotheticalDecoder?
  package var vclHRD: H264HypotheticalDecoder?
  /// low_delay_hrd_flag; only present with HRD parameters.
  package var isLowDelay = false
  /// pic_struct_present_flag
  package var hasPictureStructure = false
  /// The limits of the stream; nil: not present.
  package var restriction: Restriction?

  /// The clock tick and whether it is constant. A frame lasts 2 * `ticks.unitsInTick` /
  /// `ticks.timeScale` seconds.
  package struct Timing: Equatable, Sendable {
    package var ticks: VideoTicks
    package var isFixedFrameRate: Bool

    package init(ticks: VideoTicks, isFixedFrameRate: Bool) {
      self.ticks = ticks
      self.isFixedFrameRate = isFixedFrameRate
    }
  }

  package init() {}

  mutating func code<Coder: SyntaxCoder>(_ c: inout Coder) {
    appearance.code(&c)
    c.optional(&timing, Timing(ticks: VideoTicks(), isFixedFrameRate: false)) {
      $1.ticks.code(&$0)
      $0.flag(&$1.isFixedFrameRate)
    }
    c.optional(&nalHRD, H264HypotheticalDecoder()) { $1.code(&$0) }
    c.optional(&vclHRD, H264HypotheticalDecoder()) { $1.code(&$0) }
    if nalHRD != nil || vclHRD != nil { c.flag(&isLowDelay) }
    c.flag(&hasPictureStructure)
    c.optional(&restriction, Restriction()) { $1.code(&$0) }
  }
}

/// hrd_parameters() of H.264 (E.1.2).
package struct H264HypotheticalDecoder: Equatable, Sendable {
  /// A delivery schedule: the rate at which bits arrive and the size of the coded picture buffer.
  package struct Schedule: Equatable, Sendable {
    /// bit_rate_value_minus1 + 1
    package var bitRateValue = 1
    /// cpb_size_value_minus1 + 1
    package var cpbSizeValue = 1
    /// cbr_flag
    package var isConstantBitRate = false

    package init() {}
  }

  /// bit_rate_scale: a bit rate is `bitRateValue` * 2^(6 + scale) bits per second.
  package var bitRateScale = 0
  /// cpb_size_scale: a buffer size is `cpbSizeValue` * 2^(4 + scale) bits.
  package var cpbSizeScale = 0
  /// The delivery schedules, 1...32.
  package var schedules: [Schedule] = []
  /// The length of initial_cpb_removal_delay in bits, 1...32.
  package var initialRemovalDelayLength = 24
  /// The length of cpb_removal_delay in bits, 1...32.
  package var removalDelayLength = 24
  /// The length of dpb_output_delay in bits, 1...32.
  package var outputDelayLength = 24
  /// The length of time_offset in bits, 0...31.
  package var timeOffsetLength = 0

  package init() {}

  /// Creates HRD parameters with one delivery schedule.
  ///
  /// - Parameters:
  ///   - bitRate: the bit rate in bits per second, rounded down to a multiple of 64.
  ///   - cpb: the buffer size in bits, rounded down to a multiple of 16.
  ///   - isConstantBitRate: cbr_flag.
  package init(bitRate: Int, cpb: Int, isConstantBitRate: Bool) {
    var schedule = Schedule()
    schedule.bitRateValue = max(bitRate >> 6, 1)
    schedule.cpbSizeValue = max(cpb >> 4, 1)
    schedule.isConstantBitRate = isConstantBitRate
    schedules = [schedule]
  }

  mutating func code<Coder: SyntaxCoder>(_ c: inout Coder) {
    var count = schedules.count
    c.ue(&count, 1...32)
    c.u(&bitRateScale, 4)
    c.u(&cpbSizeScale, 4)
    c.list(&schedules, count: count, Schedule()) {
      $0.ue(&$1.bitRateValue, 1...0xFFFF_FFFF)
      $0.ue(&$1.cpbSizeValue, 1...0xFFFF_FFFF)
      $0.flag(&$1.isConstantBitRate)
    }
    c.u(&initialRemovalDelayLength, 5, above: 1)
    c.u(&removalDelayLength, 5, above: 1)
    c.u(&outputDelayLength, 5, above: 1)
    c.u(&timeOffsetLength, 5)
  }
}
