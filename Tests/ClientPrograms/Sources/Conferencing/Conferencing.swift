// SPDX-License-Identifier: Apache-2.0
// Low-latency conferencing: one frame in, one frame out, nothing held back.
// Usage: Conferencing SOURCE DESTINATION [avc1|hvc1]
import AVFoundation
import VideoToolbox

struct ConferencingError: LocalizedError {
  let errorDescription: String?
  init(_ text: String) { errorDescription = text }
}

/// One frame's way through the encoder.
struct Delivery: Sendable {
  let number: Int
  let status: OSStatus
  let infoFlags: VTEncodeInfoFlags
  let sampleBuffer: CMSampleBuffer?
}

@main
struct Conferencing {
  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count >= 3 else {
      throw ConferencingError("usage: Conferencing SOURCE DESTINATION [codec]")
    }
    let codec =
      arguments.count > 3 && arguments[3] == "hvc1" ? kCMVideoCodecType_HEVC : kCMVideoCodecType_H264
    let asset = AVURLAsset(url: URL(fileURLWithPath: arguments[1]))
    guard let track = try await asset.loadTracks(withMediaType: .video).first else {
      throw ConferencingError("no video track")
    }
    let size = try await track.load(.naturalSize)
    let session = try makeSession(width: Int32(size.width / 4), height: Int32(size.height / 4), codec: codec)
    defer { VTCompressionSessionInvalidate(session) }

    let reader = try AVAssetReader(asset: asset)
    let output = AVAssetReaderTrackOutput(
      track: track,
      outputSettings: [
        kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_420YpCbCr8BiPlanarFullRange
      ])
    reader.add(output)
    guard reader.startReading() else { throw reader.error ?? ConferencingError("cannot read") }

    let (deliveries, continuation) = AsyncStream.makeStream(of: Delivery.self)
    var iterator = deliveries.makeAsyncIterator()
    var samples: [CMSampleBuffer] = []
    for number in 0..<90 {
      guard let sample = output.copyNextSampleBuffer(), let image = sample.imageBuffer else { break }
      if number == 45 {
        // The network got worse.
        let values: [CFString: Any] = [kVTCompressionPropertyKey_AverageBitRate: 150_000 as CFNumber]
        guard VTSessionSetProperties(session, propertyDictionary: values as CFDictionary) == noErr else {
          throw ConferencingError("the rate cannot change")
        }
      }
      let status = VTCompressionSessionEncodeFrame(
        session, imageBuffer: image, presentationTimeStamp: sample.presentationTimeStamp, duration: .invalid,
        frameProperties: nil, infoFlagsOut: nil
      ) { status, infoFlags, sampleBuffer in
        continuation.yield(
          Delivery(number: number, status: status, infoFlags: infoFlags, sampleBuffer: sampleBuffer))
      }
      guard status == noErr else { throw ConferencingError("encode failed: \(status)") }
      // Each frame is output before the next is submitted: this waits forever if the encoder delays
      // a frame.
      guard let delivery = await iterator.next() else { break }
      guard delivery.number == number, delivery.status == noErr else {
        throw ConferencingError("frame \(number): got \(delivery.number), status \(delivery.status)")
      }
      guard !delivery.infoFlags.contains(.frameDropped), let encoded = delivery.sampleBuffer else { continue }
      if encoded.decodeTimeStamp.isValid, encoded.decodeTimeStamp != encoded.presentationTimeStamp {
        throw ConferencingError("frame \(number) was reordered")
      }
      samples.append(encoded)
    }
    reader.cancelReading()
    guard VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: .invalid) == noErr else {
      throw ConferencingError("could not complete")
    }
    let keyFrames = samples.filter { sample in
      let attachments =
        CMSampleBufferGetSampleAttachmentsArray(sample, createIfNecessary: false) as? [[CFString: Any]]
      return (attachments?.first?[kCMSampleAttachmentKey_NotSync] as? Bool) != true
    }.count
    print("\(samples.count) frames out, \(keyFrames) key frames")
    // An encoder that takes a new rate only at a key frame makes one more, for the change halfway.
    let maximum = codec == kCMVideoCodecType_HEVC ? 2 : 1
    guard (1...maximum).contains(keyFrames) else {
      throw ConferencingError("\(keyFrames) key frames in place of \(maximum)")
    }
    try await save(samples, to: URL(fileURLWithPath: arguments[2]))
  }

  static func makeSession(width: Int32, height: Int32, codec: CMVideoCodecType) throws -> VTCompressionSession
  {
    let specification =
      [kVTVideoEncoderSpecification_EnableLowLatencyRateControl: kCFBooleanTrue as Any] as CFDictionary
    var session: VTCompressionSession?
    let status = VTCompressionSessionCreate(
      allocator: kCFAllocatorDefault, width: width, height: height, codecType: codec,
      encoderSpecification: specification, imageBufferAttributes: nil, compressedDataAllocator: nil,
      outputCallback: nil, refcon: nil, compressionSessionOut: &session)
    guard status == noErr, let session else { throw ConferencingError("no session: \(status)") }
    for (key, value) in [
      (kVTCompressionPropertyKey_RealTime, kCFBooleanTrue as CFTypeRef),
      (kVTCompressionPropertyKey_ExpectedFrameRate, 30 as CFNumber),
      (kVTCompressionPropertyKey_AverageBitRate, 400_000 as CFNumber),
    ] {
      let status = VTSessionSetProperty(session, key: key, value: value)
      guard status == noErr else { throw ConferencingError("\(key): \(status)") }
    }
    return session
  }

  static func save(_ samples: [CMSampleBuffer], to url: URL) async throws {
    try? FileManager.default.removeItem(at: url)
    let writer = try AVAssetWriter(outputURL: url, fileType: .mp4)
    let input = AVAssetWriterInput(
      mediaType: .video, outputSettings: nil, sourceFormatHint: samples.first?.formatDescription)
    writer.add(input)
    guard writer.startWriting() else { throw writer.error ?? ConferencingError("cannot write") }
    writer.startSession(atSourceTime: samples.first?.presentationTimeStamp ?? .zero)
    for sample in samples {
      while !input.isReadyForMoreMediaData { await Task.yield() }
      guard input.append(sample) else { throw writer.error ?? ConferencingError("cannot append") }
    }
    input.markAsFinished()
    await writer.finishWriting()
    guard writer.status == .completed else { throw writer.error ?? ConferencingError("cannot finish") }
  }
}
