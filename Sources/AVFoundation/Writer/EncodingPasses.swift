// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The storage that the passes of an encoding share: the encoder's statistics and the encoded
/// frames, all in files.
///
/// The first two passes cover all frames, and each writes its frames to a silo of its own. If the
/// program ends the input during the second pass, the frames of the first one become the movie.
/// Further passes, which only an encoder with partial passes asks for, cover some groups of
/// pictures. Their frames go to a separate silo and replace the earlier frames only if the result
/// is nearer to the bit rate.
final class EncodingPasses: @unchecked Sendable {
  // Sendable: `lock` guards what changes, except `finishedCount`, which is changed only at the ends
  // of passes, and passes end one after the other.
  private struct Pass {
    var silo: LayeredSilo
    var frameCount = 0
    var bytes = 0
    var start = CMTime.positiveInfinity
    var end = CMTime.negativeInfinity
    /// The part that is being encoded again, in a pass that does not cover all frames.
    var part: Part?

    /// Bytes beyond those that the bit rate allows for the duration; negative if there are fewer.
    /// - Parameter rate: Bits per second.
    func excess(_ rate: Double) -> Double { Double(bytes) - rate / 8 * (end - start).seconds }
  }

  private struct Part {
    /// Ranges of decode times.
    let ranges: [CMTimeRange]
    /// Presentation times of the pictures in the ranges.
    let times: Set<CMTime>
    /// Bytes of the frames that the part replaces.
    let replacedBytes: Int
    /// The new frames.
    let silo: VTFrameSilo
    var frameCount = 0
    var bytes = 0
    /// Whether a frame could not be stored. The earlier frames are kept then.
    var isFailed = false
  }

  private let storage: VTMultiPassStorage
  private let folder: URL?
  /// The average bit rate of the movie's track, in bits per second.
  private let rate: Double
  private let lock = Lock()
  private var current: Pass
  private var previous: Pass?
  private var finishedCount = 0

  /// Creates the storage.
  /// - Parameters:
  ///   - folder: The folder for the files; nil means the system's temporary folder.
  ///   - rate: The average bit rate, in bits per second.
  /// - Throws: `AVError` if the files cannot be made.
  init(in folder: URL?, rate: Double) throws {
    var storage: VTMultiPassStorage?
    let status = VTMultiPassStorageCreate(
      allocator: kCFAllocatorDefault, fileURL: Self.url("stats", in: folder), timeRange: .invalid,
      options: nil,
      multiPassStorageOut: &storage)
    guard let storage else { throw Self.error(status) }
    self.storage = storage
    self.folder = folder
    self.rate = rate
    current = Pass(silo: LayeredSilo(try Self.makeSilo(in: folder)))
  }

  private static func url(_ kind: String, in folder: URL?) -> CFURL? {
    folder.map { $0.appendingPathComponent("\(UUID().uuidString).\(kind)") as CFURL }
  }

  private static func makeSilo(in folder: URL?) throws -> VTFrameSilo {
    var silo: VTFrameSilo?
    let status = VTFrameSiloCreate(
      allocator: kCFAllocatorDefault, fileURL: url("silo", in: folder), timeRange: .invalid, options: nil,
      frameSiloOut: &silo)
    guard let silo else { throw error(status) }
    return silo
  }

  deinit { VTMultiPassStorageClose(storage) }

  /// Gives a session the storage for its statistics.
  /// - Returns: False if the session's encoder does not support several passes.
  func attach(to session: VTCompressionSession) -> Bool {
    guard
      VTSessionSetProperty(session, key: kVTCompressionPropertyKey_MultiPassStorage, value: storage) == noErr
    else { return false }
    // Of the built-in encoders only the package's own has this property.
    VTSessionSetProperty(
      session, key: kOVTCompressionPropertyKey_AllowsPartialPasses, value: kCFBooleanTrue)
    return true
  }

  func begin(_ session: VTCompressionSession) throws {
    try Self.check(VTCompressionSessionBeginPass(session, flags: [], nil))
  }

  /// Whether the current pass encodes the picture of this time. A program may append pictures
  /// outside of the ranges that it was asked for.
  func wants(_ time: CMTime) -> Bool { lock.withLock { current.part?.times.contains(time) ?? true } }

  func add(_ sample: CMSampleBuffer) -> AVError? {
    let (silo, isFailed) = lock.withLock {
      (current.part?.silo ?? current.silo.whole, current.part?.isFailed == true)
    }
    guard !isFailed else { return nil }
    let status = VTFrameSiloAddSampleBuffer(silo, sampleBuffer: sample)
    guard status == noErr else {
      // A failure of the first passes is an error. In a partial pass there is a complete movie
      // already, which is kept.
      return lock.withLock {
        current.part?.isFailed = true
        return current.part == nil ? Self.error(status) : nil
      }
    }
    let (time, size) = (sample.presentationTimeStamp, CMSampleBufferGetTotalSampleSize(sample))
    lock.withLock {
      current.frameCount += 1
      current.bytes += size
      current.start = min(current.start, time)
      current.end = max(current.end, sample.duration.isNumeric ? time + sample.duration : time)
      current.part?.frameCount += 1
      current.part?.bytes += size
    }
    return nil
  }

  /// Records an error of the encoder. A partial pass is undone then, as the movie is complete.
  /// - Returns: Whether the current pass is a partial one; otherwise the error is the movie's.
  func failPart() -> Bool {
    lock.withLock {
      current.part?.isFailed = true
      return current.part != nil
    }
  }

  /// Ends a pass, and begins the next one if the encoder asks for it.
  /// - Returns: Ranges of the presentation times to encode again, in ascending order and not
  ///   overlapping; nil after the last pass.
  /// - Throws: `AVError` if a pass over all frames cannot end or begin.
  func next(_ session: VTCompressionSession) throws -> [CMTimeRange]? {
    guard try end(session) else { return nil }
    var (count, list) = (0, UnsafePointer<CMTimeRange>?.none)
    // A movie without frames has no ranges.
    guard
      VTCompressionSessionGetTimeRangesForNextPass(
        session, timeRangeCountOut: &count, timeRangeArrayOut: &list)
        == noErr, let list
    else { return nil }
    let ranges = Array(UnsafeBufferPointer(start: list, count: count))
    // The second pass covers all frames, whatever the encoder.
    if finishedCount == 1 {
      let new = Pass(silo: LayeredSilo(try Self.makeSilo(in: folder)))
      lock.withLock {
        previous = current
        current = new
      }
      try begin(session)
      return ranges
    }
    // There is a complete movie, which stays as it is if there is no room for a further pass.
    guard let shown = try? beginPart(ranges) else { return nil }
    do { try begin(session) } catch {
      _ = finishPart(isWhole: false)
      return nil
    }
    return shown
  }

  /// Ends a pass. If a partial pass lacks pictures, the encoder reports an error, and the pass is
  /// undone.
  /// - Returns: Whether the encoder asks for another pass. False if the frames of a partial pass
  ///   are not kept.
  /// - Throws: `AVError` if a pass over all frames ended with an error.
  @discardableResult
  func end(_ session: VTCompressionSession) throws -> Bool {
    var wantsMore = DarwinBoolean(false)
    let status = VTCompressionSessionEndPass(session, furtherPassesRequestedOut: &wantsMore, nil)
    if status != noErr, lock.withLock({ current.part == nil }) { throw Self.error(status) }
    finishedCount += 1
    return finishPart(isWhole: status == noErr) && wantsMore.boolValue
  }

  /// Prepares a pass over parts of the movie.
  /// - Parameter ranges: Ranges of decode times.
  /// - Returns: Ranges of the presentation times of the same pictures.
  private func beginPart(_ ranges: [CMTimeRange]) throws -> [CMTimeRange] {
    let frames = lock.withLock { current.silo }
    let silo = try Self.makeSilo(in: folder)
    try Self.limit(silo, to: ranges)
    var times = Set<CMTime>()
    var bytes = 0
    var shown: [CMTimeRange] = []
    for range in ranges {
      var span: CMTimeRange?
      try Self.check(
        frames.forEach(in: range) { sample in
          let time = sample.presentationTimeStamp
          times.insert(time)
          bytes += CMSampleBufferGetTotalSampleSize(sample)
          // A range with the shortest possible duration contains the picture even if its duration
          // is unknown.
          let minimum = CMTime(value: 1, timescale: time.timescale)
          let duration = sample.duration.isNumeric ? max(sample.duration, minimum) : minimum
          let own = CMTimeRange(start: time, duration: duration)
          span = span?.union(own) ?? own
          return noErr
        })
      guard let span else { continue }
      if let last = shown.last, span.start <= last.end {
        shown[shown.count - 1] = last.union(span)
      } else {
        shown.append(span)
      }
    }
    lock.withLock {
      // The second pass is complete, so the frames of the first one are not needed any more.
      previous = nil
      current.part = Part(ranges: ranges, times: times, replacedBytes: bytes, silo: silo)
      current.frameCount -= times.count
      current.bytes -= bytes
    }
    return shown
  }

  private static func limit(_ silo: VTFrameSilo, to ranges: [CMTimeRange]) throws {
    try check(
      ranges.withUnsafeBufferPointer {
        guard let base = $0.baseAddress else { return kVTFrameSiloInvalidTimeRangeErr }
        return VTFrameSiloSetTimeRangesForNextPass(silo, timeRangeCount: $0.count, timeRangeArray: base)
      })
  }

  /// Ends a partial pass: keeps its frames if none is missing and the result is at least as near to
  /// the bit rate as before; otherwise restores the earlier frames.
  /// - Parameter isWhole: Whether the encoder has reported that the pass is complete.
  /// - Returns: Whether the frames of the pass are kept; true for a pass over all frames.
  private func finishPart(isWhole: Bool) -> Bool {
    var state = lock.withLock { current }
    guard let part = state.part else { return true }
    var before = state
    before.bytes += part.replacedBytes - part.bytes
    before.frameCount += part.times.count - part.frameCount
    before.part = nil
    let isKept =
      isWhole && !part.isFailed && part.frameCount == part.times.count
      && abs(state.excess(rate)) <= abs(before.excess(rate))
    state.part = nil
    state.silo.replace(part.ranges, with: part.silo)
    lock.withLock { current = isKept ? state : before }
    return isKept
  }

  /// Calls `body` with all frames in decode order. They are those of the last pass over all frames
  /// or, if it has fewer frames because it was broken off, those of the pass before.
  func forEach(_ body: (CMSampleBuffer) -> Void) throws {
    let silo = lock.withLock {
      guard let previous, previous.frameCount > current.frameCount else { return current.silo }
      return previous.silo
    }
    try Self.check(
      silo.forEach {
        body($0)
        return noErr
      })
  }

  private static func check(_ status: OSStatus) throws {
    if status != noErr { throw error(status) }
  }

  /// The silo reports a full disk as -34, which is `dskFulErr` in Apple's headers.
  private static func error(_ status: OSStatus) -> AVError {
    AVError(
      status == -34 ? .diskFull : .encodeFailed,
      reason: "A pass of the encoding failed with error \(status).",
      advice: status == -34 ? "Free some space, or set directoryForTemporaryFiles." : nil,
      underlying: NSError(domain: NSOSStatusErrorDomain, code: Int(status)))
  }
}
