// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CodecInterface
import CoreVideo
import Foundation
import Synchronization

/// Gives libavcodec the memory to decode into: pixel buffers, so that a picture need not be copied when it is done.
///
/// libavcodec writes chroma in planes. Where the pixel buffer wants it interleaved, luma is decoded in its final
/// place, chroma next to it, and interleaved once when the picture is handed over.
final class DecoderMemory: @unchecked Sendable {
  // Sendable: `captured` and `handOver` guard what changes.
  private let preferred: [PictureFormat]
  private let allocator: any PictureAllocator
  private let isDirect: Bool
  private let spareChroma = SpareMemory()
  private let directPictures = DirectPictures()
  private let strides = PictureStrides()
  let underWay = PicturesUnderWay()
  /// The first and the latest frame that were begun since `startCapture`, as references of our own.
  private let captured = Mutex(Captured())

  /// libavcodec orders what its threads do by means that thread sanitizers do not see: taken between the making of a
  /// picture and its use.
  private let handOver = Lock()

  private struct Captured {
    var isOn = false
    /// The first and the latest: a packet may begin pictures without end, and each that is kept holds its memory.
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

  /// The callback of the codec context, whose `opaque` is this object.
  static let getBuffer:
    @convention(c) (
      UnsafeMutablePointer<AVCodecContext>?, UnsafeMutablePointer<AVFrame>?, Int32
    ) -> Int32 = { context, frame, flags in
      guard let context, let frame, let opaque = context.pointee.opaque else { return ovt_averror(EINVAL) }
      let memory = Unmanaged<DecoderMemory>.fromOpaque(opaque).takeUnretainedValue()
      return memory.provide(context, frame, flags)
    }

  /// libavcodec's error concealment tells of what it does by a line of its log alone where several threads decode frames:
  /// the facts of one that goes out may have been copied before (`decode_error_flags`).
  /// - Parameter context: of whom a line is, whatever it is.
  static func noteConcealment(_ context: UnsafeMutableRawPointer) {
    guard context.load(as: UnsafePointer<AVClass>?.self) == avcodec_get_class() else { return }
    let codec = context.assumingMemoryBound(to: AVCodecContext.self)
    // Not every codec context of the process is one of a `FFmpegVideoDecoder`.
    guard let callback = codec.pointee.get_buffer2, let opaque = codec.pointee.opaque,
      unsafeBitCast(callback, to: UInt.self) == unsafeBitCast(getBuffer, to: UInt.self)
    else { return }
    Unmanaged<DecoderMemory>.fromOpaque(opaque).takeUnretainedValue().underWay.noteConcealment(context)
  }

  private func provide(
    _ context: UnsafeMutablePointer<AVCodecContext>, _ frame: UnsafeMutablePointer<AVFrame>, _ flags: Int32
  ) -> Int32 {
    let kind = PictureStrides.Kind(frame)
    let before = strides.memory(of: kind)
    var pixelFormat: UInt32?
    if isDirect, before == nil || before?.pixelFormat != nil {
      pixelFormat = provideDirectly(context, frame, like: before?.pixelFormat)
      // Memory of another kind would not do.
      if pixelFormat == nil, before != nil { return ovt_averror(ENOMEM) }
    }
    let result = pixelFormat != nil ? 0 : avcodec_default_get_buffer2(context, frame, flags)
    guard result >= 0 else { return result }
    guard !isDirect || strides.settle(kind, PictureStrides.Memory(frame, pixelFormat: pixelFormat)) else {
      av_frame_unref(frame)
      return ovt_averror(EINVAL)
    }
    underWay.begin(frame, context)
    captured.withLock {
      guard $0.isOn, let reference = FrameReference(copying: frame) else { return }
      Self.crop(reference.pointer, context)
      $0.add(reference)
    }
    return result
  }

  /// The HEVC decoder notes the cropping only when a frame is finished: until then the context knows the size.
  private static func crop(
    _ frame: UnsafeMutablePointer<AVFrame>, _ context: UnsafeMutablePointer<AVCodecContext>
  ) {
    let visible = FrameFormat.visibleRect(frame)
    let right = visible.width - Int(context.pointee.width)
    let bottom = visible.height - Int(context.pointee.height)
    if right > 0 { frame.pointee.crop_right += right }
    if bottom > 0 { frame.pointee.crop_bottom += bottom }
  }

  /// - Parameter code: The pixel format that pictures like it have; nil: it is the first.
  /// - Returns: The pixel format; nil if this frame needs memory of another kind.
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
      // Vector code of motion compensation reads a little beyond the last row.
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

  /// The pixel buffer that a finished frame was decoded into, chroma in its final place; nil if it was not, or if
  /// the picture does not begin at the buffer's first pixel.
  func pixelBuffer(of frame: UnsafePointer<AVFrame>) -> CVPixelBuffer? {
    guard isDirect, let reference = frame.pointee.buf.0, frame.pointee.crop_left == 0,
      !MatrixConversion.isNeeded(UInt8(clamping: frame.pointee.colorspace.rawValue)),
      frame.pointee.crop_top == 0,
      let picture = directPictures.picture(of: reference)
    else { return nil }
    handOver.withLock {}
    let visible = FrameFormat.visibleRect(frame)
    // The range may be another one than that of the first picture with such memory.
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

  /// A pixel buffer with a copy of a finished frame, in the format that comes closest.
  ///
  /// - Returns: with the code point of its matrix, which is another one where the frame's has no name in Core
  /// Video.
  func copy(_ frame: UnsafePointer<AVFrame>, _ conversion: PictureConversion) throws(CodecError)
    -> (buffer: CVPixelBuffer, matrix: UInt8)
  {
    var (format, isFullRange) = FrameFormat.plain(
      AVPixelFormat(frame.pointee.format), isFullRange: frame.pointee.color_range == AVCOL_RANGE_JPEG)
    // Gray has no range of its own unless it is the luma of a video codec.
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
      // Holds what `picture` shows until the end.
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
    guard let facts = av_pix_fmt_desc_get(format) else { return false }
    return facts.pointee.nb_components == 3 && !PixelFormatInfo.isRGB(format)
      && facts.pointee.flags & UInt64(AV_PIX_FMT_FLAG_PAL) == 0
  }
}

/// A frame under decoding and the pixel buffer that it is decoded into.
final class DirectPicture: @unchecked Sendable {
  // Sendable: immutable; one decoder writes the picture, and `isJoined` is atomic.
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

  /// Puts chroma into its final place, the first time that it is called.
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

/// Blocks of memory that are used again and again, all of about one size.
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

/// A reference to a frame's buffers and a copy of its facts.
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

/// Pixel buffers for decoders that nobody gave an allocator: out of a pool, so that the memory of a picture that
/// nobody holds any more takes the next one.
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
