// SPDX-License-Identifier: Apache-2.0
import Dispatch
import HEVCEncoder

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Encodes a file of raw 4:2:0 pictures (I420, 8 bits; `deep`: yuv420p10le) and prints bits, PSNR
/// and processor time:
///
///     HEVCBench FILE WIDTH HEIGHT QP|RATE EFFORT FRAMES [STREAM|- [THREADS [OPTION...]]]
///
/// A number above 51 is a bit rate in bits per second, others are a constant QP, or with `ahead` a
/// quality. STREAM receives the byte stream. The time is that of all threads. Options are
/// `wavefronts`, `no-offsets`, `no-weights`, `main10` (10 bits per sample), `deep` (so has the
/// file), `aq=STRENGTH` (adaptive quantisation), `references=NUMBER` (4 are kept unless it says
/// otherwise), and `ahead` for a look-ahead; with this, `ahead=FRAMES`, `b=NUMBER` (the most B
/// pictures in a row), `no-pyramid`, `open`, `no-tree`, `exact` (a constant QP) and `list` (prints
/// each frame).
@main struct HEVCBench {
  static func main() throws {
    let arguments = CommandLine.arguments
    let numbers = arguments.dropFirst(2).prefix(5).compactMap { Int($0) }
    guard arguments.count >= 7, numbers.count == 5, let file = fopen(arguments[1], "rb") else {
      print("HEVCBench FILE WIDTH HEIGHT QP|RATE EFFORT FRAMES [STREAM]: missing, or not readable.")
      exit(1)
    }
    defer { fclose(file) }
    let (width, height, frames) = (numbers[0], numbers[1], numbers[4])
    let options = Array(arguments.dropFirst(9))
    let encoder = try HEVCEncoder(
      configuration: configuration(
        width: width, height: height, quality: numbers[2], effort: numbers[3],
        threads: arguments.count > 8 ? Int(arguments[8]) ?? 1 : 1, options))
    let stream = arguments.count > 7 && arguments[7] != "-" ? fopen(arguments[7], "wb") : nil
    defer { if let stream { fclose(stream) } }

    let isDeep = options.contains("deep")
    var picture = [UInt8](repeating: 0, count: width * height * 3 / 2 * (isDeep ? 2 : 1))
    var (count, bits, read) = (0, 0, 0)
    var (luma, cb, cr, seconds) = (0.0, 0.0, 0.0, 0.0)
    func add(_ frame: consuming HEVCEncodedFrame) {
      let properties = frame.properties
      count += 1
      bits += properties.bits
      if let error = properties.meanSquaredError {
        luma += error.luma
        cb += error.cb
        cr += error.cr
      }
      if options.contains("list") {
        print(
          properties.index, properties.isKeyFrame ? "I" : properties.isReference ? "R" : "b",
          properties.bits, properties.averageQP, properties.lowestQP, properties.highestQP,
          properties.intraFraction, properties.skippedFraction)
      }
      if let stream {
        let data = frame.data
        fwrite(data, 1, data.count, stream)
      }
    }
    while read < frames, fread(&picture, 1, picture.count, file) == picture.count {
      read += 1
      let start = processorTime()
      try picture.withUnsafeBufferPointer { samples in
        guard let base = samples.baseAddress else { return }
        if isDeep {
          let raw = UnsafeRawPointer(base)
          try encoder.encode(
            .tenBits(
              TenBitPicture(
                width: width, height: height, alignment: .lower, luma: raw, lumaBytesPerRow: width * 2,
                chroma: .planar(
                  cb: raw + width * height * 2, cbBytesPerRow: width,
                  cr: raw + width * height * 5 / 2, crBytesPerRow: width))), output: add)
          return
        }
        try encoder.encode(
          SourcePicture(
            width: width, height: height, luma: base, lumaBytesPerRow: width,
            chroma: .planar(
              cb: base + width * height, cbBytesPerRow: width / 2,
              cr: base + width * height * 5 / 4, crBytesPerRow: width / 2)), output: add)
      }
      seconds += processorTime() - start
    }
    let start = processorTime()
    encoder.flush(output: add)
    seconds += processorTime() - start
    guard count > 0 else { return print("There is no whole picture in the file.") }
    let n = Double(count)
    let peak = Double(1 << encoder.configuration.profile.bitDepth - 1)
    func psnr(_ error: Double) -> Double { 10 * log10(peak * peak / max(error / n, 1e-9)) }
    print(
      "\(count) frames, \(Double(bits) / n / 1000) kbit each, PSNR \(psnr(luma)) \(psnr(cb)) "
        + "\(psnr(cr)) dB, \(seconds / n * 1000) ms each")
  }

  private static func configuration(
    width: Int, height: Int, quality: Int, effort: Int, threads: Int, _ options: [String]
  ) -> HEVCEncoderConfiguration {
    var configuration = HEVCEncoderConfiguration(width: width, height: height)
    configuration.effort = effort
    configuration.measuresError = true
    configuration.maximumReferences = 4
    configuration.threads = threads
    configuration.adaptiveOffset = !options.contains("no-offsets")
    configuration.allowsWeightedPrediction = !options.contains("no-weights")
    if options.contains("main10") { configuration.profile = .main10 }
    configuration.usesWavefronts = options.contains("wavefronts")
    func value(_ name: String) -> String? {
      options.first { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.count + 1)) }
    }
    if let references = value("references").flatMap({ Int($0) }) {
      configuration.maximumReferences = references
    }
    guard options.contains(where: { $0 == "ahead" || $0.hasPrefix("ahead=") }) else {
      configuration.lowLatency.rateControl = quality > 51 ? .averageBitRate(quality) : .constantQP(quality)
      if let strength = value("aq").flatMap({ Double($0) }) {
        configuration.lowLatency.adaptiveQuantisation = strength
      }
      return configuration
    }
    var ahead = HEVCEncoderConfiguration.LookAhead()
    ahead.rate =
      quality > 51
      ? .average(quality) : options.contains("exact") ? .constantQP(quality) : .quality(Double(quality))
    if let frames = value("ahead").flatMap({ Int($0) }) { ahead.frames = frames }
    if let most = value("b").flatMap({ Int($0) }) { ahead.maximumBidirectional = most }
    if let strength = value("aq").flatMap({ Double($0) }) { ahead.adaptiveQuantisation = strength }
    ahead.usesPyramid = !options.contains("no-pyramid")
    ahead.usesOpenGOP = options.contains("open")
    ahead.usesMacroblockTree = !options.contains("no-tree")
    configuration.minimumQP = 0
    configuration.lookAhead = ahead
    return configuration
  }

  /// The processor time of the process in seconds.
  private static func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }
}
