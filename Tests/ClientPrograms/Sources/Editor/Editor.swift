// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import CoreMedia
import CoreVideo
import Foundation

// An editor: `Editor MOVIE FOLDER` cuts a movie, fades audio, draws with a compositor of its own,
// writes metadata and alternatives, and reads all of it back.

struct Failure: Error { let text: String }

func require(_ condition: @autoclosure () throws -> Bool, _ text: @autoclosure () -> String) throws {
  if try !condition() { throw Failure(text: text()) }
}

func seconds(_ value: Double) -> CMTime { CMTime(seconds: value, preferredTimescale: 600) }

/// Turns the pictures negative.
class NegativeCompositor: NSObject, AVVideoCompositing {
  let sourcePixelBufferAttributes: [String: any Sendable]? = [
    kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_32BGRA
  ]
  let requiredPixelBufferAttributesForRenderContext: [String: any Sendable] = [
    kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_32BGRA
  ]

  func renderContextChanged(_ newRenderContext: AVVideoCompositionRenderContext) {}

  func startRequest(_ request: AVAsynchronousVideoCompositionRequest) {
    guard let target = request.renderContext.newPixelBuffer() else {
      return request.finish(with: Failure(text: "no memory"))
    }
    // In a gap of the composition there is nothing to show.
    guard let id = request.sourceTrackIDs.first?.int32Value, let source = request.sourceFrame(byTrackID: id)
    else {
      CVPixelBufferLockBaseAddress(target, [])
      memset(CVPixelBufferGetBaseAddress(target), 0, CVPixelBufferGetDataSize(target))
      CVPixelBufferUnlockBaseAddress(target, [])
      return request.finish(withComposedVideoFrame: target)
    }
    CVPixelBufferLockBaseAddress(source, .readOnly)
    CVPixelBufferLockBaseAddress(target, [])
    defer {
      CVPixelBufferUnlockBaseAddress(target, [])
      CVPixelBufferUnlockBaseAddress(source, .readOnly)
    }
    guard let from = CVPixelBufferGetBaseAddress(source), let to = CVPixelBufferGetBaseAddress(target) else {
      return request.finish(with: Failure(text: "no memory"))
    }
    let width = min(CVPixelBufferGetWidth(source), CVPixelBufferGetWidth(target))
    for row in 0..<min(CVPixelBufferGetHeight(source), CVPixelBufferGetHeight(target)) {
      let line = from.advanced(by: row * CVPixelBufferGetBytesPerRow(source)).assumingMemoryBound(
        to: UInt32.self)
      let out = to.advanced(by: row * CVPixelBufferGetBytesPerRow(target)).assumingMemoryBound(
        to: UInt32.self)
      for column in 0..<width { out[column] = ~line[column] | 0xFF00_0000 }
    }
    request.finish(withComposedVideoFrame: target)
  }
}

func brightness(_ image: CVPixelBuffer) -> Int {
  CVPixelBufferLockBaseAddress(image, .readOnly)
  defer { CVPixelBufferUnlockBaseAddress(image, .readOnly) }
  guard let base = CVPixelBufferGetBaseAddress(image) else { return 0 }
  var sum = 0
  let (width, height) = (CVPixelBufferGetWidth(image), CVPixelBufferGetHeight(image))
  for row in stride(from: 0, to: height, by: 8) {
    let line = base.advanced(by: row * CVPixelBufferGetBytesPerRow(image)).assumingMemoryBound(to: UInt8.self)
    for column in stride(from: 0, to: width, by: 8) { sum += Int(line[column * 4 + 1]) }
  }
  return sum / ((width + 7) / 8 * ((height + 7) / 8))
}

func pictures(_ asset: AVAsset, _ composition: AVVideoComposition?) async throws -> [Int] {
  let reader = try AVAssetReader(asset: asset)
  let settings: [String: Any] = [kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_32BGRA]
  let tracks = try await asset.loadTracks(withMediaType: .video)
  let output: AVAssetReaderOutput
  if let composition {
    let composed = AVAssetReaderVideoCompositionOutput(videoTracks: tracks, videoSettings: settings)
    composed.videoComposition = composition
    output = composed
  } else {
    output = AVAssetReaderTrackOutput(track: tracks[0], outputSettings: settings)
  }
  reader.add(output)
  try require(reader.startReading(), "\(String(describing: reader.error))")
  var found: [Int] = []
  while let sample = output.copyNextSampleBuffer() {
    if let image = CMSampleBufferGetImageBuffer(sample) { found.append(brightness(image)) }
  }
  try require(reader.status == .completed, "\(String(describing: reader.error))")
  return found
}

/// The loudest sample of each tenth of a second.
func loudness(_ asset: AVAsset, _ mix: AVAudioMix?) async throws -> [Float] {
  let reader = try AVAssetReader(asset: asset)
  let output = AVAssetReaderAudioMixOutput(
    audioTracks: try await asset.loadTracks(withMediaType: .audio),
    audioSettings: [
      AVFormatIDKey: kAudioFormatLinearPCM, AVLinearPCMBitDepthKey: 32, AVLinearPCMIsFloatKey: true,
      AVLinearPCMIsNonInterleaved: false, AVSampleRateKey: 8000, AVNumberOfChannelsKey: 1,
    ])
  output.audioMix = mix
  reader.add(output)
  try require(reader.startReading(), "\(String(describing: reader.error))")
  var samples: [Float] = []
  while let sample = output.copyNextSampleBuffer() {
    try sample.withAudioBufferList { list, _ in
      for buffer in list { samples += UnsafeBufferPointer<Float>(buffer) }
    }
  }
  return stride(from: 0, to: samples.count - 799, by: 800).map { start in
    samples[start..<start + 800].map(abs).max() ?? 0
  }
}

/// The first four seconds with a tone in two languages.
func withTone(_ source: AVAsset, to url: URL) async throws {
  guard let track = try await source.loadTracks(withMediaType: .video).first else {
    throw Failure(text: "no video")
  }
  let reader = try AVAssetReader(asset: source)
  reader.timeRange = CMTimeRange(start: .zero, duration: seconds(4))
  let output = AVAssetReaderTrackOutput(track: track, outputSettings: nil)
  reader.add(output)
  let writer = try AVAssetWriter(outputURL: url, fileType: .mov)
  let format = try await track.load(.formatDescriptions).first
  let video = AVAssetWriterInput(mediaType: .video, outputSettings: nil, sourceFormatHint: format)
  func audio(_ language: String) -> AVAssetWriterInput {
    let input = AVAssetWriterInput(
      mediaType: .audio,
      outputSettings: [
        AVFormatIDKey: kAudioFormatMPEG4AAC, AVSampleRateKey: 44100, AVNumberOfChannelsKey: 1,
        AVEncoderBitRateKey: 96000,
      ])
    input.extendedLanguageTag = language
    return input
  }
  let inputs = [audio("en"), audio("fr")]
  for input in [video] + inputs {
    input.expectsMediaDataInRealTime = false
    writer.add(input)
  }
  let group = AVAssetWriterInputGroup(inputs: inputs, defaultInput: inputs[0])
  try require(writer.canAdd(group), "no group")
  writer.add(group)
  let title = AVMutableMetadataItem()
  title.identifier = .commonIdentifierTitle
  title.value = "The editor" as NSString
  title.extendedLanguageTag = "und"
  let own = AVMutableMetadataItem()
  own.keySpace = .quickTimeMetadata
  own.key = "org.example.take" as NSString
  own.value = 3 as NSNumber
  writer.metadata = [title, own]
  try require(writer.startWriting(), "\(String(describing: writer.error))")
  writer.startSession(atSourceTime: .zero)
  try require(reader.startReading(), "\(String(describing: reader.error))")

  var description = AudioStreamBasicDescription(
    mSampleRate: 44100, mFormatID: kAudioFormatLinearPCM,
    mFormatFlags: kAudioFormatFlagIsSignedInteger | kAudioFormatFlagIsPacked, mBytesPerPacket: 2,
    mFramesPerPacket: 1, mBytesPerFrame: 2, mChannelsPerFrame: 1, mBitsPerChannel: 16, mReserved: 0)
  var pcm: CMAudioFormatDescription?
  CMAudioFormatDescriptionCreate(
    allocator: nil, asbd: &description, layoutSize: 0, layout: nil, magicCookieSize: 0, magicCookie: nil,
    extensions: nil, formatDescriptionOut: &pcm)
  guard let pcm else { throw Failure(text: "no format") }
  func tone(_ part: Int) throws -> CMSampleBuffer {
    let samples = (0..<4410).map { Int16(16000 * sin(Double($0 + part * 4410) * 2 * .pi * 441 / 44100)) }
    let block = try CMBlockBuffer(length: 8820, flags: .assureMemoryNow)
    try samples.withUnsafeBytes { try block.replaceDataBytes(with: $0) }
    return try CMSampleBuffer(
      dataBuffer: block, formatDescription: pcm, numSamples: 4410,
      sampleTimings: [
        CMSampleTimingInfo(
          duration: CMTime(value: 1, timescale: 44100),
          presentationTimeStamp: CMTime(value: CMTimeValue(part * 4410), timescale: 44100),
          decodeTimeStamp: .invalid)
      ], sampleSizes: [2])
  }
  var part = 0
  var isReading = true
  while isReading || part < 40 {
    var wasIdle = true
    if isReading, video.isReadyForMoreMediaData {
      wasIdle = false
      if let sample = output.copyNextSampleBuffer() {
        try require(video.append(sample), "\(String(describing: writer.error))")
      } else {
        isReading = false
        video.markAsFinished()
      }
    }
    if part < 40, inputs.allSatisfy(\.isReadyForMoreMediaData) {
      wasIdle = false
      for input in inputs { try require(input.append(try tone(part)), "\(String(describing: writer.error))") }
      part += 1
      if part == 40 { inputs.forEach { $0.markAsFinished() } }
    }
    if wasIdle { try await Task.sleep(nanoseconds: 1_000_000) }
  }
  await writer.finishWriting()
  try require(writer.status == .completed, "\(String(describing: writer.error))")
}

@main struct Editor {
  static func main() async throws {
    let folder = URL(fileURLWithPath: CommandLine.arguments[2], isDirectory: true)
    let url = folder.appendingPathComponent("toned.mov")
    try? FileManager.default.removeItem(at: url)
    try await withTone(AVURLAsset(url: URL(fileURLWithPath: CommandLine.arguments[1])), to: url)
    let source = AVURLAsset(url: url)

    // The data written in addition to the media.
    let metadata = try await source.load(.metadata)
    let titles = AVMetadataItem.metadataItems(from: metadata, filteredByIdentifier: .commonIdentifierTitle)
    let common = try await source.load(.commonMetadata)
    let title = titles.first ?? common.first { $0.commonKey == .commonKeyTitle }
    try require(title?.stringValue == "The editor", "\(metadata)")
    let take = metadata.first { $0.identifier?.rawValue == "mdta/org.example.take" }
    let number = try await take?.load(.numberValue)
    try require(number?.intValue == 3, "\(metadata)")
    let choices = try await source.loadMediaSelectionGroup(for: .audible)
    try require(choices?.options.count == 2, "\(String(describing: choices))")
    let french = choices.map {
      AVMediaSelectionGroup.mediaSelectionOptions(from: $0.options, with: Locale(identifier: "fr"))
    }
    try require(french?.first?.extendedLanguageTag == "fr", "\(String(describing: french))")

    // The third second twice, the second time at half the speed; a gap between.
    let composition = AVMutableComposition()
    guard
      let video = composition.addMutableTrack(
        withMediaType: .video, preferredTrackID: kCMPersistentTrackID_Invalid),
      let audio = composition.addMutableTrack(
        withMediaType: .audio, preferredTrackID: kCMPersistentTrackID_Invalid),
      let sourceVideo = try await source.loadTracks(withMediaType: .video).first,
      let sourceAudio = try await source.loadTracks(withMediaType: .audio).first
    else { throw Failure(text: "no tracks") }
    let part = CMTimeRange(start: seconds(2), duration: seconds(1))
    for (track, from) in [(video, sourceVideo), (audio, sourceAudio)] {
      try track.insertTimeRange(part, of: from, at: .zero)
      try track.insertTimeRange(part, of: from, at: seconds(1))
      track.scaleTimeRange(CMTimeRange(start: seconds(1), duration: seconds(1)), toDuration: seconds(2))
    }
    composition.insertEmptyTimeRange(CMTimeRange(start: seconds(1), duration: seconds(0.5)))
    try require(composition.duration == seconds(3.5), "\(composition.duration.seconds)")
    composition.removeTimeRange(CMTimeRange(start: seconds(3), duration: seconds(0.5)))
    try require(composition.duration == seconds(3), "\(composition.duration.seconds)")

    // Audio that fades out in the first second.
    let parameters = AVMutableAudioMixInputParameters(track: audio)
    parameters.setVolumeRamp(
      fromStartVolume: 1, toEndVolume: 0, timeRange: CMTimeRange(start: .zero, duration: seconds(1)))
    parameters.setVolume(0.5, at: seconds(1.5))
    let mix = AVMutableAudioMix()
    mix.inputParameters = [parameters]
    let plain = try await loudness(composition, nil)
    let faded = try await loudness(composition, mix)
    try require(plain.count == faded.count && plain.count >= 29, "\(plain.count) parts")
    try require(plain[2] > 0.4 && abs(faded[2] / plain[2] - 0.8) < 0.06, "\(faded)")
    try require(faded[8] / plain[8] < 0.25, "\(faded)")
    try require(plain[11..<14].allSatisfy { $0 < 0.02 }, "audio in the gap: \(plain)")
    try require(abs(faded[20] / plain[20] - 0.5) < 0.05, "\(faded)")

    // Pictures turned negative by a compositor of our own.
    let instruction = AVMutableVideoCompositionInstruction()
    instruction.timeRange = CMTimeRange(start: .zero, duration: composition.duration)
    instruction.layerInstructions = [AVMutableVideoCompositionLayerInstruction(assetTrack: video)]
    let negative = AVMutableVideoComposition()
    negative.customVideoCompositorClass = NegativeCompositor.self
    negative.frameDuration = CMTime(value: 1, timescale: 10)
    negative.renderSize = CGSize(width: 320, height: 180)
    negative.instructions = [instruction]
    let shown = try await pictures(composition, negative)
    try require(shown.count == 30, "\(shown.count) pictures")
    let simple = AVMutableVideoComposition()
    simple.frameDuration = negative.frameDuration
    simple.renderSize = negative.renderSize
    simple.instructions = [instruction]
    let positive = try await pictures(composition, simple)
    for (a, b) in zip(shown.prefix(9), positive.prefix(9)) {
      try require(abs(a + b - 255) < 24, "\(a) is not the negative of \(b)")
    }

    // Out of the editor.
    let exported = folder.appendingPathComponent("edited.mp4")
    try? FileManager.default.removeItem(at: exported)
    guard let session = AVAssetExportSession(asset: composition, presetName: AVAssetExportPreset640x480)
    else {
      throw Failure(text: "no export")
    }
    session.audioMix = mix
    try await session.export(to: exported, as: .mp4)
    let result = AVURLAsset(url: exported)
    let length = try await result.load(.duration)
    try require(abs(length.seconds - 3) < 0.1, "\(length.seconds)")
    print("editor: \(shown.count) pictures, \(plain.count) parts of audio, \(length.seconds) s exported")
  }
}
