// SPDX-License-Identifier: Apache-2.0
// Streams ten seconds of generated pictures to a server.
//   StreamToServer rtmp://localhost/live/key
import AVFoundation
import VideoToolbox

@main
struct StreamToServer {
  static func main() async throws {
    guard CommandLine.arguments.count == 2, let url = URL(string: CommandLine.arguments[1]) else {
      return print("usage: StreamToServer URL")
    }
    var session: VTCompressionSession!
    VTCompressionSessionCreate(
      allocator: nil, width: 640, height: 360, codecType: kCMVideoCodecType_H264, encoderSpecification: nil,
      imageBufferAttributes: nil, compressedDataAllocator: nil, outputCallback: nil, refcon: nil,
      compressionSessionOut: &session)
    VTSessionSetProperty(session, key: kVTCompressionPropertyKey_RealTime, value: kCFBooleanTrue)
    let rate = 1_000_000 as NSNumber
    VTSessionSetProperty(session, key: kVTCompressionPropertyKey_AverageBitRate, value: rate)
    let seconds = 2 as NSNumber
    VTSessionSetProperty(session, key: kVTCompressionPropertyKey_MaxKeyFrameIntervalDuration, value: seconds)

    // The session's outputs come in decode order, and the events of the server at the same time.
    let (samples, source) = AsyncStream.makeStream(of: CMSampleBuffer.self)
    let (events, news) = AsyncStream.makeStream(of: OVTLiveOutput.Event.self)
    let sending = Task {
      var output: OVTLiveOutput?
      for await sample in samples {
        // A server receives the parameter sets first, which come with the first sample.
        if output == nil, let format = sample.formatDescription {
          output = try OVTLiveOutput(url: url, formats: [format])
          output?.start { news.yield($0) }
        }
        try output?.append(sample, toTrackAt: 0)
      }
      await output?.finish()
      if let error = output?.error { throw error }
      print("sent \(output?.statistics.sentPictureCount ?? 0) pictures to \(output?.redactedAddress ?? "")")
    }
    let listening = Task { for await event in events { print(event) } }
    let began = ContinuousClock.now
    for frame in 0..<300 {
      try await Task.sleep(until: began + .milliseconds(frame * 1000 / 30))
      VTCompressionSessionEncodeFrame(
        session, imageBuffer: picture(frame),
        presentationTimeStamp: CMTime(value: CMTimeValue(frame), timescale: 30),
        duration: CMTime(value: 1, timescale: 30), frameProperties: nil, infoFlagsOut: nil
      ) { _, _, sample in if let sample { source.yield(sample) } }
    }
    VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: .invalid)
    source.finish()
    try await sending.value
    listening.cancel()
  }

  /// A bar that moves over grey.
  static func picture(_ frame: Int) -> CVPixelBuffer {
    var made: CVPixelBuffer!
    CVPixelBufferCreate(nil, 640, 360, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, nil, &made)
    CVPixelBufferLockBaseAddress(made, [])
    defer { CVPixelBufferUnlockBaseAddress(made, []) }
    for plane in 0..<2 {
      let stride = CVPixelBufferGetBytesPerRowOfPlane(made, plane)
      let base = CVPixelBufferGetBaseAddressOfPlane(made, plane)!
      memset(base, 128, stride * CVPixelBufferGetHeightOfPlane(made, plane))
      if plane == 0 { for row in 0..<360 { memset(base + row * stride + frame * 4 % 600, 235, 40) } }
    }
    return made
  }
}
