// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import Foundation

/// The configuration record of a VP9 stream (`vpcC`; VP Codec ISO Media File Format Binding, 1.0).
///
/// Matroska and WebM files do not have it, and libavformat does not keep that of an MP4 file but
/// derives it from the codec parameters when it writes one, for which it needs the pixel format.
struct VP9Configuration {
  /// The version and flags of the box, and its fields.
  private static let size = 12

  /// The record, from the version on.
  let record: Data
  /// The pixel format of the decoded pictures.
  let pixelFormat: AVPixelFormat

  /// Makes the record of a stream.
  /// - Parameter parameters: the codec parameters. Nil is returned if their pixel format is not one
  ///   of VP9.
  init?(_ parameters: AVCodecParameters) {
    let format = AVPixelFormat(rawValue: parameters.format)
    guard let fields = Self.formats.first(where: { $0.format == format }) else { return nil }
    pixelFormat = format
    let profile = (fields.chroma > 1 ? 1 : 0) + (fields.depth > 8 ? 2 : 0)
    let level = (10...62).contains(parameters.level) ? parameters.level : 0
    let isFullRange = parameters.color_range == AVCOL_RANGE_JPEG
    func code(_ value: UInt32) -> UInt8 { UInt8(exactly: value) ?? 2 }
    record = Data([
      1, 0, 0, 0, UInt8(profile), UInt8(level),
      UInt8(fields.depth << 4 | fields.chroma << 1 | (isFullRange ? 1 : 0)),
      code(parameters.color_primaries.rawValue), code(parameters.color_trc.rawValue),
      code(parameters.color_space.rawValue), 0, 0,
    ])
  }

  /// Reads a record. Nil is returned if it is not one of version 1 or has reserved values.
  init?(record: Data) {
    let bytes = [UInt8](record.prefix(Self.size))
    guard bytes.count == Self.size, bytes[0] == 1 else { return nil }
    let (depth, chroma) = (Int(bytes[6] >> 4), Int(bytes[6] >> 1 & 7))
    guard
      let fields = Self.formats.first(where: {
        $0.depth == depth && ($0.chroma == chroma || $0.chroma == 1 && chroma == 0)
      })
    else { return nil }
    self.record = record
    pixelFormat = fields.format
  }

  /// The pixel formats by bits of a component and the code of the chroma format: 1 for 4:2:0, 2 for
  /// 4:2:2 and 3 for 4:4:4.
  private static let formats: [(format: AVPixelFormat, depth: Int, chroma: Int)] = [
    (AV_PIX_FMT_YUV420P, 8, 1), (AV_PIX_FMT_YUV422P, 8, 2), (AV_PIX_FMT_YUV444P, 8, 3),
    (AV_PIX_FMT_YUV420P10LE, 10, 1), (AV_PIX_FMT_YUV422P10LE, 10, 2), (AV_PIX_FMT_YUV444P10LE, 10, 3),
    (AV_PIX_FMT_YUV420P12LE, 12, 1), (AV_PIX_FMT_YUV422P12LE, 12, 2), (AV_PIX_FMT_YUV444P12LE, 12, 3),
    // RGB, which the matrix tells from 4:4:4.
    (AV_PIX_FMT_GBRP, 8, 3), (AV_PIX_FMT_GBRP10LE, 10, 3), (AV_PIX_FMT_GBRP12LE, 12, 3),
  ]
}
