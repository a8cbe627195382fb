// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Geometry
import OSLog
import VideoToolbox
import os

// A screen recorder in the shape that such programs have: settings out of geometry, a microphone's
// buffers as AudioBufferLists, a lock, a log and signposts.

let logger = Logger(subsystem: "org.example.recorder", category: "main")
let signposter = OSSignposter(logger: logger)

struct Failure: Error { let text: String }

func require(_ condition: Bool, _ text: String) throws {
  if !condition {
    logger.error("\(text, privacy: .public)")
    throw Failure(text: text)
  }
}

final class Recorder: @unchecked Sendable {
  private let writer: AVAssetWriter
  private let video: AVAssetWriterInput
  private let audio: AVAssetWriterInput
  private let adaptor: AVAssetWriterInputPixelBufferAdaptor
  private let counts = OSAllocatedUnfairLock(initialState: (frames: 0, packets: 0))
  private let size: CGSize

  init(url: URL, size: CGSize) throws {
    self.size = size
    writer = try AVAssetWriter(outputURL: url, fileType: .mp4)
    let geometry = Geometry(size: size)
    let settings: [String: Any] = [
      AVVideoCodecKey: AVVideoCodecType.h264,
      AVVideoWidthKey: size.width / 2,
      AVVideoHeightKey: size.height / 2,
      AVVideoCompressionPropertiesKey: [
        AVVideoAverageBitRateKey: size.width * size.height * 4,
        AVVideoMaxKeyFrameIntervalKey: 59.94,
        AVVideoAllowFrameReorderingKey: false,
        AVVideoAverageNonDroppableFrameRateKey: 30,
        AVVideoExpectedSourceFrameRateKey: 30,
        AVVideoPixelAspectRatioKey: [
          AVVideoPixelAspectRatioHorizontalSpacingKey: 1, AVVideoPixelAspectRatioVerticalSpacingKey: 1,
        ],
      ] as [String: Any],
    ]
    try require(geometry.settings["width"] as? CGFloat == size.width / 2, "width")
    try require(Geometry.number(AVVideoWidthKey, in: settings) == Double(size.width / 2), "number")
    try require(writer.canApply(outputSettings: settings, forMediaType: .video), "settings")
    video = AVAssetWriterInput(mediaType: .video, outputSettings: settings)
    adaptor = AVAssetWriterInputPixelBufferAdaptor(
      assetWriterInput: video,
      sourcePixelBufferAttributes: [
        kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_32BGRA,
        kCVPixelBufferWidthKey as String: size.width,
        kCVPixelBufferHeightKey as String: size.height,
      ])
    audio = AVAssetWriterInput(
      mediaType: .audio,
      outputSettings: [
        AVFormatIDKey: kAudioFormatMPEG4AAC, AVSampleRateKey: 48000, AVNumberOfChannelsKey: 2,
      ])
    writer.add(video)
    writer.add(audio)
  }

  func record(seconds: Int) async throws {
    try require(writer.startWriting(), "start")
    writer.startSession(atSourceTime: .zero)
    let state = signposter.beginInterval("record", id: signposter.makeSignpostID(), "\(seconds) s")
    for index in 0..<(30 * seconds) {
      try append(frame: index)
      try append(audioOf: index)
    }
    signposter.endInterval("record", state)
    video.markAsFinished()
    audio.markAsFinished()
    await writer.finishWriting()
    let counts = counts.withLock { $0 }
    os_log("%d frames, %d packets", log: .default, type: .info, counts.frames, counts.packets)
    try require(writer.status == .completed, "finish: \(String(describing: writer.error))")
    try require(counts.frames == 30 * seconds && counts.packets == 30 * seconds, "counts")
  }

  private func append(frame index: Int) throws {
    guard let pool = adaptor.pixelBufferPool else { throw Failure(text: "no pool") }
    var made: CVPixelBuffer?
    CVPixelBufferPoolCreatePixelBuffer(nil, pool, &made)
    guard let buffer = made else { throw Failure(text: "no buffer") }
    CVPixelBufferLockBaseAddress(buffer, [])
    // The base address is optional, and goes in as it is.
    let base = CVPixelBufferGetBaseAddress(buffer)
    memset(base, Int32(index * 4 % 256), CVPixelBufferGetDataSize(buffer))
    var header = CFSwapInt32HostToBig(UInt32(index))
    memcpy(base, &header, MemoryLayout<UInt32>.size)
    CVPixelBufferUnlockBaseAddress(buffer, [])
    while !video.isReadyForMoreMediaData { usleep(1000) }
    let time = CMTime(value: CMTimeValue(index), timescale: 30)
    try require(
      adaptor.append(buffer, withPresentationTime: time), "append: \(String(describing: writer.error))")
    counts.withLock { $0.frames += 1 }
  }

  /// 1600 frames of audio, each channel in a buffer of its own.
  private func append(audioOf index: Int) throws {
    var basic = AudioStreamBasicDescription(
      mSampleRate: 48000, mFormatID: kAudioFormatLinearPCM,
      mFormatFlags: kAudioFormatFlagsNativeFloatPacked | kAudioFormatFlagIsNonInterleaved, mBytesPerPacket: 4,
      mFramesPerPacket: 1, mBytesPerFrame: 4, mChannelsPerFrame: 2, mBitsPerChannel: 32, mReserved: 0)
    var format: CMAudioFormatDescription?
    CMAudioFormatDescriptionCreate(
      allocator: kCFAllocatorDefault, asbd: &basic, layoutSize: 0, layout: nil, magicCookieSize: 0,
      magicCookie: nil, extensions: nil, formatDescriptionOut: &format)
    guard let format else { throw Failure(text: "no format") }
    var sample: CMSampleBuffer?
    CMAudioSampleBufferCreateWithPacketDescriptions(
      allocator: kCFAllocatorDefault, dataBuffer: nil, dataReady: false, makeDataReadyCallback: nil,
      refcon: nil, formatDescription: format, sampleCount: 1600,
      presentationTimeStamp: CMTime(value: CMTimeValue(index) * 1600, timescale: 48000),
      packetDescriptions: nil, sampleBufferOut: &sample)
    guard let sample else { throw Failure(text: "no sample buffer") }
    let list = AudioBufferList.allocate(maximumBuffers: 2)
    defer {
      for buffer in list { free(buffer.mData) }
      free(list.unsafeMutablePointer)
    }
    for channel in 0..<2 {
      let bytes = 1600 * MemoryLayout<Float>.size
      let data = malloc(bytes)
      if let values = data?.assumingMemoryBound(to: Float.self) {
        for frame in 0..<1600 { values[frame] = sinf(Float(frame) * 0.05 * Float(channel + 1)) * 0.2 }
      }
      list[channel] = AudioBuffer(mNumberChannels: 1, mDataByteSize: UInt32(bytes), mData: data)
    }
    let status = CMSampleBufferSetDataBufferFromAudioBufferList(
      sample, blockBufferAllocator: kCFAllocatorDefault, blockBufferMemoryAllocator: kCFAllocatorDefault,
      flags: 0, bufferList: list.unsafePointer)
    try require(status == noErr, "buffer list: \(status)")
    let channels = try sample.withAudioBufferList { list, _ in list.count }
    try require(channels == 2, "channels")
    while !audio.isReadyForMoreMediaData { usleep(1000) }
    try require(audio.append(sample), "append audio: \(String(describing: writer.error))")
    counts.withLock { $0.packets += 1 }
  }
}

guard CommandLine.arguments.count == 2 else { fatalError("usage: Recorder MOVIE") }
let url = URL(fileURLWithPath: CommandLine.arguments[1])
try? FileManager.default.removeItem(at: url)
try await Recorder(url: url, size: CGSize(width: 640, height: 360)).record(seconds: 2)
