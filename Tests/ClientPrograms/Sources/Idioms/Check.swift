// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The number of failures, counted as other people's test libraries do it.
final class Checks: @unchecked Sendable {
  static let shared = Checks()
  private let lock = NSLock()
  private var failed = 0
  private var total = 0

  func record(_ passed: Bool, _ text: String, _ file: String, _ line: UInt) {
    lock.lock()
    defer { lock.unlock() }
    total += 1
    if !passed {
      failed += 1
      print("\(file):\(line): \(text)")
    }
  }

  func summary() -> (total: Int, failed: Int) {
    lock.lock()
    defer { lock.unlock() }
    return (total, failed)
  }
}

func check(_ condition: Bool, _ text: String = "", file: String = #fileID, line: UInt = #line) {
  Checks.shared.record(condition, text, file, line)
}

func checkEqual<T: Equatable>(_ a: T, _ b: T, file: String = #fileID, line: UInt = #line) {
  Checks.shared.record(a == b, "\(a) is not \(b)", file, line)
}

func checkThrows(_ code: Int32? = nil, file: String = #fileID, line: UInt = #line, _ body: () throws -> Void)
{
  do {
    try body()
    Checks.shared.record(false, "nothing was thrown", file, line)
  } catch {
    let error = error as NSError
    Checks.shared.record(
      code == nil || error.code == Int(code!) && error.domain == NSOSStatusErrorDomain, "\(error)", file, line
    )
  }
}
