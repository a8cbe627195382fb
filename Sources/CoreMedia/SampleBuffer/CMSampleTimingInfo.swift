// SPDX-License-Identifier: Apache-2.0
/// The decode time, the presentation time and the duration of a sample.
public struct CMSampleTimingInfo: Sendable {
  /// The duration of the sample.
  public var duration: CMTime
  /// The presentation time of the sample.
  public var presentationTimeStamp: CMTime
  /// The decode time of the sample; invalid if samples are in presentation order.
  public var decodeTimeStamp: CMTime

  /// Creates timing with all fields zero, which are invalid times; see `CMTime.init()`.
  public init() {
    duration = CMTime()
    presentationTimeStamp = CMTime()
    decodeTimeStamp = CMTime()
  }

  public init(duration: CMTime, presentationTimeStamp: CMTime, decodeTimeStamp: CMTime) {
    self.duration = duration
    self.presentationTimeStamp = presentationTimeStamp
    self.decodeTimeStamp = decodeTimeStamp
  }

  /// Timing with three invalid times.
  public static let invalid = CMSampleTimingInfo(
    duration: .invalid, presentationTimeStamp: .invalid, decodeTimeStamp: .invalid)

  /// Returns the timing of the sample that comes `index` samples later, if all have the same
  /// duration.
  func advanced(by index: Int) -> CMSampleTimingInfo {
    guard index > 0 else { return self }
    let distance = CMTimeMultiply(duration, multiplier: Int32(clamping: index))
    return CMSampleTimingInfo(
      duration: duration, presentationTimeStamp: presentationTimeStamp + distance,
      decodeTimeStamp: decodeTimeStamp.isValid ? decodeTimeStamp + distance : .invalid)
  }
}

/// The timing of the samples of a sample buffer: individual, common or unknown.
enum SampleTimings {
  case unknown
  /// The timing of the first sample. Each further sample follows at the distance of its duration.
  case uniform(CMSampleTimingInfo)
  case each([CMSampleTimingInfo])

  /// Creates the timing from the entries that the API accepts: none, one for all samples, or one
  /// for each. Nil for another number.
  init?(_ array: UnsafePointer<CMSampleTimingInfo>?, entryCount: Int, sampleCount: Int) {
    guard entryCount > 0, let array else {
      self = .unknown
      return
    }
    if entryCount == 1 {
      self = .uniform(array.pointee)
    } else if entryCount == sampleCount {
      self = .each(Array(UnsafeBufferPointer(start: array, count: entryCount)))
    } else {
      return nil
    }
  }

  /// The entries as they were given.
  var entries: [CMSampleTimingInfo] {
    switch self {
    case .unknown: []
    case .uniform(let timing): [timing]
    case .each(let timings): timings
    }
  }

  func timing(at index: Int) -> CMSampleTimingInfo? {
    switch self {
    case .unknown: nil
    case .uniform(let timing): timing.advanced(by: index)
    case .each(let timings): timings[index]
    }
  }

  /// The sum of all durations.
  func duration(sampleCount: Int) -> CMTime {
    switch self {
    case .unknown: return .invalid
    case .uniform(let timing):
      return sampleCount <= 1
        ? timing.duration : CMTimeMultiply(timing.duration, multiplier: Int32(clamping: sampleCount))
    case .each(let timings):
      return timings.dropFirst().reduce(timings[0].duration) { $0 + $1.duration }
    }
  }

  /// Returns the earliest valid time; invalid if there is none.
  func earliest(_ time: KeyPath<CMSampleTimingInfo, CMTime>) -> CMTime {
    switch self {
    case .unknown: return .invalid
    case .uniform(let timing): return timing[keyPath: time]
    case .each(let timings):
      var result = CMTime.invalid
      for timing in timings {
        let candidate = timing[keyPath: time]
        if candidate.isValid, !result.isValid || candidate < result { result = candidate }
      }
      return result
    }
  }

  /// Returns the timing of a range of samples, which must not be empty.
  func range(_ range: Range<Int>) -> SampleTimings {
    switch self {
    case .unknown: .unknown
    case .uniform(let timing): .uniform(timing.advanced(by: range.lowerBound))
    case .each(let timings):
      range.count == 1 ? .uniform(timings[range.lowerBound]) : .each(Array(timings[range]))
    }
  }
}

/// The sizes of the samples of a sample buffer in bytes: individual, common or unknown.
enum SampleSizes {
  case unknown
  case uniform(Int)
  case each([Int])

  init?(_ array: UnsafePointer<Int>?, entryCount: Int, sampleCount: Int) {
    guard entryCount > 0, let array else {
      self = .unknown
      return
    }
    if entryCount == 1 {
      self = .uniform(array.pointee)
    } else if entryCount == sampleCount {
      self = .each(Array(UnsafeBufferPointer(start: array, count: entryCount)))
    } else {
      return nil
    }
  }

  var entries: [Int] {
    switch self {
    case .unknown: []
    case .uniform(let size): [size]
    case .each(let sizes): sizes
    }
  }

  var hasNegative: Bool {
    switch self {
    case .unknown: false
    case .uniform(let size): size < 0
    case .each(let sizes): sizes.contains { $0 < 0 }
    }
  }

  func size(at index: Int) -> Int {
    switch self {
    case .unknown: 0
    case .uniform(let size): size
    case .each(let sizes): sizes[index]
    }
  }

  /// Returns the sum of the sizes of the samples before an index; nil if it does not fit into Int.
  func offset(of index: Int) -> Int? {
    switch self {
    case .unknown: return 0
    case .uniform(let size):
      let (product, overflow) = size.multipliedReportingOverflow(by: index)
      return overflow ? nil : product
    case .each(let sizes):
      var sum = 0
      for size in sizes[..<index] {
        let (next, overflow) = sum.addingReportingOverflow(size)
        if overflow { return nil }
        sum = next
      }
      return sum
    }
  }

  func range(_ range: Range<Int>) -> SampleSizes {
    switch self {
    case .unknown, .uniform: self
    case .each(let sizes): range.count == 1 ? .uniform(sizes[range.lowerBound]) : .each(Array(sizes[range]))
    }
  }
}
