// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Makes a new movie of an asset: another size or codec, another container, a part of it.
///
/// The HEVC presets keep ten bits and a high dynamic range. The H.264 presets write eight bits, and bring the tones of a
/// high dynamic range (PQ or HLG) into the range of ITU-R BT.709.
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
  /// As they were when the export was begun.
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
    /// nil: nobody has said.
    var trackGroups: AVAssetTrackGroupOutputHandling?
    var isParallel = true
  }

  /// nil for a preset that is not known, or that there is no encoder for.
  public init?(asset: AVAsset, presetName: String) {
    guard let preset = ExportPreset.named(presetName) else { return nil }
    self.asset = asset
    self.presetName = presetName
    self.preset = preset
    super.init()
  }

  // MARK: - What to make. Set before the export; later without effect.

  /// Where the movie is written: a file that does not exist.
  open var outputURL: URL? {
    get { lock.withLock { settings.url } }
    set { lock.withLock { settings.url = newValue } }
  }
  /// The type of the file. Nil: the one that the ending of `outputURL` stands for, if the preset makes it.
  open var outputFileType: AVFileType? {
    get { lock.withLock { settings.type } }
    set { lock.withLock { settings.type = newValue } }
  }
  /// The index goes to the front of the file.
  open var shouldOptimizeForNetworkUse: Bool {
    get { lock.withLock { settings.optimizes } }
    set { lock.withLock { settings.optimizes = newValue } }
  }
  /// The part of the asset to export.
  open var timeRange: CMTimeRange {
    get { lock.withLock { settings.range } }
    set { lock.withLock { settings.range = newValue } }
  }
  /// Bytes; 0: no limit. A lower bit rate is used, or, where nothing is encoded, the movie is cut short.
  open var fileLengthLimit: Int64 {
    get { lock.withLock { settings.limit } }
    set { lock.withLock { settings.limit = max(0, newValue) } }
  }
  /// Whether the export may read the asset more than once, for a better picture at the same size. It does if the encoder is
  /// one that learns from a pass, as all are that are built in: twice, and with the package's own encoder in parts again
  /// where its average rate is still missed. `progress` is that of all passes.
  open var canPerformMultiplePassesOverSourceMediaData: Bool {
    get { lock.withLock { settings.allowsPasses } }
    set { lock.withLock { settings.allowsPasses = newValue } }
  }
  /// See `AVAssetWriter.directoryForTemporaryFiles`.
  open var directoryForTemporaryFiles: URL? {
    get { lock.withLock { settings.temporaryDirectory } }
    set { lock.withLock { settings.temporaryDirectory = newValue } }
  }
  /// What to write instead of the asset's own metadata.
  open var metadata: [AVMetadataItem]? {
    get { lock.withLock { settings.metadata } }
    set { lock.withLock { settings.metadata = newValue } }
  }

  /// What of the asset's own metadata is written; nil: all. What is set as `metadata` is not filtered.
  open var metadataItemFilter: AVMetadataItemFilter? {
    get { lock.withLock { settings.filter } }
    set { lock.withLock { settings.filter = newValue } }
  }

  /// What becomes of sound tracks that stand in for each other, such as languages (an alternate group; ISO/IEC 14496-12,
  /// 8.3.2). `.preserveAlternateTracks`, as it is unless set, writes all of them, which Apple's session does not by default;
  /// `.defaultPolicy` the one that is enabled. Set to the former beside an audio mix, which makes one track of all, the export
  /// fails with `AVError.incorrectlyConfigured`.
  open var audioTrackGroupHandling: AVAssetTrackGroupOutputHandling {
    get { lock.withLock { settings.trackGroups ?? .preserveAlternateTracks } }
    set { lock.withLock { settings.trackGroups = newValue } }
  }

  /// Whether parts of the movie may be encoded at the same time, which may change what comes out. The session encodes the movie
  /// from its beginning to its end, with several threads for each picture, so that the same comes out with either value.
  open var allowsParallelizedExport: Bool {
    get { lock.withLock { settings.isParallel } }
    set { lock.withLock { settings.isParallel = newValue } }
  }

  /// How the asset's sound tracks are mixed into one, which is encoded. With a preset that copies samples the export
  /// fails.
  open var audioMix: AVAudioMix? {
    get { lock.withLock { settings.mix } }
    set { lock.withLock { settings.mix = newValue.flatMap { $0.copy() as? AVAudioMix } } }
  }
  /// See `AVAssetReaderTrackOutput.audioTimePitchAlgorithm`; with one that is not known the export fails.
  open var audioTimePitchAlgorithm: AVAudioTimePitchAlgorithm {
    get { lock.withLock { settings.pitch } }
    set { lock.withLock { settings.pitch = newValue } }
  }
  /// How the asset's video tracks are made into one. With a preset that copies samples the export fails.
  open var videoComposition: AVVideoComposition? {
    get { lock.withLock { settings.composition } }
    set {
      let copy = newValue.flatMap { $0.copy() as? AVVideoComposition }
      let compositor = copy?.makeCompositor()
      let old = lock.withLock {
        defer { (settings.composition, settings.compositor) = (copy, compositor) }
        return (settings.composition, settings.compositor)
      }
      // A client's objects go when the lock is free: they may come back here.
      withExtendedLifetime(old) {}
    }
  }
  /// The object that makes the pictures of `videoComposition`; nil where layer instructions are followed.
  open var customVideoCompositor: (any AVVideoCompositing)? { lock.withLock { settings.compositor } }

  /// Whether the export goes on past pictures and sound that cannot be decoded: pictures are left out, for sound there is
  /// silence, and pictures end where the file can be read no further. `ovtDamage` then tells of it. Of this package, not
  /// Apple's; off unless set, and without effect on what a video composition or an audio mix is made of.
  open var ovtToleratesDamage: Bool {
    get { lock.withLock { settings.toleratesDamage } }
    set { lock.withLock { settings.toleratesDamage = newValue } }
  }

  // MARK: - How it goes

  open var status: Status { lock.withLock { currentStatus } }
  open var error: Error? { lock.withLock { currentError } }
  /// 0.0 to 1.0.
  open var progress: Float {
    let (status, job) = lock.withLock { (currentStatus, self.job) }
    return status == .completed ? 1 : job?.progress ?? 0
  }

  /// What of the asset was damaged, as far as it has been read, of pictures and sound together. Pictures of which the
  /// decoder has made up a part are in the movie, and packets of sound that can only be copied are left out of it if they are
  /// found damaged; what cannot be decoded at all makes the export fail, unless `ovtToleratesDamage` is set. Of samples that
  /// are copied the data is not decoded.
  open var ovtDamage: OVTReadingDamage { lock.withLock { job }?.damage ?? OVTReadingDamage() }

  /// How many passes over the pictures have ended, those over parts of them too; at least 1 once the export is completed.
  /// Of this package, not Apple's.
  open var ovtPassCount: Int {
    let (status, job) = lock.withLock { (currentStatus, self.job) }
    return max(job?.passCount ?? 0, status == .completed ? 1 : 0)
  }

  /// Exports, once: of a session that has begun before nothing becomes of it. `handler` is called once, on any thread. See
  /// `status`.
  @preconcurrency open func exportAsynchronously(completionHandler handler: @escaping @Sendable () -> Void) {
    begin(nil, handler)
  }

  /// - Parameters:
  ///   - file: Where to, if not to what is set.
  ///   - handler: Called once the export has ended, or at once of a session that was begun before.
  /// - Returns: whether it was not.
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

  /// Exports. See `status` afterwards.
  open func export() async {
    await withCheckedContinuation { continuation in
      exportAsynchronously { continuation.resume() }
    }
  }

  /// Exports into a file.
  /// - Throws: `AVError`: `operationNotAllowed` of a session that has begun before; when the task is cancelled, so is the
  ///   export.
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

  /// What a call of `export(to:as:)` has to do with the session: one that did not begin the export does not cancel it.
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

  /// Ends the export. Nothing is left of the file, unless it was complete before: then the export is `.completed`.
  open func cancelExport() {
    let job = lock.withLock { () -> ExportJob? in
      if currentStatus == .unknown || currentStatus == .waiting { currentStatus = .cancelled }
      guard currentStatus == .exporting else { return nil }
      isCancelling = true
      return self.job
    }
    // The writer knows which of the two came first.
    guard let job, job.cancel() else { return }
    lock.withLock { if currentStatus == .exporting { currentStatus = .cancelled } }
  }

  private func run() {
    do {
      // Taken, so that what a program puts into them goes when it has no more use for it.
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

  // MARK: - What is possible

  /// The presets that can be used.
  open class func allExportPresets() -> [String] { ExportPreset.available.map(\.name) }

  /// Those of them that make something of an asset.
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

  /// The longest movie that fits into `fileLengthLimit`; positive infinity without a limit.
  open var maxDuration: CMTime {
    let limit = fileLengthLimit
    guard limit > 0 else { return .positiveInfinity }
    let (pictures, sound) = ExportJob.bitRate(preset, asset)
    let rate = pictures + sound
    return rate > 0 ? CMTime(nearest: Double(limit) * 8 / rate, preferredTimescale: 600) : .positiveInfinity
  }

  /// Bytes, roughly.
  open var estimatedOutputFileLength: Int64 {
    let range = timeRange.intersection(CMTimeRange(start: .zero, duration: asset.duration))
    let (pictures, sound) = ExportJob.bitRate(preset, asset)
    let length = Int64(clamping: (pictures + sound) * max(0, range.duration.seconds) / 8)
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
