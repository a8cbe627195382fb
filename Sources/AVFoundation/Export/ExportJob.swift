// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization

/// One export: a reader, a writer, and the copying of samples between them.
final class ExportJob: @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  private let reader: AVAssetReader
  private let writer: AVAssetWriter
  private var pairs: [(output: AVAssetReaderOutput, input: AVAssetWriterInput)] = []
  private let range: CMTimeRange
  /// Whether the export reads to the end of the asset, without a cut at the end of `range`.
  private let isOpenEnded: Bool
  private let lock = Lock()
  private var position = CMTime.zero
  /// The number of passes that have ended, and the number that is expected.
  private var passes = (ended: 0, expected: 1)
  /// The damage that the first pass over an output found. Further passes find the same damage and
  /// must not count it again.
  private var firstDamage: [ObjectIdentifier: OVTReadingDamage] = [:]

  init(asset: AVAsset, preset: ExportPreset, settings: AVAssetExportSession.Settings) throws {
    let (url, type) = try Self.destination(asset, preset, settings)
    reader = try AVAssetReader(asset: asset)
    writer = try AVAssetWriter(url: url, fileType: type)
    let tracks = try asset.loadedTracks()
    let (range, scale) = try Self.rangeAndRateFactor(asset, preset, settings)
    self.range = range
    // If nothing is cut off and the end that the tracks state is not reliable, they are read until
    // the file ends.
    isOpenEnded =
      !settings.range.end.isNumeric && range.end == asset.duration && settings.limit == 0
      && tracks.areOpenEnded

    let plan = ExportTrackSelection(settings, preset, tracks)
    try plan.check()
    for track in tracks where plan.isAlone(track) {
      guard
        let pair = try plan.pair(
          try Self.pair(track, preset, scale, settings), track)
      else { continue }
      guard writer.canAdd(pair.input), reader.canAdd(pair.output) else {
        // Text and metadata that the file cannot hold are left out, since video and audio are
        // useful without them.
        if track.mediaType.isSparse { continue }
        throw pair.input.settingsError ?? pair.output.settingsError
          ?? AVError(
            .operationNotSupportedForAsset,
            reason: "A track of type \(track.mediaType.rawValue) cannot be exported so.")
      }
      if settings.allowsPasses, pair.input.mediaType == .video, pair.input.outputSettings != nil {
        pair.output.supportsRandomAccess = true
        pair.input.performsMultiPassEncodingIfSupported = true
      }
      reader.add(pair.output)
      writer.add(pair.input)
      pairs.append(pair)
    }
    for pair in pairs where pair.input.mediaType == .text {
      leader?.addTrackAssociation(
        withTrackOf: pair.input, type: AVAssetTrack.AssociationType.chapterList.rawValue)
    }
    guard leader != nil else {
      throw AVError(.noSourceTrack, reason: "The asset holds nothing that the preset exports.")
    }
    reader.timeRange = isOpenEnded ? CMTimeRange(start: range.start, duration: .positiveInfinity) : range
    if range.duration.isNumeric { writer.overallDurationHint = range.duration }
    writer.shouldOptimizeForNetworkUse = settings.optimizes
    writer.directoryForTemporaryFiles = settings.temporaryDirectory
    writer.metadata =
      settings.metadata
      ?? settings.filter.map { AVMetadataItem.metadataItems(from: asset.metadata, filteredBy: $0) }
      ?? asset.metadata
    writer.lock.withLock { writer.properties.leavesOutMetadata = settings.metadata == nil }
  }

  /// The reader output and the writer input of a track; nil where the preset leaves it out.
  /// - Parameter scale: The factor of the preset's bit rate.
  static func pair(
    _ track: AVAssetTrack, _ preset: ExportPreset, _ scale: Double,
    _ settings: AVAssetExportSession.Settings
  ) throws -> (output: AVAssetReaderOutput, input: AVAssetWriterInput)? {
    var reading: [String: Any]?
    var writing: [String: Any]?
    if track.mediaType == .video {
      switch preset.video {
      case .none: return nil
      case .copy: break
      case .encode(let codec, _, _):
        guard let plan = preset.videoPlan(track.properties) else { return nil }
        // HEVC is encoded with ten bits if the source has more than eight, and carries a high
        // dynamic range. H.264 is encoded with eight bits.
        let isDeep = codec == .hevc && (track.properties.stream.bitsPerComponent ?? 8) > 8
        var wanted: [String: Any] = [
          kCVPixelBufferPixelFormatTypeKey as String: isDeep
            ? kCVPixelFormatType_420YpCbCr10BiPlanarVideoRange
            : kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange,
          OVTVideoCropsToCleanApertureKey: true,
          // The decoder gets half of the processors, at most 8 threads; encoding takes more time.
          kVTDecompressionPropertyKey_ThreadCount as String:
            settings.isParallel ? min(max(ProcessInfo.processInfo.activeProcessorCount / 2, 1), 8) : 1,
        ]
        if codec != .hevc {
          wanted[AVVideoColorPropertiesKey] = CompositionColor.standardRange(for: track.properties.stream)
        }
        reading = wanted
        let rate = Swift.max(32_000, Double(plan.bitRate) * scale)
        var compression: [String: Any] = [AVVideoAverageBitRateKey: Int(clamping: rate)]
        // The first picture of a range may be cut, so that its duration says nothing of the rate.
        // In a composition neither does the track, whose parts may be scaled in time.
        if !(track is AVCompositionTrack), track.nominalFrameRate > 0 {
          compression[AVVideoExpectedSourceFrameRateKey] = Double(track.nominalFrameRate)
        }
        if !settings.isParallel { compression[kOVTCompressionPropertyKey_ThreadCount as String] = 1 }
        if isDeep { compression[AVVideoProfileLevelKey] = kVTProfileLevel_HEVC_Main10_AutoLevel as String }
        writing = [
          AVVideoCodecKey: codec, AVVideoWidthKey: plan.width, AVVideoHeightKey: plan.height,
          AVVideoCompressionPropertiesKey: compression,
        ]
      }
    } else if track.mediaType == .audio {
      // AAC is copied to keep its quality, unless it is composed of several parts.
      if !preset.copiesAudio, !track.keepsAudio {
        reading = [AVFormatIDKey: kAudioFormatLinearPCM]
        writing = [AVFormatIDKey: kAudioFormatMPEG4AAC, AVEncoderBitRateKey: ExportPreset.audioRate]
      }
    }
    let output = AVAssetReaderTrackOutput(track: track, outputSettings: reading)
    output.alwaysCopiesSampleData = false
    // Copied audio packets that are damaged are always left out, and counted as damage.
    output.ovtToleratesDamage = settings.toleratesDamage || track.mediaType == .audio && reading == nil
    let input = AVAssetWriterInput(
      mediaType: track.mediaType, outputSettings: writing,
      // Text of any format is read as 3GPP timed text.
      sourceFormatHint: writing == nil && !track.mediaType.isText ? track.properties.format : nil)
    input.transform = track.exportTransform(writing)
    input.languageCode = track.languageCode
    input.marksOutputTrackAsEnabled = track.isEnabled
    return (output, input)
  }

  /// Whether a preset produces a movie from an asset.
  static func serves(_ preset: ExportPreset, _ asset: AVAsset) -> Bool {
    asset.tracks.contains { track in
      switch (track.mediaType, preset.video) {
      case (.audio, _): track.isDecodable
      case (.video, .copy): true
      case (.video, .encode): track.isDecodable
      default: false
      }
    }
  }

  /// An estimate of the bit rates of an export, in bits per second.
  static func bitRate(_ preset: ExportPreset, _ asset: AVAsset) -> (pictures: Double, audio: Double) {
    asset.tracks.reduce(into: (0, 0)) { sum, track in
      switch (track.mediaType, preset.video) {
      case (.video, .copy): sum.0 += Double(track.estimatedDataRate)
      case (.video, .encode): sum.0 += Double(preset.videoPlan(track.properties)?.bitRate ?? 0)
      case (.audio, _):
        sum.1 +=
          preset.copiesAudio || track.keepsAudio
          ? Double(track.estimatedDataRate) : Double(ExportPreset.audioRate)
      default: break
      }
    }
  }

  var passCount: Int { lock.withLock { passes.ended } }

  /// The progress over all passes, from 0 to 1. Whether further passes follow the second one is
  /// only known when it has ended, so each further pass takes half of the remaining part.
  var progress: Float {
    let (position, passes) = lock.withLock { (self.position, self.passes) }
    let done = (position - range.start).seconds / range.duration.seconds
    guard done.isFinite else { return 0 }
    let inPass = min(1, max(0, done))
    guard passes.expected > 1 else { return Float(inPass) }
    func passFraction(_ passes: Int) -> Double {
      passes <= 2
        ? Self.fractionOfTwo * Double(passes) / 2 : 1 - (1 - Self.fractionOfTwo) / Double(1 << (passes - 2))
    }
    let (before, after) = (passFraction(passes.ended), passFraction(passes.ended + 1))
    return Float(before + (after - before) * inPass)
  }

  /// The part of the progress that the first two of several passes take.
  private static let fractionOfTwo = 0.95

  /// The damage in the source. Further passes find the same damage, so only the first pass is
  /// counted.
  var damage: OVTReadingDamage {
    let first = lock.withLock { firstDamage }
    return pairs.reduce(into: OVTReadingDamage()) { sum, pair in
      sum.add(first[ObjectIdentifier(pair.output)] ?? pair.output.damage.value)
    }
  }

  /// The input that determines the progress and that chapters refer to: video or, without video,
  /// audio.
  private var leader: AVAssetWriterInput? {
    let inputs = pairs.map(\.input)
    return inputs.first { $0.mediaType == .video } ?? inputs.first { $0.mediaType == .audio }
  }

  /// Runs the export and blocks until it has ended.
  /// - Throws: `AVError` if reading or writing failed or was cancelled.
  func run() throws {
    guard reader.startReading() else { throw reader.error ?? AVError(.exportFailed) }
    guard writer.startWriting() else { throw writer.error ?? AVError(.exportFailed) }
    writer.startSession(atSourceTime: range.start)
    let group = DispatchGroup()
    let leader = self.leader
    for (output, input) in pairs {
      group.enter()
      let ended = Once { group.leave() }
      let queue = DispatchQueue(label: "AVFoundation.export")
      if input.canPerformMultiplePasses {
        if input === leader { lock.withLock { passes.expected = 2 } }
        let round = Mutex(0)
        input.respondToEachPassDescription(on: queue) { [self] in
          guard let pass = input.currentPassDescription else {
            output.markConfigurationAsFinal()
            input.markAsFinished()
            return ended.run()
          }
          if round.withLock({ $0 }) > 0 {
            output.reset(
              forReadingTimeRanges: pass.sourceTimeRanges.map {
                NSValue(timeRange: isOpenEnded ? $0.timeRangeValue : $0.timeRangeValue.intersection(range))
              })
          }
          copy(from: output, to: input, on: queue, isLeader: input === leader) { [self] in
            let isFirst = round.withLock { round in
              round += 1
              return round == 1
            }
            if isFirst { lock.withLock { firstDamage[ObjectIdentifier(output)] = output.damage.value } }
            if input === leader {
              lock.withLock {
                passes.ended += 1
                position = range.start
              }
            }
            input.markCurrentPassAsFinished()
          }
        }
      } else {
        // There is a single pass, so the output can complete.
        output.markConfigurationAsFinal()
        copy(from: output, to: input, on: queue, isLeader: input === leader) {
          input.markAsFinished()
          ended.run()
        }
      }
    }
    let over = WakeUp()
    group.notify(queue: .global()) { over.signal() }
    // A failed writer does not call for more samples, so its status is polled every 0.1 seconds.
    while !over.wait(seconds: 0.1) {
      if writer.status != .writing || reader.status == .failed { break }
    }
    if reader.status == .failed || reader.status == .cancelled {
      let error = reader.error
      writer.cancelWriting()
      throw error ?? AVError(.operationCancelled)
    }
    if writer.status == .writing, range.end.isNumeric, !isOpenEnded {
      writer.endSession(atSourceTime: range.end)
    }
    let finished = DispatchSemaphore(value: 0)
    writer.finishWriting { finished.signal() }
    finished.wait()
    guard writer.status == .completed else { throw writer.error ?? AVError(.operationCancelled) }
  }

  private func copy(
    from output: AVAssetReaderOutput, to input: AVAssetWriterInput, on queue: DispatchQueue, isLeader: Bool,
    atEnd: @escaping @Sendable () -> Void
  ) {
    input.requestMediaDataWhenReady(on: queue) { [self] in
      while input.isReadyForMoreMediaData {
        guard let sample = output.copyNextSampleBuffer(), input.append(prepared(sample)) else {
          return atEnd()
        }
        if isLeader {
          let time = CMSampleBufferGetPresentationTimeStamp(sample)
          lock.withLock { if time.isNumeric { position = max(position, time) } }
        }
      }
    }
  }

  /// The sample as it is written.
  private func prepared(_ sample: CMSampleBuffer) -> CMSampleBuffer {
    sample.imageBuffer == nil ? Self.timedText(sample) : trimmed(sample)
  }

  /// Lets a picture that is shown when the range begins begin with it. An edit that begins within a
  /// picture would do the same, but many players do not show such a picture at all.
  private func trimmed(_ sample: CMSampleBuffer) -> CMSampleBuffer {
    guard range.start.isNumeric, sample.presentationTimeStamp < range.start,
      var timing = try? sample.sampleTimingInfo(at: 0)
    else { return sample }
    let end = timing.presentationTimeStamp + timing.duration
    // The reader gives no picture that ends before the range.
    guard !end.isNumeric || end > range.start else { return sample }
    timing.presentationTimeStamp = range.start
    if end.isNumeric { timing.duration = end - range.start }
    return (try? CMSampleBuffer(copying: sample, withNewTiming: [timing])) ?? sample
  }

  /// Gives a sample of QuickTime text the format of 3GPP timed text. Both formats store the text as
  /// a length and characters, so the data is the same.
  private static func timedText(_ sample: CMSampleBuffer) -> CMSampleBuffer {
    guard let format = sample.formatDescription, format.mediaType == .text,
      format.mediaSubType != .mobile3GPP,
      let data = sample.dataBuffer, let timing = try? sample.sampleTimingInfo(at: 0),
      let words = try? CMFormatDescription(mediaType: .text, mediaSubType: .mobile3GPP)
    else { return sample }
    let made = try? CMSampleBuffer(
      dataBuffer: data, formatDescription: words, numSamples: 1, sampleTimings: [timing],
      sampleSizes: [data.dataLength])
    return made ?? sample
  }

  /// Cancels reading and writing.
  /// - Returns: False if the movie was complete before.
  func cancel() -> Bool {
    reader.cancelReading()
    writer.cancelWriting()
    return writer.status != .completed
  }
}

/// Runs an action at the first of several calls.
private final class Once: @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  private let lock = Lock()
  private var action: (() -> Void)?

  init(_ action: @escaping () -> Void) { self.action = action }

  func run() {
    let action = lock.withLock {
      defer { self.action = nil }
      return self.action
    }
    action?()
  }
}
