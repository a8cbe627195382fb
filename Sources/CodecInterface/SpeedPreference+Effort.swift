// SPDX-License-Identifier: Apache-2.0
extension SpeedPreference {
  /// The effort that follows from the preferences, 0 (fastest) to 9 (best).
  public var resolvedEffort: Int {
    if let effort { return min(max(effort, 0), 9) }
    var level = isRealTime == true ? 3 : 5
    switch prefersSpeedOverQuality {
    case true: level -= 2
    case false: level += 1
    case nil: break
    }
    if savesPower { level -= 1 }
    return min(max(level, 0), 9)
  }
}
