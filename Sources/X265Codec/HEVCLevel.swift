/// What a level of HEVC allows (table A.8 of the standard).
struct HEVCLevel: Sendable {
  /// Ten times the level's number.
  var number: Int
  var maxLumaPictureSize: Int

  static let all: [HEVCLevel] = [
    (10, 36864), (20, 122_880), (21, 245_760), (30, 552_960), (31, 983_040), (40, 2_228_224), (41, 2_228_224),
    (50, 8_912_896), (51, 8_912_896), (52, 8_912_896), (60, 35_651_584), (61, 35_651_584), (62, 35_651_584),
  ].map { HEVCLevel(number: $0.0, maxLumaPictureSize: $0.1) }

  static func level(_ number: Int) -> HEVCLevel? { all.first { $0.number == number } }

  func fits(width: Int, height: Int) -> Bool {
    width * height <= maxLumaPictureSize && width * width <= 8 * maxLumaPictureSize
      && height * height <= 8 * maxLumaPictureSize
  }
}
