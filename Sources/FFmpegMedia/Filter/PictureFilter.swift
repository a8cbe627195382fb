// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreMedia
import CoreVideo

/// Draws pictures and subtitles over the pictures of a movie, with libavfilter's `overlay`,
/// `subtitles` and `ass`. Not thread-safe.
package final class PictureFilter {
  /// The picture or text that is drawn.
  package enum Drawing: Sendable, Equatable {
    /// A picture file. Its position is that of its upper left corner in samples; negative numbers
    /// count from the right and the lower edge.
    case picture(file: String, format: PictureFormat, x: Int, y: Int)
    /// A file of subtitles in SubRip's format.
    case subtitles(file: String)
    /// A file of subtitles in the format of Advanced SubStation Alpha, with its styles.
    case styledSubtitles(file: String)
  }

  /// The format of a picture file. libavformat is given it, and does not guess: a file that is not
  /// a picture could name other files.
  package enum PictureFormat: String, Sendable {
    case png = "png_pipe"
    case jpeg = "jpeg_pipe"
    case webP = "webp_pipe"

    /// Recognizes a format by the first 12 bytes of a file; nil for others.
    package init?(signature bytes: [UInt8]) {
      if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
        self = .png
      } else if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
        self = .jpeg
      } else if bytes.count >= 12, bytes.starts(with: Array("RIFF".utf8)),
        bytes[8..<12] == Array("WEBP".utf8)[...]
      {
        self = .webP
      } else {
        return nil
      }
    }
  }

  /// A picture with its presentation time and its duration.
  package struct Picture {
    package var buffer: CVPixelBuffer
    package var time: CMTime
    package var duration: CMTime
  }

  private let drawings: [Drawing]
  private var graph: FilterGraph?
  private var shape: (format: OSType, width: Int, height: Int) = (0, 0, 0)
  private var pool: CVPixelBufferPool?
  /// The pictures in the present graph. The filters give one picture for each, in the same order.
  private var waiting: [Picture] = []
  private var last: Int64 = -1

  /// The unit of the times in the graph, by which subtitles are chosen.
  private static let timeBase = AVRational(num: 1, den: 1_000_000)

  /// The name of a filter that is needed and that libavfilter lacks; nil if all are there.
  package static func missingFilter(for drawings: [Drawing]) -> String? {
    drawings.flatMap { drawing in
      switch drawing {
      case .picture: ["overlay", "movie"]
      case .subtitles: ["subtitles"]
      case .styledSubtitles: ["ass"]
      }
    }.first { !FilterGraph.exists($0) }
  }

  /// Makes a filter. Its graph is made with the first picture.
  /// - Parameter drawings: What is drawn, the lowest first.
  package init(_ drawings: [Drawing]) { self.drawings = drawings }

  /// Adds the next picture in presentation order.
  /// - Returns: The pictures that are complete.
  /// - Throws: `MediaFileError` if a file cannot be read or a picture not be drawn on.
  package func add(_ buffer: CVPixelBuffer, time: CMTime, duration: CMTime) throws -> [Picture] {
    let now = (
      format: CVPixelBufferGetPixelFormatType(buffer), width: CVPixelBufferGetWidth(buffer),
      height: CVPixelBufferGetHeight(buffer)
    )
    var ready: [Picture] = []
    if graph != nil, now != shape { ready = try finish() }
    guard CVPixelBufferLockBaseAddress(buffer, .readOnly) == kCVReturnSuccess else {
      throw MediaFileError(.other, "a picture cannot be read")
    }
    defer { CVPixelBufferUnlockBaseAddress(buffer, .readOnly) }
    let view: PictureView
    do { (view, _) = try PixelConverter.view(buffer) } catch {
      throw MediaFileError(.unsupportedFormat, "pictures of this pixel format cannot be drawn on")
    }
    let stamp = CMTimeConvertScale(time, timescale: Self.timeBase.den, method: .default)
    last = max(last + 1, stamp.isNumeric ? stamp.value : 0)
    let frame = try FilterFrame(view, time: last)
    if graph == nil { try begin(frame, now, view.format, buffer) }
    waiting.append(Picture(buffer: buffer, time: time, duration: duration))
    try graph?.push(frame.pointer)
    return try ready + receive()
  }

  /// Returns the pictures that are still held.
  /// - Throws: `MediaFileError`.
  package func finish() throws -> [Picture] {
    guard let graph else { return [] }
    try graph.finish()
    let rest = try receive()
    self.graph = nil
    waiting = []
    last = -1
    return rest
  }

  private func begin(
    _ frame: FilterFrame, _ shape: (format: OSType, width: Int, height: Int), _ format: AVPixelFormat,
    _ buffer: CVPixelBuffer
  ) throws {
    guard let name = av_get_pix_fmt_name(format) else {
      throw MediaFileError(.unsupportedFormat, "pictures of this pixel format cannot be drawn on")
    }
    let matrix =
      CVBufferCopyAttachment(buffer, kCVImageBufferYCbCrMatrixKey, nil) as? String
        == kCVImageBufferYCbCrMatrix_ITU_R_601_4 as String || shape.height < 720 ? "bt601" : "bt709"
    graph = try FilterGraph(
      Self.description(drawings, matrix: matrix, format: String(cString: name)), for: frame.pointer,
      timeBase: Self.timeBase)
    self.shape = shape
    let attributes: [CFString: Any] = [
      kCVPixelBufferPixelFormatTypeKey: shape.format, kCVPixelBufferWidthKey: shape.width,
      kCVPixelBufferHeightKey: shape.height,
    ]
    pool = nil
    CVPixelBufferPoolCreate(kCFAllocatorDefault, nil, attributes as CFDictionary, &pool)
  }

  /// The description of the graph.
  static func description(_ drawings: [Drawing], matrix: String, format: String) -> String {
    // The filter converts the pictures to the drawing's sampling of colour.
    let drawn = format.hasPrefix("nv24") || format.hasPrefix("yuv444") ? "yuva444p" : "yuva420p"
    var text = ""
    var input = "[in]"
    for (index, drawing) in drawings.enumerated() {
      let output = "[drawn\(index)]"
      switch drawing {
      case .picture(let file, let kind, let x, let y):
        let left = x < 0 ? "W-w\(x)" : "\(x)"
        let top = y < 0 ? "H-h\(y)" : "\(y)"
        text +=
          "movie=filename=\(escaped(file)):format_name=\(kind.rawValue),"
          + "format=rgba,scale=out_color_matrix=\(matrix):out_range=tv,format=\(drawn)[picture\(index)];"
          + "\(input)[picture\(index)]overlay=x=\(left):y=\(top):format=auto\(output);"
      case .subtitles(let file): text += "\(input)subtitles=filename=\(escaped(file))\(output);"
      case .styledSubtitles(let file): text += "\(input)ass=filename=\(escaped(file))\(output);"
      }
      input = output
    }
    return text + "\(input)format=\(format)[out]"
  }

  /// A text as the value of an option in a graph's description. Values are read twice, by the
  /// graph and by the filter, and a backslash makes the next character an ordinary one each time.
  static func escaped(_ text: String) -> String {
    text.map { character in
      character.isASCII && (character.isLetter || character.isNumber || "/._-".contains(character))
        ? "\(character)" : "\\\\\\\(character)"
    }.joined()
  }

  private func receive() throws -> [Picture] {
    var ready: [Picture] = []
    let frame = try FilterFrame()
    while let graph, !waiting.isEmpty, try graph.pull(into: frame.pointer) {
      defer { av_frame_unref(frame.pointer) }
      let source = waiting.removeFirst()
      var made: CVPixelBuffer?
      if let pool { CVPixelBufferPoolCreatePixelBuffer(kCFAllocatorDefault, pool, &made) }
      guard let made, CVPixelBufferLockBaseAddress(made, []) == kCVReturnSuccess else {
        throw MediaFileError(.outOfMemory, "no memory for a picture")
      }
      defer { CVPixelBufferUnlockBaseAddress(made, []) }
      let drawn = PictureView(frame.pointer)
      guard let (target, _) = try? PixelConverter.view(made), drawn.format == target.format,
        drawn.width == target.width, drawn.height == target.height
      else { throw MediaFileError(.other, "a filtered picture has another format") }
      PlaneCopy.copy(drawn, to: target)
      CVBufferPropagateAttachments(source.buffer, made)
      ready.append(Picture(buffer: made, time: source.time, duration: source.duration))
    }
    return ready
  }
}
