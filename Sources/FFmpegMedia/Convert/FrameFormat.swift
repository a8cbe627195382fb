// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CodecInterface
import CoreVideo

/// Relates the frames of libavcodec to Core Video's pixel formats and attachments.
enum FrameFormat {
  /// Replaces libavutil's deprecated "J" formats, which imply full range, by the format and the
  /// range.
  static func plain(_ format: AVPixelFormat, isFullRange: Bool) -> (AVPixelFormat, isFullRange: Bool) {
    switch format {
    case AV_PIX_FMT_YUVJ420P: (AV_PIX_FMT_YUV420P, true)
    case AV_PIX_FMT_YUVJ422P: (AV_PIX_FMT_YUV422P, true)
    case AV_PIX_FMT_YUVJ444P: (AV_PIX_FMT_YUV444P, true)
    case AV_PIX_FMT_YUVJ440P: (AV_PIX_FMT_YUV440P, true)
    case AV_PIX_FMT_YUVJ411P: (AV_PIX_FMT_YUV411P, true)
    default: (format, isFullRange)
    }
  }

  /// The format without alpha, if the client's first preference is a YCbCr format without alpha:
  /// then the samples need no conversion to RGB, which cannot represent all YCbCr values.
  static func withoutUnwantedAlpha(_ format: AVPixelFormat, preferred: [PictureFormat]) -> AVPixelFormat {
    guard let requested = preferred.first, PixelConverter.isYCbCr(requested.rawValue),
      !PixelConverter.hasAlpha(requested.rawValue), let name = av_get_pix_fmt_name(format)
    else { return format }
    let text = String(cString: name)
    guard text.hasPrefix("yuva4") else { return format }
    let plain = av_get_pix_fmt("yuv" + text.dropFirst(4))
    return plain == AV_PIX_FMT_NONE ? format : plain
  }

  static func isGray(_ format: AVPixelFormat) -> Bool {
    guard let descriptor = av_pix_fmt_desc_get(format) else { return false }
    // Gray has one component, or two with alpha.
    return descriptor.pointee.nb_components <= 2
      && descriptor.pointee.flags & UInt64(AV_PIX_FMT_FLAG_PAL) == 0
  }

  /// The visible part of a frame, for a decoder with `apply_cropping` off.
  static func visibleRect(_ frame: UnsafePointer<AVFrame>) -> PixelRect {
    let left = Int(clamping: frame.pointee.crop_left)
    let top = Int(clamping: frame.pointee.crop_top)
    return PixelRect(
      x: left, y: top, width: Int(frame.pointee.width) - left - Int(clamping: frame.pointee.crop_right),
      height: Int(frame.pointee.height) - top - Int(clamping: frame.pointee.crop_bottom))
  }

  /// The pixel format for frames of a libavutil format: a preferred one with the same samples, or
  /// else the one that loses least.
  /// - Parameters:
  ///   - format: The format of the frames.
  ///   - isFullRange: Whether their luma and chroma use the full range.
  ///   - preferred: The formats that the client prefers, the best one first.
  static func target(of format: AVPixelFormat, isFullRange: Bool, preferred: [PictureFormat]) -> UInt32 {
    let sibling = SemiPlanarPair(planar: format)?.semiPlanar
    for requested in preferred {
      if let info = PixelFormatInfo.of(requested.rawValue), info.packing == nil,
        info.format == format || info.format == sibling, info.isRGB || info.isFullRange == isFullRange
      {
        return info.code
      }
    }
    if format == AV_PIX_FMT_YUV420P { return code("420v", "420f", isFullRange) }
    if let info = PixelFormatInfo.native(for: format, fullRange: isFullRange),
      info.format != AV_PIX_FMT_GRAY8,
      info.format != AV_PIX_FMT_GRAY16LE
    {
      return info.code
    }
    return closest(to: format, isFullRange: isFullRange)
  }

  private static func closest(to format: AVPixelFormat, isFullRange: Bool) -> UInt32 {
    guard let descriptor = av_pix_fmt_desc_get(format) else { return kCVPixelFormatType_32BGRA }
    let isDeep = descriptor.pointee.comp.0.depth > 8
    let flags = descriptor.pointee.flags
    let isRGB = flags & UInt64(AV_PIX_FMT_FLAG_RGB) != 0 || flags & UInt64(AV_PIX_FMT_FLAG_PAL) != 0
    let hasAlpha = flags & UInt64(AV_PIX_FMT_FLAG_ALPHA) != 0
    // Luma and chroma are kept where there is a YCbCr format with alpha.
    if hasAlpha, isDeep, !isRGB, descriptor.pointee.nb_components == 4 {
      return kCVPixelFormatType_4444AYpCbCr16
    }
    if isRGB || hasAlpha { return isDeep ? kCVPixelFormatType_64RGBALE : kCVPixelFormatType_32BGRA }
    let isGray = descriptor.pointee.nb_components < 3
    if isGray || descriptor.pointee.log2_chroma_h > 0 && descriptor.pointee.log2_chroma_w > 0 {
      return isDeep ? code("x420", "xf20", isFullRange) : code("420v", "420f", isFullRange)
    }
    if descriptor.pointee.log2_chroma_w > 0 {
      return isDeep ? code("x422", "xf22", isFullRange) : code("422v", "422f", isFullRange)
    }
    return isDeep ? code("x444", "xf44", isFullRange) : code("444v", "444f", isFullRange)
  }

  private static func code(_ video: StaticString, _ full: StaticString, _ isFullRange: Bool) -> UInt32 {
    fourCharacterCode(isFullRange ? full : video)
  }

  /// Collects the properties of a decoded frame.
  /// - Parameters:
  ///   - frame: The frame.
  ///   - buffer: The pixel buffer with its picture.
  static func describe(_ frame: UnsafePointer<AVFrame>, as buffer: CVPixelBuffer) -> DecodedPicture {
    var picture = DecodedPicture(pixelBuffer: buffer)
    let fields = frame.pointee
    let (_, isFullRange) = plain(
      AVPixelFormat(fields.format), isFullRange: fields.color_range == AVCOL_RANGE_JPEG)
    picture.color = ColorDescription(
      primaries: UInt8(clamping: fields.color_primaries.rawValue),
      transfer: UInt8(clamping: fields.color_trc.rawValue),
      matrix: UInt8(clamping: fields.colorspace.rawValue))
    picture.isFullRange = isFullRange
    // AVChromaLocation is the code point of H.273 plus 1; 0 means unspecified.
    if fields.chroma_location.rawValue > 0 {
      picture.chromaLocation = UInt8(fields.chroma_location.rawValue - 1)
    }
    let aspect = fields.sample_aspect_ratio
    if aspect.num > 0, aspect.den > 0 {
      picture.pixelAspect = PixelAspect(horizontal: Int(aspect.num), vertical: Int(aspect.den))
    }
    picture.isInterlaced = ovt_frame_is_interlaced(frame) != 0
    picture.isTopFieldFirst = ovt_frame_is_top_field_first(frame) != 0
    picture.isDamaged = fields.decode_error_flags != 0 || fields.flags & AV_FRAME_FLAG_CORRUPT != 0
    if let descriptor = av_pix_fmt_desc_get(AVPixelFormat(fields.format)) {
      picture.hasStraightAlpha =
        descriptor.pointee.flags & UInt64(AV_PIX_FMT_FLAG_ALPHA) != 0
        && PixelConverter.hasAlpha(CVPixelBufferGetPixelFormatType(buffer))
    }
    picture.masteringDisplay = HDRSideData.masteringDisplay(of: frame)
    picture.contentLightLevel = HDRSideData.contentLightLevel(of: frame)
    return picture
  }
}
