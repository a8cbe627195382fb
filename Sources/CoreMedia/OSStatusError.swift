// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// Returns the error that Apple's Swift members throw for a status: an `NSError` with its code in
/// `NSOSStatusErrorDomain`.
func osStatusError(_ status: OSStatus) -> NSError {
  NSError(domain: NSOSStatusErrorDomain, code: Int(status))
}

/// Throws an `NSError` for a status other than `noErr`.
@inline(__always)
func check(_ status: OSStatus) throws {
  if status != noErr { throw osStatusError(status) }
}
