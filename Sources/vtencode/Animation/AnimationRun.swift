// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import FFmpegMedia
import Foundation

/// Writes the pictures of a movie as a GIF or an animated WebP. It has no compression session,
/// since neither holds H.264 or HEVC.
struct AnimationRun {
  private let request: EncodingRequest
  private let format: AnimationWriter.Format
  private let path: String

  /// The largest width and height if the user gives none, in samples.
  static let defaultSide = 640
  /// The highest frame rate if the user gives none, in frames a second.
  static let defaultRate = 25.0

  /// The format that a file's name asks for; nil for other files.
  static func format(of path: String) -> AnimationWriter.Format? {
    StreamAddress.isAddress(path)
      ? nil : AnimationWriter.Format(rawValue: (path as NSString).pathExtension.lowercased())
  }

  /// Checks the options of a run that writes an animation.
  /// - Throws: a `Failure` that names an option which does not apply.
  init(_ request: EncodingRequest, format: AnimationWriter.Format, path: String) throws {
    self.request = request
    self.format = format
    self.path = Destination.target(of: path)
    let options = request.options
    guard options.outs.count == 1 else {
      throw Failure("a .\(format.rawValue) file is written alone; give --out once", status: 64)
    }
    guard let name = Self.otherOption(request, format) else { return }
    throw Failure(
      "a .\(format.rawValue) file is an animated picture, to which \(name) does not apply; omit it, or end "
        + "the name of --out in .mp4", status: 64)
  }

  /// The first given option that has no meaning for an animation; nil if there is none.
  private static func otherOption(
    _ request: EncodingRequest, _ format: AnimationWriter.Format
  ) -> String? {
    let options = request.options
    let encoding = options.encoding
    let given: [(String, Bool)] = [
      ("--bitrate", options.bitrate != nil), ("--codec", options.codec != .avc1),
      ("--quality", options.quality != nil && format == .gif), ("--cbr", options.rate.cbr),
      ("--max-rate", options.rate.maxRate != nil), ("--buffer-timing", options.rate.bufferTiming),
      ("--target-size", request.targetSize != nil), ("--sound", request.audio != nil),
      ("--multi-pass", (request.passes ?? 1) > 1),
      ("--rendition", !request.renditions.isEmpty), ("--encoder", encoding.encoder != nil),
      ("--preset", encoding.preset != nil), ("--profile", encoding.profile != nil),
      ("--keyframe-interval", encoding.keyframeInterval != nil),
      ("--keyframe-duration", encoding.keyframeDuration != nil),
      ("--look-ahead-frames", encoding.lookAheadFrames != nil),
      ("--spatial-adaptive-qp", encoding.spatialAdaptiveQP != nil),
      ("--effort", encoding.effort.value != nil), ("--save-power", encoding.savePower),
      ("--threads", encoding.threads != nil), ("--pixel-format", options.picture.pixelFormat != nil),
      ("--no-deinterlace", options.picture.noDeinterlace), ("--psnr", options.reports.psnr),
      ("--verbose", options.reports.verbose),
      ("--audio", [.aac, .copy].contains(options.audio.audio)),
      ("--audio-bitrate", options.audio.audioBitrate != nil),
      ("--volume", request.changes.volume != nil), ("--audio-track", request.changes.audioTrack != nil),
    ]
    return given.first(where: \.1)?.0
  }

  // MARK: - The run

  /// Reads the movie and writes the file.
  /// - Throws: a `Failure`.
  func perform() async throws {
    let options = request.options
    try OutputCheck.check(path, option: "--out", others: request.inputs.map(InputFile.path(of:)))
    let replaces = try OutputCheck.mayReplace(path, overwrites: options.overwriting.overwrite)
    guard format.isAvailable else {
      throw Failure(
        "the installed FFmpeg cannot encode .\(format.rawValue) files; end the name of --out in "
          + (format == .gif ? ".webp or .mp4" : ".gif or .mp4"))
    }
    Interrupt.shared.watch()
    let scratch = request.changes.burnSubtitles == nil ? nil : try ScratchFolder(in: NSTemporaryDirectory())
    defer { withExtendedLifetime(scratch) {} }
    var source = try await request.open(hasTransform: false, scratch: scratch?.path)
    if options.picture.framesPerSecond == nil, source.frameRate > Self.defaultRate {
      source.convertedRate = source.frameRate / (source.frameRate / Self.defaultRate).rounded(.up)
    }
    let fit = Self.fit(source, options)
    try ResourceLimits.check(tracks: 1)
    try ResourceLimits.check(decoded: source.decodedSize, encoded: nil, isDeep: source.isDeep)
    try checkMemory(source, fit, limit: options.picture.frames)
    if options.progressOption.progress.showsNotices, options.dimensions == nil,
      fit.width != source.width || fit.height != source.height
    {
      Console.note(
        "vtencode: the animation has \(fit.width)x\(fit.height) samples; --dimensions chooses another size")
    }
    let result = try await onThread("decode") { [source] in
      try write(source, fit, replaces: replaces)
    }
    try finish(result, fit, source)
  }

  /// The size of the animation: what was asked for, or the movie's as displayed, at most
  /// `defaultSide` a side.
  static func fit(_ source: MovieSource, _ options: EncodingOptions) -> PictureFit {
    if options.dimensions != nil {
      return PictureFit(
        source: source.shape, requested: options.dimensions, scaling: options.picture.scaling)
    }
    let displayed = (
      width: Double(source.width) * source.shape.pixelAspect, height: Double(source.height)
    )
    let scale = min(1, Double(defaultSide) / max(displayed.width, displayed.height))
    let width = max(1, Int((displayed.width * scale).rounded()))
    let height = max(1, Int((displayed.height * scale).rounded()))
    if width == source.width, height == source.height {
      return PictureFit(source: source.shape, requested: nil, scaling: options.picture.scaling)
    }
    var fit = PictureFit(stretchedTo: width, height)
    fit.scaling = kVTScalingMode_Normal as String
    return fit
  }

  /// - Throws: a `Failure` if a GIF's pictures would not fit into memory.
  private func checkMemory(_ source: MovieSource, _ fit: PictureFit, limit: Int?) throws {
    guard format == .gif, let expected = source.expectedFrames else { return }
    let frames = min(expected, limit ?? expected)
    let (bytes, overflows) = frames.multipliedReportingOverflow(by: fit.width * fit.height * 4)
    if overflows || bytes > AnimationWriter.memoryLimit { throw Self.tooLong(frames) }
  }

  private static func tooLong(_ frames: Int) -> Failure {
    Failure(
      "a GIF is for short clips, and the \(TextFormat.plural(frames, "picture")) of this one take more than 1 GiB "
        + "of memory; shorten it with --duration, or lower --dimensions or --fps", status: 64)
  }

  private struct Result: Sendable {
    var frames: Int
    var start: CMTime
    var end: CMTime
    var damage: SourceDamage
    var path: String
    var bytes: Int
    var seconds: Double
    var wasInterrupted: Bool
  }

  private func write(_ source: MovieSource, _ fit: PictureFit, replaces: Bool) throws -> Result {
    let options = request.options
    let began = SessionTime.now
    let file = try PendingFile(for: path, replaces: replaces)
    let descriptor = try file.open()
    defer { close(descriptor) }
    let mapsTones = source.isHighDynamicRange
    let reader = try FrameReader(
      source, pixelFormat: mapsTones ? PixelFormatChoice.video10Bit.type : AnimationWriter.pixelFormat,
      deinterlacing: options.picture.deinterlace,
      adapter: PictureAdapter(
        fit, pixelFormat: AnimationWriter.pixelFormat, mapsTones: mapsTones, convertsFormat: true))
    defer { reader.cancel() }
    let progress = ProgressLine(
      total: source.expectedFrames.map { min($0, options.picture.frames ?? $0) },
      style: options.progressOption.progress)
    defer { progress.finish() }
    var result = Result(
      frames: 0, start: .zero, end: .zero, damage: SourceDamage(), path: path, bytes: 0, seconds: 0,
      wasInterrupted: false)
    do {
      let writer = try AnimationWriter(
        format, descriptor: descriptor, width: fit.width, height: fit.height,
        quality: options.quality ?? 0.75)
      while !Interrupt.shared.isRequested, result.frames < options.picture.frames ?? .max,
        let frame = try reader.next()
      {
        if result.frames == 0 { result.start = frame.time }
        result.end = frame.time + frame.duration
        try writer.add(frame.pixelBuffer, time: frame.time)
        result.frames += 1
        progress.update(frames: result.frames)
      }
      result.wasInterrupted = Interrupt.shared.isRequested && source.live == nil
      guard result.frames > 0 else {
        throw Failure(
          "interrupted before a picture was read; nothing was written", status: Interrupt.shared.status)
      }
      try writer.finish(at: result.end)
    } catch let error as MediaFileError {
      if error.kind == .outOfMemory, format == .gif { throw Self.tooLong(result.frames) }
      throw Failure("cannot write '\(path)': \(error.detail)")
    }
    result.damage = reader.damage
    var status = stat()
    if fstat(descriptor, &status) == 0 { result.bytes = Int(status.st_size) }
    result.path = try file.commit(isPart: result.wasInterrupted)
    result.seconds = SessionTime.now - began
    return result
  }

  private func finish(_ result: Result, _ fit: PictureFit, _ source: MovieSource) throws {
    let seconds = (result.end - result.start).seconds
    if request.options.progressOption.progress == .json {
      var event = ProgressEvent(frames: result.frames, total: result.frames, seconds: result.seconds)
      event.secondsLeft = 0
      event.write()
    }
    try Console.print(
      "picture \(format == .gif ? "GIF" : "WebP"), \(fit.width)x\(fit.height), "
        + "\(TextFormat.plural(result.frames, "frame")), \(TextFormat.fixed(seconds, 2)) s"
        + (source.audioTracks.isEmpty ? "" : ", without the movie's audio") + "\n"
        + "file    \(result.path), \(TextFormat.bytes(result.bytes))\n")
    if result.wasInterrupted {
      throw Failure(
        "interrupted; '\(result.path)' holds the \(TextFormat.plural(result.frames, "frame")) read so far",
        status: Interrupt.shared.status)
    }
    if let damage = result.damage.summary {
      throw Failure(
        "'\(source.name)' is damaged, and '\(result.path)' holds what could be read: \(damage)",
        status: SourceDamage.exitStatus)
    }
  }
}
