// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Gives the samples of a track of timed metadata as groups of items.
open class AVAssetReaderOutputMetadataAdaptor: NSObject, @unchecked Sendable {
  // Sendable: immutable; the output has its own locks.
  public let assetReaderTrackOutput: AVAssetReaderTrackOutput

  /// - Parameter trackOutput: Of a track of type `.metadata`, without output settings. Take its samples from here alone.
  public init(assetReaderTrackOutput trackOutput: AVAssetReaderTrackOutput) {
    assetReaderTrackOutput = trackOutput
    super.init()
  }

  /// The next group, waiting for it if need be; one without items says that nothing holds. nil at the end, and after a failure:
  /// see `AVAssetReader.status`. A sample that is no list of metadata in boxes makes the reader fail with
  /// `AVError.fileFailedToParse`.
  open func nextTimedMetadataGroup() -> AVTimedMetadataGroup? {
    guard let sample = assetReaderTrackOutput.copyNextSampleBuffer() else { return nil }
    if let group = AVTimedMetadataGroup(sampleBuffer: sample) { return group }
    assetReaderTrackOutput.reader?.fail(
      AVError(
        .fileFailedToParse, reason: "A sample is no timed metadata in boxes, or is damaged.",
        advice: "Read the track's samples as they are."))
    return nil
  }
}
