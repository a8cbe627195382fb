// SPDX-License-Identifier: Apache-2.0
/// A session's time, in seconds from its beginning, as others see it.
public struct MediaClock: Equatable, Sendable {
  /// The virtual time of simulations begins with 2026.
  public static let simulated = MediaClock(start: 3_976_214_400)
  /// Ticks a second of RTP's clock for video.
  public static let rtpRate = 90_000.0

  /// Seconds from 1900 to the session's beginning.
  public var start: Double

  public init(start: Double) { self.start = start }

  /// Seconds since 1900 in 32.32 bits, for sender reports. Wraps in 2036, as the field does.
  public func ntpTime(at time: Double) -> UInt64 {
    let whole = (start + time).rounded(.down)
    let seconds = UInt32(truncatingIfNeeded: Int64(whole))
    return UInt64(seconds) << 32 | UInt64(((start + time) - whole) * 4_294_967_296)
  }

  /// The session's time at which a clock like this one shows an NTP time, to the nearest era.
  public func time(ofNTP ntp: UInt64) -> Double {
    Double(Int64(bitPattern: ntp &- ntpTime(at: 0))) / 4_294_967_296
  }

  /// In units of RTP's clock for video.
  public static func rtpTime(at time: Double, offset: UInt32) -> UInt32 {
    offset &+ UInt32(truncatingIfNeeded: Int64((time * rtpRate).rounded()))
  }
}
