// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Foundation
import Testing
import TestSupport

/// The functions that the idioms of the other tests do not come by.
@Suite struct FunctionTests {
  @Test func arrays() throws {
    let objects: [NSNumber] = [1, 2, 3]
    var pointers = objects.map {
      UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) as UnsafeRawPointer?
    }
    let array = try #require(
      pointers.withUnsafeMutableBufferPointer { CFArrayCreate(nil, $0.baseAddress, 3, nil) } as CFArray?)
    #expect(array as? [Int] == [1, 2, 3])
    var values = [UnsafeRawPointer?](repeating: nil, count: 2)
    CFArrayGetValues(array, CFRange(location: 1, length: 2), &values)
    #expect(values.map { Unmanaged<NSNumber>.fromOpaque($0!).takeUnretainedValue().intValue } == [2, 3])
    var sum = 0
    withUnsafeMutablePointer(to: &sum) { sum in
      CFArrayApplyFunction(
        array, CFRange(location: 0, length: 2),
        { value, context in
          let number = Unmanaged<NSNumber>.fromOpaque(value!).takeUnretainedValue()
          context!.assumingMemoryBound(to: Int.self).pointee += number.intValue
        }, sum)
    }
    #expect(sum == 3)
    let copy = try #require(CFArrayCreateMutableCopy(nil, 0, array) as CFMutableArray?)
    CFArrayRemoveAllValues(copy)
    #expect(CFArrayGetCount(copy) == 0 && CFArrayGetCount(array) == 3)
    #expect(CFEqual(CFArrayCreateCopy(nil, array), array))
  }

  @Test func dictionaries() throws {
    let original = ["a": 1, "b": 1] as CFDictionary
    let copy = try #require(CFDictionaryCreateMutableCopy(nil, 0, original) as CFMutableDictionary?)
    let key = "c" as CFString
    let one = 1 as CFNumber
    CFDictionarySetValue(
      copy, Unmanaged.passUnretained(key).toOpaque(), Unmanaged.passUnretained(one).toOpaque())
    #expect(CFDictionaryGetCount(copy) == 3 && CFDictionaryGetCount(original) == 2)
    #expect(CFDictionaryGetCountOfKey(copy, Unmanaged.passUnretained(key).toOpaque()) == 1)
    #expect(CFDictionaryGetCountOfKey(original, Unmanaged.passUnretained(key).toOpaque()) == 0)
    #expect(CFDictionaryGetCountOfValue(copy, Unmanaged.passUnretained(one).toOpaque()) == 3)
  }

  @Test func strings() throws {
    let bytes: [UInt8] = [0xC3, 0xA9, 0x31]
    let text = try #require(
      CFStringCreateWithBytes(nil, bytes, bytes.count, CFStringBuiltInEncodings.UTF8.rawValue, false)
        as CFString?)
    #expect(text as String == "é1")
    #expect(CFStringGetCharacterAtIndex(text, 0) == 0xE9)
    #expect(CFStringGetMaximumSizeForEncoding(2, CFStringBuiltInEncodings.UTF8.rawValue) >= 3)
    for encoding in [.UTF8, .UTF16, .UTF32, .nonLossyASCII] as [CFStringBuiltInEncodings] {
      #expect(CFStringGetMaximumSizeForEncoding(.max, encoding.rawValue) == kCFNotFound)
      #expect(CFStringGetMaximumSizeForEncoding(.min, encoding.rawValue) == kCFNotFound)
    }
    #expect(CFStringGetMaximumSizeForEncoding(.max, CFStringBuiltInEncodings.isoLatin1.rawValue) == .max)
    #expect(CFStringGetIntValue("42 things" as CFString) == 42)
    #expect(CFStringGetDoubleValue("2.5" as CFString) == 2.5)
    let copy = try #require(CFStringCreateMutableCopy(nil, 0, text) as CFMutableString?)
    copy.append("2")
    #expect(copy as String == "é12" && text as String == "é1")
    #expect(CFEqual(CFStringCreateCopy(nil, text), text))
    // May be nil; what is not nil is the text.
    if let pointer = CFStringGetCStringPtr("plain" as CFString, CFStringBuiltInEncodings.UTF8.rawValue) {
      #expect(String(cString: pointer) == "plain")
    }
  }

  @Test func numbersThatTextBeginsWith() {
    for text in ["😀", "-😀", " 😀", "", "-", " +", ".", "e5", "é"] {
      #expect(CFStringGetIntValue(text as CFString) == 0)
      #expect(CFStringGetDoubleValue(text as CFString) == 0)
    }
    for (text, value) in [
      ("5😀", 5), (" \t-17 things", -17), ("+3.9", 3), ("99999999999", .max), ("-99999999999", .min),
      ("2147483647", .max), ("-2147483648", .min),
    ] as [(String, Int32)] { #expect(CFStringGetIntValue(text as CFString) == value) }
    for (text, value) in [
      ("5😀", 5), (" -2.5e-1x", -0.25), (".5", 0.5), ("1.", 1), ("+1e", 1), ("1e+😀", 1), ("1e999", .infinity),
      ("1,5", 1), ("inf", 0), ("nan", 0), ("0x10", 0), ("-7E2", -700),
    ] as [(String, Double)] { #expect(CFStringGetDoubleValue(text as CFString) == value) }
    #expect(CFStringGetIntValue(nil) == 0 && CFStringGetDoubleValue(nil) == 0)
  }

  @Test func lengthsThatDataCannotHaveLeaveItAlone() throws {
    let data = try #require(CFDataCreateMutableCopy(nil, 0, Data([1, 2, 3]) as CFData) as CFMutableData?)
    for length in [-1, .min, .max, 1 << 42, (1 << 40) + 1] {
      CFDataSetLength(data, length)
      #expect(data as Data == Data([1, 2, 3]))
    }
    CFDataSetLength(data, 4)
    #expect(data as Data == Data([1, 2, 3, 0]))
    #expect(CFDataGetLength(CFDataCreateMutable(nil, .max)) == 0)
  }

  @Test func dataAndNumbers() throws {
    let data = Data([1, 2, 3]) as CFData
    let copy = try #require(CFDataCreateMutableCopy(nil, 0, data) as CFMutableData?)
    CFDataAppendBytes(copy, [4], 1)
    #expect(CFDataGetLength(copy) == 4 && CFDataGetLength(CFDataCreateCopy(nil, data)) == 3)
    var value: Int16 = 5
    #expect(CFNumberGetByteSize(CFNumberCreate(nil, .sInt16Type, &value)) >= 2)
    let date = try #require(CFDateCreate(nil, 12.5) as CFDate?)
    #expect(CFDateGetAbsoluteTime(date) == 12.5)
    #expect((date as Date).timeIntervalSinceReferenceDate == 12.5)
  }

  @Test func urls() throws {
    let base = try #require(
      CFURLCreateWithString(nil, "https://example.com/live/" as CFString, nil) as CFURL?)
    let url = try #require(CFURLCreateWithString(nil, "a.m3u8" as CFString, base) as CFURL?)
    #expect(CFURLGetString(url) as String == "a.m3u8")
    #expect(CFURLCopyScheme(url) as String == "https")
    #expect(CFURLCopyLastPathComponent(url) as String == "a.m3u8")
    let file = URL(fileURLWithPath: "/tmp/a b.mov") as CFURL
    #expect(CFURLCopyFileSystemPath(file, .cfurlposixPathStyle) as String == "/tmp/a b.mov")
  }

  @Test func typeIDs() throws {
    var seen: Set<CFTypeID> = []
    for type in [
      CFAllocatorGetTypeID(), CFDateGetTypeID(), CFErrorGetTypeID(), CFSetGetTypeID(), CFUUIDGetTypeID(),
      CFStringGetTypeID(), CFNumberGetTypeID(), CFArrayGetTypeID(), CFDictionaryGetTypeID(),
      CFDataGetTypeID(),
    ] { #expect(seen.insert(type).inserted) }
    #expect(CFGetTypeID(NSError(domain: "a", code: 1)) == CFErrorGetTypeID())
    #expect(CFGetTypeID(NSSet(object: 1)) == CFSetGetTypeID())
    #expect(CFGetTypeID(NSDate()) == CFDateGetTypeID())
    #expect(CFGetTypeID(NSUUID()) == CFUUIDGetTypeID())
    #expect(CFGetTypeID(CFAllocatorGetDefault().takeUnretainedValue()) == CFAllocatorGetTypeID())
  }

  @Test func bytesInOrder() {
    #expect(CFByteOrderGetCurrent() == CFIndex(CFByteOrderLittleEndian.rawValue))
    #expect(CFSwapInt16HostToBig(0x0102) == 0x0201 && CFSwapInt16BigToHost(0x0102) == 0x0201)
    #expect(CFSwapInt64HostToBig(1) == 1 << 56 && CFSwapInt64BigToHost(1 << 56) == 1)
    #expect(
      CFSwapInt16LittleToHost(7) == 7 && CFSwapInt32LittleToHost(7) == 7 && CFSwapInt32HostToLittle(7) == 7)
  }

  @Test func timers() async throws {
    let fired: Int = await withCheckedContinuation { done in
      Thread.detachNewThread {
        nonisolated(unsafe) var count = 0
        let timer = CFRunLoopTimerCreateWithHandler(nil, CFAbsoluteTimeGetCurrent() + 3600, 0.01, 0, 0) {
          timer in
          count += 1
          if count == 3 {
            CFRunLoopTimerInvalidate(timer)
            CFRunLoopStop(CFRunLoopGetCurrent())
          }
        }
        #expect(CFRunLoopTimerGetInterval(timer) == 0.01 && CFRunLoopTimerIsValid(timer))
        CFRunLoopAddTimer(CFRunLoopGetCurrent(), timer, .defaultMode)
        CFRunLoopTimerSetNextFireDate(timer, CFAbsoluteTimeGetCurrent() + 0.01)
        #expect(CFRunLoopTimerGetNextFireDate(timer) < CFAbsoluteTimeGetCurrent() + 1800)
        CFRunLoopRun()
        #expect(!CFRunLoopTimerIsValid(timer))
        done.resume(returning: count)
      }
    }
    #expect(fired == 3)
  }

  @Test(.timeLimit(.minutes(HangLimit.minutes))) func aTimerWithAnIntervalOfNearlyNothing() async {
    let fired: Int = await withCheckedContinuation { done in
      Thread.detachNewThread {
        nonisolated(unsafe) var count = 0
        let timer = CFRunLoopTimerCreateWithHandler(nil, CFAbsoluteTimeGetCurrent(), 1e-10, 0, 0) { timer in
          count += 1
          if count == 3 {
            CFRunLoopTimerInvalidate(timer)
            CFRunLoopStop(CFRunLoopGetCurrent())
          }
        }
        #expect(CFRunLoopTimerGetInterval(timer) == 1e-6)
        CFRunLoopAddTimer(CFRunLoopGetCurrent(), timer, .defaultMode)
        CFRunLoopRun()
        done.resume(returning: count)
      }
    }
    #expect(fired == 3)
  }
}
