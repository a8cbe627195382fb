// SPDX-License-Identifier: Apache-2.0
import CFFmpeg

/// Captures the audio of a microphone with libavdevice, as interleaved samples of 32 bits in
/// floating point. Only one thread at a time may use it.
package final class AudioCapture {
  /// The system through which a device is reached.
  package enum Kind: String, Sendable, Equatable {
    /// A device of ALSA, named as for `arecord -D`.
    case alsa
    /// A source of PulseAudio, or of PipeWire in its place; `default` is the user's choice.
    case pulse
  }

  /// Some audio.
  package struct Piece: Sendable {
    /// The samples of all channels, frame by frame, in the processor's byte order.
    package var samples: [UInt8]
    package var frames: Int
    /// How long ago the first frame was recorded, in seconds, as the device reports.
    package var age: Double
  }

  /// The frames per second of the samples.
  private let rate: Int
  /// The number of channels, 1 or 2.
  package private(set) var channels = 0
  private let name: String
  private let isCancelled: @Sendable () -> Bool
  private var deviceRate = 0
  private var deviceChannels = 0
  private var context: UnsafeMutablePointer<AVFormatContext>?
  private var packet: UnsafeMutablePointer<AVPacket>?
  private var resampler: OpaquePointer?

  /// The audio that is given out at a time, in fractions of a second: devices that have no periods
  /// give single frames.
  private static let pieces = 100
  /// Channels that a device is asked for, one number after the other.
  private static let wantedChannels = [2, 1]

  /// Opens a device. Nothing is recorded before the first `read`.
  /// - Parameters:
  ///   - kind: The system.
  ///   - name: The device's name there.
  ///   - rate: The frames per second of the samples; the device may have another rate.
  ///   - isCancelled: Called from the reading thread; true ends reading.
  /// - Throws: `MediaFileError`; of the kind `unsupportedFormat` if libavdevice is missing or was
  ///   built without this kind of device.
  package init(
    _ kind: Kind, name: String, rate: Int, isCancelled: @escaping @Sendable () -> Bool = { false }
  ) throws {
    if let failure = DeviceLibrary.failure(of: "microphones") { throw failure }
    (self.name, self.rate, self.isCancelled) = (name, rate, isCancelled)
    guard let format = av_find_input_format(kind.rawValue) else {
      throw MediaFileError(.unsupportedFormat, "this libavdevice was built without \(kind.rawValue)")
    }
    try open(format)
    packet = av_packet_alloc()
    guard packet != nil else { throw MediaFileError(.outOfMemory, "out of memory") }
    try prepare()
  }

  deinit {
    avformat_close_input(&context)
    av_packet_free(&packet)
    swr_free(&resampler)
  }

  /// The names of the devices that there are; empty if they cannot be listed.
  package static func devices(_ kind: Kind) -> [String] {
    DeviceLibrary.failure(of: "microphones") == nil ? DeviceLibrary.devices(of: kind.rawValue) : []
  }

  private func open(_ format: UnsafePointer<AVInputFormat>) throws {
    var failure: MediaFileError?
    for channels in Self.wantedChannels {
      var options: OpaquePointer?
      defer { av_dict_free(&options) }
      av_dict_set(&options, "sample_rate", "\(rate)", 0)
      // Which of the two there is depends on the version.
      av_dict_set(&options, "channels", "\(channels)", 0)
      av_dict_set(&options, "ch_layout", channels == 1 ? "mono" : "stereo", 0)
      // The option of the PulseAudio demuxer: 20 ms of 16-bit samples. The default may be several
      // seconds.
      av_dict_set(&options, "fragment_size", "\(rate / 50 * channels * 2)", 0)
      let (code, messages) = LibavLog.collect { avformat_open_input(&context, name, format, &options) }
      if code >= 0 { return }
      failure = failure ?? MediaFileError.libav(code, "'\(name)' cannot be opened", messages: messages)
      // A device with one channel refuses two.
      guard messages.contains(where: { $0.contains("channel") }) else { break }
    }
    throw failure ?? MediaFileError(.other, "'\(name)' cannot be opened")
  }

  /// Prepares the conversion of what the device gives.
  private func prepare() throws {
    guard let context, context.pointee.nb_streams > 0, let stream = context.pointee.streams[0],
      let parameters = stream.pointee.codecpar
    else { throw MediaFileError(.damaged, "'\(name)' gives no audio") }
    #if _endian(big)
      let native = AV_CODEC_ID_PCM_S16BE
    #else
      let native = AV_CODEC_ID_PCM_S16LE
    #endif
    deviceRate = Int(parameters.pointee.sample_rate)
    deviceChannels = Int(parameters.pointee.ch_layout.nb_channels)
    guard parameters.pointee.codec_id == native, deviceRate > 0, (1...64).contains(deviceChannels) else {
      throw MediaFileError(.unsupportedFormat, "'\(name)' gives audio of a kind that is not known here")
    }
    channels = min(deviceChannels, 2)
    var source = ResamplerFormat(
      format: AV_SAMPLE_FMT_S16, rate: Int32(deviceRate), layout: AVChannelLayout())
    var target = ResamplerFormat(format: AV_SAMPLE_FMT_FLT, rate: Int32(rate), layout: AVChannelLayout())
    av_channel_layout_default(&source.layout, Int32(deviceChannels))
    av_channel_layout_default(&target.layout, Int32(channels))
    resampler = try AudioResampler.make(from: source, to: target, AudioResampler.Options())
  }

  /// Waits for audio.
  /// - Returns: The audio; nil if the device has ended, or reading was cancelled.
  /// - Throws: `MediaFileError` if the device fails.
  package func read() throws -> Piece? {
    guard let context, let packet else { return nil }
    let frameSize = 2 * deviceChannels
    var bytes: [UInt8] = []
    var start: Int64?
    let (code, messages) = LibavLog.collect {
      while bytes.count < deviceRate / Self.pieces * frameSize, !isCancelled() {
        let code = av_read_frame(context, packet)
        guard code >= 0 else { return code }
        if let data = packet.pointee.data, packet.pointee.size > 0 {
          if bytes.isEmpty, packet.pointee.pts != ovt_av_nopts_value() { start = packet.pointee.pts }
          bytes += UnsafeBufferPointer(start: data, count: Int(packet.pointee.size))
        }
        av_packet_unref(packet)
      }
      return 0
    }
    if isCancelled() { return nil }
    guard code >= 0 || !bytes.isEmpty else {
      if code == ovt_averror_eof() || code == ovt_averror_exit() { return nil }
      throw MediaFileError.libav(code, "'\(name)' gives no audio any more", messages: messages)
    }
    let length = Double(bytes.count / frameSize) / Double(deviceRate)
    // Times of devices are those of the clock of the day, in microseconds. One that has been set
    // meanwhile tells nothing.
    let age = start.map { Double(av_gettime() - $0) / 1e6 } ?? length
    let (samples, frames) = try convert(bytes, frames: bytes.count / frameSize)
    return Piece(samples: samples, frames: frames, age: (-1...60).contains(age) ? age : length)
  }

  /// Makes the audio longer or shorter from now on, without a change that is heard.
  /// - Parameters:
  ///   - frames: The frames to add, or below zero, to leave out.
  ///   - distance: The frames over which that is spread; the change ends there.
  package func stretch(by frames: Int, over distance: Int) {
    guard let resampler, distance > 0 else { return }
    _ = swr_set_compensation(resampler, Int32(clamping: frames), Int32(clamping: distance))
  }

  private func convert(_ bytes: [UInt8], frames: Int) throws -> ([UInt8], Int) {
    guard let resampler else { return ([], 0) }
    let capacity = Int(swr_get_out_samples(resampler, Int32(clamping: frames)))
    guard capacity > 0 else { return ([], 0) }
    let size = 4 * channels
    var made: Int32 = 0
    let samples = [UInt8](unsafeUninitializedCapacity: capacity * size) { out, count in
      bytes.withUnsafeBufferPointer { input in
        var source: UnsafePointer<UInt8>? = input.baseAddress
        var target: UnsafeMutablePointer<UInt8>? = out.baseAddress
        made = swr_convert(resampler, &target, Int32(clamping: capacity), &source, Int32(clamping: frames))
      }
      count = max(Int(made), 0) * size
    }
    guard made >= 0 else { throw MediaFileError.libav(made, "the audio of '\(name)' cannot be converted") }
    return (samples, Int(made))
  }
}
