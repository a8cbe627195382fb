// SPDX-License-Identifier: Apache-2.0

/// Estimates when the audio that a device requests will be heard, from the times of its requests.
///
/// A device requests buffers at the pace of its clock, but with jitter, since its thread is
/// sometimes late. Virtual devices, such as those of a recorder, can deviate from their sample rate
/// by some per cent. The clock is therefore tracked by a second-order delay-locked loop (F.
/// Adriaensen, "Using a DLL to filter time", 2005): the error of each request corrects the time of
/// the next buffer and the duration of a frame. The loop's bandwidth is larger at the beginning,
/// while little is known. If several consecutive requests have errors of the same sign, the device
/// has had an interruption and continues later, and the clock is shifted at once. Not thread-safe.
struct DeviceClock {
  /// The expected time of the next request, in seconds of the host clock.
  private var next: Double?
  /// The estimated duration of a frame, in seconds of the host clock.
  private var period: Double
  private let nominal: Double
  /// The number of previous requests, which determines the loop's bandwidth.
  private var requests = 0
  /// The errors of the last requests, in seconds.
  private var errors: [Double] = []

  /// The clock is shifted if this number of consecutive requests are all early or all late by more
  /// than `shift`, in seconds.
  private static let several = 8
  private static let shift = 0.008

  /// Seconds. A larger error means that the device was stopped or started again.
  private static let farthest = 0.08
  /// The loop's bandwidth in hertz, at the beginning and at least.
  private static let bandwidth = (first: 1.0, minimum: 0.1)
  /// The range of the ratio between the estimated and the nominal duration of a frame.
  private static let range = 0.5...2.0

  /// Creates a clock.
  /// - Parameter sampleRate: The nominal sample rate of the device in frames per second, above 0.
  init(sampleRate: Double) {
    nominal = 1 / sampleRate
    period = nominal
  }

  /// Records a request.
  ///
  /// - Parameters:
  ///   - time: The time of the request, in seconds of the host clock.
  ///   - frames: The number of requested frames.
  /// - Returns: The estimated time of the request without jitter, in seconds of the host clock.
  mutating func request(at time: Double, frames: Int) -> Double {
    let duration = Double(frames) * period
    guard let expected = next, abs(time - expected) <= Self.farthest else {
      // The estimated duration of a frame is kept.
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
    // The bandwidth decreases with the observed time, down to the least one.
    let seen = Double(requests) * Double(frames) * nominal
    let hertz = max(min(Self.bandwidth.first, 1 / seen), Self.bandwidth.minimum)
    let omega = min(2 * Double.pi * hertz * duration, 0.5)
    let corrected = expected + 2.0.squareRoot() * omega * error
    period = min(
      max(period + omega * omega * error / Double(max(frames, 1)), nominal * Self.range.lowerBound),
      nominal * Self.range.upperBound)
    next = corrected + Double(frames) * period
    return expected
  }

  /// The smallest error of the last requests if all of them have the same sign and exceed `shift`;
  /// otherwise nil.
  private mutating func shifted(by error: Double) -> Double? {
    if errors.count == Self.several { errors.removeFirst() }
    errors.append(error)
    guard errors.count == Self.several, let minimum = errors.min(), let maximum = errors.max() else {
      return nil
    }
    return minimum > Self.shift ? minimum : maximum < -Self.shift ? maximum : nil
  }
}
