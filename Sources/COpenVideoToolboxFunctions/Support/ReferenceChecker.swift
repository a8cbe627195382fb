// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import Glibc
import Synchronization

/// Finds references that a C program gives up without owning them, where `OVT_CHECK_REFERENCES=1`
/// is in its environment, and in debug builds.
///
/// It counts the references of C to each object of this package, and stops the program at the call
/// that gives up one too many. So that the memory is not used again at once, objects stay for a
/// while after their last reference.
final class ReferenceChecker: Sendable {
  static let shared = ReferenceChecker()

  static let isOn: Bool = {
    let wish = getenv("OVT_CHECK_REFERENCES").map { String(cString: $0) }
    #if DEBUG
      return wish != "0"
    #else
      return wish.map { !$0.isEmpty && $0 != "0" } ?? false
    #endif
  }()

  /// How many objects stay after their last reference.
  private static let quarantineSize = 64

  private struct State {
    /// C's references to each object that it was given, and that is alive or stays.
    var references: [UnsafeRawPointer: Int] = [:]
    var quarantine: [UnsafeRawPointer] = []
  }

  private let state = Mutex(State())

  /// Records that C was given an object.
  /// - Parameter owned: Whether it owns a reference.
  func give(_ pointer: UnsafeRawPointer, owned: Bool) {
    let bits = UInt(bitPattern: pointer)
    let isNew = state.withLock { state -> Bool in
      guard let pointer = UnsafeRawPointer(bitPattern: bits) else { return false }
      let known = state.references[pointer]
      state.references[pointer] = (known ?? 0) + (owned ? 1 : 0)
      return known == nil
    }
    // The object is retained as long as it is in the list.
    if isNew {
      OVTRealRetain(pointer)
      if !owned { addToQuarantine(pointer) }
    }
  }

  /// Records that C code has retained an object.
  func retain(_ pointer: UnsafeRawPointer) {
    let bits = UInt(bitPattern: pointer)
    state.withLock { state in
      guard let pointer = UnsafeRawPointer(bitPattern: bits), state.references[pointer] != nil else { return }
      state.references[pointer, default: 0] += 1
    }
  }

  /// Records that C code has released a reference.
  func release(_ pointer: UnsafeRawPointer) {
    let bits = UInt(bitPattern: pointer)
    let left = state.withLock { state -> Int? in
      guard let pointer = UnsafeRawPointer(bitPattern: bits), let count = state.references[pointer] else {
        return nil
      }
      state.references[pointer] = count - 1
      return count - 1
    }
    guard let left else { return }
    if left < 0 {
      let name = OVTDescriptionForChecker(pointer)
      OVTWriteError(
        "OpenVideoToolbox: a reference was released that the program does not own: \(name)\n")
      abort()
    }
    if left == 0 { addToQuarantine(pointer) }
  }

  /// Adds an object without references to the quarantine. If the quarantine is full, its oldest
  /// object is released, unless it has references again.
  private func addToQuarantine(_ pointer: UnsafeRawPointer) {
    let bits = UInt(bitPattern: pointer)
    let leaving = state.withLock { state -> UInt? in
      guard let pointer = UnsafeRawPointer(bitPattern: bits) else { return nil }
      state.quarantine.append(pointer)
      guard state.quarantine.count > Self.quarantineSize else { return nil }
      let oldest = state.quarantine.removeFirst()
      // The object may have references again, or be in the quarantine a second time.
      guard state.references[oldest] == 0, !state.quarantine.contains(oldest) else { return nil }
      state.references[oldest] = nil
      return UInt(bitPattern: oldest)
    }
    if let leaving, let pointer = UnsafeRawPointer(bitPattern: leaving) { OVTRealRelease(pointer) }
  }
}

/// An object in words, for the message of the checker.
func OVTDescriptionForChecker(_ pointer: UnsafeRawPointer) -> String {
  guard let object = FromC.object(pointer) else { return "null" }
  return "\(type(of: object)) at \(pointer)"
}
