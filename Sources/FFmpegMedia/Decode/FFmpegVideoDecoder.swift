// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CodecInterface
import CoreMedia
import Foundation

/// Decodes video with any of libavcodec's decoders.
public final class FFmpegVideoDecoder: VideoDecoder {
  private let configuration: VideoDecoderConfiguration
  private let context: UnsafeMutablePointer<AVCodecContext>
  private let packet: UnsafeMutablePointer<AVPacket>
  private let frame: UnsafeMutablePointer<AVFrame>
  private let memory: DecoderMemory
  private let stored: StoredCodec?
  /// Whether the decoder is libavcodec's own, which requests the memory of a picture while it
  /// decodes its packet. A decoder that wraps another library does not.
  private let reportsPictures: Bool
  private let conversion = PictureConversion(filter: .bicubic, threads: 1)
  private var pending: PendingPackets
  /// Whether a picture is taken from its buffer as soon as its packet is decoded. libavcodec
  /// outputs it only in presentation order, much later.
  private let takesPicturesEarly: Bool
  /// Whether libavcodec was sent a key frame, or has output a frame, since the last flush.
  private var hasStarted = false
  /// Reorders late HEVC parameter sets; nil unless libavcodec decodes HEVC with frame threads.
  private var lateSets: LateParameterSets?
  private var bitmapAlpha: BitmapAlpha

  /// The decoder's entry in the registry.
  public static let description = DecoderDescription(
    id: "org.openvideotoolbox.decoder.libavcodec", name: "libavcodec",
    supports: { DecoderCodecs.identifier($0) != nil },
    makeDecoder: { configuration throws(CodecError) in try FFmpegVideoDecoder(configuration) })

  /// Whether libavcodec has a decoder for the codec of a format description.
  package static func supports(_ description: CMFormatDescription) -> Bool {
    if let id = StoredCodec(description).identifier { return avcodec_find_decoder(id) != nil }
    return DecoderCodecs.identifier(CodecType(rawValue: CMFormatDescriptionGetMediaSubType(description)))
      != nil
  }

  /// Whether frames of a codec may depend on others; true also for an unknown codec.
  public static func hasInterframeDependencies(_ codec: CodecType) -> Bool {
    guard let id = DecoderCodecs.identifier(codec), let descriptor = avcodec_descriptor_get(id) else {
      return true
    }
    return descriptor.pointee.props & AV_CODEC_PROP_INTRA_ONLY == 0
  }

  /// Opens a decoder.
  /// - Parameter configuration: The codec, its configuration record, the size and the kind of
  ///   output.
  /// - Throws: `CodecError` if libavcodec has no such decoder or rejects the configuration.
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
    reportsPictures = codec.pointee.wrapper_name == nil
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

  /// Opens a strict decoder with the configuration record first: one that conceals damage also
  /// accepts a record that is invalid.
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
    // If several threads decode the slices of a picture, the H.264 decoder neither conceals nor
    // reports damaged slices, and shows old contents of the memory there. The HEVC decoder
    // dereferences a null pointer in pictures with entropy_coding_sync_enabled_flag and
    // persistent_rice_adaptation_enabled_flag whose slices have no entry points.
    let isUnsafe = [AV_CODEC_ID_H264, AV_CODEC_ID_HEVC].contains(context.pointee.codec_id)
    context.pointee.thread_count =
      configuration.isLowDelay && isUnsafe ? 1 : Int32(min(configuration.threads, 64))
    context.pointee.thread_type =
      configuration.isLowDelay ? FF_THREAD_SLICE : FF_THREAD_FRAME | FF_THREAD_SLICE
    // A picture that is taken early does not have its error flags yet, so that decoding must stop
    // at damage. Otherwise the flags come with the picture, and stopping would leave frame threads
    // without a reference picture.
    if takesPicturesEarly, !configuration.concealsDamage { context.pointee.err_recognition |= AV_EF_EXPLODE }
    // Film grain (H.274, 8.5) is applied after the decoding process, and optional. A picture taken
    // early would lack it or, if libavcodec does not know the grain model, have old contents of the
    // memory.
    if DecoderCodecs.decodesInPlace(context.pointee.codec_id) {
      context.pointee.export_side_data |= AV_CODEC_EXPORT_DATA_FILM_GRAIN
    }
    context.pointee.skip_frame = Self.discard(configuration.selection)
    // Pictures that are taken early need not be reordered.
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
    // Waits for the decoder's threads, which use `memory`.
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
    pending.append(compressed)
    defer { pending.takeReady().forEach(output) }
    do throws(CodecError) { try fill(compressed) } catch {
      pending.complete(compressed.token, .failed(error))
      return
    }
    if compressed.isKeyFrame { hasStarted = true }
    if takesPicturesEarly { memory.startCapture() }
    let sent = avcodec_send_packet(context, packet)
    av_packet_unref(packet)
    let received = receive()
    let failure = sent < 0 ? sent : received
    if takesPicturesEarly {
      completeEarly(compressed.token, memory.endCapture(), failure)
    } else if failure < 0 {
      pending.add(Self.error(failure))
    }
    if !takesPicturesEarly { markUndeliverableAsLost() }
  }

  /// Packets that may be sent to a wrapped library after one before that one counts as lost: such a
  /// library does not tell which packets it holds.
  private static let timeout = 300

  private func markUndeliverableAsLost() {
    guard reportsPictures else { return pending.markAsLost(before: Self.timeout) { _ in false } }
    // With frame threads, a packet has been decoded when as many later ones were sent as there are
    // threads.
    let isThreaded = context.pointee.active_thread_type & FF_THREAD_FRAME != 0
    let threads = isThreaded ? Int(max(1, context.pointee.thread_count)) : 0
    let memory = memory
    pending.markAsLost(before: threads) { memory.heldPictures.contains($0) }
  }

  public func flush(output: (DecodedFrame) -> Void) -> Bool {
    guard !pending.isEmpty else { return true }
    if avcodec_send_packet(context, nil) >= 0 { _ = receive() }
    avcodec_flush_buffers(context)
    hasStarted = false
    pending.markAllAsLost()
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
    // The timestamp carries the packet's token: libavcodec copies it to the frame.
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

  /// Copies the bytes to `packet`.
  /// - Returns: false if memory runs out.
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

  /// Receives all frames that libavcodec can output.
  /// - Returns: The last error of libavcodec; 0 if there was none.
  private func receive() -> Int32 {
    var failure: Int32 = 0
    // The limit ends the loop if the codec returns errors without end.
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
        bitmapAlpha.removeUnusedAlpha(frame)
        let outcome = outcome(of: frame)
        pending.complete(token, outcome)
      }
      av_frame_unref(frame)
    }
    return failure
  }

  /// Decides the outcome of a packet whose picture libavcodec holds back for reordering.
  private func completeEarly(_ token: Int64, _ begun: [FrameReference], _ failure: Int32) {
    guard pending.isPending(token) else { return }
    if failure < 0 { return pending.complete(token, .failed(Self.error(failure))) }
    // Besides the packet's picture a decoder generates missing reference pictures: H.264's before
    // it, HEVC's after it.
    let own = context.pointee.codec_id == AV_CODEC_ID_HEVC ? begun.first : begun.last
    guard let own else { return pending.complete(token, .dropped) }
    guard hasStarted else { return pending.complete(token, .failed(.badData("no key frame yet"))) }
    pending.complete(token, outcome(of: own.pointer, isEarly: true))
  }

  /// Makes the outcome of a packet from its frame.
  /// - Parameters:
  ///   - frame: The frame.
  ///   - isEarly: Whether libavcodec has not yet set all properties of the frame.
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
      if !picture.isDamaged { picture.isDamaged = memory.heldPictures.isConcealed(frame.pointee.pts) }
      if picture.isDamaged, !configuration.concealsDamage { return .failed(.badData("damaged picture")) }
      DecodedPictureAttachments.attach(to: picture)
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
