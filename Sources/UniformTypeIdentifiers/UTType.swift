// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A kind of data, by its uniform type identifier. Types of media are known here; others keep their
/// identifier and know nothing more.
public struct UTType: Hashable, Sendable, Codable, CustomStringConvertible {
  /// "public.mpeg-4"
  public let identifier: String

  /// A type by its identifier; nil for an empty one.
  public init?(_ identifier: String) {
    guard !identifier.isEmpty else { return nil }
    self.identifier = identifier
  }

  /// The type of files with a name extension, without the dot; nil if none is known.
  public init?(filenameExtension: String) {
    let wanted = filenameExtension.lowercased()
    guard let row = Self.table.first(where: { $0.extensions.contains(wanted) }) else { return nil }
    identifier = row.identifier
  }

  /// The type of a MIME type; nil if none is known.
  public init?(mimeType: String) {
    let wanted = mimeType.lowercased()
    guard let row = Self.table.first(where: { $0.mimeTypes.contains(wanted) }) else { return nil }
    identifier = row.identifier
  }

  private init(known identifier: String) { self.identifier = identifier }

  public var description: String { identifier }
  public var preferredFilenameExtension: String? { row?.extensions.first }
  public var preferredMIMEType: String? { row?.mimeTypes.first }

  /// The types that this one is a kind of.
  public var supertypes: Set<UTType> {
    var found: Set<UTType> = []
    var waiting = row?.parents ?? []
    while let parent = waiting.popLast() {
      guard found.insert(UTType(known: parent)).inserted else { continue }
      waiting += Self.table.first { $0.identifier == parent }?.parents ?? []
    }
    return found
  }

  /// Whether this is the type, or a kind of it.
  public func conforms(to type: UTType) -> Bool { self == type || supertypes.contains(type) }

  private var row: Row? { Self.table.first { $0.identifier == identifier } }

  private struct Row: Sendable {
    var identifier: String
    var parents: [String]
    var extensions: [String] = []
    var mimeTypes: [String] = []
  }

  private static let table: [Row] = [
    Row(identifier: "public.item", parents: []),
    Row(identifier: "public.content", parents: []),
    Row(identifier: "public.data", parents: ["public.item"]),
    Row(identifier: "public.audiovisual-content", parents: ["public.data", "public.content"]),
    Row(identifier: "public.movie", parents: ["public.audiovisual-content"]),
    Row(identifier: "public.video", parents: ["public.movie"]),
    Row(identifier: "public.audio", parents: ["public.audiovisual-content"]),
    Row(identifier: "public.image", parents: ["public.data", "public.content"]),
    Row(
      identifier: "com.apple.quicktime-movie", parents: ["public.movie"], extensions: ["mov", "qt"],
      mimeTypes: ["video/quicktime"]),
    Row(
      identifier: "public.mpeg-4", parents: ["public.movie"], extensions: ["mp4", "mpg4"],
      mimeTypes: ["video/mp4"]),
    Row(
      identifier: "com.apple.m4v-video", parents: ["public.movie"], extensions: ["m4v"],
      mimeTypes: ["video/x-m4v"]),
    Row(
      identifier: "public.mpeg-4-audio", parents: ["public.mpeg-4", "public.audio"], extensions: ["mp4a"],
      mimeTypes: ["audio/mp4"]),
    Row(
      identifier: "com.apple.m4a-audio", parents: ["public.mpeg-4-audio"], extensions: ["m4a"],
      mimeTypes: ["audio/x-m4a"]),
    Row(identifier: "public.3gpp", parents: ["public.movie"], extensions: ["3gp"], mimeTypes: ["video/3gpp"]),
    Row(
      identifier: "public.3gpp2", parents: ["public.movie"], extensions: ["3g2"], mimeTypes: ["video/3gpp2"]),
    Row(identifier: "public.avi", parents: ["public.movie"], extensions: ["avi"], mimeTypes: ["video/avi"]),
    Row(identifier: "public.mp3", parents: ["public.audio"], extensions: ["mp3"], mimeTypes: ["audio/mpeg"]),
    Row(
      identifier: "public.aiff-audio", parents: ["public.audio"], extensions: ["aiff", "aif"],
      mimeTypes: ["audio/aiff"]),
    Row(
      identifier: "com.microsoft.waveform-audio", parents: ["public.audio"], extensions: ["wav"],
      mimeTypes: ["audio/vnd.wave", "audio/wav"]),
    Row(
      identifier: "public.jpeg", parents: ["public.image"], extensions: ["jpeg", "jpg"],
      mimeTypes: ["image/jpeg"]),
    Row(identifier: "public.png", parents: ["public.image"], extensions: ["png"], mimeTypes: ["image/png"]),
    Row(
      identifier: "public.heif-standard", parents: ["public.image"], extensions: ["heif", "hif"],
      mimeTypes: ["image/heif"]),
    Row(
      identifier: "public.heic", parents: ["public.heif-standard"], extensions: ["heic"],
      mimeTypes: ["image/heic"]),
    Row(
      identifier: "public.tiff", parents: ["public.image"], extensions: ["tiff", "tif"],
      mimeTypes: ["image/tiff"]),
    Row(
      identifier: "com.compuserve.gif", parents: ["public.image"], extensions: ["gif"],
      mimeTypes: ["image/gif"]),
    Row(
      identifier: "com.microsoft.bmp", parents: ["public.image"], extensions: ["bmp"],
      mimeTypes: ["image/bmp"]),
    Row(
      identifier: "org.webmproject.webp", parents: ["public.image"], extensions: ["webp"],
      mimeTypes: ["image/webp"]),
  ]
}

extension UTType {
  public static let item = UTType(known: "public.item")
  public static let content = UTType(known: "public.content")
  public static let data = UTType(known: "public.data")
  public static let audiovisualContent = UTType(known: "public.audiovisual-content")
  public static let movie = UTType(known: "public.movie")
  public static let video = UTType(known: "public.video")
  public static let audio = UTType(known: "public.audio")
  public static let image = UTType(known: "public.image")
  public static let quickTimeMovie = UTType(known: "com.apple.quicktime-movie")
  public static let mpeg4Movie = UTType(known: "public.mpeg-4")
  public static let mpeg4Audio = UTType(known: "public.mpeg-4-audio")
  public static let avi = UTType(known: "public.avi")
  public static let mp3 = UTType(known: "public.mp3")
  public static let aiff = UTType(known: "public.aiff-audio")
  public static let wav = UTType(known: "com.microsoft.waveform-audio")
  public static let jpeg = UTType(known: "public.jpeg")
  public static let png = UTType(known: "public.png")
  public static let heif = UTType(known: "public.heif-standard")
  public static let heic = UTType(known: "public.heic")
  public static let tiff = UTType(known: "public.tiff")
  public static let gif = UTType(known: "com.compuserve.gif")
  public static let bmp = UTType(known: "com.microsoft.bmp")
  public static let webP = UTType(known: "org.webmproject.webp")
}
