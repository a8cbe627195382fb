// SPDX-License-Identifier: Apache-2.0

/// Places the audio of a device on a time line by its clock, without gaps where the device has lost
/// nothing.
///
/// Times are derived from the number of captured frames, because the times that a device reports
/// jitter. If the reported time is later than the derived time by more than the jitter, audio was
/// lost, and later audio is moved by the difference. Slow differences are clock drift between the
/// device and the system; they are compensated by resampling by at most 0.1 %, which is inaudible.
struct CaptureClock {
  /// A difference from which on audio was lost, in frames: 0.1 s.
  static let gap = PCMFormat.rate / 10
  /// Audio that comes earlier by this is not paced by a clock, as that of a file: 0.5 s.
  static let lead = PCMFormat.rate / 2
  /// The drift at which the audio begins to be stretched, and the one at which that ends: 10 and
  /// 2 ms.
  static let drift = (begin: PCMFormat.rate / 100, end: PCMFormat.rate / 500)
  /// The time constant of the measured drift, in frames: 4 s.
  private static let smoothing = 4 * PCMFormat.rate

  /// The place of the next frame, in frames; nil before the first one.
  private var next: Int64?
  /// How much later the reported times are than the count, in frames, on the average.
  private var deviation = 0.0
  private var isStretching = false
  private var followsClock = true
  /// How often audio was lost, and how many frames in all.
  private(set) var gaps = 0
  private(set) var lostFrames: Int64 = 0

  /// Places a piece.
  /// - Parameters:
  ///   - frames: its length.
  ///   - captured: when its first frame was recorded, in frames on the time line; nil if the audio
  ///     follows no clock, and begins at 0.
  /// - Returns: its position; and the frames by which the following audio is to become longer for
  ///   each thousand frames: -1, 0 or 1.
  mutating func place(frames: Int, captured: Int64?) -> (position: Int64, stretch: Int) {
    guard let expected = next, let captured, followsClock else {
      let position = next ?? captured ?? 0
      next = position + Int64(frames)
      return (position, 0)
    }
    let late = captured - expected
    var position = expected
    if late > Int64(Self.gap) {
      position = captured
      gaps += 1
      lostFrames += late
      (deviation, isStretching) = (0, false)
    } else if late < -Int64(Self.lead) {
      (followsClock, deviation, isStretching) = (false, 0, false)
    } else {
      deviation += (Double(late) - deviation) * min(Double(frames) / Double(Self.smoothing), 1)
      let limit = isStretching ? Self.drift.end : Self.drift.begin
      isStretching = deviation.magnitude > Double(limit)
    }
    next = position + Int64(frames)
    return (position, isStretching ? (deviation > 0 ? 1 : -1) : 0)
  }
}
