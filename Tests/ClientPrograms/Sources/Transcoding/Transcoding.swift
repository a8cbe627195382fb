// SPDX-License-Identifier: Apache-2.0
// Offline transcoding: every frame of a movie through a compression session into a new movie.
// Usage: Transcoding SOURCE DESTINATION [avc1|hvc1] [preset]
import AVFoundation
import CoreMedia
import VideoToolbox

struct TranscodingError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// The output of the session's handler.
typealias EncodedFrame = (status: OSStatus, infoFlags: VTEncodeInfoFlags, sampleBuffer: CMSampleBuffer?)

struct Settings {
  var width: Int
  var height: Int
  var codec: CMVideoCodecType
  var preset: CFString?
  var bitRate = 1_200_000
  var pixelFormat = kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange
}

@main
struct Transcoding {
  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count >= 3 else {
      throw TranscodingError("usage: Transcoding SOURCE DESTINATION [codec] [preset]")
    }
    let asset = AVURLAsset(url: URL(fileURLWithPath: arguments[1]))
    guard let track = try await asset.loadTracks(withMediaType: .video).first else {
      throw TranscodingError("no video track")
    }
    let (size, frameRate, transform) = try await track.load(
      .naturalSize, .nominalFrameRate, .preferredTransform)
    var settings = Settings(
      width: Int(size.width), height: Int(size.height),
      codec: arguments.count > 3 && arguments[3] == "hvc1" ? kCMVideoCodecType_HEVC : kCMVideoCodecType_H264)
    if arguments.count > 4 { settings.preset = arguments[4] as CFString }

    let session = try makeSession(settings, frameRate: frameRate)
    defer { VTCompressionSessionInvalidate(session) }

    let (encodedFrames, continuation) = AsyncStream.makeStream(of: EncodedFrame.self)
    let destination = URL(fileURLWithPath: arguments[2])
    try? FileManager.default.removeItem(at: destination)
    async let written = write(encodedFrames, to: destination, transform: transform)

    let reader = try AVAssetReader(asset: asset)
    let output = AVAssetReaderTrackOutput(
      track: track, outputSettings: [kCVPixelBufferPixelFormatTypeKey as String: settings.pixelFormat])
    reader.add(output)
    guard reader.startReading() else { throw reader.error ?? TranscodingError("cannot read") }
    var count = 0
    while let sampleBuffer = output.copyNextSampleBuffer() {
      guard let imageBuffer = sampleBuffer.imageBuffer else { continue }
      let status = VTCompressionSessionEncodeFrame(
        session,
        imageBuffer: imageBuffer,
        presentationTimeStamp: sampleBuffer.presentationTimeStamp,
        duration: sampleBuffer.duration,
        frameProperties: nil,
        infoFlagsOut: nil
      ) { status, infoFlags, sampleBuffer in
        continuation.yield((status, infoFlags, sampleBuffer))
      }
      guard status == noErr else { throw TranscodingError("encode failed: \(status)") }
      count += 1
    }
    guard reader.status == .completed else { throw reader.error ?? TranscodingError("reading stopped early") }
    guard VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: .invalid) == noErr else {
      throw TranscodingError("could not complete the frames")
    }
    continuation.finish()
    let writtenCount = try await written
    print("\(count) frames in, \(writtenCount) out")
    guard count == writtenCount else { throw TranscodingError("frames were lost") }
  }

  static func makeSession(_ settings: Settings, frameRate: Float) throws -> VTCompressionSession {
    let sourceAttributes =
      [kCVPixelBufferPixelFormatTypeKey: settings.pixelFormat as CFNumber] as CFDictionary
    var sessionOut: VTCompressionSession?
    let status = VTCompressionSessionCreate(
      allocator: kCFAllocatorDefault,
      width: Int32(settings.width),
      height: Int32(settings.height),
      codecType: settings.codec,
      encoderSpecification: nil,
      imageBufferAttributes: sourceAttributes,
      compressedDataAllocator: nil,
      outputCallback: nil,
      refcon: nil,
      compressionSessionOut: &sessionOut)
    guard status == noErr, let session = sessionOut else { throw TranscodingError("no session: \(status)") }

    if let preset = settings.preset {
      guard let values = presetSettings(session, preset) else {
        throw TranscodingError("no preset \(preset)")
      }
      guard VTSessionSetProperties(session, propertyDictionary: values as CFDictionary) == noErr else {
        throw TranscodingError("the preset cannot be set")
      }
    }
    var properties: [CFString: Any] = [
      kVTCompressionPropertyKey_RealTime: kCFBooleanFalse as Any,
      kVTCompressionPropertyKey_ExpectedFrameRate: frameRate as CFNumber,
      kVTCompressionPropertyKey_AverageBitRate: settings.bitRate as CFNumber,
      kVTCompressionPropertyKey_MaxKeyFrameIntervalDuration: 2.0 as CFNumber,
    ]
    properties[kVTCompressionPropertyKey_ProfileLevel] =
      settings.codec == kCMVideoCodecType_HEVC
      ? kVTProfileLevel_HEVC_Main_AutoLevel : kVTProfileLevel_H264_High_AutoLevel
    let setStatus = VTSessionSetProperties(session, propertyDictionary: properties as CFDictionary)
    guard setStatus == noErr else { throw TranscodingError("properties cannot be set: \(setStatus)") }

    let lookAhead = VTSessionSetProperty(
      session, key: kVTCompressionPropertyKey_SuggestedLookAheadFrameCount, value: 20 as CFNumber)
    guard lookAhead == noErr || lookAhead == kVTPropertyNotSupportedErr else {
      throw TranscodingError("look-ahead: \(lookAhead)")
    }
    guard VTCompressionSessionPrepareToEncodeFrames(session) == noErr else {
      throw TranscodingError("the session cannot be prepared")
    }
    return session
  }

  static func presetSettings(_ session: VTCompressionSession, _ preset: CFString) -> [CFString: Any]? {
    var dictionaries: CFDictionary?
    let status = withUnsafeMutablePointer(to: &dictionaries) {
      VTSessionCopyProperty(
        session, key: kVTCompressionPropertyKey_SupportedPresetDictionaries, allocator: kCFAllocatorDefault,
        valueOut: $0)
    }
    guard status == noErr, let all = dictionaries as? [CFString: [CFString: Any]] else { return nil }
    return all[preset]
  }

  /// Passes the samples on to a movie as they are. Returns how many there were.
  static func write(
    _ frames: AsyncStream<EncodedFrame>, to url: URL, transform: CGAffineTransform
  ) async throws -> Int {
    let writer = try AVAssetWriter(outputURL: url, fileType: .mov)
    var input: AVAssetWriterInput?
    var count = 0
    for await (status, infoFlags, sampleBuffer) in frames {
      guard status == noErr else { throw TranscodingError("a frame failed: \(status)") }
      guard !infoFlags.contains(.frameDropped), let sampleBuffer else { continue }
      if input == nil {
        let first = AVAssetWriterInput(
          mediaType: .video, outputSettings: nil, sourceFormatHint: sampleBuffer.formatDescription)
        first.transform = transform
        writer.add(first)
        guard writer.startWriting() else { throw writer.error ?? TranscodingError("cannot write") }
        writer.startSession(atSourceTime: .zero)
        input = first
      }
      guard let input else { continue }
      while !input.isReadyForMoreMediaData { try await Task.sleep(nanoseconds: 1_000_000) }
      guard input.append(sampleBuffer) else { throw writer.error ?? TranscodingError("cannot append") }
      count += 1
    }
    input?.markAsFinished()
    await writer.finishWriting()
    guard writer.status == .completed else { throw writer.error ?? TranscodingError("cannot finish") }
    return count
  }
}
