// SPDX-License-Identifier: Apache-2.0
/// How an encoder is told what to spend.
enum Mode: Hashable, Codable {
  /// QP 22, 27, 32 and 37, each key frame as much better as the encoder has it: what the coding is worth by itself.
  case fixedQP
  /// A bit rate, and the seconds of it that may wait for the channel.
  case delay(Double)
  /// A bit rate, and a second of it.
  case general

  init?(name: String) {
    switch name {
    case "qp": self = .fixedQP
    case "general": self = .general
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
    }
  }

  var title: String {
    switch self {
    case .fixedQP: "fixed QP"
    case .delay(let seconds): "a rate, delay bounded to \(seconds) s"
    case .general: "a rate"
    }
  }
}
