// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolSupport
import VideoBitstream

@testable import H264Encoder

/// Builds NAL units one after another.
private struct StreamBuilder {
  private(set) var bytes: [UInt8] = []

  mutating func add(
    _ type: H264NALUnitType, refIDC: UInt8, headerExtension: (UInt8, UInt8, UInt8)? = nil,
    _ write: (inout BitWriter) -> Void
  ) {
    let payload = UnsafeMutablePointer<UInt8>.allocate(capacity: 4096)
    let unit = UnsafeMutablePointer<UInt8>.allocate(capacity: 8192)
    defer {
      payload.deallocate()
      unit.deallocate()
    }
    var bits = BitWriter(payload, capacity: 4096)
    write(&bits)
    var writer = NALUnitWriter(unit, capacity: 8192)
    writer.append(
      type: type, refIDC: refIDC, headerExtension: headerExtension, payload: payload,
      count: bits.bitCount / 8, framing: .startCode)
    bytes += UnsafeBufferPointer(start: unit, count: writer.count)
  }
}

@Suite struct HeaderTests {
  @Test("trace_headers reads every field of the parameter sets", .enabled(if: TracedHeaders.isAvailable))
  func traceHeadersReadsEveryFieldOfTheParameterSets() throws {
    for profile in [H264Profile.constrainedBaseline, .main, .constrainedHigh, .high] {
      var sps = H264SequenceParameterSet(
        profile: profile, level: try #require(H264Level.numbered(9)), width: 174, height: 130)
      sps.id = 3
      sps.log2MaxFrameNum = 9
      sps.pictureOrderCountType = 0
      sps.log2MaxPictureOrderCountLSB = 11
      sps.maxReferenceFrames = 2
      sps.gapsInFrameNumAllowed = true
      var vui = H264VideoUsability()
      vui.appearance.aspectRatio = SampleAspectRatio(width: 7, height: 5)
      vui.appearance.signal = .init(
        format: 2, isFullRange: true, color: ColorDescription(primaries: 1, transfer: 13, matrix: 6))
      vui.appearance.chromaLocations = .init(top: 2, bottom: 2)
      vui.timing = .init(
        ticks: VideoTicks(unitsInTick: 1001, timeScale: 4_294_967_295), isFixedFrameRate: true)
      vui.nalHRD = .init(bitRate: 128_000, cpb: 350_000, isConstantBitRate: true)
      vui.restriction = .init()
      vui.restriction?.maxDecFrameBuffering = 2
      sps.vui = vui
      var pps = H264PictureParameterSet()
      pps.id = 5
      pps.sequenceParameterSetID = 3
      pps.cabac = profile.allowsCABAC
      pps.defaultActiveReferences = 2
      pps.initialQP = 31
      pps.chromaQPOffset = -3
      pps.constrainedIntraPrediction = true
      if profile.allowsTransform8x8 { pps.high = .init(transform8x8: true, secondChromaQPOffset: 4) }

      var stream = StreamBuilder()
      stream.add(.accessUnitDelimiter, refIDC: 0) {
        H264AccessUnitDelimiter(primaryPictureType: 0).write(to: &$0)
      }
      stream.add(.sequenceParameterSet, refIDC: 3) { sps.write(to: &$0) }
      stream.add(.pictureParameterSet, refIDC: 3) { pps.write(to: &$0) }
      stream.add(.sei, refIDC: 0) {
        H264RecoveryPoint(frameCount: 37, isExact: true).write(to: &$0)
      }
      stream.add(.idrSlice, refIDC: 3) { bits in
        var header = H264SliceHeader()
        header.isIDR = true
        header.refIDC = 3
        header.idrPictureID = 6
        header.isLongTerm = true
        header.frameNum = 0
        header.pictureOrderCountLSB = 0
        header.qp = 20
        header.deblocking = .init(disableIDC: 2, alphaOffset: -2, betaOffset: 3)
        header.write(to: &bits, sps: sps, pps: pps)
        bits.trailingBits()
        bits.flush()
      }
      stream.add(.fillerData, refIDC: 0) { FillerData.write(count: 20, to: &$0) }
      let traced = try TracedHeaders(stream.bytes, format: "h264")

      let expected: [String: Int] = [
        "profile_idc": Int(profile.profileIDC),
        "constraint_set0_flag": profile == .constrainedBaseline ? 1 : 0,
        "constraint_set1_flag": profile == .constrainedBaseline || profile == .main ? 1 : 0,
        "constraint_set3_flag": profile.allowsTransform8x8 ? 0 : 1,
        "constraint_set4_flag": profile == .constrainedHigh ? 1 : 0,
        "constraint_set5_flag": profile == .constrainedHigh ? 1 : 0,
        "level_idc": profile.allowsTransform8x8 ? 9 : 11,
        "log2_max_frame_num_minus4": 5, "pic_order_cnt_type": 0, "log2_max_pic_order_cnt_lsb_minus4": 7,
        "max_num_ref_frames": 2, "gaps_in_frame_num_allowed_flag": 1, "pic_width_in_mbs_minus1": 10,
        "pic_height_in_map_units_minus1": 8, "frame_mbs_only_flag": 1, "frame_cropping_flag": 1,
        "frame_crop_right_offset": 1, "frame_crop_bottom_offset": 7, "aspect_ratio_idc": 255, "sar_width": 7,
        "sar_height": 5, "video_format": 2, "video_full_range_flag": 1, "colour_primaries": 1,
        "transfer_characteristics": 13, "matrix_coefficients": 6, "chroma_sample_loc_type_top_field": 2,
        "num_units_in_tick": 1001, "time_scale": 4_294_967_295, "fixed_frame_rate_flag": 1,
        "nal_hrd_parameters_present_flag": 1, "bit_rate_value_minus1": 128_000 / 64 - 1,
        "cpb_size_value_minus1": 350_000 / 16 - 1, "cbr_flag": 1, "bitstream_restriction_flag": 1,
        "max_num_reorder_frames": 0, "max_dec_frame_buffering": 2, "pic_parameter_set_id": 5,
        "entropy_coding_mode_flag": profile.allowsCABAC ? 1 : 0, "num_ref_idx_l0_default_active_minus1": 1,
        "pic_init_qp_minus26": 5, "chroma_qp_index_offset": -3, "deblocking_filter_control_present_flag": 1,
        "constrained_intra_pred_flag": 1, "recovery_frame_cnt": 37, "exact_match_flag": 1,
        "broken_link_flag": 0, "idr_pic_id": 6, "long_term_reference_flag": 1, "slice_qp_delta": -11,
        "disable_deblocking_filter_idc": 2, "slice_alpha_c0_offset_div2": -2, "slice_beta_offset_div2": 3,
        "primary_pic_type": 0,
      ]
      for (name, value) in expected {
        #expect(traced[name].last == value, "\(profile): \(name)")
      }
      if profile.allowsTransform8x8 {
        #expect(traced["transform_8x8_mode_flag"].last == 1)
        #expect(traced["second_chroma_qp_index_offset"].last == 4)
        #expect(traced["chroma_format_idc"].last == 1)
      }
      // 12, twenty times 0xFF, the stop bit.
      let filler: [UInt8] = [12] + Array(repeating: 0xFF, count: 20) + [0x80]
      #expect(Array(stream.bytes.suffix(22)) == filler)
      #expect(traced.complaints.isEmpty)
    }
  }

  @Test("trace_headers reads reference list commands and marking", .enabled(if: TracedHeaders.isAvailable))
  func traceHeadersReadsReferenceListCommandsAndMarking() throws {
    var sps = H264SequenceParameterSet(
      profile: .high, level: try #require(H264Level.numbered(31)), width: 320, height: 240)
    sps.maxReferenceFrames = 4
    let pps = H264PictureParameterSet()
    var header = H264SliceHeader()
    header.kind = .p
    header.refIDC = 1
    header.frameNum = 77
    header.firstMacroblock = 15
    header.activeReferences = 3
    header.cabacInitIDC = 2
    header.modifications = [
      .shortTerm(difference: -5), .longTerm(pictureNumber: 1), .shortTerm(difference: 2),
    ]
    header.memoryManagement = [
      .longTermLimit(3), .removeShortTerm(difference: 4), .removeLongTerm(pictureNumber: 2),
      .makeLongTerm(difference: 9, index: 1), .currentIsLongTerm(index: 0),
    ]
    var stream = StreamBuilder()
    stream.add(.sequenceParameterSet, refIDC: 3) { sps.write(to: &$0) }
    stream.add(.pictureParameterSet, refIDC: 3) { pps.write(to: &$0) }
    stream.add(.idrSlice, refIDC: 1) { bits in
      var header = H264SliceHeader()
      header.isIDR = true
      header.refIDC = 1
      header.write(to: &bits, sps: sps, pps: pps)
      bits.trailingBits()
      bits.flush()
    }
    stream.add(.accessUnitDelimiter, refIDC: 0) {
      H264AccessUnitDelimiter(primaryPictureType: 1).write(to: &$0)
    }
    stream.add(.slice, refIDC: 1) { bits in
      header.write(to: &bits, sps: sps, pps: pps)
      bits.trailingBits()
      bits.flush()
    }
    let traced = try TracedHeaders(stream.bytes, format: "h264")
    #expect(traced["first_mb_in_slice"].last == 15)
    #expect(traced["slice_type"].last == 5)
    #expect(traced["frame_num"].last == 77)
    #expect(traced["num_ref_idx_active_override_flag"].last == 1)
    #expect(traced["num_ref_idx_l0_active_minus1"].last == 2)
    #expect(traced["modification_of_pic_nums_idc"] == [0, 2, 1, 3])
    #expect(traced["abs_diff_pic_num_minus1"] == [4, 1])
    #expect(traced["memory_management_control_operation"] == [4, 1, 2, 3, 6, 0])
    #expect(traced["difference_of_pic_nums_minus1"] == [3, 8])
    #expect(traced["long_term_frame_idx"] == [1, 0])
    #expect(traced["max_long_term_frame_idx_plus1"] == [3])
    #expect(traced["cabac_init_idc"].last == 2)
    #expect(traced.complaints.isEmpty)
  }

  @Test("The prefix NAL unit's extension holds the temporal layer", .enabled(if: TracedHeaders.isAvailable))
  func thePrefixNALUnitsExtensionHoldsTheTemporalLayer() throws {
    let sps = H264SequenceParameterSet(
      profile: .high, level: try #require(H264Level.numbered(31)), width: 320, height: 240)
    let pps = H264PictureParameterSet()
    var scalable = H264ScalableHeader()
    scalable.isIDR = true
    scalable.priorityID = 9
    scalable.temporalID = 2
    scalable.isDiscardable = true
    var stream = StreamBuilder()
    stream.add(.sequenceParameterSet, refIDC: 3) { sps.write(to: &$0) }
    stream.add(.pictureParameterSet, refIDC: 3) { pps.write(to: &$0) }
    stream.add(.prefix, refIDC: 1, headerExtension: scalable.bytes) {
      scalable.writePayload(refIDC: 1, to: &$0)
    }
    stream.add(.idrSlice, refIDC: 1) { bits in
      var header = H264SliceHeader()
      header.isIDR = true
      header.refIDC = 1
      header.write(to: &bits, sps: sps, pps: pps)
      bits.trailingBits()
      bits.flush()
    }
    let (a, b, c) = scalable.bytes
    // svc_extension_flag, idr_flag, priority_id; no_inter_layer_pred_flag; temporal_id,
    // use_ref_base_pic_flag, discardable_flag, output_flag, reserved.
    #expect(a == 0b1100_1001 && b == 0b1000_0000 && c == 0b0100_1111)
    let traced = try TracedHeaders(stream.bytes, format: "h264")
    #expect(traced["nal_unit_type"].contains(5))
    #expect(traced.complaints.isEmpty)
  }

  @Test("Levels are chosen by every limit")
  func levelsAreChosenByEveryLimit() throws {
    func demands(_ width: Int, _ height: Int, _ rate: Double, _ bits: Int = 0, _ references: Int = 1)
      -> H264StreamDemands
    {
      H264StreamDemands(
        profile: .main, widthInMbs: width, heightInMbs: height, frameRate: rate, bitRate: bits,
        referenceFrames: references)
    }
    #expect(H264Level.lowest(for: demands(11, 9, 15))?.number == 10)
    #expect(H264Level.lowest(for: demands(11, 9, 15, 100_000))?.number == 9)
    #expect(H264Level.lowest(for: demands(11, 9, 30))?.number == 11)
    #expect(H264Level.lowest(for: demands(40, 30, 30))?.number == 30)
    #expect(H264Level.lowest(for: demands(80, 45, 30))?.number == 31)
    #expect(H264Level.lowest(for: demands(80, 45, 60))?.number == 32)
    #expect(H264Level.lowest(for: demands(120, 68, 30))?.number == 40)
    #expect(H264Level.lowest(for: demands(120, 68, 30, 30_000_000))?.number == 41)
    #expect(H264Level.lowest(for: demands(120, 68, 60))?.number == 42)
    #expect(H264Level.lowest(for: demands(120, 68, 60, 0, 5))?.number == 50)
    #expect(H264Level.lowest(for: demands(240, 135, 60))?.number == 52)
    #expect(H264Level.lowest(for: demands(512, 272, 60))?.number == 61)
    #expect(H264Level.lowest(for: demands(600, 300, 60)) == nil)
    // A picture may be long, but no side longer than sqrt(8 * MaxFS).
    #expect(H264Level.lowest(for: demands(30, 1, 1))?.number == 11)
    let level = try #require(H264Level.numbered(31))
    #expect(level.violation(by: demands(80, 45, 31)) == .macroblockRate)
    #expect(level.violation(by: demands(120, 68, 1)) == .frameSize)
    #expect(level.violation(by: demands(80, 45, 30, 17_000_000)) == .bitRate)
    #expect(level.violation(by: demands(80, 45, 30, 0, 6)) == .decodedPictureBuffer)
    #expect(level.dpbFrames(widthInMbs: 80, heightInMbs: 45) == 5)
    // Table A-2: cpbBrVclFactor is 1000, in the High profiles 1250.
    #expect(level.vclBitRate(profile: .main) == 14_000_000)
    #expect(level.vclBitRate(profile: .high) == 17_500_000)
    // Next to all bits are in VCL NAL units.
    #expect(H264Level.lowest(for: demands(80, 45, 30, 14_000_001))?.number == 32)
    #expect(H264Level.all.last?.largestSide == 1055)
  }
}
