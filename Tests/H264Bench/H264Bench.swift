// SPDX-License-Identifier: Apache-2.0
import H264Encoder

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Encodes a file of raw pictures with zero latency (I420 or, with `444`, three whole planes; 8
/// bits) and prints bits, PSNR and processor time:
///
///     H264Bench FILE WIDTH HEIGHT QP|RATE EFFORT FRAMES [STREAM|- [THREADS [444]]]
///
/// A number above 51 is a bit rate in bits per second, others are a constant QP. STREAM receives
/// the byte stream. The time is that of all threads. The last PSNR is that of all samples together.
@main struct H264Bench {
  static func main() throws {
    let arguments = CommandLine.arguments
    let numbers = arguments.dropFirst(2).prefix(5).compactMap { Int($0) }
    guard arguments.count >= 7, numbers.count == 5, let file = fopen(arguments[1], "rb") else {
      print("H264Bench FILE WIDTH HEIGHT QP|RATE EFFORT FRAMES [STREAM]: missing, or not readable.")
      exit(1)
    }
    defer { fclose(file) }
    let (width, height, quality, frames) = (numbers[0], numbers[1], numbers[2], numbers[4])
    let is444 = arguments.dropFirst(9).contains("444")
    var configuration = H264EncoderConfiguration(width: width, height: height)
    if is444 { configuration.profile = .high444Predictive }
    if quality > 51 {
      configuration.lowLatency.rateControl = .averageBitRate(quality)
    } else {
      configuration.lowLatency.rateControl = .constantQP(quality)
      configuration.minimumQP = 0
    }
    configuration.effort = numbers[3]
    configuration.threads = arguments.count > 8 ? Int(arguments[8]) ?? 1 : 1
    configuration.maximumReferences = H264EncoderConfiguration.referencesUsed(effort: numbers[3])
    configuration.measuresError = true
    let encoder = try H264Encoder(configuration: configuration)
    let stream = arguments.count > 7 && arguments[7] != "-" ? fopen(arguments[7], "wb") : nil
    defer { if let stream { fclose(stream) } }

    let (chromaWidth, chromaHeight) = is444 ? (width, height) : (width / 2, height / 2)
    let (lumaCount, chromaCount) = (width * height, chromaWidth * chromaHeight)
    var picture = [UInt8](repeating: 0, count: lumaCount + 2 * chromaCount)
    var (count, bits, seconds) = (0, 0, 0.0)
    var (luma, cb, cr) = (0.0, 0.0, 0.0)
    while count < frames, fread(&picture, 1, picture.count, file) == picture.count {
      let start = processorTime()
      try picture.withUnsafeBufferPointer { samples in
        guard let base = samples.baseAddress else { return }
        let source = SourcePicture(
          width: width, height: height, luma: base, lumaBytesPerRow: width,
          chroma: .planar(
            cb: base + lumaCount, cbBytesPerRow: chromaWidth, cr: base + lumaCount + chromaCount,
            crBytesPerRow: chromaWidth), hasFullChroma: is444)
        try encoder.encode(source, options: H264FrameOptions()) { frame in
          let properties = frame.properties
          bits += properties.bits
          if let error = properties.meanSquaredError {
            luma += error.luma
            cb += error.cb
            cr += error.cr
          }
          guard let stream else { return }
          let data = frame.data
          fwrite(data, 1, data.count, stream)
        }
      }
      seconds += processorTime() - start
      count += 1
    }
    guard count > 0 else {
      print("H264Bench: \(arguments[1]) has no picture of \(width)x\(height).")
      exit(1)
    }
    let n = Double(count)
    let (small, large) = (Double(chromaCount), Double(lumaCount))
    let all = (luma * large + (cb + cr) * small) / (large + 2 * small)
    print(
      "\(count) frames, \(Double(bits) / n / 1000) kbit each, PSNR \(decibels(luma / n)) \(decibels(cb / n)) "
        + "\(decibels(cr / n)) all \(decibels(all / n)) dB, \(seconds / n * 1000) ms each")
  }

  private static func decibels(_ error: Double) -> Double { 10 * log10(255 * 255 / max(error, 1e-9)) }

  /// The processor time of all threads in seconds.
  private static func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }
}
