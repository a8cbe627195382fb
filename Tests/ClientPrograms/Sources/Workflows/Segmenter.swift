// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import UniformTypeIdentifiers

/// Fragmented MPEG-4 for HTTP Live Streaming, by way of the writer's delegate.
final class SegmentWriter: NSObject, AVAssetWriterDelegate, @unchecked Sendable {
  let folder: URL
  private var playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-VERSION:7\n#EXT-X-MEDIA-SEQUENCE:0\n"
  private(set) var segmentCount = 0
  private(set) var durations: [Double] = []
  private var previous: AVAssetSegmentTrackReport?

  init(folder: URL) {
    self.folder = folder
    super.init()
  }

  func assetWriter(
    _ writer: AVAssetWriter, didOutputSegmentData segmentData: Data, segmentType: AVAssetSegmentType,
    segmentReport: AVAssetSegmentReport?
  ) {
    let isInitial: Bool
    switch segmentType {
    case .initialization: isInitial = true
    case .separable: isInitial = false
    @unknown default:
      print("Skipping segment with unrecognized type \(segmentType)")
      return
    }
    let name = isInitial ? "init.mp4" : "segment\(segmentCount).m4s"
    do {
      try segmentData.write(to: folder.appendingPathComponent(name))
    } catch {
      fatalError("\(error)")
    }
    if isInitial {
      playlist += "#EXT-X-MAP:URI=\"\(name)\"\n"
      expect(segmentReport == nil || segmentReport?.segmentType == .initialization)
      return
    }
    guard let report = segmentReport?.trackReports.first(where: { $0.mediaType == .video }) else {
      return expect(false, "no report")
    }
    expect(report.duration.isNumeric && report.earliestPresentationTimeStamp.isNumeric)
    if let first = report.firstVideoSampleInformation {
      expect(first.isSyncSample && first.presentationTimeStamp >= report.earliestPresentationTimeStamp)
      expect(first.length > 0 && first.offset >= 0)
    } else {
      expect(false, "no first sample")
    }
    if let previous {
      let distance = report.earliestPresentationTimeStamp - previous.earliestPresentationTimeStamp
      expect(distance == previous.duration, "\(distance.seconds), \(previous.duration.seconds)")
    }
    previous = report
    durations.append(report.duration.seconds)
    playlist += "#EXTINF:\(String(format: "%1.5f", report.duration.seconds)),\t\n\(name)\n"
    segmentCount += 1
  }

  func finish() throws {
    playlist += "#EXT-X-ENDLIST\n"
    try playlist.write(to: folder.appendingPathComponent("index.m3u8"), atomically: true, encoding: .utf8)
  }
}

func segments(of movie: URL, in folder: URL) async throws {
  let asset = AVURLAsset(url: movie)
  let track = try await asset.loadTracks(withMediaType: .video)[0]
  let reader = try AVAssetReader(asset: asset)
  let output = AVAssetReaderTrackOutput(
    track: track,
    outputSettings: [
      kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange
    ])
  reader.add(output)

  let writer = AVAssetWriter(contentType: UTType(AVFileType.mp4.rawValue)!)
  let delegate = SegmentWriter(folder: folder)
  writer.delegate = delegate
  writer.shouldOptimizeForNetworkUse = true
  writer.outputFileTypeProfile = .mpeg4AppleHLS
  writer.preferredOutputSegmentInterval = CMTime(seconds: 2, preferredTimescale: 1)
  let startTime = CMTime(value: 10, timescale: 1)
  writer.initialSegmentStartTime = startTime
  let input = AVAssetWriterInput(
    mediaType: .video,
    outputSettings: [
      AVVideoCodecKey: AVVideoCodecType.h264, AVVideoWidthKey: 640, AVVideoHeightKey: 360,
      AVVideoScalingModeKey: AVVideoScalingModeResizeAspect,
      AVVideoCompressionPropertiesKey: [
        kVTCompressionPropertyKey_AverageBitRate: 1_000_000,
        kVTCompressionPropertyKey_ProfileLevel: kVTProfileLevel_H264_High_4_1,
      ],
    ])
  writer.add(input)
  guard writer.startWriting() else { throw writer.error! }
  writer.startSession(atSourceTime: startTime)
  guard reader.startReading() else { throw reader.error! }
  while let sampleBuffer = output.copyNextSampleBuffer() {
    let shifted = try CMSampleBuffer(
      copying: sampleBuffer,
      withNewTiming: sampleBuffer.sampleTimingInfos().map {
        CMSampleTimingInfo(
          duration: $0.duration, presentationTimeStamp: $0.presentationTimeStamp + startTime,
          decodeTimeStamp: .invalid)
      })
    while !input.isReadyForMoreMediaData { try await Task.sleep(nanoseconds: 1_000_000) }
    expect(input.append(shifted), "\(String(describing: writer.error))")
  }
  input.markAsFinished()
  await withCheckedContinuation { continuation in
    writer.finishWriting { continuation.resume() }
  }
  expect(writer.status == .completed, "\(String(describing: writer.error))")
  try delegate.finish()
  let duration = try await asset.load(.duration).seconds
  expect(abs(delegate.durations.reduce(0, +) - duration) < 0.05, "\(delegate.durations)")
  expect(delegate.durations.dropLast().allSatisfy { abs($0 - 2) < 0.05 }, "\(delegate.durations)")
}
