// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// Suggests the option that does what an unknown one would do. The parser compares only spellings.
enum OptionAdvice {
  /// The words for which other programs, and people, have other names.
  private static let meanings: [(words: [String], option: String, note: String?)] = [
    (["crf", "cq", "qp", "qscale", "cqp", "q:v", "qscale:v"], "--quality", "from 0, smallest, to 1, best"),
    (["rate", "bit-rate", "b", "b:v", "vb", "video-bitrate", "abr", "kbps"], "--bitrate", "such as 1500k"),
    (
      ["size", "resolution", "scale", "resize", "width", "height", "s", "wh", "max-size"], "--dimensions",
      "such as 1280x720"
    ),
    (["output", "o", "to-file", "dest", "destination"], "--out", nil),
    (["force", "y", "replace", "yes"], "--overwrite", nil),
    (["vcodec", "format", "c", "c:v", "codec:v", "video-codec"], "--codec", "h264 or hevc"),
    (["ss", "from", "begin", "seek", "skip", "trim", "cut", "offset"], "--start", "such as 1:30"),
    (["to", "until", "stop"], "--end", "such as 2:00"),
    (["length", "t", "time", "for"], "--duration", "in seconds"),
    (["turn", "transpose", "orientation", "rot"], "--rotate", "90, 180 or 270"),
    (["flip", "mirror", "hflip", "vflip"], "--rotate", "which rotates; nothing mirrors"),
    (["region", "roi", "area", "clip"], "--crop", "WxH+X+Y"),
    (["framerate", "r", "rate-fps"], "--fps", nil),
    (["loudness", "gain", "amplify"], "--volume", "such as 150% or -6dB"),
    (["mute", "muted", "an", "silent", "no-sound"], "--no-audio", nil),
    (["microphone", "mic", "record-audio", "capture-audio"], "--sound", "such as pulse: or alsa:default"),
    (["subtitles", "subs", "srt", "hardsub", "captions"], "--burn-subtitles", nil),
    (["no-subs", "sn"], "--no-subtitles", nil),
    (["watermark", "logo", "image"], "--overlay", nil),
    (["concat", "append", "merge", "combine"], "--join", nil),
    (["filesize", "file-size", "max-size-bytes", "fs", "limit"], "--target-size", "such as 25M"),
    (["gop", "keyint", "g", "idr"], "--keyframe-interval", nil),
    (["two-pass", "2pass", "passes", "twopass", "pass"], "--multi-pass", nil),
    (["speed", "cpu-used"], "--effort", "from 0, fastest, to 9, best"),
    (["parallel", "workers", "processes"], "--jobs", nil),
    (["quiet", "q", "no-progress"], "--progress none", nil),
    (["maxrate", "max-bitrate", "peak"], "--max-rate", nil),
    (["bufsize", "vbv", "vbv-bufsize"], "--buffer", "in seconds"),
    (["lookahead", "rc-lookahead"], "--look-ahead-frames", nil),
    (["audio-rate", "ab", "b:a"], "--audio-bitrate", nil),
    (["acodec", "audio-codec", "c:a", "codec:a"], "--audio", "copy, aac or none"),
    (["track", "audio-stream"], "--audio-track", nil),
    (["vf", "filter:v", "filter"], "--dimensions", "or --crop, --rotate, --fps"),
    (["vbr"], "--bitrate", "whose rate varies unless --cbr is given"),
    (["help-hidden-options", "full-help"], "--help-all", nil),
  ]

  /// A parser's message with a better suggestion for an unknown option, or unchanged.
  ///
  /// The parser reports an unknown option last. If its value makes the rest of the command line
  /// invalid, as one more movie for instance, the message is about the rest; it is replaced by one
  /// about the option.
  /// - Parameters:
  ///   - message: the message.
  ///   - arguments: the command line, whose first word is the subcommand.
  static func improved(_ message: String, arguments: [String]) -> String {
    var message = message
    if !message.contains("Unknown option"), let unknown = unknownOption(in: arguments) {
      message = unknown
    }
    guard let match = message.firstMatch(of: /Unknown option '(--?)([^']*)'/) else {
      return describingOption(message, arguments: arguments)
    }
    if match.output.0 == "Unknown option '-i'" {
      return "Unknown option '-i'; the movie is named without an option, as in vtencode transcoding in.mp4."
    }
    let word = String(match.output.2.prefix { $0 != "=" }).lowercased()
    let name = match.output.1 + match.output.2
    let commands = VTEncode.configuration.subcommands
    guard let command = command(of: arguments) else { return message }
    // An option of another subcommand, under its right name.
    if !has(command, "--" + word),
      let other = commands.first(where: { $0.configuration.shouldDisplay && has($0, "--" + word) }),
      !meanings.contains(where: { $0.words.contains(word) && has(command, $0.option) })
    {
      return "Unknown option '\(name)' of \(command._commandName); vtencode \(other._commandName) has it."
    }
    guard let meaning = meanings.first(where: { $0.words.contains(word) && has(command, $0.option) }) else {
      return message
    }
    let note = meaning.note.map { " (\($0))" } ?? ""
    return "Unknown option '\(name)'. Did you mean \(meaning.option)\(note)?"
  }

  /// A message about the first option that the subcommand does not have; nil if it has all of them.
  private static func unknownOption(in arguments: [String]) -> String? {
    guard let command = command(of: arguments) else { return nil }
    // The help does not list these: an alias, and an option that split refuses.
    let options = declaredOptions(of: command).union(["--speed", "-o", "--out"])
    for argument in arguments.dropFirst().prefix(while: { $0 != "--" }) {
      let name = String(argument.prefix { $0 != "=" })
      // "-" is standard input or output, and "-1" a value.
      guard name.count > 1, name.first == "-", Double(name) == nil, !options.contains(name) else { continue }
      let nearest = options.sorted().min { Main.distance($0, name) < Main.distance($1, name) }
      guard name.count > 2, let nearest, Main.distance(nearest, name) <= max(name.count / 4, 1) else {
        return "Unknown option '\(name)'"
      }
      return "Unknown option '\(name)'. Did you mean '\(nearest)'?"
    }
    return nil
  }

  /// A message about an invalid value with what the help says of the option, unless the message
  /// says what is valid.
  private static func describingOption(_ message: String, arguments: [String]) -> String {
    guard
      let match = message.firstMatch(of: /The value '.*' is invalid for '(--?[A-Za-z0-9-]+)[^']*'$/),
      let command = command(of: arguments)
    else { return message }
    // The description begins in the option's line, or in the next one, and goes on in deeper lines.
    var words: [Substring] = []
    var isInside = false
    for line in VTEncode.helpMessage(for: command, includeHidden: true)
      .split(separator: "\n", omittingEmptySubsequences: false)
    {
      let isDeclaration = line.hasPrefix("  -")
      if isInside, isDeclaration || !line.hasPrefix("   ") { break }
      if isInside {
        words += line.split(separator: " ")
      } else if isDeclaration, declaredNames(in: line).contains(String(match.1)) {
        isInside = true
        let rest = line.dropFirst(2)
        if let gap = rest.firstRange(of: "  ") { words += rest[gap.upperBound...].split(separator: " ") }
      }
    }
    return words.isEmpty ? message : "\(message). \(words.joined(separator: " "))"
  }

  private static func command(of arguments: [String]) -> (any ParsableCommand.Type)? {
    VTEncode.configuration.subcommands.first {
      $0._commandName == arguments.first || $0.configuration.aliases.contains(arguments.first ?? "")
    }
  }

  /// The names of a subcommand's options, with their dashes, as its whole help lists them.
  private static func declaredOptions(of command: any ParsableCommand.Type) -> Set<String> {
    var names: Set<String> = ["-h", "--help", "--help-all", "--help-hidden", "--version"]
    for line in VTEncode.helpMessage(for: command, includeHidden: true).split(separator: "\n")
    where line.hasPrefix("  -") {
      names.formUnion(declaredNames(in: line))
    }
    return names
  }

  /// The names that a line of the help declares. Two spaces separate them from the description.
  private static func declaredNames(in line: Substring) -> [String] {
    let rest = line.dropFirst(2)
    let declaration = rest[..<(rest.firstRange(of: "  ")?.lowerBound ?? rest.endIndex)]
    return declaration.matches(of: /(?:^|[ ,\/])(--?[A-Za-z0-9][A-Za-z0-9-]*)/).map { String($0.1) }
  }

  /// Whether a subcommand's help has an option.
  private static func has(_ command: any ParsableCommand.Type, _ option: String) -> Bool {
    // `option` may have a value.
    declaredOptions(of: command).contains(String(option.prefix { $0 != " " }))
  }
}
