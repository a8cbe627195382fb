// SPDX-License-Identifier: Apache-2.0
/// The encoding of text as bytes.
public typealias CFStringEncoding = UInt32

/// The encodings that Core Foundation always provides.
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

/// Options for a comparison of strings.
public struct CFStringCompareFlags: OptionSet, Sendable {
  public let rawValue: CFOptionFlags
  public init(rawValue: CFOptionFlags) { self.rawValue = rawValue }
  public static let compareCaseInsensitive = CFStringCompareFlags(rawValue: 1)
  public static let compareBackwards = CFStringCompareFlags(rawValue: 4)
  public static let compareAnchored = CFStringCompareFlags(rawValue: 8)
  public static let compareNumerically = CFStringCompareFlags(rawValue: 64)
}

extension String.Encoding {
  /// The equivalent of a Core Foundation encoding, or nil if there is none.
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

/// Creates a string from a null-terminated C string. It returns nil if the bytes are not valid in
/// the encoding.
@discardableResult
public func CFStringCreateWithCString(
  _ alloc: CFAllocator!, _ cStr: UnsafePointer<CChar>!, _ encoding: CFStringEncoding
) -> CFString! {
  guard let cStr else { return nil }
  return cStr.withMemoryRebound(to: UInt8.self, capacity: strlen(cStr) + 1) {
    CFStringCreateWithBytes(alloc, $0, strlen(cStr), encoding, false)
  }
}

/// Creates a string from bytes. It returns nil if they are not valid in the encoding.
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

/// Returns the number of UTF-16 code units.
@discardableResult
public func CFStringGetLength(_ theString: CFString!) -> CFIndex { theString?.length ?? 0 }

/// Returns the maximum number of bytes that `length` UTF-16 code units take, without a terminating
/// null, or `kCFNotFound` if `CFIndex` cannot hold the number.
@discardableResult
public func CFStringGetMaximumSizeForEncoding(_ length: CFIndex, _ encoding: CFStringEncoding) -> CFIndex {
  let maximumBytesPerUnit =
    switch CFStringBuiltInEncodings(rawValue: encoding) {
    case .UTF8: 3
    case .unicode, .UTF16BE, .UTF16LE: 2
    case .UTF32, .UTF32BE, .UTF32LE: 4
    case .nonLossyASCII: 6
    default: 1
    }
  let (bytes, overflow) = length.multipliedReportingOverflow(by: maximumBytesPerUnit)
  return overflow ? kCFNotFound : bytes
}

/// Writes the text and a terminating null to a buffer of `bufferSize` bytes.
/// - Returns: false if the text does not fit or cannot be represented in the encoding.
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

/// Returns nil, because strings on Linux do not provide a pointer to their bytes. Use
/// `CFStringGetCString`, which copies them.
@discardableResult
public func CFStringGetCStringPtr(_ theString: CFString!, _ encoding: CFStringEncoding) -> UnsafePointer<
  CChar
>! {
  nil
}

/// Returns the UTF-16 code unit at an index, or 0 if there is no such index.
@discardableResult
public func CFStringGetCharacterAtIndex(_ theString: CFString!, _ idx: CFIndex) -> UniChar {
  guard let theString, idx >= 0, idx < theString.length else { return 0 }
  return theString.character(at: idx)
}

/// Compares two strings.
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

/// Returns the integer at the start of the string, after whitespace. It returns 0 if there is none,
/// and the nearest `Int32` if the number does not fit.
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

/// Returns the number at the start of the string, after whitespace, or 0 if there is none. The
/// decimal separator is a point, regardless of the locale.
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

/// A parser for the number at the start of a text. Foundation's own functions end the process if
/// the text contains an unpaired surrogate.
private struct NumberText {
  private var rest: Substring.UnicodeScalarView

  /// Begins to parse after leading whitespace.
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
