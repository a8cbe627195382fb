// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import Testing
import VideoToolbox

private let reordering = ["-c:v", "libx264", "-bf", "3", "-x264-params", "b-pyramid=normal:keyint=24"]

@Suite(.enabled(if: SampleMovie.isAvailable)) struct DecompressionOrderTests {
  /// Clients that number presentation times in decode order, as many do, lose no picture.
  @Test(arguments: [
    VTDecodeFrameFlags._EnableTemporalProcessing,
    [._EnableAsynchronousDecompression, ._EnableTemporalProcessing],
    [._EnableAsynchronousDecompression, ._1xRealTimePlayback], ._1xRealTimePlayback,
    ._EnableAsynchronousDecompression, [],
  ]) func timesInDecodeOrderComeInDecodeOrder(flags: VTDecodeFrameFlags) throws {
    let movie = try SampleMovie(reordering, seconds: 4, reference: false)
    let samples = try movie.samples.enumerated().map { index, sample in
      try SampleMovie.sample(
        try #require(sample.dataBuffer).dataBytes(), movie.format,
        time: CMTime(value: Int64(index), timescale: 25),
        isSync: sample.sampleAttachments[0][.notSync] as? Bool != true)
    }
    let session = try makeDecoder(movie.format)
    let collector = try decode(session, samples, flags)
    try check(VTDecompressionSessionFinishDelayedFrames(session), "finish")
    try check(VTDecompressionSessionWaitForAsynchronousFrames(session), "wait")
    #expect(collector.images.count == samples.count)
    #expect(collector.all.allSatisfy { $0.status == noErr && !$0.flags.contains(.frameDropped) })
    // Real-time playback is not a request for another order.
    if !flags.contains(._EnableTemporalProcessing) {
      #expect(collector.times == samples.map(\.presentationTimeStamp))
    }
  }

  /// Of several formats the session uses one that it can write, and fails only if there is none.
  @Test func theFirstWritablePixelFormatOfAListIsUsed() throws {
    let movie = try SampleMovie(reordering, seconds: 0.2, reference: false)
    for (formats, expected) in [
      ([kCVPixelFormatType_14Bayer_GRBG, kCVPixelFormatType_32BGRA], kCVPixelFormatType_32BGRA),
      (
        [kCVPixelFormatType_14Bayer_GRBG, kCVPixelFormatType_420YpCbCr8Planar, kCVPixelFormatType_32BGRA],
        kCVPixelFormatType_420YpCbCr8Planar
      ),
    ] {
      let session = try makeDecoder(movie.format, attributes: [kCVPixelBufferPixelFormatTypeKey: formats])
      let images = try decode(session, movie.samples).images
      #expect(images.count == movie.samples.count)
      #expect(images.allSatisfy { CVPixelBufferGetPixelFormatType($0) == expected })
    }
    var session: VTDecompressionSession?
    let none: NSDictionary = [
      kCVPixelBufferPixelFormatTypeKey: [
        kCVPixelFormatType_14Bayer_GRBG, kCVPixelFormatType_14Bayer_RGGB,
      ]
    ]
    #expect(
      VTDecompressionSessionCreate(
        allocator: nil, formatDescription: movie.format, decoderSpecification: nil,
        imageBufferAttributes: none, outputCallback: nil, decompressionSessionOut: &session)
        == kVTPixelTransferNotSupportedErr)
  }

  /// `DrainAfterDecoding`: all that was held comes with this sample.
  @Test func drainAfterDecodingGivesAllThatWasHeld() throws {
    let movie = try SampleMovie(reordering, seconds: 2)
    let session = try makeDecoder(movie.format)
    let collector = ImageCollector()
    let place = 18
    try decode(session, Array(movie.samples.prefix(place)), ._EnableTemporalProcessing, into: collector)
    #expect(collector.count < place)
    CMSetAttachment(
      movie.samples[place], key: kCMSampleBufferAttachmentKey_DrainAfterDecoding, value: kCFBooleanTrue,
      attachmentMode: kCMAttachmentMode_ShouldNotPropagate)
    try decode(session, [movie.samples[place]], ._EnableTemporalProcessing, into: collector)
    #expect(collector.count == place + 1)
    try decode(
      session, Array(movie.samples.dropFirst(place + 1)), ._EnableTemporalProcessing, into: collector)
    try check(VTDecompressionSessionFinishDelayedFrames(session), "finish")
    for (place, entry) in collector.all.sorted(by: { $0.time < $1.time }).enumerated() {
      let isSame = entry.image.map { planar($0) == movie.reference[place] } ?? false
      #expect(isSame, "frame \(place)")
    }
  }

  /// `ResetDecoderBeforeDecoding`: nothing of what came before is used any more.
  @Test func resetBeforeDecodingForgetsWhatCameBefore() throws {
    let movie = try SampleMovie(reordering, seconds: 2)
    let session = try makeDecoder(movie.format)
    let collector = try decode(session, Array(movie.samples.prefix(10)))
    CMSetAttachment(
      movie.samples[10], key: kCMSampleBufferAttachmentKey_ResetDecoderBeforeDecoding, value: kCFBooleanTrue,
      attachmentMode: kCMAttachmentMode_ShouldNotPropagate)
    try decode(session, [movie.samples[10]], into: collector)
    // Its references are gone.
    let isWhole = collector.all.last?.image.map { image in
      movie.reference.contains { $0 == planar(image) }
    }
    #expect(isWhole != true)
    let key = try #require(
      movie.samples.indices.first { $0 > 10 && movie.samples[$0].sampleAttachments[0][.notSync] == nil })
    let again = try decode(session, Array(movie.samples[key...]))
    #expect(again.images.count == movie.samples.count - key)
  }
}
