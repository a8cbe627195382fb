// SPDX-License-Identifier: Apache-2.0
/// Chooses the effort by the encoding time of frames, so that 95 of 100 frames take at most a given
/// share of the frame interval.
///
/// The effort changes by one step at a time, or falls by two where frames take more than twice the
/// allowed time. It falls as soon as more frames than that were late. It rises only when the
/// estimated time of the next effort leaves a reserve. An effort that could not be kept is tried
/// again after an ever longer time.
package struct EffortControl {
  /// The effort of the next frame, 0 (fastest) to `maxEffort` (best).
  package private(set) var effort: Int
  /// The share of the frame interval that encoding may take; nil where the effort is fixed.
  private var timeFraction: Double?
  /// The moving mean of the frame interval in seconds: frames need not come at the configured rate.
  private var interval: Double

  /// The load of each recent frame at this effort: its encoding time as a multiple of the allowed
  /// time. A ring of `window` elements.
  private var loads: [Float] = []
  /// The index in `loads` of the next element to overwrite.
  private var next = 0
  /// The number of frames encoded at this effort.
  private var frames = 0
  /// For each effort n: how many times as long effort n + 1 takes as effort n.
  private var growth = EffortControl.typicalGrowth
  /// The mean load before the last change of the effort, from which `growth` is learned; 0 where
  /// there is nothing to learn.
  private var loadBefore: Float = 0
  /// The effort before the last change.
  private var effortBefore = 0
  /// The number of frames at an effort before the next higher one is tried.
  private var timeout = EffortControl.minPatience
  /// Whether the last change was a rise that has not proved itself yet.
  private var hasClimbed = false
  /// Whether no frame has been timed yet.
  private var isFirst = true

  /// The number of recent frames that a decision is based on, and how many of them may be late: one
  /// in twenty.
  static let window = 40
  static let lateFrames = 2
  /// The highest effort.
  package static let maxEffort = 9
  /// The least and initial value of `timeout`.
  static let minPatience = 30
  /// The highest value of `timeout`.
  private static let maxPatience = 3600
  /// The number of frames after which a higher effort has proved itself.
  private static let provingFrames = 300
  /// The highest load that is expected of a higher effort for it to be tried.
  private static let margin: Float = 0.75
  /// The initial value of `growth`, measured on film with one thread; each stream adapts it.
  private static let typicalGrowth: [Float] = [1.4, 1.25, 1.5, 1.15, 1.2, 1.6, 1.15, 1.3, 1.3]

  /// Begins with the configured effort.
  /// - Parameters:
  ///   - effort: the effort of the first frames, 0 to `maxEffort`.
  ///   - timeFraction: the fraction of the frame interval that encoding may take, 0.01 to 1; nil:
  ///     the effort is fixed.
  ///   - frameRate: frames per second.
  package init(effort: Int, timeFraction: Double?, frameRate: Double) {
    self.effort = effort
    self.timeFraction = timeFraction
    interval = 1 / frameRate
    loads.reserveCapacity(EffortControl.window)
  }

  /// Changes the configuration; without a share of time the configured effort applies at once.
  package mutating func reconfigure(effort: Int, timeFraction newFraction: Double?, frameRate: Double) {
    if newFraction == nil || timeFraction == nil { go(to: effort) }
    timeFraction = newFraction
    interval = 1 / frameRate
  }

  /// Takes the encoding time of a frame into account.
  /// - Parameters:
  ///   - seconds: the encoding time.
  ///   - latest: seconds since the previous frame; nil: the usual interval.
  package mutating func record(seconds: Double, interval latest: Double?) {
    guard let timeFraction else { return }
    // A pause does not lower the frame rate: an interval counts as two usual ones at most.
    if let latest { interval += (min(latest, 2 * interval) - interval) * 0.1 }
    // The first frame is slow because it touches all memory for the first time.
    if isFirst {
      isFirst = false
      return
    }
    let load = Float(min(max(seconds / (timeFraction * interval), 0), 1000))
    if loads.count < EffortControl.window { loads.append(load) } else { loads[next] = load }
    next = (next + 1) % EffortControl.window
    frames += 1
    if frames == EffortControl.window { learn() }
    if frames == EffortControl.provingFrames && hasClimbed {
      timeout = EffortControl.minPatience
      hasClimbed = false
    }
    if late(above: 1) > EffortControl.lateFrames {
      if effort > 0 {
        if hasClimbed { timeout = min(timeout * 2, EffortControl.maxPatience) }
        // An effort that was only tried falls back by one step.
        go(to: max(effort - (mean > 2 && !hasClimbed ? 2 : 1), 0))
      }
    } else if effort < EffortControl.maxEffort, frames >= timeout,
      late(above: EffortControl.margin / growth[effort]) * EffortControl.window
        <= EffortControl.lateFrames * loads.count
    {
      go(to: effort + 1)
      hasClimbed = true
    }
  }

  /// The number of recent frames with a load above a bound.
  private func late(above bound: Float) -> Int {
    var count = 0
    for load in loads where load > bound { count += 1 }
    return count
  }

  /// The mean load of the recent frames.
  private var mean: Float {
    var sum: Float = 0
    for load in loads { sum += load }
    return loads.isEmpty ? 0 : sum / Float(loads.count)
  }

  /// Changes the effort and begins to collect loads again.
  private mutating func go(to new: Int) {
    guard new != effort else { return }
    loadBefore = frames >= EffortControl.window / 2 && abs(new - effort) == 1 ? mean : 0
    effortBefore = effort
    effort = new
    hasClimbed = false
    frames = 0
    next = 0
    loads.removeAll(keepingCapacity: true)
  }

  /// Learns `growth` from the mean loads before and after the last change of the effort.
  private mutating func learn() {
    guard loadBefore > 0, mean > 0 else { return }
    let lower = min(effort, effortBefore)
    let ratio = effort > effortBefore ? mean / loadBefore : loadBefore / mean
    growth[lower] += (min(max(ratio, 1), 4) - growth[lower]) * 0.5
    loadBefore = 0
  }
}
