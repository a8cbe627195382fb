// SPDX-License-Identifier: Apache-2.0
/// profile_tier_level() of HEVC (7.3.3).
package struct HEVCProfileTierLevel: Equatable, Sendable {
  /// The profile and tier of the stream or of a temporal sub-layer.
  package struct Profile: Equatable, Sendable {
    package var space = 0
    /// tier_flag
    package var isHighTier = false
    package var idc = 0
    /// general_profile_compatibility_flag[0] in the highest of 32 bits.
    package var compatibility = 0
    /// The 48 bits that follow the compatibility flags: progressive, interlaced, non-packed,
    /// frame-only, and the constraints of the profile.
    package var constraints = 0

    package init() {}

    package var isProgressiveSource: Bool { constraints >> 47 & 1 == 1 }
    package var isInterlacedSource: Bool { constraints >> 46 & 1 == 1 }

    mutating func code<Coder: SyntaxCoder>(_ c: inout Coder) {
      c.u(&space, 2)
      c.flag(&isHighTier)
      c.u(&idc, 5)
      c.u(&compatibility, 32)
      c.u(&constraints, 48)
    }
  }

  package struct SubLayer: Equatable, Sendable {
    package var profile: Profile?
    package var levelIDC: Int?

    package init() {}
  }

  package var profile = Profile()
  /// general_level_idc: 30 times the number of the level.
  package var levelIDC = 0
  /// The profile and level of each temporal sub-layer but the highest, whose values are those of
  /// the stream.
  package var subLayers: [SubLayer] = []

  package init() {}

  /// Codes the structure.
  /// - Parameters:
  ///   - c: reads or writes it.
  ///   - count: the number of temporal sub-layers, 1...7.
  mutating func code<Coder: SyntaxCoder>(_ c: inout Coder, subLayerCount count: Int) {
    profile.code(&c)
    c.u(&levelIDC, 8)
    c.list(&subLayers, count: count - 1, SubLayer()) {
      var (hasProfile, hasLevel) = ($1.profile != nil, $1.levelIDC != nil)
      $0.flag(&hasProfile)
      $0.flag(&hasLevel)
      guard Coder.isReading else { return }
      $1.profile = hasProfile ? Profile() : nil
      $1.levelIDC = hasLevel ? 0 : nil
    }
    if count > 1 { c.reserved(2 * (9 - count)) }
    for index in subLayers.indices where c.failure == nil {
      var layer = subLayers[index]
      layer.profile?.code(&c)
      if var level = layer.levelIDC {
        c.u(&level, 8)
        layer.levelIDC = level
      }
      if Coder.isReading { subLayers[index] = layer }
    }
  }
}

/// The requirements on the decoded picture buffer in a sequence or video parameter set, for each
/// temporal sub-layer.
package struct HEVCSubLayerOrdering: Equatable, Sendable {
  package struct Limits: Equatable, Sendable {
    /// max_dec_pic_buffering_minus1 + 1, 1...17.
    package var maxDecodedPictures = 1
    /// max_num_reorder_pics, 0...16
    package var maxReorderPictures = 0
    /// max_latency_increase_plus1; 0: no limit.
    package var maxLatencyIncreasePlus1 = 0

    package init(maxDecodedPictures: Int = 1, maxReorderPictures: Int = 0, maxLatencyIncreasePlus1: Int = 0) {
      self.maxDecodedPictures = maxDecodedPictures
      self.maxReorderPictures = maxReorderPictures
      self.maxLatencyIncreasePlus1 = maxLatencyIncreasePlus1
    }
  }

  /// The requirements of each sub-layer; or a single element, that of the highest, which applies to
  /// all.
  package var limits: [Limits] = [Limits()]

  package init() {}

  package var highest: Limits { limits.last ?? Limits() }

  mutating func code<Coder: SyntaxCoder>(_ c: inout Coder, subLayerCount count: Int) {
    var isForEach = limits.count > 1 || count == 1
    c.flag(&isForEach)
    c.list(&limits, count: isForEach ? count : 1, Limits()) {
      $0.ue(&$1.maxDecodedPictures, 1...17)
      $0.ue(&$1.maxReorderPictures, 0...16)
      $0.ue(&$1.maxLatencyIncreasePlus1)
    }
  }
}
