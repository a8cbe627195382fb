// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Synchronization
import VideoToolbox

// Encodes, decodes and copies for a long time with changing settings, and checks for leaks:
// endurance [FRAMES] [SESSIONS] [SVG]
//
// For each kind of work, the memory in use and the open descriptors are measured after each
// hundredth. After the first fifth, the memory must not grow by more than a small amount, and no
// descriptor may stay open. SVG is the file for a chart of the memory.

let frameCount = CommandLine.arguments.dropFirst().first.flatMap(Int.init) ?? 20_000
let sessionCount = CommandLine.arguments.dropFirst(2).first.flatMap(Int.init) ?? 5_000
/// The number of frames in one hundredth of the work.
let share = max(frameCount / Watch.parts, 1)
let watch = Watch()

struct Refused: Error {
  let what: String
  let status: OSStatus
}

func check(_ status: OSStatus, _ what: String) throws {
  if status != noErr { throw Refused(what: what, status: status) }
}

func pictures(_ width: Int, _ height: Int) -> [CVPixelBuffer] {
  (0..<4).compactMap { index in
    var made: CVPixelBuffer?
    CVPixelBufferCreate(nil, width, height, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, nil, &made)
    guard let made, let luma = CVPixelBufferGetBaseAddressOfPlane(made, 0),
      let chroma = CVPixelBufferGetBaseAddressOfPlane(made, 1)
    else { return nil }
    for row in 0..<height {
      let line = (luma + row * CVPixelBufferGetBytesPerRowOfPlane(made, 0)).assumingMemoryBound(
        to: UInt8.self)
      for column in 0..<width {
        line[column] = UInt8(truncatingIfNeeded: (column + 3 * index) * (row + index) / 4)
      }
    }
    memset(chroma, 128, CVPixelBufferGetBytesPerRowOfPlane(made, 1) * (height / 2))
    return made
  }
}

func session(_ specification: NSDictionary?, _ width: Int, _ height: Int) throws -> VTCompressionSession {
  var made: VTCompressionSession?
  try check(
    VTCompressionSessionCreate(
      allocator: nil, width: Int32(width), height: Int32(height), codecType: kCMVideoCodecType_H264,
      encoderSpecification: specification, imageBufferAttributes: nil, compressedDataAllocator: nil,
      outputCallback: nil,
      refcon: nil, compressionSessionOut: &made), "create")
  guard let made else { throw Refused(what: "create", status: -1) }
  return made
}

/// Counts the frames that were output, and checks their times.
final class Outcome: Sendable {
  private let found = Mutex((count: 0, sum: 0, isOff: false))

  func add(_ status: OSStatus, _ sample: CMSampleBuffer?) {
    found.withLock {
      guard status == noErr, let time = sample.map(CMSampleBufferGetPresentationTimeStamp) else { return }
      $0.count += 1
      $0.sum += Int(time.value)
      // The time scale must not change, however long the session lasts.
      if time.timescale != 30 { $0.isOff = true }
    }
  }

  /// The presentation times are 0, 1, 2, ... in any order, so their sum is known.
  func check(_ name: String, frames: Int) {
    let (count, sum, isOff) = found.withLock { $0 }
    guard count != frames || sum != frames * (frames - 1) / 2 || isOff else { return }
    print("\(name): \(count) frames of \(frames) came out, or at other times")
    exit(1)
  }
}

func encode(_ encoder: VTCompressionSession, _ picture: CVPixelBuffer, _ index: Int, _ outcome: Outcome)
  throws
{
  try check(
    VTCompressionSessionEncodeFrame(
      encoder, imageBuffer: picture, presentationTimeStamp: CMTime(value: Int64(index), timescale: 30),
      duration: .invalid, frameProperties: nil, infoFlagsOut: nil
    ) { status, _, sample in outcome.add(status, sample) }, "frame \(index)")
}

func rate(_ encoder: VTCompressionSession, _ number: Int) throws {
  try check(
    VTSessionSetProperty(
      encoder, key: kVTCompressionPropertyKey_AverageBitRate,
      value: NSNumber(value: 100_000 + number % 7 * 50_000)), "rate")
}

/// Encodes frames in one session with a changing bit rate.
func encode(_ name: String, _ specification: NSDictionary?, _ properties: [(CFString, NSNumber)]) throws {
  let (width, height) = (96, 64)
  let source = pictures(width, height)
  let encoder = try session(specification, width, height)
  for (key, value) in properties { VTSessionSetProperty(encoder, key: key, value: value) }
  let outcome = Outcome()
  var index = 0
  watch.run(name) { part in
    for frame in 0..<share {
      if frame % 500 == 0 { try rate(encoder, frame / 500 + part) }
      try encode(encoder, source[index % 4], index, outcome)
      index += 1
    }
  }
  try check(VTCompressionSessionCompleteFrames(encoder, untilPresentationTimeStamp: .invalid), "complete")
  VTCompressionSessionInvalidate(encoder)
  outcome.check(name, frames: index)
}

/// Encodes with a new session every 400 frames, with another size, other properties and another
/// encoder.
func resize() throws {
  let sizes = [(96, 64), (160, 96), (64, 128), (176, 144), (16, 16), (130, 50)]
  let sources = sizes.map { pictures($0.0, $0.1) }
  let outcome = Outcome()
  var encoder: VTCompressionSession?
  var (index, number) = (0, 0)
  defer { encoder.map(VTCompressionSessionInvalidate) }
  watch.run("sizes and properties change") { _ in
    for _ in 0..<share {
      if index % 400 == 0 {
        if let encoder {
          VTCompressionSessionCompleteFrames(encoder, untilPresentationTimeStamp: .invalid)
          VTCompressionSessionInvalidate(encoder)
        }
        number += 1
        let (width, height) = sizes[number % sizes.count]
        let made = try session(
          number % 2 == 0
            ? [kVTVideoEncoderSpecification_EnableLowLatencyRateControl: NSNumber(value: true)] : nil,
          width, height)
        for (key, value) in [
          (kVTCompressionPropertyKey_RealTime, NSNumber(value: number % 3 != 0)),
          (kVTCompressionPropertyKey_MaxKeyFrameInterval, NSNumber(value: 30 + number % 90)),
          (kVTCompressionPropertyKey_ExpectedFrameRate, NSNumber(value: 24 + number % 37)),
        ] { VTSessionSetProperty(made, key: key, value: value) }
        encoder = made
      }
      guard let encoder else { return }
      if index % 50 == 0 { try rate(encoder, index / 50) }
      try encode(encoder, sources[number % sizes.count][index % 4], index, outcome)
      index += 1
    }
  }
  if let encoder { VTCompressionSessionCompleteFrames(encoder, untilPresentationTimeStamp: .invalid) }
  outcome.check("sizes and properties change", frames: index)
}

func samples(_ count: Int) throws -> [CMSampleBuffer] {
  let source = pictures(96, 64)
  let encoder = try session(nil, 96, 64)
  VTSessionSetProperty(
    encoder, key: kVTCompressionPropertyKey_AllowFrameReordering, value: NSNumber(value: false))
  VTSessionSetProperty(
    encoder, key: kVTCompressionPropertyKey_MaxKeyFrameInterval, value: NSNumber(value: 30))
  let made = Mutex<[CMSampleBuffer]>([])
  for index in 0..<count {
    VTCompressionSessionEncodeFrame(
      encoder, imageBuffer: source[index % 4],
      presentationTimeStamp: CMTime(value: Int64(index), timescale: 30),
      duration: .invalid, frameProperties: nil, infoFlagsOut: nil
    ) { _, _, sample in if let sample { made.withLock { $0.append(sample) } } }
  }
  VTCompressionSessionCompleteFrames(encoder, untilPresentationTimeStamp: .invalid)
  VTCompressionSessionInvalidate(encoder)
  return made.withLock { $0 }
}

func decode(_ stored: [CMSampleBuffer]) throws {
  guard let format = stored.first.flatMap({ CMSampleBufferGetFormatDescription($0) }) else { return }
  var made: VTDecompressionSession?
  try check(
    VTDecompressionSessionCreate(
      allocator: nil, formatDescription: format, decoderSpecification: nil, imageBufferAttributes: nil,
      outputCallback: nil,
      decompressionSessionOut: &made), "decoder")
  guard let decoder = made else { return }
  let shown = Atomic(0)
  watch.run("decode") { _ in
    for index in 0..<share {
      try check(
        VTDecompressionSessionDecodeFrame(
          decoder, sampleBuffer: stored[index % stored.count], flags: [._EnableAsynchronousDecompression],
          infoFlagsOut: nil
        ) { status, _, picture, _, _ in
          if status == noErr, picture != nil { shown.add(1, ordering: .relaxed) }
        }, "sample \(index)")
    }
    VTDecompressionSessionWaitForAsynchronousFrames(decoder)
  }
  VTDecompressionSessionInvalidate(decoder)
  guard shown.load(ordering: .relaxed) == share * Watch.parts else {
    print("decode: \(shown.load(ordering: .relaxed)) pictures of \(share * Watch.parts)")
    exit(1)
  }
}

/// Writes the samples to a movie, and copies it repeatedly.
func copy(_ stored: [CMSampleBuffer]) throws {
  let folder = FileManager.default.temporaryDirectory.appendingPathComponent("endurance-\(getpid())")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  let (one, other) = (folder.appendingPathComponent("one.mov"), folder.appendingPathComponent("other.mov"))
  func write(_ url: URL, _ next: () -> CMSampleBuffer?) throws {
    try? FileManager.default.removeItem(at: url)
    let writer = try AVAssetWriter(url: url, fileType: .mov)
    let input = AVAssetWriterInput(mediaType: .video, outputSettings: nil)
    writer.add(input)
    guard writer.startWriting() else { throw writer.error ?? AVError(.unknown) }
    writer.startSession(atSourceTime: .zero)
    while let sample = next() {
      guard input.append(sample) else { throw writer.error ?? AVError(.unknown) }
    }
    input.markAsFinished()
    let end = DispatchSemaphore(value: 0)
    writer.finishWriting { end.signal() }
    end.wait()
    guard writer.status == .completed else { throw writer.error ?? AVError(.unknown) }
  }
  var rest = stored[...]
  try write(one) { rest.popFirst() }
  watch.run("reader to writer") { _ in
    for _ in 0..<max(1, share / stored.count) {
      let asset = AVURLAsset(url: one)
      let reader = try AVAssetReader(asset: asset)
      let output = AVAssetReaderTrackOutput(track: asset.tracks[0], outputSettings: nil)
      reader.add(output)
      guard reader.startReading() else { throw reader.error ?? AVError(.unknown) }
      try write(other) { output.copyNextSampleBuffer() }
    }
  }
}

/// Creates and releases sessions on eight threads.
func comeAndGo() {
  let source = pictures(64, 48)
  watch.run("sessions come and go") { _ in
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for number in 0..<max(1, sessionCount / Watch.parts / 8) {
        let specification: NSDictionary? =
          (thread + number) % 2 == 0
          ? [kVTVideoEncoderSpecification_EnableLowLatencyRateControl: NSNumber(value: true)] : nil
        guard let made = try? session(specification, 64, 48) else { exit(3) }
        for frame in 0..<2 {
          VTCompressionSessionEncodeFrame(
            made, imageBuffer: source[frame],
            presentationTimeStamp: CMTime(value: Int64(frame), timescale: 30),
            duration: .invalid, frameProperties: nil, infoFlagsOut: nil
          ) { _, _, _ in }
        }
        if number % 3 != 0 { VTCompressionSessionCompleteFrames(made, untilPresentationTimeStamp: .invalid) }
        if number % 5 != 0 { VTCompressionSessionInvalidate(made) }
      }
    }
  }
}

/// Fills a silo in a first pass, and replaces every tenth frame in further passes.
func silo(_ stored: [CMSampleBuffer]) throws {
  let url = FileManager.default.temporaryDirectory.appendingPathComponent("endurance-\(getpid()).silo")
  var made: VTFrameSilo?
  try check(
    VTFrameSiloCreate(
      allocator: nil, fileURL: url as CFURL, timeRange: .invalid, options: nil, frameSiloOut: &made), "silo")
  guard let silo = made else { return }
  func time(_ index: Int) -> CMTime { CMTime(value: Int64(index), timescale: 60) }
  func add(_ index: Int) throws {
    var timing = CMSampleTimingInfo(
      duration: time(1), presentationTimeStamp: time(index), decodeTimeStamp: .invalid)
    var moved: CMSampleBuffer?
    try check(
      CMSampleBufferCreateCopyWithNewTiming(
        allocator: nil, sampleBuffer: stored[index % stored.count], sampleTimingEntryCount: 1,
        sampleTimingArray: &timing, sampleBufferOut: &moved), "sample \(index)")
    if let moved { try check(VTFrameSiloAddSampleBuffer(silo, sampleBuffer: moved), "frame \(index)") }
  }
  watch.run("silo, filling") { part in
    for index in part * share..<(part + 1) * share { try add(index) }
  }
  let again = max(share / 10, 1)
  watch.run("silo, in passes") { part in
    let range = CMTimeRange(start: time(part * share), duration: time(again))
    try check(VTFrameSiloSetTimeRangesForNextPass(silo, timeRangeCount: 1, timeRangeArray: [range]), "pass")
    for index in part * share..<part * share + again { try add(index) }
  }
  var count = 0
  watch.run("silo, reading") { part in
    let range = CMTimeRange(start: time(part * share), duration: time(share))
    try check(
      VTFrameSiloCallBlockForEachSampleBuffer(silo, in: range) { _ in
        count += 1
        return noErr
      }, "reading")
  }
  let size = (try? FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int) ?? 0
  guard count == share * Watch.parts else {
    print("silo: \(count) frames of \(share * Watch.parts)")
    exit(1)
  }
  print("silo: \(count) frames in a file of \(size >> 20) MB")
}

try encode(
  "conferencing", [kVTVideoEncoderSpecification_EnableLowLatencyRateControl: NSNumber(value: true)],
  [(kVTCompressionPropertyKey_RealTime, NSNumber(value: true))])
try encode(
  "streaming", nil,
  [
    (kVTCompressionPropertyKey_RealTime, NSNumber(value: true)),
    (kVTCompressionPropertyKey_MaxKeyFrameInterval, 60),
  ])
let stored = try samples(300)
try decode(stored)
try copy(stored)
try silo(stored)
try resize()
comeAndGo()
if let path = CommandLine.arguments.dropFirst(3).first {
  let title = "\(share * Watch.parts) frames, \(sessionCount) sessions"
  try watch.chart(title: title).svg.write(toFile: path, atomically: true, encoding: .utf8)
}
