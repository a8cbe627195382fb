import CFFmpeg

/// libavcodec by itself, as the plainest program uses it: the yardstick.
final class BareDecoder {
  private let context: UnsafeMutablePointer<AVCodecContext>

  init(_ parameters: UnsafePointer<AVCodecParameters>, threads: Int, frameThreads: Bool) throws {
    guard let codec = avcodec_find_decoder(parameters.pointee.codec_id),
      let context = avcodec_alloc_context3(codec)
    else { throw BenchError("no decoder") }
    self.context = context
    avcodec_parameters_to_context(context, parameters)
    context.pointee.thread_count = Int32(threads)
    context.pointee.thread_type = frameThreads ? FF_THREAD_FRAME | FF_THREAD_SLICE : FF_THREAD_SLICE
    guard avcodec_open2(context, codec, nil) >= 0 else { throw BenchError("cannot open the decoder") }
  }

  deinit {
    var context: UnsafeMutablePointer<AVCodecContext>? = context
    avcodec_free_context(&context)
  }

  /// - Returns: the number of frames.
  func decode(_ packets: [UnsafeMutablePointer<AVPacket>]) -> Int {
    var frame = av_frame_alloc()
    defer { av_frame_free(&frame) }
    var count = 0
    func receive() {
      while avcodec_receive_frame(context, frame) >= 0 {
        count += 1
        av_frame_unref(frame)
      }
    }
    for packet in packets {
      avcodec_send_packet(context, packet)
      receive()
    }
    avcodec_send_packet(context, nil)
    receive()
    return count
  }
}

struct BenchError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
