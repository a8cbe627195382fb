// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Writes a message with interpolated values.
@_disfavoredOverload
public func os_log(_ message: @autoclosure () -> OSLogMessage) {
  OSLog.default.write(.default, message().text)
}

public func os_log(_ logLevel: OSLogType, _ message: @autoclosure () -> OSLogMessage) {
  OSLog.default.write(logLevel, message().text)
}

public func os_log(_ logLevel: OSLogType, log: OSLog, _ message: @autoclosure () -> OSLogMessage) {
  log.write(logLevel, message().text)
}

/// Writes a message with a format like that of `printf`.
///
/// `%@` takes any object or string; the other conversions take the same values as with `printf`.
/// `%{public}@` shows a value that is private by default, and `%{private}d` hides a value that is
/// public by default; see `OSLogPrivacy`.
public func os_log(
  _ message: StaticString, dso: UnsafeRawPointer? = nil, log: OSLog = .default, type: OSLogType = .default,
  _ args: any CVarArg...
) {
  log.write(type, FormattedMessage.text(message.description, args))
}

/// Writes a message with a format like that of `printf`, with the type as the first argument.
public func os_log(
  _ type: OSLogType, dso: UnsafeRawPointer? = nil, log: OSLog = .default, _ message: StaticString,
  _ args: any CVarArg...
) {
  log.write(type, FormattedMessage.text(message.description, args))
}

enum FormattedMessage {
  /// Returns a format with its values. A conversion without a value becomes `<missing>`.
  static func text(_ format: String, _ values: [any CVarArg]) -> String {
    var result = ""
    var rest = Substring(format)
    var next = values.makeIterator()
    while let percent = rest.firstIndex(of: "%") {
      result += rest[..<percent]
      rest = rest[rest.index(after: percent)...]
      var privacy = OSLogPrivacy.auto
      if rest.first == "{", let end = rest.firstIndex(of: "}") {
        let words = rest[rest.index(after: rest.startIndex)..<end].split(separator: ",").map {
          $0.trimmingCharacters(in: .whitespaces)
        }
        if words.contains("public") { privacy = .public }
        if words.contains("private") { privacy = .private }
        if words.contains("sensitive") { privacy = .sensitive }
        if words.contains("mask.hash") { privacy = .private(mask: .hash) }
        rest = rest[rest.index(after: end)...]
      }
      // Flags, width, precision and length modifiers precede the letter of the conversion.
      guard let letter = rest.firstIndex(where: { !"0123456789.+-# 'hlqLztj".contains($0) }) else {
        return result + "%" + rest
      }
      let conversion = rest[letter]
      let modifiers = rest[..<letter]
      rest = rest[rest.index(after: letter)...]
      if conversion == "%" {
        result += "%"
      } else if let value = next.next() {
        result += privacy.text(
          written(value, String(modifiers), conversion), isPublicByNature: !"@sS".contains(conversion))
      } else {
        result += "<missing>"
      }
    }
    return result + rest
  }

  private static func written(_ value: any CVarArg, _ modifiers: String, _ conversion: Character) -> String {
    let flags = modifiers.filter { !"hlqLztj".contains($0) }
    switch (conversion, value) {
    case ("@", _): return String(describing: value)
    case ("d", let number as any BinaryInteger), ("i", let number as any BinaryInteger):
      return String(format: "%\(flags)lld", Int64(clamping: number))
    case ("u", let number as any BinaryInteger), ("x", let number as any BinaryInteger),
      ("X", let number as any BinaryInteger), ("o", let number as any BinaryInteger):
      return String(format: "%\(flags)ll\(conversion)", UInt64(truncatingIfNeeded: number))
    case ("c", let number as any BinaryInteger):
      return Unicode.Scalar(UInt32(truncatingIfNeeded: number)).map { String($0) } ?? "?"
    case (_, let number as any BinaryFloatingPoint) where "aAeEfFgG".contains(conversion):
      return String(format: "%\(flags)\(conversion)", Double(number))
    case ("s", let text as UnsafePointer<CChar>): return String(cString: text)
    case ("s", let text as UnsafeMutablePointer<CChar>): return String(cString: text)
    // For a value of a type that does not match the conversion, the value's description is written.
    default: return String(describing: value)
    }
  }
}
