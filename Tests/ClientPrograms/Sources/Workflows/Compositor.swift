// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import CoreMedia
import Foundation

/// Pictures read as BGRA, drawn upon, and written again; then looked at by way of the image
/// generator.
func composite(_ movie: URL, to destination: URL) async throws {
  let asset = AVURLAsset(url: movie)
  let track = try await asset.loadTracks(withMediaType: .video)[0]
  let size = try await track.load(.naturalSize)
  let (width, height) = (Int(size.width), Int(size.height))
  let reader = try AVAssetReader(asset: asset)
  reader.timeRange = CMTimeRange(start: .zero, duration: CMTime(value: 1, timescale: 1))
  let output = AVAssetReaderTrackOutput(
    track: track,
    outputSettings: [String(kCVPixelBufferPixelFormatTypeKey): NSNumber(value: kCVPixelFormatType_32BGRA)])
  guard reader.canAdd(output) else { return expect(false) }
  reader.add(output)

  try? FileManager.default.removeItem(at: destination)
  let writer = try AVAssetWriter(url: destination, fileType: AVFileType.mp4)
  let videoSettings: [String: Any] = [
    AVVideoCodecKey: AVVideoCodecType.hevc,
    AVVideoWidthKey: NSNumber(value: width / 2),
    AVVideoHeightKey: NSNumber(value: height / 2),
    AVVideoColorPropertiesKey: [
      AVVideoColorPrimariesKey: AVVideoColorPrimaries_ITU_R_709_2,
      AVVideoTransferFunctionKey: AVVideoTransferFunction_ITU_R_709_2,
      AVVideoYCbCrMatrixKey: AVVideoYCbCrMatrix_ITU_R_709_2,
    ],
    AVVideoCompressionPropertiesKey: [
      AVVideoAverageBitRateKey: 2_000_000, AVVideoExpectedSourceFrameRateKey: 30,
    ] as [String: Any],
  ]
  expect(writer.canApply(outputSettings: videoSettings, forMediaType: .video))
  let input = AVAssetWriterInput(mediaType: .video, outputSettings: videoSettings)
  let adaptor = AVAssetWriterInputPixelBufferAdaptor(
    assetWriterInput: input,
    sourcePixelBufferAttributes: [
      kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_32BGRA,
      kCVPixelBufferWidthKey as String: width, kCVPixelBufferHeightKey as String: height,
    ])
  writer.add(input)
  writer.metadata = [titleItem("Framed")]
  expect(writer.startWriting() && reader.startReading())
  writer.startSession(atSourceTime: .zero)
  var count = 0
  while let sample = output.copyNextSampleBuffer(), let source = CMSampleBufferGetImageBuffer(sample) {
    guard let pool = adaptor.pixelBufferPool else { return expect(false, "no pool") }
    var target: CVPixelBuffer?
    expect(CVPixelBufferPoolCreatePixelBuffer(nil, pool, &target) == kCVReturnSuccess)
    copy(source, to: target!, border: 40)
    while !input.isReadyForMoreMediaData { await Task.yield() }
    expect(adaptor.append(target!, withPresentationTime: sample.presentationTimeStamp))
    count += 1
  }
  expect(count == 30 && reader.status == .completed, "\(count)")
  input.markAsFinished()
  await writer.finishWriting()
  expect(writer.status == .completed, "\(String(describing: writer.error))")

  let framed = AVURLAsset(url: destination)
  let metadata = try await framed.load(.metadata)
  let titles = AVMetadataItem.metadataItems(
    from: metadata, filteredByIdentifier: .commonIdentifierTitle)
  let title = try await titles.first?.load(.stringValue)
  expect(title == "Framed")
  let framedTrack = try await framed.loadTracks(withMediaType: .video)[0]
  let (naturalSize, timeRange, dataRate) = try await framedTrack.load(
    .naturalSize, .timeRange, .estimatedDataRate)
  expect(naturalSize == CGSize(width: width / 2, height: height / 2) && dataRate > 0)
  expect(timeRange.start == .zero && abs(timeRange.duration.seconds - 1) < 0.001)
  let description = try await framedTrack.load(.formatDescriptions)[0]
  expect(description.mediaSubType == .hevc)
  expect(
    CFEqual(
      CMFormatDescriptionGetExtension(
        description, extensionKey: kCMFormatDescriptionExtension_ColorPrimaries),
      kCMFormatDescriptionColorPrimaries_ITU_R_709_2))

  let generator = AVAssetImageGenerator(asset: framed)
  generator.maximumSize = CGSize(width: 160, height: 0)
  generator.requestedTimeToleranceBefore = .zero
  generator.requestedTimeToleranceAfter = .zero
  var received = 0
  for await result in generator.images(for: [.zero, CMTime(value: 1, timescale: 2)]) {
    switch result {
    case .success(let requestedTime, let image, let actualTime):
      expect(image.width == 160 && image.height == 90)
      expect(abs(requestedTime.seconds - actualTime.seconds) < 0.001)
      received += 1
    case .failure(let requestedTime, let error):
      expect(false, "\(requestedTime.seconds): \(error)")
    }
  }
  expect(received == 2)
}

private func titleItem(_ text: String) -> AVMetadataItem {
  let item = AVMutableMetadataItem()
  item.identifier = .commonIdentifierTitle
  item.value = text as NSString
  item.extendedLanguageTag = "und"
  return item
}

/// A copy with a white border.
private func copy(_ source: CVPixelBuffer, to target: CVPixelBuffer, border: Int) {
  CVPixelBufferLockBaseAddress(source, .readOnly)
  CVPixelBufferLockBaseAddress(target, [])
  defer {
    CVPixelBufferUnlockBaseAddress(target, [])
    CVPixelBufferUnlockBaseAddress(source, .readOnly)
  }
  guard let from = CVPixelBufferGetBaseAddress(source), let to = CVPixelBufferGetBaseAddress(target) else {
    return expect(false)
  }
  let (width, height) = (CVPixelBufferGetWidth(source), CVPixelBufferGetHeight(source))
  for y in 0..<height {
    let row = to.advanced(by: y * CVPixelBufferGetBytesPerRow(target))
    memcpy(row, from + y * CVPixelBufferGetBytesPerRow(source), width * 4)
    if y < border || y >= height - border {
      memset(row, 255, width * 4)
    } else {
      memset(row, 255, border * 4)
      memset(row + (width - border) * 4, 255, border * 4)
    }
  }
}
