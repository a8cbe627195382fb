/// What a level of H.264 allows (table A-1 of the standard).
struct H264Level: Sendable {
  /// Ten times the level's number.
  var number: Int
  /// Macroblocks a second.
  var maxMacroblockRate: Int
  /// Macroblocks of a frame.
  var maxFrameSize: Int
  /// Macroblocks of the decoded picture buffer.
  var maxBufferSize: Int

  static let all: [H264Level] = [
    (10, 1485, 99, 396), (11, 3000, 396, 900), (12, 6000, 396, 2376), (13, 11880, 396, 2376),
    (20, 11880, 396, 2376), (21, 19800, 792, 4752), (22, 20250, 1620, 8100),
    (30, 40500, 1620, 8100), (31, 108_000, 3600, 18000), (32, 216_000, 5120, 20480),
    (40, 245_760, 8192, 32768), (41, 245_760, 8192, 32768), (42, 522_240, 8704, 34816),
    (50, 589_824, 22080, 110_400), (51, 983_040, 36864, 184_320),
    (52, 2_073_600, 36864, 184_320), (60, 4_177_920, 139_264, 696_320),
    (61, 8_355_840, 139_264, 696_320), (62, 16_711_680, 139_264, 696_320),
  ].map {
    H264Level(number: $0.0, maxMacroblockRate: $0.1, maxFrameSize: $0.2, maxBufferSize: $0.3)
  }

  static func level(_ number: Int) -> H264Level? { all.first { $0.number == number } }

  /// True if a frame of this many macroblocks in each direction fits.
  func fits(macroblocksWide wide: Int, high: Int) -> Bool {
    wide * high <= maxFrameSize && wide * wide <= 8 * maxFrameSize && high * high <= 8 * maxFrameSize
  }

  /// Frames that the decoded picture buffer holds.
  func bufferedFrames(macroblocks: Int) -> Int { min(16, maxBufferSize / max(macroblocks, 1)) }
}
