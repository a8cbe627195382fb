// SPDX-License-Identifier: Apache-2.0
import RealTimeTransport

/// Text for summaries about audio.
enum AudioSummary {
  /// - Parameters:
  ///   - counts: what was sent.
  ///   - seconds: the length of the session.
  ///   - failure: why the audio ended early; nil if it did not.
  static func sent(_ counts: AudioSender.Counts, after seconds: Double, failure: String?) -> String {
    "Opus, \(TextFormat.plural(counts.packets, "packet")), "
      + "\(TextFormat.bitRate(Double(counts.bytes * 8) / max(seconds, 0.001)))"
      + (failure.map { "; it ended early: \($0)" } ?? "")
  }

  /// - Parameters:
  ///   - counts: what came.
  ///   - isWritten: whether it is in the file; nil without a file.
  ///   - isPlayed: whether it was played.
  static func received(_ counts: AudioReceiver.Counts, isWritten: Bool?, isPlayed: Bool) -> String {
    guard counts.packets > 0 else { return "none came" }
    let lost = counts.lostPackets > 0 ? ", \(TextFormat.grouped(counts.lostPackets)) lost" : ""
    var usage = isWritten.map { $0 ? "; written as AAC" : "; not written" } ?? ""
    if isPlayed || isWritten == nil { usage += isPlayed ? "; played" : "; not played" }
    return "Opus, \(TextFormat.plural(counts.packets, "packet"))\(lost)\(usage)"
  }
}
