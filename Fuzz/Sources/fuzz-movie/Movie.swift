// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation

private let path = "/dev/shm/ovt-fuzz-\(ProcessInfo.processInfo.processIdentifier).mp4"

/// Opens the input as a movie, and reads its tracks and their stored samples, or sometimes decoded
/// pictures.
func fuzzMovie(_ data: UnsafePointer<UInt8>?, _ size: Int) -> Int32 {
  guard let data, size > 8 else { return 0 }
  let url = URL(fileURLWithPath: path)
  guard (try? Data(bytes: data, count: size).write(to: url)) != nil else { return 0 }
  let asset = AVURLAsset(url: url)
  guard CMTimeGetSeconds(asset.duration) >= 0 || !asset.duration.isNumeric else {
    fatalError("a duration of \(asset.duration)")
  }
  for track in asset.tracks {
    _ = (track.naturalSize, track.nominalFrameRate, track.timeRange, track.preferredTransform)
    let decoded = data[size - 1] & 1 == 1
    let settings: [String: Any]? =
      decoded && track.mediaType == .video
      ? [kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange] : nil
    guard let reader = try? AVAssetReader(asset: asset) else { continue }
    let output = AVAssetReaderTrackOutput(track: track, outputSettings: settings)
    guard reader.canAdd(output) else { continue }
    reader.add(output)
    guard reader.startReading() else { continue }
    var count = 0
    while count < 50, let sample = output.copyNextSampleBuffer() {
      count += 1
      _ = CMSampleBufferGetPresentationTimeStamp(sample)
      _ = CMSampleBufferGetTotalSampleSize(sample)
      if let description = CMSampleBufferGetFormatDescription(sample) {
        _ = CMFormatDescriptionGetExtensions(description)
      }
    }
    reader.cancelReading()
  }
  return 0
}
