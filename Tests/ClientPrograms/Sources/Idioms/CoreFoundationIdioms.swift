// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import CoreMedia
import CoreVideo
import Foundation

func coreFoundation() {
  // A number through a pointer, both ways.
  var bitRate: Int32 = 800_000
  let number = CFNumberCreate(kCFAllocatorDefault, .sInt32Type, &bitRate)
  check(CFGetTypeID(number) == CFNumberGetTypeID())
  var readBack: Int32 = 0
  check(CFNumberGetValue(number, .sInt32Type, &readBack))
  checkEqual(readBack, 800_000)
  var asDouble = 0.0
  check(CFNumberGetValue(number, .doubleType, &asDouble) && asDouble == 800_000)
  check((number as! Int) == 800_000)
  check(CFNumberCompare(1 as CFNumber, 2 as CFNumber, nil) == .compareLessThan)

  // Data rate limits.
  let limits: [Any] = [Int(1_500_000 / 8), 1.0]
  let array = limits as CFArray
  checkEqual(CFArrayGetCount(array), 2)
  check(CFGetTypeID(array) == CFArrayGetTypeID())
  let first = unsafeBitCast(CFArrayGetValueAtIndex(array, 0), to: CFNumber.self)
  check(first as! Int == 187_500)
  let ns = [NSNumber(value: 1), NSNumber(value: 2.5)] as CFArray
  check((ns as! [NSNumber]).map { $0.doubleValue } == [1, 2.5])

  // Dictionaries by hand.
  let keys: [CFString] = [kCVPixelBufferWidthKey, kCVPixelBufferHeightKey]
  var keyPointers: [UnsafeRawPointer?] = keys.map {
    UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque())
  }
  let values: [CFNumber] = [640 as CFNumber, 480 as CFNumber]
  var valuePointers: [UnsafeRawPointer?] = values.map {
    UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque())
  }
  var keyCallbacks = kCFTypeDictionaryKeyCallBacks
  var valueCallbacks = kCFTypeDictionaryValueCallBacks
  let made = CFDictionaryCreate(
    kCFAllocatorDefault, &keyPointers, &valuePointers, 2, &keyCallbacks, &valueCallbacks)
  checkEqual(CFDictionaryGetCount(made), 2)
  check((made as! [CFString: Int])[kCVPixelBufferWidthKey] == 640)
  let empty = CFDictionaryCreate(
    kCFAllocatorDefault, nil, nil, 0, &kCFTypeDictionaryKeyCallBacks, &kCFTypeDictionaryValueCallBacks)
  checkEqual(CFDictionaryGetCount(empty), 0)
  let mutable = CFDictionaryCreateMutable(
    kCFAllocatorDefault, 0, &kCFTypeDictionaryKeyCallBacks, &kCFTypeDictionaryValueCallBacks)!
  CFDictionarySetValue(
    mutable, Unmanaged.passUnretained(kCVPixelBufferWidthKey).toOpaque(),
    Unmanaged.passUnretained(values[0]).toOpaque())
  CFDictionaryAddValue(
    mutable, unsafeBitCast(kCVPixelBufferHeightKey, to: UnsafeRawPointer.self),
    unsafeBitCast(values[1], to: UnsafeRawPointer.self))
  check(CFEqual(mutable, made))
  CFDictionaryRemoveValue(mutable, unsafeBitCast(kCVPixelBufferHeightKey, to: UnsafeRawPointer.self))
  checkEqual((mutable as NSDictionary).count, 1)
  var count = 0
  withUnsafeMutablePointer(to: &count) {
    CFDictionaryApplyFunction(
      made, { _, _, context in context!.assumingMemoryBound(to: Int.self).pointee += 1 }, $0)
  }
  checkEqual(count, 2)
  let mutableArray = CFArrayCreateMutable(kCFAllocatorDefault, 0, &kCFTypeArrayCallBacks)!
  CFArrayAppendValue(mutableArray, Unmanaged.passUnretained(mutable).toOpaque())
  checkEqual((mutableArray as! [[String: Any]]).count, 1)

  // Strings, data, booleans, equality.
  let string = "avc1" as CFString
  check(CFGetTypeID(string) == CFStringGetTypeID() && CFStringGetLength(string) == 4)
  check(CFStringCompare(string, "avc1" as CFString, []) == .compareEqualTo)
  check(CFEqual(string, "avc1" as NSString))
  check(CFStringCreateWithCString(nil, "abc", CFStringBuiltInEncodings.UTF8.rawValue) as String == "abc")
  let bytes: [UInt8] = [1, 2, 3]
  let data = CFDataCreate(kCFAllocatorDefault, bytes, bytes.count)!
  checkEqual(CFDataGetLength(data), 3)
  checkEqual(CFDataGetBytePtr(data)[2], 3)
  check(Array(data as Data) == bytes)
  var part = [UInt8](repeating: 0, count: 2)
  CFDataGetBytes(data, CFRangeMake(1, 2), &part)
  check(part == [2, 3])
  check(CFGetTypeID(kCFBooleanTrue) == CFBooleanGetTypeID() && CFBooleanGetValue(kCFBooleanTrue))
  check((true as CFBoolean) == kCFBooleanTrue)
  check(kCFBooleanTrue as! Bool)
  check(CFCopyDescription(1.5 as CFNumber) != nil)
  let url = CFURLCreateWithFileSystemPath(nil, "/tmp/a.mov" as CFString, .cfurlposixPathStyle, false)!
  check((url as URL).path == "/tmp/a.mov")
  let typed: CFTypeRef = kCFBooleanFalse
  check(CFGetTypeID(typed) == CFBooleanGetTypeID())
  check(CFHash("a" as CFString) == CFHash("a" as CFString))

  // Attributes, as every program writes them.
  let attributes: [CFString: Any] = [
    kCVPixelBufferPixelFormatTypeKey: kCVPixelFormatType_32BGRA,
    kCVPixelBufferIOSurfacePropertiesKey: [:] as CFDictionary,
    kCVPixelBufferMetalCompatibilityKey: true,
    kCVPixelBufferCGImageCompatibilityKey: kCFBooleanTrue!,
  ]
  check(CFDictionaryGetCount(attributes as CFDictionary) == 4)
  let old: [NSString: AnyObject] = [
    kCVPixelBufferPixelFormatTypeKey: NSNumber(value: kCVPixelFormatType_420YpCbCr8BiPlanarFullRange),
    kCVPixelBufferIOSurfacePropertiesKey: [:] as AnyObject,
    kCVPixelBufferOpenGLCompatibilityKey: NSNumber(booleanLiteral: true),
  ]
  check((old as CFDictionary)[kCVPixelBufferOpenGLCompatibilityKey] as? Bool == true)
  let swift: [String: Any] = [
    String(kCVPixelBufferPixelFormatTypeKey): Int(kCVPixelFormatType_32BGRA),
    kCVPixelBufferWidthKey as String: 4,
  ]
  var pixelBuffer: CVPixelBuffer?
  checkEqual(
    CVPixelBufferCreate(
      kCFAllocatorDefault, 32, 16, kCVPixelFormatType_32BGRA, swift as CFDictionary, &pixelBuffer),
    kCVReturnSuccess)
  checkEqual(CVPixelBufferGetWidth(pixelBuffer!), 32)

  // Objects by type identifier.
  let format = CFGetTypeID(pixelBuffer!)
  check(format == CVPixelBufferGetTypeID())
  let anything: CFTypeRef = pixelBuffer!
  if CFGetTypeID(anything) == CVPixelBufferGetTypeID() {
    let again = anything as! CVPixelBuffer
    check(again === pixelBuffer!)
  } else {
    check(false, "not a pixel buffer")
  }
  let retained = Unmanaged.passRetained(pixelBuffer!)
  check(retained.takeRetainedValue() === pixelBuffer!)
}
