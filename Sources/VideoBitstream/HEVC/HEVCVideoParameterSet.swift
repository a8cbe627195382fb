// SPDX-License-Identifier: Apache-2.0
/// video_parameter_set_rbsp() of HEVC (7.3.2.1), without extensions.
package struct HEVCVideoParameterSet: Equatable, Sendable {
  /// The syntax elements that follow vps_timing_info_present_flag.
  package struct Timing: Equatable, Sendable {
    package var ticks = VideoTicks()
    /// vps_num_ticks_poc_diff_one_minus1 + 1; nil where picture order counts are not proportional
    /// to time.
    package var ticksPerOrderCount: Int?
    /// The HRD parameters of layer sets.
    package var decoders: [Decoder] = []

    package init(ticks: VideoTicks = VideoTicks()) { self.ticks = ticks }
  }

  /// hrd_parameters() of a layer set, with the index of the layer set.
  package struct Decoder: Equatable, Sendable {
    package var layerSetIndex = 0
    package var parameters = HEVCHypotheticalDecoder()

    package init(layerSetIndex: Int = 0, parameters: HEVCHypotheticalDecoder = HEVCHypotheticalDecoder()) {
      self.layerSetIndex = layerSetIndex
      self.parameters = parameters
    }
  }

  /// vps_video_parameter_set_id, 0...15.
  package var id = 0
  /// vps_base_layer_internal_flag
  package var isBaseLayerInternal = true
  /// vps_base_layer_available_flag
  package var isBaseLayerAvailable = true
  /// vps_max_layers_minus1 + 1, 1...64.
  package var layerCount = 1
  /// The number of temporal sub-layers, 1...7.
  package var subLayerCount = 1
  /// vps_temporal_id_nesting_flag
  package var isTemporalNested = true
  package var profileTierLevel = HEVCProfileTierLevel()
  package var ordering = HEVCSubLayerOrdering()
  /// vps_max_layer_id, 0...63.
  package var maxLayerID = 0
  /// layer_id_included_flag of all layer sets but the first: `maxLayerID` + 1 bits for each set,
  /// the first layer in the highest of 64 bits.
  package var layerSets: [UInt64] = []
  /// The timing; nil: vps_timing_info_present_flag is 0.
  package var timing: Timing?

  package init() {}

  /// Reads a parameter set.
  /// - Parameter nalUnit: the NAL unit with its header, without start code or length.
  /// - Throws: `SyntaxError` if it is invalid or truncated.
  package init<Bytes: Collection<UInt8>>(nalUnit: Bytes) throws(SyntaxError) {
    guard let header = nalUnit.first, header >> 1 == HEVCNALUnitType.videoParameterSet.rawValue else {
      throw .invalid
    }
    var set = Self()
    let failure = BitReader.read(nalUnit, headerLength: 2) { reader in
      set.code(&reader)
      return reader.failure
    }
    if let failure { throw failure }
    self = set
  }

  /// Writes the raw byte sequence payload, trailing bits included.
  package func write(to bits: inout BitWriter) {
    var set = self
    set.code(&bits)
    bits.trailingBits()
    bits.flush()
  }

  /// The NAL unit with header and emulation prevention bytes.
  package var nalUnit: [UInt8] {
    EmulationPrevention.adding(
      header: HEVCNALUnitHeader(type: .videoParameterSet).bytes, payload: BitWriter.bytes { write(to: &$0) })
  }

  private mutating func code<Coder: SyntaxCoder>(_ c: inout Coder) {
    c.u(&id, 4)
    c.flag(&isBaseLayerInternal)
    c.flag(&isBaseLayerAvailable)
    c.u(&layerCount, 6, above: 1)
    var maxSubLayersMinus1 = subLayerCount - 1
    c.u(&maxSubLayersMinus1, 3, max: 6)
    subLayerCount = maxSubLayersMinus1 + 1
    c.flag(&isTemporalNested)
    c.reserved(16, 0xFFFF)
    profileTierLevel.code(&c, subLayerCount: subLayerCount)
    ordering.code(&c, subLayerCount: subLayerCount)
    c.u(&maxLayerID, 6)
    var layerSetCount = layerSets.count
    c.ue(&layerSetCount, 0...1023)
    let layers = maxLayerID + 1
    c.list(&layerSets, count: layerSetCount, 0) {
      for layer in 0..<layers {
        var isIncluded = ($1 << UInt64(layer)) >> 63 == 1
        $0.flag(&isIncluded)
        if Coder.isReading, isIncluded { $1 |= 1 << UInt64(63 - layer) }
      }
    }
    let subLayers = subLayerCount
    c.optional(&timing, Timing()) {
      $1.code(&$0, subLayerCount: subLayers, layerSets: layerSetCount + 1)
    }
    c.reserved(1)  // vps_extension_flag
  }
}

extension HEVCVideoParameterSet.Timing {
  fileprivate mutating func code<Coder: SyntaxCoder>(
    _ c: inout Coder, subLayerCount: Int, layerSets: Int
  ) {
    ticks.code(&c)
    c.optional(&ticksPerOrderCount, 1) { $0.ue(&$1, 1...0xFFFF_FFFF) }
    var count = decoders.count
    c.ue(&count, 0...layerSets)
    var isFirst = true
    var common: HEVCHypotheticalDecoder.Common?
    c.list(&decoders, count: count, HEVCVideoParameterSet.Decoder()) {
      $0.ue(&$1.layerSetIndex, 0...1023)
      var hasCommon = isFirst || $1.parameters.common != nil
      if !isFirst { $0.flag(&hasCommon) }
      isFirst = false
      $1.parameters.code(&$0, hasCommon: hasCommon, inherited: common, subLayerCount: subLayerCount)
      common = $1.parameters.common ?? common
    }
  }
}
