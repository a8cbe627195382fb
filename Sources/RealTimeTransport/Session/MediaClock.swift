// SPDX-License-Identifier: Apache-2.0
/// Converts a session's time, in seconds since its beginning, to the time stamps of RTP and NTP.
public struct MediaClock: Equatable, Sendable {
  /// The clock of simulations, whose time begins on 1 January 2026.
  public static let simulated = MediaClock(start: 3_976_214_400)
  /// The rate of RTP's clock for video, in ticks per second.
  public static let rtpRate = 90_000.0

  /// The time from 1 January 1900 to the session's beginning, in seconds.
  public var start: Double

  public init(start: Double) { self.start = start }

  /// The NTP time for sender reports: seconds since 1900 as a fixed-point number of 32.32 bits. It
  /// wraps around in 2036, as the field does.
  /// - Parameter time: The session's time.
  public func ntpTime(at time: Double) -> UInt64 {
    let whole = (start + time).rounded(.down)
    let seconds = UInt32(truncatingIfNeeded: Int64(whole))
    return UInt64(seconds) << 32 | UInt64(((start + time) - whole) * 4_294_967_296)
  }

  /// The session's time of an NTP time, in the nearest era.
  /// - Parameter ntp: The NTP time.
  public func time(ofNTP ntp: UInt64) -> Double {
    Double(Int64(bitPattern: ntp &- ntpTime(at: 0))) / 4_294_967_296
  }

  /// Computes an RTP time stamp.
  /// - Parameters:
  ///   - time: The session's time.
  ///   - offset: The time stamp of time 0.
  public static func rtpTime(at time: Double, offset: UInt32) -> UInt32 {
    offset &+ UInt32(truncatingIfNeeded: Int64((time * rtpRate).rounded()))
  }
}
