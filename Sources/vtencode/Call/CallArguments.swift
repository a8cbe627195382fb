// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RealTimeTransport

/// A duration, such as `50ms`, `0.2s` or `2`, from 0 to 3600 seconds.
struct Seconds: ExpressibleByArgument, Sendable, Equatable {
  var value: Double

  init(_ value: Double) { self.value = value }

  init?(argument: String) {
    var text = argument[...]
    var factor = 1.0
    if text.hasSuffix("ms") {
      text = text.dropLast(2)
      factor = 0.001
    } else if text.hasSuffix("s") {
      text = text.dropLast()
    }
    guard let number = Double(text), number >= 0, number * factor <= 3600 else { return nil }
    value = number * factor
  }

  var defaultValueDescription: String { "\(TextFormat.fixed(value * 1000, 0))ms" }
}

/// A fraction, such as `5%` or `0.05`.
struct Fraction: ExpressibleByArgument, Sendable, Equatable {
  var value: Double

  init(_ value: Double) { self.value = value }

  init?(argument: String) {
    let isPercent = argument.hasSuffix("%")
    guard let number = Double(isPercent ? argument.dropLast() : argument[...]) else { return nil }
    value = isPercent ? number / 100 : number
    guard value >= 0, value <= 1000 else { return nil }
  }

  /// Checks that the fraction is at most 1. A larger number, such as 5, is often meant as a
  /// percentage.
  /// - Throws: a `ValidationError` with that advice.
  func validate(_ option: String) throws {
    guard value > 1 else { return }
    let plain = TextFormat.fixed(value, value == value.rounded() ? 0 : 2)
    throw ValidationError(
      value <= 100
        ? "\(option) is a fraction, and \(plain) is more than 1; for \(plain) percent write \(option) "
          + "\(plain)%."
        : "\(option) must be from 0 to 1, or from 0% to 100%.")
  }

  var defaultValueDescription: String { "\(TextFormat.fixed(value * 100, 0))%" }
}

/// A bandwidth, such as `1500k`, or its changes over time, such as `0s:1500k,4s:500k,8s:1500k`.
struct Bandwidth: ExpressibleByArgument, Sendable, Equatable {
  var schedule: BandwidthSchedule
  /// The advice for an argument that is not a bandwidth.
  static let advice =
    "it takes a rate from 1k to 1000M, or changes with their times, such as 0s:1500k,4s:500k,8s:1500k"

  init(_ schedule: BandwidthSchedule) { self.schedule = schedule }

  init?(argument: String) {
    var steps: [BandwidthSchedule.Step] = []
    for part in argument.split(separator: ",", omittingEmptySubsequences: false) {
      let sides = part.split(separator: ":", omittingEmptySubsequences: false)
      guard (1...2).contains(sides.count), let last = sides.last,
        let rate = BitRate(argument: last.trimmingSpaces), BitRate.allowed.contains(rate.bitsPerSecond)
      else { return nil }
      var time = Seconds(0)
      if sides.count == 2 {
        guard let given = Seconds(argument: sides[0].trimmingSpaces) else { return nil }
        time = given
      }
      steps.append(.init(time: time.value, bitsPerSecond: Double(rate.bitsPerSecond)))
    }
    guard let schedule = BandwidthSchedule(steps) else { return nil }
    self.schedule = schedule
  }

  var defaultValueDescription: String {
    schedule.steps.map { "\(Int($0.bitsPerSecond / 1000))k" }.joined(separator: ",")
  }
}

/// Losses in bursts: the fraction of packets that are lost, and the mean length of a burst in
/// packets, such as `5%:4`.
struct Bursts: ExpressibleByArgument, Sendable, Equatable {
  var fraction: Double
  var length: Double

  init?(argument: String) {
    let sides = argument.split(separator: ":", omittingEmptySubsequences: false)
    guard sides.count == 2, let fraction = Fraction(argument: sides[0].trimmingSpaces), fraction.value < 1,
      let length = Double(sides[1].trimmingSpaces), length >= 1, length <= 1000
    else { return nil }
    self.fraction = fraction.value
    self.length = length
  }

  var model: LossModel { .bursts(rate: fraction, length: length) }
}

extension Substring {
  fileprivate var trimmingSpaces: String {
    var text = self
    while text.first == " " { text = text.dropFirst() }
    while text.last == " " { text = text.dropLast() }
    return String(text)
  }
}
