// SPDX-License-Identifier: Apache-2.0
import VideoEncoding

/// The part of an `H264Encoder` that differs between its two modes.
///
/// The modes share the coding of a picture (`PictureCoder`) and differ in the decisions before it.
/// In the low-latency mode, a picture's type, references and QP depend on earlier pictures and on
/// the receiver's feedback, and its bits on the transmission queue. With a look-ahead they also
/// depend on later pictures.
protocol EncodingStrategy: AnyObject {
  var configuration: H264EncoderConfiguration { get }
  var parameterSets: (sequence: [UInt8], pictures: [[UInt8]]) { get }
  var reorderingDepth: Int { get }
  var heldFrameCount: Int { get }

  func encode(
    _ source: SourcePicture, options: H264FrameOptions, output: (consuming H264EncodedFrame) -> Void
  ) throws
  func flush(output: (consuming H264EncodedFrame) -> Void)
  func complete(through index: UInt64, output: (consuming H264EncodedFrame) -> Void)
  func reconfigure(_ new: H264EncoderConfiguration) throws
  func withReconstruction<R>(
    _ body: (_ luma: UnsafePointer<UInt8>, _ chroma: UnsafePointer<UInt8>, _ bytesPerRow: Int) throws -> R
  ) rethrows -> R?
}
