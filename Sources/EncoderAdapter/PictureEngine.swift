// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import VideoEncoding

/// The requests to an encoder of this package for a picture.
package struct EngineRequest: Sendable {
  /// Whether it is a key frame.
  package var isKeyFrame = false
  /// The QP; nil: the rate control chooses it.
  package var qp: Int?
  /// The seconds since the last picture; nil: not known.
  package var duration: Double?
  /// Whether later frames may refer to it.
  package var isReference = true
  /// Its temporal layer.
  package var temporalLayer = 0
  /// Its bits as a multiple of the mean of all frames.
  package var budgetShare = 1.0
  /// The long-term slot in which it is kept; nil: none.
  package var longTermSlot: Int?
  /// The long-term slot that alone it may refer to; nil: it may refer to any available frame.
  package var reference: Int?

  /// Creates a request for a picture like any other.
  package init() {}
}

/// A frame of an encoder of this package. A dropped one has neither data nor properties.
package struct EngineFrame: ~Copyable {
  /// The encoder's number of the picture.
  package let index: UInt64
  /// The long-term slot in which it is kept; nil: none.
  package let longTermSlot: Int?
  /// The results that a session receives.
  package let properties: CompressedFrame.Properties
  /// Its bytes; nil if it was dropped.
  package var data: CompressedData?

  /// Creates a frame; the properties describe the parameters.
  package init(
    index: UInt64, longTermSlot: Int?, properties: CompressedFrame.Properties,
    data: consuming CompressedData?
  ) {
    (self.index, self.longTermSlot, self.properties) = (index, longTermSlot, properties)
    self.data = data
  }
}

/// An encoder of this package, with a low-latency mode and a mode with look-ahead, as
/// `EngineAdapter` drives it.
package protocol PictureEngine: ReferenceKeeping {
  /// The encoder's configuration.
  associatedtype Configuration

  /// Makes an encoder for a session.
  /// - Parameters:
  ///   - configuration: the configuration of the session.
  ///   - looksAhead: whether the stream is coded with a look-ahead.
  ///   - statistics: the statistics of the pass before; nil: there is none.
  /// - Throws: `CodecError` or the encoder's error if it does not support the configuration.
  static func make(
    _ configuration: VideoEncoderConfiguration, looksAhead: Bool, statistics: StoredPass?
  ) throws -> Self

  /// Converts a configuration to which the running stream is to change.
  /// - Parameters:
  ///   - new: the configuration.
  ///   - old: the present configuration.
  ///   - looksAhead: whether the stream is coded with a look-ahead.
  ///   - statistics: the statistics of the pass before; nil: there is none.
  /// - Throws: `CodecError` if the encoder does not support it.
  func converted(
    _ new: VideoEncoderConfiguration, from old: VideoEncoderConfiguration, looksAhead: Bool,
    statistics: StoredPass?
  ) throws(CodecError) -> Configuration

  /// Changes the configuration.
  /// - Throws: `VideoEncoderError`.
  func reconfigure(_ new: Configuration) throws

  /// The parameter sets of the stream.
  var streamSets: ParameterSets { get }
  /// The size of the pictures in luma samples, as the encoder counts it.
  var codedSize: (width: Int, height: Int) { get }
  /// The number of long-term slots.
  var longTermSlots: Int { get }
  /// The largest number of frames that precede a frame in decoding order and follow it in output
  /// order.
  var reorderingDepth: Int { get }
  /// The number of pictures that wait or are being coded.
  var heldFrameCount: Int { get }

  /// Encodes a picture in memory of the coded size, and outputs the frames that are ready.
  /// - Throws: `CodecError` or `VideoEncoderError` if the picture or the request does not fit.
  func encode(
    _ picture: InputPicture, _ request: EngineRequest, output: (consuming EngineFrame) -> Void
  ) throws
  /// Encodes all pictures that wait.
  func flush(output: (consuming EngineFrame) -> Void)
  /// Encodes the pictures that wait up to one.
  func complete(through index: UInt64, output: (consuming EngineFrame) -> Void)

  /// Whether statistics of coded pictures are kept for a next pass.
  var keepsStatistics: Bool { get set }
  /// The statistics since the last call of `takeStatistics`.
  var statistics: PassStatistics { get }
  /// Returns `statistics` and empties it.
  func takeStatistics() -> PassStatistics
  /// Sets the time of the first picture in seconds, for streams that are joined.
  func begin(at seconds: Double)
  /// The bits that the decoder's buffer lacks at the end of what joined streams have agreed upon.
  var bufferMiss: Double { get }
}
