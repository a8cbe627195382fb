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

    /// Of the pictures that libx264 takes.
    static let sides = 1...16384

    init(_ c: VideoEncoderConfiguration) throws(CodecError) {
      guard c.codec == .h264 else { throw .unsupported("libx264 codes H.264") }
      guard Self.sides.contains(c.width), Self.sides.contains(c.height) else {
        throw .invalidConfiguration(
          "size \(c.width)x\(c.height) is not within 1x1 and \(Self.sides.upperBound)x\(Self.sides.upperBound)"
        )
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

    /// What is coded of pictures of a size: a macroblock at least.
    static func codedSize(_ c: VideoEncoderConfiguration) -> CodedPictureSize {
      CodedPictureSize(width: c.width, height: c.height, least: 16)
    }

    /// The lowest level from one on that allows the rate of a stream.
    /// - Parameter least: What the size, the frame rate and the references ask for.
    /// - Returns: the highest level for a rate that none allows.
    static func level(of c: VideoEncoderConfiguration, atLeast least: H264Level?) -> H264Level? {
      guard let least, let rate = c.rate.sustainedRate else { return least }
      let profile: H264Profile =
        switch c.profile {
        case .h264High, .h264ConstrainedHigh: .high
        case .h264Baseline, .h264ConstrainedBaseline: .constrainedBaseline
        default: .main
        }
      guard least.vclBitRate(profile: profile) < rate else { return least }
      let higher = H264Level.all.drop { $0 != least }
      // Level 1b is told in a way of its own, and 1.1 allows more.
      return higher.first { $0.number != 9 && $0.vclBitRate(profile: profile) >= rate } ?? higher.last
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
