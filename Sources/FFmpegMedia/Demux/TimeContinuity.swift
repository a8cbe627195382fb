// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreMedia

/// Joins the time lines of a stream whose times jump: two recordings one after the other, a counter that was reset.
///
/// The streams of a file jump at different packets but by the same amount: what one finds, the others use. Times may
/// be any number that a file can hold.
struct TimeContinuity {
  private struct Offset {
    var value: Int64
    var base: AVRational
  }

  private struct Clock {
    /// Counted from the file's first one on, also where the oldest have been forgotten.
    var segment = 0
    var next: Int64?
    var last: Int64?
  }

  /// Whether forward jumps are jumps too, and not a long pause.
  let jumpsForward: Bool
  private var offsets = [Offset(value: 0, base: AVRational(num: 1, den: 1))]
  /// Older offsets than those that are kept: a file whose clock jumps all the time has as many as packets.
  private var forgotten = 0
  private static let mostOffsets = 64
  private var clocks: [Int: Clock] = [:]

  init(jumpsForward: Bool) { self.jumpsForward = jumpsForward }

  /// A jump has been found.
  var isBroken: Bool { forgotten + offsets.count > 1 }

  /// Changes the packet's times as need be. Packets come in the file's order.
  mutating func correct(_ packet: MediaPacket, timeBase: AVRational) {
    guard let raw = packet.dts ?? packet.pts else { return }
    var clock = clocks[packet.streamIndex] ?? Clock()
    func seconds(_ value: Double) -> Int64 { Int64(value * Double(timeBase.den) / Double(timeBase.num)) }
    func time(_ segment: Int) -> Int64 {
      // A stream that has not gone along for so long takes the oldest that is left.
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
        if offsets.count > Self.mostOffsets {
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
