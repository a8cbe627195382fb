// SPDX-License-Identifier: Apache-2.0
import Foundation
import VideoToolbox

/// Holds the results of a run's passes on disk: the encoder's statistics, and the frames of the
/// last two passes.
final class PassRecorder: @unchecked Sendable {
  // Sendable: `lock` guards the mutable state.
  /// The frames of a pass, including those that passes over parts have replaced.
  private struct Frames {
    var silo: LayeredSilo
    /// The current pass over parts: its ranges of decode times, its frames, and the error if one of
    /// them could not be stored.
    var part: (ranges: [CMTimeRange], frames: VTFrameSilo, failure: Failure?)?
    /// The number of frames that the current pass has added.
    var added = 0
    var count = 0
    var bytes = 0
    var start = CMTime.positiveInfinity
    var end = CMTime.negativeInfinity

    /// Replaces the frames in the part's ranges with its own.
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
  /// The state of `current` before a pass over parts.
  private var unreplaced: Frames?
  private var made = 0
  private var failure: Failure?
  /// Whether the current pass was given up, so that further frames are ignored.
  private var isFinished = false

  /// - Parameters:
  ///   - parent: the folder in which the temporary files are created.
  ///   - learned: the file with the statistics of a first pass; nil if none was made.
  /// - Throws: a `Failure` if the files cannot be created, or `learned` cannot be read.
  init(in parent: String, learned: String? = nil) throws {
    folder = try ScratchFolder(in: parent)
    var storage: VTMultiPassStorage?
    let statisticsURL = learned.map { URL(fileURLWithPath: $0) } ?? folder.url("statistics")
    let options = [kOVTMultiPassStorageCreationOption_ReadsExisting: learned != nil]
    let status = VTMultiPassStorageCreate(
      allocator: kCFAllocatorDefault, fileURL: statisticsURL as CFURL, timeRange: .invalid,
      options: options as CFDictionary, multiPassStorageOut: &storage)
    guard let storage else {
      if let learned {
        throw Failure(
          "'\(learned)', which split wrote next to the plan, cannot be used here; make the plan again")
      }
      throw Self.failure(status)
    }
    self.storage = storage
  }

  deinit { VTMultiPassStorageClose(storage) }

  /// Removes the files. It is called at the end of a run, because the session may hold this object
  /// for longer.
  func close() { folder.remove() }

  /// Begins a pass over the whole movie.
  /// - Throws: a `Failure` if there is no room for its frames.
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

  /// Begins a pass whose frames replace those with decode times in the ranges.
  /// - Returns: the presentation times of the frames to replace.
  /// - Throws: a `Failure` if the frames cannot be stored or read.
  func beginPart(_ ranges: [CMTimeRange]) throws -> Set<CMTime> {
    let number = lock.withLock {
      made += 1
      return made
    }
    guard var frames = lock.withLock({ current }) else { return [] }
    // The frames of the previous pass over parts have been accepted by now.
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

  /// Stores a frame of the current pass.
  /// - Returns: the number of frames that the pass has so far.
  func add(_ sample: CMSampleBuffer) -> Int {
    guard let silo = lock.withLock({ isFinished ? nil : current?.part?.frames ?? current?.silo.whole }) else {
      return 0
    }
    let status = VTFrameSiloAddSampleBuffer(silo, sampleBuffer: sample)
    return lock.withLock {
      guard var frames = current else { return 0 }
      guard status == noErr else {
        let problem = Self.failure(status)
        // A complete movie exists already, so the failure of a pass over parts does not end the
        // run.
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

  /// Whether the pass has no frame yet.
  var isEmpty: Bool { lock.withLock { current?.count ?? 0 } == 0 }

  /// Whether a frame of a pass over the whole movie could not be stored.
  var isFailed: Bool { lock.withLock { failure != nil } }

  /// Throws the reason why a frame of the current pass could not be stored, if there is one.
  func check() throws {
    if let failure = lock.withLock({ failure ?? current?.part?.failure }) { throw failure }
  }

  /// The average bit rate of the pass, in bits a second.
  var bitRate: Double { lock.withLock { current?.bitRate ?? 0 } }

  /// Returns to the frames of the previous pass, because those of the current one are worse.
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

  /// Gives up a pass over the whole movie whose frames cannot be stored, which frees its room for
  /// the output.
  /// - Returns: false if there is no previous pass.
  func keepPassBefore() -> Bool {
    lock.withLock {
      guard let earlier = before else { return false }
      isFinished = true
      (current, before, failure) = (earlier, nil, nil)
      return true
    }
  }

  /// Calls `body` with the resulting frames in decode order.
  /// - Parameter body: returns false to stop.
  /// - Throws: a `Failure` if the frames cannot be read.
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
    // dskFulErr (-34) and ioErr (-36) come from the silo.
    switch status {
    case -34:
      Failure(
        "the disk is full, and the frames of a pass are kept next to the output; free some space",
        lacksRoom: true)
    case -36:
      Failure(
        "cannot write the frames of a pass next to the output, or read them again (error -36); is the size of files limited?",
        lacksRoom: true)
    default:
      Failure(
        "a pass of the encoding failed (error \(status)); encode in one pass with --multi-pass 1, also an "
          + "option of split"
      )
    }
  }
}
