// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import FFmpegMedia

/// Options of a session that decodes for a reader of AVFoundation. Such a session outputs frames in
/// presentation order from the first one on, accepts pictures of any dimensions in the stream,
/// conceals damage, and decodes no frame after a drain.
package struct DecompressionOptions: Sendable {
  /// The number of the decoder's threads; 0 means as many as there are processors.
  package var threads = 0
  /// The colours that pictures are converted to, as values of the colour attachments; nil keeps a
  /// picture's own.
  package var primaries: String?
  package var transferFunction: String?
  package var matrix: String?

  package init() {}

  /// Whether a picture needs no conversion of colours.
  /// - Parameter buffer: The picture, with its colour attachments.
  package func isMet(by buffer: CVPixelBuffer) -> Bool { transfer.isMet(by: buffer) }

  /// The colours as settings of a pixel transfer.
  var transfer: PixelTransferSettings {
    var settings = PixelTransferSettings()
    settings.primaries = primaries
    settings.transfer = transferFunction
    settings.matrix = matrix
    return settings
  }
}

extension VTDecompressionSession {
  /// Creates a session for a reader.
  /// - Parameters:
  ///   - description: The format of the frames.
  ///   - attributes: Attributes of the image buffers, or nil.
  ///   - options: The reader's options.
  /// - Returns: The session and `noErr`; or nil, and the status that `VTDecompressionSessionCreate`
  ///   returns, if it cannot be created.
  package static func make(
    _ description: CMVideoFormatDescription, attributes: CFDictionary?, options: DecompressionOptions
  ) -> (session: VTDecompressionSession?, status: OSStatus) {
    do throws(StatusError) {
      let session = try VTDecompressionSession(
        description, specification: nil, attributes: attributes, callback: nil, options: options)
      return (session, noErr)
    } catch {
      return (nil, error.status)
    }
  }
}
