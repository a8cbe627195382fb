// SPDX-License-Identifier: Apache-2.0
// Live streaming: frames arrive in real time, the session keeps to a rate, the sink writes as they
// come. Usage: Streaming SOURCE DESTINATION [avc1|hvc1] [seconds]
import AVFoundation
import VideoToolbox

enum StreamingError: Error {
  case usage
  case noVideo
  case session(OSStatus)
  case property(String, OSStatus)
  case encode(OSStatus)
  case lost(Int, Int)
}

typealias EncoderOutput = (OSStatus, VTEncodeInfoFlags, CMSampleBuffer?)

@main
struct Streaming {
  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count >= 3 else { throw StreamingError.usage }
    let codec =
      arguments.count > 3 && arguments[3] == "hvc1" ? kCMVideoCodecType_HEVC : kCMVideoCodecType_H264
    let seconds = arguments.count > 4 ? Double(arguments[4]) ?? 3 : 3

    let asset = AVURLAsset(url: URL(fileURLWithPath: arguments[1]))
    guard let track = try await asset.loadTracks(withMediaType: .video).first else {
      throw StreamingError.noVideo
    }
    let (size, rate) = try await track.load(.naturalSize, .nominalFrameRate)
    let session = try makeSession(
      width: Int32(size.width / 2), height: Int32(size.height / 2), codec: codec, rate: rate)

    let source = try PacedSource(
      asset: asset, track: track, pixelFormat: kCVPixelFormatType_32BGRA, limit: Int(seconds * Double(rate)))
    let sink = try MovieSink(url: URL(fileURLWithPath: arguments[2]))
    let (outputs, continuation) = AsyncStream.makeStream(of: EncoderOutput.self)

    let sent = try await withThrowingTaskGroup(of: Int.self) { group in
      group.addTask {
        var dropped = 0
        for await (status, flags, sample) in outputs {
          guard status == noErr else { throw StreamingError.encode(status) }
          if flags.contains(.frameDropped) {
            dropped += 1
          } else if let sample {
            try await sink.append(sample)
          }
        }
        return dropped
      }
      var sent = 0
      for await sample in try source.frames() {
        guard let image = CMSampleBufferGetImageBuffer(sample) else { continue }
        let forceKeyFrame = sent == Int(rate)  // a viewer joins after one second
        let properties =
          forceKeyFrame
          ? [kVTEncodeFrameOptionKey_ForceKeyFrame: kCFBooleanTrue as Any] as CFDictionary : nil
        let status = VTCompressionSessionEncodeFrame(
          session, imageBuffer: image, presentationTimeStamp: sample.presentationTimeStamp,
          duration: sample.duration, frameProperties: properties, infoFlagsOut: nil,
          outputHandler: { continuation.yield(($0, $1, $2)) })
        guard status == noErr else { throw StreamingError.encode(status) }
        sent += 1
        if sent == Int(rate) * 2 {
          // The line got worse: the rate follows, while encoding.
          try set(session, kVTCompressionPropertyKey_AverageBitRate, 300_000 as CFNumber)
        }
      }
      VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: .invalid)
      continuation.finish()
      for try await dropped in group where dropped > 0 { print("\(dropped) dropped") }
      return sent
    }
    try await sink.finish()
    VTCompressionSessionInvalidate(session)
    let received = await sink.count
    print("\(sent) frames sent, \(received) written, \(await sink.bytes) bytes")
    guard sent == received else { throw StreamingError.lost(sent, received) }
  }

  static func makeSession(width: Int32, height: Int32, codec: CMVideoCodecType, rate: Float) throws
    -> VTCompressionSession
  {
    let attributes: [CFString: Any] = [
      kCVPixelBufferPixelFormatTypeKey: kCVPixelFormatType_32BGRA as CFNumber,
      kCVPixelBufferIOSurfacePropertiesKey: [:] as CFDictionary,
    ]
    var session: VTCompressionSession?
    let status = VTCompressionSessionCreate(
      allocator: nil, width: width, height: height, codecType: codec, encoderSpecification: nil,
      imageBufferAttributes: attributes as CFDictionary, compressedDataAllocator: nil, outputCallback: nil,
      refcon: nil, compressionSessionOut: &session)
    guard status == noErr, let session else { throw StreamingError.session(status) }
    try set(session, kVTCompressionPropertyKey_RealTime, kCFBooleanTrue)
    try set(session, kVTCompressionPropertyKey_ExpectedFrameRate, rate as CFNumber)
    try set(session, kVTCompressionPropertyKey_AverageBitRate, 900_000 as CFNumber)
    try set(session, kVTCompressionPropertyKey_DataRateLimits, [200_000, 1] as CFArray)
    try set(session, kVTCompressionPropertyKey_MaxKeyFrameIntervalDuration, 2 as CFNumber)
    try set(session, kVTCompressionPropertyKey_AllowFrameReordering, kCFBooleanFalse)
    let prepared = VTCompressionSessionPrepareToEncodeFrames(session)
    guard prepared == noErr else { throw StreamingError.session(prepared) }

    var actual: CFNumber?
    let copied = VTSessionCopyProperty(
      session, key: kVTCompressionPropertyKey_AverageBitRate, allocator: nil, valueOut: &actual)
    guard copied == noErr, (actual as? Int) == 900_000 else {
      throw StreamingError.property("AverageBitRate", copied)
    }
    return session
  }

  static func set(_ session: VTCompressionSession, _ key: CFString, _ value: CFTypeRef?) throws {
    let status = VTSessionSetProperty(session, key: key, value: value)
    guard status == noErr else { throw StreamingError.property(key as String, status) }
  }
}
