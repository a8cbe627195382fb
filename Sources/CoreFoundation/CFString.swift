// SPDX-License-Identifier: Apache-2.0
/// How text is turned into bytes.
public typealias CFStringEncoding = UInt32

/// The encodings that are always there.
public enum CFStringBuiltInEncodings: CFStringEncoding, Sendable {
  case macRoman = 0
  case windowsLatin1 = 0x0500
  case isoLatin1 = 0x0201
  case nextStepLatin = 0x0B01
  case ASCII = 0x0600
  case unicode = 0x0100
  case UTF8 = 0x0800_0100
  case nonLossyASCII = 0x0BFF
  case UTF16BE = 0x1000_0100
  case UTF16LE = 0x1400_0100
  case UTF32 = 0x0c00_0100
  case UTF32BE = 0x1800_0100
  case UTF32LE = 0x1c00_0100

  public static var UTF16: CFStringBuiltInEncodings { .unicode }
}

public let kCFStringEncodingInvalidId: CFStringEncoding = 0xffff_ffff

/// Ways to compare text.
public struct CFStringCompareFlags: OptionSet, Sendable {
  public let rawValue: CFOptionFlags
  public init(rawValue: CFOptionFlags) { self.rawValue = rawValue }
  public static let compareCaseInsensitive = CFStringCompareFlags(rawValue: 1)
  public static let compareBackwards = CFStringCompareFlags(rawValue: 4)
  public static let compareAnchored = CFStringCompareFlags(rawValue: 8)
  public static let compareNumerically = CFStringCompareFlags(rawValue: 64)
}

extension String.Encoding {
  /// Foundation's encoding for one of Core Foundation's, nil if there is none.
  fileprivate init?(_ encoding: CFStringEncoding) {
    switch CFStringBuiltInEncodings(rawValue: encoding) {
    case .macRoman: self = .macOSRoman
    case .windowsLatin1: self = .windowsCP1252
    case .isoLatin1: self = .isoLatin1
    case .nextStepLatin: self = .nextstep
    case .ASCII: self = .ascii
    case .unicode: self = .utf16
    case .UTF8: self = .utf8
    case .nonLossyASCII: self = .nonLossyASCII
    case .UTF16BE: self = .utf16BigEndian
    case .UTF16LE: self = .utf16LittleEndian
    case .UTF32: self = .utf32
    case .UTF32BE: self = .utf32BigEndian
    case .UTF32LE: self = .utf32LittleEndian
    case nil: return nil
    }
  }
}

// MARK: - Creation

/// The text in a null-terminated string, nil if it is not in that encoding.
@discardableResult
public func CFStringCreateWithCString(
  _ alloc: CFAllocator!, _ cStr: UnsafePointer<CChar>!, _ encoding: CFStringEncoding
) -> CFString! {
  guard let cStr else { return nil }
  return cStr.withMemoryRebound(to: UInt8.self, capacity: strlen(cStr) + 1) {
    CFStringCreateWithBytes(alloc, $0, strlen(cStr), encoding, false)
  }
}

/// The text in some bytes, nil if they are not in that encoding.
@discardableResult
public func CFStringCreateWithBytes(
  _ alloc: CFAllocator!, _ bytes: UnsafePointer<UInt8>!, _ numBytes: CFIndex, _ encoding: CFStringEncoding,
  _ isExternalRepresentation: Bool
) -> CFString! {
  guard let bytes, numBytes >= 0, let encoding = String.Encoding(encoding) else { return nil }
  return String(data: Data(bytes: bytes, count: numBytes), encoding: encoding).map { $0 as CFString }
}

@discardableResult
public func CFStringCreateCopy(_ alloc: CFAllocator!, _ theString: CFString!) -> CFString! {
  theString.map { $0.copy() as! CFString }
}

@discardableResult
public func CFStringCreateMutable(_ alloc: CFAllocator!, _ maxLength: CFIndex) -> CFMutableString! {
  CFMutableString(capacity: 0)
}

@discardableResult
public func CFStringCreateMutableCopy(
  _ alloc: CFAllocator!, _ maxLength: CFIndex, _ theString: CFString!
) -> CFMutableString! {
  theString.map { CFMutableString(string: $0 as String) }
}

// MARK: - Reading

/// The number of UTF-16 code units.
@discardableResult
public func CFStringGetLength(_ theString: CFString!) -> CFIndex { theString?.length ?? 0 }

/// How many bytes `length` UTF-16 code units take at most, without a terminating null; `kCFNotFound` if that is beyond what a
/// `CFIndex` counts.
@discardableResult
public func CFStringGetMaximumSizeForEncoding(_ length: CFIndex, _ encoding: CFStringEncoding) -> CFIndex {
  let most =
    switch CFStringBuiltInEncodings(rawValue: encoding) {
    case .UTF8: 3
    case .unicode, .UTF16BE, .UTF16LE: 2
    case .UTF32, .UTF32BE, .UTF32LE: 4
    case .nonLossyASCII: 6
    default: 1
    }
  let (bytes, overflow) = length.multipliedReportingOverflow(by: most)
  return overflow ? kCFNotFound : bytes
}

/// Writes the text, null-terminated, into a buffer of `bufferSize` bytes.
/// - Returns: false if it does not fit or cannot be expressed in that encoding.
@discardableResult
public func CFStringGetCString(
  _ theString: CFString!, _ buffer: UnsafeMutablePointer<CChar>!, _ bufferSize: CFIndex,
  _ encoding: CFStringEncoding
) -> Bool {
  guard let theString, let buffer, let encoding = String.Encoding(encoding),
    let data = (theString as String).data(using: encoding), data.count < bufferSize
  else { return false }
  data.withUnsafeBytes {
    UnsafeMutableRawBufferPointer(start: buffer, count: data.count).copyMemory(from: $0)
  }
  buffer[data.count] = 0
  return true
}

/// Nil, always: no string here keeps its bytes where they could be pointed to. `CFStringGetCString` copies them.
@discardableResult
public func CFStringGetCStringPtr(_ theString: CFString!, _ encoding: CFStringEncoding) -> UnsafePointer<
  CChar
>! {
  nil
}

/// The UTF-16 code unit at an index, 0 if there is none.
@discardableResult
public func CFStringGetCharacterAtIndex(_ theString: CFString!, _ idx: CFIndex) -> UniChar {
  guard let theString, idx >= 0, idx < theString.length else { return 0 }
  return theString.character(at: idx)
}

/// The order of two strings.
@discardableResult
public func CFStringCompare(
  _ theString1: CFString!, _ theString2: CFString!, _ compareOptions: CFStringCompareFlags
) -> CFComparisonResult {
  guard let theString1, let theString2 else { return .compareEqualTo }
  let options = NSString.CompareOptions(rawValue: compareOptions.rawValue)
  let order = theString1.compare(theString2 as String, options: options)
  return CFComparisonResult(rawValue: order.rawValue) ?? .compareEqualTo
}

@discardableResult
public func CFStringHasPrefix(_ theString: CFString!, _ prefix: CFString!) -> Bool {
  guard let theString, let prefix else { return false }
  return prefix.length == 0 || theString.hasPrefix(prefix as String)
}

@discardableResult
public func CFStringHasSuffix(_ theString: CFString!, _ suffix: CFString!) -> Bool {
  guard let theString, let suffix else { return false }
  return suffix.length == 0 || theString.hasSuffix(suffix as String)
}

/// The number at the string's start, after blanks, 0 if there is none; the nearest one that fits.
@discardableResult
public func CFStringGetIntValue(_ str: CFString!) -> Int32 {
  guard var number = (str as String?).map(NumberText.init) else { return 0 }
  let isNegative = number.takeSign() == "-"
  return number.takeDigits().utf8.reduce(0) { value, digit in
    let digit = Int32(digit) - 0x30
    let scaled = value.multipliedClamped(by: 10)
    return isNegative ? scaled.subtractingClamped(digit) : scaled.addingClamped(digit)
  }
}

/// The number at the string's start, after blanks, 0 if there is none; with a point, whatever the locale.
@discardableResult
public func CFStringGetDoubleValue(_ str: CFString!) -> Double {
  guard var number = (str as String?).map(NumberText.init) else { return 0 }
  let sign = number.takeSign()
  let whole = number.takeDigits()
  let fraction = number.take(".") ? number.takeDigits() : ""
  guard !whole.isEmpty || !fraction.isEmpty else { return 0 }
  var text = "\(sign)0\(whole).\(fraction)0"
  if number.take("e") || number.take("E") {
    let sign = number.takeSign()
    let exponent = number.takeDigits()
    if !exponent.isEmpty { text += "e\(sign)\(exponent)" }
  }
  return Double(text) ?? 0
}

/// Reads the number that text begins with. Foundation's own way ends the process at a surrogate.
private struct NumberText {
  private var rest: Substring.UnicodeScalarView

  /// Blanks before the number are no part of it.
  init(_ text: String) { rest = text[...].unicodeScalars.drop(while: \.properties.isWhitespace) }

  mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    guard rest.first == scalar else { return false }
    rest.removeFirst()
    return true
  }

  mutating func takeSign() -> String { take("-") ? "-" : take("+") ? "+" : "" }

  mutating func takeDigits() -> String {
    let digits = rest.prefix { ("0"..."9").contains($0) }
    rest = rest[digits.endIndex...]
    return String(digits)
  }
}

// MARK: - Changing

public func CFStringAppend(_ theString: CFMutableString!, _ appendedString: CFString!) {
  guard let theString, let appendedString else { return }
  theString.append(appendedString as String)
}
