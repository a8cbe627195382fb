// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox

/// A block of C that a closure keeps.
final class Block: @unchecked Sendable {
  // Sendable: immutable. A caller who passes a block to a function that calls it on other threads
  // must ensure that the block allows that.
  let pointer: UnsafeMutableRawPointer

  /// - Parameter block: A block, which is copied; null gives nil.
  init?(_ block: UnsafeRawPointer?) {
    guard let block, let copy = OVTBlockCopy(block) else { return nil }
    pointer = copy
  }

  deinit { OVTBlockRelease(pointer) }
}

/// A pointer of C that is passed to a callback as it came.
struct Refcon: @unchecked Sendable {
  // Sendable: the block belongs to C, which decides from which threads it is called.
  let pointer: UnsafeMutableRawPointer?
}
