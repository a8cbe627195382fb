// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The steps that the encoding subcommands share, from the options to the summary.
enum EncodingRun {
  static func perform(_ request: EncodingRequest) async throws {
    let options = request.options
    var destination = try request.destination()
    if options.reports.psnr, destination.firstPath == nil {
      throw Failure("--psnr decodes what was written, so it needs a file; give --out a name", status: 64)
    }
    try destination.check(inputs: request.inputs, overwrites: options.overwriting.overwrite)
    Interrupt.shared.watch()
    let scratch = request.changes.burnSubtitles == nil ? nil : try ScratchFolder(in: NSTemporaryDirectory())
    defer { withExtendedLifetime(scratch) {} }
    let source = try await request.open(hasTransform: destination.hasTransform, scratch: scratch?.path)
    if let part = source.part { destination.begin(at: part.start) }
    var plan = try request.plan(
      request.renditions.first.map(request.options(for:)) ?? options, source: source, destination: destination
    )
    let renditions = try request.renditions.dropFirst().map {
      try request.plan(request.options(for: $0), source: source, destination: destination)
    }
    plan.addSubtitleNotice(of: source, in: destination)
    _ = plan.addAudioNotice(of: source, in: destination)
    for notice in plan.notices where options.progressOption.progress.showsNotices {
      Console.note("vtencode: \(notice)")
    }
    var refinement = RateRefinement(
      Pipeline(source: source, plan: plan, destination: destination, renditions: renditions))
    var report = try await refinement.run()
    let wasInterrupted = Interrupt.shared.isRequested && !plan.endsOnRequest
    if options.reports.psnr, !Interrupt.shared.isRequested,
      let path = report.written.path ?? destination.firstPath
    {
      report.quality = try await QualityMeter(source: source, plan: plan, encodedPath: path).measure()
    }
    try finish(
      report, destination, source: source.name, isInterrupted: wasInterrupted,
      loss: source.network?.lossReason, toleratesDamage: source.comesLive)
  }

  /// Prints the summary of a run and its last progress event.
  /// - Parameters:
  ///   - heading: text above the summary.
  ///   - loss: why the input was lost; nil if it has come to its end.
  ///   - toleratesDamage: whether damage of the source, which is in the summary, is not a failure:
  ///     a live stream loses what the network loses.
  /// - Throws: a `Failure` with the exit status of an interrupted run, of a lost input or of a
  ///   damaged movie.
  static func finish(
    _ report: RunReport, _ destination: Destination, source: String, heading: String = "",
    isInterrupted: Bool = false, loss: String? = nil, toleratesDamage: Bool = false
  ) throws {
    let summary = heading + report.summary(destination: destination) + "\n"
    if report.plan.progress == .json {
      Console.conclude(RunEvent(report, destination: destination, isInterrupted: isInterrupted))
    }
    // An error of printing the summary is thrown last: an interruption or damage matters more to
    // the caller.
    var printingError: (any Error)?
    if destination.all.contains(where: \.isStandardOutput) {
      Console.write(summary, to: STDERR_FILENO)
    } else {
      do { try Console.print(summary) } catch { printingError = error }
    }
    // A server holds nothing that the user could open.
    let file = report.written.others.first.map { $0.path ?? destination.all[$0.number].name }
    let output = report.written.path ?? (destination.isServer ? file : nil) ?? destination.name
    if isInterrupted {
      throw Failure(
        "interrupted; '\(output)' holds the \(TextFormat.plural(report.frames, "frame")) encoded so far"
          + (destination.replaces && output != destination.name
            ? ", and '\(destination.name)' is unchanged" : ""),
        status: Interrupt.shared.status)
    }
    if let loss {
      throw Failure(
        "'\(source)' was lost: \(loss); '\(output)' holds what had come", status: NetworkMovie.exitStatus)
    }
    if let damage = report.damage.summary, !toleratesDamage {
      // If both outputs are terminals, the user has just read the damage in the summary.
      let isShownInSummary = Console.standardOutputIsTerminal && Console.standardErrorIsTerminal
      throw Failure(
        "'\(source)' is damaged, and '\(output)' holds what could be read"
          + (isShownInSummary ? "" : ": \(damage)"),
        status: SourceDamage.exitStatus)
    }
    if !report.written.failures.isEmpty {
      throw Failure(
        report.written.failures.map(\.message).joined(separator: "; ") + "; the other outputs are whole")
    }
    if let printingError { throw printingError }
  }
}
