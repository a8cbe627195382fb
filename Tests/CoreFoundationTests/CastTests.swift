// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Testing

@Suite struct CastTests {
  @Test func literalsBecomeObjects() {
    let number = 30 as CFNumber
    let text = "key" as CFString
    let truth = true as CFBoolean
    #expect(number.intValue == 30)
    #expect(text as String == "key")
    #expect(truth.boolValue)
    #expect(kCFBooleanTrue.boolValue && !kCFBooleanFalse.boolValue)
    #expect((true as CFTypeRef) as? Bool == true)
  }

  @Test func dictionariesRoundTrip() {
    let key: CFString = "a"
    let nested: CFString = "b"
    let dictionary = [key: 1, nested: [key: true] as [CFString: Any]] as [CFString: Any] as CFDictionary
    let back = dictionary as? [CFString: Any]
    #expect(back?[key] as? Int == 1)
    #expect((back?[nested] as? [CFString: Any])?[key] as? Bool == true)
    #expect((dictionary as? [String: Any])?["a"] as? CFNumber == 1)
  }
}
