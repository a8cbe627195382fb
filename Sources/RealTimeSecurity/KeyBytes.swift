// SPDX-License-Identifier: Apache-2.0
import CSRTP

/// A key in memory that is overwritten when nobody needs it any more, so that it does not lie about in what the process
/// allocates next, or in a dump of it.
final class KeyBytes: @unchecked Sendable {
  // Sendable: nothing changes after it was made.
  private let memory: UnsafeMutableRawBufferPointer

  /// - Parameter fill: writes the key; false if it cannot.
  init?(count: Int, _ fill: (UnsafeMutablePointer<UInt8>) -> Bool) {
    memory = .allocate(byteCount: count, alignment: 16)
    memory.initializeMemory(as: UInt8.self, repeating: 0)
    guard let base = memory.bindMemory(to: UInt8.self).baseAddress, fill(base) else { return nil }
  }

  /// A copy; the original is the caller's to wipe.
  convenience init(_ bytes: [UInt8]) {
    // A key of no bytes is none, and nobody makes one.
    self.init(count: max(bytes.count, 1)) { target in
      target.update(from: bytes, count: bytes.count)
      return true
    }!
  }

  deinit {
    Self.wipe(memory)
    memory.deallocate()
  }

  var count: Int { memory.count }

  func withBytes<Result>(_ body: (UnsafeMutablePointer<UInt8>) -> Result) -> Result? {
    memory.bindMemory(to: UInt8.self).baseAddress.map(body)
  }

  /// Overwrites memory in a way that no compiler leaves out.
  static func wipe(_ memory: UnsafeMutableRawBufferPointer) { ovt_wipe(memory.baseAddress, memory.count) }

  static func wipe(_ bytes: inout [UInt8]) { bytes.withUnsafeMutableBytes { wipe($0) } }
}
