// SPDX-License-Identifier: Apache-2.0
/// Chooses the speed level by the time that frames take: 95 of 100 are to stay under a share of the frame interval.
///
/// One level at a time. A faster one as soon as more frames than that were late; a better one only when what it would
/// take, as far as is known, leaves room to spare. A better level that did not last is tried again later and later.
struct SpeedControl {
  /// The level of the next frame.
  private(set) var speed: Int
  /// Part of the frame interval; nil: the speed stays.
  private var share: Double?
  /// Seconds; of late, since a caller's expected frame rate need not be what comes.
  private var interval: Double

  /// Times over what they may be, of the last frames at this level.
  private var loads: [Float] = []
  private var next = 0
  /// Frames at this level.
  private var frames = 0
  /// How much longer a level takes than the next faster one: the second index less one.
  private var growth = SpeedControl.usualGrowth
  /// Mean load before the last change, which tells the growth; 0 if there is none to learn from.
  private var loadBefore: Float = 0
  private var speedBefore = 0
  /// Frames at a level before a better one is tried.
  private var patience = SpeedControl.leastPatience
  private var hasClimbed = false
  private var isFirst = true

  /// Frames that a decision looks back at, and how many of them may be late: one in twenty.
  static let window = 40
  static let lateFrames = 2
  static let leastPatience = 30
  private static let mostPatience = 3600
  /// Frames after which a better level has proved itself.
  private static let proof = 300
  /// The load that a better level should come to at the most.
  private static let margin: Float = 0.75
  /// Of level n against n + 1, as measured on film at one thread; a stream learns its own.
  private static let usualGrowth: [Float] = [1.6, 1.2, 1.15, 1.5, 1.25, 1.15, 1.2]

  init(_ configuration: EncoderConfiguration) {
    speed = configuration.speed
    share = configuration.encodeTimeShare
    interval = 1 / configuration.frameRate
    loads.reserveCapacity(SpeedControl.window)
  }

  mutating func reconfigure(_ new: EncoderConfiguration) {
    if new.encodeTimeShare == nil || share == nil { go(to: new.speed) }
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
    if loads.count < SpeedControl.window { loads.append(load) } else { loads[next] = load }
    next = (next + 1) % SpeedControl.window
    frames += 1
    if frames == SpeedControl.window { learn() }
    if frames == SpeedControl.proof && hasClimbed {
      patience = SpeedControl.leastPatience
      hasClimbed = false
    }
    if late(above: 1) > SpeedControl.lateFrames {
      if speed < EncoderConfiguration.fastestSpeed {
        if hasClimbed { patience = min(patience * 2, SpeedControl.mostPatience) }
        // A try that failed ends where it began.
        go(to: min(speed + (mean > 2 && !hasClimbed ? 2 : 1), EncoderConfiguration.fastestSpeed))
      }
    } else if speed > 0, frames >= patience,
      late(above: SpeedControl.margin / growth[speed - 1]) * SpeedControl.window
        <= SpeedControl.lateFrames * loads.count
    {
      go(to: speed - 1)
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
    guard new != speed else { return }
    loadBefore = frames >= SpeedControl.window / 2 && abs(new - speed) == 1 ? mean : 0
    speedBefore = speed
    speed = new
    hasClimbed = false
    frames = 0
    next = 0
    loads.removeAll(keepingCapacity: true)
  }

  /// What the last change of the level did to the time.
  private mutating func learn() {
    guard loadBefore > 0, mean > 0 else { return }
    let better = min(speed, speedBefore)
    let ratio = speed < speedBefore ? mean / loadBefore : loadBefore / mean
    growth[better] += (min(max(ratio, 1), 4) - growth[better]) * 0.5
    loadBefore = 0
  }
}
