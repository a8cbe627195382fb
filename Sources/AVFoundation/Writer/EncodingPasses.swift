// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What the passes of an encoding share: what it has learnt, and the frames of the last two, all on disk.
///
/// The first two passes are over all frames, into a silo each: the program may have enough in the middle of one, and what
/// the pass before gave is then the movie. What follows, with an encoder that knows parts, is over some groups of pictures;
/// their frames are in a silo of their own, and stand for those that were there if they are the better ones.
final class EncodingPasses: @unchecked Sendable {
  // Sendable: `lock` guards what changes, but for `finishedCount`, which ends of passes alone touch, one after the other.
  private struct Pass {
    var silo: LayeredSilo
    var frameCount = 0
    var bytes = 0
    var start = CMTime.positiveInfinity
    var end = CMTime.negativeInfinity
    /// What is being encoded again.
    var part: Part?

    /// Bytes beyond those of a rate.
    /// - Parameter rate: Bits a second.
    func excess(_ rate: Double) -> Double { Double(bytes) - rate / 8 * (end - start).seconds }
  }

  private struct Part {
    /// Decode times.
    let ranges: [CMTimeRange]
    /// Presentation times of the pictures.
    let times: Set<CMTime>
    /// How much stood there.
    let replacedBytes: Int
    /// What comes in its place.
    let silo: VTFrameSilo
    var frameCount = 0
    var bytes = 0
    /// A frame could not be kept: what stood there stays.
    var isFailed = false
  }

  private let storage: VTMultiPassStorage
  private let folder: URL?
  /// Bits a second that the movie is to have.
  private let rate: Double
  private let lock = Lock()
  private var current: Pass
  private var previous: Pass?
  private var finishedCount = 0

  /// - Parameters:
  ///   - folder: For the files; nil takes the system's.
  ///   - rate: Bits a second that the movie is to have.
  /// - Throws: `AVError` where there can be no files.
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

  /// Gives a session the storage.
  /// - Returns: False if its encoder has one pass.
  func attach(to session: VTCompressionSession) -> Bool {
    guard
      VTSessionSetProperty(session, key: kVTCompressionPropertyKey_MultiPassStorage, value: storage) == noErr
    else { return false }
    // Of the encoders that are built in, the package's own.
    VTSessionSetProperty(
      session, key: kOVTCompressionPropertyKey_AllowsPartialPasses, value: kCFBooleanTrue)
    return true
  }

  func begin(_ session: VTCompressionSession) throws {
    try Self.check(VTCompressionSessionBeginPass(session, flags: [], nil))
  }

  /// Whether the pass is over this picture: a program may append more than it was asked for.
  func wants(_ time: CMTime) -> Bool { lock.withLock { current.part?.times.contains(time) ?? true } }

  func add(_ sample: CMSampleBuffer) -> AVError? {
    let (silo, isFailed) = lock.withLock {
      (current.part?.silo ?? current.silo.whole, current.part?.isFailed == true)
    }
    guard !isFailed else { return nil }
    let status = VTFrameSiloAddSampleBuffer(silo, sampleBuffer: sample)
    guard status == noErr else {
      // There is a whole movie already: a pass that was to mend it is no reason to lose it.
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

  /// Ends a pass, and begins the next one if the encoder asks for it.
  /// - Returns: The presentation times of what to encode again, ascending and apart; nil after the last pass.
  func next(_ session: VTCompressionSession) throws -> [CMTimeRange]? {
    guard try end(session) else { return nil }
    var (count, list) = (0, UnsafePointer<CMTimeRange>?.none)
    // No frame, no ranges.
    guard
      VTCompressionSessionGetTimeRangesForNextPass(
        session, timeRangeCountOut: &count, timeRangeArrayOut: &list)
        == noErr, let list
    else { return nil }
    let ranges = Array(UnsafeBufferPointer(start: list, count: count))
    // The second pass is over everything, whatever the encoder.
    if finishedCount == 1 {
      let new = Pass(silo: LayeredSilo(try Self.makeSilo(in: folder)))
      lock.withLock {
        previous = current
        current = new
      }
      try begin(session)
      return ranges
    }
    // The movie is whole. Where there is no room for another pass, it stays as it is.
    guard let shown = try? beginPart(ranges) else { return nil }
    do { try begin(session) } catch {
      _ = settlePart(isWhole: false)
      return nil
    }
    return shown
  }

  /// Ends a pass. One over parts that lack pictures is an error to the encoder; here it is one that was broken off.
  /// - Returns: Whether the encoder asks for another one.
  @discardableResult
  func end(_ session: VTCompressionSession) throws -> Bool {
    var wantsMore = DarwinBoolean(false)
    let status = VTCompressionSessionEndPass(session, furtherPassesRequestedOut: &wantsMore, nil)
    if status != noErr, lock.withLock({ current.part == nil }) { throw Self.error(status) }
    finishedCount += 1
    return settlePart(isWhole: status == noErr) && wantsMore.boolValue
  }

  /// - Parameter ranges: Decode times.
  /// - Returns: Presentation times.
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
          // Without a duration the range still has to contain the picture.
          let least = CMTime(value: 1, timescale: time.timescale)
          let duration = sample.duration.isNumeric ? max(sample.duration, least) : least
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
      // There is a whole movie: what the first pass gave is not needed any more.
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

  /// After a pass over parts: goes back to what stood there, if that was nearer to the rate, or if pictures are missing.
  /// - Returns: Whether what the pass gave was kept; true after another pass.
  private func settlePart(isWhole: Bool) -> Bool {
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

  /// All frames, in decode order: of the last pass or, if that was broken off, of the one before.
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

  /// dskFulErr is the silo's for a full disk.
  private static func error(_ status: OSStatus) -> AVError {
    AVError(
      status == -34 ? .diskFull : .encodeFailed,
      reason: "A pass of the encoding failed with error \(status).",
      advice: status == -34 ? "Free some space, or set directoryForTemporaryFiles." : nil,
      underlying: NSError(domain: NSOSStatusErrorDomain, code: Int(status)))
  }
}
