// SPDX-License-Identifier: Apache-2.0
import CoreMedia

/// Computes the exact decode time of each coded frame from the presentation times of the source
/// frames.
///
/// With a reordering depth of D, frame n in decode order is decoded when frame n - D (in
/// presentation order) is shown. The first D frames have no such frame: they are decoded as much
/// before the presentation times of frames 0 to D - 1 as frame D is shown after frame 0. So decode
/// times increase, and none is later than the frame's presentation time. Where a decode time is
/// needed before frame D has come, the distance is estimated from the frame duration.
struct FrameClock {
  /// The reordering depth D: the number of frames that may precede a frame in decode order and
  /// follow it in presentation order.
  let depth: Int
  /// Presentation times in the order of input. The element at index 0 is that of source frame
  /// `firstIndex`.
  private var times: [CMTime] = []
  private var firstIndex = 0
  /// The number of decode times that were given so far.
  private var outputIndex = 0
  /// The time from the first frame to frame D, in presentation order; nil until frame D has come.
  private var lead: CMTime?
  /// The last decode time that was given to one of the first D frames.
  private var lastEarly: CMTime?

  /// The latest presentation time among the frames that `accepts` was called for.
  private var latest: CMTime?

  /// Decode times that are given, in decode order, where the frames replace others of an earlier
  /// pass; empty otherwise.
  private let known: [CMTime]

  /// Creates a clock for one stream.
  /// - Parameters:
  ///   - depth: The reordering depth; 0 for a stream without reordered frames, which gets no decode
  ///     times.
  ///   - known: The decode times of the frames that this stream replaces, if it does.
  init(depth: Int, known: [CMTime] = []) { (self.depth, self.known) = (depth, known) }

  /// Adds the presentation time of the next source frame.
  mutating func addInput(_ time: CMTime) {
    guard depth > 0 else { return }
    times.append(time)
    if lead == nil, firstIndex == 0, times.count > depth { lead = CMTimeSubtract(times[depth], times[0]) }
  }

  /// Removes the last recorded source frame again, which the encoder has refused.
  mutating func removeLastInput() {
    guard !times.isEmpty else { return }
    times.removeLast()
    if firstIndex == 0, times.count <= depth { lead = nil }
  }

  /// Removes a recorded source frame that the encoder has dropped, so that later frames get their
  /// decode times as if it had not been there.
  mutating func removeDropped(_ time: CMTime) {
    if let index = times.firstIndex(of: time) {
      times.remove(at: index)
    } else if firstIndex > 0 {
      firstIndex -= 1
    }
  }

  /// Checks that a frame is not decoded after it is to be shown, which it would be if the encoder
  /// had reordered it by more than `depth` frames.
  /// - Parameters:
  ///   - presentationTime: The frame's presentation time.
  ///   - decodeTime: What `nextDecodeTime` has returned for the frame.
  mutating func accepts(_ presentationTime: CMTime, decodedAt decodeTime: CMTime) -> Bool {
    defer { latest = latest.map { max($0, presentationTime) } ?? presentationTime }
    guard depth == 0 else { return !known.isEmpty || decodeTime <= presentationTime }
    return latest.map { $0 < presentationTime } ?? true
  }

  /// Computes the decode time of the next coded frame; invalid for a stream without reordered
  /// frames.
  /// - Parameter frameDuration: The distance of two frames, for an estimate if the stream ends
  ///   before D frames have come.
  mutating func nextDecodeTime(frameDuration: CMTime) -> CMTime {
    guard depth > 0 else { return .invalid }
    defer {
      outputIndex += 1
      // Only the last `depth` times are needed again.
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
      // The estimate does not fit the times that came: the rest of the time before the first frame
      // is shown is divided evenly.
      let rest = CMTimeSubtract(times[0], lastEarly)
      early = CMTimeAdd(
        lastEarly, CMTimeMultiplyByRatio(rest, multiplier: 1, divisor: Int32(depth - outputIndex + 1)))
    }
    lastEarly = early
    return early
  }
}
