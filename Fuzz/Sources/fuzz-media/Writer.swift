// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import FuzzDriver

private let folder = "/dev/shm/ovt-fuzz-\(ProcessInfo.processInfo.processIdentifier)"

/// Appends samples with any times and sizes in any order to a movie writer. The movie is completed
/// and readable, or there is no file.
@Sendable func fuzzWriter(_ input: inout FuzzInput) {
  try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  let url = URL(fileURLWithPath: folder + "/a.mov")
  try? FileManager.default.removeItem(at: url)
  let flags = input.byte()
  guard let writer = try? AVAssetWriter(url: url, fileType: flags & 1 == 0 ? .mov : .mp4) else { return }
  if flags & 2 != 0 { writer.movieFragmentInterval = CMTime(value: Int64(input.number()), timescale: 30) }
  if flags & 4 != 0 { writer.movieTimeScale = Int32(clamping: input.number()) }
  writer.shouldOptimizeForNetworkUse = flags & 8 != 0
  var tracks: [(input: AVAssetWriterInput, format: CMFormatDescription)] = []
  for kind in 0..<Int(input.byte() % 3 + 1) {
    guard let format = kind == 1 ? audio(&input) : video(&input) else { continue }
    let track = AVAssetWriterInput(
      mediaType: kind == 1 ? .audio : .video, outputSettings: nil, sourceFormatHint: format)
    if input.byte() & 1 != 0 { track.mediaTimeScale = Int32(clamping: input.number()) }
    track.transform = CGAffineTransform(
      a: input.real(), b: input.real(), c: input.real(), d: input.real(), tx: input.real(), ty: input.real())
    guard writer.canAdd(track) else { continue }
    writer.add(track)
    tracks.append((track, format))
  }
  guard !tracks.isEmpty, writer.startWriting() else { return }
  writer.startSession(atSourceTime: time(&input))
  var steps = 0
  while !input.isEmpty, steps < 60, writer.status == .writing {
    steps += 1
    let (track, format) = tracks[Int(input.byte()) % tracks.count]
    switch input.byte() % 16 {
    case 0: track.markAsFinished()
    case 1: writer.endSession(atSourceTime: time(&input))
    default: if let sample = sample(format, &input, step: steps) { _ = track.append(sample) }
    }
  }
  if flags & 16 != 0 {
    writer.cancelWriting()
    // A writer that had failed before keeps its complete fragments.
    require(
      writer.status == .failed && flags & 2 != 0 || !FileManager.default.fileExists(atPath: url.path),
      "a cancelled movie is there")
    return
  }
  let end = DispatchSemaphore(value: 0)
  writer.finishWriting { end.signal() }
  end.wait()
  if writer.status == .completed {
    require(!AVURLAsset(url: url).tracks.isEmpty, "a completed movie cannot be read")
  } else if flags & 2 == 0 {
    require(!FileManager.default.fileExists(atPath: url.path), "a failed movie is there")
  }
}

private func time(_ input: inout FuzzInput) -> CMTime {
  switch input.byte() {
  case 0..<180: CMTime(value: Int64(input.byte()), timescale: 30)
  case 180..<190: .invalid
  case 190..<195: .positiveInfinity
  default:
    CMTime(
      value: Int64(input.number()), timescale: Int32(truncatingIfNeeded: input.number()), flags: .valid,
      epoch: 0)
  }
}

private func video(_ input: inout FuzzInput) -> CMFormatDescription? {
  let codecs = [
    kCMVideoCodecType_H264, kCMVideoCodecType_HEVC, kCMVideoCodecType_JPEG, kCMVideoCodecType_MPEG4Video,
  ]
  let atoms = NSMutableDictionary()
  if input.byte() & 1 != 0 {
    atoms["avcC" as NSString] = input.piece().prefix(200) as NSData
    atoms["esds" as NSString] = Data([0, 0, 0, 0, 3, 25]) as NSData
  }
  let extensions: NSDictionary = [
    kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms: atoms,
    kCMFormatDescriptionExtension_PixelAspectRatio: [
      kCMFormatDescriptionKey_PixelAspectRatioHorizontalSpacing: NSNumber(value: input.real()),
      kCMFormatDescriptionKey_PixelAspectRatioVerticalSpacing: NSNumber(value: input.real()),
    ] as NSDictionary,
  ]
  var made: CMFormatDescription?
  CMVideoFormatDescriptionCreate(
    allocator: nil, codecType: codecs[Int(input.byte()) % codecs.count],
    width: Int32(truncatingIfNeeded: input.number()),
    height: Int32(truncatingIfNeeded: input.number()), extensions: extensions, formatDescriptionOut: &made)
  return made
}

private func audio(_ input: inout FuzzInput) -> CMFormatDescription? {
  var basic = AudioStreamBasicDescription()
  basic.mSampleRate = input.real()
  basic.mFormatID = input.byte() & 1 == 0 ? kAudioFormatMPEG4AAC : kAudioFormatLinearPCM
  basic.mChannelsPerFrame = UInt32(truncatingIfNeeded: input.number())
  basic.mBitsPerChannel = UInt32(truncatingIfNeeded: input.number())
  basic.mBytesPerFrame = UInt32(truncatingIfNeeded: input.number())
  basic.mFramesPerPacket = UInt32(truncatingIfNeeded: input.number())
  return try? CMFormatDescription(audioStreamBasicDescription: basic, magicCookie: input.piece().prefix(200))
}

private func sample(_ format: CMFormatDescription, _ input: inout FuzzInput, step: Int) -> CMSampleBuffer? {
  let count = Int(input.byte() % 4) + 1
  let bytes = Int(input.byte()) * count
  guard let block = try? CMBlockBuffer(length: max(1, bytes), flags: .assureMemoryNow) else { return nil }
  var timings = (0..<count).map { index in
    let regular = CMTime(value: Int64(step * 4 + index), timescale: 30)
    let isRegular = input.byte() < 200
    return CMSampleTimingInfo(
      duration: isRegular ? CMTime(value: 1, timescale: 30) : time(&input),
      presentationTimeStamp: isRegular ? regular : time(&input),
      decodeTimeStamp: isRegular ? .invalid : time(&input))
  }
  var sizes = (0..<count).map { _ in input.byte() < 220 ? bytes / count : input.number() }
  var made: CMSampleBuffer?
  CMSampleBufferCreateReady(
    allocator: nil, dataBuffer: block, formatDescription: format, sampleCount: count,
    sampleTimingEntryCount: count,
    sampleTimingArray: &timings, sampleSizeEntryCount: count, sampleSizeArray: &sizes, sampleBufferOut: &made)
  return made
}
