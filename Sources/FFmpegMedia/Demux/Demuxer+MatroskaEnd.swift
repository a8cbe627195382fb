// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreMedia

extension Demuxer {
  /// Returns when a Matroska file ends, in microseconds.
  ///
  /// RFC 9559, 5.1.2.10, does not say whether the duration of a segment counts from time zero or
  /// from the first sample. FFmpeg's muxer counts from zero, others from the first sample. Where
  /// the difference matters, the last samples are read, if the file has an index that leads to
  /// them. Otherwise the later time is returned, which loses no content.
  ///
  /// - Parameters:
  ///   - url: The file.
  ///   - access: What may be opened.
  ///   - source: Gives the file's bytes; nil for a local file.
  ///   - begin: The time of the first sample, in microseconds.
  ///   - length: The duration that the file states, in microseconds.
  ///   - interruption: Ends the reading when it is set.
  static func endOfMatroska(
    _ url: String, _ access: MediaAccess, source: (any MediaByteSource)?, begin: Int64, length: Int64,
    interruption: MediaInterruption
  ) -> Int64 {
    let furthest = begin.addingClamped(length)
    guard begin > 500_000, source != nil || url.isLocalFile,
      let opened = try? open(url, frameRate: nil, access, source: source, interruption: interruption)
    else { return furthest }
    var context: UnsafeMutablePointer<AVFormatContext>? = opened.context
    defer { avformat_close_input(&context) }
    var packet = av_packet_alloc()
    defer { av_packet_free(&packet) }
    // Seeking to a time that is in no index would read the whole file.
    guard let context, let packet,
      LibavLog.collect({ av_seek_frame(context, -1, begin, AVSEEK_FLAG_BACKWARD) }).0 >= 0,
      let last = lastIndexed(context), last >= begin / 2 + length / 2,
      LibavLog.collect({ av_seek_frame(context, -1, last, AVSEEK_FLAG_BACKWARD) }).0 >= 0
    else { return furthest }
    let microseconds = AVRational(num: 1, den: 1_000_000)
    var end = Int64.min
    // A group of pictures and the audio that goes with it.
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
    return end > begin ? min(end, furthest) : furthest
  }

  /// Makes the durations unknown that libavformat has computed from the size of the file and the
  /// bit rates of its streams, where the file states none. They are far off where the rate varies.
  static func discardGuessedDurations(_ context: UnsafeMutablePointer<AVFormatContext>) {
    guard context.pointee.duration_estimation_method == AVFMT_DURATION_FROM_BITRATE else { return }
    context.pointee.duration = ovt_av_nopts_value()
    for stream in streams(of: context) { stream.pointee.duration = ovt_av_nopts_value() }
  }

  /// The last time in the index of the stream that seeking goes by, in microseconds; nil if it has
  /// no index.
  private static func lastIndexed(_ context: UnsafeMutablePointer<AVFormatContext>) -> Int64? {
    let index = Int(av_find_default_stream_index(context))
    guard index >= 0, index < Int(context.pointee.nb_streams), let stream = context.pointee.streams[index]
    else { return nil }
    let count = avformat_index_get_entries_count(stream)
    guard count > 1, let entry = avformat_index_get_entry(stream, count - 1) else { return nil }
    return av_rescale_q(
      entry.pointee.timestamp, stream.pointee.time_base, AVRational(num: 1, den: 1_000_000))
  }
}
