// SPDX-License-Identifier: Apache-2.0
import VideoEncoding

/// The part of an `HEVCEncoder` that differs between its two modes: the decisions before a picture
/// is coded (`PictureCoder`).
protocol EncodingStrategy: AnyObject {
  var configuration: HEVCEncoderConfiguration { get }
  var parameterSets: (video: [UInt8], sequence: [UInt8], pictures: [[UInt8]]) { get }
  var reorderingDepth: Int { get }
  var heldFrameCount: Int { get }

  func encode(
    _ source: HEVCSource, options: HEVCFrameOptions, output: (consuming HEVCEncodedFrame) -> Void
  ) throws
  func flush(output: (consuming HEVCEncodedFrame) -> Void)
  func complete(through index: UInt64, output: (consuming HEVCEncodedFrame) -> Void)
  func reconfigure(_ new: HEVCEncoderConfiguration) throws
  /// The coder, and the index in its pool of the last coded picture; nil before the first.
  var coder: AnyPictureCoder { get }
  var lastPicture: Int? { get }
}

extension LowLatencyEncoder: EncodingStrategy {
  var reorderingDepth: Int { 0 }
  var heldFrameCount: Int { 0 }

  func encode(
    _ source: HEVCSource, options: HEVCFrameOptions, output: (consuming HEVCEncodedFrame) -> Void
  ) throws {
    output(try encode(source, options: options))
  }

  func flush(output: (consuming HEVCEncodedFrame) -> Void) {}
  func complete(through index: UInt64, output: (consuming HEVCEncodedFrame) -> Void) {}
}
