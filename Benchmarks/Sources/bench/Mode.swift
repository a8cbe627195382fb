// SPDX-License-Identifier: Apache-2.0
/// How the bits of an encoder are controlled.
enum Mode: Hashable, Codable {
  /// The QP is 22, 27, 32 or 37. Key frames have the encoder's own QP offset. This mode compares
  /// the coding tools without rate control.
  case fixedQP
  /// A bit rate with the maximum time in seconds that bits may wait for the channel.
  case delay(Double)
  /// A bit rate with a buffer of one second.
  case general
  /// An average bit rate over the clip, for files: with B pictures, a look-ahead and no limit on
  /// the delay. The encoder is tuned for a quality measure.
  case files(Tune)

  /// The quality measure that encoders for files are tuned for.
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

  /// Whether frames are delayed in a look-ahead and output in another order.
  var isForFiles: Bool { if case .files = self { true } else { false } }

  /// Whether an encoder supports this mode.
  func applies(to encoder: EncoderName) -> Bool { !isForFiles || encoder.family != "openh264" }
}
