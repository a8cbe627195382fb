// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import Foundation

/// Converts static HDR metadata between libav's structures and the layout of the SEI messages
/// (H.265, D.2.28 and D.2.35), which the boxes `mdcv` and `clli` have, too.
enum HDRSideData {
  /// Units per 1: chromaticities in units of 0.00002, luminances in units of 0.0001 cd/m2.
  private static let chromaticity: Int32 = 50_000
  private static let luminance: Int32 = 10_000

  /// The mastering display of a stream in 24 bytes: x and y of green, blue, red and white, maximum
  /// and minimum luminance; nil if the stream does not have it.
  static func masteringDisplay(of stream: UnsafePointer<AVStream>) -> Data? {
    var size = 0
    guard let side = av_stream_get_side_data(stream, AV_PKT_DATA_MASTERING_DISPLAY_METADATA, &size),
      size >= MemoryLayout<AVMasteringDisplayMetadata>.size
    else { return nil }
    return data(UnsafeRawPointer(side).loadUnaligned(as: AVMasteringDisplayMetadata.self))
  }

  /// The mastering display of a decoded picture, in the same layout; some streams have it in SEI
  /// messages only.
  static func masteringDisplay(of frame: UnsafePointer<AVFrame>) -> Data? {
    guard let side = av_frame_get_side_data(frame, AV_FRAME_DATA_MASTERING_DISPLAY_METADATA),
      side.pointee.size >= MemoryLayout<AVMasteringDisplayMetadata>.size, let values = side.pointee.data
    else { return nil }
    return data(UnsafeRawPointer(values).loadUnaligned(as: AVMasteringDisplayMetadata.self))
  }

  private static func data(_ values: AVMasteringDisplayMetadata) -> Data? {
    guard values.has_primaries != 0, values.has_luminance != 0 else { return nil }
    let (red, green, blue) = values.display_primaries
    var data = Data()
    for pair in [green, blue, red, values.white_point] {
      append(&data, units(pair.0, chromaticity), bytes: 2)
      append(&data, units(pair.1, chromaticity), bytes: 2)
    }
    append(&data, units(values.max_luminance, luminance), bytes: 4)
    append(&data, units(values.min_luminance, luminance), bytes: 4)
    return data
  }

  /// The content light level of a stream in 4 bytes: MaxCLL and MaxFALL in cd/m2; nil if the stream
  /// does not have it.
  static func contentLightLevel(of stream: UnsafePointer<AVStream>) -> Data? {
    var size = 0
    guard let side = av_stream_get_side_data(stream, AV_PKT_DATA_CONTENT_LIGHT_LEVEL, &size),
      size >= MemoryLayout<AVContentLightMetadata>.size
    else { return nil }
    return data(UnsafeRawPointer(side).loadUnaligned(as: AVContentLightMetadata.self))
  }

  /// The content light level of a decoded picture, in the same layout.
  static func contentLightLevel(of frame: UnsafePointer<AVFrame>) -> Data? {
    guard let side = av_frame_get_side_data(frame, AV_FRAME_DATA_CONTENT_LIGHT_LEVEL),
      side.pointee.size >= MemoryLayout<AVContentLightMetadata>.size, let values = side.pointee.data
    else { return nil }
    return data(UnsafeRawPointer(values).loadUnaligned(as: AVContentLightMetadata.self))
  }

  private static func data(_ values: AVContentLightMetadata) -> Data {
    var data = Data()
    append(&data, Int64(min(values.MaxCLL, 65535)), bytes: 2)
    append(&data, Int64(min(values.MaxFALL, 65535)), bytes: 2)
    return data
  }

  /// Sets the metadata of an output stream. Data of a wrong size is ignored.
  /// - Parameters:
  ///   - masteringDisplay: 24 bytes as `masteringDisplay(of:)` returns them.
  ///   - contentLightLevel: 4 bytes as `contentLightLevel(of:)` returns them.
  ///   - stream: The stream.
  /// - Throws: `MediaFileError` if memory runs out.
  static func set(
    masteringDisplay: Data?, contentLightLevel: Data?, on stream: UnsafeMutablePointer<AVStream>
  ) throws {
    if let masteringDisplay, masteringDisplay.count == 24 {
      var values = AVMasteringDisplayMetadata()
      func pair(_ at: Int) -> (AVRational, AVRational) {
        (
          AVRational(num: Int32(number(masteringDisplay, at, bytes: 2)), den: chromaticity),
          AVRational(num: Int32(number(masteringDisplay, at + 2, bytes: 2)), den: chromaticity)
        )
      }
      values.display_primaries = (pair(8), pair(0), pair(4))
      values.white_point = pair(12)
      values.max_luminance = AVRational(
        num: Int32(clamping: number(masteringDisplay, 16, bytes: 4)), den: luminance)
      values.min_luminance = AVRational(
        num: Int32(clamping: number(masteringDisplay, 20, bytes: 4)), den: luminance)
      values.has_primaries = 1
      values.has_luminance = 1
      try add(&values, AV_PKT_DATA_MASTERING_DISPLAY_METADATA, to: stream)
    }
    if let contentLightLevel, contentLightLevel.count == 4 {
      var values = AVContentLightMetadata()
      values.MaxCLL = UInt32(number(contentLightLevel, 0, bytes: 2))
      values.MaxFALL = UInt32(number(contentLightLevel, 2, bytes: 2))
      try add(&values, AV_PKT_DATA_CONTENT_LIGHT_LEVEL, to: stream)
    }
  }

  private static func add<Values>(
    _ values: inout Values, _ type: AVPacketSideDataType, to stream: UnsafeMutablePointer<AVStream>
  ) throws {
    let size = MemoryLayout<Values>.size
    guard let side = av_stream_new_side_data(stream, type, size) else {
      throw MediaFileError(.outOfMemory, "out of memory")
    }
    withUnsafeBytes(of: &values) { bytes in
      UnsafeMutableRawBufferPointer(start: side, count: size).copyMemory(from: bytes)
    }
  }

  private static func units(_ value: AVRational, _ scale: Int32) -> Int64 {
    value.den == 0 ? 0 : max(0, av_rescale(Int64(value.num), Int64(scale), Int64(value.den)))
  }

  private static func append(_ data: inout Data, _ value: Int64, bytes: Int) {
    let value = min(value, bytes == 2 ? 0xFFFF : 0xFFFF_FFFF)
    for index in (0..<bytes).reversed() {
      data.append(UInt8(truncatingIfNeeded: value >> (8 * Int64(index))))
    }
  }

  private static func number(_ data: Data, _ at: Int, bytes: Int) -> Int64 {
    data.dropFirst(at).prefix(bytes).reduce(0) { $0 << 8 | Int64($1) }
  }
}
