/// Gives each coded frame its place in decode order, on the scale of the presentation times.
///
/// With a reordering depth of D, frame n in decode order is due when frame n - D is shown; the first D frames are
/// due as much earlier as the D-th is later than the first. So decode times increase, and none is after the
/// frame's presentation time.
public struct FrameClock: Sendable {
  private let depth: Int
  /// Presentation times in the order of input, from frame `firstIndex` on.
  private var times: [Int64] = []
  private var firstIndex = 0
  private var outputIndex = 0
  /// How much later the frame at `depth` is than the first, once known.
  private var lead: Int64?

  public init(reorderingDepth: Int) { depth = reorderingDepth }

  /// Notes the next picture that goes in.
  public mutating func noteInput(_ presentationTime: Int64) {
    times.append(presentationTime)
    if lead == nil, firstIndex == 0, times.count > depth { lead = times[depth] - times[0] }
  }

  /// The decode time of the next frame that comes out.
  /// - Parameter frameDuration: stands in for what is not known if the stream ends before `depth` pictures came.
  public mutating func nextDecodeTime(frameDuration: Int64) -> Int64 {
    defer {
      outputIndex += 1
      // Only the last `depth` times are asked for again.
      let droppable = outputIndex - depth - firstIndex
      if droppable > 64 {
        times.removeFirst(droppable)
        firstIndex += droppable
      }
    }
    if outputIndex >= depth {
      let index = outputIndex - depth - firstIndex
      return index < times.count ? times[index] : (times.last ?? 0)
    }
    let lead = self.lead ?? frameDuration * Int64(depth)
    let index = min(outputIndex, times.count - 1)
    return (index >= 0 ? times[index] : 0) - lead
  }
}
