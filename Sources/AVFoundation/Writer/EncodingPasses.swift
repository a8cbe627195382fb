// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What the passes of an encoder share: what it has learnt, and the frames of the last two, all on disk.
///
/// Passes are over all frames, into a silo each: the program may have enough in the middle of one, and what the pass before
/// gave is then the movie.
final class EncodingPasses: @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  private struct Pass {
    let silo: VTFrameSilo
    var frameCount = 0
  }

  private let storage: VTMultiPassStorage
  private let folder: URL?
  private let lock = Lock()
  private var current: Pass
  private var previous: Pass?

  /// - Parameter folder: For the files; nil takes the system's.
  /// - Throws: `AVError` where there can be no files.
  init(in folder: URL?) throws {
    var storage: VTMultiPassStorage?
    let status = VTMultiPassStorageCreate(
      allocator: kCFAllocatorDefault, fileURL: Self.url("stats", in: folder), timeRange: .invalid,
      options: nil,
      multiPassStorageOut: &storage)
    guard let storage else { throw Self.error(status) }
    self.storage = storage
    self.folder = folder
    current = Pass(silo: try Self.makeSilo(in: folder))
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
    VTSessionSetProperty(session, key: kVTCompressionPropertyKey_MultiPassStorage, value: storage) == noErr
  }

  func begin(_ session: VTCompressionSession) throws {
    try Self.check(VTCompressionSessionBeginPass(session, flags: [], nil))
  }

  func add(_ sample: CMSampleBuffer) -> AVError? {
    let silo = lock.withLock { current.silo }
    let status = VTFrameSiloAddSampleBuffer(silo, sampleBuffer: sample)
    guard status == noErr else { return Self.error(status) }
    lock.withLock { current.frameCount += 1 }
    return nil
  }

  /// Ends a pass, and begins the next one if the encoder asks for it.
  /// - Returns: What to encode again; nil after the last pass.
  func next(_ session: VTCompressionSession) throws -> [CMTimeRange]? {
    var wantsMore = DarwinBoolean(false)
    try Self.check(VTCompressionSessionEndPass(session, furtherPassesRequestedOut: &wantsMore, nil))
    guard wantsMore.boolValue else { return nil }
    var (count, list) = (0, UnsafePointer<CMTimeRange>?.none)
    // No frame, no ranges.
    guard
      VTCompressionSessionGetTimeRangesForNextPass(
        session, timeRangeCountOut: &count, timeRangeArrayOut: &list)
        == noErr, let list
    else { return nil }
    let ranges = Array(UnsafeBufferPointer(start: list, count: count))
    let new = Pass(silo: try Self.makeSilo(in: folder))
    lock.withLock {
      previous = current
      current = new
    }
    try begin(session)
    return ranges
  }

  /// All frames, in decode order: of the last pass or, if that was broken off, of the one before.
  func forEach(_ body: (CMSampleBuffer) -> Void) throws {
    let silo = lock.withLock {
      guard let previous, previous.frameCount > current.frameCount else { return current.silo }
      return previous.silo
    }
    try Self.check(
      VTFrameSiloCallBlockForEachSampleBuffer(silo, in: .invalid) {
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
