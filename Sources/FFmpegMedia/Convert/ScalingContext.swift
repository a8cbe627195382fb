// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CodecInterface

/// The interpolation filter for changes of size.
public enum ScalingFilter: Sendable, Hashable {
  /// The nearest sample: fast and coarse.
  case nearest
  /// Linear interpolation with reduced precision, for real-time use.
  case fastBilinear
  case bilinear
  /// Cubic interpolation, the default of ffmpeg.
  case bicubic
  /// The mean of all samples that a target sample covers, for strong reductions.
  case area
  case lanczos

  var flags: Int32 {
    switch self {
    case .nearest: Int32(SWS_POINT)
    case .fastBilinear: Int32(SWS_FAST_BILINEAR)
    case .bilinear: Int32(SWS_BILINEAR)
    case .bicubic: Int32(SWS_BICUBIC)
    case .area: Int32(SWS_AREA)
    case .lanczos: Int32(SWS_LANCZOS)
    }
  }
}

/// A libswscale context for conversions between two fixed sizes and formats. Only one thread at a
/// time may use it.
final class ScalingContext: @unchecked Sendable {
  // Sendable: `PictureConversion` lends it to one thread at a time.
  struct Key: Hashable {
    struct Side: Hashable {
      var format: Int32
      var width: Int
      var height: Int
      /// Matrix coefficients, numbered as in libswscale and H.273.
      var matrix: Int32
      var isFullRange: Bool
      /// Position of the chroma samples in 1/256 of a luma sample; -513: libswscale's default.
      var chromaX: Int32 = -513
      var chromaY: Int32 = -513
    }
    var source: Side
    var target: Side
    var filter: ScalingFilter
    var threads: Int
  }

  let key: Key
  private let context: OpaquePointer
  /// Intermediate pictures: for formats that libswscale does not support, and for parts of a
  /// target.
  private var scratch: [PictureMemory] = []

  /// - Returns: nil if libswscale cannot do the conversion, or if memory runs out.
  init?(_ key: Key) {
    guard let context = sws_alloc_context() else { return nil }
    self.key = key
    self.context = context
    let options: [(String, Int64)] = [
      ("srcw", Int64(key.source.width)), ("srch", Int64(key.source.height)),
      ("src_format", Int64(key.source.format)), ("src_range", key.source.isFullRange ? 1 : 0),
      ("dstw", Int64(key.target.width)), ("dsth", Int64(key.target.height)),
      ("dst_format", Int64(key.target.format)), ("dst_range", key.target.isFullRange ? 1 : 0),
      ("sws_flags", Int64(Self.flags(key))), ("threads", Int64(key.threads)),
      ("src_h_chr_pos", Int64(key.source.chromaX)), ("src_v_chr_pos", Int64(key.source.chromaY)),
      ("dst_h_chr_pos", Int64(key.target.chromaX)), ("dst_v_chr_pos", Int64(key.target.chromaY)),
    ]
    let raw = UnsafeMutableRawPointer(context)
    // All properties are set: from here on `deinit` frees the context, also after a failure.
    for (name, value) in options where av_opt_set_int(raw, name, value, 0) < 0 { return nil }
    guard sws_init_context(context, nil, nil) >= 0 else { return nil }
    // Fails if no matrix is involved, as from RGB to RGB, which does not matter.
    _ = sws_setColorspaceDetails(
      context, sws_getCoefficients(key.source.matrix), key.source.isFullRange ? 1 : 0,
      sws_getCoefficients(key.target.matrix), key.target.isFullRange ? 1 : 0, 0, 1 << 16, 1 << 16)
  }

  deinit { sws_freeContext(context) }

  /// Chroma is brought to the full size where RGB is made of it, since libswscale otherwise rounds
  /// greys of NV12 to colours that are one or two levels off.
  private static func flags(_ key: Key) -> Int32 {
    func isRGB(_ format: Int32) -> Bool {
      av_pix_fmt_desc_get(AVPixelFormat(rawValue: format)).map {
        $0.pointee.flags & UInt64(AV_PIX_FMT_FLAG_RGB) != 0
      } ?? false
    }
    let makesRGB = isRGB(key.target.format) && !isRGB(key.source.format)
    return key.filter.flags | (makesRGB ? Int32(SWS_FULL_CHR_H_INT) : 0)
  }

  /// Converts a picture of the context's source format and size.
  /// - Returns: false if libswscale failed.
  func scale(_ source: PictureView, to target: PictureView) -> Bool {
    key.threads > 1 ? scaleInSlices(source, to: target) : scaleAtOnce(source, to: target)
  }

  private func scaleAtOnce(_ source: PictureView, to target: PictureView) -> Bool {
    let planes = source.planes.map { $0.map { UnsafePointer($0) } }
    return sws_scale(context, planes, source.strides, 0, Int32(source.height), target.planes, target.strides)
      == Int32(target.height)
  }

  private func scaleInSlices(_ source: PictureView, to target: PictureView) -> Bool {
    var from = frame(around: source)
    var to = frame(around: target)
    defer {
      av_frame_free(&from)
      av_frame_free(&to)
    }
    guard from != nil, to != nil else { return false }
    return sws_scale_frame(context, to, from) >= 0
  }

  /// Makes a frame for libswscale's slice threads, which need reference-counted buffers. Its buffer
  /// does not own the memory.
  private func frame(around view: PictureView) -> UnsafeMutablePointer<AVFrame>? {
    guard let frame = av_frame_alloc() else { return nil }
    frame.pointee.format = view.format.rawValue
    frame.pointee.width = Int32(view.width)
    frame.pointee.height = Int32(view.height)
    frame.pointee.data.0 = view.planes[0]
    frame.pointee.data.1 = view.planes[1]
    frame.pointee.data.2 = view.planes[2]
    frame.pointee.data.3 = view.planes[3]
    frame.pointee.linesize.0 = view.strides[0]
    frame.pointee.linesize.1 = view.strides[1]
    frame.pointee.linesize.2 = view.strides[2]
    frame.pointee.linesize.3 = view.strides[3]
    frame.pointee.buf.0 = av_buffer_create(view.planes[0], 1, { _, _ in }, nil, 0)
    var pointer: UnsafeMutablePointer<AVFrame>? = frame
    guard frame.pointee.buf.0 != nil else {
      av_frame_free(&pointer)
      return nil
    }
    return pointer
  }

  /// An intermediate picture, which is kept for later conversions; nil if memory runs out.
  func scratchPicture(_ index: Int, _ format: AVPixelFormat, width: Int, height: Int) -> PictureView? {
    if index < scratch.count {
      let view = scratch[index].view
      if view.format == format, view.width == width, view.height == height { return view }
    }
    guard let memory = PictureMemory(format: format, width: width, height: height) else { return nil }
    if index < scratch.count { scratch[index] = memory } else { scratch.append(memory) }
    return memory.view
  }
}
