// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Exports an asset to a movie file, for example with another size or codec, in another container,
/// or only a part of it.
///
/// The HEVC presets keep ten bits per sample and a high dynamic range. The H.264 presets write
/// eight bits and tone-map a high dynamic range (PQ or HLG) to ITU-R BT.709.
open class AVAssetExportSession: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  public enum Status: Int, Sendable {
    case unknown = 0
    case waiting = 1
    case exporting = 2
    case completed = 3
    case failed = 4
    case cancelled = 5
  }

  public let asset: AVAsset
  public let presetName: String
  let preset: ExportPreset
  private let lock = Lock()
  private var currentStatus = Status.unknown
  private var currentError: AVError?
  private var job: ExportJob?
  private var isCancelling = false
  private var settings = Settings()
  /// The settings at the time at which the export began.
  private var settingsInForce = Settings()

  struct Settings {
    var url: URL?
    var type: AVFileType?
    var optimizes = false
    var range = CMTimeRange(start: .zero, duration: .positiveInfinity)
    var limit: Int64 = 0
    var metadata: [AVMetadataItem]?
    var mix: AVAudioMix?
    var pitch = AVAudioTimePitchAlgorithm.spectral
    var composition: AVVideoComposition?
    var compositor: (any AVVideoCompositing)?
    var temporaryDirectory: URL?
    var allowsPasses = false
    var toleratesDamage = false
    var filter: AVMetadataItemFilter?
    /// Nil if the program has not set it.
    var trackGroups: AVAssetTrackGroupOutputHandling?
    var isParallel = true
  }

  /// Creates a session.
  /// - Parameters:
  ///   - asset: The asset to export.
  ///   - presetName: The name of a preset.
  /// - Returns: Nil if the preset is unknown or there is no encoder for it.
  public init?(asset: AVAsset, presetName: String) {
    guard let preset = ExportPreset.named(presetName) else { return nil }
    self.asset = asset
    self.presetName = presetName
    self.preset = preset
    super.init()
  }

  // MARK: - Settings, which have an effect only before the export

  /// The URL of the movie. The file must not exist.
  open var outputURL: URL? {
    get { lock.withLock { settings.url } }
    set { lock.withLock { settings.url = newValue } }
  }
  /// The type of the file. Nil means the type that the path extension of `outputURL` denotes,
  /// if the preset supports it.
  open var outputFileType: AVFileType? {
    get { lock.withLock { settings.type } }
    set { lock.withLock { settings.type = newValue } }
  }
  /// Whether the index is written at the front of the file.
  open var shouldOptimizeForNetworkUse: Bool {
    get { lock.withLock { settings.optimizes } }
    set { lock.withLock { settings.optimizes = newValue } }
  }
  /// The part of the asset to export.
  open var timeRange: CMTimeRange {
    get { lock.withLock { settings.range } }
    set { lock.withLock { settings.range = newValue } }
  }
  /// The limit of the file's size in bytes, or 0 for no limit. The export uses a lower bit rate to
  /// meet the limit or, if samples are copied, shortens the movie.
  open var fileLengthLimit: Int64 {
    get { lock.withLock { settings.limit } }
    set { lock.withLock { settings.limit = max(0, newValue) } }
  }
  /// Whether the export may read the asset several times, for better quality at the same size.
  ///
  /// If the encoder supports several passes, as all built-in encoders do, there are two passes over
  /// the whole source. The package's own encoder makes further passes over parts of it if the
  /// average bit rate is still missed. `progress` covers all passes.
  open var canPerformMultiplePassesOverSourceMediaData: Bool {
    get { lock.withLock { settings.allowsPasses } }
    set { lock.withLock { settings.allowsPasses = newValue } }
  }
  /// See `AVAssetWriter.directoryForTemporaryFiles`.
  open var directoryForTemporaryFiles: URL? {
    get { lock.withLock { settings.temporaryDirectory } }
    set { lock.withLock { settings.temporaryDirectory = newValue } }
  }
  /// The metadata of the movie, or nil for the asset's own metadata.
  open var metadata: [AVMetadataItem]? {
    get { lock.withLock { settings.metadata } }
    set { lock.withLock { settings.metadata = newValue } }
  }

  /// A filter for the asset's own metadata, or nil for all of it. Metadata that is set with
  /// `metadata` is not filtered.
  open var metadataItemFilter: AVMetadataItemFilter? {
    get { lock.withLock { settings.filter } }
    set { lock.withLock { settings.filter = newValue } }
  }

  /// How audio tracks that are alternatives, such as languages, are exported (an alternate group;
  /// ISO/IEC 14496-12, clause 8.3.2).
  ///
  /// `.preserveAlternateTracks` is the default and writes all tracks, which differs from the
  /// default of Apple's session. `.defaultPolicy` writes the enabled track of a group. An audio mix
  /// makes a single track; setting `.preserveAlternateTracks` explicitly together with a mix makes
  /// the export fail with `AVError.incorrectlyConfigured`.
  open var audioTrackGroupHandling: AVAssetTrackGroupOutputHandling {
    get { lock.withLock { settings.trackGroups ?? .preserveAlternateTracks } }
    set { lock.withLock { settings.trackGroups = newValue } }
  }

  /// Whether pictures, and parts of them, may be decoded and encoded at the same time, by as many
  /// threads as the machine has processors; true by default. With false the decoder and the encoder
  /// have one thread each. The session encodes the movie from its beginning to its end in either
  /// case: where the encoder is the package's own, the result is the same.
  open var allowsParallelizedExport: Bool {
    get { lock.withLock { settings.isParallel } }
    set { lock.withLock { settings.isParallel = newValue } }
  }

  /// How the asset's audio tracks are mixed into one track, which is encoded. With a preset that
  /// copies samples the export fails.
  open var audioMix: AVAudioMix? {
    get { lock.withLock { settings.mix } }
    set { lock.withLock { settings.mix = newValue.flatMap { $0.copy() as? AVAudioMix } } }
  }
  /// The algorithm for audio that is played at another speed; see
  /// `AVAssetReaderTrackOutput.audioTimePitchAlgorithm`. With an unknown algorithm the export
  /// fails.
  open var audioTimePitchAlgorithm: AVAudioTimePitchAlgorithm {
    get { lock.withLock { settings.pitch } }
    set { lock.withLock { settings.pitch = newValue } }
  }
  /// How the asset's video tracks are composed into one track. With a preset that copies samples
  /// the export fails.
  open var videoComposition: AVVideoComposition? {
    get { lock.withLock { settings.composition } }
    set {
      let copy = newValue.flatMap { $0.copy() as? AVVideoComposition }
      let compositor = copy?.makeCompositor()
      let old = lock.withLock {
        defer { (settings.composition, settings.compositor) = (copy, compositor) }
        return (settings.composition, settings.compositor)
      }
      // The program's objects are released outside of the lock, since their deinitialization may
      // call this session.
      withExtendedLifetime(old) {}
    }
  }
  /// The custom compositor of `videoComposition`; nil if the built-in compositor follows its layer
  /// instructions.
  open var customVideoCompositor: (any AVVideoCompositing)? { lock.withLock { settings.compositor } }

  /// Whether the export continues past pictures and audio that cannot be decoded. Such pictures are
  /// left out, such audio is replaced by silence, and the tracks end where the file cannot be read
  /// any further; `ovtDamage` reports what was damaged. Has no effect on the sources of a video
  /// composition. False by default. This property is an addition of this package.
  open var ovtToleratesDamage: Bool {
    get { lock.withLock { settings.toleratesDamage } }
    set { lock.withLock { settings.toleratesDamage = newValue } }
  }

  // MARK: - Progress

  open var status: Status { lock.withLock { currentStatus } }
  open var error: Error? { lock.withLock { currentError } }
  /// The progress of the export, from 0.0 to 1.0.
  open var progress: Float {
    let (status, job) = lock.withLock { (currentStatus, self.job) }
    return status == .completed ? 1 : job?.progress ?? 0
  }

  /// The damage in the part of the asset that has been read so far, of all its tracks together.
  /// This property is an addition of this package.
  ///
  /// Pictures that the decoder has concealed in part are in the movie. Audio packets that are
  /// copied are left out if they are found to be damaged. Data that cannot be decoded makes the
  /// export fail, unless `ovtToleratesDamage` is set. The data of copied video samples is not
  /// decoded, so damage in it is not found.
  open var ovtDamage: OVTReadingDamage { lock.withLock { job }?.damage ?? OVTReadingDamage() }

  /// The number of passes over the pictures that have ended, including those over parts; at least 1
  /// once the export is completed. This property is an addition of this package.
  open var ovtPassCount: Int {
    let (status, job) = lock.withLock { (currentStatus, self.job) }
    return max(job?.passCount ?? 0, status == .completed ? 1 : 0)
  }

  /// Exports the asset. A session exports only once: if the export has begun before, only `handler`
  /// is called. `status` tells the result.
  /// - Parameter handler: Called once on any thread, when the export has ended or cannot begin.
  @preconcurrency open func exportAsynchronously(completionHandler handler: @escaping @Sendable () -> Void) {
    begin(nil, handler)
  }

  /// Begins the export, unless it has begun before.
  /// - Parameters:
  ///   - file: The URL and type of the output, or nil for those of the settings.
  ///   - handler: Called when the export has ended, or soon if it had begun before.
  /// - Returns: Whether this call began the export.
  @discardableResult private func begin(
    _ file: (url: URL, type: AVFileType)? = nil, _ handler: @escaping @Sendable () -> Void
  ) -> Bool {
    let begun = lock.withLock { () -> Bool in
      guard currentStatus == .unknown else { return false }
      currentStatus = .waiting
      if let file { (settings.url, settings.type) = file }
      settingsInForce = settings
      return true
    }
    assetLoadingQueue.async { [self] in
      if begun { run() }
      handler()
    }
    return begun
  }

  /// Exports the asset. `status` tells the result.
  open func export() async {
    await withCheckedContinuation { continuation in
      exportAsynchronously { continuation.resume() }
    }
  }

  /// Exports the asset to a file. If the task is cancelled, the export is cancelled.
  /// - Parameters:
  ///   - url: The URL of the movie. The file must not exist.
  ///   - fileType: The type of the file.
  /// - Throws: `AVError`; `operationNotAllowed` if the session has begun an export before.
  open func export(to url: URL, as fileType: AVFileType) async throws {
    let call = Call()
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        call.hasBegun = begin((url, fileType)) { continuation.resume() }
        if call.endsExport { cancelExport() }
      }
    } onCancel: {
      call.isCancelled = true
      if call.endsExport { cancelExport() }
    }
    switch status {
    case .cancelled: throw AVError(.operationCancelled)
    case _ where !call.hasBegun: throw Self.repeated
    case .completed: return
    default: throw lock.withLock { currentError } ?? AVError(.exportFailed)
    }
  }

  /// The state of a call of `export(to:as:)`. Cancelling its task cancels the export only if the
  /// call began it.
  private final class Call: @unchecked Sendable {
    // Sendable: `lock` guards both.
    private let lock = Lock()
    private var state = (hasBegun: false, isCancelled: false)
    var hasBegun: Bool {
      get { lock.withLock { state.hasBegun } }
      set { lock.withLock { state.hasBegun = newValue } }
    }
    var isCancelled: Bool {
      get { lock.withLock { state.isCancelled } }
      set { lock.withLock { state.isCancelled = newValue } }
    }
    var endsExport: Bool { lock.withLock { state.hasBegun && state.isCancelled } }
  }

  private static var repeated: AVError {
    AVError(
      .operationNotAllowed, reason: "The session has exported, or is about to.",
      advice: "Make a session for each export.")
  }

  /// Cancels the export and removes the incomplete file. If the file is complete already, the
  /// export ends as `.completed`.
  open func cancelExport() {
    let job = lock.withLock { () -> ExportJob? in
      if currentStatus == .unknown || currentStatus == .waiting { currentStatus = .cancelled }
      guard currentStatus == .exporting else { return nil }
      isCancelling = true
      return self.job
    }
    // The writer decides whether it was cancelled or completed first.
    guard let job, job.cancel() else { return }
    lock.withLock { if currentStatus == .exporting { currentStatus = .cancelled } }
  }

  private func run() {
    do {
      // Moved out of the session, so that the program's objects in them are released when the job
      // has no more use for them.
      let settings = lock.withLock {
        defer { settingsInForce = Settings() }
        return settingsInForce
      }
      let job = try ExportJob(asset: asset, preset: preset, settings: settings)
      let goes = lock.withLock { () -> Bool in
        guard currentStatus == .waiting else { return false }
        currentStatus = .exporting
        self.job = job
        return true
      }
      if goes { try job.run() } else { _ = job.cancel() }
      lock.withLock { if currentStatus == .exporting { currentStatus = .completed } }
    } catch {
      lock.withLock {
        if isCancelling {
          currentStatus = .cancelled
        } else if currentStatus != .cancelled {
          currentStatus = .failed
          currentError = AVError.writing(error)
        }
      }
    }
  }

  // MARK: - Capabilities

  /// The presets that have an encoder.
  open class func allExportPresets() -> [String] { ExportPreset.available.map(\.name) }

  /// The available presets that produce a movie from an asset.
  open class func exportPresets(compatibleWith asset: AVAsset) -> [String] {
    ExportPreset.available.filter { ExportJob.serves($0, asset) }.map(\.name)
  }

  open class func determineCompatibility(
    ofExportPreset presetName: String, with asset: AVAsset, outputFileType: AVFileType?,
    completionHandler handler: @escaping @Sendable (Bool) -> Void
  ) {
    asset.prepared("tracks") {
      guard let preset = ExportPreset.named(presetName) else { return handler(false) }
      handler(
        ExportJob.serves(preset, asset)
          && outputFileType.map { preset.fileTypes(for: asset).contains($0) } ?? true)
    }
  }

  open class func compatibility(
    ofExportPreset presetName: String, with asset: AVAsset, outputFileType: AVFileType?
  ) async -> Bool {
    await withCheckedContinuation { continuation in
      determineCompatibility(ofExportPreset: presetName, with: asset, outputFileType: outputFileType) {
        continuation.resume(returning: $0)
      }
    }
  }

  open var supportedFileTypes: [AVFileType] { preset.fileTypes(for: asset) }

  @preconcurrency open func determineCompatibleFileTypes(
    completionHandler handler: @escaping @Sendable ([AVFileType]) -> Void
  ) {
    asset.prepared("tracks") { [self] in
      handler(ExportJob.serves(preset, asset) ? preset.fileTypes(for: asset) : [])
    }
  }

  open var compatibleFileTypes: [AVFileType] {
    get async {
      await withCheckedContinuation { continuation in
        determineCompatibleFileTypes { continuation.resume(returning: $0) }
      }
    }
  }

  /// The duration of the longest movie that fits into `fileLengthLimit`; positive infinity without
  /// a limit.
  open var maxDuration: CMTime {
    let limit = fileLengthLimit
    guard limit > 0 else { return .positiveInfinity }
    let (pictures, audio) = ExportJob.bitRate(preset, asset)
    let rate = pictures + audio
    return rate > 0 ? CMTime(nearest: Double(limit) * 8 / rate, preferredTimescale: 600) : .positiveInfinity
  }

  /// An estimate of the movie's size in bytes.
  open var estimatedOutputFileLength: Int64 {
    let range = timeRange.intersection(CMTimeRange(start: .zero, duration: asset.duration))
    let (pictures, audio) = ExportJob.bitRate(preset, asset)
    let length = Int64(clamping: (pictures + audio) * max(0, range.duration.seconds) / 8)
    return fileLengthLimit > 0 ? min(length, fileLengthLimit) : length
  }

  @preconcurrency open func estimateMaximumDuration(
    completionHandler handler: @escaping @Sendable (CMTime, (any Error)?) -> Void
  ) {
    asset.prepared("tracks") { [self] in
      do {
        _ = try asset.loadedTracks()
        handler(maxDuration, nil)
      } catch { handler(.invalid, error) }
    }
  }

  @preconcurrency open func estimateOutputFileLength(
    completionHandler handler: @escaping @Sendable (Int64, (any Error)?) -> Void
  ) {
    asset.prepared("tracks") { [self] in
      do {
        _ = try asset.loadedTracks()
        handler(estimatedOutputFileLength, nil)
      } catch { handler(0, error) }
    }
  }
}
