// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// A track of the movie that a writer makes, and where its samples go in.
///
/// With nil as output settings samples are stored as they come (compressed video and sound, or PCM); with settings
/// they are encoded. Set the properties before `AVAssetWriter.startWriting()`; later they have no effect.
open class AVAssetWriterInput: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  public let mediaType: AVMediaType
  public let outputSettings: [String: Any]?
  /// What samples will be like, if it is known.
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

  /// What happens while a movie is written.
  struct State {
    var track: TrackAssembly?
    var encoder: (any InputEncoder)?
    var isFinished = false
    /// It has, or had, a writer.
    var isAttached = false
    var request: (queue: DispatchQueue, block: @Sendable () -> Void)?
    var isScheduled = false
    /// A look at the busy encoder is due.
    var isWaiting = false
    var appendCount = 0
    /// An `append` has returned false: the program knows that the writing is over.
    var wasRefused = false
    /// Of an input that encodes pictures; it outlives the encoder, since programs ask for it before each picture.
    var pixelBufferPool: CVPixelBufferPool?
    var passDescription: AVAssetWriterInputPassDescription?
    var passRequest: (queue: DispatchQueue, block: @Sendable () -> Void)?
  }

  /// Of the parameters:
  ///
  /// - `outputSettings`: nil: samples are stored as they are. For video: `AVVideoCodecKey`, `AVVideoWidthKey`,
  ///   `AVVideoHeightKey` and, as wanted, `AVVideoCompressionPropertiesKey` and others. For sound: `AVFormatIDKey`
  ///   (AAC or linear PCM) and others.
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

  /// The samples come at their own pace, from a camera or a network. The input is ready for them unless its encoder is
  /// behind: then they are better dropped, as `append` would wait.
  open var expectsMediaDataInRealTime: Bool {
    get { lock.withLock { properties.expectsRealTime } }
    set { lock.withLock { properties.expectsRealTime = newValue } }
  }
  /// How a player is to turn the picture.
  open var transform: CGAffineTransform {
    get { lock.withLock { properties.transform } }
    set { lock.withLock { properties.transform = newValue } }
  }
  /// Units per second of the track's times; 0: chosen so that the samples' times are exact, or, where their own time scale
  /// is beyond 10,000,000 (nanoseconds), within half a unit of 90,000 or more per second.
  open var mediaTimeScale: CMTimeScale {
    get { lock.withLock { properties.timeScale } }
    set { lock.withLock { properties.timeScale = max(0, newValue) } }
  }
  /// ISO 639-2/T.
  open var languageCode: String? {
    get { lock.withLock { properties.language } }
    set { lock.withLock { properties.language = newValue } }
  }
  /// BCP 47 ("en-US"). Without a `languageCode` the code of its language is written as well.
  open var extendedLanguageTag: String? {
    get { lock.withLock { properties.languageTag } }
    set { lock.withLock { properties.languageTag = newValue } }
  }
  /// Whether players show or play the track unless told otherwise.
  open var marksOutputTrackAsEnabled: Bool {
    get { lock.withLock { properties.isEnabled } }
    set { lock.withLock { properties.isEnabled = newValue } }
  }
  /// 0.0 to 1.0.
  open var preferredVolume: Float {
    get { lock.withLock { properties.volume } }
    set { lock.withLock { properties.volume = newValue } }
  }

  // MARK: - Samples in

  /// Whether the writer wants more of this track. It does not while the track is a second ahead of another one that
  /// has not ended; of a track whose samples come in real time, while the encoder is behind. Once the writer has failed or
  /// was cancelled it is true until the input is finished: the next `append` returns false, and who waits for it learns so.
  open var isReadyForMoreMediaData: Bool {
    let (isFinished, isAttached) = lock.withLock { (state.isFinished, state.isAttached) }
    guard !isFinished else { return false }
    // A writer that is gone has ended.
    guard let writer else { return isAttached }
    let status = writer.status
    if status == .failed || status == .cancelled { return true }
    guard status == .writing else { return false }
    // A source that cannot wait drops what the encoder has no time for.
    return expectsMediaDataInRealTime ? encoder?.isBusy != true : !writer.isAhead(self)
  }

  /// Calls `block` on `queue` whenever the input becomes ready, until it is finished. The block appends while
  /// `isReadyForMoreMediaData`, and calls `markAsFinished()` after the last sample. When the writer fails or is cancelled
  /// the block is called once more, unless an `append` has returned false by then.
  @preconcurrency open func requestMediaDataWhenReady(
    on queue: DispatchQueue, using block: @escaping @Sendable () -> Void
  ) {
    let old = lock.withLock {
      // Who asks now may not know what an append has answered.
      state.wasRefused = false
      // Nobody would call it, nor let it go.
      defer { if !state.isFinished { state.request = (queue, block) } }
      return state.request
    }
    withExtendedLifetime(old) {}
    wake()
  }

  /// Appends samples in decode order.
  ///
  /// For an input that encodes, buffers hold pictures (or PCM); otherwise they hold compressed data with its format
  /// description and times. May wait for the encoder.
  /// - Returns: False after a failure: see `AVAssetWriter.error`. The movie is lost then.
  @discardableResult
  open func append(_ sampleBuffer: CMSampleBuffer) -> Bool {
    guard let writer else {
      lock.withLock { state.wasRefused = true }
      return false
    }
    do {
      let start = try writer.sessionStartForAppending(self)
      try append(sampleBuffer, to: writer, shiftedBy: start)
    } catch {
      // Before the writer fails, which would call the block that this is perhaps called from.
      lock.withLock { state.wasRefused = true }
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
    let shown = CMSampleBufferGetPresentationTimeStamp(buffer)
    let duration = CMSampleBufferGetDuration(buffer)
    let until = (duration.isNumeric ? shown + duration : shown) - start
    if until.isNumeric { writer.advance(self, to: until) }
    lock.withLock { state.appendCount += 1 }
  }

  /// No more samples will come. What the encoder holds is written in the background.
  open func markAsFinished() {
    let last = lock.withLock {
      defer { beforeFinish = nil }
      return beforeFinish
    }
    last?()
    // Who finds the input finished finds its work announced: the file is not completed before that is done.
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

  /// What is wrong with the settings, if anything is.
  var settingsError: AVError? {
    do {
      switch mediaType {
      case .video:
        if let outputSettings { _ = try VideoEncodingSettings(outputSettings, hint: sourceFormatHint) }
      case .audio: if let outputSettings { _ = try SoundEncodingSettings(outputSettings) }
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

  /// What the encoder says against the settings, if anything.
  var encoderError: AVError? {
    guard let outputSettings else { return nil }
    if mediaType == .video {
      return (try? VideoEncodingSettings(outputSettings, hint: sourceFormatHint))?.encoderError
    }
    return (try? SoundEncodingSettings(outputSettings))?.encoderError
  }

  /// Gets ready for samples.
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
        // Who cannot wait cannot come again; and passes are about how the bits of a rate are shared out.
        var passes: EncodingPasses?
        if let rate = settings.averageRate, properties.allowsPasses, !properties.expectsRealTime,
          !writer.isForSegments
        {
          passes = try EncodingPasses(in: writer.directoryForTemporaryFiles, rate: rate)
        }
        encoder = try PictureEncoder(
          settings, isRealTime: properties.expectsRealTime,
          sourceAttributes: lock.withLock { sourceAttributes }, keyFrameInterval: writer.keyFrameInterval,
          segmentStart: writer.segmentStart, passes: passes, output: output)
        (encoder as? PictureEncoder)?.whenDone { [weak self] in self?.wakeIfRealTime() }
      } else {
        encoder = SoundEncoder(try SoundEncodingSettings(outputSettings), output: output)
      }
    }
    // All text has one format.
    let hint =
      sourceFormatHint
      ?? (mediaType.isText
        ? try? CMFormatDescription(
          mediaType: .init(rawValue: mediaType.code), mediaSubType: .mobile3GPP) : nil)
    track.patience = properties.expectsRealTime ? CMTime(value: 2, timescale: 1) : TrackAssembly.usualPatience
    let storesSamples = outputSettings == nil
    track.describe = { [weak encoder] in storesSamples ? hint : encoder?.provisionalFormat(hint) }
    let pass = lock.withLock { () -> (queue: DispatchQueue, block: @Sendable () -> Void)? in
      state.track = track
      state.encoder = encoder
      state.pixelBufferPool = (encoder as? PictureEncoder)?.pixelBufferPool
      state.passDescription = AVAssetWriterInputPassDescription(
        ranges: [CMTimeRange(start: .zero, duration: .positiveInfinity)])
      return state.passRequest
    }
    if let pass { pass.queue.async(execute: pass.block) }
  }

  /// Appends what an adaptor has kept back, once, before the input is finished. Under the lock.
  var beforeFinish: (@Sendable () -> Void)?
  /// Pixel buffer attributes that an adaptor promises. Under the lock.
  var sourceAttributes: NSDictionary?

  // MARK: - Passes

  /// Whether the encoder may look at the samples more than once, which takes a source that can be read again. It does if
  /// it is one that learns from a pass (all that are built in do), the settings have an average bit rate, and the source does not
  /// come in real time. Set it before `AVAssetWriter.startWriting()`.
  open var performsMultiPassEncodingIfSupported: Bool {
    get { lock.withLock { properties.allowsPasses } }
    set { lock.withLock { properties.allowsPasses = newValue } }
  }
  /// Whether more than one pass may follow; known from `AVAssetWriter.startWriting()` on.
  open var canPerformMultiplePasses: Bool { (encoder as? PictureEncoder)?.makesPasses ?? false }
  /// What is to be appended in the current pass, from `startWriting()` on; nil when no pass is under way. The first two are
  /// over everything; the package's own encoder may ask for further ones over parts, while they bring the rate nearer. What
  /// is appended beyond the parts changes nothing.
  open var currentPassDescription: AVAssetWriterInputPassDescription? {
    lock.withLock { state.passDescription }
  }

  /// Calls `block` at the start of each pass, and once more, without a pass description, at the end. Before
  /// `startWriting()` it is not called.
  @preconcurrency open func respondToEachPassDescription(
    on queue: DispatchQueue, using block: @escaping @Sendable () -> Void
  ) {
    let (isUnderWay, old) = lock.withLock {
      defer { state.passRequest = (queue, block) }
      return (state.passDescription != nil, state.passRequest)
    }
    withExtendedLifetime(old) {}
    if isUnderWay { queue.async(execute: block) }
  }

  /// Ends a pass. The block of `respondToEachPassDescription` is called again, with what to append in the next pass, or
  /// after the last one without a description, when `markAsFinished()` is to follow. What `requestMediaDataWhenReady` was
  /// given is not called any more.
  open func markCurrentPassAsFinished() {
    // Ended before, or not begun.
    guard lock.withLock({ state.passDescription != nil && !state.isFinished }) else { return }
    var next: AVAssetWriterInputPassDescription?
    if let writer, let encoder = encoder as? PictureEncoder, encoder.makesPasses {
      do {
        let start = writer.sessionStart
        next = try encoder.endPass().map { ranges in
          AVAssetWriterInputPassDescription(
            ranges: ranges.map { range in
              // Decode times begin before the first picture; the source does not.
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

/// What an encoding pass wants.
open class AVAssetWriterInputPassDescription: NSObject, @unchecked Sendable {
  // Sendable: immutable.
  /// `NSValue`s of `CMTimeRange`, in order and apart.
  public let sourceTimeRanges: [NSValue]

  init(ranges: [CMTimeRange]) {
    sourceTimeRanges = ranges.map { NSValue(timeRange: $0) }
    super.init()
  }
}

extension CGAffineTransform {
  /// The nine numbers of a track header: 16.16, the last column 2.30.
  var movieMatrix: [Int32] {
    func fixed(_ value: CGFloat) -> Int32 {
      Int32(max(-32768, min(32767.99, Double(value))) * 65536)
    }
    return [fixed(a), fixed(b), 0, fixed(c), fixed(d), 0, fixed(tx), fixed(ty), 1 << 30]
  }
}
