// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A multivariant playlist (RFC 8216bis, 4.4.6).
struct MultivariantPlaylist: Sendable, Equatable {
  /// A rendition of the audio (4.4.6.1).
  struct AudioRendition: Sendable, Equatable {
    var suffix: String
    var name: String
    /// The language as a tag of BCP 47; nil if it is not known.
    var language: String?
    var channels: Int
    var codec: String?
    var isDefault: Bool
    var peakRate: Double
    var averageRate: Double
  }

  /// A variant stream (4.4.6.2).
  struct Variant: Sendable, Equatable {
    var suffix: String
    /// The codecs of its media playlist; nil for one that has no name.
    var codecs: [String?]
    var width: Int
    var height: Int
    var frameRate: Double
    var peakRate: Double
    var averageRate: Double
    /// `PQ` or `HLG`; nil for a standard dynamic range.
    var range: String?
    /// The playlist of its key frames (4.4.6.3); nil if there is none.
    var keyFrames: KeyFrames?
  }

  /// A playlist of key frames alone, and its rates in bits a second.
  struct KeyFrames: Sendable, Equatable {
    var suffix: String
    /// The codec of the pictures; nil for one that has no name.
    var codec: String?
    var peakRate: Double
    var averageRate: Double
  }

  /// A rendition of text (4.4.6.1).
  struct Text: Sendable, Equatable {
    var suffix: String
    var name: String
    /// The language as a tag of BCP 47; nil if it is not known.
    var language: String?
    var peakRate: Double
    var averageRate: Double
  }

  var variants: [Variant] = []
  var audioRenditions: [AudioRendition] = []
  var texts: [Text] = []

  private static let (group, textGroup) = ("sound", "text")

  /// - Parameter names: the names of the files.
  func text(_ names: SegmentNames) -> String {
    var lines = ["#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-INDEPENDENT-SEGMENTS"]
    for audio in audioRenditions {
      let language = audio.language.map { ",LANGUAGE=\"\($0)\"" } ?? ""
      lines.append(
        "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"\(Self.group)\",NAME=\"\(audio.name)\"\(language),"
          + "DEFAULT=\(audio.isDefault ? "YES" : "NO"),AUTOSELECT=YES,CHANNELS=\"\(audio.channels)\","
          + "URI=\"\(names.file(audio.suffix))\"")
    }
    for text in texts {
      let language = text.language.map { ",LANGUAGE=\"\($0)\"" } ?? ""
      // A viewer chooses text, or a player by the viewer's language.
      lines.append(
        "#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID=\"\(Self.textGroup)\",NAME=\"\(text.name)\"\(language),"
          + "DEFAULT=NO,AUTOSELECT=YES,FORCED=NO,URI=\"\(names.file(text.suffix))\"")
    }
    // A player combines a variant with any one rendition of each group.
    let peak = (audioRenditions.map(\.peakRate).max() ?? 0) + (texts.map(\.peakRate).max() ?? 0)
    let average = (audioRenditions.map(\.averageRate).max() ?? 0) + (texts.map(\.averageRate).max() ?? 0)
    for variant in variants {
      var attributes = [
        "BANDWIDTH=\(Self.rate(variant.peakRate + peak))",
        "AVERAGE-BANDWIDTH=\(Self.rate(variant.averageRate + average))",
      ]
      var codecs: [String] = []
      let all = variant.codecs + audioRenditions.map(\.codec)
      for case let codec? in all where !codecs.contains(codec) { codecs.append(codec) }
      // The list has every format of the variant, or is left out.
      if !all.contains(nil) { attributes.append("CODECS=\"\(codecs.joined(separator: ","))\"") }
      attributes.append("RESOLUTION=\(variant.width)x\(variant.height)")
      if variant.frameRate > 0 { attributes.append("FRAME-RATE=\(TextFormat.fixed(variant.frameRate, 3))") }
      if let range = variant.range { attributes.append("VIDEO-RANGE=\(range)") }
      if !audioRenditions.isEmpty { attributes.append("AUDIO=\"\(Self.group)\"") }
      if !texts.isEmpty { attributes.append("SUBTITLES=\"\(Self.textGroup)\"") }
      lines.append("#EXT-X-STREAM-INF:" + attributes.joined(separator: ","))
      lines.append(names.file(variant.suffix))
    }
    lines += variants.compactMap { Self.keyFrameLine($0, names) }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func keyFrameLine(_ variant: Variant, _ names: SegmentNames) -> String? {
    guard let frames = variant.keyFrames else { return nil }
    let codecs = frames.codec.map { ",CODECS=\"\($0)\"" } ?? ""
    let range = variant.range.map { ",VIDEO-RANGE=\($0)" } ?? ""
    return "#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=\(rate(frames.peakRate)),"
      + "AVERAGE-BANDWIDTH=\(rate(frames.averageRate))\(codecs),"
      + "RESOLUTION=\(variant.width)x\(variant.height)\(range),URI=\"\(names.file(frames.suffix))\""
  }

  private static func rate(_ value: Double) -> Int { max(1, Int(clamping: value.rounded(.up))) }
}
