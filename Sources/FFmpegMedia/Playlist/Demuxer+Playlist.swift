// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import Foundation

/// Opens playlists for HTTP Live Streaming.
extension Demuxer {
  /// libavformat's names of the formats of playlists and segments.
  private static let playlistFormats = "hls,mpegts,mov,aac,mp3,ac3,eac3"

  /// Opens a local playlist whose segments lie below its folder.
  /// - Throws: `MediaFileError`.
  static func openPlaylist(_ path: String, interruption: MediaInterruption) throws -> Opened {
    let name = Demuxer.name(path)
    guard let whole = PlaylistReferences.real(path), let bytes = PlaylistText.contents(of: whole) else {
      throw MediaFileError(.notFound, "\(path) cannot be read as a playlist", code: ovt_averror(ENOENT))
    }
    let folder = (whole as NSString).deletingLastPathComponent
    guard !folder.contains(where: { "?#".contains($0) }) else {
      throw MediaFileError(
        .other,
        "\(name) is in a folder whose name contains # or ?, which addresses in playlists cannot; rename it")
    }
    let references = PlaylistReferences(
      .folder(folder), name: name,
      options: ["protocol_whitelist": "file,crypto"])
    let opened = try openPlaylist(
      bytes, at: "file:" + whole, name: name, protocols: "file,crypto", references, interruption: interruption
    )
    guard opened.context.pointee.duration > 0 else {
      var context: UnsafeMutablePointer<AVFormatContext>? = opened.context
      avformat_close_input(&context)
      throw MediaFileError(
        .other,
        "\(name) has no end (#EXT-X-ENDLIST): it is a live stream, and its server has to be asked for it")
    }
    return opened
  }

  /// Opens a playlist of the network.
  /// - Parameters:
  ///   - input: The address.
  ///   - connection: The connection that the playlist comes over.
  /// - Throws: `MediaFileError`.
  static func openPlaylist(_ input: NetworkInput, _ connection: NetworkConnection) throws -> Opened {
    let (bytes, place) = try connection.readPlaylist(of: input)
    guard let origin = PlaylistReferences.origin(of: place) else {
      throw MediaFileError(.notRecognized, "\(input.address) is a playlist of another protocol than HTTP")
    }
    input.interruption.begin(NetworkInput.playlistSilence)
    let options = input.protocolOptions
    let protocols = (options["protocol_whitelist"] ?? "") + ",crypto"
    let references = PlaylistReferences(
      .origin(origin), name: input.address.description,
      options: options.merging(["protocol_whitelist": protocols]) { $1 })
    return try openPlaylist(
      bytes, at: place, name: input.address.description, protocols: protocols, references,
      interruption: input.interruption)
  }

  private static func openPlaylist(
    _ bytes: Data, at url: String, name: String, protocols: String, _ references: PlaylistReferences,
    interruption: MediaInterruption
  ) throws -> Opened {
    guard let text = PlaylistText(bytes), text.isUseful else {
      throw MediaFileError(.notRecognized, "\(name) is not a playlist for HTTP Live Streaming")
    }
    let reduced = Data(text.reduced.utf8)
    // Omitted streams are not opened.
    try references.check(PlaylistText(reduced) ?? text, at: url)
    guard let made = avformat_alloc_context() else { throw MediaFileError(.outOfMemory, "out of memory") }
    var context: UnsafeMutablePointer<AVFormatContext>? = made
    let io = try ByteSourceIO(MemoryReader(reduced))
    made.pointee.interrupt_callback = interruption.callback
    made.pointee.pb = io.context
    references.attach(to: made)
    var options: OpaquePointer?
    defer { av_dict_free(&options) }
    for (key, value) in [
      "protocol_whitelist": protocols, "format_whitelist": playlistFormats,
      // Another connection of the same server would be used without a question.
      "http_persistent": "0", "http_multiple": "0",
      // Where they are decides, and not their names.
      "allowed_extensions": "ALL", "allowed_segment_extensions": "ALL", "extension_picky": "0",
    ] { av_dict_set(&options, key, value, 0) }
    let (code, messages) = LibavLog.collect {
      avformat_open_input(&context, url, av_find_input_format("hls"), &options)
    }
    guard code >= 0, let opened = context else {
      // Messages have the addresses of segments, with their secrets.
      throw references.refusal ?? references.failure
        ?? MediaFileError.libav(
          code, "\(name) cannot be opened", messages: url.hasPrefix("file:") ? messages : [])
    }
    // A live stream has no duration, and its segments are waited for.
    let (found, complaints) = LibavLog.collect {
      opened.pointee.duration > 0 || !url.hasPrefix("file:") ? avformat_find_stream_info(opened, nil) : 0
    }
    if let refusal = references.refusal ?? (found < 0 ? references.failure : nil) {
      avformat_close_input(&context)
      throw refusal
    }
    guard found >= 0 else {
      avformat_close_input(&context)
      throw MediaFileError.libav(
        found, "\(name) cannot be read", messages: url.hasPrefix("file:") ? complaints : [])
    }
    references.finishOpening()
    return Opened(
      context: opened, io: io, boxes: MovieTables.TrackProperties(), scrambling: TransportScrambling(),
      source: nil, references: references)
  }

  /// Whether segments are fragmented MP4. After a seek libavformat (5.1) reads their samples at the
  /// places of others.
  var isFragmentedPlaylist: Bool { references != nil && !streams.contains(where: \.isAnnexB) }

  /// Throws if the playlist refers to what it may not, or, of one that has an end, to what is not
  /// there: libavformat would go on after it.
  func checkReferences() throws {
    guard let references else { return }
    if let refusal = references.refusal { throw refusal }
    if let failure = references.failure, let context, context.pointee.duration > 0 { throw failure }
  }
}

extension NetworkConnection {
  /// Whether the connection gives a playlist, by the address or by the type that the server tells.
  func givesPlaylist(of input: NetworkInput) -> Bool {
    guard ["http", "https"].contains(input.address.scheme) else { return false }
    let type = option("mime_type")?.prefix { $0 != ";" }.lowercased()
    return PlaylistText.isName(option("location") ?? input.address.url)
      || ["application/vnd.apple.mpegurl", "application/x-mpegurl", "audio/mpegurl", "audio/x-mpegurl"]
        .contains(type)
  }

  /// Reads the whole playlist.
  /// - Returns: Its bytes, and where the server has led to.
  /// - Throws: `MediaFileError`.
  fileprivate func readPlaylist(of input: NetworkInput) throws -> (bytes: Data, url: String) {
    var bytes = Data()
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while bytes.count <= PlaylistText.maxBytes {
      let count = avio_read(context, &buffer, Int32(buffer.count))
      if count == 0 || count == ovt_averror_eof() { break }
      guard count > 0 else { throw MediaFileError.network(count, input, messages: []) }
      bytes += buffer.prefix(Int(count))
    }
    return (bytes, option("location") ?? input.address.url)
  }

  /// An option that libavformat's HTTP has set; nil if it is empty.
  private func option(_ name: String) -> String? {
    var value: UnsafeMutablePointer<UInt8>?
    guard let context, av_opt_get(context, name, AV_OPT_SEARCH_CHILDREN, &value) >= 0, let value else {
      return nil
    }
    defer { av_free(value) }
    let text = String(cString: value)
    return text.isEmpty ? nil : text
  }
}
