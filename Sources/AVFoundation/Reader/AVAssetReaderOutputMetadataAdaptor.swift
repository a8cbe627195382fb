// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Gives the samples of a timed metadata track as groups of metadata items.
open class AVAssetReaderOutputMetadataAdaptor: NSObject, @unchecked Sendable {
  // Sendable: immutable; the output has its own locks.
  public let assetReaderTrackOutput: AVAssetReaderTrackOutput

  /// Creates an adaptor.
  /// - Parameter trackOutput: An output of a track of type `.metadata`, without output settings.
  ///   Its samples must be read only through the adaptor.
  public init(assetReaderTrackOutput trackOutput: AVAssetReaderTrackOutput) {
    assetReaderTrackOutput = trackOutput
    super.init()
  }

  /// Waits for the next group and returns it. A group without items ends the previous one.
  /// - Returns: Nil at the end, and after a failure; `AVAssetReader.status` tells which. A sample
  ///   that is not a list of metadata boxes makes the reader fail with `AVError.fileFailedToParse`.
  open func nextTimedMetadataGroup() -> AVTimedMetadataGroup? {
    guard let sample = assetReaderTrackOutput.copyNextSampleBuffer() else { return nil }
    if let group = AVTimedMetadataGroup(sampleBuffer: sample) { return group }
    assetReaderTrackOutput.reader?.fail(
      AVError(
        .fileFailedToParse, reason: "A sample is not timed metadata in boxes, or is damaged.",
        advice: "Read the samples of the track without the metadata adaptor."))
    return nil
  }
}
