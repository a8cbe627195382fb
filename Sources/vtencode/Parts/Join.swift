// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import AVFoundation
import Foundation

struct Join: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Joins the segments of a plan, with the movie's audio.",
    discussion: """
      Every segment is first checked against its record and the plan. This command copies or encodes the audio.

      Examples:
        vtencode join --plan plan.json --out movie.mp4
        vtencode join --plan plan.json --movie /mnt/movie.mov --out movie.mp4 --overwrite

      --help shows the options that are used most; --help-all shows all of them.
      """)

  @OptionGroup var planOptions: PlanOptions

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "Where to write: a .mov, .mp4 or .m4v movie, a .264 or .265 elementary stream, or - for an elementary stream on "
        + "standard output.", valueName: "file"), completion: .file())
  var out: String

  @OptionGroup var overwriting: OverwriteOption

  @OptionGroup(title: "Sandbox", visibility: .helpAll) var sandboxing: SandboxOptions

  func run() async throws {
    let plan = try EncodingPlanFile.read(planOptions.plan)
    guard let codec = Codec(argument: plan.settings.codec) else {
      throw Failure("the plan's settings are not valid for this vtencode; make the plan again")
    }
    let moviePath = planOptions.movie ?? plan.source.path
    var destination = try Destination(
      argument: out, movie: moviePath, suffix: "joined", codec: codec, choices: .init(hasCodec: false))
    if let path = destination.path {
      destination.replaces = try OutputCheck.mayReplace(path, overwrites: overwriting.overwrite)
    }
    Interrupt.shared.watch()
    let (source, options) = try await PartSource.open(
      plan, at: planOptions.movie, ignoresTime: planOptions.ignoreModificationTime)
    let joiner = Joiner(
      file: plan, source: source, options: options, folder: PartFolder(of: planOptions.plan),
      progress: planOptions.progressOption.progress)
    try await joiner.join(into: destination, began: SessionTime.now)
  }
}

/// Joins the segments of a plan to one movie.
struct Joiner: Sendable {
  let file: EncodingPlanFile
  let source: MovieSource
  let options: EncodingOptions
  let folder: PartFolder
  let progress: ProgressStyle

  /// Joins the segments and prints the summary.
  /// - Parameters:
  ///   - destination: the output.
  ///   - began: the start of the time that the summary states, by `SessionTime`.
  /// - Throws: a `Failure` if a segment is missing or damaged, or the output cannot be written.
  func join(into destination: Destination, began: Double) async throws {
    var plan = try EncodingPlan(options, source: source, purpose: .transcoding, isPaced: false)
    plan.progress = progress
    if let notice = plan.addAudioNotice(of: source, in: destination), progress.showsNotices {
      Console.note("vtencode: \(notice)")
    }
    if !destination.hasTransform, let turn = PictureRotation(source.transform), progress.showsNotices {
      Console.note(
        "vtencode: the movie is shown \(turn.text), which a stream cannot store; vtencode transcoding --jobs "
          + "rotates the pictures")
    }
    var destination = destination
    destination.isAllOrNothing = true
    let records = try verify()
    let times = try await timeline()
    let output = destination.makeOutput(source: source, plan: plan, control: EncoderControl())
    let samples = OutputQueue(capacity: 256, backPressure: output.backPressure)
    let synchronizer = AudioSynchronizer()
    let damage = DamageCollector()
    let counter = SampleCounter()
    let line = ProgressLine(total: file.frames, style: progress)
    defer { line.finish() }
    try ResourceLimits.check(
      tracks: Pipeline(source: source, plan: plan, destination: destination).trackCount)
    let feed = OutputFeed(
      output: output, source: source, plan: plan, synchronizer: synchronizer, damage: damage,
      isAllOrNothing: destination.isAllOrNothing)
    let outcome = output.outcomeOfInterruptedRun
    let written: OutputReport
    do {
      async let reading: Void = onThread("segments") {
        try hand(times, to: samples, synchronizer: synchronizer, outcome) { sample in
          counter.add(sample, isVerbose: false)
          line.update(frames: counter.frames)
        }
      }
      async let writing = feed.write(samples)
      do { written = try await writing } catch {
        samples.cancel()
        synchronizer.abandon()
        throw error
      }
      try await reading
    } catch {
      samples.cancel()
      throw error
    }
    line.finish()
    var report = counter.report(
      seconds: SessionTime.now - began, plan: plan, written: written, encoderID: file.settings.encoder
    )
    report.damage = damage.value
    report.passes = records.map(\.passes).max() ?? 1
    try EncodingRun.finish(
      report, destination, source: source.name,
      heading: "parts   \(TextFormat.plural(file.segments.count, "segment"))\n")
  }

  /// The records of all segments.
  /// - Throws: a `Failure` that names the segments that are missing or damaged.
  private func verify() throws -> [SegmentRecord] {
    var records: [SegmentRecord] = []
    var missing: [Int] = []
    var wrong: [String] = []
    for segment in file.segments {
      try Interrupt.shared.check()
      do {
        records.append(try SegmentRecord.verified(segment, of: file, in: folder))
      } catch {
        missing.append(segment.index)
        wrong.append("segment \(segment.index) \(Failure.describe(error))")
      }
    }
    if let first = missing.first {
      let more = wrong.count > 3 ? " and \(wrong.count - 3) more" : ""
      throw Failure(
        "\(wrong.prefix(3).joined(separator: ", "))\(more); run vtencode encode-segment --segment \(first)"
          + (missing.count > 1 ? " and so on" : ""))
    }
    return records
  }

  /// The times of all samples, in decode order.
  private struct Timeline: Sendable {
    var presentation: [CMTime] = []
    var decode: [CMTime] = []
    var formats = SegmentFormats([])
  }

  /// Collects the presentation times, which are the source's, and computes new decode times: the
  /// decode times at a segment's beginning would overlap with the end of the previous segment.
  private func timeline() async throws -> Timeline {
    try await onThread("times") {
      var times = Timeline()
      // The number of frames in the plan is not trusted for an allocation.
      times.presentation.reserveCapacity(min(file.frames, 1 << 16))
      var formats: [CMFormatDescription] = []
      for segment in file.segments {
        var count = 0
        var minimum = CMTime.positiveInfinity
        var starts = false
        try read(segment) { sample in
          try Interrupt.shared.check()
          if count == 0 {
            starts = SampleAttributes(sample).isKeyFrame
            if let format = sample.formatDescription { formats.append(format) }
          }
          count += 1
          minimum = min(minimum, sample.presentationTimeStamp)
          times.presentation.append(sample.presentationTimeStamp + segment.start.time)
          return true
        }
        guard count == segment.frames, minimum == .zero, starts, formats.count == segment.index + 1 else {
          throw Failure(
            "segment \(segment.index) does not begin with a key frame at its start, or does not have "
              + "\(TextFormat.plural(segment.frames, "frame")); encode it again with --overwrite")
        }
      }
      times.formats = SegmentFormats(formats)
      let sorted = times.presentation.sorted()
      var rank: [CMTime: Int] = [:]
      for (index, time) in sorted.enumerated() { rank[time] = index }
      guard rank.count == sorted.count, let first = sorted.first else {
        throw Failure("two pictures of the segments have the same time; encode them again with --overwrite")
      }
      var depth = 0
      for (index, time) in times.presentation.enumerated() { depth = max(depth, index - (rank[time] ?? 0)) }
      let step =
        sorted.count > 1
        ? sorted[1] - first : CMTime(nearest: 1 / source.frameRate, preferredTimescale: 90_000)
      times.decode = times.presentation.indices.map { index in
        index >= depth
          ? sorted[index - depth] : first - CMTimeMultiply(step, multiplier: Int32(depth - index))
      }
      return times
    }
  }

  private func hand(
    _ times: Timeline, to samples: OutputQueue, synchronizer: AudioSynchronizer, _ outcome: String,
    _ counted: (CMSampleBuffer) -> Void
  ) throws {
    do {
      var index = 0
      var joined = times.formats.first.flatMap { JoinedTiming($0) }
      for segment in file.segments {
        var isFirst = segment.index > 0
        try read(segment) { sample in
          try Interrupt.shared.check(outcome)
          guard index < times.presentation.count else { return false }
          let timing = CMSampleTimingInfo(
            duration: sample.duration, presentationTimeStamp: times.presentation[index],
            decodeTimeStamp: times.decode[index])
          let changed = try joined?.correct(sample, decodeTime: timing.decodeTimeStamp, isFirst: isFirst)
          isFirst = false
          let copy = try times.formats.retimed(
            sample, of: segment.index, timing: timing, bytes: changed ?? nil)
          index += 1
          counted(copy)
          synchronizer.advance(to: timing.presentationTimeStamp + timing.duration)
          return samples.push(copy)
        }
      }
      if plannedToTheEnd { synchronizer.setEndOfMovie() }
      synchronizer.finish(isCut: false)
      samples.end()
    } catch {
      synchronizer.abandon()
      samples.end(error)
      throw error
    }
  }

  private var plannedToTheEnd: Bool { file.settings.frameLimit == nil }

  /// Calls `body` with a segment's samples in decode order; their presentation times begin at 0.
  private func read(_ segment: PlannedSegment, _ body: (CMSampleBuffer) throws -> Bool) throws {
    let path = folder.movie(segment.index)
    let asset = AVURLAsset(url: URL(fileURLWithPath: path))
    do {
      guard let track = asset.tracks(withMediaType: .video).first else {
        throw Failure("it has no video track")
      }
      let reader = try AVAssetReader(asset: asset)
      let output = AVAssetReaderTrackOutput(track: track, outputSettings: nil)
      output.alwaysCopiesSampleData = false
      guard reader.canAdd(output) else { throw Failure("it cannot be read") }
      reader.add(output)
      guard reader.startReading() else { throw reader.error ?? Failure("it cannot be read") }
      defer { reader.cancelReading() }
      while let sample = output.copyNextSampleBuffer() {
        guard CMSampleBufferGetNumSamples(sample) > 0 else { continue }
        guard try body(sample) else { return }
      }
      if reader.status == .failed { throw reader.error ?? Failure("it cannot be read") }
    } catch let failure as Failure {
      throw failure
    } catch {
      throw Failure("segment \(segment.index) cannot be read ('\(path)'): \(Failure.describe(error))")
    }
  }
}
