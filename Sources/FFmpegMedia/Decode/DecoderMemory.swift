// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CodecInterface
import CoreVideo
import Foundation
import Synchronization

/// Gives libavcodec the memory of pixel buffers to decode into, so that finished pictures need not
/// be copied.
///
/// libavcodec writes Cb and Cr into separate planes. If the pixel buffer interleaves them, luma is
/// decoded into its final memory and chroma into separate memory, from which it is interleaved once
/// when the picture is output.
final class DecoderMemory: @unchecked Sendable {
  // Sendable: `captured` is a mutex, and the other objects are thread-safe.
  private let preferred: [PictureFormat]
  private let allocator: any PictureAllocator
  private let isDirect: Bool
  private let spareChroma = SpareMemory()
  private let directPictures = DirectPictures()
  private let strides = PictureStrides()
  let heldPictures = HeldPictures()
  /// The frames that libavcodec has begun since `startCapture()`.
  private let captured = Mutex(Captured())

  /// Taken after a picture was made and before it is used. It only shows thread
  /// sanitizers the order that libavcodec's threads keep, by means that sanitizers do not see.
  private let handOver = Lock()

  private struct Captured {
    var isOn = false
    /// References to the first and the latest frame only: a damaged packet may begin any number of
    /// frames, and each reference keeps its memory.
    private(set) var frames: [FrameReference] = []

    mutating func add(_ frame: FrameReference) {
      if frames.count == 2 { frames.removeLast() }
      frames.append(frame)
    }
  }

  init(_ configuration: VideoDecoderConfiguration, isDirect: Bool) {
    preferred = configuration.preferredFormats
    allocator = configuration.allocator ?? PooledPictureAllocator()
    self.isDirect = isDirect
  }

  func startCapture() { captured.withLock { $0.isOn = true } }

  func endCapture() -> [FrameReference] {
    captured.withLock { captured in
      defer { captured = Captured() }
      return captured.frames
    }
  }

  /// The `get_buffer2` callback of the codec context, whose `opaque` is this object.
  static let getBuffer:
    @convention(c) (
      UnsafeMutablePointer<AVCodecContext>?, UnsafeMutablePointer<AVFrame>?, Int32
    ) -> Int32 = { context, frame, flags in
      guard let context, let frame, let opaque = context.pointee.opaque else { return ovt_averror(EINVAL) }
      let memory = Unmanaged<DecoderMemory>.fromOpaque(opaque).takeUnretainedValue()
      return memory.provide(context, frame, flags)
    }

  /// Records that a codec context has concealed errors, when libavcodec logs so. With frame threads
  /// the log line is the only reliable sign: the frame may have been copied before its
  /// `decode_error_flags` are set.
  /// - Parameter context: The object that the line was logged for, of any class.
  static func recordConcealment(_ context: UnsafeMutableRawPointer) {
    guard context.load(as: UnsafePointer<AVClass>?.self) == avcodec_get_class() else { return }
    let codec = context.assumingMemoryBound(to: AVCodecContext.self)
    // A process may have codec contexts that do not belong to a `FFmpegVideoDecoder`.
    guard let callback = codec.pointee.get_buffer2, let opaque = codec.pointee.opaque,
      unsafeBitCast(callback, to: UInt.self) == unsafeBitCast(getBuffer, to: UInt.self)
    else { return }
    Unmanaged<DecoderMemory>.fromOpaque(opaque).takeUnretainedValue().heldPictures.recordConcealment(context)
  }

  private func provide(
    _ context: UnsafeMutablePointer<AVCodecContext>, _ frame: UnsafeMutablePointer<AVFrame>, _ flags: Int32
  ) -> Int32 {
    let kind = PictureStrides.Kind(frame)
    let before = strides.memory(of: kind)
    var pixelFormat: UInt32?
    if isDirect, before == nil || before?.pixelFormat != nil {
      pixelFormat = provideDirectly(context, frame, like: before?.pixelFormat)
      // All pictures of one size and format need the same kind of memory; see `PictureStrides`.
      if pixelFormat == nil, before != nil { return ovt_averror(ENOMEM) }
    }
    let result = pixelFormat != nil ? 0 : avcodec_default_get_buffer2(context, frame, flags)
    guard result >= 0 else { return result }
    guard !isDirect || strides.matches(kind, PictureStrides.Memory(frame, pixelFormat: pixelFormat)) else {
      av_frame_unref(frame)
      return ovt_averror(EINVAL)
    }
    heldPictures.begin(frame, context)
    captured.withLock {
      guard $0.isOn, let reference = FrameReference(copying: frame) else { return }
      Self.crop(reference.pointer, context)
      $0.add(reference)
    }
    return result
  }

  /// Crops a captured frame to the size in the context: the HEVC decoder sets a frame's cropping
  /// only when it is finished.
  private static func crop(
    _ frame: UnsafeMutablePointer<AVFrame>, _ context: UnsafeMutablePointer<AVCodecContext>
  ) {
    let visible = FrameFormat.visibleRect(frame)
    let right = visible.width - Int(context.pointee.width)
    let bottom = visible.height - Int(context.pointee.height)
    if right > 0 { frame.pointee.crop_right += right }
    if bottom > 0 { frame.pointee.crop_bottom += bottom }
  }

  /// Lets a frame be decoded into a pixel buffer.
  /// - Parameters:
  ///   - context: The codec context.
  ///   - frame: The frame, whose planes are set.
  ///   - code: The pixel format of earlier pictures of this size; nil for the first one.
  /// - Returns: The pixel format of the buffer; nil if the frame needs memory of another kind.
  private func provideDirectly(
    _ context: UnsafeMutablePointer<AVCodecContext>, _ frame: UnsafeMutablePointer<AVFrame>,
    like code: UInt32?
  ) -> UInt32? {
    let (format, isFullRange) = FrameFormat.plain(
      AVPixelFormat(frame.pointee.format), isFullRange: context.pointee.color_range == AVCOL_RANGE_JPEG)
    guard format == AV_PIX_FMT_YUV420P else { return nil }
    let width = Int(context.pointee.width)
    let height = Int(context.pointee.height)
    var paddedWidth = frame.pointee.width
    var paddedHeight = frame.pointee.height
    var alignment: (Int32, Int32, Int32, Int32, Int32, Int32, Int32, Int32) = (0, 0, 0, 0, 0, 0, 0, 0)
    withUnsafeMutablePointer(to: &alignment.0) {
      avcodec_align_dimensions2(context, &paddedWidth, &paddedHeight, $0)
    }
    guard width > 0, height > 0, width <= frame.pointee.width, height <= frame.pointee.height else {
      return nil
    }
    let code = code ?? FrameFormat.target(of: format, isFullRange: isFullRange, preferred: preferred)
    let request = PictureRequest(
      format: PictureFormat(rawValue: code), width: width, height: height,
      extraRight: Int(paddedWidth) - width,
      // SIMD code of motion compensation reads slightly beyond the last row.
      extraBottom: Int(paddedHeight) + 2 - height)
    guard let buffer = allocator.makePixelBuffer(request),
      let picture = DirectPicture(buffer, paddedHeight: Int(paddedHeight), spareChroma)
    else { return nil }

    guard let reference = directPictures.reference(picture, size: picture.lumaStride * Int(paddedHeight))
    else {
      return nil
    }
    frame.pointee.buf.0 = reference
    frame.pointee.data.0 = picture.luma
    frame.pointee.data.1 = picture.cb
    frame.pointee.data.2 = picture.cr
    frame.pointee.linesize.0 = Int32(picture.lumaStride)
    frame.pointee.linesize.1 = Int32(picture.chromaStride)
    frame.pointee.linesize.2 = Int32(picture.chromaStride)
    frame.pointee.extended_data = UnsafeMutableRawPointer(frame).assumingMemoryBound(
      to: UnsafeMutablePointer<UInt8>?.self)
    handOver.withLock {}
    return code
  }

  // MARK: Finished frames

  /// The pixel buffer that a finished frame was decoded into, with chroma in its final memory; nil
  /// if it was decoded into other memory, needs a conversion, or is cropped at the left or at the
  /// top.
  func pixelBuffer(of frame: UnsafePointer<AVFrame>) -> CVPixelBuffer? {
    guard isDirect, let reference = frame.pointee.buf.0, frame.pointee.crop_left == 0,
      !MatrixConversion.isNeeded(UInt8(clamping: frame.pointee.colorspace.rawValue)),
      frame.pointee.crop_top == 0,
      let picture = directPictures.picture(of: reference)
    else { return nil }
    handOver.withLock {}
    let visible = FrameFormat.visibleRect(frame)
    // The video range may differ from that of the first picture in this memory.
    let (format, isFullRange) = FrameFormat.plain(
      AVPixelFormat(frame.pointee.format), isFullRange: frame.pointee.color_range == AVCOL_RANGE_JPEG)
    guard
      CVPixelBufferGetPixelFormatType(picture.pixelBuffer)
        == FrameFormat.target(of: format, isFullRange: isFullRange, preferred: preferred)
    else { return nil }
    guard picture.luma == frame.pointee.data.0, CVPixelBufferGetWidth(picture.pixelBuffer) == visible.width,
      CVPixelBufferGetHeight(picture.pixelBuffer) == visible.height
    else { return nil }
    picture.joinChroma()
    return picture.pixelBuffer
  }

  /// Copies a finished frame to a pixel buffer of the closest format.
  ///
  /// - Parameters:
  ///   - frame: The frame.
  ///   - conversion: Converts between pixel formats.
  /// - Returns: The buffer, and the code point of its matrix (ITU-T H.273), which differs from the
  ///   frame's where Core Video has no name for that.
  /// - Throws: `CodecError` if memory runs out or the pixel format cannot be converted.
  func copy(_ frame: UnsafePointer<AVFrame>, _ conversion: PictureConversion) throws(CodecError)
    -> (buffer: CVPixelBuffer, matrix: UInt8)
  {
    var (format, isFullRange) = FrameFormat.plain(
      AVPixelFormat(frame.pointee.format), isFullRange: frame.pointee.color_range == AVCOL_RANGE_JPEG)
    // Only in video codecs do gray pictures have a video range; elsewhere they use the full range.
    if !isDirect, frame.pointee.color_range == AVCOL_RANGE_UNSPECIFIED, FrameFormat.isGray(format) {
      isFullRange = true
    }
    let visible = FrameFormat.visibleRect(frame)
    guard visible.width > 0, visible.height > 0 else { throw .malfunction("a frame without pixels") }
    format = FrameFormat.withoutUnwantedAlpha(format, preferred: preferred)
    let code = FrameFormat.target(of: format, isFullRange: isFullRange, preferred: preferred)
    let request = PictureRequest(
      format: PictureFormat(rawValue: code), width: visible.width, height: visible.height)
    guard let buffer = allocator.makePixelBuffer(request) else { throw .outOfMemory }
    CVPixelBufferLockBaseAddress(buffer, [])
    defer { CVPixelBufferUnlockBaseAddress(buffer, []) }
    var source = PictureView(frame)
    source.format = format
    let align = source.layout.cornerAlignment
    guard align.x > 0, align.y > 0, PictureConversion.readable(format) != nil else {
      let name = av_get_pix_fmt_name(format).map { String(cString: $0) } ?? "unknown"
      throw .unsupported("pictures of the pixel format \(name)")
    }
    var meaning = SampleMeaning(
      matrix: UInt8(clamping: frame.pointee.colorspace.rawValue), isFullRange: isFullRange)
    meaning.chroma = nil
    do {
      let (target, info) = try PixelConverter.view(buffer)
      var targetMeaning = meaning
      targetMeaning.isFullRange = info.isFullRange
      var picture = source.cropped(to: visible)
      let change =
        Self.isYCbCr(format)
        ? MatrixConversion(
          matrix: meaning.matrix, primaries: UInt8(clamping: frame.pointee.color_primaries.rawValue),
          transfer: UInt8(clamping: frame.pointee.color_trc.rawValue), isFullRange: isFullRange,
          height: visible.height) : nil
      // Owns the memory of `picture` until the conversion is done.
      var between: PictureMemory?
      if let change {
        between = PictureMemory(format: AV_PIX_FMT_YUV444P16LE, width: picture.width, height: picture.height)
        guard let between else { throw PixelConversionError.failed }
        try conversion.convert(picture, meaning, to: between.view, meaning)
        change.apply(to: between.view)
        picture = between.view
        (meaning.matrix, targetMeaning.matrix) = (change.target, change.target)
      }
      try withExtendedLifetime(between) { () throws(PixelConversionError) in
        try conversion.convert(picture, meaning, to: target, targetMeaning)
      }
    } catch {
      let name = av_get_pix_fmt_name(format).map { String(cString: $0) } ?? "unknown"
      throw .unsupported("pictures of the pixel format \(name)")
    }
    return (buffer, meaning.matrix)
  }

  private static func isYCbCr(_ format: AVPixelFormat) -> Bool {
    guard let formatDescriptor = av_pix_fmt_desc_get(format) else { return false }
    return formatDescriptor.pointee.nb_components == 3 && !PixelFormatInfo.isRGB(format)
      && formatDescriptor.pointee.flags & UInt64(AV_PIX_FMT_FLAG_PAL) == 0
  }
}

/// A pixel buffer into which a frame is being decoded, with the memory of its chroma planes.
final class DirectPicture: @unchecked Sendable {
  // Sendable: immutable except for `isJoined`, which is atomic. Only one decoder writes the
  // picture.
  let pixelBuffer: CVPixelBuffer
  let luma: UnsafeMutablePointer<UInt8>
  let lumaStride: Int
  let cb: UnsafeMutablePointer<UInt8>
  let cr: UnsafeMutablePointer<UInt8>
  let chromaStride: Int
  private let chroma: SpareMemory.Block?
  private let isJoined = Atomic(false)

  init?(_ buffer: CVPixelBuffer, paddedHeight: Int, _ spare: SpareMemory) {
    guard let luma = CVPixelBufferGetBaseAddressOfPlane(buffer, 0) else { return nil }
    pixelBuffer = buffer
    self.luma = luma.assumingMemoryBound(to: UInt8.self)
    lumaStride = CVPixelBufferGetBytesPerRowOfPlane(buffer, 0)
    if CVPixelBufferGetPlaneCount(buffer) == 3 {
      guard let cb = CVPixelBufferGetBaseAddressOfPlane(buffer, 1),
        let cr = CVPixelBufferGetBaseAddressOfPlane(buffer, 2),
        CVPixelBufferGetBytesPerRowOfPlane(buffer, 1) == CVPixelBufferGetBytesPerRowOfPlane(buffer, 2)
      else { return nil }
      self.cb = cb.assumingMemoryBound(to: UInt8.self)
      self.cr = cr.assumingMemoryBound(to: UInt8.self)
      chromaStride = CVPixelBufferGetBytesPerRowOfPlane(buffer, 1)
      chroma = nil
    } else {
      chromaStride = (lumaStride / 2 + 63) & ~63
      let plane = chromaStride * (paddedHeight / 2 + 2)
      guard let block = spare.take(2 * plane + 64) else { return nil }
      chroma = block
      cb = block.base
      cr = block.base + plane
    }
  }

  deinit { chroma?.giveBack() }

  /// Interleaves chroma into the pixel buffer on the first call; later calls do nothing.
  func joinChroma() {
    guard chroma != nil, !isJoined.exchange(true, ordering: .acquiringAndReleasing),
      let pair = SemiPlanarPair(planar: AV_PIX_FMT_YUV420P)
    else { return }
    let width = CVPixelBufferGetWidth(pixelBuffer)
    let height = CVPixelBufferGetHeight(pixelBuffer)
    PlaneCopy.joinChroma(
      PictureView(
        format: pair.planar, width: width, height: height,
        planes: [luma, cb, cr].map { UnsafeMutableRawPointer($0) },
        strides: [lumaStride, chromaStride, chromaStride]),
      PictureView(
        format: pair.semiPlanar, width: width, height: height,
        planes: [UnsafeMutableRawPointer(luma), CVPixelBufferGetBaseAddressOfPlane(pixelBuffer, 1)],
        strides: [lumaStride, CVPixelBufferGetBytesPerRowOfPlane(pixelBuffer, 1)]), pair)
  }
}

/// A pool of memory blocks of one size. A block of another size replaces all of them.
final class SpareMemory: Sendable {
  private struct State {
    var size = 0
    var free: [UInt] = []
  }
  private let state = Mutex(State())

  struct Block {
    let base: UnsafeMutablePointer<UInt8>
    let size: Int
    let pool: SpareMemory

    func giveBack() { pool.put(self) }
  }

  deinit { state.withLock { $0.free.forEach { av_free(UnsafeMutableRawPointer(bitPattern: $0)) } } }

  func take(_ size: Int) -> Block? {
    let spare: UInt? = state.withLock { state in
      if state.size != size {
        state.free.forEach { av_free(UnsafeMutableRawPointer(bitPattern: $0)) }
        state = State(size: size)
      }
      return state.free.popLast()
    }
    guard let base = spare.flatMap({ UnsafeMutableRawPointer(bitPattern: $0) }) ?? av_malloc(size) else {
      return nil
    }
    return Block(base: base.assumingMemoryBound(to: UInt8.self), size: size, pool: self)
  }

  private func put(_ block: Block) {
    let isKept = state.withLock { state in
      guard state.size == block.size else { return false }
      state.free.append(UInt(bitPattern: block.base))
      return true
    }
    if !isKept { av_free(block.base) }
  }
}

/// A reference to a frame's buffers, with a copy of its properties.
final class FrameReference: @unchecked Sendable {
  // Sendable: owns one reference to a frame that the decoder no longer writes.
  let pointer: UnsafeMutablePointer<AVFrame>

  init?(copying frame: UnsafePointer<AVFrame>) {
    guard let copy = av_frame_clone(frame) else { return nil }
    pointer = copy
  }

  deinit {
    var frame: UnsafeMutablePointer<AVFrame>? = pointer
    av_frame_free(&frame)
  }
}

/// The allocator of decoders that were not given one. It takes pixel buffers from a pool, so that
/// memory of released pictures is reused.
private final class PooledPictureAllocator: PictureAllocator {
  private struct State: @unchecked Sendable {
    // Sendable: lives behind the mutex of its owner.
    var request: PictureRequest?
    var pool: CVPixelBufferPool?
  }
  private let state = Mutex(State())

  func makePixelBuffer(_ request: PictureRequest) -> CVPixelBuffer? {
    let pool: CVPixelBufferPool? = state.withLock { state in
      if state.request != request {
        state.request = request
        state.pool = Self.makePool(request)
      }
      return state.pool
    }
    guard let pool else { return nil }
    var buffer: CVPixelBuffer?
    let result = CVPixelBufferPoolCreatePixelBuffer(nil, pool, &buffer)
    return result == kCVReturnSuccess ? buffer : nil
  }

  private static func makePool(_ request: PictureRequest) -> CVPixelBufferPool? {
    var pool: CVPixelBufferPool?
    CVPixelBufferPoolCreate(nil, nil, request.pixelBufferAttributes, &pool)
    return pool
  }
}
