// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// The options for what is decoded, and in which form the encoder gets it.
struct PictureOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "How a picture is fitted if its aspect ratio differs from that of --dimensions: with black bars, with "
        + "its edges cut off, or stretched.",
      valueName: "how"))
  var scaling: Scaling = .letterbox

  @Option(
    help: ArgumentHelp(
      "How interlaced pictures are deinterlaced: one picture for each frame, or one for each field, which "
        + "doubles the frame rate.",
      valueName: "how"))
  var deinterlace: Deinterlacing = .frame

  @Flag(help: "Do not deinterlace interlaced pictures.")
  var noDeinterlace = false

  @Option(help: ArgumentHelp("Encode only this many frames.", valueName: "n"))
  var frames: Int?

  @Option(
    name: [.customLong("frame-rate"), .customLong("fps")],
    help: ArgumentHelp(
      "The frame rate in frames a second. Frames of a movie that has time stamps are left out or repeated to "
        + "meet it; a raw stream or a sequence of pictures is played at it. (default: the source's own, or "
        + "30)", valueName: "rate"), transform: Self.frameRate)
  var framesPerSecond: Double?

  @Option(
    help: ArgumentHelp(
      "Pixel format of the pictures given to the encoder; x420 has 10 bits, 444v as much colour as brightness. "
        + "(default: y420, in conferencing 420v; 444v with --profile high444; x420 with --profile main10, and for 10-bit sources with HEVC, except in conferencing and "
        + "with --profile main)",
      valueName: "format"))
  var pixelFormat: PixelFormatChoice?

  func validate() throws {
    if noDeinterlace, deinterlace != .frame {
      throw ValidationError("--no-deinterlace and --deinterlace exclude each other; give one of them.")
    }
    try checkRange("--frames", frames, in: 1...Int(Int32.max))
    if let framesPerSecond, !(framesPerSecond >= 0.1 && framesPerSecond <= 1000) {
      throw ValidationError("--frame-rate (--fps) must be from 0.1 to 1000.")
    }
  }

  /// Reads a frame rate: a number, or a fraction such as 30000/1001.
  static func frameRate(_ argument: String) throws -> Double {
    let parts = argument.split(separator: "/", omittingEmptySubsequences: false).map { Double($0) }
    switch parts.count {
    case 1: if let rate = parts[0], rate.isFinite { return rate }
    case 2:
      if let numerator = parts[0], let denominator = parts[1], denominator > 0, numerator.isFinite {
        return numerator / denominator
      }
    default: break
    }
    throw ValidationError("it takes frames a second, such as 25, 29.97 or 30000/1001")
  }
}

/// Checks the value of an option that takes an integer.
/// - Throws: a `ValidationError` that names the range, if the value is outside of it.
func checkRange(_ name: String, _ value: Int?, in range: ClosedRange<Int>) throws {
  guard let value, !range.contains(value) else { return }
  throw ValidationError(
    "\(name) must be from \(range.lowerBound) to \(range.upperBound), not \(value).")
}
