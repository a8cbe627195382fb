// SPDX-License-Identifier: Apache-2.0
/// Chooses the effort by the time that frames take: 95 of 100 are to stay under a share of the frame interval.
///
/// It changes by one step at a time: down as soon as more frames than that were late, up only when what the next effort
/// would take, as far as is known, leaves room to spare. An effort that did not last is tried again later and later.
struct EffortControl {
  /// The effort of the next frame.
  private(set) var effort: Int
  /// Part of the frame interval; nil: the effort stays.
  private var share: Double?
  /// Seconds between frames of late, since a caller's expected frame rate need not be what comes.
  private var interval: Double

  /// Times of the last frames at this effort, as multiples of what they may take.
  private var loads: [Float] = []
  private var next = 0
  /// Frames at this effort.
  private var frames = 0
  /// How many times as long effort n + 1 takes as effort n, by n.
  private var growth = EffortControl.usualGrowth
  /// The mean load before the last change, from which the growth is learned; 0 if there is nothing to learn from.
  private var loadBefore: Float = 0
  private var effortBefore = 0
  /// Frames at an effort before the next one is tried.
  private var patience = EffortControl.leastPatience
  private var hasClimbed = false
  private var isFirst = true

  /// Frames that a decision looks back at, and how many of them may be late: one in twenty.
  static let window = 40
  static let lateFrames = 2
  static let leastPatience = 30
  private static let mostPatience = 3600
  /// Frames after which a higher effort has proved itself.
  private static let proof = 300
  /// The load that a higher effort should come to at most.
  private static let margin: Float = 0.75
  /// As measured on film with one thread; each stream learns its own.
  private static let usualGrowth: [Float] = [1.4, 1.25, 1.5, 1.15, 1.2, 1.6, 1.15, 1.3, 1.3]

  init(_ configuration: H264EncoderConfiguration) {
    effort = configuration.effort
    share = configuration.encodeTimeShare
    interval = 1 / configuration.frameRate
    loads.reserveCapacity(EffortControl.window)
  }

  mutating func reconfigure(_ new: H264EncoderConfiguration) {
    if new.encodeTimeShare == nil || share == nil { go(to: new.effort) }
    share = new.encodeTimeShare
    interval = 1 / new.frameRate
  }

  /// Takes in a frame's time.
  /// - Parameter interval: seconds since the frame before; nil: as usual.
  mutating func note(seconds: Double, interval latest: Double?) {
    guard let share else { return }
    // A pause is no frame rate.
    if let latest { interval += (min(latest, 2 * interval) - interval) * 0.1 }
    // The first touches all memory for the first time.
    if isFirst {
      isFirst = false
      return
    }
    let load = Float(min(max(seconds / (share * interval), 0), 1000))
    if loads.count < EffortControl.window { loads.append(load) } else { loads[next] = load }
    next = (next + 1) % EffortControl.window
    frames += 1
    if frames == EffortControl.window { learn() }
    if frames == EffortControl.proof && hasClimbed {
      patience = EffortControl.leastPatience
      hasClimbed = false
    }
    if late(above: 1) > EffortControl.lateFrames {
      if effort > 0 {
        if hasClimbed { patience = min(patience * 2, EffortControl.mostPatience) }
        // A try that failed ends where it began.
        go(to: max(effort - (mean > 2 && !hasClimbed ? 2 : 1), 0))
      }
    } else if effort < H264EncoderConfiguration.mostEffort, frames >= patience,
      late(above: EffortControl.margin / growth[effort]) * EffortControl.window
        <= EffortControl.lateFrames * loads.count
    {
      go(to: effort + 1)
      hasClimbed = true
    }
  }

  private func late(above bound: Float) -> Int {
    var count = 0
    for load in loads where load > bound { count += 1 }
    return count
  }

  private var mean: Float {
    var sum: Float = 0
    for load in loads { sum += load }
    return loads.isEmpty ? 0 : sum / Float(loads.count)
  }

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

  /// Learns what the last change of the effort did to the time.
  private mutating func learn() {
    guard loadBefore > 0, mean > 0 else { return }
    let lower = min(effort, effortBefore)
    let ratio = effort > effortBefore ? mean / loadBefore : loadBefore / mean
    growth[lower] += (min(max(ratio, 1), 4) - growth[lower]) * 0.5
    loadBefore = 0
  }
}
