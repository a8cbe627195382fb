// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Foundation
import Testing

/// Numbers of every Swift type as number objects, and back.
@Suite struct NumberBridgeTests {
  private let half = CGFloat(1280) / 3

  @Test func floatsOfGraphicsAreNumbers() {
    let object = half as AnyObject
    #expect(object is NSNumber)
    #expect((object as? NSNumber)?.doubleValue == 1280.0 / 3)
    #expect((half as NSNumber).doubleValue == 1280.0 / 3)
    #expect((half as CFNumber).doubleValue == 1280.0 / 3)
    let any: Any = half
    #expect((any as? NSNumber)?.intValue == 426)
    #expect(any as? CGFloat == half)
    #expect((any as AnyObject) as? Double == 1280.0 / 3)
  }

  @Test func backFromNumbers() {
    #expect(NSNumber(value: 7) as? CGFloat == 7)
    #expect(NSNumber(value: 2.5) as? CGFloat == 2.5)
    #expect(2.5 as NSNumber as! CGFloat == 2.5)
    #expect(("text" as NSString as Any) as? CGFloat == nil)
    // As for `Double`: what a `Double` does not hold exactly is not cast to one.
    let large = NSNumber(value: Int64(1) << 53 + 1)
    #expect((large as? CGFloat == nil) == (large as? Double == nil))
    #expect(NSNumber(value: Double.nan) as? CGFloat != nil)
  }

  @Test func inDictionaries() throws {
    let size = CGSize(width: 1280, height: 720)
    let settings: [String: Any] = [
      "width": size.width / 2, "nested": ["rate": size.width * size.height * 4],
      "list": [size.width, size.height],
    ]
    #expect((settings["width"] as? NSNumber)?.intValue == 640)
    let dictionary = settings as NSDictionary
    #expect((dictionary["width"] as? NSNumber)?.intValue == 640)
    #expect(dictionary["width"] as? CGFloat == 640)
    #expect((dictionary["nested"] as? [String: Any])?["rate"] as? CGFloat == 3_686_400)
    #expect((dictionary["nested"] as? [String: NSNumber])?["rate"]?.int64Value == 3_686_400)
    #expect(dictionary["list"] as? [CGFloat] == [1280, 720])
    #expect((dictionary["list"] as? [NSNumber])?.map(\.intValue) == [1280, 720])
    let keyed = ["width": size.width] as CFDictionary
    let key = "width" as CFString
    let value = try #require(CFDictionaryGetValue(keyed, Unmanaged.passUnretained(key).toOpaque()))
    let number = Unmanaged<CFNumber>.fromOpaque(value).takeUnretainedValue()
    var plain = 0.0
    #expect(CFNumberGetValue(number, .doubleType, &plain) && plain == 1280)
    #expect(([size.width] as NSArray)[0] as? Int == 1280)
    #expect(CFEqual(keyed, ["width": 1280] as CFDictionary))
  }

  @Test func optionalsAndCollections() {
    let present: CGFloat? = 3
    let absent: CGFloat? = nil
    #expect((present as NSNumber?)?.intValue == 3 && (absent as NSNumber?) == nil)
    #expect(([1.5, 2] as [CGFloat] as [NSNumber]).map(\.doubleValue) == [1.5, 2])
    #expect(Set([CGFloat(1), 2]) as NSSet == NSSet(array: [1, 2]))
  }

  @Test func everyKindOfNumber() {
    let numbers: [CFNumber] = [
      Int8(-5) as CFNumber, Int16(-5) as CFNumber, Int32(-5) as CFNumber, Int64(-5) as CFNumber,
      Int(-5) as CFNumber,
    ]
    #expect(numbers.allSatisfy { $0.intValue == -5 && CFGetTypeID($0) == CFNumberGetTypeID() })
    let unsigned: [NSNumber] = [
      UInt8(200) as NSNumber, UInt16(200) as NSNumber, UInt32(200) as NSNumber, UInt64(200) as NSNumber,
      UInt(200) as NSNumber,
    ]
    #expect(unsigned.allSatisfy { $0.intValue == 200 })
    #expect((UInt64.max as CFNumber).uint64Value == .max)
    #expect((Float(2.5) as CFNumber).doubleValue == 2.5 && (2.5 as CFNumber).doubleValue == 2.5)
    #expect(CFGetTypeID(true as CFNumber) == CFBooleanGetTypeID())
    #expect((Int8(1) as AnyObject) as? Int8 == 1 && (Float(1.5) as Any) as? NSNumber == 1.5)
    let kinds: [Any] = [
      Int8(1), Int16(1), Int32(1), Int64(1), UInt8(1), UInt16(1), UInt32(1), UInt64(1), Float(1), true,
    ]
    #expect(kinds.allSatisfy { ($0 as? NSNumber)?.intValue == 1 && ($0 as AnyObject) is NSNumber })
  }

  @Test func byteOrder() {
    #expect(CFByteOrderGetCurrent() == CFByteOrder(CFByteOrderLittleEndian.rawValue))
    #expect(CFSwapInt32HostToBig(0x0102_0304) == 0x0403_0201)
    #expect(CFSwapInt16BigToHost(CFSwapInt16HostToBig(0x1234)) == 0x1234)
    #expect(CFSwapInt64LittleToHost(7) == 7 && CFSwapInt64(1) == 1 << 56)
    #expect(CFConvertFloatHostToSwapped(1).v == 0x803F)
    #expect(CFConvertFloatSwappedToHost(CFConvertFloatHostToSwapped(-2.75)) == -2.75)
    #expect(CFConvertDoubleSwappedToHost(CFConvertDoubleHostToSwapped(.pi)) == .pi)
    #expect(CFConvertFloat64HostToSwapped(1).v == 0xF03F)
    #expect(CFConvertFloat32SwappedToHost(CFSwappedFloat32(v: 0x803F)) == 1)
  }

  @Test func memoryWithOptionalPointers() {
    let source: [UInt8] = [1, 2, 3, 4]
    var target = [UInt8](repeating: 0, count: 4)
    source.withUnsafeBytes { from in
      target.withUnsafeMutableBytes { to in
        // Buffers' base addresses are optional.
        memcpy(to.baseAddress, from.baseAddress, 4)
        #expect(memcmp(to.baseAddress, from.baseAddress, 4) == 0)
        memmove(to.baseAddress! + 1, to.baseAddress, 3)
        memset(to.baseAddress, 9, 1)
        #expect(memchr(to.baseAddress, 3, 4) == to.baseAddress! + 3)
      }
    }
    #expect(target == [9, 1, 2, 3])
    // The plain forms are Glibc's still.
    memcpy(&target, source, 2)
    let same = memcmp(target, source, 2)
    #expect(same == 0 && target == [1, 2, 2, 3])
    let nothing: UnsafeMutableRawPointer? = nil
    #expect(memcpy(nothing, source, 4) == nil && memset(nothing, 0, 4) == nil)
    #expect(memcmp(nothing, source, 0) == 0 && memcmp(nothing, source, 1) < 0)
    target.withUnsafeMutableBytes { bzero($0.baseAddress, 2) }
    #expect(target == [0, 0, 2, 3])
  }
}
