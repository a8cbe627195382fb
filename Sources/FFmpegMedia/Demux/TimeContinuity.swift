// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreMedia

/// Joins the time lines of streams whose times are discontinuous, as in concatenated recordings, or
/// where a counter was reset.
///
/// All streams of a file jump by the same amount, but at different packets: the offset that one
/// stream finds is used for the others. Times may be any 64-bit number.
struct TimeContinuity {
  private struct Offset {
    var value: Int64
    var base: AVRational
  }

  private struct Clock {
    /// Number of the time line that the stream is on, counted from the file's first one (0),
    /// including those whose offsets were dropped.
    var segment = 0
    var next: Int64?
    var last: Int64?
  }

  /// Whether a time that is more than 30 s too late is a discontinuity, and not a long pause. If
  /// so, one that is 0.1 s too early is a discontinuity, too; otherwise 1 s is.
  let jumpsForward: Bool
  private var offsets = [Offset(value: 0, base: AVRational(num: 1, den: 1))]
  /// Number of offsets that were dropped: a file whose clock jumps all the time would have one per
  /// packet.
  private var forgotten = 0
  private static let maxOffsets = 64
  private var clocks: [Int: Clock] = [:]

  init(jumpsForward: Bool) { self.jumpsForward = jumpsForward }

  /// Whether a discontinuity has been found.
  var isBroken: Bool { forgotten + offsets.count > 1 }

  /// Corrects a packet's times and sets its `clock`. Packets must come in the file's order.
  /// - Parameters:
  ///   - packet: The packet.
  ///   - timeBase: The time base of its stream.
  mutating func correct(_ packet: MediaPacket, timeBase: AVRational) {
    guard let raw = packet.dts ?? packet.pts else { return }
    var clock = clocks[packet.streamIndex] ?? Clock()
    func seconds(_ value: Double) -> Int64 { Int64(value * Double(timeBase.den) / Double(timeBase.num)) }
    func time(_ segment: Int) -> Int64 {
      // A stream that is behind by more time lines than are kept uses the oldest one.
      let offset = offsets[max(0, segment - forgotten)]
      return raw.addingClamped(av_rescale_q(offset.value, offset.base, timeBase))
    }
    var now = time(clock.segment)
    if let next = clock.next,
      now < next.subtractingClamped(seconds(jumpsForward ? 0.1 : 1))
        || (jumpsForward && now > next.addingClamped(seconds(30)))
    {
      let near = seconds(2).magnitude
      let later = max(clock.segment + 1, forgotten)..<max(clock.segment + 1, forgotten + offsets.count)
      let known = later.first { time($0).subtractingClamped(next).magnitude < near }
      if let known {
        clock.segment = known
      } else {
        offsets.append(Offset(value: next.subtractingClamped(raw), base: timeBase))
        if offsets.count > Self.maxOffsets {
          offsets.removeFirst()
          forgotten += 1
        }
        clock.segment = forgotten + offsets.count - 1
      }
      now = time(clock.segment)
    }
    if clock.segment > 0, let last = clock.last, now <= last { now = last.addingClamped(1) }
    let change = now.subtractingClamped(raw)
    if change != 0 {
      if let pts = packet.pts { packet.pointer.pointee.pts = max(pts.addingClamped(change), now) }
      if packet.dts != nil { packet.pointer.pointee.dts = now }
    }
    packet.clock = clock.segment
    clock.last = now
    clock.next = now.addingClamped(max(packet.duration, 1))
    clocks[packet.streamIndex] = clock
  }
}
