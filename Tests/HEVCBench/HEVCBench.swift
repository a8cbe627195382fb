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

/// Encodes a file of raw 4:2:0 pictures (I420, 8 bits) and prints bits, PSNR and processor time:
///
///     HEVCBench FILE WIDTH HEIGHT QP|RATE EFFORT FRAMES [STREAM|- [THREADS [wavefronts] [no-offsets]]]
///
/// A number above 51 is a bit rate in bits per second, others are a constant QP. STREAM receives the
/// byte stream. The time is that of all threads.
@main struct HEVCBench {
  static func main() throws {
    let arguments = CommandLine.arguments
    let numbers = arguments.dropFirst(2).prefix(5).compactMap { Int($0) }
    guard arguments.count >= 7, numbers.count == 5, let file = fopen(arguments[1], "rb") else {
      print("HEVCBench FILE WIDTH HEIGHT QP|RATE EFFORT FRAMES [STREAM]: missing, or not readable.")
      exit(1)
    }
    defer { fclose(file) }
    let (width, height, quality, effort, frames) = (
      numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]
    )
    var configuration = HEVCEncoderConfiguration(width: width, height: height)
    configuration.effort = effort
    configuration.measuresError = true
    configuration.maximumReferences = 4
    if arguments.count > 8, let threads = Int(arguments[8]) { configuration.threads = threads }
    configuration.adaptiveOffset = !arguments.contains("no-offsets")
    configuration.usesWavefronts = arguments.contains("wavefronts")
    configuration.lowLatency.rateControl = quality > 51 ? .averageBitRate(quality) : .constantQP(quality)
    let encoder = try HEVCEncoder(configuration: configuration)
    let stream = arguments.count > 7 && arguments[7] != "-" ? fopen(arguments[7], "wb") : nil
    defer { if let stream { fclose(stream) } }

    var picture = [UInt8](repeating: 0, count: width * height * 3 / 2)
    var (count, bits) = (0, 0)
    var (luma, cb, cr, seconds) = (0.0, 0.0, 0.0, 0.0)
    while count < frames, fread(&picture, 1, picture.count, file) == picture.count {
      let start = processorTime()
      let result = try picture.withUnsafeBufferPointer { samples -> (HEVCFrameProperties, [UInt8])? in
        guard let base = samples.baseAddress else { return nil }
        let frame = try encoder.encode(
          SourcePicture(
            width: width, height: height, luma: base, lumaBytesPerRow: width,
            chroma: .planar(
              cb: base + width * height, cbBytesPerRow: width / 2,
              cr: base + width * height * 5 / 4, crBytesPerRow: width / 2)))
        seconds += processorTime() - start
        return (frame.properties, frame.data)
      }
      guard let (properties, data) = result else { break }
      count += 1
      bits += properties.bits
      if let error = properties.meanSquaredError {
        luma += error.luma
        cb += error.cb
        cr += error.cr
      }
      if let stream { fwrite(data, 1, data.count, stream) }
    }
    guard count > 0 else { return print("There is no whole picture in the file.") }
    let n = Double(count)
    func psnr(_ error: Double) -> Double { 10 * log10(255 * 255 / max(error / n, 1e-9)) }
    print(
      "\(count) frames, \(Double(bits) / n / 1000) kbit each, PSNR \(psnr(luma)) \(psnr(cb)) "
        + "\(psnr(cr)) dB, \(seconds / n * 1000) ms each")
  }

  /// The processor time of the process in seconds.
  private static func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }
}
