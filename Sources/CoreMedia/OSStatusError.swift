// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// The NSError that Apple's Swift members throw for a status: its code in `NSOSStatusErrorDomain`.
func osStatusError(_ status: OSStatus) -> NSError {
  NSError(domain: NSOSStatusErrorDomain, code: Int(status))
}

/// Throws the status as an NSError unless it is `noErr`.
@inline(__always)
func check(_ status: OSStatus) throws {
  if status != noErr { throw osStatusError(status) }
}
