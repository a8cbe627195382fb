// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// Appends samples to one track of the movie that a writer makes.
///
/// With nil as output settings samples are stored unchanged (compressed video and audio, or PCM).
/// With settings they are encoded. The properties have an effect only if they are set before
/// `AVAssetWriter.startWriting()`.
open class AVAssetWriterInput: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  public let mediaType: AVMediaType
  public let outputSettings: [String: Any]?
  /// The format that samples will have, if it is known.
  public let sourceFormatHint: CMFormatDescription?

  let lock = Lock()
  private var properties = Properties()
  var layout = Layout()
  private weak var owner: AVAssetWriter?
  var state = State()

  struct Properties {
    var expectsRealTime = false
    var transform = CGAffineTransform.identity
    var timeScale: CMTimeScale = 0
    var language: String?
    var languageTag: String?
    var isEnabled = true
    var volume: Float = 1
    var allowsPasses = false
  }

  /// The state while a movie is written.
  struct State {
    var track: TrackAssembly?
    var encoder: (any InputEncoder)?
    var isFinished = false
    /// Whether the input has been added to a writer, which may have been deallocated since.
    var isAttached = false
    var request: (queue: DispatchQueue, block: @Sendable () -> Void)?
    var isScheduled = false
    /// Whether another look at the busy encoder is scheduled; see `wakeLater`.
    var isWaiting = false
    var appendCount = 0
    /// Whether an `append` has returned false, so that the program knows that the writing is over.
    var wasRejected = false
    /// The pool of an input that encodes pictures. It stays available when the encoder is gone,
    /// because programs ask for it before each picture.
    var pixelBufferPool: CVPixelBufferPool?
    var passDescription: AVAssetWriterInputPassDescription?
    var passRequest: (queue: DispatchQueue, block: @Sendable () -> Void)?
  }

  /// Creates an input.
  /// - Parameters:
  ///   - mediaType: The type of media that is appended.
  ///   - outputSettings: Nil to store samples unchanged. For video `AVVideoCodecKey`,
  ///     `AVVideoWidthKey`, `AVVideoHeightKey` and optionally `AVVideoCompressionPropertiesKey` and
  ///     others; for audio `AVFormatIDKey` (AAC or linear PCM) and others.
  ///   - sourceFormatHint: The format that samples will have, if it is known. It gives the size of
  ///     video settings without one.
  public init(mediaType: AVMediaType, outputSettings: [String: Any]?, sourceFormatHint: CMFormatDescription?)
  {
    self.mediaType = mediaType
    self.outputSettings = outputSettings
    self.sourceFormatHint = sourceFormatHint
    super.init()
  }

  public convenience init(mediaType: AVMediaType, outputSettings: [String: Any]?) {
    self.init(mediaType: mediaType, outputSettings: outputSettings, sourceFormatHint: nil)
  }

  // MARK: - Properties

  /// Whether samples come at a pace that the program does not control, for example from a camera or
  /// a network. If true, the input is ready unless its encoder is behind; the program should drop
  /// samples then, since `append` would wait for the encoder.
  open var expectsMediaDataInRealTime: Bool {
    get { lock.withLock { properties.expectsRealTime } }
    set { lock.withLock { properties.expectsRealTime = newValue } }
  }
  /// The transform that players apply to the picture.
  open var transform: CGAffineTransform {
    get { lock.withLock { properties.transform } }
    set { lock.withLock { properties.transform = newValue } }
  }
  /// The time scale of the track in units per second. 0 means a scale in which the samples'
  /// times are exact. If the samples' time scale exceeds 10,000,000, as with nanoseconds, times are
  /// rounded to a scale of at least 90,000 units per second.
  open var mediaTimeScale: CMTimeScale {
    get { lock.withLock { properties.timeScale } }
    set { lock.withLock { properties.timeScale = max(0, newValue) } }
  }
  /// The language of the track as an ISO 639-2/T code.
  open var languageCode: String? {
    get { lock.withLock { properties.language } }
    set { lock.withLock { properties.language = newValue } }
  }
  /// The language of the track as a BCP 47 tag ("en-US"). If `languageCode` is nil, the
  /// three-letter code of the tag's language is written as well.
  open var extendedLanguageTag: String? {
    get { lock.withLock { properties.languageTag } }
    set { lock.withLock { properties.languageTag = newValue } }
  }
  /// Whether players present the track unless the user chooses otherwise.
  open var marksOutputTrackAsEnabled: Bool {
    get { lock.withLock { properties.isEnabled } }
    set { lock.withLock { properties.isEnabled = newValue } }
  }
  /// The volume at which players should play the track, from 0.0 to 1.0.
  open var preferredVolume: Float {
    get { lock.withLock { properties.volume } }
    set { lock.withLock { properties.volume = newValue } }
  }

  // MARK: - Appending samples

  /// Whether the writer accepts more samples of this track.
  ///
  /// It is false while the track is more than a second ahead of another track that is not finished.
  /// For an input with `expectsMediaDataInRealTime`, it is false while the encoder is behind. After
  /// the writer has failed or was cancelled, it is true until the input is finished, so that a
  /// program that waits for it calls `append`, which returns false.
  open var isReadyForMoreMediaData: Bool {
    let (isFinished, isAttached) = lock.withLock { (state.isFinished, state.isAttached) }
    guard !isFinished else { return false }
    // A writer that has been deallocated counts as failed.
    guard let writer else { return isAttached }
    let status = writer.status
    if status == .failed || status == .cancelled { return true }
    guard status == .writing else { return false }
    // The program drops samples that the encoder has no time for.
    return expectsMediaDataInRealTime ? encoder?.isBusy != true : !writer.isAhead(self)
  }

  /// Calls `block` on `queue` whenever the input becomes ready, until it is finished. The block
  /// should append samples while `isReadyForMoreMediaData`, and call `markAsFinished()` after the
  /// last sample. When the writer fails or is cancelled, the block is called once more unless an
  /// `append` has returned false by then.
  @preconcurrency open func requestMediaDataWhenReady(
    on queue: DispatchQueue, using block: @escaping @Sendable () -> Void
  ) {
    let old = lock.withLock {
      // The new block may not know of an `append` that returned false before.
      state.wasRejected = false
      // A finished input would never call the block, nor release it.
      defer { if !state.isFinished { state.request = (queue, block) } }
      return state.request
    }
    withExtendedLifetime(old) {}
    wake()
  }

  /// Appends the samples of a buffer. Samples must be appended in decode order. May wait for the
  /// encoder.
  ///
  /// - Parameter sampleBuffer: For an input that encodes, pixel buffers or PCM; otherwise
  ///   compressed data with its format description and times.
  /// - Returns: False after a failure. `AVAssetWriter.error` tells the reason, and the movie is
  ///   lost.
  @discardableResult
  open func append(_ sampleBuffer: CMSampleBuffer) -> Bool {
    guard let writer else {
      lock.withLock { state.wasRejected = true }
      return false
    }
    do {
      let start = try writer.sessionStartForAppending(self)
      try append(sampleBuffer, to: writer, shiftedBy: start)
    } catch {
      // Set before the writer fails, since its failure calls the block that this call may come
      // from.
      lock.withLock { state.wasRejected = true }
      writer.fail(AVError.writing(error))
      return false
    }
    return true
  }

  private func append(_ buffer: CMSampleBuffer, to writer: AVAssetWriter, shiftedBy start: CMTime) throws {
    let (track, encoder, isFinished) = lock.withLock { (state.track, state.encoder, state.isFinished) }
    guard !isFinished, let track else {
      throw AVError(.operationNotAllowed, reason: "A sample was appended after markAsFinished().")
    }
    if let encoder {
      try encoder.append(buffer, shiftedBy: start)
    } else {
      guard CMSampleBufferDataIsReady(buffer) else {
        throw AVError(.invalidSourceMedia, reason: "The sample buffer's data is not ready.")
      }
      let samples = try PendingSample.samples(of: buffer, shiftedBy: start)
      try writer.assembly?.append(samples, CMSampleBufferGetFormatDescription(buffer), to: track)
    }
    let presentationTime = CMSampleBufferGetPresentationTimeStamp(buffer)
    let duration = CMSampleBufferGetDuration(buffer)
    let until = (duration.isNumeric ? presentationTime + duration : presentationTime) - start
    if until.isNumeric { writer.advance(self, to: until) }
    lock.withLock { state.appendCount += 1 }
  }

  /// Marks the input as finished, after which no samples can be appended. Samples that the encoder
  /// holds are written in the background.
  open func markAsFinished() {
    let last = lock.withLock {
      defer { beforeFinish = nil }
      return beforeFinish
    }
    last?()
    // Both happen under the lock: whenever `isFinished` is seen as true, the remaining work has
    // been registered with `inputWillFinish`, so that the file is not completed before that work is
    // done.
    let (wasFinished, writer) = lock.withLock {
      defer { state.isFinished = true }
      let writer = owner
      if !state.isFinished { writer?.inputWillFinish() }
      return (state.isFinished, writer)
    }
    guard !wasFinished else { return }
    writer?.inputFinished(self)
    forgetRequests()
  }

  // MARK: - For the writer

  var writer: AVAssetWriter? { lock.withLock { owner } }
  func attach(to writer: AVAssetWriter) { lock.withLock { (owner, state.isAttached) = (writer, true) } }
  var isFinished: Bool { lock.withLock { state.isFinished } }
  var track: TrackAssembly? { lock.withLock { state.track } }
  var encoder: (any InputEncoder)? { lock.withLock { state.encoder } }

  /// The error in the output settings or the source format hint, or nil if there is none.
  var settingsError: AVError? {
    do {
      switch mediaType {
      case .video:
        if let outputSettings { _ = try VideoEncodingSettings(outputSettings, hint: sourceFormatHint) }
      case .audio: if let outputSettings { _ = try AudioEncodingSettings(outputSettings) }
      case .text, .subtitle, .metadata:
        guard outputSettings == nil else {
          throw AVError(
            .incorrectlyConfigured, reason: "Text and metadata are written as they come.",
            advice: "Give an input for text or metadata no output settings.")
        }
      default:
        throw AVError(.formatUnsupported, reason: "Tracks of type \(mediaType.rawValue) cannot be written.")
      }
      if let sourceFormatHint {
        guard CMFormatDescriptionGetMediaType(sourceFormatHint) == mediaType.code else {
          throw AVError(.incorrectlyConfigured, reason: "The source format hint is of another media type.")
        }
      }
      return nil
    } catch { return AVError.writing(error) }
  }

  /// The error with which the encoder rejects the output settings, or nil if it takes them.
  var encoderError: AVError? {
    guard let outputSettings else { return nil }
    if mediaType == .video {
      return (try? VideoEncodingSettings(outputSettings, hint: sourceFormatHint))?.encoderError
    }
    return (try? AudioEncodingSettings(outputSettings))?.encoderError
  }

  /// Creates the track and the encoder when the writing starts.
  func start(in assembly: MovieAssembly, writer: AVAssetWriter) throws {
    let properties = lock.withLock { self.properties }
    let group = writer.group(of: self)
    let track = TrackAssembly(mediaType: mediaType, preferredTimeScale: properties.timeScale) { muxed in
      let tag = properties.languageTag.flatMap { $0.isEmpty ? nil : $0 }
      muxed.language =
        properties.language
        ?? tag.flatMap { Locale.Language(identifier: $0).languageCode?.identifier(.alpha3) }
      muxed.languageTag = tag
      muxed.isEnabled = group.map(\.isDefault) ?? properties.isEnabled
      muxed.volume = properties.volume
      muxed.keepsTimeScale = properties.timeScale > 0
      if properties.transform != .identity { muxed.displayMatrix = properties.transform.movieMatrix }
    }
    try configureLayout(of: track, in: writer)
    assembly.add(track)
    var encoder: (any InputEncoder)?
    let output: @Sendable (Result<CMSampleBuffer, AVError>) -> Void = { [weak writer] result in
      do {
        let sample = try result.get()
        // The encoder's times are on the movie's time line already.
        try assembly.append(
          PendingSample.samples(of: sample, shiftedBy: .zero), CMSampleBufferGetFormatDescription(sample),
          to: track)
      } catch { writer?.fail(AVError.writing(error)) }
    }
    if let outputSettings {
      if mediaType == .video {
        var settings = try VideoEncodingSettings(outputSettings, hint: sourceFormatHint)
        let duration = writer.overallDurationHint
        if duration.isNumeric, duration > .zero { settings.expectedDuration = duration.seconds }
        // Several passes need a source that can be read again, which a real-time source is not, and
        // an average bit rate, which the further passes distribute better.
        var passes: EncodingPasses?
        if let rate = settings.averageRate, properties.allowsPasses, !properties.expectsRealTime,
          !writer.isForSegments
        {
          passes = try EncodingPasses(in: writer.directoryForTemporaryFiles, rate: rate)
        }
        encoder = try VideoInputEncoder(
          settings, isRealTime: properties.expectsRealTime,
          sourceAttributes: lock.withLock { sourceAttributes }, keyFrameInterval: writer.keyFrameInterval,
          segmentStart: writer.segmentStart, passes: passes, output: output)
        (encoder as? VideoInputEncoder)?.whenDone { [weak self] in self?.wakeIfRealTime() }
      } else {
        encoder = AudioInputEncoder(try AudioEncodingSettings(outputSettings), output: output)
      }
    }
    // All text tracks have the same format description.
    let hint =
      sourceFormatHint
      ?? (mediaType.isText
        ? try? CMFormatDescription(
          mediaType: .init(rawValue: mediaType.code), mediaSubType: .mobile3GPP) : nil)
    track.timeout = properties.expectsRealTime ? CMTime(value: 2, timescale: 1) : TrackAssembly.defaultTimeout
    let storesSamples = outputSettings == nil
    track.describe = { [weak encoder] in storesSamples ? hint : encoder?.provisionalFormat(hint) }
    let pass = lock.withLock { () -> (queue: DispatchQueue, block: @Sendable () -> Void)? in
      state.track = track
      state.encoder = encoder
      state.pixelBufferPool = (encoder as? VideoInputEncoder)?.pixelBufferPool
      state.passDescription = AVAssetWriterInputPassDescription(
        ranges: [CMTimeRange(start: .zero, duration: .positiveInfinity)])
      return state.passRequest
    }
    if let pass { pass.queue.async(execute: pass.block) }
  }

  /// Appends samples that an adaptor has kept back; called once, before the input is finished.
  /// Guarded by `lock`.
  var beforeFinish: (@Sendable () -> Void)?
  /// Pixel buffer attributes that an adaptor declares for its pictures. Guarded by `lock`.
  var sourceAttributes: NSDictionary?

  // MARK: - Passes

  /// Whether the encoder may process the samples several times, which needs a source that can be
  /// read again.
  ///
  /// Several passes are made if the encoder supports them (all built-in encoders do), the settings
  /// have an average bit rate, and the source does not come in real time. Set it before
  /// `AVAssetWriter.startWriting()`.
  open var performsMultiPassEncodingIfSupported: Bool {
    get { lock.withLock { properties.allowsPasses } }
    set { lock.withLock { properties.allowsPasses = newValue } }
  }
  /// Whether more than one pass may follow. Known after `AVAssetWriter.startWriting()`.
  open var canPerformMultiplePasses: Bool { (encoder as? VideoInputEncoder)?.makesPasses ?? false }
  /// The time ranges to append in the current pass, from `startWriting()` on; nil when no pass is
  /// under way.
  ///
  /// The first two passes cover the whole source. The package's own encoder may ask for further
  /// passes over parts of it, as long as they bring the bit rate nearer to its target. Pictures
  /// outside of the parts have no effect.
  open var currentPassDescription: AVAssetWriterInputPassDescription? {
    lock.withLock { state.passDescription }
  }

  /// Calls `block` at the start of each pass, and once more after the last pass, when
  /// `currentPassDescription` is nil. It is not called before `startWriting()`.
  @preconcurrency open func respondToEachPassDescription(
    on queue: DispatchQueue, using block: @escaping @Sendable () -> Void
  ) {
    let (isInProgress, old) = lock.withLock {
      defer { state.passRequest = (queue, block) }
      return (state.passDescription != nil, state.passRequest)
    }
    withExtendedLifetime(old) {}
    if isInProgress { queue.async(execute: block) }
  }

  /// Ends the current pass, and calls the block of `respondToEachPassDescription` again.
  /// `currentPassDescription` then tells what to append in the next pass; if it is nil, there is
  /// none, and `markAsFinished()` should follow. The block of `requestMediaDataWhenReady` is not
  /// called any more.
  open func markCurrentPassAsFinished() {
    // The last pass has ended already, or none has begun.
    guard lock.withLock({ state.passDescription != nil && !state.isFinished }) else { return }
    var next: AVAssetWriterInputPassDescription?
    if let writer, let encoder = encoder as? VideoInputEncoder, encoder.makesPasses {
      do {
        let start = writer.sessionStart
        next = try encoder.endPass().map { ranges in
          AVAssetWriterInputPassDescription(
            ranges: ranges.map { range in
              // Times from the encoder can begin before the first picture's presentation time.
              CMTimeRange(start: max(range.start, .zero) + start, end: range.end + start)
            })
        }
      } catch { writer.fail(AVError.writing(error)) }
    }
    let (request, old) = lock.withLock {
      defer {
        state.passDescription = state.isFinished ? nil : next
        state.request = nil
        if next == nil { state.passRequest = nil }
      }
      return (state.passRequest, state.request)
    }
    withExtendedLifetime(old) {}
    if let request { request.queue.async(execute: request.block) }
  }
}

/// Describes the samples to append in a pass.
open class AVAssetWriterInputPassDescription: NSObject, @unchecked Sendable {
  // Sendable: immutable.
  /// `NSValue`s of `CMTimeRange`, in ascending order, which do not overlap.
  public let sourceTimeRanges: [NSValue]

  init(ranges: [CMTimeRange]) {
    sourceTimeRanges = ranges.map { NSValue(timeRange: $0) }
    super.init()
  }
}

extension CGAffineTransform {
  /// The matrix of a track header (ISO/IEC 14496-12, clause 8.3.2): nine fixed-point numbers, the
  /// last column with 30 fractional bits and the others with 16.
  var movieMatrix: [Int32] {
    func fixed(_ value: CGFloat) -> Int32 {
      Int32(max(-32768, min(32767.99, Double(value))) * 65536)
    }
    return [fixed(a), fixed(b), 0, fixed(c), fixed(d), 0, fixed(tx), fixed(ty), 1 << 30]
  }
}
