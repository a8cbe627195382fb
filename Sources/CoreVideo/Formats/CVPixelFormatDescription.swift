// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Synchronization

/// Fills the extended pixels of a buffer in a registered format; returns false if that fails.
public typealias CVFillExtendedPixelsCallBack =
  @Sendable (_ pixelBuffer: CVPixelBuffer, _ refCon: UnsafeMutableRawPointer?) -> Bool

/// The callback that fills the extended pixels of a registered format. The bytes of this structure
/// are the value of `kCVPixelFormatFillExtendedPixelsCallback`. The callback must not capture
/// anything.
public struct CVFillExtendedPixelsCallBackData {
  /// 0.
  public var version: CFIndex
  @preconcurrency public var fillCallBack: CVFillExtendedPixelsCallBack?
  public var refCon: UnsafeMutableRawPointer?

  public init() { self.init(version: 0, fillCallBack: nil, refCon: nil) }

  @preconcurrency public init(
    version: CFIndex, fillCallBack: CVFillExtendedPixelsCallBack?, refCon: UnsafeMutableRawPointer?
  ) {
    self.version = version
    self.fillCallBack = fillCallBack
    self.refCon = refCon
  }
}

/// Gets the description of a pixel format; nil if the format is unknown.
@discardableResult
public func CVPixelFormatDescriptionCreateWithPixelFormatType(
  _ allocator: CFAllocator?, _ pixelFormat: OSType
) -> CFDictionary? {
  if let format = PixelFormat.builtIn[pixelFormat] { return format.description }
  return PixelFormat.registered.withLock { $0[pixelFormat] }?.description
}

/// The codes of all known formats, numbers.
@discardableResult
public func CVPixelFormatDescriptionArrayCreateWithAllPixelFormatTypes(_ allocator: CFAllocator?) -> CFArray?
{
  let registered = PixelFormat.registered.withLock { $0.keys.sorted() }
  return (PixelFormat.table.map(\.code) + registered).map { NSNumber(value: $0) } as NSArray
}

/// Registers a pixel format, so that buffers can be created in it.
///
/// The description has the keys `kCVPixelFormat*`; it needs at least `kCVPixelFormatBitsPerBlock`,
/// for every plane. An invalid description, or one of a built-in format, changes nothing.
public func CVPixelFormatDescriptionRegisterDescriptionWithPixelFormatType(
  _ description: CFDictionary, _ pixelFormat: OSType
) {
  guard PixelFormat.builtIn[pixelFormat] == nil,
    let format = PixelFormat(pixelFormat, description: description),
    let copy = description.mutableCopy() as? NSMutableDictionary
  else { return }
  copy[kCVPixelFormatConstant] = NSNumber(value: pixelFormat)
  let entry = PixelFormat.Registered(format: format, description: copy)
  PixelFormat.registered.withLock { $0[pixelFormat] = entry }
}

extension PixelFormat {
  /// The format as a dictionary.
  fileprivate var description: CFDictionary {
    let result = NSMutableDictionary()
    result[kCVPixelFormatName] = name as NSString
    result[kCVPixelFormatConstant] = NSNumber(value: code)
    result[kCVPixelFormatContainsAlpha] = NSNumber(value: contents.contains(.alpha))
    result[kCVPixelFormatContainsRGB] = NSNumber(value: contents.contains(.rgb))
    result[kCVPixelFormatContainsYCbCr] = NSNumber(value: contents.contains(.yCbCr))
    result[kCVPixelFormatContainsGrayscale] = NSNumber(value: contents.contains(.grayscale))
    result[kCVPixelFormatContainsSenselArray] = NSNumber(value: contents.contains(.senselArray))
    result[kCVPixelFormatBitsPerComponent] = NSNumber(value: bitsPerComponent)
    if code > 0xFF {
      result[kCVPixelFormatCodecType] = NSNumber(value: code)
      result[kCVPixelFormatFourCC] = NSNumber(value: code)
    }
    switch range {
    case .video?: result[kCVPixelFormatComponentRange] = kCVPixelFormatComponentRange_VideoRange
    case .full?: result[kCVPixelFormatComponentRange] = kCVPixelFormatComponentRange_FullRange
    case .wide?: result[kCVPixelFormatComponentRange] = kCVPixelFormatComponentRange_WideRange
    case nil: break
    }
    if isPlanar {
      result[kCVPixelFormatPlanes] = planes.map { NSDictionary(dictionary: $0.entries) } as NSArray
    } else {
      result.addEntries(from: planes[0].entries)
    }
    return result.copy() as! NSDictionary
  }

  /// Parses the description of a format; nil if it is invalid.
  fileprivate init?(_ code: OSType, description: CFDictionary) {
    let planes: [Plane]
    if let list = description[kCVPixelFormatPlanes] as? NSArray {
      guard 1...4 ~= list.count else { return nil }
      let read = list.compactMap { ($0 as? NSDictionary).flatMap { Plane(entries: $0) } }
      guard read.count == list.count else { return nil }
      planes = read
    } else {
      guard let plane = Plane(entries: description) else { return nil }
      planes = [plane]
    }
    var contents: Contents = []
    for (key, part) in [
      (kCVPixelFormatContainsAlpha, Contents.alpha), (kCVPixelFormatContainsRGB, .rgb),
      (kCVPixelFormatContainsYCbCr, .yCbCr), (kCVPixelFormatContainsGrayscale, .grayscale),
      (kCVPixelFormatContainsSenselArray, .senselArray),
    ] where (description[key] as? NSNumber)?.boolValue == true {
      contents.insert(part)
    }
    let range: Range? =
      switch description[kCVPixelFormatComponentRange] as? NSString {
      case kCVPixelFormatComponentRange_VideoRange: .video
      case kCVPixelFormatComponentRange_FullRange: .full
      case kCVPixelFormatComponentRange_WideRange: .wide
      default: nil
      }
    let name = description[kCVPixelFormatName] as? String ?? PixelFormat.text(code)
    let bits = (description[kCVPixelFormatBitsPerComponent] as? NSNumber)?.intValue ?? 8
    self.init(
      code, name, planes, contents, range, bits: bits, isPlanar: description[kCVPixelFormatPlanes] != nil)
  }
}

extension PixelFormat.Plane {
  fileprivate var entries: [AnyHashable: Any] {
    var result: [AnyHashable: Any] = [
      kCVPixelFormatBlockWidth: NSNumber(value: blockWidth),
      kCVPixelFormatBlockHeight: NSNumber(value: blockHeight),
      kCVPixelFormatBitsPerBlock: NSNumber(value: bitsPerBlock),
      kCVPixelFormatHorizontalSubsampling: NSNumber(value: horizontalSubsampling),
      kCVPixelFormatVerticalSubsampling: NSNumber(value: verticalSubsampling),
      kCVPixelFormatBlockHorizontalAlignment: NSNumber(value: blockHorizontalAlignment),
      kCVPixelFormatBlockVerticalAlignment: NSNumber(value: blockVerticalAlignment),
    ]
    if !black.isEmpty { result[kCVPixelFormatBlackBlock] = Data(black) as NSData }
    return result
  }

  fileprivate init?(entries: NSDictionary) {
    func number(_ key: CFString, _ range: ClosedRange<Int>) -> Int? {
      guard let value = entries[key] else { return 1 }
      guard let number = value as? NSNumber, range.contains(number.intValue) else { return nil }
      return number.intValue
    }
    guard entries[kCVPixelFormatBitsPerBlock] != nil, let bits = number(kCVPixelFormatBitsPerBlock, 1...1024),
      let width = number(kCVPixelFormatBlockWidth, 1...64),
      let height = number(kCVPixelFormatBlockHeight, 1...64),
      let horizontal = number(kCVPixelFormatHorizontalSubsampling, 1...16),
      let vertical = number(kCVPixelFormatVerticalSubsampling, 1...16),
      let rowBlocks = number(kCVPixelFormatBlockHorizontalAlignment, 1...256),
      let columnBlocks = number(kCVPixelFormatBlockVerticalAlignment, 1...256)
    else { return nil }
    let black = entries[kCVPixelFormatBlackBlock] as? NSData
    self.init(
      blockWidth: width, blockHeight: height, bitsPerBlock: bits, blockHorizontalAlignment: rowBlocks,
      blockVerticalAlignment: columnBlocks, horizontalSubsampling: horizontal, verticalSubsampling: vertical,
      black: black.map { [UInt8]($0 as Data) } ?? [])
  }
}
