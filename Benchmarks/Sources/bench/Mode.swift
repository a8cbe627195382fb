// SPDX-License-Identifier: Apache-2.0
/// How an encoder is told what to spend.
enum Mode: Hashable, Codable {
  /// QP 22, 27, 32 and 37, each key frame as much better as the encoder has it: what the coding is worth by itself.
  case fixedQP
  /// A bit rate, and the seconds of it that may wait for the channel.
  case delay(Double)
  /// A bit rate, and a second of it.
  case general
  /// An average rate over the clip, for files: B pictures, a look-ahead, no bound on the wait; tuned for a measure.
  case files(Tune)

  /// What encoders for files are tuned for.
  enum Tune: String, Codable { case psnr, ssim }

  init?(name: String) {
    switch name {
    case "qp": self = .fixedQP
    case "general": self = .general
    case "files": self = .files(.psnr)
    case "files:ssim": self = .files(.ssim)
    default:
      guard name.hasPrefix("delay:"), let seconds = Double(name.dropFirst(6)), (0.02...10).contains(seconds)
      else { return nil }
      self = .delay(seconds)
    }
  }

  var name: String {
    switch self {
    case .fixedQP: "qp"
    case .delay(let seconds): "delay:\(seconds)"
    case .general: "general"
    case .files(.psnr): "files"
    case .files(.ssim): "files:ssim"
    }
  }

  var title: String {
    switch self {
    case .fixedQP: "fixed QP"
    case .delay(let seconds): "a rate, delay bounded to \(seconds) s"
    case .general: "a rate"
    case .files(let tune): "files, average rate, tuned for \(tune.rawValue.uppercased())"
    }
  }

  /// Frames wait in a look-ahead, and come out in another order.
  var isForFiles: Bool { if case .files = self { true } else { false } }

  /// Whether an encoder has such a mode.
  func applies(to encoder: EncoderName) -> Bool { !isForFiles || encoder.family != "openh264" }
}
