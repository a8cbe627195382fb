// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import AVFoundation
import Foundation
import H264Encoder

/// The options that the commands for a plan's segments share.
struct PlanOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("The plan that vtencode split has written.", valueName: "file"),
    completion: .file(extensions: ["json"]))
  var plan: String

  @Option(
    help: ArgumentHelp(
      "The movie's path on this machine. (default: the path in the plan)", valueName: "file"),
    completion: .file())
  var movie: String?

  @Flag(
    help: ArgumentHelp(
      "Accept a movie with another modification time, such as a copy.", visibility: .helpAll))
  var ignoreModificationTime = false

  @OptionGroup(title: "Output and reports", visibility: .helpAll) var progressOption: ProgressOption
}

struct EncodeSegment: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Encodes one segment of a plan.",
    discussion: """
      Writes a movie and its record to the folder PLAN.parts next to the plan; a segment without its record does not \
      count as encoded. A finished segment is left as it is, so that a plan can be resumed; --movie must name the \
      plan's movie in this case too.

      Examples:
        vtencode encode-segment --plan plan.json --segment 3
        vtencode encode-segment --plan plan.json --segment 3 --movie /mnt/movie.mov --threads 4

      --help shows the options that are used most; --help-all shows all of them.
      """)

  @OptionGroup var planOptions: PlanOptions

  @Option(help: ArgumentHelp("The number of the segment, counted from 0.", valueName: "n"))
  var segment: Int

  @Option(
    help: ArgumentHelp(
      "Threads of the encoder. The stream of the package's own encoder does not depend on the number; with "
        + "other encoders it must be the plan's.",
      valueName: "n"))
  var threads: Int?

  @Flag(help: "Encode the segment again if it is finished.")
  var overwrite = false

  @OptionGroup(title: "Sandbox", visibility: .helpAll) var sandboxing: SandboxOptions

  func validate() throws {
    if let threads, !EncoderOptions.threadCounts.contains(threads) {
      throw ValidationError(
        "--threads must be from 1 to \(EncoderOptions.threadCounts.upperBound), not \(threads).")
    }
  }

  func run() async throws {
    Interrupt.shared.watch()
    let plan = try EncodingPlanFile.read(planOptions.plan)
    if let threads, threads != plan.settings.threads, !plan.settings.threadsAreFree {
      throw Failure(
        "'\(plan.settings.encoder)' gives another stream with another number of threads than the plan's "
          + "\(plan.settings.threads); omit --threads, or make the plan with it", status: 64)
    }
    guard plan.segments.indices.contains(segment) else {
      throw Failure(
        "the plan has the segments 0 to \(plan.segments.count - 1), and \(segment) is not one of them",
        status: 64)
    }
    let folder = PartFolder(of: planOptions.plan)
    let planned = plan.segments[segment]
    if !overwrite, let record = try? SegmentRecord.verified(planned, of: plan, in: folder) {
      if let movie = planOptions.movie {
        try SourceIdentity(movie).check(against: plan.source, ignoresTime: planOptions.ignoreModificationTime)
      }
      printReport(record, planned, folder, wasFinished: true)
      return try Console.print("segment \(segment) is finished: \(folder.movie(segment))\n")
    }
    try folder.create()
    let (source, options) = try await PartSource.open(
      plan, at: planOptions.movie, ignoresTime: planOptions.ignoreModificationTime, threads: threads)
    let job = SegmentJob(
      file: plan, segment: planned, source: source, options: options, folder: folder,
      progress: planOptions.progressOption.progress)
    let record = try await job.run()
    printReport(record, planned, folder, wasFinished: false)
    try Console.print(
      "segment \(segment), \(TextFormat.plural(record.frames, "frame")), "
        + "\(TextFormat.bitRate(Double(record.videoBytes) * 8 / planned.seconds)): "
        + "\(folder.movie(segment))\n")
  }

  private func printReport(
    _ record: SegmentRecord, _ planned: PlannedSegment, _ folder: PartFolder, wasFinished: Bool
  ) {
    guard planOptions.progressOption.progress == .json else { return }
    Console.conclude(
      SegmentEvent(record, of: planned, output: folder.movie(segment), wasFinished: wasFinished))
  }
}

/// Encodes one segment.
struct SegmentJob: Sendable {
  let file: EncodingPlanFile
  let segment: PlannedSegment
  let source: MovieSource
  let options: EncodingOptions
  let folder: PartFolder
  let progress: ProgressStyle

  func run() async throws -> SegmentRecord {
    var plan = try EncodingPlan(options, source: source, purpose: .transcoding, isPaced: false)
    plan.audio = .none
    plan.keepsSubtitles = false
    plan.keepsChapters = false
    plan.isFastStart = false
    plan.encoderID = file.settings.encoder
    plan.passes = file.settings.passes
    // Each segment has to meet its rate closely, because the movie's rate is divided among all of
    // them.
    plan.passTolerance = 0.01
    if let rate = segment.bitRate { plan.bitRate = rate }
    plan.frameLimit = segment.frames
    plan.range = range
    plan.hasFramesBefore = segment.index > 0
    plan.hasFramesAfter = segment.index < file.segments.count - 1
    plan.progress = progress
    plan.statistics = try statistics()
    let scratch = try ScratchFolder(in: folder.path)
    let made = scratch.path + "/segment.mov"
    let report = try await Pipeline(
      source: source, plan: plan,
      destination: Destination(movie: made, type: .mov, start: segment.start.time)
    ).run()
    if Interrupt.shared.isRequested {
      throw Failure(
        "interrupted; segment \(segment.index) is not finished", status: Interrupt.shared.status)
    }
    if let damage = report.damage.summary { throw Failure("'\(source.name)' is damaged: \(damage)") }
    guard report.frames == segment.frames else {
      throw Failure(
        "segment \(segment.index) has \(report.frames) frames, and the plan says \(segment.frames); is this "
          + "the plan's movie?")
    }
    return try finish(made, report, scratch)
  }

  /// An upper bound for the size of the statistics file of so many frames, in bytes.
  private static func maxStatisticsSize(_ frames: Int) -> Int { 1 << 20 + frames * 4096 }

  /// The file with the analysis's statistics of the segment; nil if the plan has none.
  /// - Throws: a `Failure` if the file is missing or is not the plan's.
  private func statistics() throws -> String? {
    guard let expected = segment.statistics, file.settings.passes > 1 else { return nil }
    let path = folder.statistics(segment.index)
    // MD5 detects damage and mix-ups; it does not protect against whoever wrote the plan.
    guard let data = try? RegularFile.contents(path, maximum: Self.maxStatisticsSize(segment.frames)),
      FileDigest.md5(data) == expected,
      let learned = try? PassStatistics(bytes: [UInt8](data)), learned.count == segment.frames
    else {
      throw Failure(
        "'\(path)', which split wrote next to the plan, is missing, damaged or another plan's; copy it along "
          + "with the plan, or make the plan again")
    }
    return path
  }

  /// The pictures of the segment. The first segment includes all earlier pictures, and the last one
  /// all later ones.
  private var range: CMTimeRange {
    let isFirst = segment.index == 0
    let isLast = segment.index == file.segments.count - 1
    return CMTimeRange(
      start: isFirst ? min(segment.start.time, .zero) : segment.start.time,
      end: isLast ? .positiveInfinity : segment.end.time)
  }

  /// Moves the movie to its name and then the record, so that a segment with a record is always
  /// complete.
  private func finish(_ made: String, _ report: RunReport, _ scratch: ScratchFolder) throws -> SegmentRecord {
    let record = SegmentRecord(
      plan: file.checksum, segment: segment.index, frames: report.frames, videoBytes: report.videoBytes,
      fileBytes: report.written.fileBytes, checksum: try FileDigest.md5(ofFile: made), passes: report.passes,
      wallSeconds: report.wallSeconds)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
    let recordPath = scratch.path + "/segment.json"
    do {
      unlink(folder.record(segment.index))
      try encoder.encode(record).write(to: URL(fileURLWithPath: recordPath))
      try replace(folder.movie(segment.index), with: made)
      try replace(folder.record(segment.index), with: recordPath)
    } catch {
      throw Failure("cannot write '\(folder.movie(segment.index))': \(Failure.describe(error))")
    }
    return record
  }

  private func replace(_ path: String, with new: String) throws {
    let descriptor = open(new, O_RDONLY | O_CLOEXEC)
    if descriptor >= 0 {
      fsync(descriptor)
      close(descriptor)
    }
    guard rename(new, path) == 0 else { throw NSError(domain: NSPOSIXErrorDomain, code: Int(errno)) }
  }
}
