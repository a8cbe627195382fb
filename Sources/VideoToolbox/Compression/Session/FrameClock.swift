// SPDX-License-Identifier: Apache-2.0
import CoreMedia

/// Gives each coded frame its decode time, exactly, from the presentation times that came in.
///
/// With a reordering depth of D, frame n in decode order is due when frame n - D is shown; the first D frames are
/// due as much earlier as the D-th is later than the first. So decode times increase, and none is after the
/// frame's presentation time. A frame that is wanted before the D-th has come is due by a guess.
struct FrameClock {
  let depth: Int
  /// Presentation times in the order of input, from frame `firstIndex` on.
  private var times: [CMTime] = []
  private var firstIndex = 0
  private var outputIndex = 0
  /// How much later the frame at `depth` is than the first, once known.
  private var lead: CMTime?
  /// The last decode time that was given out, among the first D.
  private var lastEarly: CMTime?

  /// The latest time of those that came out.
  private var latest: CMTime?

  /// Decode times that are known beforehand, of frames that take others' place.
  private let known: [CMTime]

  init(depth: Int, known: [CMTime] = []) { (self.depth, self.known) = (depth, known) }

  /// Notes the next frame that goes in.
  mutating func noteInput(_ time: CMTime) {
    guard depth > 0 else { return }
    times.append(time)
    if lead == nil, firstIndex == 0, times.count > depth { lead = CMTimeSubtract(times[depth], times[0]) }
  }

  /// The frame that was noted last did not go in after all.
  mutating func takeBackInput() {
    guard !times.isEmpty else { return }
    times.removeLast()
    if firstIndex == 0, times.count <= depth { lead = nil }
  }

  /// A frame that was noted will not come out: those behind it are due as if it had not been.
  mutating func noteDropped(_ time: CMTime) {
    if let index = times.firstIndex(of: time) {
      times.remove(at: index)
    } else if firstIndex > 0 {
      firstIndex -= 1
    }
  }

  /// Whether a frame can come out now: one that is decoded after it is shown has changed places further than `depth`.
  /// - Parameter decodeTime: what `nextDecodeTime` has given for it.
  mutating func accepts(_ presentationTime: CMTime, decodedAt decodeTime: CMTime) -> Bool {
    defer { latest = latest.map { max($0, presentationTime) } ?? presentationTime }
    guard depth == 0 else { return !known.isEmpty || decodeTime <= presentationTime }
    return latest.map { $0 < presentationTime } ?? true
  }

  /// The decode time of the next frame that comes out; invalid if the order never changes.
  /// - Parameter frameDuration: stands in for what is not known if the stream ends before `depth` frames came.
  mutating func nextDecodeTime(frameDuration: CMTime) -> CMTime {
    guard depth > 0 else { return .invalid }
    defer {
      outputIndex += 1
      // Only the last `depth` times are asked for again.
      let droppable = outputIndex - depth - firstIndex
      if droppable > 64 {
        times.removeFirst(droppable)
        firstIndex += droppable
      }
    }
    guard let last = times.last else { return .invalid }
    if outputIndex < known.count { return known[outputIndex] }
    if outputIndex >= depth {
      let index = outputIndex - depth - firstIndex
      return index < times.count ? times[index] : last
    }
    let lead = self.lead ?? CMTimeMultiply(frameDuration, multiplier: Int32(depth))
    var early = CMTimeSubtract(times[min(outputIndex, times.count - 1)], lead)
    if let lastEarly, early <= lastEarly || early >= times[0] {
      // A guess that went wrong: what is left before the first frame is shown is divided.
      let rest = CMTimeSubtract(times[0], lastEarly)
      early = CMTimeAdd(
        lastEarly, CMTimeMultiplyByRatio(rest, multiplier: 1, divisor: Int32(depth - outputIndex + 1)))
    }
    lastEarly = early
    return early
  }
}
