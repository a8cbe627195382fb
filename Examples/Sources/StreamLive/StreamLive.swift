// SPDX-License-Identifier: Apache-2.0
// Writes segments and a playlist for HTTP Live Streaming as pictures come.
//   StreamLive MOVIE FOLDER
import AVFoundation
import UniformTypeIdentifiers
import VideoToolbox

/// Receives segments from the writer and keeps the playlist up to date.
final class SegmentStore: NSObject, AVAssetWriterDelegate, @unchecked Sendable {
  // Sendable: the writer calls its delegate from one queue, and `finish` comes after the last call.
  private let folder: URL
  private var entries: [String] = []
  private(set) var error: (any Error)?

  init(folder: URL) { self.folder = folder }

  func assetWriter(
    _ writer: AVAssetWriter, didOutputSegmentData data: Data, segmentType: AVAssetSegmentType,
    segmentReport: AVAssetSegmentReport?
  ) {
    do {
      if segmentType == .initialization {
        try data.write(to: folder.appendingPathComponent("init.mp4"))
        entries.append("#EXT-X-MAP:URI=\"init.mp4\"")
        return
      }
      let name = "segment\(entries.count).m4s"
      try data.write(to: folder.appendingPathComponent(name))
      let seconds = segmentReport?.trackReports.first?.duration.seconds ?? 2
      entries.append("#EXTINF:\(seconds),\n\(name)")
      try writePlaylist(end: "")
    } catch {
      self.error = error
    }
  }

  func finish() throws {
    if let error { throw error }
    try writePlaylist(end: "#EXT-X-ENDLIST\n")
  }

  private func writePlaylist(end: String) throws {
    let head = "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:0\n"
    let text = head + entries.joined(separator: "\n") + "\n" + end
    try text.write(to: folder.appendingPathComponent("live.m3u8"), atomically: true, encoding: .utf8)
  }
}

@main
struct StreamLive {
  static func main() async throws {
    guard CommandLine.arguments.count == 3 else { return print("usage: StreamLive MOVIE FOLDER") }
    let folder = URL(fileURLWithPath: CommandLine.arguments[2])
    let asset = AVURLAsset(url: URL(fileURLWithPath: CommandLine.arguments[1]))
    guard let track = try await asset.loadTracks(withMediaType: .video).first else {
      return print("no video")
    }
    // The pictures of a movie, in place of a camera's.
    let reader = try AVAssetReader(asset: asset)
    let output = AVAssetReaderTrackOutput(
      track: track,
      outputSettings: [
        kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange
      ])
    reader.add(output)

    let writer = AVAssetWriter(contentType: UTType(AVFileType.mp4.rawValue)!)
    let store = SegmentStore(folder: folder)
    writer.delegate = store
    writer.outputFileTypeProfile = .mpeg4AppleHLS
    writer.preferredOutputSegmentInterval = CMTime(value: 2, timescale: 1)
    writer.initialSegmentStartTime = .zero
    let input = AVAssetWriterInput(
      mediaType: .video,
      outputSettings: [
        AVVideoCodecKey: AVVideoCodecType.h264, AVVideoWidthKey: 640, AVVideoHeightKey: 360,
        AVVideoCompressionPropertiesKey: [
          AVVideoAverageBitRateKey: 1_000_000,
          AVVideoMaxKeyFrameIntervalDurationKey: 2,
          // No second carries more than 190,000 bytes.
          kVTCompressionPropertyKey_DataRateLimits as String: [190_000, 1],
        ],
      ])
    input.expectsMediaDataInRealTime = true
    writer.add(input)
    guard reader.startReading(), writer.startWriting() else { throw reader.error ?? writer.error! }
    writer.startSession(atSourceTime: .zero)
    let began = ContinuousClock.now
    while let frame = output.copyNextSampleBuffer() {
      try await Task.sleep(until: began + .seconds(frame.presentationTimeStamp.seconds))
      // Where the encoder is behind, a live program drops the picture.
      if input.isReadyForMoreMediaData { input.append(frame) }
    }
    input.markAsFinished()
    await writer.finishWriting()
    if let error = writer.error { throw error }
    try store.finish()
  }
}
