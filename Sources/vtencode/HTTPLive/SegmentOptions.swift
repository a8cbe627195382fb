// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CoreMedia
import Foundation

extension SegmentPlan.Playlist: ExpressibleByArgument {}

/// The options for segments and playlists, which an output that ends in .m3u8 has.
struct SegmentOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The duration of a segment in seconds, 0.5 to 60; each begins with a key frame. (default: 2 for window "
        + "and event playlists, 4 for vod)", valueName: "s"))
  var segmentLength: Double?

  @Option(
    help: ArgumentHelp(
      "Which segments the playlists list: window, the newest ones; event, all so far; vod, all, when the run "
        + "has ended. (default: window for streaming, vod for transcoding)", valueName: "kind"))
  var playlist: SegmentPlan.Playlist?

  @Option(
    help: ArgumentHelp(
      "The number of segments in a window playlist, 3 to 10000. Files of older ones are removed when no player "
        + "needs them any more. (default: 6)", valueName: "segments"))
  var window: Int?

  @Flag(help: "Write the segments of a playlist into one file, as byte ranges. Not for window playlists.")
  var singleFile = false

  @Option(
    help: ArgumentHelp(
      "Encode in several sizes and bit rates at once, largest first, with key frames and segments at the same "
        + "times: 1280x720:2500k,640x360:800k. Audio is written once, for all of them.", valueName: "list"),
    transform: { argument in
      guard let list = RenditionList(argument: argument) else { throw ValidationError(RenditionList.advice) }
      return list
    })
  var rendition: RenditionList?

  @Option(
    help: ArgumentHelp(
      "Low latency: publish each segment in parts of this many seconds, 0.1 to 2, while it is encoded. The "
        + "folder then needs a server that answers when a part is there: vtencode serve.", valueName: "s"))
  var partLength: Double?

  @Option(
    help: ArgumentHelp(
      "Encrypt the segments with the key in this file, 16 bytes as 'openssl rand 16' makes them (AES-128, CBC).",
      valueName: "file"), completion: .file())
  var hlsKey: String?

  @Option(
    help: ArgumentHelp(
      "Where players get the key of --hls-key: an address, or a name next to the playlists.", valueName: "uri"
    )
  )
  var hlsKeyUri: String?

  @Flag(help: "Write a DASH manifest (.mpd) over the same segments too; audio then has segments of its own.")
  var dash = false

  /// The options that were given, by name.
  private var givenNames: [String] {
    [
      segmentLength != nil ? "--segment-length" : nil, playlist != nil ? "--playlist" : nil,
      window != nil ? "--window" : nil, singleFile ? "--single-file" : nil,
      rendition != nil ? "--rendition" : nil, partLength != nil ? "--part-length" : nil,
      hlsKey != nil ? "--hls-key" : nil, hlsKeyUri != nil ? "--hls-key-uri" : nil, dash ? "--dash" : nil,
    ].compactMap(\.self)
  }

  /// Checks the options against each other and the others of the run.
  /// - Parameters:
  ///   - options: the options that all subcommands share.
  ///   - defaultKind: the kind of playlist without `--playlist`.
  func validate(with options: EncodingOptions, defaultKind: SegmentPlan.Playlist) throws {
    guard options.hasPlaylist else {
      guard let name = givenNames.first else { return }
      throw ValidationError("\(name) requires segments; use a file name that ends in .m3u8 for --out.")
    }
    let kind = playlist ?? defaultKind
    if let segmentLength, !(0.5...60).contains(segmentLength) {
      throw ValidationError("--segment-length must be from 0.5 to 60 seconds.")
    }
    if let window {
      guard kind == .window else {
        throw ValidationError(
          "--window requires --playlist window; a \(kind.rawValue) playlist lists all segments.")
      }
      guard (3...10_000).contains(window) else {
        throw ValidationError("--window must be from 3 to 10000 segments; players need three.")
      }
    }
    if singleFile, kind == .window {
      throw ValidationError(
        "--single-file keeps all segments in one file, and a window playlist drops them; give --playlist "
          + "event or vod, or omit it.")
    }
    if let partLength {
      guard (0.1...2).contains(partLength), partLength <= (segmentLength ?? 2) / 2 else {
        throw ValidationError(
          "--part-length must be from 0.1 to 2 seconds, and at most half of --segment-length.")
      }
      guard kind != .vod else {
        throw ValidationError("--part-length requires --playlist window or --playlist event.")
      }
      if singleFile { throw ValidationError("--single-file has no parts; omit it or --part-length.") }
    }
    if options.reports.psnr {
      throw ValidationError("--psnr measures one file, and segments are several; omit one of them.")
    }
    if (hlsKey == nil) != (hlsKeyUri == nil) {
      throw ValidationError("--hls-key and --hls-key-uri go together; give both, or none.")
    }
    if let hlsKeyUri {
      guard !hlsKeyUri.isEmpty,
        hlsKeyUri.utf8.allSatisfy({ (33...126).contains($0) && $0 != UInt8(ascii: "\"") })
      else { throw ValidationError("--hls-key-uri is an address without spaces and quotation marks.") }
      if partLength != nil {
        throw ValidationError("--hls-key encrypts whole segments; omit it or --part-length.")
      }
    }
    if dash, let name = singleFile ? "--single-file" : hlsKey != nil ? "--hls-key" : nil {
      throw ValidationError("--dash needs segments as files in the clear; omit it or \(name).")
    }
    try validateRenditions(options)
  }

  private func validateRenditions(_ options: EncodingOptions) throws {
    guard let list = rendition?.renditions else { return }
    guard options.outs.count == 1 else {
      throw ValidationError("--rendition writes one set of segments; give --out once.")
    }
    guard list.count <= RenditionList.maximum else {
      throw ValidationError("--rendition takes up to \(RenditionList.maximum) sizes.")
    }
    let others = [
      options.dimensions != nil ? "--dimensions" : nil, options.bitrate != nil ? "--bitrate" : nil,
      options.rate.maxRate != nil ? "--max-rate" : nil,
    ].compactMap(\.self)
    if let name = others.first {
      throw ValidationError(
        "--rendition cannot be combined with \(name), because each rendition sets its size and rate.")
    }
    for rendition in list {
      if let reason = rendition.size.refusal {
        throw ValidationError(
          "--rendition \(rendition.size.width)x\(rendition.size.height) is not possible: \(reason).")
      }
      guard let rate = rendition.bitRate else { continue }
      guard BitRate.allowed.contains(rate.bitsPerSecond) else {
        throw ValidationError("--rendition takes rates from 1k to 1000M (bits a second).")
      }
      if options.quality != nil {
        throw ValidationError("--quality and a rate of --rendition exclude each other; give one of them.")
      }
    }
    for (one, next) in zip(list, list.dropFirst()) where one == next {
      throw ValidationError("--rendition has \(one.size.width)x\(one.size.height) twice; omit one.")
    }
  }

  /// Makes the plan.
  /// - Parameter usual: the kind of playlist without `--playlist`.
  /// - Throws: a `Failure` if the key cannot be read.
  func plan(defaultKind: SegmentPlan.Playlist) throws -> SegmentPlan {
    let kind = playlist ?? defaultKind
    // Milliseconds, so that multiples of the length are exact.
    func time(_ seconds: Double) -> CMTime {
      CMTime(value: CMTimeValue((seconds * 1000).rounded()), timescale: 1000)
    }
    var plan = SegmentPlan(length: time(segmentLength ?? (kind == .vod ? 4 : 2)), playlist: kind)
    if let window { plan.windowSize = window }
    plan.isSingleFile = singleFile
    plan.partLength = partLength.map(time)
    plan.separatesAudio = (rendition?.renditions.count ?? 1) > 1 || dash
    plan.writesManifest = dash
    if let hlsKey, let hlsKeyUri { plan.key = SegmentKey(bytes: try Self.readKey(hlsKey), uri: hlsKeyUri) }
    return plan
  }

  private static func readKey(_ path: String) throws -> [UInt8] {
    var bytes: [UInt8] = []
    do { bytes = Array(try RegularFile.contents(path, maximum: 4096)) } catch {
      throw RegularFile.failure(error, path)
    }
    guard bytes.count == 16 else {
      throw Failure("--hls-key '\(path)' does not hold 16 bytes; make a key with openssl rand 16", status: 64)
    }
    return bytes
  }
}
