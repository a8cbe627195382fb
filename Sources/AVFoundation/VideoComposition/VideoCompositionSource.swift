// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// Reads the pictures of a video composition from its compositor.
final class VideoCompositionSource: SampleSource, @unchecked Sendable {
  // Sendable: `lock` guards the state that other threads change; only the reading thread uses the
  // rest.
  /// The position in a track's pictures: the picture presented at the current time, and the next.
  private struct Cursor {
    let trackID: CMPersistentTrackID
    let source: any SampleSource
    /// Whether the track belongs to a composition, so that there may be gaps between its parts.
    let hasGaps: Bool
    let hasAlpha: Bool
    var shown: CMSampleBuffer?
    var next: CMSampleBuffer?

    mutating func advance(to time: CMTime) throws {
      while let following = next, CMSampleBufferGetPresentationTimeStamp(following) <= time {
        shown = following
        next = try source.next()
      }
    }

    /// The longest plausible duration of a picture, in seconds. A file may declare centuries.
    private static let longestShown = 86_400.0

    /// Whether a picture is declared to be presented at `time` and began no more than
    /// `longestShown` earlier.
    func holds(_ time: CMTime) -> Bool {
      guard let shown else { return false }
      let begin = CMSampleBufferGetPresentationTimeStamp(shown)
      guard (time - begin).seconds <= Self.longestShown else { return false }
      if next != nil, !hasGaps { return true }
      let duration = CMSampleBufferGetDuration(shown)
      return duration.isNumeric && time < begin + duration
    }

    /// Returns the time at which the presented picture ends if the next one does not follow at
    /// once; nil if there is no such time or it is not known.
    /// - Parameter start: The result if no picture is presented yet, and otherwise the earliest
    ///   result.
    func gapStart(_ start: CMTime) -> CMTime? {
      guard let shown else { return start }
      let duration = CMSampleBufferGetDuration(shown)
      guard next == nil || hasGaps, duration.isNumeric, duration > .zero else { return nil }
      return max(start, CMSampleBufferGetPresentationTimeStamp(shown) + duration)
    }

    /// Returns the picture presented at `time`; nil if it ended more than `tolerance`, half a frame
    /// duration of the composition, before. A picture of a file ends when the next one begins.
    func picture(at time: CMTime, tolerance: CMTime) -> CMSampleBuffer? {
      guard let shown else { return nil }
      if next != nil, !hasGaps { return shown }
      let duration = CMSampleBufferGetDuration(shown)
      guard duration.isNumeric, duration > .zero else { return shown }
      let end = CMSampleBufferGetPresentationTimeStamp(shown) + duration
      return time < end + tolerance ? shown : nil
    }
  }

  private let composition: AVVideoComposition
  private let instructions: [any AVVideoCompositionInstructionProtocol]
  private let compositor: any AVVideoCompositing
  private let context: AVVideoCompositionRenderContext
  private let requirements: PictureRequirements
  private let assetEnd: CMTime
  private let confirmed: ConfirmedMediaTimes
  /// The last time at which media is known to exist.
  private var lastConfirmed = CMTime.zero
  private let color: CompositionColor?
  /// Used by the reading thread only.
  private var cursors: [Cursor]
  /// The sources of the cursors, for `stop()`, which other threads call.
  private let sources: [any SampleSource]
  private let tracksWithAlpha: Set<CMPersistentTrackID>
  private var start = CMTime.zero
  private var end = CMTime.zero
  /// The time from which pictures at a regular interval are counted.
  private var gridStart = CMTime.zero
  private var count: Int64 = 0
  private var samples = PictureSamples()
  private let converter = PixelConverter()
  private var pool: CVPixelBufferPool?
  /// Whether the client may modify the pictures, so that shared ones are copied.
  private let copies: Bool
  private let copier = PictureCopier()
  private var colorTransfer: VTPixelTransferSession?

  private let lock = Lock()
  private var pending: AVAsynchronousVideoCompositionRequest?
  private var isStopped = false

  /// Creates the source.
  /// - Parameters:
  ///   - composition: The video composition.
  ///   - custom: An object of the composition's compositor class; nil if the composition has none.
  ///   - tracks: The source tracks.
  ///   - requirements: The format of the delivered pictures.
  ///   - asset: The asset of the tracks.
  ///   - copies: Whether the client may modify the pictures.
  ///   - damage: Records damaged samples that are left out.
  /// - Throws: `AVError` if the composition is invalid or a track cannot be read.
  init(
    _ composition: AVVideoComposition, _ custom: (any AVVideoCompositing)?, _ tracks: [AVAssetTrack],
    _ requirements: PictureRequirements, asset: AVAsset, copies: Bool = false, damage: DamageLog = DamageLog()
  ) throws {
    guard custom != nil || composition.customVideoCompositorClass == nil else {
      throw AVError(
        .invalidVideoComposition, reason: "No object can be made of the compositor's class.",
        advice: "Let it inherit from NSObject.")
    }
    self.composition = composition
    let compositor = custom ?? LayerCompositor()
    self.compositor = compositor
    self.requirements = requirements
    self.copies = copies
    assetEnd = asset.duration
    confirmed = ConfirmedMediaTimes(asset)
    instructions = composition.instructions
    try Self.check(composition)
    let color = try CompositionColor(composition) ?? CompositionColor(of: tracks, for: compositor)
    self.color = color
    context = try AVVideoCompositionRenderContext(
      composition, size: composition.renderSize,
      attributes: compositor.requiredPixelBufferAttributesForRenderContext)
    var settings: [String: Any] = compositor.sourcePixelBufferAttributes ?? [:]
    settings[kVTDecompressionPropertyKey_ThreadCount as String] = requirements.threads
    let cursors = try tracks.map { track in
      // Pictures are scaled to square pixels.
      if compositor is LayerCompositor {
        settings[OVTVideoCropsToCleanApertureKey] = true
        settings[kCVPixelBufferWidthKey as String] = Int(clamping: Double(track.naturalSize.width))
        settings[kCVPixelBufferHeightKey as String] = Int(clamping: Double(track.naturalSize.height))
      }
      // A compositor may convert colours itself.
      if let color, let properties = color.properties, !compositor.canConformColorOfSourceFrames {
        try color.check(track)
        settings[AVVideoColorPropertiesKey] = properties
      }
      let wanted = try PictureRequirements(settings)
      let source: any SampleSource
      if let composed = track as? AVCompositionTrack {
        source = try composed.makeSource(.pictures(wanted), copies: false, damage: damage)
      } else {
        source = ReadAhead(
          try PictureSource(
            Demuxer(again: track.file.properties().demuxer), track.properties, wanted, copies: false,
            damage: damage),
          depth: AVAssetReaderTrackOutput.readAhead)
      }
      let parts = (track as? AVCompositionTrack)?.timeline.parts.compactMap { $0.source?.track } ?? [track]
      return Cursor(
        trackID: track.trackID, source: source, hasGaps: track is AVCompositionTrack,
        hasAlpha: parts.contains { $0.properties.stream.codec.hasAlpha })
    }
    self.cursors = cursors
    sources = cursors.map(\.source)
    tracksWithAlpha = Set(cursors.filter(\.hasAlpha).map(\.trackID))
    compositor.renderContextChanged(context)
  }

  /// Checks the composition.
  /// - Throws: `AVError.Code.invalidVideoComposition`.
  private static func check(_ composition: AVVideoComposition) throws {
    func configurationError(_ reason: String) -> AVError { AVError(.invalidVideoComposition, reason: reason) }
    guard composition.frameDuration.isPlayable, composition.frameDuration > .zero else {
      throw configurationError("The frame duration is not a positive number.")
    }
    let size = composition.renderSize
    guard (1...16384).contains(size.width), (1...16384).contains(size.height) else {
      throw configurationError("The render size is out of range, 1 to 16384.")
    }
    guard composition.renderScale == 1 else { throw configurationError("The render scale is not 1.") }
    guard !composition.instructions.isEmpty else { throw configurationError("There are no instructions.") }
    var end = CMTime.invalid
    for instruction in composition.instructions {
      let range = instruction.timeRange
      guard range.isPlayable, range.duration > .zero else {
        throw configurationError("The time range of an instruction is empty or invalid.")
      }
      guard !end.isValid || range.start == end else {
        throw configurationError("Instructions overlap, are out of order, or leave gaps.")
      }
      end = range.end
    }
  }

  func seek(to range: CMTimeRange) throws {
    start = max(.zero, range.start)
    end = min(range.end, assetEnd)
    lastConfirmed = start
    (gridStart, count) = (start, 0)
    let tolerance = composition.frameDuration
    guard let first = instructions.first, let last = instructions.last, first.timeRange.start <= start,
      last.timeRange.end + tolerance >= end
    else {
      throw AVError(
        .invalidVideoComposition, reason: "The instructions do not cover the time range that is read.")
    }
    end = min(end, last.timeRange.end)
    for index in cursors.indices {
      // The range includes the picture that is already presented at its start.
      try cursors[index].source.seek(to: range)
      cursors[index].shown = nil
      cursors[index].next = try cursors[index].source.next()
    }
  }

  /// Returns the presentation time of the next picture, which may be at or after `end`; nil after
  /// the last picture of the timing track.
  private func nextTime() throws -> CMTime? {
    guard let cursor = timingCursor else {
      return gridStart + TimeGrid.multiple(composition.frameDuration, count)
    }
    let following = cursor.next.map { max(start, CMSampleBufferGetPresentationTimeStamp($0)) }
    let isEmpty = cursor.shown == nil && cursor.next == nil
    guard let gap = cursor.gapStart(start),
      isEmpty || (following ?? end) - gap >= composition.frameDuration
    else { return following }
    // The timing track has a gap: the background and the other layers are shown.
    if gap > gridStart { (gridStart, count) = (gap, 0) }
    let filling = gridStart + TimeGrid.multiple(composition.frameDuration, count)
    return following.map { min($0, filling) } ?? filling
  }

  private var timingCursor: Cursor? {
    let timing = composition.sourceTrackIDForFrameTiming
    return cursors.first { $0.trackID == timing }
  }

  /// Returns the duration of the composed picture at `time`, to which the cursors have been
  /// advanced.
  private func duration(at time: CMTime) throws -> CMTime {
    guard let cursor = timingCursor else { return min(composition.frameDuration, end - time) }
    if let following = try nextTime(), following > time { return min(following, end) - time }
    // For the last picture, the remaining time is less than a frame duration, unless the picture's
    // duration is unknown.
    return cursor.gapStart(start) == nil ? min(composition.frameDuration, end - time) : end - time
  }

  /// Returns the time of the next picture and advances the cursors to it; nil at the end. Time for
  /// which files declare media that they do not have is skipped after
  /// `ConfirmedMediaTimes.longestFill`.
  private func nextConfirmedTime() throws -> CMTime? {
    while let time = try nextTime(), time < end {
      for index in cursors.indices { try cursors[index].advance(to: time) }
      if cursors.contains(where: { $0.holds(time) }) || confirmed.contains(time) { lastConfirmed = time }
      guard time - lastConfirmed > ConfirmedMediaTimes.longestFill else { return time }
      let following = cursors.compactMap { $0.next.map(CMSampleBufferGetPresentationTimeStamp) }
      guard let next = (following + [confirmed.start(after: time)].compactMap { $0 }).min(), next > time
      else {
        return nil
      }
      let steps = ((next - gridStart).seconds / composition.frameDuration.seconds).rounded(.up)
      if steps < Double(Int32.max) {
        count = max(count.addingClamped(1), Int64(clamping: steps))
      } else {
        // The number of steps is too large to count exactly, so the grid begins again.
        (gridStart, count) = (next, 0)
      }
      lastConfirmed = next
    }
    return nil
  }

  func next() throws -> CMSampleBuffer? {
    guard !lock.withLock({ isStopped }), let time = try nextConfirmedTime(), time < end else { return nil }
    count += 1
    guard let instruction = instructions.first(where: { $0.timeRange.containsTime(time) }) else { return nil }
    let tolerance = CMTimeMultiplyByRatio(composition.frameDuration, multiplier: 1, divisor: 2)
    let wanted = instruction.requiredSourceTrackIDs.map { values in
      Set(values.compactMap { ($0 as? NSNumber)?.int32Value })
    }
    var frames: [CMPersistentTrackID: CMSampleBuffer] = [:]
    for index in cursors.indices {
      let trackID = cursors[index].trackID
      if let wanted, !wanted.contains(trackID), trackID != instruction.passthroughTrackID { continue }
      frames[trackID] = cursors[index].picture(at: time, tolerance: tolerance)
    }
    let image: CVPixelBuffer
    if let same = frames[instruction.passthroughTrackID].flatMap({ CMSampleBufferGetImageBuffer($0) }) {
      image = same
    } else {
      let request = AVAsynchronousVideoCompositionRequest(
        context, at: time, instruction, frames, withAlpha: tracksWithAlpha)
      let goes = lock.withLock { () -> Bool in
        pending = request
        return !isStopped
      }
      guard goes else { return nil }
      compositor.startRequest(request)
      defer { lock.withLock { pending = nil } }
      do { image = try request.wait() } catch {
        if lock.withLock({ isStopped }) { return nil }
        throw error
      }
    }
    color?.tag(image)
    var picture = try converted(image)
    // The decoder or the next picture of the composition may use the same pixel buffer.
    if copies, frames.values.contains(where: { CMSampleBufferGetImageBuffer($0) === picture }) {
      picture = try copier.copy(picture)
    }
    return try samples.make(
      picture,
      CMSampleTimingInfo(
        duration: try duration(at: time), presentationTimeStamp: time, decodeTimeStamp: .invalid))
  }

  func stop() {
    let request = lock.withLock {
      isStopped = true
      return pending
    }
    for source in sources { source.stop() }
    if request != nil { compositor.cancelAllPendingVideoCompositionRequests() }
    request?.cancel()
  }

  /// Returns the picture in the size, pixel format and colours of the output's settings.
  private func converted(_ image: CVPixelBuffer) throws -> CVPixelBuffer {
    let own = CVPixelBufferGetPixelFormatType(image)
    let format =
      requirements.formats.isEmpty || requirements.formats.contains(own)
      ? own : requirements.formats[0]
    let width = requirements.width ?? CVPixelBufferGetWidth(image)
    let height = requirements.height ?? CVPixelBufferGetHeight(image)
    if format == own, width == CVPixelBufferGetWidth(image), height == CVPixelBufferGetHeight(image),
      requirements.color?.options.isMet(by: image) ?? true
    {
      return image
    }
    if pool == nil {
      let attributes: NSDictionary = [
        kCVPixelBufferPixelFormatTypeKey: NSNumber(value: format),
        kCVPixelBufferWidthKey: NSNumber(value: width), kCVPixelBufferHeightKey: NSNumber(value: height),
      ]
      CVPixelBufferPoolCreate(kCFAllocatorDefault, nil, attributes, &pool)
    }
    var target: CVPixelBuffer?
    if let pool { CVPixelBufferPoolCreatePixelBuffer(kCFAllocatorDefault, pool, &target) }
    guard let target else { throw AVError(.outOfMemory, reason: "There is no memory for a picture.") }
    if let color = requirements.color {
      try transfer(color, image, to: target)
      return target
    }
    CompositionColor.copyTags(from: image, to: target)
    do { try converter.convert(image, to: target) } catch {
      throw AVError(
        .decodeFailed, reason: "The picture cannot be converted: \(error).", underlying: error)
    }
    return target
  }

  private func transfer(_ color: ColorRequirements, _ image: CVPixelBuffer, to target: CVPixelBuffer) throws {
    if colorTransfer == nil {
      VTPixelTransferSessionCreate(allocator: nil, pixelTransferSessionOut: &colorTransfer)
      for (key, value) in [
        (kVTPixelTransferPropertyKey_DestinationColorPrimaries, color.primaries),
        (kVTPixelTransferPropertyKey_DestinationTransferFunction, color.transferFunction),
        (kVTPixelTransferPropertyKey_DestinationYCbCrMatrix, color.matrix),
      ] {
        guard let colorTransfer,
          VTSessionSetProperty(colorTransfer, key: key, value: value as CFString) == noErr
        else {
          throw AVError(
            .unsupportedOutputSettings, reason: "Composed pictures cannot be converted to \(value).",
            advice: "Give colours of AVVideoSettings that pictures can be converted to.")
        }
      }
    }
    guard let colorTransfer,
      VTPixelTransferSessionTransferImage(colorTransfer, from: image, to: target) == noErr
    else {
      throw AVError(
        .decodeFailed, reason: "The composition's colours cannot be converted to these.",
        advice: "A high dynamic range cannot be made of an ordinary one.")
    }
  }
}
