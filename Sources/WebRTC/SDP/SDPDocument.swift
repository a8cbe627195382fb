// SPDX-License-Identifier: Apache-2.0

/// A session description (RFC 8866) as lines, without a meaning.
public struct SDPDocument: Equatable, Sendable {
  /// An attribute `a=name:value`, or `a=name`.
  public struct Attribute: Equatable, Sendable {
    public var name: String
    public var value: String?

    public init(_ name: String, _ value: String? = nil) {
      self.name = name
      self.value = value
    }
  }

  /// A media description (RFC 8866, 5.14).
  public struct Media: Equatable, Sendable {
    public var kind: String
    public var port: Int
    public var proto: String
    public var formats: [String]
    public var attributes: [Attribute] = []

    public init(kind: String, port: Int, proto: String, formats: [String]) {
      self.kind = kind
      self.port = port
      self.proto = proto
      self.formats = formats
    }
  }

  public enum Failure: Error, Equatable, Sendable {
    /// More bytes, lines or media descriptions than are read.
    case tooLarge
    /// A line, counted from 1, that is none of a session description, or where it must not be.
    case malformed(line: Int)
  }

  /// The largest description that is read, in bytes; browsers write some 10,000.
  public static let maxBytes = 65_536
  static let maxLines = 2000
  static let maxMedia = 32

  /// The session's identifier and version, which a later description of the same session repeats
  /// and counts up (RFC 8866, 5.2).
  public var identifier: UInt64
  public var version: UInt64 = 1
  public var attributes: [Attribute] = []
  public var media: [Media] = []

  public init(identifier: UInt64) { self.identifier = identifier }

  /// Reads a description. Lines end with CR LF, or with LF alone (RFC 8866, 5).
  /// - Parameter text: The description.
  /// - Throws: A ``Failure``.
  public init(_ text: String) throws(Failure) {
    guard text.utf8.count <= Self.maxBytes else { throw .tooLarge }
    identifier = 0
    var number = 0
    for line in text.utf8.split(separator: 10, omittingEmptySubsequences: false) {
      number += 1
      guard number <= Self.maxLines else { throw .tooLarge }
      let line = line.last == 13 ? line.dropLast() : line
      if line.isEmpty { continue }
      guard let type = line.first, line.dropFirst().first == UInt8(ascii: "="),
        let value = String(validating: line.dropFirst(2), as: UTF8.self),
        !value.utf8.contains(0)
      else { throw .malformed(line: number) }
      guard read(type, value, isFirst: number == 1) else { throw .malformed(line: number) }
      guard media.count <= Self.maxMedia else { throw .tooLarge }
    }
    guard number > 0, hasVersion else { throw .malformed(line: 1) }
    hasVersion = false
  }

  /// Whether the line `v=0` came; only while reading.
  private var hasVersion = false

  private mutating func read(_ type: UInt8, _ value: String, isFirst: Bool) -> Bool {
    switch type {
    case UInt8(ascii: "v"):
      hasVersion = true
      return isFirst && value == "0"
    case UInt8(ascii: "o"):
      let words = value.split(separator: " ")
      guard words.count == 6, let version = UInt64(words[2]) else { return false }
      // Some write an identifier of more than 64 bits, which matters to themselves alone.
      identifier = UInt64(words[1]) ?? 0
      self.version = version
      return true
    case UInt8(ascii: "m"):
      let words = value.split(separator: " ")
      guard words.count >= 4, let port = words[1].split(separator: "/").first.flatMap({ UInt16($0) }),
        words.count <= 130
      else { return false }
      media.append(
        Media(
          kind: String(words[0]), port: Int(port), proto: String(words[2]),
          formats: words.dropFirst(3).map(String.init)))
      return true
    case UInt8(ascii: "a"):
      let parts = value.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = parts.first, !name.isEmpty else { return false }
      let attribute = Attribute(String(name), parts.count > 1 ? String(parts[1]) : nil)
      if media.isEmpty {
        attributes.append(attribute)
      } else {
        media[media.count - 1].attributes.append(attribute)
      }
      return true
    // Names, times, addresses and bandwidths say nothing that a bundled session needs.
    case UInt8(ascii: "s"), UInt8(ascii: "t"), UInt8(ascii: "c"), UInt8(ascii: "b"), UInt8(ascii: "i"),
      UInt8(ascii: "u"), UInt8(ascii: "e"), UInt8(ascii: "p"), UInt8(ascii: "r"), UInt8(ascii: "z"),
      UInt8(ascii: "k"):
      return true
    default: return false
    }
  }

  /// The description as text, with CR LF at the end of each line.
  public var text: String {
    var lines = ["v=0", "o=- \(identifier) \(version) IN IP4 127.0.0.1", "s=-", "t=0 0"]
    func add(_ attributes: [Attribute]) {
      for attribute in attributes {
        lines.append("a=\(attribute.name)" + (attribute.value.map { ":\($0)" } ?? ""))
      }
    }
    add(attributes)
    for part in media {
      lines.append("m=\(part.kind) \(part.port) \(part.proto) \(part.formats.joined(separator: " "))")
      lines.append("c=IN IP4 0.0.0.0")
      add(part.attributes)
    }
    return lines.map { $0 + "\r\n" }.joined()
  }
}

extension [SDPDocument.Attribute] {
  /// The value of the first attribute of a name; nil if there is none, or it has no value.
  func value(_ name: String) -> String? { first { $0.name == name }?.value }
  func values(_ name: String) -> [String] { lazy.filter { $0.name == name }.compactMap(\.value) }
  func has(_ name: String) -> Bool { contains { $0.name == name } }
}
