// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreMedia

extension Demuxer {
  /// Returns when a Matroska file ends, in microseconds.
  ///
  /// RFC 9559, 5.1.2.10, does not say whether the duration of a segment counts from time zero or
  /// from the first sample. FFmpeg's muxer counts from zero, others from the first sample. Where
  /// the difference matters, the last samples are read.
  ///
  /// - Parameters:
  ///   - url: The file.
  ///   - access: What may be opened.
  ///   - begin: The time of the first sample, in microseconds.
  ///   - length: The duration that the file states, in microseconds.
  ///   - interruption: Ends the reading when it is set.
  static func endOfMatroska(
    _ url: String, _ access: MediaAccess, begin: Int64, length: Int64, interruption: MediaInterruption
  ) -> Int64 {
    let furthest = begin.addingClamped(length)
    guard begin > 500_000, url.isLocalFile,
      let opened = try? open(url, frameRate: nil, access, source: nil, interruption: interruption)
    else { return length }
    var context: UnsafeMutablePointer<AVFormatContext>? = opened.context
    defer { avformat_close_input(&context) }
    var packet = av_packet_alloc()
    defer { av_packet_free(&packet) }
    guard let context, let packet,
      LibavLog.collect({ av_seek_frame(context, -1, furthest, AVSEEK_FLAG_BACKWARD) }).0 >= 0
    else { return length }
    let microseconds = AVRational(num: 1, den: 1_000_000)
    var end = Int64.min
    // A group of pictures and the sound beside it; a file without an index would be read from its
    // beginning.
    for _ in 0..<50_000 {
      guard LibavLog.collect({ av_read_frame(context, packet) }).0 >= 0 else { break }
      defer { av_packet_unref(packet) }
      let index = Int(packet.pointee.stream_index)
      guard packet.pointee.pts != ovt_av_nopts_value(), index < Int(context.pointee.nb_streams),
        let stream = context.pointee.streams[index]
      else { continue }
      let time = packet.pointee.pts.addingClamped(max(0, packet.pointee.duration))
      end = max(end, av_rescale_q(time, stream.pointee.time_base, microseconds))
    }
    // The samples of a damaged or unindexed file say less than its header.
    return end > length ? min(end, furthest) : length
  }
}
