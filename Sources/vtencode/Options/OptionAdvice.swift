// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// Suggests the option that does what an unknown one would do. The parser compares only spellings.
enum OptionAdvice {
  /// The words for which other programs, and people, have other names.
  private static let meanings: [(words: [String], option: String, note: String?)] = [
    (["crf", "cq", "qp", "qscale", "cqp"], "--quality", "from 0, smallest, to 1, best"),
    (["rate", "bit-rate", "b", "vb", "video-bitrate", "abr", "kbps"], "--bitrate", "such as 1500k"),
    (
      ["size", "resolution", "scale", "resize", "width", "height", "s", "wh", "max-size"], "--dimensions",
      "such as 1280x720"
    ),
    (["output", "o", "to-file", "dest", "destination"], "--out", nil),
    (["force", "y", "replace", "yes"], "--overwrite", nil),
    (["vcodec", "format", "c", "video-codec"], "--codec", "h264 or hevc"),
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
    (["audio-rate", "ab"], "--audio-bitrate", nil),
    (["acodec", "audio-codec"], "--audio", "copy, aac or none"),
    (["track", "audio-stream"], "--audio-track", nil),
    (["vbr"], "--bitrate", "whose rate varies unless --cbr is given"),
    (["help-hidden-options", "full-help"], "--help-all", nil),
  ]

  /// A parser's message with a better suggestion for an unknown option, or unchanged.
  /// - Parameters:
  ///   - message: the message.
  ///   - arguments: the command line, whose first word is the subcommand.
  static func improved(_ message: String, arguments: [String]) -> String {
    guard let match = message.firstMatch(of: /Unknown option '(--?)([^']*)'/) else { return message }
    let word = String(match.output.2.prefix { $0 != "=" }).lowercased()
    let name = match.output.1 + match.output.2
    let commands = VTEncode.configuration.subcommands
    guard
      let command = commands.first(where: {
        $0._commandName == arguments.first || $0.configuration.aliases.contains(arguments.first ?? "")
      })
    else { return message }
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

  /// Whether a subcommand's help has an option.
  private static func has(_ command: any ParsableCommand.Type, _ option: String) -> Bool {
    let name = option.prefix { $0 != " " }
    if name == "--help-all" { return true }
    return VTEncode.helpMessage(for: command, includeHidden: true)
      .split { !$0.isLetter && !$0.isNumber && $0 != "-" }.contains(name)
  }
}
