// SPDX-License-Identifier: Apache-2.0
import Foundation

nonisolated(unsafe) private var failures = 0

/// Prints what does not hold.
func check(_ condition: Bool, _ text: String, line: UInt = #line, file: String = #fileID) {
  if condition { return }
  failures += 1
  print("\(file):\(line): \(text)")
}

func finish() -> Never {
  print(failures == 0 ? "names: all hold" : "names: \(failures) do not hold")
  exit(failures == 0 ? 0 : 1)
}
