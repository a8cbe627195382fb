// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreGraphics
import FFmpegMedia
import Foundation

/// The type of an image file, with the codec for PNG and JPEG, which uses libavcodec. HEIC files
/// are read by `HEIFDecoder` and written by `HEICWriter`.
enum ImageCodec: String, Sendable {
  case png = "public.png"
  case jpeg = "public.jpeg"
  case heic = "public.heic"

  /// The types that can be read.
  static let readable: [ImageCodec] = [.png, .jpeg, .heic]
  /// The types that can be written.
  static var writable: [ImageCodec] {
    #if HEVC
      [.png, .jpeg, .heic]
    #else
      [.png, .jpeg]
    #endif
  }

  /// Detects the type of a file from its first bytes.
  init?(_ data: Data) {
    if data.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
      self = .png
    } else if data.starts(with: [0xFF, 0xD8, 0xFF]) {
      self = .jpeg
    } else if HEIFFile.isHEIC(data) {
      self = .heic
    } else {
      return nil
    }
  }

  /// The number of additional bytes after the last row of a picture. libswscale reads and writes
  /// whole vectors, which can extend past the end of narrow rows.
  static let padding = 64

  /// The maximum number of pixels that one byte of a valid file can represent. For PNG, zlib
  /// decompresses one byte to at most 1,032 bytes (RFC 1951), each of which can hold eight pixels.
  /// JPEG needs at least one bit for a block of 8x8 samples, each of which can represent four
  /// pixels. HEVC needs at least one bit for the prediction mode of an intra block of 64x64
  /// samples.
  private var pixelsPerByte: Int {
    switch self {
    case .png: 8 * 1032
    case .jpeg: 2048
    case .heic: 8 * 64 * 64
    }
  }
  /// The number of pixels that a file can have regardless of its length, so that small files may be
  /// damaged or truncated.
  private static let anySize = 1 << 20
  /// The number of pixels that no image exceeds.
  static let maxPixels = 1 << 28

  /// Returns the number of pixels that a file of a length in bytes can have.
  func maxPixels(bytes: Int) -> Int { min(Self.maxPixels, Self.anySize + bytes * pixelsPerByte) }

  private var codecID: AVCodecID {
    switch self {
    case .png: AV_CODEC_ID_PNG
    case .jpeg: AV_CODEC_ID_MJPEG
    case .heic: AV_CODEC_ID_HEVC
    }
  }

  // MARK: - Decoding

  /// Decodes a file of PNG or JPEG. The result is nil if the file is damaged, or if it has more
  /// pixels than a file of its length can contain or more than 2^28.
  func decode(_ data: Data) -> CGImage? {
    decode(data, maxPixels: maxPixels(bytes: data.count), Self.image)
  }

  /// Decodes a picture.
  /// - Parameters:
  ///   - data: The coded picture.
  ///   - configuration: The parameter sets, which are separate from pictures of HEVC.
  ///   - maxPixels: The maximum number of pixels of the picture.
  ///   - convert: Makes the result from the decoded picture, which is freed afterwards.
  /// - Returns: The result, or nil if the picture is damaged or too large.
  func decode<Result>(
    _ data: Data, configuration: Data = Data(), maxPixels: Int,
    _ convert: (UnsafeMutablePointer<AVFrame>) -> Result?
  ) -> Result? {
    guard data.count < Int(Int32.max) - 64, configuration.count < 1 << 20,
      let codec = avcodec_find_decoder(codecID)
    else { return nil }
    LibavLog.takeOver()
    var decoder = avcodec_alloc_context3(codec)
    var packet = av_packet_alloc()
    var frame = av_frame_alloc()
    defer {
      avcodec_free_context(&decoder)
      av_packet_free(&packet)
      av_frame_free(&frame)
    }
    guard let context = decoder, let packet, let frame else { return nil }
    context.pointee.max_pixels = Int64(maxPixels)
    // The decoder must fail for a damaged file instead of filling in the missing pixels.
    context.pointee.err_recognition = AV_EF_EXPLODE | AV_EF_CRCCHECK
    if self == .heic {
      // Grain would be drawn into a second picture.
      context.pointee.export_side_data |= AV_CODEC_EXPORT_DATA_FILM_GRAIN
      context.pointee.get_buffer2 = Self.allocateOnce
    }
    if !configuration.isEmpty {
      guard let memory = av_mallocz(configuration.count + Int(AV_INPUT_BUFFER_PADDING_SIZE)) else {
        return nil
      }
      configuration.copyBytes(
        to: UnsafeMutableRawBufferPointer(start: memory, count: configuration.count))
      // The context frees it.
      context.pointee.extradata = memory.assumingMemoryBound(to: UInt8.self)
      context.pointee.extradata_size = Int32(configuration.count)
    }
    guard av_new_packet(packet, Int32(data.count)) >= 0, let bytes = packet.pointee.data else { return nil }
    data.copyBytes(to: UnsafeMutableRawBufferPointer(start: bytes, count: data.count))
    let (code, _) = LibavLog.collect { () -> Int32 in
      var code = avcodec_open2(context, codec, nil)
      if code >= 0 { code = avcodec_send_packet(context, packet) }
      if code >= 0 { code = avcodec_send_packet(context, nil) }
      return code < 0 ? code : avcodec_receive_frame(context, frame)
    }
    guard code >= 0 else { return nil }
    // The decoder of a progressive picture holds its coefficients, which need more memory than the
    // picture, so it is freed first.
    avcodec_free_context(&decoder)
    return convert(frame)
  }

  /// Allocates the memory of one picture. libavcodec compares `max_pixels` with the size that is
  /// shown, not with the coded size, which can be much larger, and allocates pictures for
  /// references that are missing; an image of HEVC is one picture without references.
  private static let allocateOnce:
    @convention(c) (
      UnsafeMutablePointer<AVCodecContext>?, UnsafeMutablePointer<AVFrame>?, Int32
    ) -> Int32 = { context, frame, flags in
      guard let context, let frame, context.pointee.opaque == nil,
        Int64(frame.pointee.width) * Int64(frame.pointee.height) <= context.pointee.max_pixels
      else { return ovt_averror(EINVAL) }
      context.pointee.opaque = UnsafeMutableRawPointer(context)
      return avcodec_default_get_buffer2(context, frame, flags)
    }

  private static func image(_ frame: UnsafeMutablePointer<AVFrame>) -> CGImage? {
    let (width, height) = (frame.pointee.width, frame.pointee.height)
    let format = AVPixelFormat(rawValue: frame.pointee.format)
    guard width > 0, height > 0, let description = av_pix_fmt_desc_get(format) else { return nil }
    let isGrey = description.pointee.nb_components == 1 && format != AV_PIX_FMT_PAL8
    let hasAlpha =
      description.pointee.flags & UInt64(AV_PIX_FMT_FLAG_ALPHA) != 0 || format == AV_PIX_FMT_PAL8
    let pitch = Int(width) * (isGrey ? 1 : 4)
    let size = pitch * Int(height)
    guard let memory = NSMutableData(length: size + padding) else { return nil }
    let converted = convert(
      frame, to: isGrey ? AV_PIX_FMT_GRAY8 : AV_PIX_FMT_RGBA,
      memory.mutableBytes.assumingMemoryBound(to: UInt8.self), pitch)
    memory.length = size
    guard converted, let provider = CGDataProvider(data: memory) else { return nil }
    let alpha: CGImageAlphaInfo = isGrey ? .none : hasAlpha ? .last : .noneSkipLast
    return CGImage(
      width: Int(width), height: Int(height), bitsPerComponent: 8, bitsPerPixel: isGrey ? 8 : 32,
      bytesPerRow: pitch, space: isGrey ? CGColorSpaceCreateDeviceGray() : CGColorSpaceCreateDeviceRGB(),
      bitmapInfo: CGBitmapInfo(rawValue: alpha.rawValue), provider: provider, decode: nil,
      shouldInterpolate: true, intent: .defaultIntent)
  }

  /// Converts a decoded picture.
  /// - Parameters:
  ///   - frame: The picture.
  ///   - format: The format to convert to, which has one plane.
  ///   - memory: The first row of the result, with `padding` bytes after the last row.
  ///   - pitch: The number of bytes from one row to the next.
  ///   - matrix: The matrix of the picture as a code point of ITU-T H.273, and whether its samples
  ///     have the full range. If it is nil, the pixel format decides, as for PNG and JPEG.
  /// - Returns: Whether the conversion succeeded.
  static func convert(
    _ frame: UnsafeMutablePointer<AVFrame>, to format: AVPixelFormat, _ memory: UnsafeMutablePointer<UInt8>,
    _ pitch: Int, matrix: (code: UInt8, isFullRange: Bool)? = nil
  ) -> Bool {
    let (width, height) = (frame.pointee.width, frame.pointee.height)
    let (rows, _) = LibavLog.collect { () -> Int32 in
      let context = sws_getContext(
        width, height, AVPixelFormat(rawValue: frame.pointee.format), width, height, format,
        Int32(SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT), nil, nil, nil)
      guard let context else { return -1 }
      defer { sws_freeContext(context) }
      if let matrix {
        // It fails where no matrix is involved, which does not matter.
        _ = sws_setColorspaceDetails(
          context, sws_getCoefficients(Int32(matrix.code)), matrix.isFullRange ? 1 : 0,
          sws_getCoefficients(Int32(matrix.code)), 1, 0, 1 << 16, 1 << 16)
      }
      func plane(_ data: UnsafeMutablePointer<UInt8>?) -> UnsafePointer<UInt8>? {
        data.map { UnsafePointer($0) }
      }
      var sources = [
        plane(frame.pointee.data.0), plane(frame.pointee.data.1), plane(frame.pointee.data.2),
        plane(frame.pointee.data.3),
      ]
      var strides = [
        frame.pointee.linesize.0, frame.pointee.linesize.1, frame.pointee.linesize.2,
        frame.pointee.linesize.3,
      ]
      var targets: [UnsafeMutablePointer<UInt8>?] = [memory, nil, nil, nil]
      var pitches: [Int32] = [Int32(pitch), 0, 0, 0]
      return sws_scale(context, &sources, &strides, 0, height, &targets, &pitches)
    }
    return rows == height
  }

  // MARK: - Encoding

  /// Encodes an image as PNG or JPEG.
  /// - Parameters:
  ///   - image: The image.
  ///   - quality: The quality of a JPEG file, from 0.0 (smallest) to 1.0 (best). PNG ignores it.
  /// - Returns: The file, or nil if the layout of the image is not supported or the encoder fails.
  func encode(_ image: CGImage, quality: Double) -> Data? {
    guard let pixels = image.straightRGBA(padding: Self.padding), let codec = avcodec_find_encoder(codecID)
    else { return nil }
    LibavLog.takeOver()
    let isOpaque =
      self == .jpeg || [.none, .noneSkipFirst, .noneSkipLast].contains(image.alphaInfo)
    let format: AVPixelFormat =
      self == .jpeg ? AV_PIX_FMT_YUVJ444P : isOpaque ? AV_PIX_FMT_RGB24 : AV_PIX_FMT_RGBA
    var context = avcodec_alloc_context3(codec)
    var packet = av_packet_alloc()
    var frame = av_frame_alloc()
    defer {
      avcodec_free_context(&context)
      av_packet_free(&packet)
      av_frame_free(&frame)
    }
    guard let context, let packet, let frame else { return nil }
    frame.pointee.width = Int32(image.width)
    frame.pointee.height = Int32(image.height)
    frame.pointee.format = format.rawValue
    context.pointee.width = frame.pointee.width
    context.pointee.height = frame.pointee.height
    context.pointee.pix_fmt = format
    context.pointee.time_base = AVRational(num: 1, den: 1)
    if self == .jpeg {
      // The quantizer ranges from 2 (best) to 31.
      let quantiser = 2 + Int32(((1 - max(0, min(1, quality))) * 29).rounded())
      context.pointee.flags |= AV_CODEC_FLAG_QSCALE
      context.pointee.global_quality = quantiser * FF_QP2LAMBDA
      frame.pointee.quality = context.pointee.global_quality
      context.pointee.color_range = AVCOL_RANGE_JPEG
    }
    let (code, _) = LibavLog.collect { () -> Int32 in
      var code = av_frame_get_buffer(frame, 0)
      if code >= 0 { code = Self.fill(frame, pixels, image.width, image.height) ? 0 : -1 }
      if code >= 0 { code = avcodec_open2(context, codec, nil) }
      if code >= 0 { code = avcodec_send_frame(context, frame) }
      if code >= 0 { code = avcodec_send_frame(context, nil) }
      return code < 0 ? code : avcodec_receive_packet(context, packet)
    }
    guard code >= 0, let bytes = packet.pointee.data else { return nil }
    return Data(bytes: bytes, count: Int(packet.pointee.size))
  }

  private static func fill(
    _ frame: UnsafeMutablePointer<AVFrame>, _ pixels: [UInt8], _ width: Int, _ height: Int
  ) -> Bool {
    let context = sws_getContext(
      Int32(width), Int32(height), AV_PIX_FMT_RGBA, Int32(width), Int32(height),
      AVPixelFormat(rawValue: frame.pointee.format), Int32(SWS_BICUBIC | SWS_ACCURATE_RND), nil, nil, nil)
    guard let context else { return false }
    defer { sws_freeContext(context) }
    return pixels.withUnsafeBufferPointer { source in
      var sources: [UnsafePointer<UInt8>?] = [source.baseAddress, nil, nil, nil]
      var strides: [Int32] = [Int32(4 * width), 0, 0, 0]
      var targets: [UnsafeMutablePointer<UInt8>?] = [
        frame.pointee.data.0, frame.pointee.data.1, frame.pointee.data.2, frame.pointee.data.3,
      ]
      var pitches = [
        frame.pointee.linesize.0, frame.pointee.linesize.1, frame.pointee.linesize.2,
        frame.pointee.linesize.3,
      ]
      return sws_scale(context, &sources, &strides, 0, Int32(height), &targets, &pitches) == Int32(height)
    }
  }
}
