// SPDX-License-Identifier: Apache-2.0
import Foundation
import VideoToolbox

/// What the passes of a run share: the encoder's statistics, and the frames of the last two passes, all on disk.
final class PassRecorder: @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  /// The frames of a pass, with those of passes over parts of it.
  private struct Frames {
    var silo: LayeredSilo
    /// The part that the pass is over: which decode times, the frames that are to take their place, and why one could not be
    /// kept.
    var part: (ranges: [CMTimeRange], frames: VTFrameSilo, failure: Failure?)?
    /// Of the pass that is under way.
    var added = 0
    var count = 0
    var bytes = 0
    var start = CMTime.positiveInfinity
    var end = CMTime.negativeInfinity

    /// What has come in place of other frames stays.
    mutating func keepPart() {
      guard let (ranges, frames, _) = part else { return }
      silo.replace(ranges, with: frames)
      part = nil
    }

    var bitRate: Double {
      count > 0 && end > start ? Double(bytes) * 8 / (end - start).seconds : 0
    }
  }

  let storage: VTMultiPassStorage
  private let folder: ScratchFolder
  private let lock = Lock()
  private var current: Frames?
  private var before: Frames?
  /// What `current` said before a pass over parts.
  private var unreplaced: Frames?
  private var made = 0
  private var failure: Failure?
  /// Frames that still come are of a pass that was given up.
  private var isOver = false

  /// - Parameters:
  ///   - parent: the folder beside which everything is kept.
  ///   - learned: the file with what a first pass has learnt; nil where none was made.
  init(in parent: String, learned: String? = nil) throws {
    folder = try ScratchFolder(in: parent)
    var storage: VTMultiPassStorage?
    let place = learned.map { URL(fileURLWithPath: $0) } ?? folder.url("statistics")
    let options = [kOVTMultiPassStorageCreationOption_ReadsExisting: learned != nil]
    let status = VTMultiPassStorageCreate(
      allocator: kCFAllocatorDefault, fileURL: place as CFURL, timeRange: .invalid,
      options: options as CFDictionary, multiPassStorageOut: &storage)
    guard let storage else {
      if let learned {
        throw Failure(
          "'\(learned)', which split wrote beside the plan, cannot be used here; make the plan again")
      }
      throw Self.failure(status)
    }
    self.storage = storage
  }

  deinit { VTMultiPassStorageClose(storage) }

  /// Removes what is on disk. To be called at the end of a run, whose session may hold this for longer.
  func close() { folder.remove() }

  /// Frames that come from now on are those of a new pass.
  func begin() throws {
    let number = lock.withLock {
      made += 1
      return made
    }
    let silo = try makeSilo("pass-\(number)")
    lock.withLock {
      current?.keepPart()
      before = current
      current = Frames(silo: LayeredSilo(silo))
    }
  }

  /// Frames that come from now on take the place of those with decode times in these ranges.
  /// - Returns: The presentation times of those.
  func beginPart(_ ranges: [CMTimeRange]) throws -> Set<CMTime> {
    let number = lock.withLock {
      made += 1
      return made
    }
    guard var frames = lock.withLock({ current }) else { return [] }
    // What the last pass gave in place of others is kept by now.
    frames.keepPart()
    let whole = frames
    let silo = try makeSilo("pass-\(number)")
    try Self.check(Self.limit(silo, to: ranges))
    var times = Set<CMTime>()
    for range in ranges {
      try Self.check(
        frames.silo.forEach(in: range) { sample in
          times.insert(sample.presentationTimeStamp)
          frames.bytes -= CMSampleBufferGetTotalSampleSize(sample)
          return noErr
        })
    }
    frames.count -= times.count
    frames.part = (ranges, silo, nil)
    frames.added = 0
    lock.withLock {
      unreplaced = whole
      current = frames
    }
    return times
  }

  private static func limit(_ silo: VTFrameSilo, to ranges: [CMTimeRange]) -> OSStatus {
    ranges.withUnsafeBufferPointer {
      guard let base = $0.baseAddress else { return kVTFrameSiloInvalidTimeRangeErr }
      return VTFrameSiloSetTimeRangesForNextPass(silo, timeRangeCount: $0.count, timeRangeArray: base)
    }
  }

  private func makeSilo(_ name: String) throws -> VTFrameSilo {
    var silo: VTFrameSilo?
    let status = VTFrameSiloCreate(
      allocator: kCFAllocatorDefault, fileURL: folder.url("\(name).silo") as CFURL,
      timeRange: .invalid, options: nil, frameSiloOut: &silo)
    guard let silo else { throw Self.failure(status) }
    return silo
  }

  /// - Returns: How many frames the pass has.
  func add(_ sample: CMSampleBuffer) -> Int {
    guard let silo = lock.withLock({ isOver ? nil : current?.part?.frames ?? current?.silo.whole }) else {
      return 0
    }
    let status = VTFrameSiloAddSampleBuffer(silo, sampleBuffer: sample)
    return lock.withLock {
      guard var frames = current else { return 0 }
      guard status == noErr else {
        let problem = Self.failure(status)
        // There is a whole movie already: a pass that was to mend it is no reason to lose it.
        if frames.part == nil { failure = failure ?? problem }
        current?.part?.failure = problem
        return frames.added
      }
      let time = sample.presentationTimeStamp
      frames.count += 1
      frames.added += 1
      frames.bytes += CMSampleBufferGetTotalSampleSize(sample)
      frames.start = min(frames.start, time)
      frames.end = max(frames.end, sample.duration.isNumeric ? time + sample.duration : time)
      current = frames
      return frames.added
    }
  }

  /// Whether a pass has begun.
  var isRecording: Bool { lock.withLock { current != nil } }

  /// Whether no frame of the pass has come.
  var isEmpty: Bool { lock.withLock { current?.count ?? 0 } == 0 }

  /// Whether a frame of a whole pass could not be kept.
  var isFailed: Bool { lock.withLock { failure != nil } }

  /// Why a frame of the pass could not be kept.
  func check() throws {
    if let failure = lock.withLock({ failure ?? current?.part?.failure }) { throw failure }
  }

  /// Bits a second of the pass.
  var bitRate: Double { lock.withLock { current?.bitRate ?? 0 } }

  /// Goes back to the frames of the pass before, if this one is the worse.
  func preferPassBefore() {
    lock.withLock {
      if current?.part != nil {
        current = unreplaced
        return
      }
      if let earlier = before { current = earlier }
      before = nil
    }
  }

  /// Gives up a pass over the whole movie whose frames cannot be kept, and makes room for what is written.
  /// - Returns: False if there is no pass before it.
  func keepPassBefore() -> Bool {
    lock.withLock {
      guard let earlier = before else { return false }
      isOver = true
      (current, before, failure) = (earlier, nil, nil)
      return true
    }
  }

  /// Hands out the last pass's frames, in decode order.
  /// - Parameter body: False ends it.
  func forEach(_ body: (CMSampleBuffer) -> Bool) throws {
    let silo = lock.withLock { () -> LayeredSilo? in
      current?.keepPart()
      if let current, current.count > 0 { return current.silo }
      return before?.silo
    }
    guard let silo else { return }
    var isEnough = false
    let status = silo.forEach { sample in
      if body(sample) { return noErr }
      isEnough = true
      return kVTParameterErr
    }
    if status != noErr, !isEnough { throw Self.failure(status) }
  }

  private static func check(_ status: OSStatus) throws {
    if status != noErr { throw failure(status) }
  }

  private static func failure(_ status: OSStatus) -> Failure {
    // dskFulErr and ioErr of the silo.
    switch status {
    case -34:
      Failure(
        "the disk is full, and the frames of a pass are kept beside the output; free some space",
        lacksRoom: true)
    case -36:
      Failure(
        "cannot write the frames of a pass beside the output, or read them again (error -36); is the size of files limited?",
        lacksRoom: true)
    default:
      Failure(
        "a pass of the encoding failed (error \(status)); encode in one with --multi-pass 1, which split takes too"
      )
    }
  }
}
