// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CodecInterface
import CoreMedia
import Foundation

/// Every video decoder of libavcodec.
public final class FFmpegVideoDecoder: VideoDecoder {
  private let configuration: VideoDecoderConfiguration
  private let context: UnsafeMutablePointer<AVCodecContext>
  private let packet: UnsafeMutablePointer<AVPacket>
  private let frame: UnsafeMutablePointer<AVFrame>
  private let memory: DecoderMemory
  private let stored: StoredCodec?
  /// libavcodec's own decoders take the memory of a picture from us while they decode its packet.
  private let tellsOfPictures: Bool
  private let conversion = PictureConversion(filter: .bicubic, threads: 1)
  private var pending: PendingPackets
  /// A picture can be taken from its buffer as soon as its packet is decoded, long before libavcodec, which keeps
  /// to the order of presentation, gives it out.
  private let takesPicturesEarly: Bool
  /// libavcodec has a key frame to go on from.
  private var hasStarted = false
  /// nil where no thread of libavcodec's could meet one of them.
  private var lateSets: LateParameterSets?
  private var bitmapAlpha: BitmapAlpha

  /// The entry for the registry.
  public static let description = DecoderDescription(
    id: "org.openvideotoolbox.decoder.libavcodec", name: "libavcodec",
    supports: { DecoderCodecs.identifier($0) != nil },
    makeDecoder: { configuration throws(CodecError) in try FFmpegVideoDecoder(configuration) })

  /// Whether there is a decoder for what a format description tells.
  package static func supports(_ description: CMFormatDescription) -> Bool {
    if let id = StoredCodec(description).identifier { return avcodec_find_decoder(id) != nil }
    return DecoderCodecs.identifier(CodecType(rawValue: CMFormatDescriptionGetMediaSubType(description)))
      != nil
  }

  /// True unless every frame of this codec stands for itself.
  public static func hasInterframeDependencies(_ codec: CodecType) -> Bool {
    guard let id = DecoderCodecs.identifier(codec), let descriptor = avcodec_descriptor_get(id) else {
      return true
    }
    return descriptor.pointee.props & AV_CODEC_PROP_INTRA_ONLY == 0
  }

  public init(_ configuration: VideoDecoderConfiguration) throws(CodecError) {
    LibavLog.takeOver()
    let stored = configuration.formatDescription.map { StoredCodec($0) }
    guard let id = stored?.identifier ?? DecoderCodecs.identifier(configuration.codec),
      let codec = avcodec_find_decoder(id)
    else { throw .unsupported("no decoder for this codec") }
    guard configuration.width >= 0, configuration.height >= 0, configuration.width <= 1 << 16,
      configuration.height <= 1 << 16, configuration.threads >= 0
    else { throw .invalidConfiguration("size or thread count out of range") }
    if DecoderCodecs.decodesInPlace(id) { try Self.check(configuration.configurationRecord, codec) }
    var contextOrNil = avcodec_alloc_context3(codec)
    var packetOrNil = av_packet_alloc()
    var frameOrNil = av_frame_alloc()
    guard let context = contextOrNil, let packet = packetOrNil, let frame = frameOrNil else {
      avcodec_free_context(&contextOrNil)
      av_packet_free(&packetOrNil)
      av_frame_free(&frameOrNil)
      throw .outOfMemory
    }
    self.context = context
    self.packet = packet
    self.frame = frame
    self.configuration = configuration
    self.stored = stored
    tellsOfPictures = codec.pointee.wrapper_name == nil
    let isDirect = DecoderCodecs.decodesInPlace(id)
    memory = DecoderMemory(configuration, isDirect: isDirect)
    takesPicturesEarly = isDirect && configuration.isLowDelay && configuration.order == .decoding
    pending = PendingPackets(order: configuration.order)
    bitmapAlpha = BitmapAlpha(context, stored)
    do throws(CodecError) { try open(codec) } catch {
      // All properties are set: deinit frees what was allocated.
      throw error
    }
  }

  /// A decoder that conceals damage also overlooks a configuration record that makes no sense: try it strictly first.
  private static func check(
    _ record: [UInt8], _ codec: UnsafePointer<AVCodec>
  ) throws(CodecError) {
    guard !record.isEmpty else { return }
    var context = avcodec_alloc_context3(codec)
    defer { avcodec_free_context(&context) }
    guard let context else { throw .outOfMemory }
    context.pointee.err_recognition |= AV_EF_EXPLODE
    context.pointee.thread_count = 1
    try setExtradata(context, record)
    let result = avcodec_open2(context, codec, nil)
    guard result >= 0 else { throw error(result) }
  }

  private static func setExtradata(
    _ context: UnsafeMutablePointer<AVCodecContext>, _ record: [UInt8]
  ) throws(CodecError) {
    guard !record.isEmpty else { return }
    guard record.count < 1 << 24, let extradata = av_mallocz(record.count + Int(AV_INPUT_BUFFER_PADDING_SIZE))
    else { throw .outOfMemory }
    record.withUnsafeBytes { bytes in
      if let base = bytes.baseAddress { memcpy(extradata, base, bytes.count) }
    }
    context.pointee.extradata = extradata.assumingMemoryBound(to: UInt8.self)
    context.pointee.extradata_size = Int32(record.count)
  }

  private func open(_ codec: UnsafePointer<AVCodec>) throws(CodecError) {
    context.pointee.opaque = Unmanaged.passUnretained(memory).toOpaque()
    context.pointee.get_buffer2 = DecoderMemory.getBuffer
    ovt_set_thread_safe_callbacks(context)
    context.pointee.apply_cropping = 0
    context.pointee.width = Int32(configuration.width)
    context.pointee.height = Int32(configuration.height)
    let tag = stored?.tag ?? 0
    context.pointee.codec_tag = tag != 0 ? tag : configuration.codec.rawValue.byteSwapped
    context.pointee.bits_per_coded_sample = stored?.bitsPerCodedSample ?? 0
    if let stored, stored.pixelFormat != AV_PIX_FMT_NONE { context.pointee.pix_fmt = stored.pixelFormat }
    // Where several threads decode the slices of a picture, the H.264 decoder neither conceals nor tells of those that
    // are damaged: what the memory held before would be seen there. The HEVC decoder then follows a null pointer in pictures with
    // entropy_coding_sync_enabled_flag and persistent_rice_adaptation_enabled_flag whose slices have no entry points.
    let isUnsafe = [AV_CODEC_ID_H264, AV_CODEC_ID_HEVC].contains(context.pointee.codec_id)
    context.pointee.thread_count =
      configuration.isLowDelay && isUnsafe ? 1 : Int32(min(configuration.threads, 64))
    context.pointee.thread_type =
      configuration.isLowDelay ? FF_THREAD_SLICE : FF_THREAD_FRAME | FF_THREAD_SLICE
    // A picture taken early cannot carry the decoder's verdict yet, so damage must stop the decoding. Otherwise the
    // verdict comes with the picture, and a stop would leave frame threads without a reference to go on from.
    if takesPicturesEarly, !configuration.concealsDamage { context.pointee.err_recognition |= AV_EF_EXPLODE }
    // Film grain is a wish of the stream's (H.274, 8.5), put on behind the decoding process. A picture taken early would be
    // handed over without it, or, of a kind that libavcodec does not know, with what its memory held before.
    if DecoderCodecs.decodesInPlace(context.pointee.codec_id) {
      context.pointee.export_side_data |= AV_CODEC_EXPORT_DATA_FILM_GRAIN
    }
    context.pointee.skip_frame = Self.discard(configuration.selection)
    // Pictures that are taken early need not be held.
    if context.pointee.codec_id == AV_CODEC_ID_H264, !takesPicturesEarly {
      let depth = ReorderDepth(
        h264: configuration.configurationRecord, known: Int(stored?.reorderDepth ?? 0))
      context.pointee.has_b_frames = Int32(depth.frames)
      if depth.infersFromLevel { context.pointee.strict_std_compliance = FF_COMPLIANCE_STRICT }
    }
    try Self.setExtradata(context, configuration.configurationRecord)
    let result = avcodec_open2(context, codec, nil)
    guard result >= 0 else { throw Self.error(result) }
    if context.pointee.codec_id == AV_CODEC_ID_HEVC, context.pointee.active_thread_type & FF_THREAD_FRAME != 0
    {
      lateSets = LateParameterSets(record: configuration.configurationRecord)
    }
  }

  deinit {
    var context: UnsafeMutablePointer<AVCodecContext>? = context
    var packet: UnsafeMutablePointer<AVPacket>? = packet
    var frame: UnsafeMutablePointer<AVFrame>? = frame
    // Waits for the threads, which use `memory`.
    avcodec_free_context(&context)
    av_packet_free(&packet)
    av_frame_free(&frame)
  }

  // MARK: VideoDecoder

  public var selection: FrameSelection {
    get { Self.selection(context.pointee.skip_frame) }
    set { context.pointee.skip_frame = Self.discard(newValue) }
  }

  public func decode(_ compressed: CompressedPacket, output: (DecodedFrame) -> Void) {
    pending.take(compressed)
    defer { pending.takeReady().forEach(output) }
    do throws(CodecError) { try fill(compressed) } catch {
      pending.settle(compressed.token, .failed(error))
      return
    }
    if compressed.isKeyFrame { hasStarted = true }
    if takesPicturesEarly { memory.startCapture() }
    let sent = avcodec_send_packet(context, packet)
    av_packet_unref(packet)
    let received = receive()
    let failure = sent < 0 ? sent : received
    if takesPicturesEarly {
      settleEarly(compressed.token, memory.endCapture(), failure)
    } else if failure < 0 {
      pending.note(Self.error(failure))
    }
    if !takesPicturesEarly { loseWhatCannotCome() }
  }

  /// Wrapped libraries do not say which packets they hold: they get this many packets of patience.
  private static let patience = 300

  private func loseWhatCannotCome() {
    guard tellsOfPictures else { return pending.lose(before: Self.patience) { _ in false } }
    // Threads that each decode a frame: a packet has been worked on when so many further ones have been taken.
    let isThreaded = context.pointee.active_thread_type & FF_THREAD_FRAME != 0
    let threads = isThreaded ? Int(max(1, context.pointee.thread_count)) : 0
    let memory = memory
    pending.lose(before: threads) { memory.underWay.contains($0) }
  }

  public func flush(output: (DecodedFrame) -> Void) -> Bool {
    guard !pending.isEmpty else { return true }
    if avcodec_send_packet(context, nil) >= 0 { _ = receive() }
    avcodec_flush_buffers(context)
    hasStarted = false
    pending.loseAll()
    pending.takeReady().forEach(output)
    return false
  }

  // MARK: Packets in

  private func fill(_ compressed: CompressedPacket) throws(CodecError) {
    av_packet_unref(packet)
    guard !compressed.data.isEmpty else { throw .badData("no data") }
    if let record = compressed.newConfigurationRecord, !record.isEmpty { lateSets?.change(to: record) }
    let reordered = lateSets?.reorder(compressed.data)
    guard reordered?.withUnsafeBytes(copy) ?? copy(compressed.data) else { throw .outOfMemory }
    // The token travels as time stamp: it comes back with the frame.
    packet.pointee.pts = compressed.token
    packet.pointee.dts = compressed.token
    if compressed.isKeyFrame { packet.pointee.flags |= AV_PKT_FLAG_KEY }
    if let palette = compressed.palette { try addPalette(palette) }
    if let record = compressed.newConfigurationRecord, !record.isEmpty {
      guard let side = av_packet_new_side_data(packet, AV_PKT_DATA_NEW_EXTRADATA, record.count) else {
        throw .outOfMemory
      }
      record.withUnsafeBytes { bytes in
        if let base = bytes.baseAddress { memcpy(side, base, bytes.count) }
      }
    }
  }

  /// - Returns: False if there is no memory for a copy.
  private func copy(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let source = bytes.baseAddress, bytes.count < Int(Int32.max) - 1024,
      av_new_packet(packet, Int32(bytes.count)) == 0
    else { return false }
    memcpy(packet.pointee.data, source, bytes.count)
    return true
  }

  private func addPalette(_ palette: [UInt8]) throws(CodecError) {
    guard let side = av_packet_new_side_data(packet, AV_PKT_DATA_PALETTE, Int(AVPALETTE_SIZE)) else {
      throw .outOfMemory
    }
    for (index, byte) in palette.prefix(Int(AVPALETTE_SIZE)).enumerated() { side[index] = byte }
  }

  // MARK: Pictures out

  /// Takes what libavcodec has.
  /// - Returns: A libav error, or 0.
  private func receive() -> Int32 {
    var failure: Int32 = 0
    // A codec that reports errors without end must not keep us here.
    var attempts = 0
    while attempts < 256 {
      let result = avcodec_receive_frame(context, frame)
      if result == ovt_averror(EAGAIN) || result == ovt_averror_eof() { break }
      if result < 0 {
        failure = result
        attempts += 1
        continue
      }
      hasStarted = true
      let token = frame.pointee.pts
      if pending.isPending(token) {
        bitmapAlpha.settle(frame)
        let outcome = outcome(of: frame)
        pending.settle(token, outcome)
      }
      av_frame_unref(frame)
    }
    return failure
  }

  /// Decides on a packet whose picture libavcodec keeps for later.
  private func settleEarly(_ token: Int64, _ begun: [FrameReference], _ failure: Int32) {
    guard pending.isPending(token) else { return }
    if failure < 0 { return pending.settle(token, .failed(Self.error(failure))) }
    // Besides its picture a decoder begins stand-ins for missing references: an H.264 decoder before, HEVC after.
    let own = context.pointee.codec_id == AV_CODEC_ID_HEVC ? begun.first : begun.last
    guard let own else { return pending.settle(token, .dropped) }
    guard hasStarted else { return pending.settle(token, .failed(.badData("no key frame yet"))) }
    pending.settle(token, outcome(of: own.pointer, isEarly: true))
  }

  /// - Parameter isEarly: libavcodec has not yet noted all facts of the frame.
  private func outcome(of frame: UnsafePointer<AVFrame>, isEarly: Bool = false) -> DecodedFrame.Outcome {
    do throws(CodecError) {
      let buffer: CVPixelBuffer
      let direct = memory.pixelBuffer(of: frame)
      var matrix: UInt8?
      if let direct { buffer = direct } else { (buffer, matrix) = try memory.copy(frame, conversion) }
      var picture = FrameFormat.describe(frame, as: buffer)
      if let matrix { picture.color.matrix = matrix }
      picture.isReference = direct != nil
      picture.hasUnknownFields = isEarly
      if !picture.isDamaged { picture.isDamaged = memory.underWay.isConcealed(frame.pointee.pts) }
      if picture.isDamaged, !configuration.concealsDamage { return .failed(.badData("damaged picture")) }
      PictureMark.mark(picture)
      return .picture(picture)
    } catch {
      return .failed(error)
    }
  }

  // MARK: Names

  private static func error(_ code: Int32) -> CodecError {
    switch code {
    case ovt_averror(ENOMEM): .outOfMemory
    case ovt_averror_invaliddata(), ovt_averror(EINVAL): .badData(libavReason(code))
    case ovt_averror(ENOSYS): .unsupported(libavReason(code))
    default: .malfunction(libavReason(code))
    }
  }

  private static func discard(_ selection: FrameSelection) -> AVDiscard {
    switch selection {
    case .all: AVDISCARD_DEFAULT
    case .references: AVDISCARD_NONREF
    case .intra: AVDISCARD_NONINTRA
    case .keyFrames: AVDISCARD_NONKEY
    }
  }

  private static func selection(_ discard: AVDiscard) -> FrameSelection {
    switch discard {
    case AVDISCARD_NONREF: .references
    case AVDISCARD_NONINTRA: .intra
    case AVDISCARD_NONKEY: .keyFrames
    default: .all
    }
  }
}
