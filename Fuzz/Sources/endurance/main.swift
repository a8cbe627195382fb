// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Synchronization
import VideoToolbox

// Long runs with settings that change, and what they leave: endurance [FRAMES] [SESSIONS]
//
// For each kind of work the memory in use and the open files are noted after each tenth. From the second tenth on the
// memory must not grow by more than a little, and no file may stay open.

let frameCount = CommandLine.arguments.dropFirst().first.flatMap(Int.init) ?? 20_000
let sessionCount = CommandLine.arguments.dropFirst(2).first.flatMap(Int.init) ?? 5_000

/// Bytes of memory in use, and open descriptors.
func usage() -> (resident: Int, files: Int) {
  let words = ((try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? "").split(separator: " ")
  let pages = words.count > 1 ? Int(words[1]) ?? 0 : 0
  let files = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
  return (pages * Int(sysconf(Int32(_SC_PAGESIZE))), files)
}

/// Runs tenths of some work and looks at what stays.
func watch(_ name: String, _ tenth: (Int) throws -> Void) {
  var notes: [(resident: Int, files: Int)] = []
  let begin = Date()
  do {
    for number in 0..<10 {
      try tenth(number)
      notes.append(usage())
    }
  } catch {
    print("\(name): failed: \(error)")
    exit(1)
  }
  // The slope of a straight line through all but the first two.
  let settled = notes.dropFirst(2).map { Double($0.resident) / 1024 }
  let middle = Double(settled.count - 1) / 2
  let mean = settled.reduce(0, +) / Double(settled.count)
  var above = 0.0
  var below = 0.0
  for (x, y) in settled.enumerated() {
    above += (Double(x) - middle) * (y - mean)
    below += (Double(x) - middle) * (Double(x) - middle)
  }
  let slope = above / below
  let files = (notes.last?.files ?? 0) - (notes.first?.files ?? 0)
  let curve = notes.map { String($0.resident >> 10) }.joined(separator: " ")
  print(
    "\(name): \(curve) kB; \(Int(slope.rounded())) kB a tenth, \(files) files more, "
      + "\(Int(Date().timeIntervalSince(begin))) s")
  // A hundredth of what is in use, or half a megabyte.
  if slope > max(512, mean / 100) || files > 0 {
    print("\(name): grows")
    exit(1)
  }
}

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

/// Frames of one session that goes on for ever, its rate changing.
func encode(_ name: String, _ specification: NSDictionary?, _ properties: [(CFString, NSNumber)]) throws {
  let (width, height) = (96, 64)
  let source = pictures(width, height)
  let encoder = try session(specification, width, height)
  for (key, value) in properties { VTSessionSetProperty(encoder, key: key, value: value) }
  let out = Atomic(0)
  var index = 0
  watch(name) { tenth in
    for frame in 0..<frameCount / 10 {
      if frame % 500 == 0 {
        try check(
          VTSessionSetProperty(
            encoder, key: kVTCompressionPropertyKey_AverageBitRate,
            value: NSNumber(value: 100_000 + (frame + tenth) % 7 * 50_000)),
          "rate")
      }
      let time = CMTime(value: Int64(index), timescale: 30)
      try check(
        VTCompressionSessionEncodeFrame(
          encoder, imageBuffer: source[index % 4], presentationTimeStamp: time, duration: .invalid,
          frameProperties: nil,
          infoFlagsOut: nil
        ) { status, _, sample in
          // Not a tick of drift, however long it goes on.
          if let sample, CMSampleBufferGetPresentationTimeStamp(sample).timescale != 30 { exit(2) }
          if status == noErr { out.add(1, ordering: .relaxed) }
        }, "frame \(index)")
      index += 1
    }
  }
  try check(VTCompressionSessionCompleteFrames(encoder, untilPresentationTimeStamp: .invalid), "complete")
  VTCompressionSessionInvalidate(encoder)
  guard out.load(ordering: .relaxed) == index else {
    print("\(name): \(out.load(ordering: .relaxed)) frames of \(index) came out")
    exit(1)
  }
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
  watch("decode") { _ in
    for index in 0..<frameCount / 10 {
      try check(
        VTDecompressionSessionDecodeFrame(
          decoder, sampleBuffer: stored[index % stored.count], flags: [._EnableAsynchronousDecompression],
          infoFlagsOut: nil
        ) { _, _, _, _, _ in }, "sample \(index)")
    }
    VTDecompressionSessionWaitForAsynchronousFrames(decoder)
  }
  VTDecompressionSessionInvalidate(decoder)
}

/// Movies out of the samples, and back in.
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
  watch("reader to writer") { _ in
    for _ in 0..<max(1, frameCount / 10 / stored.count) {
      let asset = AVURLAsset(url: one)
      let reader = try AVAssetReader(asset: asset)
      let output = AVAssetReaderTrackOutput(track: asset.tracks[0], outputSettings: nil)
      reader.add(output)
      guard reader.startReading() else { throw reader.error ?? AVError(.unknown) }
      try write(other) { output.copyNextSampleBuffer() }
    }
  }
}

/// Sessions that come and go, from eight threads.
func comeAndGo() {
  let source = pictures(64, 48)
  watch("sessions come and go") { _ in
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for number in 0..<max(1, sessionCount / 80) {
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

/// A first pass that fills a silo, and every tenth frame of it again in passes after it.
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
  let share = frameCount / 10
  watch("silo, filling") { tenth in
    for index in tenth * share..<(tenth + 1) * share { try add(index) }
  }
  watch("silo, in passes") { tenth in
    let range = CMTimeRange(start: time(tenth * share), duration: time(share / 10))
    try check(VTFrameSiloSetTimeRangesForNextPass(silo, timeRangeCount: 1, timeRangeArray: [range]), "pass")
    for index in tenth * share..<tenth * share + share / 10 { try add(index) }
  }
  var count = 0
  watch("silo, reading") { tenth in
    let range = CMTimeRange(start: time(tenth * share), duration: time(share))
    try check(
      VTFrameSiloCallBlockForEachSampleBuffer(silo, in: range) { _ in
        count += 1
        return noErr
      }, "reading")
  }
  let size = (try? FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int) ?? 0
  guard count == share * 10 else {
    print("silo: \(count) frames of \(share * 10)")
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
comeAndGo()
