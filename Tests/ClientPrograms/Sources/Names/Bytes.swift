// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Foundation

func byteOrder() {
  check(CFSwapInt32HostToBig(0x0102_0304) == UInt32(0x0102_0304).bigEndian, "32")
  check(CFSwapInt16BigToHost(UInt16(0x0102).bigEndian) == 0x0102, "16")
  check(CFSwapInt64LittleToHost(UInt64(5).littleEndian) == 5, "64")
  check(CFSwapInt32(0x0102_0304) == 0x0403_0201, "swap")
  check(CFByteOrderGetCurrent() == CFIndex(CFByteOrderLittleEndian.rawValue), "order")
  let swapped = CFConvertDoubleHostToSwapped(1.5)
  check(CFConvertDoubleSwappedToHost(swapped) == 1.5, "double")
  // A NAL unit's length, as everybody writes it.
  var nal = Data([0, 0, 0, 1, 0x65, 0x88])
  var length = CFSwapInt32HostToBig(UInt32(nal.count - 4))
  nal.withUnsafeMutableBytes { _ = memcpy($0.baseAddress, &length, 4) }
  check(Array(nal.prefix(4)) == [0, 0, 0, 2], "length")
  // With optional pointers, as Darwin has them.
  var memory = [UInt8](repeating: 1, count: 8)
  memory.withUnsafeMutableBytes { bytes in
    memset(bytes.baseAddress, 7, 4)
    memmove(bytes.baseAddress?.advanced(by: 2), bytes.baseAddress, 4)
    check(memcmp(bytes.baseAddress, bytes.baseAddress?.advanced(by: 2), 4) == 0, "memcmp")
  }
  check(memory == [7, 7, 7, 7, 7, 7, 1, 1], "\(memory)")
}

func numbers() {
  // Of every type, as CF and as Foundation has them.
  check((Int8(-3) as CFNumber as NSNumber).intValue == -3, "Int8")
  check((UInt8(200) as CFNumber) == NSNumber(value: 200), "UInt8")
  check((Int16(-300) as NSNumber).int16Value == -300, "Int16")
  check((UInt16(60000) as NSNumber) as? Int == 60000, "UInt16")
  check((Int32(-70000) as CFNumber) as? Int32 == -70000, "Int32")
  check((UInt32(4_000_000_000) as CFNumber) as? UInt32 == 4_000_000_000, "UInt32")
  check((Int64(-5_000_000_000) as NSNumber).int64Value == -5_000_000_000, "Int64")
  check((UInt64.max as NSNumber).uint64Value == .max, "UInt64")
  check((Float(0.5) as CFNumber) as? Double == 0.5, "Float")
  check((true as CFBoolean) == kCFBooleanTrue && (true as NSNumber).boolValue, "Bool")
  // CGFloat, wherever numbers go.
  let size = CGSize(width: 640, height: 360)
  let settings: [String: Any] = ["width": size.width / 2, "rate": size.width * size.height * 4]
  check((settings["width"] as? NSNumber)?.intValue == 320, "width")
  check((settings as NSDictionary)["rate"] as? Int == 921_600, "rate")
  check(((size.height as AnyObject) as? NSNumber)?.doubleValue == 360, "AnyObject")
  check((NSNumber(value: 2.5) as? CGFloat) == 2.5, "back")
  let list = [size.width, size.height] as CFArray
  check((list as NSArray)[1] as? NSNumber == 360, "array")
  let fraction = 59.94 as CFNumber
  var whole: Int32 = 0
  check(!CFNumberGetValue(fraction, .sInt32Type, &whole) && whole == 59, "lossy is truncated")
}
