// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation

/// Compressed frames of a movie that is encoded in several passes, on disk, so that hours of them need little memory.
///
/// Each pass adds frames in decode order. A pass after the first begins with the time ranges that it encodes anew
/// (`VTFrameSiloSetTimeRangesForNextPass`), whose frames go; all others stay as they are, to the bit.
///
/// All functions may be called from any thread. The file's layout is told in docs/frame-silo.md.
public final class VTFrameSilo: CFRuntimeObject, @unchecked Sendable, Hashable {
  // Sendable: `lock` guards what changes.
  package static let cfTypeID = CFRuntimeRegister("VTFrameSilo")

  private let lock = Lock()
  private let file: SiloFile
  private var pass: SiloPass
  /// What the file came to: nothing more goes in or out.
  private var failure: SiloError?
  private let isKept: Bool

  init(file: SiloFile, pass: SiloPass, isKept: Bool) {
    (self.file, self.pass, self.isKept) = (file, pass, isKept)
  }

  deinit { if isKept, failure == nil { try? file.save(pass) } }

  // MARK: - Beyond Apple's functions

  /// The decode time of the frame that the current pass added last: where a run goes on that opened the silo of another
  /// (`kOVTFrameSiloCreationOption_OpenExisting`), which may have ended before its last frames were safe. Invalid if
  /// the pass has no frame yet.
  public var lastDecodeTimeStamp: CMTime { lock.withLock { pass.lastDecodeTime } }

  /// Which pass it is, from 1.
  public var passNumber: Int { lock.withLock { pass.number } }

  /// The time ranges that the current pass fills; those of the first are the silo's own.
  public var timeRangesOfCurrentPass: [CMTimeRange] { lock.withLock { pass.ranges.map(\.range) } }

  /// Makes all frames that were added safe from a crash of the process, and where the silo is kept, of the machine.
  /// Without it the last 120 of a run that crashes may be missing, and so may those of a silo that is kept and that goes
  /// away when the disk is full: call it before, to see the error.
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

  /// From 0 to 1; nil where the ranges of the pass are unknown.
  func progress() -> Float32? {
    lock.withLock {
      guard !pass.ranges.isEmpty else { return nil }
      return pass.lastEnd.isValid ? Float32(pass.ranges.progress(at: pass.lastEnd)) : 0
    }
  }

  /// Gives each frame to `body`, without holding the lock meanwhile: frames may be added by it.
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

  private func access<R>(
    _ body: (SiloFile, inout SiloPass) throws(SiloError) -> R
  ) throws(SiloError) -> R {
    try lock.withLock { () throws(SiloError) -> R in
      if let failure { throw failure }
      do throws(SiloError) {
        return try body(file, &pass)
      } catch {
        if file.hasLostFrames {
          // A caller that went on would leave a hole that nobody sees.
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
