// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CodecInterface

/// How samples between samples are made up when a picture changes its size.
public enum ScalingFilter: Sendable, Hashable {
  /// The nearest sample: fast and coarse.
  case nearest
  /// Linear, in fewer bits: for real time.
  case fastBilinear
  case bilinear
  /// The choice of ffmpeg's own tools.
  case bicubic
  /// The mean of all samples that a target sample covers: for great reductions.
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

/// One libswscale context: a conversion between two fixed geometries.
/// One thread at a time uses it.
final class ScalingContext: @unchecked Sendable {
  // Sendable: lent to one thread at a time by `PictureConversion`.
  struct Key: Hashable {
    struct Side: Hashable {
      var format: Int32
      var width: Int
      var height: Int
      /// As libswscale numbers them, which is H.273's numbering.
      var matrix: Int32
      var isFullRange: Bool
      /// Position of the chroma samples in 1/256 of a luma sample; -513 leaves it to libswscale.
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
  /// Memory for pictures in between: formats that libswscale does not know, parts of a target.
  private var scratch: [PictureMemory] = []

  /// - Returns: nil if libswscale cannot do this conversion or there is not enough memory.
  init?(_ key: Key) {
    guard let context = sws_alloc_context() else { return nil }
    self.key = key
    self.context = context
    let options: [(String, Int64)] = [
      ("srcw", Int64(key.source.width)), ("srch", Int64(key.source.height)),
      ("src_format", Int64(key.source.format)), ("src_range", key.source.isFullRange ? 1 : 0),
      ("dstw", Int64(key.target.width)), ("dsth", Int64(key.target.height)),
      ("dst_format", Int64(key.target.format)), ("dst_range", key.target.isFullRange ? 1 : 0),
      ("sws_flags", Int64(key.filter.flags)), ("threads", Int64(key.threads)),
      ("src_h_chr_pos", Int64(key.source.chromaX)), ("src_v_chr_pos", Int64(key.source.chromaY)),
      ("dst_h_chr_pos", Int64(key.target.chromaX)), ("dst_v_chr_pos", Int64(key.target.chromaY)),
    ]
    let raw = UnsafeMutableRawPointer(context)
    // All is set: from here on `deinit` frees the context, after a failure too.
    for (name, value) in options where av_opt_set_int(raw, name, value, 0) < 0 { return nil }
    guard sws_init_context(context, nil, nil) >= 0 else { return nil }
    // Refused for pairs in which no matrix plays a part, such as RGB to RGB.
    _ = sws_setColorspaceDetails(
      context, sws_getCoefficients(key.source.matrix), key.source.isFullRange ? 1 : 0,
      sws_getCoefficients(key.target.matrix), key.target.isFullRange ? 1 : 0, 0, 1 << 16, 1 << 16)
  }

  deinit { sws_freeContext(context) }

  /// - Returns: False if libswscale failed.
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

  /// libswscale's slice threads take reference-counted frames only: a frame whose buffer owns nothing.
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

  /// A picture that lives as long as the context does.
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
