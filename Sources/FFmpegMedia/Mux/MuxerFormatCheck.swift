// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import Foundation

/// Whether what the muxer writes of a track can be read. libavformat stores a configuration record (AudioSpecificConfig,
/// avcC ...) as it is, but refuses the whole movie, with all its tracks, where it cannot make sense of one.
enum MuxerFormatCheck {
  private static let fromSamples: [AVCodecID] = [
    AV_CODEC_ID_AC3, AV_CODEC_ID_EAC3, AV_CODEC_ID_TRUEHD, AV_CODEC_ID_DTS,
  ]

  /// Throws where a movie with this track, complete and on the disk, would not be opened.
  static func check(_ track: MuxerTrack, container: MuxerContainer) throws {
    // libavformat takes their records out of the samples.
    if track.extradata.isEmpty, fromSamples.contains(track.codecID) { return }
    // What cannot be written without its real samples, the muxer itself refuses or not.
    guard let header = try? MuxerSampleDescriptions.initialization(of: track, container: container),
      !header.isEmpty
    else { return }
    let io = try ByteSourceIO(MemoryReader(header))
    guard let context = avformat_alloc_context() else { throw MediaFileError(.outOfMemory, "out of memory") }
    context.pointee.pb = io.context
    var opened: UnsafeMutablePointer<AVFormatContext>? = context
    // Frees the context where it fails.
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
