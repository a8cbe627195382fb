// SPDX-License-Identifier: Apache-2.0
#if X264
  import CodecInterface
  import VideoBitstream

  /// What profile and level make of a configuration, checked.
  struct StreamShape {
    /// The profile as libx264 names it.
    let libraryProfile: String
    let entropy: EntropyMode
    let allowsReordering: Bool
    /// Reference frames that the level allows, if it is fixed.
    let mostReferences: Int?

    init(_ c: VideoEncoderConfiguration) throws(CodecError) {
      guard c.codec == .h264 else { throw .unsupported("libx264 codes H.264") }
      guard c.width >= 16, c.height >= 16, c.width <= 16384, c.height <= 16384 else {
        throw .invalidConfiguration("size \(c.width)x\(c.height) is not within 16x16 and 16384x16384")
      }
      guard c.width % 2 == 0, c.height % 2 == 0 else {
        throw .invalidConfiguration("size \(c.width)x\(c.height) is odd; 4:2:0 needs even sizes")
      }
      let hasCABAC: Bool
      switch c.profile {
      case .h264Baseline, .h264ConstrainedBaseline: (libraryProfile, hasCABAC) = ("baseline", false)
      case .h264Extended: (libraryProfile, hasCABAC) = ("main", false)
      case .h264Main: (libraryProfile, hasCABAC) = ("main", true)
      case .h264High, .h264ConstrainedHigh: (libraryProfile, hasCABAC) = ("high", true)
      case .hevcMain, .hevcMain10, .unspecified: throw .unsupported("a profile that is not H.264's")
      }
      if c.entropyMode == .cabac, !hasCABAC {
        throw .invalidConfiguration("the profile has no CABAC")
      }
      entropy = c.entropyMode ?? (hasCABAC ? .cabac : .cavlc)
      switch c.profile {
      case .h264Baseline, .h264ConstrainedBaseline, .h264ConstrainedHigh: allowsReordering = false
      default: allowsReordering = c.allowsReordering
      }

      let wide = (c.width + 15) / 16
      let high = (c.height + 15) / 16
      if let number = c.level {
        guard let level = H264Level.numbered(number) else {
          throw .invalidConfiguration("no level \(Double(number) / 10)")
        }
        guard level.allows(widthInMbs: wide, heightInMbs: high) else {
          throw .invalidConfiguration(
            "\(c.width)x\(c.height) is too large for level \(Double(number) / 10)")
        }
        let most = level.dpbFrames(widthInMbs: wide, heightInMbs: high)
        guard c.referenceFrameCount <= most else {
          throw .invalidConfiguration(
            "level \(Double(number) / 10) allows \(most) reference frames at this size")
        }
        mostReferences = most
      } else {
        mostReferences = nil
      }
      guard (0...16).contains(c.referenceFrameCount) else {
        throw .invalidConfiguration("H.264 allows 16 reference frames")
      }
    }

    /// The profile's number and constraint flags where libx264 writes others.
    static func signalling(of profile: Profile, written flags: UInt8) -> (profile: UInt8, flags: UInt8)? {
      switch profile {
      // Constraint flags 4 and 5: progressive frames only, and no B slices.
      case .h264ConstrainedHigh: (100, flags | 0x0C)
      // The tools of Main without CABAC are tools of Extended (flag 2), and the stream remains one of Main (flag 1).
      case .h264Extended: (88, 0x60)
      case .h264Baseline, .h264ConstrainedBaseline: (66, flags | 0xC0)
      default: nil
      }
    }
  }
#endif
