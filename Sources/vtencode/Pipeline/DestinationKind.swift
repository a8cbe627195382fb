// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import ArgumentParser
import FFmpegMedia
import Foundation

/// The values of `--format`: what standard output or a server gets.
enum StreamFormat: String, CaseIterable, ExpressibleByArgument, Sendable {
  case mpegts
  case mp4
  case matroska
  case flv

  private var container: StreamContainer {
    switch self {
    case .mpegts: .transportStream
    case .mp4: .fragmentedMP4
    case .matroska: .matroska
    case .flv: .flv
    }
  }

  /// The container.
  /// - Throws: a `Failure` if it cannot hold the codec.
  func container(for codec: Codec) throws -> StreamContainer {
    try Destination.check(container, holds: codec, what: "--format \(rawValue)")
    return container
  }
}

extension Destination {
  /// The kind of output that a file's name stands for.
  static func kind(ofFile path: String, codec: Codec, _ choices: Choices) throws -> Kind {
    let ending = (path as NSString).pathExtension.lowercased()
    if let own = Codec(streamEnding: ending) {
      guard own == codec else {
        throw Failure(
          "a .\(ending) file cannot hold \(codec.name); name it .\(codec.streamEnding)"
            + (choices.hasCodec ? ", or choose --codec \(own.rawValue)" : ""), status: 64)
      }
      return .elementaryStream
    }
    switch ending {
    case "mov", "qt": return .movie(.mov)
    case "mp4": return .movie(.mp4)
    case "m4v": return .movie(.m4v)
    case "mkv", "ts", "flv":
      if !choices.takesContainers { fallthrough }
      return .container(try container(ofEnding: ending, codec: codec))
    case "m3u8":
      guard let plan = choices.segments else {
        throw Failure(
          "only vtencode streaming and transcoding write .m3u8 playlists, and these without --jobs; end the "
            + "name of --out in .mp4", status: 64)
      }
      return .segments(plan)
    case "gif", "webp":
      throw Failure(
        "only vtencode transcoding writes .\(ending) files, without --jobs and as its one output; end the name "
          + "of --out in .mp4", status: 64)
    case "webm", "m2ts", "avi":
      // FFmpeg rewraps what was encoded without loss; the codecs of the others are not encoded
      // here.
      let advice =
        ["m2ts", "avi", "mkv", "ts", "flv"].contains(ending)
        ? "end the name of --out in .mp4, and ffmpeg -i FILE.mp4 -c copy FILE.\(ending) rewraps it without loss"
        : "they hold neither H.264 nor HEVC, which are what vtencode encodes; end the name of --out in .mp4"
          + (choices.takesContainers ? " or .mkv" : "")
      throw Failure("cannot write .\(ending) files: \(advice)", status: 64)
    default:
      let what = ending.isEmpty ? "'\(path)' has no file type" : "cannot write .\(ending) files"
      let streams = choices.hasCodec ? ".264 or .265" : "or .\(codec.streamEnding)"
      throw Failure(
        "\(what); end the name of --out in .mov, .mp4, .m4v,"
          + (choices.takesContainers ? " .mkv, .ts, .flv," : "") + " \(streams)"
          + (choices.acceptsPipe ? ", or give -" : ""), status: 64)
    }
  }

  private static func container(ofEnding ending: String, codec: Codec) throws -> StreamContainer {
    let container: StreamContainer =
      switch ending {
      case "ts": .transportStream
      case "flv": .flv
      default: .matroska
      }
    try check(container, holds: codec, what: "a .\(ending) file")
    return container
  }

  /// - Throws: a `Failure` if a container cannot hold pictures of a codec.
  static func check(_ container: StreamContainer, holds codec: Codec, what: String) throws {
    guard container.holds(codec) else {
      throw Failure(
        "\(what) cannot hold \(codec.name)\(codec == .hvc1 ? " with this version of FFmpeg; choose --codec avc1" : "")",
        status: 64)
    }
  }

  static func server(
    _ argument: String, codec: Codec, format: StreamFormat?, _ choices: Choices
  ) throws -> Kind {
    let schemes = StreamAddress.schemes.map { $0 + "://" }.joined(separator: ", ")
    guard choices.takesServer else {
      throw Failure(
        "this command writes files; vtencode streaming sends to addresses (\(schemes))", status: 64)
    }
    guard let address = StreamAddress(argument) else {
      // The text may contain a key, so it is not repeated.
      throw Failure(
        "--out is not a valid address; it must begin with one of \(schemes), followed by a host",
        status: 64)
    }
    if let format, !["tcp", "udp", "srt"].contains(address.scheme) {
      throw Failure(
        "--format \(format.rawValue) is for - and for tcp://, udp:// and srt://; \(address.scheme):// always "
          + "carries \(address.container.name), so omit it", status: 64)
    }
    let container = try format?.container(for: codec)
    try check(container ?? address.container, holds: codec, what: "\(address.scheme)://")
    return .server(address, container)
  }
}

extension StreamContainer {
  /// Whether the container holds more than one track of pictures and one of audio.
  var holdsSeveralAudioTracks: Bool { self != .flv && self != .rtsp }

  /// Whether the container holds pictures of a codec.
  func holds(_ codec: Codec) -> Bool {
    let format = try? CMVideoFormatDescription(
      videoCodecType: CMFormatDescription.MediaSubType(rawValue: codec.type), width: 16, height: 16)
    return format.map { holds($0) } ?? false
  }
}
