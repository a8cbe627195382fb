import CClipMedia
import Foundation

/// One encoder on one clip at one bit rate. Runs in a process of its own, so that its memory can be told.
struct Measurement: Codable {
  static let childFlag = "--measure"

  var clip: String
  var rawPath: String
  var width: Int
  var height: Int
  var frameRate: Double
  var frames: Int
  var encoder: EncoderName
  var threads: Int
  var bitRate: Int
  var wallClock: Bool

  var key: String {
    "\(clip) \(width)x\(height) \(frames) \(encoder.name) \(threads) \(bitRate)"
      + (wallClock || threads > 1 ? " wall" : "")
  }

  /// Starts the process and waits for what it prints.
  func run() throws -> Result {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0]).standardizedFileURL
    if !FileManager.default.isExecutableFile(atPath: process.executableURL?.path ?? "") {
      process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    }
    process.arguments = [Self.childFlag, String(decoding: try JSONEncoder().encode(self), as: UTF8.self)]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw OptionError(description: "\(key): failed with status \(process.terminationStatus)")
    }
    return try JSONDecoder().decode(Result.self, from: data)
  }

  static func runChild(_ json: String) throws {
    let measurement = try JSONDecoder().decode(Measurement.self, from: Data(json.utf8))
    let result = try measurement.measure()
    FileHandle.standardOutput.write(try JSONEncoder().encode(result))
  }

  private func now() -> Double {
    var time = timespec()
    clock_gettime(wallClock || threads > 1 ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }

  private func measure() throws -> Result {
    let frameSize = width * height * 3 / 2
    let file = open(rawPath, O_RDONLY)
    guard file >= 0, let mapped = mmap(nil, frameSize * frames, PROT_READ, MAP_SHARED, file, 0),
      mapped != MAP_FAILED
    else { throw OptionError(description: "cannot map \(rawPath)") }
    let source = UnsafePointer(mapped.assumingMemoryBound(to: UInt8.self))
    // Have the clip in memory before the encoder's memory is counted.
    var touched: UInt8 = 0
    for i in stride(from: 0, to: frameSize * frames, by: 4096) { touched ^= source[i] }
    var stream: [UInt8] = []
    stream.reserveCapacity(
      Int(Double(bitRate) / 8 * Double(frames) / frameRate * 2) + 1_000_000 + Int(touched & 1))
    var sizes: [Int] = []
    var times: [Double] = []
    sizes.reserveCapacity(frames)
    times.reserveCapacity(frames)

    ProcessMemory.resetPeak()
    let before = ProcessMemory.resident
    let start = now()
    let encoder = try EncoderUnderTest(self)
    var copying = 0.0
    for i in 0..<frames {
      let began = now()
      try encoder.encode(source + i * frameSize, width: width, height: height) { unit in
        let ended = now()
        times.append(ended - began)
        stream.append(contentsOf: unit)
        sizes.append(unit.count)
        copying += now() - ended
      }
    }
    let seconds = now() - start - copying
    let peak = max(0, ProcessMemory.peak - before)
    encoder.close()

    let quality = try Quality(self, source: source, stream: stream, sizes: sizes)
    times.sort()
    return Result(
      clip: clip, frames: frames, encoder: self.encoder, threads: threads, bitRate: bitRate,
      actualBitRate: Double(stream.count) * 8 / (Double(frames) / frameRate), psnr: quality.psnr,
      ssim: quality.ssim, seconds: seconds, median: times[times.count / 2] * 1000,
      p99: times[min(times.count - 1, Int((Double(times.count) * 0.99).rounded(.up)) - 1)] * 1000,
      peakBytes: peak, key: key)
  }

}

/// What came out.
struct Result: Codable {
  var clip: String
  var frames: Int
  var encoder: EncoderName
  var threads: Int
  /// Asked for and achieved, bits per second.
  var bitRate: Int
  var actualBitRate: Double
  /// dB of luma, from the mean squared error of all frames; mean SSIM of luma.
  var psnr: Double
  var ssim: Double
  /// Seconds for all frames, set-up included; milliseconds for a frame.
  var seconds: Double
  var median: Double
  var p99: Double
  /// Memory that the encoder took at most.
  var peakBytes: Int
  var key: String

  var framesPerSecond: Double { Double(frames) / seconds }
}

/// Decodes a stream with libavcodec and compares it with the source. A frame that is missing shows the one
/// before it.
struct Quality {
  /// Mean of the frames' PSNR of luma in dB, as the JVET's common test conditions have it; a frame without
  /// error counts as one whose mean squared error is 0.01.
  var psnr: Double
  /// Mean of the frames' SSIM of luma.
  var ssim: Double

  init(_ m: Measurement, source: UnsafePointer<UInt8>, stream: [UInt8], sizes: [Int]) throws {
    guard let decoder = stream_decoder_create() else { throw OptionError(description: "no H.264 decoder") }
    defer { stream_decoder_destroy(decoder) }
    let width = m.width
    let height = m.height
    let frameSize = width * height * 3 / 2
    var decibels = 0.0
    var similarities = 0.0
    var shown = 0
    var last = [UInt8](repeating: 0, count: width * height)

    func compare(_ index: Int, _ luma: UnsafePointer<UInt8>, _ stride: Int32) {
      let original = source + index * frameSize
      let error = Double(
        plane_squared_error(original, Int32(width), luma, stride, Int32(width), Int32(height)))
      decibels += 10 * log10(255 * 255 / max(error / Double(width * height), 0.01))
      similarities += plane_similarity(original, Int32(width), luma, stride, Int32(width), Int32(height))
      shown += 1
    }
    func receive() throws {
      var index = 0
      while true {
        var planes: (UnsafePointer<UInt8>?, UnsafePointer<UInt8>?, UnsafePointer<UInt8>?) = (nil, nil, nil)
        var strides: (Int32, Int32, Int32) = (0, 0, 0)
        let result = withUnsafeMutablePointer(to: &planes) {
          $0.withMemoryRebound(to: UnsafePointer<UInt8>?.self, capacity: 3) { planes in
            withUnsafeMutablePointer(to: &strides) {
              $0.withMemoryRebound(to: Int32.self, capacity: 3) { strides in
                stream_decoder_receive(decoder, &index, planes, strides)
              }
            }
          }
        }
        guard result >= 0 else { throw OptionError(description: "\(m.key): the stream does not decode") }
        guard result == 1, let luma = planes.0 else { return }
        while shown < index { compare(shown, last, Int32(width)) }
        compare(index, luma, strides.0)
        for row in 0..<height {
          last.withUnsafeMutableBufferPointer {
            ($0.baseAddress! + row * width).update(from: luma + row * Int(strides.0), count: width)
          }
        }
      }
    }
    try stream.withUnsafeBufferPointer { bytes in
      var position = 0
      for (i, size) in sizes.enumerated() where size > 0 {
        guard stream_decoder_send(decoder, bytes.baseAddress! + position, size, i) >= 0 else {
          throw OptionError(description: "\(m.key): frame \(i) does not decode")
        }
        position += size
        try receive()
      }
    }
    _ = stream_decoder_send(decoder, nil, 0, 0)
    try receive()
    while shown < m.frames { compare(shown, last, Int32(width)) }
    psnr = decibels / Double(m.frames)
    ssim = similarities / Double(m.frames)
  }
}

/// Memory of this process, bytes.
enum ProcessMemory {
  static var resident: Int { field("VmRSS:") }
  static var peak: Int { field("VmHWM:") }

  static func resetPeak() {
    guard let file = fopen("/proc/self/clear_refs", "w") else { return }
    fputs("5", file)
    fclose(file)
  }

  private static func field(_ name: String) -> Int {
    guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
      let line = text.split(separator: "\n").first(where: { $0.hasPrefix(name) })
    else { return 0 }
    return (line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) } ?? 0) * 1024
  }
}

/// Results of the other encoders, which do not change from run to run.
final class ResultCache {
  private var results: [String: Result] = [:]
  private let path: String

  init(path: String) throws {
    self.path = path
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return }
    for line in text.split(separator: "\n") {
      if let result = try? JSONDecoder().decode(Result.self, from: Data(line.utf8)) {
        results[result.key] = result
      }
    }
  }

  subscript(_ measurement: Measurement) -> Result? { results[measurement.key] }

  func store(_ result: Result) throws {
    results[result.key] = result
    let line = String(decoding: try JSONEncoder().encode(result), as: UTF8.self) + "\n"
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    if !FileManager.default.fileExists(atPath: path) {
      _ = FileManager.default.createFile(atPath: path, contents: nil)
    }
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    defer { try? file.close() }
    try file.seekToEnd()
    try file.write(contentsOf: Data(line.utf8))
  }
}
