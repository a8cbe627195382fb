// SPDX-License-Identifier: Apache-2.0
import CSRTP

/// Memory for a key that is overwritten before it is freed, so that the key does not remain in
/// memory that is allocated later, or in a core dump.
package final class KeyBytes: @unchecked Sendable {
  // Sendable: the memory does not change after `init`.
  private let memory: UnsafeMutableRawBufferPointer

  /// - Parameters:
  ///   - count: the size in bytes.
  ///   - fill: writes the key; returns false if it cannot, which makes the result nil.
  package init?(count: Int, _ fill: (UnsafeMutablePointer<UInt8>) -> Bool) {
    memory = .allocate(byteCount: count, alignment: 16)
    memory.initializeMemory(as: UInt8.self, repeating: 0)
    guard let base = memory.bindMemory(to: UInt8.self).baseAddress, fill(base) else { return nil }
  }

  /// Copies a key. The caller remains responsible for overwriting the original.
  package convenience init(_ bytes: [UInt8]) {
    // The allocation must not be empty; callers pass keys of a fixed size that is not 0.
    self.init(count: max(bytes.count, 1)) { target in
      target.update(from: bytes, count: bytes.count)
      return true
    }!
  }

  deinit {
    Self.wipe(memory)
    memory.deallocate()
  }

  package var count: Int { memory.count }

  package func withBytes<Result>(_ body: (UnsafeMutablePointer<UInt8>) -> Result) -> Result? {
    memory.bindMemory(to: UInt8.self).baseAddress.map(body)
  }

  /// Overwrites memory in a way that compilers do not optimise away.
  package static func wipe(_ memory: UnsafeMutableRawBufferPointer) {
    ovt_wipe(memory.baseAddress, memory.count)
  }

  package static func wipe(_ bytes: inout [UInt8]) { bytes.withUnsafeMutableBytes { wipe($0) } }
}
