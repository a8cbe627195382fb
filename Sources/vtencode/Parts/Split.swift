// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import AVFoundation
import Foundation
import H264Encoder

struct Split: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Plans the encoding of a movie in segments, on many processors or machines.",
    discussion: """
      A fast first pass measures the complexity of the movie's parts, by which the bits are distributed. The plan is a \
      JSON file; for each of its segments run vtencode encode-segment, in any order, on any machine, and vtencode join \
      at the end. The options are those of transcoding. The encoder uses one thread for each segment unless --threads \
      says otherwise; the streams of libx264 and libx265 depend on that number. With --cbr or --max-rate all segments \
      share one decoder's buffer, which requires one of the package's own encoders.

      Examples:
        vtencode split movie.mov --bitrate 3M --plan plan.json
        vtencode split movie.mov --bitrate 3M --cbr --buffer-timing --plan plan.json
        seq 0 11 | parallel vtencode encode-segment --plan plan.json --segment {}
        vtencode join --plan plan.json --out movie.mp4

      --help shows the options that are used most; --help-all shows all of them.
      """)

  @OptionGroup var options: EncodingOptions
  @OptionGroup(title: "Passes and processes", visibility: .helpAll) var passOptions: PassOptions

  @Option(
    help: ArgumentHelp("Where to write the plan; its segments go to a folder next to it.", valueName: "file"),
    completion: .file(extensions: ["json"]))
  var plan: String

  @Option(help: ArgumentHelp("The number of segments. (default: by --segment-duration)", valueName: "n"))
  var segments: Int?

  @Option(
    help: ArgumentHelp(
      "The approximate length of a segment in seconds. (default: 20)", valueName: "s",
      visibility: .helpAll))
  var segmentDuration: Double?

  func validate() throws {
    try passOptions.validate(with: options)
    if segments != nil, segmentDuration != nil {
      throw ValidationError("--segments and --segment-duration exclude each other; give one of them.")
    }
    if let segments, !(1...PartFolder.maxSegments).contains(segments) {
      throw ValidationError("--segments must be from 1 to \(PartFolder.maxSegments).")
    }
    if let segmentDuration, !(segmentDuration >= 0.5 && segmentDuration <= 86_400) {
      throw ValidationError("--segment-duration must be from 0.5 seconds to a day.")
    }
    for (name, isGiven) in [
      ("--out", options.out != nil), ("--psnr", options.reports.psnr),
      ("--verbose", options.reports.verbose),
    ] where isGiven { throw ValidationError("\(name) does not go with split; omit it.") }
    guard plan.hasSuffix(".json") else { throw ValidationError("end the name of --plan in .json.") }
  }

  func run() async throws {
    try OutputCheck.check(plan, option: "--plan", others: [options.movie])
    guard (try? FileManager.default.destinationOfSymbolicLink(atPath: plan)) == nil else {
      throw Failure(
        "--plan '\(plan)' is a symbolic link; use the path of the plan itself, because the segments are stored in its folder",
        status: 64)
    }
    let replaces = try OutputCheck.mayReplace(
      plan, option: "--plan", overwrites: options.overwriting.overwrite)
    Interrupt.shared.watch()
    let size = segments.map(SegmentCutter.Size.count) ?? .seconds(segmentDuration ?? 20)
    let began = SessionTime.now
    let planner = Planner(
      options: options, passes: passOptions.multiPass, size: size, parent: folder(of: plan))
    let made = try await planner.plan(planner.open())
    let name = try made.write(to: plan, replaces: replaces)
    if let wanted = segments, made.file.segments.count < wanted, options.progressOption.progress.showsNotices
    {
      Console.note(
        "vtencode: the movie is divided into only \(TextFormat.plural(made.file.segments.count, "segment")); "
          + "shorter ones could not meet a bit rate")
    }
    if options.progressOption.progress == .json {
      Console.conclude(
        SplitEvent(
          output: name, encoder: made.file.settings.encoder, segments: made.file.segments.count,
          frames: made.file.frames, seconds: made.file.seconds, wallSeconds: SessionTime.now - began))
    }
    let segments = TextFormat.plural(made.file.segments.count, "segment")
    try Console.print("plan    \(name), \(segments), \(TextFormat.plural(made.file.frames, "frame"))\n")
  }
}

/// Makes a plan from a movie and the user's options.
struct Planner: Sendable {
  let options: EncodingOptions
  /// The largest number of passes over each segment; nil takes the default, which depends on the
  /// encoder.
  let passes: Int?
  var size: SegmentCutter.Size
  /// The advice for a movie that cannot be split, as the end of an error message.
  var advice = "encode it with vtencode transcoding"
  /// The folder for temporary files of the analysis.
  let parent: String
  /// Whether the pictures are rotated upright, because the output cannot store a rotation.
  var isUpright = false

  /// Opens the movie. Every segment is read from it, so it has to be one regular file; this is
  /// checked before a pipe would be read to its end.
  func open() async throws -> MovieSource {
    let movie = options.movie
    guard !InputFile.isPipe(movie) else {
      let name = InputFile.isStandardInput(movie) ? "standard input" : movie
      throw Failure(
        "'\(name)' is not a regular file, and every segment is read from the movie; store it in a file first",
        status: 64)
    }
    guard !InputFile.isSequence(movie) || access(movie, F_OK) == 0 else {
      throw Failure(
        "'\(movie)' is a sequence of pictures, and segments are read from one file; \(advice)", status: 64)
    }
    return try await MovieSource.open(movie, streamFrameRate: options.picture.framesPerSecond)
  }

  private func analyse(_ source: MovieSource, _ plan: EncodingPlan) async throws -> (
    MovieComplexity, encoderID: String
  ) {
    try await onThread("analysis") {
      try ComplexityPass(source: source, plan: plan, advice: advice, parent: parent).run()
    }
  }

  /// Analyses the movie and makes the plan.
  /// - Parameter opened: the movie.
  /// - Throws: a `Failure` if the movie cannot be analysed or its segments cannot share a buffer.
  func plan(_ opened: MovieSource) async throws -> PreparedPlan {
    let identity = try SourceIdentity(opened.files.first?.path ?? options.movie)
    let source = PartSource.adapted(opened, options, isUpright: isUpright)
    var plan = try EncodingPlan(options, source: source, purpose: .transcoding, isPaced: false)
    if plan.threads == nil { plan.threads = 1 }
    try plan.checkSegments()
    plan.setDefaultQuality(options, passes: passes, source: source)
    for notice in plan.notices where options.progressOption.progress.showsNotices {
      Console.note("vtencode: \(notice)")
    }
    var (complexity, encoderID) = try await analyse(source, plan)
    // The analysis has taken about as many bits as the segments will at the same quality.
    if plan.limitToCeiling(after: complexity.bitRate),
      complexity.bitRate > Double(plan.bitRate) * ComplexityPass.maxRateRatio
    {
      complexity = try await analyse(source, plan).0
    }
    var segments = SegmentCutter(
      complexity: complexity, size: size, bitRate: plan.quality == nil ? plan.bitRate : nil,
      isConstant: plan.isConstantBitRate, buffer: plan.sharedBuffer
    ).segments()
    if plan.keepsToBuffer { try checkTimes(complexity, segments, plan) }
    if options.bitrate != nil, plan.quality == nil, options.progressOption.progress.showsNotices,
      let notice = Self.notice(complexity, segments, plan)
    {
      Console.note("vtencode: \(notice)")
    }
    let defaultPasses =
      plan.quality == nil && !plan.isConstantBitRate
        && encoderMakesPasses(plan.codec.type, encoderID: plan.encoderID)
      ? PassOptions.defaultForSegments : 1
    guard let first = segments.first, let last = segments.last else {
      throw Failure("'\(source.name)' contains no picture that can be decoded")
    }
    // Passes distribute the bits of a bit rate, so there is one pass for a constant quality.
    let passes = plan.quality == nil ? passes ?? defaultPasses : 1
    // With one pass, the statistics of the analysis are not used.
    let statistics = passes > 1 ? complexity.statistics : nil
    if let statistics {
      for index in segments.indices {
        segments[index].statistics = FileDigest.md5(Data(statistics.part(segments[index].range).bytes))
      }
    }
    return PreparedPlan(
      file: EncodingPlanFile(
        source: identity,
        settings: PlanSettings(
          options, plan: plan, encoder: encoderID, passes: passes, isUpright: source.turn != nil),
        frames: complexity.pictures.count, seconds: (last.end.time - first.start.time).seconds,
        segments: segments),
      statistics: statistics)
  }
}

extension Planner {
  /// The relative deviation from the requested rate above which there is a notice; predictions from
  /// one pass are not more precise.
  private static let maxRateDeviation = 0.03

  /// A notice that the movie cannot have the requested bit rate, if that follows from the
  /// statistics; nil if it can.
  static func notice(_ complexity: MovieComplexity, _ segments: [PlannedSegment], _ plan: EncodingPlan)
    -> String?
  {
    guard let statistics = complexity.statistics, statistics.seconds > 0, !plan.isConstantBitRate else {
      return nil
    }
    let parts = segments.map(\.range)
    let bits = Double(plan.bitRate) * statistics.seconds
    func rate(_ bits: Double) -> String { TextFormat.bitRate(bits / statistics.seconds) }
    let free = statistics.reach(of: parts, buffer: nil)
    let carried = plan.sharedBuffer.map { statistics.reach(of: parts, buffer: $0) }
    if bits < free.lowerBound * (1 - maxRateDeviation) {
      return "the movie takes about \(rate(free.lowerBound)) at the lowest quality, more than --bitrate"
        + (carried == nil ? "" : ", and the decoder's buffer may not carry that")
        + "; smaller --dimensions take less"
    }
    if let carried, bits > carried.upperBound * (1 + maxRateDeviation),
      carried.upperBound < free.upperBound * (1 - maxRateDeviation)
    {
      return
        "the decoder's buffer carries about \(rate(carried.upperBound)) of this movie, less than --bitrate; a higher "
        + "--max-rate or a longer --buffer carries more"
    }
    guard bits > free.upperBound * (1 + maxRateDeviation) else { return nil }
    return "the movie takes about \(rate(free.upperBound)) at its best quality, less than --bitrate"
  }

  /// The number of reordered pictures, for which the encoder of the next segment assumes a duration
  /// by the movie's frame rate.
  private static let reordered = 2

  /// Checks that the pictures before each segment have a duration by which the next segment's
  /// encoder can compute the state of the shared buffer in advance: about a frame interval, or at a
  /// variable bit rate at least that.
  /// - Throws: a `Failure` if a duration does not fit.
  private func checkTimes(_ complexity: MovieComplexity, _ segments: [PlannedSegment], _ plan: EncodingPlan)
    throws
  {
    for segment in segments.dropFirst() {
      for n in max(segment.firstFrame - Self.reordered, 0)..<segment.firstFrame {
        let frames = complexity.pictures[n].duration.seconds * plan.frameRate
        guard frames < 0.8 || plan.isConstantBitRate && frames > 1.2 else { continue }
        let option = plan.isConstantBitRate ? "--cbr" : "--max-rate"
        throw Failure(
          "the durations of the movie's frames differ too much for segments that share a buffer (\(option)); "
            + "omit \(option), or do not split it", status: 64)
      }
    }
  }
}

/// A plan that has not been written yet.
struct PreparedPlan: Sendable {
  let file: EncodingPlanFile
  /// The statistics of the whole movie; nil if none are stored.
  let statistics: PassStatistics?

  /// Writes the statistics of each segment, and then the plan.
  /// - Returns: the plan's path.
  /// - Throws: a `Failure` or a system error if a file cannot be written.
  @discardableResult
  func write(to path: String, replaces: Bool) throws -> String {
    let pending = try PendingFile(for: path, replaces: replaces)
    defer { pending.discard() }
    let descriptor = try pending.open()
    defer { close(descriptor) }
    if let statistics {
      let folder = PartFolder(of: path)
      try folder.create()
      for segment in file.segments {
        let statisticsPath = folder.statistics(segment.index)
        do {
          try Data(statistics.part(segment.range).bytes).write(
            to: URL(fileURLWithPath: statisticsPath), options: .atomic)
        } catch {
          throw Failure("cannot write '\(statisticsPath)': \(Failure.describe(error))")
        }
      }
    }
    let data = try file.encoded() + Data("\n".utf8)
    try FileHandle(fileDescriptor: descriptor, closeOnDealloc: false).write(contentsOf: data)
    return try pending.commit(isPart: false)
  }
}

/// Opens the movie of a plan.
enum PartSource {
  /// The movie with the size, frame rate and rotation of the pictures that are encoded.
  static func adapted(_ source: MovieSource, _ options: EncodingOptions, isUpright: Bool) -> MovieSource {
    let source = source.withFields(options.picture.noDeinterlace ? nil : options.picture.deinterlace)
    return isUpright ? source.upright() : source
  }

  /// Opens the movie of a plan, and checks that it is the right one.
  /// - Parameters:
  ///   - plan: the plan.
  ///   - path: the movie's path on this machine; nil takes the plan's.
  ///   - ignoresTime: whether the modification time may differ, as for a copy.
  ///   - threads: the number of the encoder's threads; nil takes the plan's.
  /// - Throws: a `Failure` if the movie cannot be read or is another one.
  static func open(
    _ plan: EncodingPlanFile, at path: String?, ignoresTime: Bool, threads: Int? = nil
  ) async throws -> (source: MovieSource, options: EncodingOptions) {
    let moviePath = InputFile.path(of: path ?? plan.source.path)
    let options = try plan.settings.options(movie: moviePath, threads: threads)
    // The path in a plan may name any file, so the file is checked before it is read. A file with
    // another content is not decoded at all.
    try SourceIdentity(moviePath).check(against: plan.source, ignoresTime: ignoresTime)
    let source = try await MovieSource.open(
      InputFile(moviePath, isRegular: true), streamFrameRate: plan.settings.frameRate)
    return (adapted(source, options, isUpright: plan.settings.upright == true), options)
  }
}
