// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import Foundation

/// libavformat's connection to the address of a `NetworkInput`.
final class NetworkConnection {
  private(set) var context: UnsafeMutablePointer<AVIOContext>?

  /// Connects, or waits for a sender.
  /// - Throws: `Failure`.
  init(_ input: NetworkInput) throws {
    var settings: OpaquePointer?
    defer { av_dict_free(&settings) }
    for (key, value) in input.protocolOptions { av_dict_set(&settings, key, value, 0) }
    var callback = input.interruption.callback
    input.interruption.begin(input.isListener ? nil : NetworkInput.connectionTime)
    let (code, messages) = LibavLog.collect {
      avio_open2(&context, input.openedURL, AVIO_FLAG_READ, &callback, &settings)
    }
    guard code >= 0 else {
      context = nil
      // RTMP's listener shakes hands with a sender before it returns.
      let isRefusal =
        input.isListener && input.address.scheme == "rtmp" && code != ovt_averror(EADDRINUSE)
        && code != ovt_averror(EADDRNOTAVAIL) && code != ovt_averror(EACCES)
        && !messages.contains { $0.contains("resolve") }
      throw Failure(
        error: MediaFileError.network(code, input, messages: messages), isOfSender: isRefusal)
    }
    // libavformat lets every sender in; one that names another stream does not know the key.
    if messages.contains(where: { line in LibavLog.wrongStream.contains { line.hasPrefix($0) } }) {
      avio_closep(&context)
      throw Failure(
        error: MediaFileError(.notPermitted, "its stream name or key differs from that of the address"),
        isOfSender: true)
    }
  }

  deinit { avio_closep(&context) }

  /// Why there is no stream.
  struct Failure: Error {
    let error: MediaFileError
    /// Whether the fault is that of a sender that has connected, so that another one may do better.
    let isOfSender: Bool
  }
}

extension MediaFileError {
  /// The error of a connection. Its text contains no secret of the address.
  static func network(_ code: Int32, _ input: NetworkInput, messages: [String]) -> MediaFileError {
    let what = input.isListener ? "cannot listen on \(input.address)" : "cannot connect to \(input.address)"
    if input.interruption.isLate, !input.isCancelled {
      let seconds = Int(NetworkInput.connectionTime)
      return MediaFileError(.other, "\(what): nothing came for \(seconds) s", code: ovt_averror(ETIMEDOUT))
    }
    return input.redacted(MediaFileError.libav(code, what, messages: messages))
  }
}

extension Demuxer {
  /// Opens a network input, and reads its header.
  /// - Throws: `NetworkConnection.Failure`.
  static func open(_ input: NetworkInput) throws -> Opened {
    let interruption = input.interruption
    // RTSP makes its connections itself.
    let connection = input.address.scheme == "rtsp" ? nil : try NetworkConnection(input)
    if let connection, connection.givesPlaylist(of: input) {
      do {
        let opened = try openPlaylist(input, connection)
        input.notePlaylist(isEndless: opened.context.pointee.duration <= 0)
        return opened
      } catch {
        throw NetworkConnection.Failure(error: input.redacted(error), isOfSender: false)
      }
    }
    guard let made = avformat_alloc_context() else {
      throw NetworkConnection.Failure(error: MediaFileError(.outOfMemory, "out of memory"), isOfSender: false)
    }
    var context: UnsafeMutablePointer<AVFormatContext>? = made
    made.pointee.interrupt_callback = interruption.callback
    if let connection { made.pointee.pb = connection.context }
    var options: OpaquePointer?
    defer { av_dict_free(&options) }
    for (key, value) in input.protocolOptions { av_dict_set(&options, key, value, 0) }
    av_dict_set(&options, "format_whitelist", input.formats, 0)
    interruption.begin(connection == nil && input.isListener ? nil : NetworkInput.connectionTime)
    let (code, messages) = LibavLog.collect {
      avformat_open_input(&context, connection == nil ? input.openedURL : "", nil, &options)
    }
    let isSender = connection != nil && input.isListener
    guard code >= 0, let opened = context else {
      let error =
        MediaAccess.isPermissionError(messages)
        ? MediaFileError(
          .notRecognized,
          "\(input.address) is a list of other addresses, or of a format that is not read", code: code)
        : MediaFileError.network(code, input, messages: messages)
      throw NetworkConnection.Failure(error: error, isOfSender: isSender)
    }
    interruption.begin(NetworkInput.connectionTime)
    let (found, complaints) = LibavLog.collect { avformat_find_stream_info(opened, nil) }
    guard found >= 0, !interruption.isLate else {
      avformat_close_input(&context)
      let error = MediaFileError.network(min(found, -1), input, messages: complaints)
      throw NetworkConnection.Failure(error: error, isOfSender: input.isListener)
    }
    return Opened(
      context: opened, io: nil, boxes: MovieTables.TrackProperties(), scrambling: TransportScrambling(),
      source: nil, connection: connection)
  }
}
