// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import FuzzDriver

/// Writes the input to a file and opens it as whatever format libavformat recognises.
func asset(_ data: Data, _ ending: String) -> AVURLAsset? {
  let url = URL(fileURLWithPath: "/dev/shm/ovt-fuzz-\(ProcessInfo.processInfo.processIdentifier).\(ending)")
  guard (try? data.write(to: url)) != nil else { return nil }
  return AVURLAsset(url: url)
}

private let endings = [
  "mov", "mkv", "avi", "264", "265", "ts", "y4m", "caf", "wav", "m4a", "ffconcat", "flv",
]

/// Generates images at arbitrary times, with the track's transform and a size limit.
@Sendable func fuzzImages(_ input: inout FuzzInput) {
  let times = (0..<3).map { _ in
    CMTime(value: Int64(input.number()), timescale: Int32(clamping: input.number()))
  }
  let limit = CGSize(width: input.real(), height: input.real())
  let flags = input.byte()
  guard let asset = asset(input.rest(), "mov") else { return }
  let generator = AVAssetImageGenerator(asset: asset)
  generator.appliesPreferredTrackTransform = flags & 1 == 0
  generator.maximumSize = flags & 2 == 0 ? .zero : limit
  if flags & 4 != 0 { generator.requestedTimeToleranceBefore = .zero }
  if flags & 8 != 0 { generator.requestedTimeToleranceAfter = .zero }
  for time in times + [.zero] {
    guard let image = try? generator.copyCGImage(at: time, actualTime: nil) else { continue }
    require(
      (1...65536).contains(image.width) && (1...65536).contains(image.height),
      "\(image.width)x\(image.height)")
  }
}

/// Decodes the audio of any container to PCM with arbitrary settings.
@Sendable func fuzzAudio(_ input: inout FuzzInput) {
  var settings: [String: Any] = [AVFormatIDKey: NSNumber(value: kAudioFormatLinearPCM)]
  let flags = input.byte()
  if flags & 1 != 0 { settings[AVSampleRateKey] = NSNumber(value: input.real()) }
  if flags & 2 != 0 { settings[AVNumberOfChannelsKey] = NSNumber(value: input.real()) }
  if flags & 4 != 0 {
    settings[AVLinearPCMBitDepthKey] = NSNumber(value: [8, 16, 24, 32, 64][Int(input.byte()) % 5])
  }
  if flags & 8 != 0 { settings[AVLinearPCMIsFloatKey] = NSNumber(value: true) }
  if flags & 16 != 0 { settings[AVLinearPCMIsBigEndianKey] = NSNumber(value: true) }
  if flags & 32 != 0 { settings[AVLinearPCMIsNonInterleaved] = NSNumber(value: true) }
  let ending = endings[Int(input.byte()) % endings.count]
  guard let asset = asset(input.rest(), ending) else { return }
  for track in asset.tracks(withMediaType: .audio).prefix(2) { read(track, of: asset, settings, count: 40) }
}

/// Decodes the pictures of any container in the decoder's own format, or as 2vuy or BGRA.
@Sendable func fuzzPictures(_ input: inout FuzzInput) {
  let flags = input.byte()
  let ending = endings[Int(input.byte()) % endings.count]
  let range = CMTimeRange(
    start: CMTime(value: Int64(input.number()), timescale: 30),
    duration: CMTime(value: Int64(input.number()), timescale: 30))
  guard let asset = asset(input.rest(), ending) else { return }
  let settings: [String: Any] =
    flags & 1 == 0
    ? [:]
    : [
      kCVPixelBufferPixelFormatTypeKey as String: flags & 2 == 0
        ? kCVPixelFormatType_422YpCbCr8 : kCVPixelFormatType_32BGRA
    ]
  for track in asset.tracks(withMediaType: .video).prefix(2) {
    read(track, of: asset, settings, count: 12, range: flags & 4 == 0 ? nil : range)
  }
}

private func read(
  _ track: AVAssetTrack, of asset: AVAsset, _ settings: [String: Any]?, count limit: Int,
  range: CMTimeRange? = nil
) {
  guard let reader = try? AVAssetReader(asset: asset) else { return }
  let output = AVAssetReaderTrackOutput(track: track, outputSettings: settings)
  guard reader.canAdd(output) else { return }
  reader.add(output)
  if let range { reader.timeRange = range }
  guard reader.startReading() else { return }
  var count = 0
  while count < limit, let sample = output.copyNextSampleBuffer() {
    count += 1
    if let image = CMSampleBufferGetImageBuffer(sample) {
      require(CVPixelBufferGetWidth(image) > 0 && CVPixelBufferGetHeight(image) > 0, "an empty picture")
    }
  }
  reader.cancelReading()
}
