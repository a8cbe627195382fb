// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import Foundation

/// Checks that a track can be read back. libavformat's muxer stores a configuration record
/// (AudioSpecificConfig, avcC and others) without parsing it, but its demuxer refuses the whole
/// movie if the record is invalid.
enum MuxerFormatCheck {
  private static let fromSamples: [AVCodecID] = [
    AV_CODEC_ID_AC3, AV_CODEC_ID_EAC3, AV_CODEC_ID_TRUEHD, AV_CODEC_ID_DTS,
  ]

  /// Writes the header of a movie with this track to memory, and opens it.
  /// - Parameters:
  ///   - track: The track.
  ///   - container: The container.
  /// - Throws: `MediaFileError` if libavformat cannot open the header.
  static func check(_ track: MuxerTrack, container: MuxerContainer) throws {
    // libavformat derives the records of these codecs from the samples.
    if track.extradata.isEmpty, fromSamples.contains(track.codecID) { return }
    // Some codecs need real samples for their header; whether they are accepted is left to the
    // muxer.
    guard let header = try? MuxerSampleDescriptions.initialization(of: track, container: container),
      !header.isEmpty
    else { return }
    let io = try ByteSourceIO(MemoryReader(header))
    guard let context = avformat_alloc_context() else { throw MediaFileError(.outOfMemory, "out of memory") }
    context.pointee.pb = io.context
    var opened: UnsafeMutablePointer<AVFormatContext>? = context
    // A failed avformat_open_input frees the context.
    let (code, messages) = LibavLog.collect {
      avformat_open_input(&opened, nil, av_find_input_format("mov"), nil)
    }
    defer { withExtendedLifetime(io) { avformat_close_input(&opened) } }
    guard code >= 0, let opened, opened.pointee.nb_streams > 0 else {
      let reason = messages.last.map { " (\($0))" } ?? ""
      throw MediaFileError(
        .unsupportedFormat,
        "the format of a track, with a configuration record of \(track.extradata.count) bytes, cannot be read again\(reason)"
      )
    }
  }
}
