// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing
import TestSupport

/// Tests samples with a presentation time but no duration, such as those of a pixel buffer adaptor.
@Suite struct MissingDurationTests {
  @Test(arguments: [true, false]) func eachPictureIsShownUntilTheNext(reorders: Bool) async throws {
    let scratch = Scratch()
    let url = scratch.url("a.mov")
    let writer = try AVAssetWriter(url: url, fileType: .mov)
    let input = AVAssetWriterInput(
      mediaType: .video,
      outputSettings: [
        AVVideoCodecKey: AVVideoCodecType.h264, AVVideoWidthKey: 64, AVVideoHeightKey: 48,
        AVVideoCompressionPropertiesKey: [AVVideoAllowFrameReorderingKey: reorders],
      ])
    let adaptor = AVAssetWriterInputPixelBufferAdaptor(
      assetWriterInput: input,
      sourcePixelBufferAttributes: [kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_32BGRA])
    writer.add(input)
    try #require(writer.startWriting())
    writer.startSession(atSourceTime: .zero)
    for frame in 0..<24 {
      let pool = try #require(adaptor.pixelBufferPool)
      var buffer: CVPixelBuffer?
      CVPixelBufferPoolCreatePixelBuffer(nil, pool, &buffer)
      let picture = try #require(buffer)
      CVPixelBufferLockBaseAddress(picture, [])
      memset(
        try #require(CVPixelBufferGetBaseAddress(picture)), Int32(frame * 9),
        CVPixelBufferGetDataSize(picture))
      CVPixelBufferUnlockBaseAddress(picture, [])
      await waitUntil { input.isReadyForMoreMediaData }
      try #require(adaptor.append(picture, withPresentationTime: CMTime(value: Int64(frame), timescale: 24)))
    }
    input.markAsFinished()
    await writer.finishWriting()
    try #require(writer.status == .completed, "\(String(describing: writer.error))")
    let properties = try Probe.properties(url.path, "stream=duration,avg_frame_rate,nb_frames")
    #expect(properties["duration"].flatMap(Double.init) == 1)
    #expect(properties["avg_frame_rate"] == "24/1")
    #expect(properties["nb_frames"] == "24")
  }

  /// An `AVError` can be caught as an `NSError`, and an `NSError` of its domain as an `AVError`.
  @Test func errorsAreNSErrorsToo() throws {
    func load() throws { throw AVError(.fileFormatNotRecognized) }
    do {
      try load()
    } catch let error as NSError {
      #expect(
        error.domain == AVFoundationErrorDomain && error.code == AVError.fileFormatNotRecognized.rawValue)
    }
    let stored: any Error = NSError(domain: AVFoundationErrorDomain, code: AVError.diskFull.rawValue)
    #expect((stored as? AVError)?.code == .diskFull)
    do { throw stored } catch AVError.diskFull {} catch { Issue.record("\(error)") }
    let other: any Error = NSError(domain: NSPOSIXErrorDomain, code: 2)
    #expect(other as? AVError == nil)
  }
}
