// SPDX-License-Identifier: Apache-2.0
/// A level of HEVC and its limits (Tables A.8 and A.9).
package struct HEVCLevel: Equatable, Sendable {
  package enum Tier: Sendable {
    case main, high
  }

  /// The limits of a tier, in units of 1000 bits and 1000 bits/s (CpbVclFactor and BrVclFactor of
  /// Main and Main 10).
  package struct Rates: Equatable, Sendable {
    package let cpb: Int
    package let bitRate: Int
  }

  /// Ten times the number of the level; general_level_idc is three times that.
  package let number: Int
  /// MaxLumaPs in luma samples.
  package let pictureSize: Int
  /// MaxLumaSr in luma samples per second.
  package let sampleRate: Int
  package let main: Rates
  /// The limits of the High tier; nil below level 4, where there is none.
  package let high: Rates?
  /// MaxSliceSegmentsPerPicture
  package let sliceSegments: Int
  package let tileRows: Int
  package let tileColumns: Int

  /// All levels, the lowest first.
  package static let all: [HEVCLevel] = [
    HEVCLevel(10, 36864, 552_960, (350, 128), nil, 16, 1, 1),
    HEVCLevel(20, 122_880, 3_686_400, (1500, 1500), nil, 16, 1, 1),
    HEVCLevel(21, 245_760, 7_372_800, (3000, 3000), nil, 20, 1, 1),
    HEVCLevel(30, 552_960, 16_588_800, (6000, 6000), nil, 30, 2, 2),
    HEVCLevel(31, 983_040, 33_177_600, (10000, 10000), nil, 40, 3, 3),
    HEVCLevel(40, 2_228_224, 66_846_720, (12000, 12000), (30000, 30000), 75, 5, 5),
    HEVCLevel(41, 2_228_224, 133_693_440, (20000, 20000), (50000, 50000), 75, 5, 5),
    HEVCLevel(50, 8_912_896, 267_386_880, (25000, 25000), (100_000, 100_000), 200, 11, 10),
    HEVCLevel(51, 8_912_896, 534_773_760, (40000, 40000), (160_000, 160_000), 200, 11, 10),
    HEVCLevel(52, 8_912_896, 1_069_547_520, (60000, 60000), (240_000, 240_000), 200, 11, 10),
    HEVCLevel(60, 35_651_584, 1_069_547_520, (60000, 60000), (240_000, 240_000), 600, 22, 20),
    HEVCLevel(61, 35_651_584, 2_139_095_040, (120_000, 120_000), (480_000, 480_000), 600, 22, 20),
    HEVCLevel(62, 35_651_584, 4_278_190_080, (240_000, 240_000), (800_000, 800_000), 600, 22, 20),
  ]

  private init(
    _ number: Int, _ pictureSize: Int, _ sampleRate: Int, _ main: (cpb: Int, bitRate: Int),
    _ high: (cpb: Int, bitRate: Int)?, _ sliceSegments: Int, _ tileRows: Int, _ tileColumns: Int
  ) {
    self.number = number
    self.pictureSize = pictureSize
    self.sampleRate = sampleRate
    self.main = Rates(cpb: main.cpb, bitRate: main.bitRate)
    self.high = high.map { Rates(cpb: $0.cpb, bitRate: $0.bitRate) }
    self.sliceSegments = sliceSegments
    self.tileRows = tileRows
    self.tileColumns = tileColumns
  }

  /// Returns the level with a number such as 31 for level 3.1; nil if there is none.
  package static func numbered(_ number: Int) -> HEVCLevel? { all.first { $0.number == number } }

  /// Whether the level allows a picture of this size in luma samples (A.4.1).
  package func allows(width: Int, height: Int) -> Bool {
    width * height <= pictureSize && width * width <= 8 * pictureSize && height * height <= 8 * pictureSize
  }
}
