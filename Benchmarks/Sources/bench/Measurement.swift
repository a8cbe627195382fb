// SPDX-License-Identifier: Apache-2.0
import BenchmarkSupport
import Foundation

/// The measurement of one encoder with one clip and one bit rate or QP. It runs in a separate
/// process so that its memory use can be measured.
struct Measurement: Codable {
  static let childFlag = "--measure"

  var clip: String
  /// The result of `RawClip.fingerprint()`, because another clip with this name has other results.
  var content: String
  var set: ClipSet
  var rawPath: String
  var width: Int
  var height: Int
  var frameRate: Double
  var frames: Int
  var encoder: EncoderName
  var threads: Int
  var mode: Mode
  /// The bit rate in bits per second, or the QP.
  var point: Int
  var wallClock: Bool
  /// The path of a file to which a line is appended for each frame.
  var trace: String?

  var key: String {
    "\(clip) \(content) \(width)x\(height) \(frames) \(encoder.name) \(threads) \(mode.name) \(point)"
      + (wallClock || threads > 1 ? " wall" : "")
  }

  /// Starts the process and reads the result that it prints.
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
      throw BenchmarkError(description: "\(key): failed with status \(process.terminationStatus)")
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
    else { throw BenchmarkError(description: "cannot map \(rawPath)") }
    let source = UnsafePointer(mapped.assumingMemoryBound(to: UInt8.self))
    // Load the clip into memory before the memory use of the encoder is measured.
    var touched: UInt8 = 0
    for i in stride(from: 0, to: frameSize * frames, by: 4096) { touched ^= source[i] }
    var stream: [UInt8] = []
    let expected: Int =
      mode == .fixedQP ? frameSize * frames / 8 : Int(Double(point) / 4 * Double(frames) / frameRate)
    stream.reserveCapacity(expected + 1_000_000 + Int(touched & 1))
    var sizes: [Int] = []
    var times: [Double] = []
    /// The index of the frame that each unit shows.
    var order: [Int] = []
    sizes.reserveCapacity(frames)
    times.reserveCapacity(frames)
    order.reserveCapacity(frames)

    ProcessMemory.resetPeak()
    let before = ProcessMemory.resident
    let start = now()
    let encoder = try EncoderUnderTest(self)
    var copying = 0.0
    var began = now()
    let take = { (frame: Int, unit: UnsafeBufferPointer<UInt8>) in
      let ended = now()
      times.append(ended - began)
      stream.append(contentsOf: unit)
      sizes.append(unit.count)
      order.append(frame)
      began = now()
      copying += began - ended
    }
    for i in 0..<frames {
      began = now()
      try encoder.encode(source + i * frameSize, width: width, height: height, take)
    }
    try encoder.finish(take)
    guard order.sorted() == Array(0..<frames) else {
      throw BenchmarkError(description: "\(key): \(order.count) of \(frames) frames came out")
    }
    let seconds = now() - start - copying
    let peak = max(0, ProcessMemory.peak - before)
    encoder.close()

    let quality = try StreamQuality(
      of: stream, sizes: sizes, order: order, source: source, width: width, height: height, name: key)
    if let trace { try write(sizes, order, quality, to: trace) }
    times.sort()
    return Result(
      clip: clip, set: set, frames: frames, encoder: self.encoder, threads: threads, mode: mode, point: point,
      actualBitRate: Double(stream.count) * 8 / (Double(frames) / frameRate), psnr: quality.psnr,
      ssim: quality.ssim, psnrCb: quality.psnrChroma.cb, psnrCr: quality.psnrChroma.cr,
      psnrAll: quality.psnrAll, psnrWhole: quality.psnrWhole, seconds: seconds,
      median: times[times.count / 2] * 1000,
      p99: times[min(times.count - 1, Int((Double(times.count) * 0.99).rounded(.up)) - 1)] * 1000,
      peakBytes: peak, key: key, line: mode == .fixedQP ? nil : Line(sizes, rate: point, frameRate: frameRate)
    )
  }
}

extension Measurement {
  static let traceHeader = "clip,encoder,mode,point,frame,bits,wait_s,psnr_y,ssim_y\n"

  /// Appends a line for each frame with its size, its delay on a channel of the requested bit rate,
  /// and its quality.
  private func write(_ sizes: [Int], _ order: [Int], _ quality: StreamQuality, to path: String) throws {
    guard let file = FileHandle(forWritingAtPath: path) else {
      throw BenchmarkError(description: "cannot write \(path)")
    }
    defer { try? file.close() }
    try file.seekToEnd()
    var wait = 0.0
    var text = ""
    for (n, bytes) in sizes.enumerated() {
      if mode != .fixedQP { wait = max(wait - 1 / frameRate, 0) + Double(bytes * 8) / Double(point) }
      text += "\(clip),\(encoder.name),\(mode.name),\(point),\(order[n]),\(bytes * 8),"
      text += String(
        format: "%.3f,%.3f,%.5f\n", wait, quality.frames[order[n]].psnr, quality.frames[order[n]].ssim)
    }
    try file.write(contentsOf: Data(text.utf8))
  }
}

/// How the frames would be sent over a channel of the requested bit rate.
struct Line: Codable {
  /// The maximum time in seconds from the capture of a frame until its last bit is sent.
  var longestWait = 0.0
  /// The largest number of bits in any two seconds, relative to the capacity of the channel in that
  /// time. It is nil for shorter clips.
  var fullestTwoSeconds: Double?

  init(_ sizes: [Int], rate: Int, frameRate: Double) {
    var wait = 0.0
    for bytes in sizes {
      wait = max(wait - 1 / frameRate, 0) + Double(bytes * 8) / Double(rate)
      longestWait = max(longestWait, wait)
    }
    let window = Int((2 * frameRate).rounded())
    guard window > 0, sizes.count >= window else { return }
    var bytes = sizes.prefix(window).reduce(0, +)
    var maximum = bytes
    for i in window..<sizes.count {
      bytes += sizes[i] - sizes[i - window]
      maximum = max(maximum, bytes)
    }
    fullestTwoSeconds = Double(maximum * 8) / (Double(rate) * Double(window) / frameRate)
  }
}

/// The result of a measurement.
struct Result: Codable, StoredResult {
  var clip: String
  var set: ClipSet
  var frames: Int
  var encoder: EncoderName
  var threads: Int
  var mode: Mode
  /// The requested bit rate in bits per second or the QP, and the actual bit rate in bits per
  /// second.
  var point: Int
  var actualBitRate: Double
  /// The mean luma PSNR of all frames in dB, and their mean SSIM.
  var psnr: Double
  var ssim: Double
  /// The PSNR of Cb, of Cr, and of all samples together, in dB.
  var psnrCb: Double
  var psnrCr: Double
  var psnrAll: Double
  /// The luma PSNR in dB, calculated from the squared errors of all frames together.
  var psnrWhole: Double
  /// The time for all frames in seconds, including initialization, and the median and 99th
  /// percentile of the time for one frame in milliseconds.
  var seconds: Double
  var median: Double
  var p99: Double
  /// The peak memory use of the encoder.
  var peakBytes: Int
  var key: String
  /// Nil if no bit rate was requested.
  var line: Line?

  var framesPerSecond: Double { Double(frames) / seconds }

  /// The PSNR in dB with the weights 6:1:1 for luma, Cb and Cr.
  var psnr611: Double { (6 * psnr + psnrCb + psnrCr) / 8 }
  /// The mean PSNR of the chroma in dB.
  var psnrChroma: Double { (psnrCb + psnrCr) / 2 }
}
