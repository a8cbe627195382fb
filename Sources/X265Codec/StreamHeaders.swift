// SPDX-License-Identifier: Apache-2.0
#if X265
  import CodecInterface
  import VideoBitstream

  /// Edits values of parameter sets that libx265 has no parameter for.
  enum StreamHeaders {
    /// Sets the conformance window of padded pictures, and raises the level to the one that the bit
    /// rate needs, since libx265 considers only the rate of a buffer. Parameter sets without a
    /// change stay as libx265 wrote them.
    /// - Parameters:
    ///   - sets: the parameter sets.
    ///   - c: the configuration.
    /// - Throws: `CodecError.malfunction` if they cannot be parsed.
    static func edit(_ sets: inout ParameterSets, _ c: VideoEncoderConfiguration) throws(CodecError) {
      let size = X265Parameters.codedSize(c)
      for index in sets.sps.indices {
        guard var set = try? HEVCSequenceParameterSet(nalUnit: sets.sps[index]) else {
          throw .malfunction("libx265's sequence parameter set cannot be read")
        }
        var isChanged = false
        if size.isCropped {
          var window = set.conformanceWindow ?? CropOffsets()
          window.right += (size.width - size.visibleWidth) / set.chromaUnit.x
          window.bottom += (size.height - size.visibleHeight) / set.chromaUnit.y
          set.conformanceWindow = window
          isChanged = true
        }
        // From level 5 on coding tree blocks have at least 32x32 samples.
        if raise(&set.profileTierLevel, c, largest: set.log2CodingTreeBlock < 5 ? 41 : .max) {
          isChanged = true
          for index in sets.vps.indices {
            guard var video = try? HEVCVideoParameterSet(nalUnit: sets.vps[index]) else {
              throw .malfunction("libx265's video parameter set cannot be read")
            }
            video.profileTierLevel = set.profileTierLevel
            sets.vps[index] = video.nalUnit
          }
        }
        if isChanged { sets.sps[index] = set.nalUnit }
      }
    }

    /// Raises the level to the lowest that allows the bit rate in its tier, or else in the High
    /// tier.
    /// - Parameters:
    ///   - profileTierLevel: the profile, tier and level that libx265 wrote.
    ///   - c: the configuration.
    ///   - largest: ten times the number of the highest level that the pictures allow.
    /// - Returns: whether the level was raised.
    private static func raise(
      _ profileTierLevel: inout HEVCProfileTierLevel, _ c: VideoEncoderConfiguration, largest: Int
    ) -> Bool {
      guard c.level == nil, let rate = c.rate.sustainedRate else { return false }
      func allows(_ level: HEVCLevel, highTier: Bool) -> Bool {
        ((highTier ? level.high : nil) ?? level.main).bitRate * 1000 >= rate
      }
      let number = profileTierLevel.levelIDC / 3
      guard let present = HEVCLevel.numbered(number),
        !allows(present, highTier: profileTierLevel.profile.isHighTier)
      else {
        return false
      }
      let higher = HEVCLevel.all.filter { $0.number > number && $0.number <= largest }
      for highTier in profileTierLevel.profile.isHighTier ? [true] : [false, true] {
        guard let level = higher.first(where: { allows($0, highTier: highTier) }) else { continue }
        profileTierLevel.levelIDC = level.number * 3
        profileTierLevel.profile.isHighTier = highTier && level.high != nil
        return true
      }
      return false
    }
  }
#endif
