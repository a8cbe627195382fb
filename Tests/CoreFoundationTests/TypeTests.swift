// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Testing
import TestSupport

@Suite struct TypeTests {
  @Test func typeIDs() {
    #expect(CFGetTypeID("x" as CFString) == CFStringGetTypeID())
    #expect(CFGetTypeID(1 as CFNumber) == CFNumberGetTypeID())
    #expect(CFGetTypeID(true as CFBoolean) == CFBooleanGetTypeID())
    #expect(CFGetTypeID(kCFBooleanFalse) == CFBooleanGetTypeID())
    #expect(CFGetTypeID(["k": 1] as CFDictionary) == CFDictionaryGetTypeID())
    #expect(CFGetTypeID(NSMutableArray()) == CFArrayGetTypeID())
    #expect(CFGetTypeID(Data([1]) as CFData) == CFDataGetTypeID())
    #expect(CFGetTypeID(URL(fileURLWithPath: "/") as CFURL) == CFURLGetTypeID())
    #expect(CFGetTypeID(kCFNull) == CFNullGetTypeID())
    #expect(CFGetTypeID(NSObject()) == 0)
    #expect(CFCopyTypeIDDescription(CFArrayGetTypeID()) as String? == "CFArray")
  }

  @Test func equality() {
    #expect(CFEqual("abc" as CFString, "abc" as NSMutableString))
    #expect(CFEqual(1 as CFNumber, 1.0 as CFNumber))
    #expect(!CFEqual(1 as CFNumber, kCFBooleanTrue))
    #expect(CFEqual(["a": [1, 2]] as CFDictionary, ["a": [1, 2]] as CFDictionary))
    #expect(!CFEqual(["a": 1] as CFDictionary, "a" as CFString))
    #expect(CFHash("abc" as CFString) == CFHash("abc" as CFString))
  }

  @Test func numbers() throws {
    var source: Int32 = -7
    let number = try #require(CFNumberCreate(nil, .sInt32Type, &source))
    #expect(CFNumberGetType(number) == .sInt32Type)
    var long: Int64 = 0
    #expect(CFNumberGetValue(number, .longLongType, &long) && long == -7)
    var byte: Int8 = 0
    #expect(!CFNumberGetValue(300 as CFNumber, .sInt8Type, &byte))
    var real: Double = 0
    #expect(CFNumberGetValue(2.5 as CFNumber, .doubleType, &real) && real == 2.5)
    var whole: Int32 = 0
    #expect(!CFNumberGetValue(2.5 as CFNumber, .intType, &whole) && whole == 2)
    #expect(!CFNumberGetValue(1e300 as CFNumber, .intType, &whole) && whole == .max)
    #expect(!CFNumberGetValue(kCFNumberNaN, .intType, &whole) && whole == 0)
    var float: Float = 0
    #expect(!CFNumberGetValue(Int64.max as CFNumber, .floatType, &float))
    #expect(!CFNumberGetValue(NSNumber(value: UInt64.max), .sInt64Type, &long))
    #expect(CFNumberIsFloatType(1.5 as CFNumber) && !CFNumberIsFloatType(1 as CFNumber))
    #expect(CFNumberCompare(1 as CFNumber, 2 as CFNumber, nil) == .compareLessThan)
  }

  @Test func strings() throws {
    let text = try #require(CFStringCreateWithCString(nil, "grün", CFStringBuiltInEncodings.UTF8.rawValue))
    #expect(CFStringGetLength(text) == 4)
    var small = [CChar](repeating: 1, count: 5)
    #expect(!CFStringGetCString(text, &small, 5, CFStringBuiltInEncodings.UTF8.rawValue))
    var room = [CChar](repeating: 1, count: 6)
    #expect(CFStringGetCString(text, &room, 6, CFStringBuiltInEncodings.UTF8.rawValue))
    #expect(room.map { UInt8(bitPattern: $0) } == Array("grün".utf8) + [0])
    #expect(!CFStringGetCString(text, &room, 6, CFStringBuiltInEncodings.ASCII.rawValue))
    #expect(CFStringCompare("a" as CFString, "B" as CFString, .compareCaseInsensitive) == .compareLessThan)
    #expect(CFStringHasPrefix(text, "gr" as CFString) && CFStringHasSuffix(text, "n" as CFString))
    let mutable = try #require(CFStringCreateMutable(nil, 0))
    CFStringAppend(mutable, text)
    CFStringAppend(mutable, "!" as CFString)
    #expect(mutable as String == "grün!")
    #expect(CFStringCreateWithCString(nil, "\u{FF}", CFStringBuiltInEncodings.ASCII.rawValue) == nil)
  }

  @Test func data() throws {
    let bytes: [UInt8] = [1, 2, 3, 4]
    let data = try #require(CFDataCreate(nil, bytes, 4))
    #expect(CFDataGetLength(data) == 4 && CFDataGetBytePtr(data)[2] == 3)
    var part = [UInt8](repeating: 0, count: 2)
    CFDataGetBytes(data, CFRangeMake(1, 2), &part)
    #expect(part == [2, 3])
    CFDataGetBytes(data, CFRangeMake(3, 2), &part)
    #expect(part == [2, 3])
    let mutable = try #require(CFDataCreateMutable(nil, 0))
    CFDataAppendBytes(mutable, bytes, 4)
    CFDataGetMutableBytePtr(mutable)[0] = 9
    CFDataSetLength(mutable, 6)
    #expect(Data(referencing: mutable) == Data([9, 2, 3, 4, 0, 0]))
  }

  @Test func urls() {
    let url = CFURLCreateWithFileSystemPath(nil, "/tmp/a movie.mov" as CFString, .cfurlposixPathStyle, false)
    #expect(url.map { $0 as URL }?.path == "/tmp/a movie.mov")
    #expect(CFURLCopyPathExtension(url) as String? == "mov")
    #expect(CFURLCreateWithFileSystemPath(nil, "" as CFString, .cfurlposixPathStyle, false) == nil)
  }

  @Test func times() {
    let before = Date().timeIntervalSinceReferenceDate
    let now = CFAbsoluteTimeGetCurrent()
    // check-tests: two readings of the same clock
    #expect(now >= before - 1e-4 && now <= Date().timeIntervalSinceReferenceDate + 1e-4)
    var info = mach_timebase_info_data_t()
    #expect(mach_timebase_info(&info) == KERN_SUCCESS)
    // It counts as the system's monotonic clock does, whatever the time between the readings.
    func monotonic() -> Double {
      var time = timespec()
      clock_gettime(CLOCK_MONOTONIC, &time)  // check-tests: compared with another clock
      return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }
    let readings = (0..<2).map { _ in
      let before = monotonic()
      let ticks = mach_absolute_time()
      defer { letOthersRun(turns: 20_000) }
      return (before: before, ticks: ticks, after: monotonic())
    }
    let elapsed = Double(readings[1].ticks - readings[0].ticks) * Double(info.numer) / Double(info.denom)
    #expect(elapsed > 0)
    #expect(elapsed >= readings[1].before - readings[0].after - 1)
    #expect(elapsed <= readings[1].after - readings[0].before + 1)
  }

  @Test func runLoop() async {
    let fired = await withCheckedContinuation { (done: CheckedContinuation<Bool, Never>) in
      Thread.detachNewThread {
        nonisolated(unsafe) var fired = false
        let timer = CFRunLoopTimerCreateWithHandler(nil, CFAbsoluteTimeGetCurrent() + 0.01, 0, 0, 0) { _ in
          fired = true
          CFRunLoopStop(CFRunLoopGetCurrent())
        }
        CFRunLoopAddTimer(CFRunLoopGetCurrent(), timer, .commonModes)
        let result = CFRunLoopRunInMode(.defaultMode, 5, false)
        done.resume(returning: fired && result != .timedOut)
      }
    }
    #expect(fired)
  }

  @Test func affineTransforms() {
    let quarter = CGAffineTransform(rotationAngle: .pi / 2)
    let size = CGSize(width: 1920, height: 1080).applying(quarter)
    #expect(abs(size.width + 1080) < 1e-9 && abs(size.height - 1920) < 1e-9)
    let transform = quarter.translatedBy(x: 3, y: 4).scaledBy(x: 2, y: 5)
    let point = CGPoint(x: 7, y: 11)
    let back = point.applying(transform).applying(transform.inverted())
    #expect(abs(back.x - 7) < 1e-9 && abs(back.y - 11) < 1e-9)
    #expect(CGAffineTransform.identity.isIdentity && !transform.isIdentity)
    // First the other, then this one.
    let moved = CGPoint.zero.applying(CGAffineTransform(scaleX: 2, y: 2).translatedBy(x: 1, y: 0))
    #expect(moved == CGPoint(x: 2, y: 0))
  }
}
