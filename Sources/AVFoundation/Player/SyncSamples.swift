// SPDX-License-Identifier: Apache-2.0
import Foundation

extension AVAssetTrack {
  /// The presentation time of the last key frame at or before a time; invalid if it is unknown.
  func syncSampleTime(before time: CMTime) -> CMTime {
    guard let asset, let reader = try? AVAssetReader(asset: asset) else { return .invalid }
    let output = AVAssetReaderTrackOutput(track: self, outputSettings: nil)
    output.alwaysCopiesSampleData = false
    reader.timeRange = CMTimeRange(start: time, duration: .positiveInfinity)
    reader.add(output)
    guard reader.startReading() else { return .invalid }
    defer { reader.cancelReading() }
    guard let sample = output.copyNextSampleBuffer() else { return .invalid }
    let found = CMSampleBufferGetPresentationTimeStamp(sample)
    return found.isNumeric && found <= time ? found : .invalid
  }
}
