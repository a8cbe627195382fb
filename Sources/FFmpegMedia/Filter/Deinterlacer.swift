// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreMedia
import CoreVideo

/// Makes progressive pictures from interlaced ones with libavfilter's `bwdif`: static parts keep
/// the lines of both fields, and moving parts are interpolated from the neighbouring fields.
///
/// Only pictures that are marked as interlaced are changed. Before the first of them, pictures are
/// passed through and no filter is made; from there on each picture is output when the next one has
/// been added. Not thread-safe.
package final class Deinterlacer {
  /// How many pictures are made.
  package enum Rate: Sendable {
    /// One picture for each pair of fields.
    case frame
    /// One picture for each field.
    case field
  }

  /// A picture with its presentation time and its duration.
  package struct Picture {
    package var buffer: CVPixelBuffer
    package var time: CMTime
    package var duration: CMTime
    /// Whether the buffer is a new one, and not that of the source.
    package var isCopy: Bool

    package init(buffer: CVPixelBuffer, time: CMTime, duration: CMTime, isCopy: Bool = false) {
      self.buffer = buffer
      self.time = time
      self.duration = duration
      self.isCopy = isCopy
    }
  }

  private struct Shape: Equatable {
    var format: OSType
    var width: Int
    var height: Int
  }

  private let rate: Rate
  private let threads: Int
  private var graph: FilterGraph?
  private var shape: Shape?
  private var pool: CVPixelBufferPool?
  /// The pictures in the present graph, by their numbers, which are their times in the graph.
  private var waiting: [Int64: Picture] = [:]
  private var count: Int64 = 0
  /// The time of the last picture that the graph has output, in halves of the graph's time unit.
  private var latest: Int64 = -1

  /// Whether libavfilter is installed and has `bwdif`.
  package static var isAvailable: Bool { FilterGraph.exists("bwdif") }

  /// Makes a deinterlacer. The filter is made when the first interlaced picture comes.
  /// - Parameters:
  ///   - rate: One picture per frame or per field.
  ///   - threads: The number of threads that the filter may use.
  package init(rate: Rate, threads: Int) {
    self.rate = rate
    self.threads = threads
  }

  /// Adds the next picture in presentation order.
  /// - Parameter picture: The picture.
  /// - Returns: The pictures that are complete.
  /// - Throws: `MediaFileError`.
  package func add(_ picture: Picture) throws -> [Picture] {
    let order = DecodedPictureAttachments.fieldOrder(of: picture.buffer)
    let now = Shape(
      format: CVPixelBufferGetPixelFormatType(picture.buffer), width: CVPixelBufferGetWidth(picture.buffer),
      height: CVPixelBufferGetHeight(picture.buffer))
    var ready: [Picture] = []
    if graph != nil, shape != now { ready = try finish() }
    // The filter needs some rows of each field, also in chroma.
    guard graph != nil || order != nil && now.width >= 8 && now.height >= 8 else { return ready + [picture] }
    guard CVPixelBufferLockBaseAddress(picture.buffer, .readOnly) == kCVReturnSuccess else {
      throw MediaFileError(.other, "a picture cannot be read")
    }
    defer { CVPixelBufferUnlockBaseAddress(picture.buffer, .readOnly) }
    let view: PictureView
    let unpacked: PictureMemory?
    do {
      unpacked = try PixelConverter.unpacked(picture.buffer)
      (view, _) = try PixelConverter.view(picture.buffer, nil, unpacked)
    } catch {
      throw MediaFileError(.unsupportedFormat, "pictures of this pixel format cannot be deinterlaced")
    }
    let frame = try withExtendedLifetime(unpacked) { try FilterFrame(view, time: count) }
    ovt_frame_set_fields(frame.pointer, order == nil ? 0 : 1, order == .topFirst ? 1 : 0)
    if graph == nil { try begin(frame, now, view.format) }
    waiting[count] = picture
    count += 1
    try graph?.push(frame.pointer)
    return try ready + receive()
  }

  /// Returns the pictures that are still held.
  /// - Throws: `MediaFileError`.
  package func finish() throws -> [Picture] {
    guard let graph else { return [] }
    try graph.finish()
    let rest = try receive()
    reset()
    return rest
  }

  /// Discards the pictures that are held.
  package func reset() {
    graph = nil
    shape = nil
    waiting = [:]
    count = 0
    latest = -1
  }

  private func begin(_ frame: FilterFrame, _ shape: Shape, _ format: AVPixelFormat) throws {
    guard let name = av_get_pix_fmt_name(format) else {
      throw MediaFileError(.unsupportedFormat, "pictures of this pixel format cannot be deinterlaced")
    }
    let mode = rate == .field ? "send_field" : "send_frame"
    graph = try FilterGraph(
      "bwdif=mode=\(mode):parity=auto:deint=interlaced,format=\(String(cString: name))", for: frame.pointer,
      timeBase: AVRational(num: 1, den: 1), threads: threads)
    self.shape = shape
    let attributes: [CFString: Any] = [
      kCVPixelBufferPixelFormatTypeKey: shape.format, kCVPixelBufferWidthKey: shape.width,
      kCVPixelBufferHeightKey: shape.height,
    ]
    pool = nil
    CVPixelBufferPoolCreate(kCFAllocatorDefault, nil, attributes as CFDictionary, &pool)
  }

  private func receive() throws -> [Picture] {
    var ready: [Picture] = []
    let frame = try FilterFrame()
    while let graph, try graph.pull(into: frame.pointer) {
      defer { av_frame_unref(frame.pointer) }
      // The filter's output time base is half of the input's. At the end it gives both fields the
      // same time.
      let half = max(frame.pointer.pointee.pts, latest + 1)
      latest = half
      guard let source = waiting[half / 2] else { continue }
      ready.append(try picture(frame, source, half))
      for number in waiting.keys where number < half / 2 { waiting[number] = nil }
    }
    return ready
  }

  private func picture(_ frame: FilterFrame, _ source: Picture, _ half: Int64) throws -> Picture {
    var made: CVPixelBuffer?
    if let pool { CVPixelBufferPoolCreatePixelBuffer(kCFAllocatorDefault, pool, &made) }
    guard let made, CVPixelBufferLockBaseAddress(made, []) == kCVReturnSuccess else {
      throw MediaFileError(.outOfMemory, "no memory for a picture")
    }
    defer { CVPixelBufferUnlockBaseAddress(made, []) }
    let filtered = PictureView(frame.pointer)
    guard PixelConverter.store(filtered, in: made) else {
      throw MediaFileError(.other, "a filtered picture has another format")
    }
    CVBufferPropagateAttachments(source.buffer, made)
    DecodedPictureAttachments.removeFields(from: made)
    var result = Picture(buffer: made, time: source.time, duration: source.duration, isCopy: true)
    // A progressive picture between interlaced ones is not split into fields.
    guard rate == .field, DecodedPictureAttachments.fieldOrder(of: source.buffer) != nil else {
      return result
    }
    let step = step(of: source, after: half / 2)
    let middle = CMTimeMultiplyByRatio(step, multiplier: 1, divisor: 2)
    result.duration = half % 2 == 0 ? middle : step - middle
    if half % 2 == 1 { result.time = source.time + middle }
    return result
  }

  /// The duration of a picture: the distance to the next one, or its own duration if that is known
  /// and there is a gap.
  private func step(of source: Picture, after number: Int64) -> CMTime {
    let stated = source.duration.isNumeric && source.duration > .zero ? source.duration : nil
    // Before a gap the picture's own duration is right; with an uneven clock the next picture's
    // time is.
    if let next = waiting[number + 1], next.time > source.time {
      let step = next.time - source.time
      return stated.map { step > CMTimeMultiply($0, multiplier: 2) ? $0 : step } ?? step
    }
    if let stated { return stated }
    return CMTime(value: 1, timescale: 25)
  }
}
