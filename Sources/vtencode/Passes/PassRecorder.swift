// SPDX-License-Identifier: Apache-2.0
import Foundation
import VideoToolbox

/// What the passes of a run share: the encoder's statistics, and the frames of the last two passes, all on disk.
final class PassRecorder: @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  /// The frames of a pass.
  private struct Frames {
    let silo: VTFrameSilo
    /// Where a pass over parts has replaced frames: which decode times, and a silo with what was there.
    var replaced: (ranges: [CMTimeRange], frames: VTFrameSilo)?
    /// Of the pass that is under way.
    var added = 0
    var count = 0
    var bytes = 0
    var start = CMTime.positiveInfinity
    var end = CMTime.negativeInfinity

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

  /// - Parameter parent: the folder beside which everything is kept.
  init(in parent: String) throws {
    folder = try ScratchFolder(in: parent)
    var storage: VTMultiPassStorage?
    let status = VTMultiPassStorageCreate(
      allocator: kCFAllocatorDefault, fileURL: folder.url("statistics") as CFURL, timeRange: .invalid,
      options: nil, multiPassStorageOut: &storage)
    guard let storage else { throw Self.failure(status) }
    self.storage = storage
  }

  deinit { VTMultiPassStorageClose(storage) }

  /// Frames that come from now on are those of a new pass.
  func begin() throws {
    let number = lock.withLock {
      made += 1
      return made
    }
    let silo = try makeSilo("pass-\(number)")
    lock.withLock {
      before = current
      current = Frames(silo: silo)
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
    let whole = frames
    let undo = try makeSilo("pass-\(number)")
    var times = Set<CMTime>()
    for range in ranges {
      try Self.check(
        VTFrameSiloCallBlockForEachSampleBuffer(frames.silo, in: range) { sample in
          times.insert(sample.presentationTimeStamp)
          frames.bytes -= CMSampleBufferGetTotalSampleSize(sample)
          return VTFrameSiloAddSampleBuffer(undo, sampleBuffer: sample)
        })
    }
    frames.count -= times.count
    frames.replaced = (ranges, undo)
    try Self.check(Self.replace(ranges, in: frames.silo))
    frames.added = 0
    lock.withLock {
      unreplaced = whole
      current = frames
    }
    return times
  }

  private static func replace(_ ranges: [CMTimeRange], in silo: VTFrameSilo) -> OSStatus {
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
    guard let silo = lock.withLock({ current?.silo }) else { return 0 }
    let status = VTFrameSiloAddSampleBuffer(silo, sampleBuffer: sample)
    return lock.withLock {
      guard var frames = current else { return 0 }
      guard status == noErr else {
        failure = failure ?? Self.failure(status)
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

  /// Whether a frame could not be kept.
  var isFailed: Bool { lock.withLock { failure != nil } }

  /// Why a frame of the pass could not be kept.
  func check() throws { if let failure = lock.withLock({ failure }) { throw failure } }

  /// Bits a second of the pass.
  var bitRate: Double { lock.withLock { current?.bitRate ?? 0 } }

  /// Goes back to the frames of the pass before, if this one is the worse.
  func preferPassBefore() {
    lock.withLock {
      if let (ranges, frames) = current?.replaced, let silo = current?.silo {
        var status = Self.replace(ranges, in: silo)
        if status == noErr {
          status = VTFrameSiloCallBlockForEachSampleBuffer(frames, in: .invalid) {
            VTFrameSiloAddSampleBuffer(silo, sampleBuffer: $0)
          }
        }
        if status != noErr { failure = failure ?? Self.failure(status) }
        current = unreplaced
        return
      }
      if let earlier = before { current = earlier }
      before = nil
    }
  }

  /// Hands out the last pass's frames, in decode order.
  /// - Parameter body: False ends it.
  func forEach(_ body: (CMSampleBuffer) -> Bool) throws {
    let silo = lock.withLock { () -> VTFrameSilo? in
      if let current, current.count > 0 { return current.silo }
      return before?.silo
    }
    guard let silo else { return }
    var isEnough = false
    let status = VTFrameSiloCallBlockForEachSampleBuffer(silo, in: .invalid) { sample in
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
      Failure("the disk is full, and the frames of a pass are kept beside the output; free some space")
    case -36: Failure("the frames of a pass cannot be kept, or read again, beside the output (error -36)")
    default: Failure("a pass of the encoding failed (error \(status)); leave --multi-pass out")
    }
  }
}
