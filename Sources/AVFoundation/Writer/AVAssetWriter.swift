// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation
import UniformTypeIdentifiers

/// Writes samples into a movie file.
///
/// Add inputs, call `startWriting()` and `startSession(atSourceTime:)`, append to the inputs, then `finishWriting`.
/// The file gets its name when it is complete: until then, after a failure and after `cancelWriting()` there is none.
/// (A movie in fragments, see `movieFragmentInterval`, is playable at any time and therefore there from the start.)
open class AVAssetWriter: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  public enum Status: Int, Sendable {
    case unknown = 0
    case writing = 1
    case completed = 2
    case failed = 3
    case cancelled = 4
  }

  /// Where the movie is written; for segments, nowhere.
  public let outputURL: URL
  public let outputFileType: AVFileType
  let container: MuxerContainer
  let isForSegments: Bool

  let lock = Lock()
  private var currentStatus = Status.unknown
  private var currentError: AVError?
  private var currentInputs: [AVAssetWriterInput] = []
  private var session: (start: CMTime?, end: CMTime?) = (nil, nil)
  private var currentAssembly: MovieAssembly?
  private var isStarting = false
  /// Who is told that the writing has ended; nil: nobody has called `finishWriting` yet, or it is over.
  private var finishers: [@Sendable () -> Void]?
  /// The file is being completed and named: neither a failure nor cancelling changes what becomes of it.
  private var isNaming = false
  private var positions: [ObjectIdentifier: CMTime] = [:]
  /// What finished inputs still do in the background.
  private let finishing = DispatchGroup()
  private let queue = DispatchQueue(label: "AVFoundation.writer", attributes: .concurrent)
  var properties = Properties()

  struct Properties {
    var optimizes = false
    var movieTimeScale: CMTimeScale = 0
    var metadata: [AVMetadataItem] = []
    /// What of it a movie cannot hold is left out: it is another movie's, not the program's.
    var leavesOutMetadata = false
    var fragmentInterval = CMTime.invalid
    /// Of the first fragment; invalid: as the others.
    var firstFragmentInterval = CMTime.invalid
    var makesCombinableFragments = false
    var firstFragment = 1
    var segmentInterval = CMTime.invalid
    /// What HTTP live streaming's authors are told to use, where nothing is asked for.
    var usedSegmentInterval: CMTime {
      let isUsable = segmentInterval.isNumeric ? segmentInterval > .zero : segmentInterval.isIndefinite
      return isUsable ? segmentInterval : CMTime(value: 6, timescale: 1)
    }
    var segmentStart = CMTime.invalid
    var profile: AVFileTypeProfile?
    weak var delegate: (any AVAssetWriterDelegate)?
    var groups: [AVAssetWriterInputGroup] = []
    var temporaryDirectory: URL?
    var durationHint = CMTime.invalid
  }

  // MARK: - Creation

  /// - Parameters:
  ///   - outputURL: A file that does not exist, in a folder that does.
  ///   - outputFileType: `.mov`, `.mp4`, `.m4v`, `.m4a`, `.mobile3GPP` or `.mobile3GPP2`.
  /// - Throws: `AVError` for another file type or for a URL that is no file.
  public init(url outputURL: URL, fileType outputFileType: AVFileType) throws {
    guard outputURL.isFileURL else {
      throw AVError(
        .formatUnsupported, reason: "\(outputURL.absoluteString) is no file URL.",
        advice: "Use URL(fileURLWithPath:).")
    }
    container = try Self.container(outputFileType)
    self.outputURL = outputURL
    self.outputFileType = outputFileType
    isForSegments = false
    super.init()
  }

  public convenience init(outputURL: URL, fileType outputFileType: AVFileType) throws {
    try self.init(url: outputURL, fileType: outputFileType)
  }

  /// A writer of segments for the delegate: set `outputFileTypeProfile`, `preferredOutputSegmentInterval` and
  /// `initialSegmentStartTime` as well.
  public init(contentType outputContentType: UTType) {
    let type = AVFileType(rawValue: outputContentType.identifier)
    container = (try? Self.container(type)) ?? .mp4
    outputURL = URL(fileURLWithPath: "/dev/null")
    outputFileType = type
    isForSegments = true
    super.init()
    if (try? Self.container(type)) == nil {
      currentStatus = .failed
      currentError = AVError(
        .formatUnsupported, reason: "\(type.rawValue) cannot be written in segments.", advice: "Use MPEG-4.")
    }
  }

  private static func container(_ type: AVFileType) throws -> MuxerContainer {
    switch type {
    case .mov: return .mov
    case .mp4: return .mp4
    case .m4v: return .m4v
    case .m4a: return .m4a
    case .mobile3GPP: return .mobile3GPP
    case .mobile3GPP2: return .mobile3GPP2
    default:
      throw AVError(
        .formatUnsupported, reason: "Files of type \(type.rawValue) cannot be written.",
        advice: "Use .mov, .mp4, .m4v or .m4a.", info: [AVErrorFileTypeKey: type.rawValue])
    }
  }

  // MARK: - State

  open var status: Status { lock.withLock { currentStatus } }
  /// Why the writing failed.
  open var error: Error? { lock.withLock { currentError } }
  open var inputs: [AVAssetWriterInput] { lock.withLock { currentInputs } }
  var assembly: MovieAssembly? { lock.withLock { currentAssembly } }

  /// The kinds of media that the file type holds.
  open var availableMediaTypes: [AVMediaType] {
    switch container {
    case .m4a: [.audio]
    case .mov, .mp4, .m4v: [.video, .audio, .text, .subtitle, .metadata]
    default: [.video, .audio]
    }
  }

  /// Whether samples can be encoded with these settings: the encoder is asked. Nil, to store them as they are, always
  /// can. Settings for video without a size can be applied by an input whose source format hint has one.
  @discardableResult
  open func canApply(outputSettings: [String: Any]?, forMediaType mediaType: AVMediaType) -> Bool {
    guard availableMediaTypes.contains(mediaType) else { return false }
    let input = AVAssetWriterInput(mediaType: mediaType, outputSettings: outputSettings)
    guard let outputSettings, mediaType == .video, !VideoEncodingSettings.haveSize(outputSettings) else {
      return input.settingsError == nil && input.encoderError == nil
    }
    // They are for an input whose source format hint has the size: any that encoders take stands for it.
    let sized = outputSettings.merging([AVVideoWidthKey: 1280, AVVideoHeightKey: 720]) { $1 }
    let typical = AVAssetWriterInput(mediaType: mediaType, outputSettings: sized)
    return typical.settingsError == nil && typical.encoderError == nil
  }

  // MARK: - Inputs

  @discardableResult
  open func canAdd(_ input: AVAssetWriterInput) -> Bool {
    status == .unknown && availableMediaTypes.contains(input.mediaType) && input.writer == nil
      && input.settingsError == nil
  }

  /// Adds an input. One that cannot be added makes the writer fail.
  open func add(_ input: AVAssetWriterInput) {
    guard canAdd(input) else {
      // It belongs to no other writer: who waits for it learns that this one has failed.
      if status == .unknown, input.writer == nil { input.attach(to: self) }
      fail(
        input.settingsError
          ?? AVError(
            .operationNotAllowed, reason: "The input cannot be added to this writer.",
            advice: "Add each input once, before startWriting(), of a kind that the file type holds."))
      return
    }
    lock.withLock { currentInputs.append(input) }
    input.attach(to: self)
  }

  // MARK: - Writing

  /// Begins: reserves the file and sets up the encoders.
  /// - Returns: False, with `error` set, if the file exists, its folder does not or cannot be written to, or an encoder
  ///   does not take its settings.
  @discardableResult
  open func startWriting() -> Bool {
    let starts = lock.withLock {
      guard currentStatus == .unknown, !isStarting else { return false }
      isStarting = true
      return true
    }
    guard starts else { return false }
    let inputs = inputs
    do {
      guard !inputs.isEmpty else {
        throw AVError(
          .incorrectlyConfigured, reason: "The writer has no input.", advice: "Add an input first.")
      }
      let plan = try makePlan()
      try checkText(plan)
      let file =
        isForSegments
        ? nil : try MuxerFile(finalPath: outputURL.path, visible: plan.options.isFragmented)
      let assembly = MovieAssembly(plan: plan, file: file) { [weak self] segment in self?.deliver(segment) }
      do {
        for input in inputs { try input.start(in: assembly, writer: self) }
      } catch {
        assembly.abandon()
        throw error
      }
      let goes = lock.withLock {
        guard currentStatus == .unknown else { return false }
        currentAssembly = assembly
        currentStatus = .writing
        return true
      }
      guard goes else {
        // It was cancelled while it began.
        assembly.abandon()
        releaseEncoders()
        return false
      }
    } catch {
      fail(AVError.writing(error))
      return false
    }
    wakeInputs()
    return true
  }

  /// Now, in UTC, as ISO 8601 writes it. Foundation's formatters would load the tables of all languages.
  private static func presentTime() -> String {
    var now = time(nil)
    var parts = tm()
    gmtime_r(&now, &parts)
    func digits(_ number: Int32, _ count: Int = 2) -> String {
      let text = String(number)
      return String(repeating: "0", count: max(count - text.count, 0)) + text
    }
    return "\(digits(parts.tm_year + 1900, 4))-\(digits(parts.tm_mon + 1))-\(digits(parts.tm_mday))"
      + "T\(digits(parts.tm_hour)):\(digits(parts.tm_min)):\(digits(parts.tm_sec))Z"
  }

  private func makePlan() throws -> MovieAssembly.Plan {
    let properties = lock.withLock { self.properties }
    var options = Muxer.Options()
    options.fastStart = properties.optimizes
    options.movieTimeScale = properties.movieTimeScale
    let metadata = try MetadataCoding.stored(
      properties.metadata, inQuickTime: container == .mov, leavesOut: properties.leavesOutMetadata)
    options.metadata = metadata.entries
    options.items = metadata.items
    if options.metadata["creation_time"] == nil {
      options.metadata["creation_time"] = Self.presentTime()
    }
    if properties.durationHint.isNumeric, properties.durationHint > .zero {
      options.durationHint = properties.durationHint.seconds
    }
    try checkTemporaryDirectory(properties.temporaryDirectory)
    options.firstFragment = Int32(clamping: properties.firstFragment)
    var plan = MovieAssembly.Plan(container: container, options: options)
    if isForSegments {
      guard properties.profile != nil, properties.delegate != nil else {
        throw AVError(
          .incorrectlyConfigured, reason: "A writer of segments needs a profile and a delegate.",
          advice: "Set outputFileTypeProfile and delegate.")
      }
      plan.isSegmented = true
      plan.cutInterval = properties.usedSegmentInterval
      plan.firstSegmentStart = properties.segmentStart
    } else if properties.fragmentInterval.isNumeric, properties.fragmentInterval > .zero {
      plan.options.isFragmented = true
      plan.cutInterval = properties.fragmentInterval
      let first = properties.firstFragmentInterval
      plan.firstInterval = first.isNumeric && first > .zero ? first : properties.fragmentInterval
      plan.keepsSourceTimes = properties.makesCombinableFragments
    }
    return plan
  }

  /// Begins the movie's time line: the source time that is shown first. Samples before it are decoded, not shown.
  open func startSession(atSourceTime startTime: CMTime) {
    let begins = lock.withLock {
      guard currentStatus == .writing, startTime.isNumeric, session.start == nil else { return false }
      session.start = startTime
      return true
    }
    guard begins else {
      if status == .writing || status == .unknown {
        fail(
          AVError(
            .operationNotAllowed, reason: "The session cannot start now or at this time.",
            advice: "Call startWriting(), then startSession(atSourceTime:) once, with a numeric time."))
      }
      return
    }
    assembly?.begin(at: startTime)
    wakeInputs()
  }

  /// Ends the time line: the movie stops at this source time, whatever has been appended.
  open func endSession(atSourceTime endTime: CMTime) {
    let start = lock.withLock { session.start }
    guard status == .writing, let start, endTime.isNumeric, endTime >= start else {
      if status == .writing {
        fail(AVError(.operationNotAllowed, reason: "The session cannot end now or at this time."))
      }
      return
    }
    lock.withLock { session.end = endTime }
  }

  /// Gives up. Nothing is left of the file, unless it was complete before: then `status` is `.completed`.
  open func cancelWriting() {
    while true {
      let (wasActive, assembly) = lock.withLock { () -> (Bool, MovieAssembly?) in
        guard currentStatus == .unknown || currentStatus == .writing else { return (false, nil) }
        if isNaming { return (false, currentAssembly) }
        currentStatus = .cancelled
        return (true, nil)
      }
      if wasActive { tearDown(keepsFragments: false) }
      guard let assembly else { return }
      assembly.waitForClosing()
    }
  }

  /// Completes the file; `handler` is called afterwards, on any thread. See `status`. Called again meanwhile it waits for
  /// the same end.
  @preconcurrency open func finishWriting(completionHandler handler: @escaping @Sendable () -> Void) {
    let (status, isFirst) = lock.withLock { () -> (Status, Bool) in
      if finishers != nil {
        finishers?.append(handler)
        return (.writing, false)
      }
      if currentStatus == .writing { finishers = [handler] }
      return (currentStatus, true)
    }
    guard status == .writing else {
      if status == .unknown {
        fail(AVError(.operationNotAllowed, reason: "finishWriting was called before startWriting()."))
      }
      queue.async(execute: handler)
      return
    }
    guard isFirst else { return }
    for input in inputs { input.markAsFinished() }
    finishing.notify(queue: queue) { [self] in
      complete()
      let handlers = lock.withLock {
        defer { finishers = nil }
        return finishers ?? []
      }
      for handler in handlers { handler() }
    }
  }

  /// Completes the file. See `status`.
  open func finishWriting() async {
    await withCheckedContinuation { continuation in
      finishWriting { continuation.resume() }
    }
  }

  private func complete() {
    guard status == .writing, let assembly else { return }
    let session = lock.withLock { self.session }
    do {
      let ends = session.start.flatMap { start in session.end.map { $0 - start } }
      try assembly.close(ends: ends) { name in try completeFile(name) }
      // Segments have no file.
      lock.withLock { if currentStatus == .writing { currentStatus = .completed } }
    } catch { fail(AVError.writing(error)) }
    releaseEncoders()
  }

  /// Gives the file its name and the writer its status, unless the writing has been given up: one or the other.
  private func completeFile(_ name: () throws -> Void) throws {
    let goes = lock.withLock {
      isNaming = currentStatus == .writing
      return isNaming
    }
    guard goes else { throw AVError(.operationCancelled) }
    do {
      try name()
    } catch {
      lock.withLock { isNaming = false }
      throw error
    }
    lock.withLock {
      isNaming = false
      currentStatus = .completed
    }
  }

  // MARK: - For the inputs

  func fail(_ error: AVError) {
    let isFirst = lock.withLock {
      guard currentStatus == .unknown || currentStatus == .writing, !isNaming else { return false }
      currentStatus = .failed
      currentError = error
      return true
    }
    if isFirst { tearDown(keepsFragments: true) }
  }

  private func tearDown(keepsFragments: Bool) {
    let assembly = lock.withLock {
      defer { currentAssembly = nil }
      return currentAssembly
    }
    // The encoder's own thread may be the one that failed: it must not wait for itself.
    assembly?.abandon(keeps: keepsFragments)
    releaseEncoders()
  }

  private func releaseEncoders() {
    for input in inputs {
      let encoder = input.lock.withLock {
        defer { input.state.encoder = nil }
        return input.state.encoder
      }
      if let encoder { queue.async { encoder.invalidate() } }
      input.writerEnded()
    }
  }

  /// The source time of the movie's beginning.
  func sessionStartForAppending(_ input: AVAssetWriterInput) throws -> CMTime {
    let (status, session, error) = lock.withLock { (currentStatus, self.session, currentError) }
    guard status == .writing else {
      throw error
        ?? AVError(.operationNotAllowed, reason: "A sample was appended while the writer was not writing.")
    }
    guard let start = session.start else {
      throw AVError(
        .operationNotAllowed, reason: "A sample was appended before startSession(atSourceTime:).",
        advice: "Start a session first, usually at the first sample's presentation time.")
    }
    guard session.end == nil else {
      throw AVError(.operationNotAllowed, reason: "A sample was appended after endSession(atSourceTime:).")
    }
    return start
  }

  /// What an input still does is waited for from here on. Takes no lock: the input has its own.
  func inputWillFinish() { finishing.enter() }

  /// Does it, once `inputWillFinish` was called.
  func inputFinished(_ input: AVAssetWriterInput) {
    guard let assembly, let track = input.track, status == .writing else { return finishing.leave() }
    if let encoder = input.encoder {
      queue.async { [self] in
        defer { finishing.leave() }
        do {
          try encoder.complete()
          try assembly.finish(track)
        } catch { fail(AVError.writing(error)) }
      }
    } else {
      defer { finishing.leave() }
      do { try assembly.finish(track) } catch { fail(AVError.writing(error)) }
    }
    wakeInputs()
  }

  /// An input has taken samples up to a time on the movie's time line.
  func advance(_ input: AVAssetWriterInput, to time: CMTime) {
    lock.withLock {
      let id = ObjectIdentifier(input)
      positions[id] = max(positions[id] ?? time, time)
    }
    wakeInputs(except: input)
  }

  /// How far a track may run ahead of the others.
  private static let lead = CMTime(value: 1, timescale: 1)

  func isAhead(_ input: AVAssetWriterInput) -> Bool {
    // The positions stay under the lock: a copy would make the next change of them copy all.
    let behind = lock.withLock { () -> [AVAssetWriterInput] in
      guard let own = positions[ObjectIdentifier(input)] else { return [] }
      return currentInputs.filter { other in
        // Text comes when there is something to be read, metadata when there is something to say: nobody waits for it.
        other !== input && !other.mediaType.isSparse
          && (positions[ObjectIdentifier(other)] ?? .zero) + Self.lead < own
      }
    }
    return behind.contains { !$0.isFinished }
  }

  private func wakeInputs(except input: AVAssetWriterInput? = nil) {
    for other in inputs where other !== input { other.wake() }
  }

  /// Fragments are written before it is known how long a text is shown.
  private func checkText(_ plan: MovieAssembly.Plan) throws {
    guard plan.isSegmented || plan.options.isFragmented, inputs.contains(where: { $0.mediaType.isText })
    else {
      return
    }
    throw AVError(
      .incorrectlyConfigured, reason: "Text cannot be written into a movie in fragments or segments.",
      advice: "Leave movieFragmentInterval alone, or the text out.")
  }

  /// Where encoders have to put key frames, so that segments can begin there.
  var keyFrameInterval: CMTime {
    isForSegments ? lock.withLock { properties.usedSegmentInterval } : .invalid
  }
  /// The source time from which those are counted; invalid: the session's start.
  var segmentStart: CMTime { lock.withLock { properties.segmentStart } }

  var sessionStart: CMTime { lock.withLock { session.start ?? .zero } }
}
