// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreVideo

/// Captures pictures of a screen or a camera with libavdevice, which is loaded when the first
/// device is opened. Only one thread at a time may use a device.
package final class CaptureDevice {
  /// The kind of a device.
  package enum Kind: Sendable, Equatable {
    /// A display of X, named as in `DISPLAY`, followed by `+x,y` for the corner of a part of the
    /// screen.
    case screen
    /// A Video4Linux device, named by its path.
    case camera

    /// The name of libavdevice's input format.
    fileprivate var format: String {
      switch self {
      case .screen: "x11grab"
      case .camera: "v4l2"
      }
    }
  }

  /// The device to be opened, and the pictures that it is asked for.
  package struct Configuration: Sendable, Equatable {
    package var kind: Kind
    /// The display or the path; see `Kind`.
    package var name: String
    /// The size of the pictures in pixels; nil: the whole screen, or the camera's default.
    package var size: (width: Int, height: Int)?
    /// Pictures per second, more than 0; nil: the device's default, 30 for a screen.
    package var frameRate: Double?

    package init(
      _ kind: Kind, name: String, size: (width: Int, height: Int)? = nil, frameRate: Double? = nil
    ) {
      (self.kind, self.name, self.size, self.frameRate) = (kind, name, size, frameRate)
    }

    package static func == (a: Self, b: Self) -> Bool {
      a.kind == b.kind && a.name == b.name && a.size?.width == b.size?.width
        && a.size?.height == b.size?.height
        && a.frameRate == b.frameRate
    }
  }

  /// The number of consecutive damaged pictures that are an error; cameras often begin with a few.
  private static let timeout = 30
  /// Seconds without a picture from a camera that are an error.
  private static let silence = 5.0
  /// The most pictures that are skipped for newer ones if a camera is faster than it is read.
  private static let maxSkipped = 16
  /// Microseconds between two attempts to read from a camera.
  private static let pause: UInt32 = 2000

  /// The size of the pictures in pixels.
  package private(set) var width = 0
  package private(set) var height = 0
  /// Pictures per second, as the device reports.
  package private(set) var frameRate = 30.0
  private let name: String
  private var stream: Int32 = -1
  private let isPadded: Bool
  /// Whether reading does not block, as for cameras.
  private let isPolled: Bool
  private let interruption: CaptureInterruption
  private var context: UnsafeMutablePointer<AVFormatContext>?
  private var decoder: UnsafeMutablePointer<AVCodecContext>?
  private var packet: UnsafeMutablePointer<AVPacket>?
  private var frame: UnsafeMutablePointer<AVFrame>?
  private let conversion = PictureConversion(filter: .bilinear, threads: 1)

  /// Decides whether libavdevice gives up waiting for a picture: when the caller cancels, or after
  /// `silence` seconds.
  private final class CaptureInterruption {
    let isCancelled: () -> Bool
    var end = ContinuousClock.now + .seconds(CaptureDevice.silence)

    init(_ isCancelled: @escaping () -> Bool) { self.isCancelled = isCancelled }

    var isExpired: Bool { isCancelled() || ContinuousClock.now >= end }

    func begin() { end = ContinuousClock.now + .seconds(CaptureDevice.silence) }
  }

  /// Opens a device.
  /// - Parameters:
  ///   - configuration: The device, and the size and rate of its pictures.
  ///   - isCancelled: Called while waiting for a camera; true ends the wait.
  /// - Throws: `MediaFileError`; of the kind `unsupportedFormat` if libavdevice is missing or was
  ///   built without this kind of device.
  package init(_ configuration: Configuration, isCancelled: @escaping () -> Bool = { false }) throws {
    if let failure = DeviceLibrary.failure(of: "screens and cameras") { throw failure }
    name = configuration.name
    isPadded = configuration.kind == .screen
    isPolled = configuration.kind == .camera
    interruption = CaptureInterruption(isCancelled)
    guard let format = av_find_input_format(configuration.kind.format) else {
      throw MediaFileError(
        .unsupportedFormat, "this libavdevice was built without \(configuration.kind.format)")
    }
    var options: OpaquePointer?
    defer { av_dict_free(&options) }
    if let size = configuration.size {
      av_dict_set(&options, "video_size", "\(size.width)x\(size.height)", 0)
    }
    let rate = configuration.frameRate ?? (configuration.kind == .screen ? 30 : nil)
    if let rate { av_dict_set(&options, "framerate", "\(rate)", 0) }
    context = avformat_alloc_context()
    guard let made = context else { throw MediaFileError(.outOfMemory, "out of memory") }
    made.pointee.interrupt_callback = AVIOInterruptCB(
      callback: { opaque in
        guard let opaque else { return 0 }
        return Unmanaged<CaptureInterruption>.fromOpaque(opaque).takeUnretainedValue().isExpired ? 1 : 0
      }, opaque: Unmanaged.passUnretained(interruption).toOpaque())
    if isPolled { made.pointee.flags |= AVFMT_FLAG_NONBLOCK }
    let (code, messages) = LibavLog.collect { avformat_open_input(&context, name, format, &options) }
    guard code >= 0, let context else {
      throw MediaFileError.libav(code, "'\(name)' cannot be opened", messages: messages)
    }
    let (found, complaints) = LibavLog.collect { avformat_find_stream_info(context, nil) }
    stream = av_find_best_stream(context, AVMEDIA_TYPE_VIDEO, -1, -1, nil, 0)
    if interruption.isExpired, found < 0 || stream < 0 { throw silenceError }
    guard found >= 0, stream >= 0, let parameters = context.pointee.streams[Int(stream)]?.pointee.codecpar
    else {
      throw MediaFileError.libav(min(found, -1), "'\(name)' gives no pictures", messages: complaints)
    }
    let said = context.pointee.streams[Int(stream)]?.pointee.avg_frame_rate ?? AVRational()
    let guessed = said.num > 0 && said.den > 0 ? Double(said.num) / Double(said.den) : 0
    frameRate = (1...1000).contains(guessed) ? guessed : rate ?? 30
    (width, height) = (Int(parameters.pointee.width), Int(parameters.pointee.height))
    guard (1...16_384).contains(width), (1...16_384).contains(height) else {
      throw MediaFileError(.damaged, "'\(name)' says that its pictures are \(width) by \(height)")
    }
    try openDecoder(parameters)
  }

  deinit { close() }

  private func openDecoder(_ parameters: UnsafeMutablePointer<AVCodecParameters>) throws {
    guard let codec = avcodec_find_decoder(parameters.pointee.codec_id) else {
      throw MediaFileError(.unsupportedFormat, "there is no decoder for what '\(name)' gives")
    }
    decoder = avcodec_alloc_context3(codec)
    (packet, frame) = (av_packet_alloc(), av_frame_alloc())
    guard let decoder, packet != nil, frame != nil, avcodec_parameters_to_context(decoder, parameters) >= 0
    else { throw MediaFileError(.outOfMemory, "out of memory") }
    // The decoder must output each picture at once.
    decoder.pointee.flags |= AV_CODEC_FLAG_LOW_DELAY
    decoder.pointee.thread_count = 1
    let (code, messages) = LibavLog.collect { avcodec_open2(decoder, codec, nil) }
    guard code >= 0 else {
      throw MediaFileError.libav(code, "the decoder for '\(name)' cannot start", messages: messages)
    }
  }

  private func close() {
    avformat_close_input(&context)
    avcodec_free_context(&decoder)
    av_packet_free(&packet)
    av_frame_free(&frame)
  }

  private var silenceError: MediaFileError {
    MediaFileError(
      .damaged, "'\(name)' has given no picture for \(Int(Self.silence)) s; is something sending to it?")
  }

  /// Waits for the next picture. A screen's comes when it is due; of a camera's, the newest one
  /// that is available is kept for `picture(into:)`.
  /// - Returns: false if the device has no more pictures, or if the wait was cancelled.
  /// - Throws: `MediaFileError` if the device fails or stays silent.
  package func read() throws -> Bool {
    guard let context, let decoder, let packet, let frame else { return false }
    interruption.begin()
    var hasPicture = false
    var taken = 0
    var broken = 0
    while broken < Self.timeout {
      let (code, messages) = LibavLog.collect { av_read_frame(context, packet) }
      if code == ovt_averror_eof() { return hasPicture }
      if code == ovt_averror(EAGAIN) || code == ovt_averror_exit() {
        if hasPicture { return true }
        if interruption.isCancelled() { return false }
        if interruption.isExpired { throw silenceError }
        usleep(Self.pause)
        continue
      }
      guard code >= 0 else {
        throw MediaFileError.libav(code, "'\(name)' gives no pictures any more", messages: messages)
      }
      defer { av_packet_unref(packet) }
      guard packet.pointee.stream_index == stream else { continue }
      // A damaged picture is skipped: the next one may be good.
      guard avcodec_send_packet(decoder, packet) >= 0, avcodec_receive_frame(decoder, frame) >= 0 else {
        broken += 1
        // Decoding the damaged picture may have overwritten the frame.
        hasPicture = false
        continue
      }
      hasPicture = true
      taken += 1
      if !isPolled || taken > Self.maxSkipped { return true }
    }
    throw MediaFileError(.damaged, "'\(name)' gives nothing that can be decoded")
  }

  /// Converts the picture that was read last into a pixel buffer, scaled to its size.
  /// - Parameter target: Receives the picture.
  /// - Throws: `PixelConversionError`.
  package func picture(into target: CVPixelBuffer) throws {
    guard let frame, frame.pointee.width > 0 else { return }
    guard CVPixelBufferLockBaseAddress(target, []) == kCVReturnSuccess else {
      throw PixelConversionError.failed
    }
    defer { CVPixelBufferUnlockBaseAddress(target, []) }
    let (view, info) = try PixelConverter.view(target)
    var meaning = SampleMeaning()
    meaning.matrix = UInt8(clamping: Int(frame.pointee.colorspace.rawValue))
    meaning.isFullRange =
      frame.pointee.color_range == AVCOL_RANGE_JPEG
      || PixelFormatInfo.isRGB(AVPixelFormat(frame.pointee.format)) || isFullRangeFormat(frame)
    var source = PictureView(frame)
    // The driver of the camera owns the memory, which may end with the last row.
    source.isPadded = isPadded
    try conversion.convert(source, meaning, to: view, PixelConverter.meaning(target, info))
  }

  /// Whether a pixel format implies full range, as those of JPEG pictures from cameras do.
  private func isFullRangeFormat(_ frame: UnsafePointer<AVFrame>) -> Bool {
    [AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_YUVJ422P, AV_PIX_FMT_YUVJ444P]
      .contains(AVPixelFormat(frame.pointee.format))
  }
}
