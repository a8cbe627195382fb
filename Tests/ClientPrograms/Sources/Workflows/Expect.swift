// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation

/// A failed check ends the program, as a precondition would.
func expect(
  _ condition: @autoclosure () throws -> Bool, _ text: @autoclosure () -> String = "",
  file: String = #fileID, line: UInt = #line
) {
  do {
    if try condition() { return }
    print("\(file):\(line): does not hold. \(text())")
  } catch {
    print("\(file):\(line): \(error)")
  }
  exit(1)
}

func expectNoErr(_ status: OSStatus, file: String = #fileID, line: UInt = #line) {
  expect(status == noErr, "status \(status)", file: file, line: line)
}
