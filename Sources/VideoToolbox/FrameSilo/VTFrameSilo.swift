// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation

/// Stores the compressed frames of a movie that is encoded in several passes in a file, so that
/// hours of them need little memory.
///
/// Each pass adds frames in decode order. A pass after the first begins with the time ranges that
/// it encodes again (`VTFrameSiloSetTimeRangesForNextPass`), whose frames are removed; all others
/// stay unchanged.
///
/// All functions may be called from any thread. docs/frame-silo.md describes the file.
public final class VTFrameSilo: CFRuntimeObject, @unchecked Sendable, Hashable {
  // Sendable: `lock` guards `file`, `pass` and `failure`.
  package static let cfTypeID = CFRuntimeRegister("VTFrameSilo")

  private let lock = Lock()
  private let file: SiloFile
  private var pass: SiloPass
  /// The error with which the file has lost frames; all further accesses fail with it.
  private var failure: SiloError?
  /// Whether the file stays when the silo is released.
  private let isKept: Bool

  init(file: SiloFile, pass: SiloPass, isKept: Bool) {
    (self.file, self.pass, self.isKept) = (file, pass, isKept)
  }

  deinit { if isKept, failure == nil { try? file.save(pass) } }

  // MARK: - Beyond Apple's functions

  /// The decode time of the frame that the current pass added last; invalid if the pass has no
  /// frame yet. A program that opens the silo of an earlier run
  /// (`kOVTFrameSiloCreationOption_OpenExisting`) continues after it: that run may have ended
  /// before its last frames were committed.
  public var lastDecodeTimeStamp: CMTime { lock.withLock { pass.lastDecodeTime } }

  /// The number of the current pass, from 1.
  public var passNumber: Int { lock.withLock { pass.number } }

  /// The time ranges that the current pass adds frames to; for the first pass, the range that the
  /// silo was created with.
  public var timeRangesOfCurrentPass: [CMTimeRange] { lock.withLock { pass.ranges.map(\.range) } }

  /// Commits all frames that were added to the file, so that they survive a crash of the process
  /// and, where the file is kept, of the machine. Otherwise up to 120 frames may be missing after a
  /// crash, or when a silo whose file is kept is released while the disk is full: call this before
  /// to get the error.
  /// - Throws: `NSError` of `NSOSStatusErrorDomain`: dskFulErr (-34), ioErr (-36).
  public func synchronize() throws {
    do {
      try access { file, pass throws(SiloError) in try file.save(pass) }
    } catch {
      throw NSError(domain: NSOSStatusErrorDomain, code: Int(error.status))
    }
  }

  // MARK: - What the functions do

  func add(_ frame: SiloFrame) throws(SiloError) {
    try access { file, pass throws(SiloError) in
      var next = pass
      try next.append(frame)
      try file.add(frame, pass: next)
      pass = next
    }
  }

  func beginPass(_ ranges: [DecodeTimeRange]) throws(SiloError) {
    try access { file, pass throws(SiloError) in
      let next = SiloPass(ranges: ranges, number: pass.number + 1)
      try file.remove(ranges, beginning: next, after: pass)
      pass = next
    }
  }

  /// The progress of the pass, from 0 to 1; nil where its ranges are unknown.
  func progress() -> Float32? {
    lock.withLock {
      guard !pass.ranges.isEmpty else { return nil }
      return pass.lastEnd.isValid ? Float32(pass.ranges.progress(at: pass.lastEnd)) : 0
    }
  }

  /// Calls a closure with each frame, in decode order. The lock is not held meanwhile, so that the
  /// closure may use the silo.
  func forEach(in range: DecodeTimeRange?, _ body: (CMSampleBuffer) -> OSStatus) throws(SiloError) {
    var last: DecodeTimeKey?
    while true {
      let next = try access { file, _ throws(SiloError) in
        try file.frame(from: last ?? range?.start, including: last == nil, to: range?.end)
      }
      guard let next else { return }
      last = next.key
      let status = body(next.buffer)
      guard status == noErr else { throw SiloError(status) }
    }
  }

  /// Runs a closure with the file and the pass, under `lock`.
  private func access<R>(
    _ body: (SiloFile, inout SiloPass) throws(SiloError) -> R
  ) throws(SiloError) -> R {
    try lock.withLock { () throws(SiloError) -> R in
      if let failure { throw failure }
      do throws(SiloError) {
        return try body(file, &pass)
      } catch {
        if file.hasLostFrames {
          // A caller that continued would leave a gap in the movie unnoticed, so all further
          // accesses fail.
          failure = error
          if let saved = try? file.savedPass() {
            pass = saved
          } else {
            (pass.lastDecodeTime, pass.lastEnd) = (.invalid, .invalid)
          }
        }
        throw error
      }
    }
  }

  public static func == (a: VTFrameSilo, b: VTFrameSilo) -> Bool { a === b }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
