// SPDX-License-Identifier: Apache-2.0

/// When a sound device will be heard, from the moments at which it asks for buffers.
///
/// A device asks as its clock has it, but its thread comes late now and then, and a device that is none (a recorder's, one
/// that only waits between buffers) may be off by some per cent. So its clock is followed by a loop of the second order: the
/// time of the next buffer and the duration of one are both corrected by a part of what each request is off, by a larger
/// part in the beginning, when nothing is known. Where several requests in a row are all off to one side, the device has run
/// dry and goes on later, and the clock does so at once. One user at a time.
struct DeviceClock {
  /// Seconds of the host's clock at which the next buffer would be asked for.
  private var next: Double?
  /// Seconds of the host's clock that a frame takes.
  private var period: Double
  private let nominal: Double
  /// Requests before this one, for the loop's bandwidth.
  private var requests = 0
  /// By how much the last requests were off, in seconds.
  private var errors: [Double] = []

  /// As many requests do not come late by chance, by so many seconds.
  private static let several = 8
  private static let shift = 0.008

  /// Seconds by which a request may be off; beyond that the device has stood still, or begun anew.
  private static let farthest = 0.08
  /// Hertz of the loop's bandwidth, first and later.
  private static let bandwidth = (first: 1.0, least: 0.1)
  /// How far a device's clock may be from what it says.
  private static let range = 0.5...2.0

  /// - Parameter sampleRate: Frames a second, as the device says; above zero.
  init(sampleRate: Double) {
    nominal = 1 / sampleRate
    period = nominal
  }

  /// Takes note of a request.
  ///
  /// Of the parameters:
  ///
  /// - `time`: When it came, in seconds of the host's clock.
  /// - `frames`: How much it wants.
  /// - Returns: When it would have come without the jitter.
  mutating func request(at time: Double, frames: Int) -> Double {
    let duration = Double(frames) * period
    guard let expected = next, abs(time - expected) <= Self.farthest else {
      // What has been found out about the device's pace stays.
      next = time + duration
      requests = min(requests, 1)
      errors.removeAll(keepingCapacity: true)
      return time
    }
    if let shift = shifted(by: time - expected) {
      next = expected + shift + duration
      errors.removeAll(keepingCapacity: true)
      return expected + shift
    }
    let error = time - expected
    requests += 1
    // As wide as what has been seen allows, down to the least.
    let seen = Double(requests) * Double(frames) * nominal
    let hertz = max(min(Self.bandwidth.first, 1 / seen), Self.bandwidth.least)
    let omega = min(2 * Double.pi * hertz * duration, 0.5)
    let corrected = expected + 2.0.squareRoot() * omega * error
    period = min(
      max(period + omega * omega * error / Double(max(frames, 1)), nominal * Self.range.lowerBound),
      nominal * Self.range.upperBound)
    next = corrected + Double(frames) * period
    return expected
  }

  /// What all of the last requests were off at least, to one side; nil if that is little.
  private mutating func shifted(by error: Double) -> Double? {
    if errors.count == Self.several { errors.removeFirst() }
    errors.append(error)
    guard errors.count == Self.several, let least = errors.min(), let most = errors.max() else { return nil }
    return least > Self.shift ? least : most < -Self.shift ? most : nil
  }
}
