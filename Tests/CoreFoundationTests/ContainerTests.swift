// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Testing

/// The object stays for good: optimised code lets go of what it has seen the last of, and a pointer
/// keeps nothing.
private func pointer(_ object: AnyObject) -> UnsafeMutableRawPointer {
  Unmanaged.passRetained(object).toOpaque()
}

private final class UnbridgedObject {}

@Suite struct ContainerTests {
  @Test func attachmentIdiom() throws {
    let key: CFString = "DisplayImmediately"
    let attachments = [NSMutableDictionary()] as CFArray
    let dictionary = unsafeBitCast(CFArrayGetValueAtIndex(attachments, 0), to: CFMutableDictionary.self)
    CFDictionarySetValue(dictionary, pointer(key), pointer(kCFBooleanTrue))
    let again = unsafeBitCast(CFArrayGetValueAtIndex(attachments, 0), to: CFDictionary.self)
    #expect(again === dictionary)
    let value = try #require(CFDictionaryGetValue(again, pointer(key)))
    #expect(CFEqual(unsafeBitCast(value, to: CFBoolean.self), kCFBooleanTrue))
    #expect((attachments as? [[CFString: Any]])?.first?[key] as? Bool == true)
  }

  @Test func dictionaryFromPointers() throws {
    var keys: [UnsafeRawPointer?] = []
    var values: [UnsafeRawPointer?] = []
    let names = ["a", "b", "c"].map { $0 as CFString }
    let numbers = [1, 2, 3].map { $0 as CFNumber }
    for i in 0..<3 {
      keys.append(pointer(names[i]))
      values.append(pointer(numbers[i]))
    }
    let made = try #require(
      CFDictionaryCreate(
        kCFAllocatorDefault, &keys, &values, 3, &kCFTypeDictionaryKeyCallBacks,
        &kCFTypeDictionaryValueCallBacks))
    #expect(CFDictionaryGetCount(made) == 3)
    #expect(made as? [String: Int] == ["a": 1, "b": 2, "c": 3])
    // Another string with the same text is the same key.
    let other = String(["b"] as [Character]) as CFString
    #expect(CFDictionaryContainsKey(made, pointer(other)))
    let two = 2.0 as CFNumber
    withExtendedLifetime(two) { #expect(CFDictionaryContainsValue(made, pointer(two))) }
    var foundKeys = [UnsafeRawPointer?](repeating: nil, count: 3)
    var foundValues = foundKeys
    CFDictionaryGetKeysAndValues(made, &foundKeys, &foundValues)
    for (key, value) in zip(foundKeys, foundValues) {
      #expect(CFDictionaryGetValue(made, key) == value)
    }
  }

  @Test func dictionaryChanges() throws {
    let dictionary = try #require(
      CFDictionaryCreateMutable(nil, 0, &kCFTypeDictionaryKeyCallBacks, &kCFTypeDictionaryValueCallBacks))
    let (key, one, two) = ("key" as CFString, 1 as CFNumber, 2 as CFNumber)
    CFDictionaryReplaceValue(dictionary, pointer(key), pointer(one))
    #expect(CFDictionaryGetCount(dictionary) == 0)
    CFDictionaryAddValue(dictionary, pointer(key), pointer(one))
    CFDictionaryAddValue(dictionary, pointer(key), pointer(two))
    #expect(dictionary["key"] as? Int == 1)
    CFDictionaryReplaceValue(dictionary, pointer(key), pointer(two))
    #expect(dictionary["key"] as? Int == 2)
    let copy = try #require(CFDictionaryCreateCopy(nil, dictionary))
    CFDictionaryRemoveValue(dictionary, pointer(key))
    #expect(CFDictionaryGetValue(dictionary, pointer(key)) == nil)
    var found: UnsafeRawPointer?
    #expect(CFDictionaryGetValueIfPresent(copy, pointer(key), &found))
    #expect(found.map { unsafeBitCast($0, to: CFNumber.self).intValue } == 2)
    CFDictionaryRemoveAllValues(dictionary)
    #expect(dictionary.count == 0)
  }

  @Test func objectsThatAreNotFoundations() throws {
    let unbridged = UnbridgedObject()
    let array = [unbridged] as CFArray
    #expect(CFArrayGetValueAtIndex(array, 0) == UnsafeRawPointer(pointer(unbridged)))
    let dictionary = try #require(
      CFDictionaryCreateMutable(nil, 0, &kCFTypeDictionaryKeyCallBacks, &kCFTypeDictionaryValueCallBacks))
    let key: CFString = "key"
    CFDictionarySetValue(dictionary, pointer(key), pointer(unbridged))
    #expect(CFDictionaryGetValue(dictionary, pointer(key)) == UnsafeRawPointer(pointer(unbridged)))
    #expect(dictionary["key"] as? UnbridgedObject === unbridged)
  }

  @Test func plainPointers() throws {
    let array = try #require(CFArrayCreateMutable(nil, 0, nil))
    CFArrayAppendValue(array, UnsafeRawPointer(bitPattern: 0x1001))
    CFArrayAppendValue(array, UnsafeRawPointer(bitPattern: 7))
    CFArrayInsertValueAtIndex(array, 1, nil)
    #expect(CFArrayGetCount(array) == 3)
    #expect(CFArrayGetValueAtIndex(array, 0) == UnsafeRawPointer(bitPattern: 0x1001))
    #expect(CFArrayGetFirstIndexOfValue(array, CFRangeMake(0, 3), UnsafeRawPointer(bitPattern: 7)) == 2)
    let dictionary = try #require(CFDictionaryCreateMutable(nil, 0, nil, nil))
    CFDictionarySetValue(dictionary, UnsafeRawPointer(bitPattern: 5), UnsafeRawPointer(bitPattern: 9))
    let copy = try #require(CFDictionaryCreateCopy(nil, dictionary))
    #expect(CFDictionaryGetValue(copy, UnsafeRawPointer(bitPattern: 5)) == UnsafeRawPointer(bitPattern: 9))
    #expect(!CFDictionaryContainsKey(copy, UnsafeRawPointer(bitPattern: 6)))
  }

  @Test func arrayChanges() throws {
    let array = try #require(CFArrayCreateMutable(nil, 0, &kCFTypeArrayCallBacks))
    let texts = ["a", "b", "c", "d"].map { $0 as CFString }
    for text in texts { CFArrayAppendValue(array, pointer(text)) }
    CFArraySetValueAtIndex(array, 1, pointer(texts[3]))
    CFArrayRemoveValueAtIndex(array, 0)
    CFArrayAppendArray(array, array.copy() as? CFArray, CFRangeMake(1, 1))
    #expect(array as? [String] == ["d", "c", "d", "c"])
    #expect(CFArrayContainsValue(array, CFRangeMake(0, 4), pointer(texts[2])))
    // Out of range: nothing happens.
    CFArrayRemoveValueAtIndex(array, 9)
    CFArrayInsertValueAtIndex(array, -1, pointer(texts[0]))
    #expect(CFArrayGetValueAtIndex(array, 4) == nil)
    #expect(CFArrayGetCount(array) == 4)
  }
}

@Suite struct ByteOrderTests {
  @Test func ordersOfBytes() {
    #expect(CFSwapInt32(0x0102_0304) == 0x0403_0201)
    #expect(CFSwapInt16(0x0102) == 0x0201)
    #expect(CFSwapInt64(0x0102_0304_0506_0708) == 0x0807_0605_0403_0201)
    withUnsafeBytes(of: CFSwapInt32HostToBig(0x0102_0304)) { #expect(Array($0) == [1, 2, 3, 4]) }
    withUnsafeBytes(of: CFSwapInt16HostToLittle(0x0102)) { #expect(Array($0) == [2, 1]) }
    let read: [UInt8] = [0, 0, 1, 2]
    #expect(read.withUnsafeBytes { CFSwapInt32BigToHost($0.loadUnaligned(as: UInt32.self)) } == 258)
    #expect(CFSwapInt64LittleToHost(CFSwapInt64HostToLittle(7)) == 7)
  }

  @Test func valuesByKey() {
    let dictionary = NSMutableDictionary()
    dictionary.setValue(kCFBooleanTrue, forKey: "a")
    #expect(dictionary.value(forKey: "a") as? Bool == true)
    dictionary.setValue(nil, forKey: "a")
    #expect(dictionary.count == 0 && dictionary.value(forKey: "a") == nil)
    #expect(autoreleasepool { 3 } == 3)
  }
}
