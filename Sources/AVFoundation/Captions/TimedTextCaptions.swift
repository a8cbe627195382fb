// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// Converts between captions and samples of 3GPP timed text (3GPP TS 26.245, 5.17). A sample is a
/// text of up to 65,535 bytes and a box that states which characters are bold, italic, underlined
/// or coloured.
enum TimedTextCaptions {
  /// The most bytes of a text, and the largest character offset in a style record: both are 16-bit
  /// numbers.
  static let maxBytes = 0xFFFF

  /// The font style flags and the text colour of a style record (3GPP TS 26.245, 5.17.1.1).
  private struct TextStyle: Equatable {
    var flags: UInt8 = 0
    var color: [UInt8] = white
  }
  private static let white: [UInt8] = [255, 255, 255, 255]

  // MARK: - Writing

  /// Returns a description of an attribute of a caption that 3GPP timed text does not support; nil
  /// if it supports all of them.
  static func obstacle(_ caption: AVCaption) -> String? {
    let content = caption.content
    let styles = content.styles
    if content.text.utf8.count > maxBytes { return "a text of more than \(maxBytes) bytes" }
    if let region = content.region, region != AVCaptionRegion.subRipTextBottom { return "a region" }
    if ![.start, .center].contains(content.alignment) { return "an alignment of its own" }
    if content.animation != .none { return "an animation" }
    if !styles.ruby.isEmpty { return "ruby text" }
    if styles.combine.values.contains(where: { $0 != .none }) { return "combined characters" }
    if !styles.backgroundColor.isEmpty { return "a background colour" }
    if styles.decoration.values.contains(where: { !$0.isSubset(of: .underline) }) {
      return "another line than one under the text"
    }
    return nil
  }

  /// Returns the caption without attributes that 3GPP timed text does not support. A text that is
  /// too long is shortened.
  static func conformed(_ caption: AVCaption) -> AVCaption {
    var content = caption.content
    if let region = content.region, region != AVCaptionRegion.subRipTextBottom { content.region = nil }
    if ![.start, .center].contains(content.alignment) { content.alignment = .start }
    content.animation = .none
    content.styles.ruby = StyleRuns()
    content.styles.combine = StyleRuns()
    content.styles.backgroundColor = StyleRuns()
    let length = content.text.utf16.count
    var position = 0
    let decoration = content.styles.decoration
    while position < length {
      let (value, range) = decoration.at(position, in: length)
      if let value, !value.isSubset(of: .underline) {
        content.styles.decoration.set(value.intersection(.underline), in: range)
      }
      position = max(range.upperBound, position + 1)
    }
    if content.text.utf8.count > maxBytes {
      let kept = TimedText(start: 0, end: nil, text: content.text).text
      let old = content.text.utf16.count
      content.text = kept
      clear(&content.styles, kept.utf16.count..<old)
    }
    return AVCaption(content)
  }

  private static func clear(_ styles: inout CaptionStyles, _ range: Range<Int>) {
    styles.textColor.set(nil, in: range)
    styles.weight.set(nil, in: range)
    styles.style.set(nil, in: range)
    styles.decoration.set(nil, in: range)
  }

  /// Returns the sample for a caption.
  static func sample(_ caption: AVCaption) -> [UInt8] {
    let content = caption.content
    var bytes = TimedText(start: 0, end: nil, text: content.text).sample
    let length = content.text.utf16.count
    let styles = content.styles
    let bounds =
      [0, length] + styles.textColor.bounds + styles.weight.bounds + styles.style.bounds
      + styles.decoration.bounds
    let boundaries = Set(bounds.map { min($0, length) }).sorted()
    var records: [UInt8] = []
    var count = 0
    for (start, end) in zip(boundaries, boundaries.dropFirst()) {
      var textStyle = TextStyle()
      if styles.weight.at(start, in: length).value == .bold { textStyle.flags |= 1 }
      if styles.style.at(start, in: length).value == .italic { textStyle.flags |= 2 }
      if styles.decoration.at(start, in: length).value?.contains(.underline) == true { textStyle.flags |= 4 }
      if let color = styles.textColor.at(start, in: length).value { textStyle.color = rgba(color) }
      guard textStyle != TextStyle() else { continue }
      let (first, last) = (characters(content.text, start), characters(content.text, end))
      guard first < last, last <= maxBytes, count < maxBytes else { continue }
      // The font and size are those of the track's sample description: font 1, 18 pixels.
      records +=
        number(first) + number(last) + [0, 1, textStyle.flags, 18] + textStyle.color
      count += 1
    }
    if count > 0 {
      let size = 10 + records.count
      bytes +=
        [0, UInt8(size >> 16 & 255)] + number(size & 0xFFFF) + Array("styl".utf8) + number(count) + records
    }
    return bytes
  }

  private static func number(_ value: Int) -> [UInt8] {
    [UInt8(truncatingIfNeeded: value >> 8), UInt8(truncatingIfNeeded: value)]
  }

  /// The number of Unicode scalars before an offset in UTF-16 code units.
  private static func characters(_ text: String, _ offset: Int) -> Int {
    let units = text.utf16
    let index = units.index(units.startIndex, offsetBy: min(offset, units.count))
    return text.unicodeScalars[..<index].count
  }

  private static func rgba(_ color: CGColor) -> [UInt8] {
    let parts = color.components ?? []
    func byte(_ value: CGFloat) -> UInt8 { UInt8(max(0, min(255, (value * 255).rounded()))) }
    switch parts.count {
    case 4: return parts.map(byte)
    case 2: return [parts[0], parts[0], parts[0], parts[1]].map(byte)
    default: return white
    }
  }

  // MARK: - Reading

  /// Parses a sample.
  /// - Returns: The caption, which is nil if there is no text, and the types of the boxes that are
  ///   not supported. Nil if the sample is malformed.
  static func caption(
    _ bytes: [UInt8], _ range: CMTimeRange
  ) -> (caption: AVCaption?, unknown: [String])? {
    guard bytes.count >= 2 else { return nil }
    func number(_ at: Int) -> Int { at + 2 <= bytes.count ? Int(bytes[at]) << 8 | Int(bytes[at + 1]) : 0 }
    let length = number(0)
    guard 2 + length <= bytes.count else { return nil }
    let encoded = bytes[2..<2 + length]
    let text: String
    if encoded.starts(with: [0xFE, 0xFF]) {
      text = String(data: Data(encoded.dropFirst(2)), encoding: .utf16BigEndian) ?? ""
    } else {
      text = String(decoding: encoded, as: UTF8.self)
    }
    guard !text.isEmpty else { return (nil, []) }
    let caption = AVMutableCaption(text, timeRange: range)
    var unknown: [String] = []
    var position = 2 + length
    while position + 8 <= bytes.count {
      let size = number(position) << 16 | number(position + 2)
      guard size >= 8, size <= bytes.count - position else { break }
      let type = String(decoding: bytes[position + 4..<position + 8], as: UTF8.self)
      if type == "styl" {
        apply(bytes[position + 8..<position + size], to: caption)
      } else if !unknown.contains(type) {
        unknown.append(type)
      }
      position += size
    }
    return (caption.copy() as? AVCaption, unknown)
  }

  private static func apply(_ box: ArraySlice<UInt8>, to caption: AVMutableCaption) {
    let box = Array(box)
    guard box.count >= 2 else { return }
    let scalars = Array(caption.text.unicodeScalars)
    // The number of UTF-16 code units before each Unicode scalar.
    var offsets = [0]
    for scalar in scalars { offsets.append(offsets[offsets.count - 1] + (scalar.value > 0xFFFF ? 2 : 1)) }
    func number(_ at: Int) -> Int { Int(box[at]) << 8 | Int(box[at + 1]) }
    // Style records are in order and do not overlap (3GPP TS 26.245, 5.17.1.1); records that
    // violate this are ignored.
    var reached = 0
    for record in 0..<min(number(0), (box.count - 2) / 12) {
      let at = 2 + 12 * record
      let (start, end) = (min(number(at), scalars.count), min(number(at + 2), scalars.count))
      guard start < end, start >= reached else { continue }
      reached = end
      let range = NSRange(location: offsets[start], length: offsets[end] - offsets[start])
      let flags = box[at + 6]
      if flags & 1 != 0 { caption.setFontWeight(.bold, in: range) }
      if flags & 2 != 0 { caption.setFontStyle(.italic, in: range) }
      if flags & 4 != 0 { caption.setDecoration(.underline, in: range) }
      let color = Array(box[at + 8..<at + 12])
      guard color != white else { continue }
      let parts = color.map { CGFloat($0) / 255 }
      caption.setTextColor(
        CGColor(srgbRed: parts[0], green: parts[1], blue: parts[2], alpha: parts[3]), in: range)
    }
  }
}
