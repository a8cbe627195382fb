/// What both standards say of a picture in the same way: its shape, colour and fields.
package struct VideoUsability: Sendable {
  /// The width and height of a sample, of which only the ratio matters; nil if unknown.
  package var sampleAspectRatio: (width: Int, height: Int)?
  package var isFullRange = false
  /// Code points of ITU-T H.273; 2 stands for unknown.
  package var colorPrimaries = 2
  package var transferCharacteristics = 2
  package var matrixCoefficients = 2
  /// chroma_sample_loc_type of top and bottom fields; nil if it is not said.
  package var chromaLocations: (top: Int, bottom: Int)?
  /// Time units of a field, and units in a second; nil if unknown.
  package var timing: (unitsInTick: Int, timeScale: Int)?
  package var hasPictureStructure = false
  /// How many frames may precede any frame in decoding order and follow it in output order; nil if it is not said.
  package var maxReorderFrames: Int?
  package var maxDecodeFrameBuffering: Int?

  /// Table E-1: sample aspect ratios by aspect_ratio_idc.
  static let aspectRatios: [(Int, Int)] = [
    (0, 0), (1, 1), (12, 11), (10, 11), (16, 11), (40, 33), (24, 11), (20, 11), (32, 11), (80, 33), (18, 11),
    (15, 11), (64, 33), (160, 99), (4, 3), (3, 2), (2, 1),
  ]

  mutating func readAspectRatio(_ reader: inout RBSPReader) throws {
    guard try reader.bit() else { return }
    let idc = try reader.bits(8)
    let ratio =
      idc == 255
      ? (try reader.bits(16), try reader.bits(16))
      : idc < Self.aspectRatios.count ? Self.aspectRatios[idc] : (0, 0)
    if ratio.0 > 0, ratio.1 > 0 { sampleAspectRatio = ratio }
  }

  mutating func readVideoSignal(_ reader: inout RBSPReader) throws {
    guard try reader.bit() else { return }
    _ = try reader.bits(3)  // video_format
    isFullRange = try reader.bit()
    if try reader.bit() {
      colorPrimaries = try reader.bits(8)
      transferCharacteristics = try reader.bits(8)
      matrixCoefficients = try reader.bits(8)
    }
  }

  mutating func readChromaLocation(_ reader: inout RBSPReader) throws {
    guard try reader.bit() else { return }
    chromaLocations = (try reader.ue(max: 5), try reader.ue(max: 5))
  }
}
