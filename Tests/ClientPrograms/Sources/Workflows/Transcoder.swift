// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import CoreMedia
import Foundation
import VideoToolbox

/// Compressed samples out of a reader, through a decoder, a scaler and an encoder with C callbacks,
/// into a writer.
final class Transcoder: @unchecked Sendable {
  private var decompressionSession: VTDecompressionSession?
  private var compressionSession: VTCompressionSession?
  private var transferSession: VTPixelTransferSession?
  private var pool: CVPixelBufferPool?
  private let lock = NSLock()
  private var encoded: [CMSampleBuffer] = []
  private(set) var decodedFrames = 0
  private(set) var frameNumbers: [Int] = []
  let width: Int32 = 640
  let height: Int32 = 360

  private final class FrameContext {
    let number: Int
    init(number: Int) { self.number = number }
  }

  init(source: CMVideoFormatDescription) throws {
    var callback = VTDecompressionOutputCallbackRecord(
      decompressionOutputCallback: { refcon, frameRefcon, status, infoFlags, imageBuffer, pts, duration in
        let transcoder = Unmanaged<Transcoder>.fromOpaque(refcon!).takeUnretainedValue()
        let context = Unmanaged<FrameContext>.fromOpaque(frameRefcon!).takeRetainedValue()
        transcoder.didDecode(context, status, infoFlags, imageBuffer, pts, duration)
      },
      decompressionOutputRefCon: Unmanaged.passUnretained(self).toOpaque())
    var status = VTDecompressionSessionCreate(
      allocator: kCFAllocatorDefault,
      formatDescription: source,
      decoderSpecification: [
        kVTVideoDecoderSpecification_RequireHardwareAcceleratedVideoDecoder: false
      ] as CFDictionary,
      imageBufferAttributes: [
        kCVPixelBufferPixelFormatTypeKey: kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange,
        kCVPixelBufferIOSurfacePropertiesKey: [:] as CFDictionary,
      ] as CFDictionary,
      outputCallback: &callback,
      decompressionSessionOut: &decompressionSession)
    guard status == noErr else { throw NSError(domain: NSOSStatusErrorDomain, code: Int(status)) }

    status = VTCompressionSessionCreate(
      allocator: kCFAllocatorDefault, width: width, height: height, codecType: kCMVideoCodecType_H264,
      encoderSpecification: nil,
      imageBufferAttributes: [
        kCVPixelBufferPixelFormatTypeKey: kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange,
        kCVPixelBufferWidthKey: width, kCVPixelBufferHeightKey: height,
      ] as CFDictionary,
      compressedDataAllocator: nil,
      outputCallback: compressionOutputCallback,
      refcon: Unmanaged.passUnretained(self).toOpaque(),
      compressionSessionOut: &compressionSession)
    guard status == noErr, let session = compressionSession else {
      throw NSError(domain: NSOSStatusErrorDomain, code: Int(status))
    }
    var bytesPerSecond = NSNumber(value: 1_500_000 / 8 * 2)
    var seconds = NSNumber(value: 1)
    let limits = [bytesPerSecond, seconds] as CFArray
    expectNoErr(VTSessionSetProperty(session, key: kVTCompressionPropertyKey_DataRateLimits, value: limits))
    bytesPerSecond = 0
    seconds = 0
    var averageBitRate: Int32 = 1_500_000
    let averageBitRateRef = CFNumberCreate(kCFAllocatorDefault, .sInt32Type, &averageBitRate)
    expectNoErr(
      VTSessionSetProperty(session, key: kVTCompressionPropertyKey_AverageBitRate, value: averageBitRateRef))
    expectNoErr(
      VTSessionSetProperty(
        session, key: kVTCompressionPropertyKey_ProfileLevel, value: kVTProfileLevel_H264_High_AutoLevel))
    expectNoErr(
      VTSessionSetProperty(
        session, key: kVTCompressionPropertyKey_AllowFrameReordering, value: kCFBooleanTrue))
    expectNoErr(
      VTSessionSetProperty(
        session, key: kVTCompressionPropertyKey_MaxKeyFrameIntervalDuration, value: 2 as CFTypeRef))
    expectNoErr(VTCompressionSessionPrepareToEncodeFrames(session))
    var supported: CFTypeRef?
    expectNoErr(
      VTSessionCopyProperty(
        session, key: kVTCompressionPropertyKey_AverageBitRate, allocator: kCFAllocatorDefault,
        valueOut: &supported))
    expect((supported as? Int) == 1_500_000, "\(String(describing: supported))")

    pool = VTCompressionSessionGetPixelBufferPool(session)
    expect(pool != nil)
    expectNoErr(
      VTPixelTransferSessionCreate(allocator: nil, pixelTransferSessionOut: &transferSession))
    expectNoErr(
      VTSessionSetProperty(
        transferSession!, key: kVTPixelTransferPropertyKey_ScalingMode,
        value: kVTScalingMode_CropSourceToCleanAperture))
  }

  deinit {
    if let decompressionSession { VTDecompressionSessionInvalidate(decompressionSession) }
    if let compressionSession { VTCompressionSessionInvalidate(compressionSession) }
    if let transferSession { VTPixelTransferSessionInvalidate(transferSession) }
  }

  private var nextNumber = 0

  func push(_ sampleBuffer: CMSampleBuffer) {
    let context = FrameContext(number: nextNumber)
    nextNumber += 1
    let status = VTDecompressionSessionDecodeFrame(
      decompressionSession!, sampleBuffer: sampleBuffer,
      flags: VTDecodeFrameFlags._EnableAsynchronousDecompression.union(._EnableTemporalProcessing),
      frameRefcon: Unmanaged.passRetained(context).toOpaque(), infoFlagsOut: nil)
    expectNoErr(status)
  }

  private func didDecode(
    _ context: FrameContext, _ status: OSStatus, _ infoFlags: VTDecodeInfoFlags,
    _ imageBuffer: CVImageBuffer?, _ pts: CMTime, _ duration: CMTime
  ) {
    expectNoErr(status)
    guard let imageBuffer else { return expect(infoFlags.contains(.frameDropped)) }
    decodedFrames += 1
    frameNumbers.append(context.number)
    var scaled: CVPixelBuffer?
    expect(CVPixelBufferPoolCreatePixelBuffer(kCFAllocatorDefault, pool!, &scaled) == kCVReturnSuccess)
    expectNoErr(VTPixelTransferSessionTransferImage(transferSession!, from: imageBuffer, to: scaled!))
    CVBufferPropagateAttachments(imageBuffer, scaled!)
    var encodeFlags = VTEncodeInfoFlags()
    let frameProperties = [
      kVTEncodeFrameOptionKey_ForceKeyFrame: decodedFrames == 1 ? kCFBooleanTrue! : kCFBooleanFalse!
    ]
    expectNoErr(
      VTCompressionSessionEncodeFrame(
        compressionSession!, imageBuffer: scaled!, presentationTimeStamp: pts, duration: duration,
        frameProperties: frameProperties as CFDictionary,
        sourceFrameRefcon: UnsafeMutableRawPointer(bitPattern: decodedFrames), infoFlagsOut: &encodeFlags))
  }

  fileprivate func didEncode(_ frame: Int, _ sampleBuffer: CMSampleBuffer) {
    expect(CMSampleBufferDataIsReady(sampleBuffer))
    expect(frame > 0)
    lock.lock()
    encoded.append(sampleBuffer)
    lock.unlock()
  }

  func finish() -> [CMSampleBuffer] {
    expectNoErr(VTDecompressionSessionFinishDelayedFrames(decompressionSession!))
    expectNoErr(VTDecompressionSessionWaitForAsynchronousFrames(decompressionSession!))
    expectNoErr(VTCompressionSessionCompleteFrames(compressionSession!, untilPresentationTimeStamp: .invalid))
    lock.lock()
    defer { lock.unlock() }
    return encoded
  }
}

private func compressionOutputCallback(
  outputCallbackRefCon: UnsafeMutableRawPointer?, sourceFrameRefCon: UnsafeMutableRawPointer?,
  status: OSStatus, infoFlags: VTEncodeInfoFlags, sampleBuffer: CMSampleBuffer?
) {
  guard status == noErr, let sampleBuffer, let outputCallbackRefCon else {
    return expect(infoFlags.contains(.frameDropped), "\(status)")
  }
  let transcoder: Transcoder = Unmanaged.fromOpaque(outputCallbackRefCon).takeUnretainedValue()
  transcoder.didEncode(Int(bitPattern: sourceFrameRefCon), sampleBuffer)
}

func transcode(_ movie: URL, to destination: URL) async throws {
  let asset = AVURLAsset(url: movie, options: [AVURLAssetPreferPreciseDurationAndTimingKey: true])
  let tracks = try await asset.loadTracks(withMediaType: .video)
  guard let track = tracks.first else { throw CocoaError(.fileReadCorruptFile) }
  let description = try await track.load(.formatDescriptions)[0]
  let transcoder = try Transcoder(source: description)
  let reader = try AVAssetReader(asset: asset)
  let output = AVAssetReaderTrackOutput(track: track, outputSettings: nil)
  output.alwaysCopiesSampleData = false
  reader.add(output)
  guard reader.startReading() else { throw reader.error! }
  var count = 0
  while let sampleBuffer = output.copyNextSampleBuffer() {
    // Readers may end with an empty marker.
    guard CMSampleBufferGetNumSamples(sampleBuffer) > 0, CMSampleBufferGetDataBuffer(sampleBuffer) != nil
    else { continue }
    count += sampleBuffer.numSamples
    transcoder.push(sampleBuffer)
  }
  expect(reader.status == .completed, "\(String(describing: reader.error))")
  let samples = transcoder.finish()
  expect(transcoder.decodedFrames == count && samples.count == count, "\(count), \(samples.count)")
  expect(Set(transcoder.frameNumbers).count == count)

  try? FileManager.default.removeItem(at: destination)
  let writer = try AVAssetWriter(outputURL: destination, fileType: .mov)
  let input = AVAssetWriterInput(
    mediaType: .video, outputSettings: nil, sourceFormatHint: CMSampleBufferGetFormatDescription(samples[0]))
  input.mediaTimeScale = 60_000
  input.expectsMediaDataInRealTime = true
  guard writer.canAdd(input) else { fatalError("the input cannot be added") }
  writer.add(input)
  guard writer.startWriting() else { throw writer.error! }
  let start = samples.map(\.presentationTimeStamp).min()!
  writer.startSession(atSourceTime: start)
  for sample in samples {
    while !input.isReadyForMoreMediaData { try await Task.sleep(for: .milliseconds(1)) }
    expect(input.append(sample), "\(String(describing: writer.error))")
  }
  let last = samples.map { $0.presentationTimeStamp + $0.duration }.max()!
  input.markAsFinished()
  writer.endSession(atSourceTime: last)
  await writer.finishWriting()
  expect(writer.status == .completed, "\(String(describing: writer.error))")
}
