import CodecInterface
import FFmpegMedia
import Foundation

/// What a program wants pictures to be like.
struct PictureRequirements: Sendable {
  /// Pixel formats it takes, the best first; empty: whatever the decoder gives.
  var formats: [OSType] = []
  /// nil: as they are stored.
  var width: Int?
  var height: Int?
  /// Of the decoder; 0: as many as there are processors.
  var threads = 0

  init(_ settings: [String: Any]) throws {
    func complain(_ reason: String) -> AVError {
      AVError(
        .unsupportedOutputSettings, reason: reason,
        advice: "Ask for a pixel format of Core Video and a size from 1 to 16384.")
    }
    switch settings[kCVPixelBufferPixelFormatTypeKey as String] {
    case nil: break
    case let number as NSNumber: formats = [number.uint32Value]
    case let list as [NSNumber]: formats = list.map(\.uint32Value)
    case let format as OSType: formats = [format]
    case let list as [OSType]: formats = list
    default: throw complain("The pixel format is no number.")
    }
    let known = formats.filter { PixelConverter.canWrite($0) }
    guard formats.isEmpty || !known.isEmpty else {
      throw complain("No picture can be converted to this pixel format.")
    }
    formats = known
    func size(_ key: CFString, _ other: String) throws -> Int? {
      guard let value = settings[key as String] ?? settings[other] else { return nil }
      guard let number = value as? NSNumber, (1...16384).contains(number.intValue) else {
        throw complain("The width or height is out of range.")
      }
      return number.intValue
    }
    width = try size(kCVPixelBufferWidthKey, AVVideoWidthKey)
    height = try size(kCVPixelBufferHeightKey, AVVideoHeightKey)
    if let value = settings[kVTDecompressionPropertyKey_ThreadCount as String] {
      guard let number = value as? NSNumber, (0...64).contains(number.intValue) else {
        throw AVError(
          .unsupportedOutputSettings, reason: "The number of threads is out of range.",
          advice: "Give 0 to 64.")
      }
      threads = number.intValue
    }
  }
}

/// A track's pictures, decoded, in the order in which they are shown.
final class PictureSource: SampleSource {
  private let demuxer: Demuxer
  private let track: TrackFacts
  private let requirements: PictureRequirements
  private let copies: Bool
  private let configuration: VideoDecoderConfiguration
  private var decoder: FFmpegVideoDecoder
  private let converter = PixelConverter(filter: .bicubic, threads: 1)
  private var pool: CVPixelBufferPool?
  private var poolKey: [Int] = []
  private var format: CMFormatDescription?

  private var start = CMTime.negativeInfinity
  private var end = CMTime.positiveInfinity
  private var endUnits = Int64.max
  private var isDrained = false
  /// The decoder has taken packets since it was made.
  private var isUsed = false
  private var nextToken: Int64 = 0
  private var timings: [Int64: (timing: CMSampleTimingInfo, isHidden: Bool)] = [:]
  private var ready: [CMSampleBuffer] = []
  private var readIndex = 0

  init(
    _ demuxer: Demuxer, _ track: TrackFacts, _ requirements: PictureRequirements, copies: Bool
  ) throws {
    self.demuxer = demuxer
    self.track = track
    self.requirements = requirements
    self.copies = copies
    guard let description = track.format, track.stream.codec.hasDecoder else {
      throw AVError(
        .decoderNotFound, reason: "There is no decoder for \(track.stream.codec.codecName).",
        advice: "Convert the movie to H.264 or HEVC first.")
    }
    var configuration = track.stream.decoderConfiguration(description)
    configuration.preferredFormats = requirements.formats.map { PictureFormat(rawValue: $0) }
    configuration.concealsDamage = true
    configuration.threads = requirements.threads
    self.configuration = configuration
    do {
      decoder = try FFmpegVideoDecoder(configuration)
    } catch {
      throw AVError(.decoderNotFound, reason: "The decoder cannot be started: \(error).", underlying: error)
    }
    demuxer.select([track.stream.index])
  }

  func seek(to range: CMTimeRange) throws {
    let stream = track.stream
    start = range.start
    end = range.end
    endUnits = end.isNumeric ? stream.units(end) : Int64.max
    if end.isNumeric, stream.time(endUnits) < end { endUnits += 1 }
    if start > .zero {
      try demuxer.seek(stream: stream.index, to: stream.units(start))
    } else {
      try demuxer.rewind()
    }
    if isUsed {
      // A fresh decoder: what the old one holds belongs to another range.
      do { decoder = try FFmpegVideoDecoder(configuration) } catch {
        throw AVError(.decoderNotFound, reason: "The decoder cannot be started: \(error).", underlying: error)
      }
      isUsed = false
    }
    isDrained = false
    timings = [:]
    ready = []
    readIndex = 0
  }

  func next() throws -> CMSampleBuffer? {
    while readIndex >= ready.count {
      ready.removeAll(keepingCapacity: true)
      readIndex = 0
      if isDrained { return nil }
      try advance()
    }
    defer { readIndex += 1 }
    return ready[readIndex]
  }

  /// Gives the decoder one packet, or lets it finish.
  private func advance() throws {
    var failure: AVError?
    let packet = try demuxer.next()
    let isPastEnd = packet.map { ($0.dts ?? $0.pts ?? 0) >= endUnits } ?? true
    guard let packet, !isPastEnd else {
      isDrained = true
      _ = decoder.flush { collect($0, &failure) }
      if let failure { throw failure }
      return
    }
    let stream = track.stream
    let token = nextToken
    nextToken += 1
    let timing = CMSampleTimingInfo(
      duration: packet.duration > 0 ? stream.time(packet.duration) : .invalid,
      presentationTimeStamp: stream.time(packet.pts ?? packet.dts), decodeTimeStamp: .invalid)
    timings[token] = (timing, packet.isDiscarded)
    isUsed = true
    let compressed = CompressedPacket(
      data: UnsafeRawBufferPointer(packet.bytes), token: token, presentationTime: packet.pts ?? packet.dts,
      isKeyFrame: packet.isKeyFrame)
    decoder.decode(compressed) { collect($0, &failure) }
    if let failure { throw failure }
  }

  private var hasShown = false

  private func collect(_ frame: DecodedFrame, _ failure: inout AVError?) {
    guard let entry = timings.removeValue(forKey: frame.token), !entry.isHidden, failure == nil else {
      return
    }
    let timing = entry.timing
    switch frame.outcome {
    case .dropped: return
    case .failed(let error):
      // Before the first picture there may be frames whose references lie before the start.
      if hasShown {
        failure = AVError(
          .decodeFailed,
          reason: "The frame at \(timing.presentationTimeStamp.seconds) s is damaged: \(error).",
          info: [AVErrorPresentationTimeStampKey: NSValue(time: timing.presentationTimeStamp)])
      }
    case .picture(let picture):
      hasShown = true
      let shown = timing.presentationTimeStamp
      if shown >= end { return }
      let until = timing.duration.isNumeric ? shown + timing.duration : shown
      if shown < start, until <= start { return }
      do { ready.append(try makeSample(picture, timing)) } catch { failure = AVError.reading(error) }
    }
  }

  // MARK: - Pictures as asked for

  private func makeSample(_ picture: DecodedPicture, _ timing: CMSampleTimingInfo) throws -> CMSampleBuffer {
    let source = picture.pixelBuffer
    picture.attachMeaning()
    let width = requirements.width ?? CVPixelBufferGetWidth(source)
    let height = requirements.height ?? CVPixelBufferGetHeight(source)
    let own = CVPixelBufferGetPixelFormatType(source)
    let wanted =
      requirements.formats.isEmpty || requirements.formats.contains(own) ? own : requirements.formats[0]
    var image = source
    let fits =
      wanted == own && width == CVPixelBufferGetWidth(source) && height == CVPixelBufferGetHeight(source)
    if !fits || copies {
      image = try makeBuffer(wanted, width, height)
      do { try converter.convert(source, to: image) } catch {
        throw AVError(.decodeFailed, reason: "The picture cannot be converted: \(error).", underlying: error)
      }
      CVBufferPropagateAttachments(source, image)
    }
    if let known = format, !CMVideoFormatDescriptionMatchesImageBuffer(known, imageBuffer: image) {
      format = nil
    }
    if format == nil {
      CMVideoFormatDescriptionCreateForImageBuffer(
        allocator: kCFAllocatorDefault, imageBuffer: image, formatDescriptionOut: &format)
    }
    guard let format else { throw AVError(.unknown, reason: "The picture's format cannot be described.") }
    var timing = timing
    var made: CMSampleBuffer?
    let status = CMSampleBufferCreateReadyWithImageBuffer(
      allocator: kCFAllocatorDefault, imageBuffer: image, formatDescription: format, sampleTiming: &timing,
      sampleBufferOut: &made)
    guard status == noErr, let made else {
      throw AVError(.outOfMemory, reason: "A sample buffer cannot be made (\(status)).")
    }
    return made
  }

  private func makeBuffer(_ format: OSType, _ width: Int, _ height: Int) throws -> CVPixelBuffer {
    let key = [Int(format), width, height]
    if pool == nil || poolKey != key {
      let attributes: [CFString: Any] = [
        kCVPixelBufferPixelFormatTypeKey: NSNumber(value: format),
        kCVPixelBufferWidthKey: NSNumber(value: width),
        kCVPixelBufferHeightKey: NSNumber(value: height),
      ]
      var made: CVPixelBufferPool?
      CVPixelBufferPoolCreate(kCFAllocatorDefault, nil, attributes as NSDictionary, &made)
      pool = made
      poolKey = key
    }
    var buffer: CVPixelBuffer?
    if let pool { CVPixelBufferPoolCreatePixelBuffer(kCFAllocatorDefault, pool, &buffer) }
    guard let buffer else { throw AVError(.outOfMemory, reason: "There is no memory for a picture.") }
    return buffer
  }
}
