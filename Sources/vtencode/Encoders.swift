// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import VideoToolbox

struct Encoders: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Lists the encoders that are available, and what each supports.",
    discussion: """
      Examples:
        vtencode encoders
        vtencode encoders --properties
      """)

  @Flag(name: [.long, .customShort("p")], help: "List each property with its type, range and values.")
  var properties = false

  func run() throws {
    let encoders = try ListedEncoder.all()
    guard !encoders.isEmpty else {
      throw Failure("no encoder is built in; build with --traits default,X264,X265 (make build does)")
    }
    var lines: [String] = []
    for encoder in encoders {
      if !lines.isEmpty { lines.append("") }
      lines += encoder.description(withProperties: properties)
    }
    try Console.print(lines.joined(separator: "\n") + "\n")
  }
}

extension ListedEncoder {
  fileprivate func description(withProperties: Bool) -> [String] {
    var lines = [
      name, "  codec       \(codecName) (\(fourCharacters(codecType)))", "  encoder ID  \(id)",
      "  hardware    \(isHardware ? "yes" : "no")",
    ]
    guard let supported = supportedProperties() else {
      return lines + ["  (does not describe its properties)"]
    }
    if let levels = values(kVTCompressionPropertyKey_ProfileLevel, in: supported) {
      lines += wrapped("profiles", levels)
    }
    if !withProperties {
      return lines + wrapped("properties", supported.keys.map { $0 as String }.sorted())
    }
    lines.append("  properties")
    let width = supported.keys.map { ($0 as String).count }.max() ?? 0
    for key in supported.keys.map({ $0 as String }).sorted() {
      let propertyInfo = supported[key as CFString] ?? [:]
      lines.append(
        "    \(key.padding(toLength: width, withPad: " ", startingAt: 0))  \(describe(propertyInfo))")
    }
    return lines
  }

  private func supportedProperties() -> [CFString: [CFString: Any]]? {
    var properties: CFDictionary?
    let specification = [kVTVideoEncoderSpecification_EncoderID: id] as CFDictionary
    let status = VTCopySupportedPropertyDictionaryForEncoder(
      width: 1280, height: 720, codecType: codecType, encoderSpecification: specification, encoderIDOut: nil,
      supportedPropertiesOut: &properties)
    guard status == noErr else { return nil }
    return properties as? [CFString: [CFString: Any]]
  }

  private func values(_ key: CFString, in supported: [CFString: [CFString: Any]]) -> [String]? {
    (supported[key]?[kVTPropertySupportedValueListKey] as? [Any])?.map { "\($0)" }
  }

  /// A property's type, range and values, such as `number 1 to 51`, `one of CAVLC, CABAC` or
  /// `boolean, read only`.
  private func describe(_ propertyInfo: [CFString: Any]) -> String {
    var parts: [String] = []
    let list = (propertyInfo[kVTPropertySupportedValueListKey] as? [Any])?.map { "\($0)" } ?? []
    if let type = propertyInfo[kVTPropertyTypeKey] as? String, list.isEmpty {
      parts.append(type.lowercased())
    }
    let minimum = propertyInfo[kVTPropertySupportedValueMinimumKey]
    let maximum = propertyInfo[kVTPropertySupportedValueMaximumKey]
    switch (minimum, maximum) {
    case (let minimum?, let maximum?): parts.append("\(minimum) to \(maximum)")
    case (let minimum?, nil): parts.append("from \(minimum)")
    case (nil, let maximum?): parts.append("to \(maximum)")
    default: break
    }
    if !list.isEmpty { parts.append("one of " + list.joined(separator: ", ")) }
    var text = parts.joined(separator: " ")
    if propertyInfo[kVTPropertyReadWriteStatusKey] as? String == kVTPropertyReadWriteStatus_ReadOnly as String
    {
      text += text.isEmpty ? "read only" : ", read only"
    }
    return text.isEmpty ? "a dictionary or an array" : text
  }

  /// A list with a title, wrapped to the width of the terminal.
  private func wrapped(_ title: String, _ words: [String]) -> [String] {
    var lines: [String] = []
    var line = "  " + title.padding(toLength: 12, withPad: " ", startingAt: 0)
    let indent = String(repeating: " ", count: line.count)
    for (index, word) in words.enumerated() {
      let piece = word + (index + 1 < words.count ? ", " : "")
      if line.count + piece.count > Console.width, line != indent {
        lines.append(line.trimmingTrailingSpaces)
        line = indent
      }
      line += piece
    }
    lines.append(line)
    return lines
  }
}

extension String {
  fileprivate var trimmingTrailingSpaces: String {
    var text = self[...]
    while text.last == " " { text = text.dropLast() }
    return String(text)
  }
}
