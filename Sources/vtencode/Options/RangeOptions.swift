// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CoreMedia

/// The options for the part of a movie that is used, the same in all subcommands.
struct RangeOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Where to begin: seconds, m:ss or h:mm:ss.", valueName: "time"),
    transform: ClockTime.reading(or: ClockTime.advice))
  var start: ClockTime?

  @Option(
    help: ArgumentHelp("Where to end, counted from the movie's beginning.", valueName: "time"),
    transform: ClockTime.reading(or: ClockTime.advice))
  var end: ClockTime?

  @Option(
    help: ArgumentHelp("The duration, in place of --end.", valueName: "time"),
    transform: ClockTime.reading(or: ClockTime.advice))
  var duration: ClockTime?

  func validate() throws {
    if end != nil, duration != nil {
      throw ValidationError("--end and --duration exclude each other; give one of them.")
    }
    if let end, end.seconds <= start?.seconds ?? 0 {
      throw ValidationError("--end must come after --start.")
    }
    if let duration, duration.seconds <= 0 {
      throw ValidationError("--duration must be more than 0 seconds.")
    }
  }

  /// The part of the movie, whose duration is infinite if it has no end; nil for the whole movie.
  var range: CMTimeRange? {
    guard start != nil || end != nil || duration != nil else { return nil }
    let from = start?.time ?? .zero
    if let end { return CMTimeRange(start: from, end: end.time) }
    return CMTimeRange(start: from, duration: duration?.time ?? .positiveInfinity)
  }

  /// The first of the options that was given; nil if none was.
  var givenName: String? {
    if start != nil { return "--start" }
    if end != nil { return "--end" }
    return duration == nil ? nil : "--duration"
  }
}
