// SPDX-License-Identifier: Apache-2.0
@_exported import VideoEncoding

/// An H.265 encoder: planes in, NAL units out.
///
/// One frame goes in and one frame comes out: there is no reordering. Not safe to use from two
/// threads at once; give it a queue or a lock of its own.
public final class HEVCEncoder {
  private let encoder: LowLatencyEncoder

  /// Creates an encoder.
  /// - Parameter configuration: what is coded, and how.
  /// - Throws: `HEVCEncoderError` with the value that is out of range.
  public init(configuration: HEVCEncoderConfiguration) throws {
    encoder = try LowLatencyEncoder(configuration: configuration)
  }

  // MARK: - The stream

  /// The configuration, as `reconfigure` left it.
  public var configuration: HEVCEncoderConfiguration { encoder.configuration }

  /// The video, sequence and picture parameter sets, NAL unit headers included, without start codes.
  public var parameterSets: (video: [UInt8], sequence: [UInt8], pictures: [[UInt8]]) {
    encoder.parameterSets
  }

  /// Changes what may change in mid-stream: rates, limits, the frame rate, the QP range, key frames,
  /// frame dropping, the response to a new scene, the effort and measurement. The next picture
  /// follows it.
  ///
  /// - Parameter new: the configuration from then on.
  /// - Throws: `HEVCEncoderError.invalidConfiguration` if a value is out of range, `.fixedInStream`
  ///   if anything else differs, `.levelExceeded` if the stream's level does not allow the rates;
  ///   nothing changes then.
  public func reconfigure(_ new: HEVCEncoderConfiguration) throws { try encoder.reconfigure(new) }

  // MARK: - Encoding

  /// Codes a picture. Its memory is read until the call returns.
  ///
  /// - Parameters:
  ///   - source: the picture, of the configuration's size.
  ///   - options: what the caller wants of the frame.
  /// - Returns: the frame; `properties.isDropped` says that the rate control left it out.
  /// - Throws: `HEVCEncoderError` if the picture or the options do not fit; the encoder stays as it
  ///   was.
  public func encode(
    _ source: SourcePicture, options: HEVCFrameOptions = HEVCFrameOptions()
  ) throws -> HEVCEncodedFrame {
    try encoder.encode(source, options: options)
  }

  /// Calls `body` with the planes of the last coded picture as a decoder shows it.
  /// - Parameter body: gets luma, Cb and Cr, the bytes from one row of luma to the next, and those
  ///   of Cb and Cr.
  /// - Returns: what `body` returns; nil if no picture was coded yet.
  public func withReconstruction<R>(
    _ body: (
      _ luma: UnsafePointer<UInt8>, _ cb: UnsafePointer<UInt8>, _ cr: UnsafePointer<UInt8>,
      _ lumaBytesPerRow: Int, _ chromaBytesPerRow: Int
    ) throws -> R
  ) rethrows -> R? {
    try encoder.withReconstruction(body)
  }

  // MARK: - References

  /// Tells that the receiver lacks a frame: neither it nor what came after, which may depend on it,
  /// is referred to any more.
  /// - Parameter index: the frame's number (`HEVCFrameProperties.index`).
  public func invalidateReferences(from index: UInt64) { encoder.invalidateReferences(from: index) }

  /// Tells that a frame is the only one that the receiver is known to have: no other is referred to
  /// any more.
  /// - Parameter index: the frame's number (`HEVCFrameProperties.index`).
  public func invalidateReferences(except index: UInt64) {
    encoder.invalidateReferences(except: index)
  }

  /// Numbers of the frames that could be referred to now, the newest first.
  public var availableReferences: [UInt64] { encoder.availableReferences }

  /// Whether there is any frame that could be referred to now.
  public var hasAvailableReference: Bool { encoder.hasAvailableReference }

  /// Numbers of the frames that the last coded frame may refer to; none for a key frame.
  public var lastReferences: [UInt64] { encoder.lastReferences }
}
