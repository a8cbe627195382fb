// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import VideoToolbox

// Reading and writing movies, in the shapes that are taught.

/// Touched on one queue.
private final class FrameCounter: @unchecked Sendable {
  var next = 0
}

/// A movie with pictures, written through the pixel buffer adaptor with
/// `requestMediaDataWhenReady`.
func writeMovie(_ url: URL, frames: Int) {
  do {
    let writer = try AVAssetWriter(outputURL: url, fileType: .mov)
    let settings: [String: Any] = [
      AVVideoCodecKey: AVVideoCodecType.h264,
      AVVideoWidthKey: 320,
      AVVideoHeightKey: NSNumber(value: 240),
      AVVideoCompressionPropertiesKey: [
        AVVideoAverageBitRateKey: 600_000,
        AVVideoMaxKeyFrameIntervalKey: 15,
        AVVideoProfileLevelKey: AVVideoProfileLevelH264HighAutoLevel,
      ],
    ]
    let input = AVAssetWriterInput(mediaType: .video, outputSettings: settings)
    input.expectsMediaDataInRealTime = false
    input.transform = CGAffineTransform(rotationAngle: .pi / 2)
    let adaptor = AVAssetWriterInputPixelBufferAdaptor(
      assetWriterInput: input,
      sourcePixelBufferAttributes: [
        kCVPixelBufferPixelFormatTypeKey as String: Int(kCVPixelFormatType_32BGRA),
        kCVPixelBufferWidthKey as String: 320, kCVPixelBufferHeightKey as String: 240,
      ])
    check(writer.canAdd(input))
    writer.add(input)
    check(adaptor.pixelBufferPool == nil)
    guard writer.startWriting() else { return check(false, "\(String(describing: writer.error))") }
    writer.startSession(atSourceTime: .zero)
    check(adaptor.pixelBufferPool != nil)
    let queue = DispatchQueue(label: "mediaInputQueue")
    let done = DispatchSemaphore(value: 0)
    let counter = FrameCounter()
    input.requestMediaDataWhenReady(on: queue) {
      while input.isReadyForMoreMediaData {
        let frame = counter.next
        if frame >= frames {
          input.markAsFinished()
          writer.finishWriting { done.signal() }
          return
        }
        autoreleasepool {
          var pixelBuffer: CVPixelBuffer?
          CVPixelBufferPoolCreatePixelBuffer(nil, adaptor.pixelBufferPool!, &pixelBuffer)
          CVPixelBufferLockBaseAddress(pixelBuffer!, [])
          memset(
            CVPixelBufferGetBaseAddress(pixelBuffer!)!, Int32(frame * 5),
            CVPixelBufferGetDataSize(pixelBuffer!))
          CVPixelBufferUnlockBaseAddress(pixelBuffer!, [])
          check(
            adaptor.append(pixelBuffer!, withPresentationTime: CMTimeMake(value: Int64(frame), timescale: 30))
          )
        }
        counter.next += 1
      }
    }
    check(done.wait(timeout: .now() + 60) == .success)
    check(writer.status == .completed, "\(writer.status.rawValue) \(String(describing: writer.error))")
  } catch {
    check(false, "\(error)")
  }
}

func movies() async throws {
  let folder = FileManager.default.temporaryDirectory.appendingPathComponent("idioms-\(getpid())")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  let url = folder.appendingPathComponent("a.mov")
  writeMovie(url, frames: 30)

  // The tracks, by the old and by the new API.
  let asset = AVAsset(url: url)
  let oldTrack = asset.tracks(withMediaType: .video).first!
  checkEqual(oldTrack.naturalSize, CGSize(width: 320, height: 240))
  checkEqual(oldTrack.nominalFrameRate, 30)
  checkEqual(CMTimeGetSeconds(asset.duration), 1)
  let videoTrack = try await asset.loadTracks(withMediaType: .video).first!
  let (size, transform, rate) = try await videoTrack.load(
    .naturalSize, .preferredTransform, .nominalFrameRate)
  check(size.width == 320 && rate == 30)
  check(abs(transform.b - 1) < 1e-6 && abs(transform.a) < 1e-6)
  let duration = try await asset.load(.duration)
  checkEqual(duration.seconds, 1)
  let formats = try await videoTrack.load(.formatDescriptions)
  checkEqual(formats.first?.mediaSubType, .h264)
  check(
    CMFormatDescriptionGetMediaSubType(oldTrack.formatDescriptions.first as! CMFormatDescription)
      == kCMVideoCodecType_H264)
  checkEqual(try await asset.loadTracks(withMediaType: .audio).count, 0)
  check(try await asset.load(.isPlayable))

  // Decoded samples.
  let reader = try AVAssetReader(asset: asset)
  let output = AVAssetReaderTrackOutput(
    track: videoTrack,
    outputSettings: [
      kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_420YpCbCr8BiPlanarFullRange
    ])
  output.alwaysCopiesSampleData = false
  check(reader.canAdd(output))
  reader.add(output)
  reader.timeRange = CMTimeRange(
    start: CMTime(value: 10, timescale: 30), duration: CMTime(value: 10, timescale: 30))
  check(reader.startReading())
  var times: [Double] = []
  while reader.status == .reading, let sampleBuffer = output.copyNextSampleBuffer() {
    guard let imageBuffer = CMSampleBufferGetImageBuffer(sampleBuffer) else { continue }
    checkEqual(CVPixelBufferGetPixelFormatType(imageBuffer), kCVPixelFormatType_420YpCbCr8BiPlanarFullRange)
    times.append(CMSampleBufferGetPresentationTimeStamp(sampleBuffer).seconds)
    CMSampleBufferInvalidate(sampleBuffer)
  }
  check(reader.status == .completed, "\(String(describing: reader.error))")
  checkEqual(times.count, 10)
  check(abs(times[0] - 1.0 / 3) < 1e-6 && times == times.sorted())

  // Pass-through into another container, with timing of its own.
  let copy = folder.appendingPathComponent("b.mp4")
  let stored = try AVAssetReader(asset: asset)
  let storedOutput = AVAssetReaderTrackOutput(track: videoTrack, outputSettings: nil)
  stored.add(storedOutput)
  let writer = try AVAssetWriter(url: copy, fileType: .mp4)
  let input = AVAssetWriterInput(mediaType: .video, outputSettings: nil, sourceFormatHint: formats.first)
  writer.shouldOptimizeForNetworkUse = true
  writer.add(input)
  check(stored.startReading() && writer.startWriting())
  writer.startSession(atSourceTime: CMTime(value: 5, timescale: 1))
  var count = 0
  while let sampleBuffer = storedOutput.copyNextSampleBuffer() {
    guard CMSampleBufferGetNumSamples(sampleBuffer) > 0 else { continue }
    var timingCount: CMItemCount = 0
    CMSampleBufferGetSampleTimingInfoArray(
      sampleBuffer, entryCount: 0, arrayToFill: nil, entriesNeededOut: &timingCount)
    var timing = [CMSampleTimingInfo](repeating: CMSampleTimingInfo(), count: timingCount)
    CMSampleBufferGetSampleTimingInfoArray(
      sampleBuffer, entryCount: timingCount, arrayToFill: &timing, entriesNeededOut: nil)
    for index in timing.indices {
      timing[index].presentationTimeStamp =
        timing[index].presentationTimeStamp + CMTime(value: 5, timescale: 1)
      if timing[index].decodeTimeStamp.isValid {
        timing[index].decodeTimeStamp = timing[index].decodeTimeStamp + CMTime(value: 5, timescale: 1)
      }
    }
    var retimed: CMSampleBuffer?
    CMSampleBufferCreateCopyWithNewTiming(
      allocator: nil, sampleBuffer: sampleBuffer, sampleTimingEntryCount: timingCount,
      sampleTimingArray: &timing,
      sampleBufferOut: &retimed)
    while !input.isReadyForMoreMediaData { try await Task.sleep(nanoseconds: 1_000_000) }
    check(input.append(retimed!))
    count += CMSampleBufferGetNumSamples(sampleBuffer)
  }
  checkEqual(count, 30)
  input.markAsFinished()
  await writer.finishWriting()
  check(writer.status == .completed, "\(String(describing: writer.error))")
  let copied = AVURLAsset(url: copy, options: [AVURLAssetPreferPreciseDurationAndTimingKey: true])
  checkEqual(try await copied.load(.duration).seconds, 1)

  // A picture, and an export.
  let generator = AVAssetImageGenerator(asset: asset)
  generator.appliesPreferredTrackTransform = true
  generator.requestedTimeToleranceBefore = .zero
  generator.requestedTimeToleranceAfter = .zero
  var actual = CMTime.zero
  let image = try generator.copyCGImage(at: CMTime(value: 15, timescale: 30), actualTime: &actual)
  check(image.width == 240 && image.height == 320)
  checkEqual(actual, CMTime(value: 15, timescale: 30))
  let generated = try await generator.image(at: CMTime(value: 3, timescale: 30))
  check(generated.image.width == 240 && generated.actualTime.seconds == 0.1)
  let exported = folder.appendingPathComponent("c.mp4")
  let session = AVAssetExportSession(asset: asset, presetName: AVAssetExportPresetPassthrough)!
  session.outputURL = exported
  session.outputFileType = .mp4
  session.timeRange = CMTimeRange(start: .zero, duration: CMTime(value: 15, timescale: 30))
  await session.export()
  check(session.status == .completed, "\(String(describing: session.error))")
  check(FileManager.default.fileExists(atPath: exported.path))

  // Errors.
  do {
    _ = try await AVURLAsset(url: folder.appendingPathComponent("none.mov")).load(.tracks)
    check(false)
  } catch let error as NSError {
    check(
      error.domain == AVFoundationErrorDomain || error.domain == NSCocoaErrorDomain
        || error.domain == NSURLErrorDomain, "\(error)")
  }
  do {
    try FileManager.default.removeItem(at: exported)
    try Data("no movie".utf8).write(to: exported)
    _ = try await AVURLAsset(url: exported).load(.duration)
    check(false)
  } catch AVError.fileFormatNotRecognized {
    check(true)
  } catch let error as AVError {
    check(error.code == .fileFormatNotRecognized || error.code == .unknown, "\(error)")
  }
  let taken = try AVAssetWriter(outputURL: copy, fileType: .mp4)
  taken.add(AVAssetWriterInput(mediaType: .video, outputSettings: nil, sourceFormatHint: formats.first))
  check(!taken.startWriting() && taken.status == .failed && taken.error != nil)
  checkEqual((taken.error as? AVError)?.code, .fileAlreadyExists)
}

// MARK: - Concurrency

/// An encoder and a decoder as actors and streams have them.
actor StreamDecoder {
  private var session: VTDecompressionSession?

  func decode(_ sample: CMSampleBuffer) async throws -> CVPixelBuffer {
    if session == nil {
      guard let format = sample.formatDescription else {
        throw NSError(domain: NSOSStatusErrorDomain, code: -1)
      }
      var created: VTDecompressionSession?
      let status = VTDecompressionSessionCreate(
        allocator: nil, formatDescription: format, decoderSpecification: nil, imageBufferAttributes: nil,
        decompressionSessionOut: &created)
      guard status == noErr else { throw NSError(domain: NSOSStatusErrorDomain, code: Int(status)) }
      session = created
    }
    return try await withCheckedThrowingContinuation { continuation in
      let status = VTDecompressionSessionDecodeFrame(
        session!, sampleBuffer: sample, flags: [._EnableAsynchronousDecompression], infoFlagsOut: nil
      ) { status, _, image, _, _ in
        if let image {
          continuation.resume(returning: image)
        } else {
          continuation.resume(throwing: NSError(domain: NSOSStatusErrorDomain, code: Int(status)))
        }
      }
      if status != noErr {
        continuation.resume(throwing: NSError(domain: NSOSStatusErrorDomain, code: Int(status)))
      }
    }
  }
}

func concurrency() async throws {
  let samples = encode(12)
  let decoder = StreamDecoder()
  for sample in samples {
    let picture = try await decoder.decode(sample)
    checkEqual(CVPixelBufferGetWidth(picture), 320)
  }
  // Frames through an AsyncStream.
  let (stream, continuation) = AsyncStream.makeStream(of: CMSampleBuffer.self)
  var session: VTDecompressionSession?
  VTDecompressionSessionCreate(
    allocator: nil, formatDescription: samples[0].formatDescription!, decoderSpecification: nil,
    imageBufferAttributes: nil, decompressionSessionOut: &session)
  let decoding = session!
  let task = Task.detached {
    for sample in samples {
      VTDecompressionSessionDecodeFrame(
        decoding, sampleBuffer: sample, flags: [._EnableAsynchronousDecompression], infoFlagsOut: nil
      ) { status, _, image, pts, duration in
        guard status == noErr, let image, let format = try? CMVideoFormatDescription(imageBuffer: image),
          let decoded = try? CMSampleBuffer(
            imageBuffer: image, formatDescription: format,
            sampleTiming: CMSampleTimingInfo(
              duration: duration, presentationTimeStamp: pts, decodeTimeStamp: .invalid))
        else { return }
        continuation.yield(decoded)
      }
    }
    VTDecompressionSessionWaitForAsynchronousFrames(decoding)
    continuation.finish()
  }
  var times: [Int64] = []
  for await decoded in stream { times.append(decoded.presentationTimeStamp.value) }
  await task.value
  checkEqual(times, Array(0..<12))
  // Sessions side by side.
  let counts = await withTaskGroup(of: Int.self) { group in
    for _ in 0..<4 {
      group.addTask {
        let decoder = StreamDecoder()
        var count = 0
        for sample in samples where (try? await decoder.decode(sample)) != nil { count += 1 }
        return count
      }
    }
    return await group.reduce(0, +)
  }
  checkEqual(counts, 48)
}
