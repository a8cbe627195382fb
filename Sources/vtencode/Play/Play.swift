// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import ArgumentParser
import Foundation

/// How `vtencode play` reads and shows the pictures.
struct PlayPictureOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The frame rate of a raw stream that does not state one, in frames a second.", valueName: "FPS"))
  var frameRate: Double?

  @Flag(help: "Show no progress bar.")
  var noBar = false
}

/// The summary that `vtencode play` prints.
struct PlayReportOption: ParsableArguments {
  @Flag(help: "Print the summary as JSON, times in seconds.")
  var json = false
}

struct Play: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Plays a movie in a window, or in a terminal as coloured blocks.",
    discussion: """
      Keys: space plays and pauses, left and right seek 5 seconds back and forward, up and down change the volume, \
      a full stop steps forward by one frame and a comma back by one, f toggles full screen, q quits. A click at the \
      window's lower edge seeks to that position. Without a screen (DISPLAY or WAYLAND_DISPLAY) it plays in the \
      terminal.

      Examples:
        vtencode play talk.mp4
        vtencode transcoding talk.mp4 --bitrate 500k --out - | vtencode play -
        vtencode play talk.mp4 --start 1:30 --duration 10
        vtencode play talk.mp4 --terminal
        vtencode play talk.mp4 --frames 25 --snapshot frame25.png --muted

      --help shows the options that are used most; --help-all shows all of them.
      """)

  @Argument(help: "A movie, a raw stream (.264, .265), or - for standard input.")
  var movie: String

  @Flag(help: "Play in the terminal, as coloured blocks.")
  var terminal = false

  @Option(help: ArgumentHelp("End after this many frames.", valueName: "N"))
  var frames: Int?

  @Option(
    help: ArgumentHelp(
      "At the end, write what the window shows to this file; in a terminal, the last frame.",
      valueName: "FILE.png"))
  var snapshot: String?

  @Option(help: ArgumentHelp("Play faster or slower: 0.1 to 16.", valueName: "RATE"))
  var speed: Float = 1

  @Flag(help: "Play without audio.")
  var muted = false

  @Flag(help: "Fill the screen.")
  var fullScreen = false

  @OptionGroup(title: "Part of the movie", visibility: .helpAll) var part: RangeOptions

  @OptionGroup(title: "Pictures", visibility: .helpAll) var picture: PlayPictureOptions

  @OptionGroup(title: "Output and reports", visibility: .helpAll) var progressOption: PlayReportOption

  @OptionGroup(title: "Output and reports", visibility: .helpAll) var overwriting: OverwriteOption

  @OptionGroup(title: "Sandbox", visibility: .helpAll) var sandboxing: SandboxOptions

  func validate() throws {
    if sandboxing.sandbox, !terminal || !muted {
      throw ValidationError(
        "--sandbox permits no access to a screen or an audio device, which would reach programs outside of "
          + "it; add --terminal --muted.")
    }
    if terminal, progressOption.json {
      throw ValidationError("--terminal writes the pictures to standard output; omit --json.")
    }
    if let frames, !(1...Int(Int32.max)).contains(frames) {
      throw ValidationError("--frames must be from 1 to \(Int32.max), not \(frames).")
    }
    guard speed.isFinite, (0.1...16).contains(speed) else {
      throw ValidationError("--speed must be from 0.1 to 16.")
    }
    if let frameRate = picture.frameRate, !(0.1...1000).contains(frameRate) {
      throw ValidationError("--frame-rate must be from 0.1 to 1000.")
    }
    if terminal, fullScreen || picture.noBar {
      throw ValidationError(
        "\(fullScreen ? "--full-screen" : "--no-bar") is for a window; omit it or --terminal.")
    }
    if overwriting.overwrite, snapshot == nil {
      throw ValidationError("--overwrite requires --snapshot.")
    }
    if let snapshot, !snapshot.lowercased().hasSuffix(".png") {
      throw ValidationError("--snapshot writes PNG; give a name that ends in .png.")
    }
  }

  func run() async throws {
    // Before the screen, which does not matter for what cannot be played at all.
    try LiveSource.refuse(movie)
    let picture = try AuxiliaryFile(
      snapshot, option: "--snapshot", what: "snapshot", others: [movie], overwrites: overwriting.overwrite)
    let inTerminal = try choosesTerminal()
    if inTerminal, progressOption.json {
      throw Failure(
        "--json is for playing in a window, and there is no screen; omit it")
    }
    Interrupt.shared.watch()
    let file = try InputFile(movie)
    let session = try PlaySession(self, file: file, snapshot: picture)
    let summary = try await onThread("play") {
      let screen: any PlayScreen =
        inTerminal ? try TerminalScreen(session) : try WindowScreen(session, title: file.name)
      defer { screen.close() }
      return try session.run(on: screen)
    }
    try Console.print(progressOption.json ? summary.json() : summary.text)
    if let damage = summary.damage.summary {
      throw Failure("'\(file.name)' is damaged: \(damage)", status: SourceDamage.exitStatus)
    }
  }

  /// The time at which playing begins, in seconds.
  var start: Double { part.start?.seconds ?? 0 }

  /// Whether the movie is played in a window: there is a display, and the user has not asked for
  /// the terminal.
  var showsWindow: Bool {
    let environment = ProcessInfo.processInfo.environment
    return !terminal
      && ["DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"].contains { environment[$0]?.isEmpty == false }
  }

  /// Whether to play in the terminal.
  /// - Throws: a `Failure` if there is neither a display nor a terminal.
  private func choosesTerminal() throws -> Bool {
    if terminal { return true }
    if showsWindow { return false }
    if Console.standardOutputIsTerminal { return true }
    throw Failure(
      "there is no screen (neither DISPLAY nor WAYLAND_DISPLAY is set), and standard output is not a terminal; "
        + "play in a terminal, or under xvfb-run")
  }
}

/// A window or a terminal in which a movie is shown.
protocol PlayScreen: AnyObject, Sendable {
  /// For the summary: the number of frames shown and dropped, the presentation errors in seconds,
  /// and a description of the screen.
  var result: (shown: Int, dropped: Int, errors: [Double], note: String) { get }
  func setFullScreen(_ isFull: Bool)
  var isFullScreen: Bool { get }
  /// Redraws the progress bar, whose contents may have changed.
  func update()
  /// The pixels that are shown now.
  func snapshot() throws -> CVPixelBuffer
  func close()
}
