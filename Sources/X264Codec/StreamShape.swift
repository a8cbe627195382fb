// SPDX-License-Identifier: Apache-2.0
#if X264
  import CodecInterface
  import VideoBitstream

  /// The properties of a stream that follow from the profile, the level and the size of a
  /// configuration, which are validated.
  struct StreamShape {
    /// The name of the profile in libx264.
    let libraryProfile: String
    /// The entropy coding.
    let entropy: EntropyMode
    /// Whether the profile and the configuration allow B frames.
    let allowsReordering: Bool
    /// The most reference frames that the level allows; nil if no level is configured.
    let maxReferences: Int?

    /// The range of widths and heights that libx264 supports.
    static let sides = 1...16384

    /// Validates a configuration.
    /// - Throws: `CodecError` that says which value is not supported or contradicts the profile or
    ///   level.
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
      case .h264High444Predictive, .hevcMain, .hevcMain10, .unspecified:
        throw .unsupported("a profile that this adapter lacks")
      }
      if c.entropyMode == .cabac, !hasCABAC {
        throw .invalidConfiguration("the profile has no CABAC")
      }
      entropy = c.entropyMode ?? (hasCABAC ? .cabac : .cavlc)
      switch c.profile {
      case .h264Baseline, .h264ConstrainedBaseline, .h264ConstrainedHigh: allowsReordering = false
      default: allowsReordering = c.allowsReordering
      }

      let widthInMbs = (c.width + 15) / 16
      let heightInMbs = (c.height + 15) / 16
      if let number = c.level {
        guard let level = H264Level.numbered(number) else {
          throw .invalidConfiguration("no level \(Double(number) / 10)")
        }
        guard level.allows(widthInMbs: widthInMbs, heightInMbs: heightInMbs) else {
          throw .invalidConfiguration(
            "\(c.width)x\(c.height) is too large for level \(Double(number) / 10)")
        }
        let maximum = level.dpbFrames(widthInMbs: widthInMbs, heightInMbs: heightInMbs)
        guard c.referenceFrameCount <= maximum else {
          throw .invalidConfiguration(
            "level \(Double(number) / 10) allows \(maximum) reference frames at this size")
        }
        maxReferences = maximum
      } else {
        maxReferences = nil
      }
      guard (0...16).contains(c.referenceFrameCount) else {
        throw .invalidConfiguration("H.264 allows 16 reference frames")
      }
    }

    /// The coded size of pictures, with at least one macroblock.
    static func codedSize(_ c: VideoEncoderConfiguration) -> CodedPictureSize {
      CodedPictureSize(width: c.width, height: c.height, minimum: 16)
    }

    /// Returns the lowest level from `minimum` on that allows the bit rate of a stream.
    /// - Parameters:
    ///   - c: the configuration.
    ///   - minimum: the lowest level that the size, the frame rate and the references need.
    /// - Returns: the highest level if none allows the rate.
    static func level(of c: VideoEncoderConfiguration, atLeast minimum: H264Level?) -> H264Level? {
      guard let minimum, let rate = c.rate.sustainedRate else { return minimum }
      let profile: H264Profile =
        switch c.profile {
        case .h264High, .h264ConstrainedHigh: .high
        case .h264Baseline, .h264ConstrainedBaseline: .constrainedBaseline
        default: .main
        }
      guard minimum.vclBitRate(profile: profile) < rate else { return minimum }
      let higher = H264Level.all.drop { $0 != minimum }
      // Level 1b is signalled in another way, and level 1.1 allows a higher rate.
      return higher.first { $0.number != 9 && $0.vclBitRate(profile: profile) >= rate } ?? higher.last
    }

    /// Returns profile_idc and the constraint flags to write where libx264 writes others; nil if
    /// its own are right.
    /// - Parameters:
    ///   - profile: the configured profile.
    ///   - flags: the constraint flags that libx264 wrote.
    static func signalling(of profile: CodecProfile, written flags: UInt8) -> (profile: UInt8, flags: UInt8)?
    {
      switch profile {
      // constraint_set4_flag and constraint_set5_flag: progressive frames only, and no B slices.
      case .h264ConstrainedHigh: (100, flags | 0x0C)
      // Main without CABAC uses only tools of Extended (constraint_set2_flag), and is still a
      // stream of Main (constraint_set1_flag).
      case .h264Extended: (88, 0x60)
      case .h264Baseline, .h264ConstrainedBaseline: (66, flags | 0xC0)
      default: nil
      }
    }
  }
#endif
