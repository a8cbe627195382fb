// SPDX-License-Identifier: Apache-2.0
/// A level and its limits (Table A-1).
package struct H264Level: Equatable, Sendable {
  /// Ten times the level's number; 9 for level 1b.
  package let number: UInt8
  /// MaxMBPS in macroblocks per second.
  package let macroblocksPerSecond: Int
  /// MaxFS in macroblocks.
  package let frameSize: Int
  /// MaxDpbMbs in macroblocks.
  package let dpbMacroblocks: Int
  /// MaxBR of VCL NAL units, in units of 1000 bits/s (1250 in the High profiles).
  package let bitRate: Int
  /// MaxCPB of VCL NAL units, in units of 1000 bits (1250 in the High profiles).
  package let cpb: Int
  /// MaxVmvR: vertical motion vectors are in the range -n ... n - 0.25 luma samples.
  package let verticalMotion: Int
  /// MaxMvsPer2Mb, nil where there is no limit.
  package let motionVectorsPerTwoMacroblocks: Int?

  /// All levels, the lowest first; 1b is between 1 and 1.1.
  package static let all: [H264Level] = [
    H264Level(10, 1485, 99, 396, 64, 175, 64, nil),
    H264Level(9, 1485, 99, 396, 128, 350, 64, nil),
    H264Level(11, 3000, 396, 900, 192, 500, 128, nil),
    H264Level(12, 6000, 396, 2376, 384, 1000, 128, nil),
    H264Level(13, 11880, 396, 2376, 768, 2000, 128, nil),
    H264Level(20, 11880, 396, 2376, 2000, 2000, 128, nil),
    H264Level(21, 19800, 792, 4752, 4000, 4000, 256, nil),
    H264Level(22, 20250, 1620, 8100, 4000, 4000, 256, nil),
    H264Level(30, 40500, 1620, 8100, 10000, 10000, 256, 32),
    H264Level(31, 108000, 3600, 18000, 14000, 14000, 512, 16),
    H264Level(32, 216000, 5120, 20480, 20000, 20000, 512, 16),
    H264Level(40, 245760, 8192, 32768, 20000, 25000, 512, 16),
    H264Level(41, 245760, 8192, 32768, 50000, 62500, 512, 16),
    H264Level(42, 522240, 8704, 34816, 50000, 62500, 512, 16),
    H264Level(50, 589824, 22080, 110400, 135000, 135000, 512, 16),
    H264Level(51, 983040, 36864, 184320, 240000, 240000, 512, 16),
    H264Level(52, 2_073_600, 36864, 184320, 240000, 240000, 512, 16),
    H264Level(60, 4_177_920, 139264, 696320, 240000, 240000, 8192, 16),
    H264Level(61, 8_355_840, 139264, 696320, 480000, 480000, 8192, 16),
    H264Level(62, 16_711_680, 139264, 696320, 800000, 800000, 8192, 16),
  ]

  private init(
    _ number: UInt8, _ macroblocksPerSecond: Int, _ frameSize: Int, _ dpbMacroblocks: Int, _ bitRate: Int,
    _ cpb: Int, _ verticalMotion: Int, _ motionVectors: Int?
  ) {
    self.number = number
    self.macroblocksPerSecond = macroblocksPerSecond
    self.frameSize = frameSize
    self.dpbMacroblocks = dpbMacroblocks
    self.bitRate = bitRate
    self.cpb = cpb
    self.verticalMotion = verticalMotion
    self.motionVectorsPerTwoMacroblocks = motionVectors
  }

  /// Returns the level with a number such as 31 for level 3.1, or 9 for level 1b; nil if there is
  /// none.
  package static func numbered(_ number: Int) -> H264Level? { all.first { Int($0.number) == number } }

  /// Whether the level allows a frame of this number of macroblocks in each direction (A.3.1).
  package func allows(widthInMbs: Int, heightInMbs: Int) -> Bool {
    let side = max(widthInMbs, heightInMbs)
    return widthInMbs * heightInMbs <= frameSize && side * side <= 8 * frameSize
  }

  /// Returns MaxDpbFrames (A.3.1), the largest max_num_ref_frames, for pictures of a size in
  /// macroblocks.
  package func dpbFrames(widthInMbs: Int, heightInMbs: Int) -> Int {
    min(dpbMacroblocks / max(widthInMbs * heightInMbs, 1), 16)
  }

  /// Returns the largest bit rate of VCL NAL units in bits per second (A.3.1 i and A.3.3 g). That
  /// of all NAL units is a fifth higher, but nearly all bits of a stream are in VCL NAL units.
  package func vclBitRate(profile: H264Profile) -> Int { bitRate * profile.vclFactor }

  /// Returns the largest coded picture buffer of VCL NAL units in bits.
  package func vclCPB(profile: H264Profile) -> Int { cpb * profile.vclFactor }

  /// The most macroblocks in a row or a column of a picture: the square root of eight times MaxFS
  /// (A.3.1 f and g).
  package var largestSide: Int {
    var side = 0
    while (side + 1) * (side + 1) <= 8 * frameSize { side += 1 }
    return side
  }

  /// Returns the first limit that a stream exceeds; nil if it fits the level.
  package func violation(by stream: H264StreamDemands) -> H264LevelViolation? {
    if !allows(widthInMbs: stream.widthInMbs, heightInMbs: stream.heightInMbs) { return .frameSize }
    if stream.macroblocksPerSecond > Double(macroblocksPerSecond) { return .macroblockRate }
    if stream.bitRate > vclBitRate(profile: stream.profile) { return .bitRate }
    if stream.cpb > vclCPB(profile: stream.profile) { return .codedPictureBuffer }
    if stream.referenceFrames > dpbFrames(widthInMbs: stream.widthInMbs, heightInMbs: stream.heightInMbs) {
      return .decodedPictureBuffer
    }
    return nil
  }

  /// Returns the lowest level that a stream fits; nil if it fits none.
  package static func lowest(for stream: H264StreamDemands) -> H264Level? {
    all.first { $0.violation(by: stream) == nil }
  }
}

/// The properties of a stream that levels limit.
package struct H264StreamDemands: Sendable {
  /// The profile, on which the units of bit rate and buffer size depend.
  package var profile: H264Profile
  /// The width in macroblocks.
  package var widthInMbs: Int
  /// The height in macroblocks.
  package var heightInMbs: Int
  /// The frame rate in frames per second; 0 if unknown.
  package var frameRate: Double = 0
  /// The highest bit rate in bits per second; 0 if unknown.
  package var bitRate: Int = 0
  /// The size of the coded picture buffer in bits; 0 if unknown.
  package var cpb: Int = 0
  /// max_num_ref_frames
  package var referenceFrames: Int = 1

  package init(
    profile: H264Profile, widthInMbs: Int, heightInMbs: Int, frameRate: Double = 0, bitRate: Int = 0,
    cpb: Int = 0, referenceFrames: Int = 1
  ) {
    self.profile = profile
    self.widthInMbs = widthInMbs
    self.heightInMbs = heightInMbs
    self.frameRate = frameRate
    self.bitRate = bitRate
    self.cpb = cpb
    self.referenceFrames = referenceFrames
  }

  /// The macroblocks per second; 0 if the frame rate is unknown.
  package var macroblocksPerSecond: Double { Double(widthInMbs * heightInMbs) * frameRate }
}

/// A limit of a level that a stream exceeds: MaxFS, MaxMBPS, MaxBR, MaxCPB or MaxDpbFrames.
package enum H264LevelViolation: Sendable {
  case frameSize, macroblockRate, bitRate, codedPictureBuffer, decodedPictureBuffer
}
