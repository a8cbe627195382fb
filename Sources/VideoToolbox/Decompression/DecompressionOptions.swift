// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import FFmpegMedia

/// How the readers of AVFoundation decode with a session of their own: in order of presentation from the first frame
/// on, whatever the stream's pictures measure, with damage concealed, and never going on after a drain.
package struct DecompressionOptions: Sendable {
  /// Of the decoder; 0: as many as there are processors.
  package var threads = 0
  /// The values of the colour attachments that pictures are converted to; nil leaves a colour as it is.
  package var primaries: String?
  package var transferFunction: String?
  package var matrix: String?

  package init() {}

  /// Whether a picture has the colours already that are asked for.
  package func isMet(by buffer: CVPixelBuffer) -> Bool { transfer.isMet(by: buffer) }

  var transfer: PixelTransferSettings {
    var settings = PixelTransferSettings()
    settings.primaries = primaries
    settings.transfer = transferFunction
    settings.matrix = matrix
    return settings
  }
}

extension VTDecompressionSession {
  /// A session for a reader.
  /// - Returns: nil, and the status that `VTDecompressionSessionCreate` gives, if it cannot be made.
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
