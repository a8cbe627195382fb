// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// The description of a track of a file.
final class TrackDescription: @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  let stream: MediaStream
  let mediaType: AVMediaType
  let timeRange: CMTimeRange
  private let lock = Lock()
  private var description: CMFormatDescription??
  private let replacements: FormatReplacements
  private var counted: (samples: Int, bytes: Int64)?

  /// Creates a description of the same track with replaced format descriptions.
  convenience init(_ other: TrackDescription, _ replacements: FormatReplacements) {
    self.init(other.stream, replacements)
  }

  init(_ stream: MediaStream, _ replacements: FormatReplacements = FormatReplacements()) {
    self.stream = stream
    self.replacements = replacements
    mediaType =
      switch stream.kind {
      case .video: .video
      case .audio: .audio
      case .subtitle: stream.codec.codecName == "eia_608" ? .closedCaption : .subtitle
      case .data where stream.isChapterText: .text
      case .data: stream.codec.codecTag == "tmcd" ? .timecode : .metadata
      }
    timeRange = CMTimeRange(
      start: stream.time(max(0, stream.startTime)), duration: stream.time(stream.duration))
  }

  /// The format description of the track's samples; nil if none can be made.
  var format: CMFormatDescription? {
    lock.withLock {
      if let description { return description }
      let made = (try? stream.makeFormatDescription()).map { replacements.apply(to: $0) }
      description = .some(made)
      return made
    }
  }

  /// Returns the format description that replaces `format`, or `format` itself.
  func replaced(_ format: CMFormatDescription) -> CMFormatDescription { replacements.apply(to: format) }

  /// Whether the format description of a video track has one of these extensions.
  func describes(_ extensions: [CFString]) -> Bool {
    guard mediaType == .video, let format else { return false }
    return extensions.contains { CMFormatDescriptionGetExtension(format, extensionKey: $0) != nil }
  }

  /// Whether the picture is projected onto a sphere around the viewer, or onto a part of it.
  var isProjected: Bool {
    guard mediaType == .video, let format,
      let kind = CMFormatDescriptionGetExtension(
        format, extensionKey: kCMFormatDescriptionExtension_ProjectionKind) as? NSString
    else { return false }
    return kind != kCMFormatDescriptionProjectionKind_Rectilinear
  }

  /// Returns the number of samples and their total size in bytes. If the container does not state
  /// them, the whole file is read.
  /// - Throws: `MediaFileError` if it cannot be read.
  func totals(in file: AssetDescription) throws -> (samples: Int, bytes: Int64) {
    if let samples = stream.sampleCount, let bytes = stream.sampleBytes { return (samples, bytes) }
    if let counted = lock.withLock({ counted }) { return counted }
    guard !file.demuxer.isReadOnce else {
      throw MediaFileError(.other, "a stream that is read once cannot be counted before")
    }
    let demuxer = try Demuxer(again: file.demuxer)
    demuxer.select([stream.index])
    var totals = (samples: 0, bytes: Int64(0))
    while let packet = try demuxer.next() {
      totals.samples += 1
      totals.bytes += Int64(packet.bytes.count)
    }
    lock.withLock { counted = totals }
    return totals
  }

  var frameRate: Float {
    let rate = stream.averageFrameRate
    guard stream.kind == .video, rate.num > 0, rate.den > 0 else { return 0 }
    return Float(Double(rate.num) / Double(rate.den))
  }

  /// The data rate in bits per second.
  func dataRate(in file: AssetDescription) -> Float {
    let seconds = timeRange.duration.seconds
    if seconds > 0, let totals = try? totals(in: file) { return Float(Double(totals.bytes) * 8 / seconds) }
    return Float(stream.bitRate)
  }

  var minFrameDuration: CMTime {
    guard stream.kind == .video else { return .invalid }
    if let shortest = stream.shortestSample { return stream.time(shortest) }
    let rate = stream.averageFrameRate
    return rate.num > 0 && rate.den > 0 ? CMTime(value: Int64(rate.den), timescale: rate.num) : .invalid
  }

  /// The size at which the picture is presented before the transform: that of the clean aperture in
  /// square pixels.
  var naturalSize: CGSize {
    guard stream.kind == .video, let format else { return productionSize }
    let clean = CMVideoFormatDescriptionGetCleanAperture(format, originIsAtTopLeft: true).size
    return clean.width > 0 && clean.height > 0 ? squared(clean) : productionSize
  }

  /// The size of the whole picture in square pixels.
  var productionSize: CGSize {
    guard stream.kind == .video else { return .zero }
    let parameters = stream.codec.pointer.pointee
    return squared(CGSize(width: Double(parameters.width), height: Double(parameters.height)))
  }

  /// Scales a size to square pixels. If the pixel aspect ratio would make the picture too large,
  /// pixels are regarded as square: a small file must not cause the allocation of gigabytes.
  private func squared(_ size: CGSize) -> CGSize {
    let (coded, height) = (Double(size.width), Double(size.height))
    var width = coded
    let aspect = stream.sampleAspectRatio
    if aspect.num > 0, aspect.den > 0 { width *= Double(aspect.num) / Double(aspect.den) }
    if width * height > max(PictureTransform.largestArea, coded * height) { width = coded }
    return CGSize(width: width.rounded(), height: height.rounded())
  }

  var transform: CGAffineTransform {
    stream.displayMatrix.flatMap { CGAffineTransform(movieMatrix: $0) } ?? .identity
  }
}

extension CGAffineTransform {
  /// Creates a transform from the matrix of a movie header: nine numbers in 16.16 fixed point,
  /// those of the last column in 2.30. Nil for another count, or if all are zero.
  init?(movieMatrix matrix: [Int32]) {
    guard matrix.count == 9, matrix.contains(where: { $0 != 0 }) else { return nil }
    func fixed(_ value: Int32) -> CGFloat { CGFloat(value) / 65536 }
    self.init(
      a: fixed(matrix[0]), b: fixed(matrix[1]), c: fixed(matrix[3]), d: fixed(matrix[4]),
      tx: fixed(matrix[6]), ty: fixed(matrix[7]))
  }
}
