// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation
import UniformTypeIdentifiers

/// Writes samples into a movie file.
///
/// Add inputs, call `startWriting()` and `startSession(atSourceTime:)`, append samples to the
/// inputs, and call `finishWriting`. The file gets its name when it is complete. Before that, and
/// after a failure or `cancelWriting()`, there is no file of that name. A movie in fragments (see
/// `movieFragmentInterval`) is the exception: it can be played at any time, and has its name from
/// the start.
open class AVAssetWriter: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  public enum Status: Int, Sendable {
    case unknown = 0
    case writing = 1
    case completed = 2
    case failed = 3
    case cancelled = 4
  }

  /// The URL of the movie. A writer of segments has no file; its URL is `/dev/null`.
  public let outputURL: URL
  public let outputFileType: AVFileType
  let container: MuxerContainer
  let isForSegments: Bool

  let lock = Lock()
  var currentStatus = Status.unknown
  var currentError: AVError?
  var currentInputs: [AVAssetWriterInput] = []
  var session: (start: CMTime?, end: CMTime?) = (nil, nil)
  var currentAssembly: MovieAssembly?
  var isStarting = false
  /// Handlers to call when the writing has ended; nil before the first call of `finishWriting` and
  /// after the handlers have been called.
  var finishers: [@Sendable () -> Void]?
  /// Whether the file is being completed and named. Meanwhile neither a failure nor
  /// `cancelWriting()` changes the result.
  var isNaming = false
  /// How far each input's samples reach, on the movie's time line.
  var positions: [ObjectIdentifier: CMTime] = [:]
  /// Entered for each input that is marked as finished, until its encoder and its track are
  /// complete.
  let finishing = DispatchGroup()
  let queue = DispatchQueue(label: "AVFoundation.writer", attributes: .concurrent)
  var properties = Properties()

  struct Properties {
    var optimizes = false
    var movieTimeScale: CMTimeScale = 0
    var metadata: [AVMetadataItem] = []
    /// Whether items that the file type cannot hold are left out, rather than failing. Set where
    /// the items come from another movie and not from the program.
    var leavesOutMetadata = false
    var fragmentInterval = CMTime.invalid
    /// Duration of the first fragment; invalid if it is that of the other fragments.
    var firstFragmentInterval = CMTime.invalid
    var makesCombinableFragments = false
    var firstFragment = 1
    var segmentInterval = CMTime.invalid
    /// The interval that is used: six seconds where the program sets none, as Apple's HLS authoring
    /// specification recommends.
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

  /// Creates a writer of a movie file.
  /// - Parameters:
  ///   - outputURL: The URL of a file that does not exist, in an existing folder.
  ///   - outputFileType: `.mov`, `.mp4`, `.m4v`, `.m4a`, `.mobile3GPP` or `.mobile3GPP2`.
  /// - Throws: `AVError(.formatUnsupported)` for another file type or for a URL that is not a file
  ///   URL.
  public init(url outputURL: URL, fileType outputFileType: AVFileType) throws {
    guard outputURL.isFileURL else {
      throw AVError(
        .formatUnsupported, reason: "\(outputURL.absoluteString) is not a file URL.",
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

  /// Creates a writer that passes segments to its delegate. Such a writer needs an
  /// `outputFileTypeProfile` and a `delegate`, and can have a `preferredOutputSegmentInterval` and
  /// an `initialSegmentStartTime`.
  /// - Parameter outputContentType: The type of the file that the segments form. With a type that
  ///   cannot be written the status is `.failed`.
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

  static func container(_ type: AVFileType) throws -> MuxerContainer {
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
  /// The error that made the writing fail, or nil.
  open var error: Error? { lock.withLock { currentError } }
  open var inputs: [AVAssetWriterInput] { lock.withLock { currentInputs } }
  var assembly: MovieAssembly? { lock.withLock { currentAssembly } }

  /// The media types that the file type can hold.
  open var availableMediaTypes: [AVMediaType] {
    switch container {
    case .m4a: [.audio]
    case .mov, .mp4, .m4v: [.video, .audio, .text, .subtitle, .metadata]
    default: [.video, .audio]
    }
  }

  /// Whether an input with these settings can be added. The encoder is asked whether it takes them.
  /// - Parameters:
  ///   - outputSettings: The settings of an input, or nil to store samples unchanged, which is
  ///     always possible. Video settings without a size are accepted, since an input takes the size
  ///     from its source format hint.
  ///   - mediaType: The media type of the input.
  /// - Returns: False if the file type does not hold the media type, or no encoder takes the
  ///   settings.
  @discardableResult
  open func canApply(outputSettings: [String: Any]?, forMediaType mediaType: AVMediaType) -> Bool {
    guard availableMediaTypes.contains(mediaType) else { return false }
    let input = AVAssetWriterInput(mediaType: mediaType, outputSettings: outputSettings)
    guard let outputSettings, mediaType == .video, !VideoEncodingSettings.haveSize(outputSettings) else {
      return input.settingsError == nil && input.encoderError == nil
    }
    // The size is to come from the input's source format hint. Test the settings with a usual size.
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

  /// Adds an input. Adding an input that cannot be added makes the writer fail.
  open func add(_ input: AVAssetWriterInput) {
    guard canAdd(input) else {
      // The input belongs to no other writer. Attaching it lets code that waits for its readiness
      // see that this writer has failed.
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

  /// Reserves the output file and sets up the encoders.
  /// - Returns: False, with `error` set, if the file exists, its folder does not exist or cannot be
  ///   written to, or an encoder does not take its settings.
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
        // `cancelWriting()` was called meanwhile.
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

  /// The present time in UTC, in ISO 8601 format. Foundation's formatters are avoided because they
  /// load the locale data of all languages.
  static func presentTime() -> String {
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

  func makePlan() throws -> MovieAssembly.Plan {
    let properties = lock.withLock { self.properties }
    var options = Muxer.Options()
    options.fastStart = properties.optimizes
    options.movieTimeScale = properties.movieTimeScale
    let metadata = try MetadataCoding.stored(
      properties.metadata, inQuickTime: container == .mov, shouldDrop: properties.leavesOutMetadata)
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

  /// Starts the movie's time line. The given source time becomes the movie's zero. Samples before
  /// it are decoded but not shown.
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

  /// Ends the time line. The movie stops at the given source time, even if later samples have been
  /// appended, and the last picture is presented until then.
  ///
  /// A picture lasts at most 2,147,483,647 units of its track's time scale, which are 59 hours at
  /// 10,000 units a second.
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

  /// Cancels the writing and removes what has been written. If the file is being completed at the
  /// moment, waits for that; `status` is then `.completed` if it succeeded.
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

  /// Completes the file, and then calls `handler` on any thread. `status` tells whether it
  /// succeeded. If called again before the file is complete, all handlers are called when it is.
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

  /// Completes the file. `status` tells whether it succeeded.
  open func finishWriting() async {
    await withCheckedContinuation { continuation in
      finishWriting { continuation.resume() }
    }
  }

  func complete() {
    guard status == .writing, let assembly else { return }
    let session = lock.withLock { self.session }
    do {
      let ends = session.start.flatMap { start in session.end.map { $0 - start } }
      try assembly.close(ends: ends) { name in try completeFile(name) }
      // Where there is a file, `completeFile` has set the status. Segments have no file.
      lock.withLock { if currentStatus == .writing { currentStatus = .completed } }
    } catch { fail(AVError.writing(error)) }
    releaseEncoders()
  }

  /// Names the file and sets the status in one step with respect to failures and cancelling: either
  /// both happen, or, if the writing has failed or been cancelled, neither does.
  /// - Throws: `AVError(.operationCancelled)` if the writing has ended before; errors of `name`.
  func completeFile(_ name: () throws -> Void) throws {
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
}
