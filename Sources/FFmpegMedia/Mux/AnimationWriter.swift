// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreMedia
import CoreVideo

/// Writes a short animated picture, which repeats without end: a GIF, whose palette is made from
/// all of its pictures, or a WebP. Not thread-safe.
///
/// A GIF's pictures are held in memory until `finish(at:)`, since the palette has to be known
/// before the first of them can be written.
package final class AnimationWriter {
  /// The file format.
  package enum Format: String, Sendable, CaseIterable {
    case gif
    case webP = "webp"

    fileprivate var encoderName: String { self == .gif ? "gif" : "libwebp_anim" }
    /// The unit of the times of pictures, in seconds.
    fileprivate var timeBase: AVRational { AVRational(num: 1, den: self == .gif ? 100 : 1000) }
    /// The largest width and height that the format can state.
    package var largestSide: Int { self == .gif ? 65_535 : 16_383 }

    /// Whether the installed libavcodec encodes the format.
    package var isAvailable: Bool {
      avcodec_find_encoder_by_name(encoderName) != nil
        && (self == .webP || FilterGraph.exists("palettegen") && FilterGraph.exists("paletteuse"))
    }
  }

  /// The pixel format of the pictures that `add(_:time:)` takes.
  package static let pixelFormat = kCVPixelFormatType_32BGRA
  /// The number of bytes that a GIF's pictures may take in memory: 1 GiB, which is about 45 s of
  /// 640x360 at 25 frames a second.
  package static let memoryLimit = 1 << 30

  private let format: Format
  private let (width, height): (Int, Int)
  private let quality: Double
  private let sink: DescriptorSink
  private var encoder: UnsafeMutablePointer<AVCodecContext>?
  private var muxer: UnsafeMutablePointer<AVFormatContext>?
  private var palette: FilterGraph?
  private let frame: FilterFrame
  private var packet: UnsafeMutablePointer<AVPacket>?
  private var start: CMTime?
  private var last: Int64 = -1
  private var isFinished = false
  /// The number of pictures.
  package private(set) var count = 0

  /// Begins an animation.
  /// - Parameters:
  ///   - format: The file format.
  ///   - descriptor: The descriptor of an empty file, which the caller closes after `finish(at:)`.
  ///   - width: The width of all pictures in samples.
  ///   - height: Their height in samples.
  ///   - quality: The quality of a WebP, 0 to 1; a GIF has none.
  /// - Throws: `MediaFileError` of the kind `unsupportedFormat` if the size is too large for the
  ///   format or the installed libraries cannot encode it.
  package init(
    _ format: Format, descriptor: Int32, width: Int, height: Int, quality: Double = 0.75
  ) throws {
    LibavLog.takeOver()
    guard (1...format.largestSide).contains(width), (1...format.largestSide).contains(height) else {
      throw MediaFileError(
        .unsupportedFormat, "a \(format.rawValue) has at most \(format.largestSide) samples a side")
    }
    guard format.isAvailable else {
      throw MediaFileError(
        .unsupportedFormat,
        "the installed FFmpeg cannot encode \(format.rawValue) (\(format.encoderName))")
    }
    (self.format, self.width, self.height) = (format, width, height)
    self.quality = min(max(quality, 0), 1)
    sink = try DescriptorSink(descriptor)
    frame = try FilterFrame()
    packet = av_packet_alloc()
    guard packet != nil else { throw MediaFileError(.outOfMemory, "out of memory") }
  }

  deinit {
    av_packet_free(&packet)
    avcodec_free_context(&encoder)
    if let muxer {
      muxer.pointee.pb = nil
      avformat_free_context(muxer)
    }
  }

  /// Adds the next picture in presentation order.
  /// - Parameters:
  ///   - buffer: The picture, of `pixelFormat` and the animation's size.
  ///   - time: Its presentation time; the first one's is the animation's begin. It is rounded to
  ///     1/100 s in a GIF and to 1/1000 s in a WebP; of two pictures with the same rounded time the
  ///     second one is left out.
  /// - Throws: `MediaFileError`; of the kind `outOfMemory` if a GIF's pictures would take more than
  ///   `memoryLimit`.
  package func add(_ buffer: CVPixelBuffer, time: CMTime) throws {
    guard !isFinished else { throw MediaFileError(.other, "the animation has been finished") }
    guard CVPixelBufferGetPixelFormatType(buffer) == Self.pixelFormat,
      CVPixelBufferGetWidth(buffer) == width, CVPixelBufferGetHeight(buffer) == height
    else { throw MediaFileError(.unsupportedFormat, "a picture has another size or pixel format") }
    let stamp = try units(time)
    guard stamp > last else { return }
    if format == .gif, (count + 1) * width * height * 4 > Self.memoryLimit {
      throw MediaFileError(.outOfMemory, "the pictures of a gif take more than 1 GiB")
    }
    guard CVPixelBufferLockBaseAddress(buffer, .readOnly) == kCVReturnSuccess else {
      throw MediaFileError(.other, "a picture cannot be read")
    }
    defer { CVPixelBufferUnlockBaseAddress(buffer, .readOnly) }
    let (view, _) = try PixelConverter.view(buffer)
    let picture = try FilterFrame(view, time: stamp)
    (last, count) = (stamp, count + 1)
    guard format == .gif else { return try encode(picture.pointer) }
    let palette = try palette ?? makePalette(picture)
    self.palette = palette
    try palette.push(picture.pointer)
  }

  /// Writes what is left. The file is then complete.
  /// - Parameter end: The time at which the last picture ends.
  /// - Throws: `MediaFileError`; of the kind `noStreams` if there was no picture.
  package func finish(at end: CMTime) throws {
    guard count > 0 else { throw MediaFileError(.noStreams, "an animation needs a picture") }
    guard !isFinished else { return }
    isFinished = true
    let remaining = max(1, ((try? units(end)) ?? last) - last)
    if let palette {
      try palette.finish()
      while try palette.pull(into: frame.pointer) {
        defer { av_frame_unref(frame.pointer) }
        try encode(frame.pointer, lastDuration: remaining)
      }
    }
    try encode(nil, lastDuration: remaining)
    guard let muxer else { throw MediaFileError(.other, "the encoder gave no picture") }
    let (code, messages) = LibavLog.collect { av_write_trailer(muxer) }
    try check(code, messages)
    avio_flush(muxer.pointee.pb)
    try check(0, [])
  }

  /// A time since the first picture's, in units of the format's time base.
  private func units(_ time: CMTime) throws -> Int64 {
    let start = start ?? time
    self.start = start
    let stamp = CMTimeConvertScale(
      time - start, timescale: format.timeBase.den, method: .roundHalfAwayFromZero)
    // A GIF's times are summed in 64 bits, but a day is more than an animation lasts.
    guard stamp.isNumeric, (0...86_400 * Int64(format.timeBase.den)).contains(stamp.value) else {
      throw MediaFileError(.badTiming, "a picture's time does not fit an animation")
    }
    return stamp.value
  }

  private func makePalette(_ picture: FilterFrame) throws -> FilterGraph {
    // The palette favours what moves, and only the rectangle that changes is dithered again, so
    // that static content does not flicker.
    try FilterGraph(
      "[in]split[pictures][samples];[samples]palettegen=stats_mode=diff[palette];"
        + "[pictures][palette]paletteuse=diff_mode=rectangle[out]",
      for: picture.pointer, timeBase: format.timeBase)
  }

  // MARK: - Encoder and file

  private func encode(_ picture: UnsafePointer<AVFrame>?, lastDuration: Int64 = 1) throws {
    let encoder = try encoder ?? open(picture, lastDuration: lastDuration)
    guard let packet else { return }
    var (code, messages) = LibavLog.collect { avcodec_send_frame(encoder, picture) }
    try check(code, messages)
    while true {
      (code, messages) = LibavLog.collect { avcodec_receive_packet(encoder, packet) }
      if code == ovt_averror(EAGAIN) || code == ovt_averror_eof() { return }
      try check(code, messages)
      defer { av_packet_unref(packet) }
      guard let muxer, let stream = muxer.pointee.streams[0] else { return }
      packet.pointee.stream_index = 0
      av_packet_rescale_ts(packet, format.timeBase, stream.pointee.time_base)
      (code, messages) = LibavLog.collect { av_write_frame(muxer, packet) }
      try check(code, messages)
    }
  }

  private func open(
    _ picture: UnsafePointer<AVFrame>?, lastDuration: Int64
  ) throws -> UnsafeMutablePointer<AVCodecContext> {
    guard let picture, let codec = avcodec_find_encoder_by_name(format.encoderName),
      let context = avcodec_alloc_context3(codec)
    else { throw MediaFileError(.outOfMemory, "out of memory") }
    encoder = context
    context.pointee.width = Int32(width)
    context.pointee.height = Int32(height)
    context.pointee.pix_fmt = AVPixelFormat(picture.pointee.format)
    context.pointee.time_base = format.timeBase
    context.pointee.flags |= AV_CODEC_FLAG_BITEXACT
    if format == .webP {
      av_opt_set(context.pointee.priv_data, "quality", "\(Int((quality * 100).rounded()))", 0)
    }
    var (code, messages) = LibavLog.collect { avcodec_open2(context, codec, nil) }
    try check(code, messages)
    guard avformat_alloc_output_context2(&muxer, nil, format.rawValue, nil) >= 0, let muxer,
      let stream = avformat_new_stream(muxer, nil)
    else {
      throw MediaFileError(
        .unsupportedFormat, "libavformat was built without the muxer for \(format.rawValue)")
    }
    muxer.pointee.pb = sink.context
    muxer.pointee.flags |= AVFMT_FLAG_BITEXACT
    stream.pointee.time_base = format.timeBase
    try check(avcodec_parameters_from_context(stream.pointee.codecpar, context), [])
    var settings: OpaquePointer?
    defer { av_dict_free(&settings) }
    av_dict_set(&settings, "loop", "0", 0)
    // A GIF states each picture's duration, the last one's too.
    if format == .gif { av_dict_set(&settings, "final_delay", "\(min(lastDuration, 65_535))", 0) }
    (code, messages) = LibavLog.collect { avformat_write_header(muxer, &settings) }
    try check(code, messages)
    return context
  }

  private func check(_ code: Int32, _ messages: [String]) throws {
    let stored = muxer?.pointee.pb?.pointee.error ?? 0
    let code = stored < 0 ? stored : code
    guard code < 0 else { return }
    throw MediaFileError.libav(code, "writing the animation failed", messages: messages)
  }
}
