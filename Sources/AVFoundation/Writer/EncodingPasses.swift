// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What the passes of an encoder share: what it has learnt, and the frames so far, both on disk.
///
/// Not for two threads at a time, but for `add`, which the encoder's thread calls.
final class EncodingPasses: @unchecked Sendable {
  // Sendable: both are.
  private let storage: VTMultiPassStorage
  private let silo: VTFrameSilo

  /// - Parameter folder: For the files; nil takes the system's.
  /// - Throws: `AVError(.fileFailedToParse)`'s kin where there can be no files.
  init(in folder: URL?) throws {
    var (storage, silo) = (VTMultiPassStorage?.none, VTFrameSilo?.none)
    func url(_ kind: String) -> URL? { folder?.appendingPathComponent("\(UUID().uuidString).\(kind)") }
    let first = VTMultiPassStorageCreate(
      allocator: kCFAllocatorDefault, fileURL: url("stats").map { $0 as CFURL }, timeRange: .invalid,
      options: nil,
      multiPassStorageOut: &storage)
    let second = VTFrameSiloCreate(
      allocator: kCFAllocatorDefault, fileURL: url("silo").map { $0 as CFURL }, timeRange: .invalid,
      options: nil,
      frameSiloOut: &silo)
    guard let storage, let silo else { throw Self.error(first == noErr ? second : first) }
    (self.storage, self.silo) = (storage, silo)
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
    let status = VTFrameSiloAddSampleBuffer(silo, sampleBuffer: sample)
    return status == noErr ? nil : Self.error(status)
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
    try Self.check(VTFrameSiloSetTimeRangesForNextPass(silo, timeRangeCount: count, timeRangeArray: list))
    let ranges = Array(UnsafeBufferPointer(start: list, count: count))
    try begin(session)
    return ranges
  }

  /// All frames, in decode order.
  func forEach(_ body: (CMSampleBuffer) -> Void) throws {
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
